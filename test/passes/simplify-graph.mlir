// RUN: gpuc-opt %s --gpuc-simplify-graph | FileCheck %s

// Batch normalisation as scale and shift per channel: into weight and bias.
// CHECK-LABEL: func.func @batch_norm
// CHECK-SAME: (%[[X:.*]]: tensor<2x1x5xf32>)
// CHECK-DAG: %[[W:.*]] = gpuc.constant dense<{{\[\[}}[2.000000e+00, 4.000000e+00]], {{\[}}[9.000000e+00, 1.200000e+01]]]> : tensor<2x1x2xf32>
// CHECK-DAG: %[[B:.*]] = gpuc.constant dense<[1.100000e+01, 2.300000e+01]> : tensor<2xf32>
// CHECK: %[[Y:.*]] = gpuc.conv %[[X]], %[[W]] bias %[[B]]
// CHECK-NEXT: return %[[Y]]
func.func @batch_norm(%x: tensor<2x1x5xf32>) -> tensor<2x2x4xf32> {
  %w = gpuc.constant dense<[[[1.0, 2.0]], [[3.0, 4.0]]]> : tensor<2x1x2xf32>
  %b = gpuc.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %s = gpuc.constant dense<[[2.0], [3.0]]> : tensor<2x1xf32>
  %t = gpuc.constant dense<[[[10.0], [20.0]]]> : tensor<1x2x1xf32>
  %0 = gpuc.conv %x, %w bias %b {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x1x5xf32>, tensor<2x1x2xf32>, tensor<2xf32> -> tensor<2x2x4xf32>
  %1 = gpuc.binary mul %0, %s : tensor<2x2x4xf32>, tensor<2x1xf32> -> tensor<2x2x4xf32>
  %2 = gpuc.binary add %t, %1 : tensor<1x2x1xf32>, tensor<2x2x4xf32> -> tensor<2x2x4xf32>
  return %2 : tensor<2x2x4xf32>
}

// - t and / s, on a transposed convolution (whose output channels are the weight's second axis).
// CHECK-LABEL: func.func @transposed
// CHECK: gpuc.conv_transpose %{{.*}}, %{{.*}} bias %
// CHECK-NEXT: return
func.func @transposed(%x: tensor<2x3x5xf32>) -> tensor<2x2x6xf32> {
  %w = gpuc.constant dense<1.0> : tensor<3x2x2xf32>
  %s = gpuc.constant dense<[[2.0], [4.0]]> : tensor<2x1xf32>
  %0 = gpuc.conv_transpose %x, %w {strides = array<i64: 1>, low = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x3x5xf32>, tensor<3x2x2xf32> -> tensor<2x2x6xf32>
  %1 = gpuc.binary div %0, %s : tensor<2x2x6xf32>, tensor<2x1xf32> -> tensor<2x2x6xf32>
  %2 = gpuc.binary sub %1, %s : tensor<2x2x6xf32>, tensor<2x1xf32> -> tensor<2x2x6xf32>
  return %2 : tensor<2x2x6xf32>
}

// Constants along the width (as long as there are channels), another reader, an infinite scale (0 * inf is no 0), a divisor of 0, and a
// shift by something that is no constant.
// CHECK-LABEL: func.func @convolution_refused
// CHECK-COUNT-3: gpuc.binary mul
// CHECK: gpuc.binary div
// CHECK: gpuc.binary add
// CHECK: return
func.func @convolution_refused(%x: tensor<2x1x5xf32>, %v: tensor<4x1xf32>)
    -> (tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>) {
  %w = gpuc.constant dense<1.0> : tensor<4x1x2xf32>
  %row = gpuc.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %inf = gpuc.constant dense<0x7F800000> : tensor<f32>
  %zero = gpuc.constant dense<0.0> : tensor<f32>
  %two = gpuc.constant dense<2.0> : tensor<f32>
  %0 = gpuc.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x1x5xf32>, tensor<4x1x2xf32> -> tensor<2x4x4xf32>
  %1 = gpuc.binary mul %0, %row : tensor<2x4x4xf32>, tensor<4xf32> -> tensor<2x4x4xf32>
  %2 = gpuc.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x1x5xf32>, tensor<4x1x2xf32> -> tensor<2x4x4xf32>
  %3 = gpuc.binary mul %2, %two : tensor<2x4x4xf32>, tensor<f32> -> tensor<2x4x4xf32>
  %4 = gpuc.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x1x5xf32>, tensor<4x1x2xf32> -> tensor<2x4x4xf32>
  %5 = gpuc.binary mul %4, %inf : tensor<2x4x4xf32>, tensor<f32> -> tensor<2x4x4xf32>
  %6 = gpuc.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x1x5xf32>, tensor<4x1x2xf32> -> tensor<2x4x4xf32>
  %7 = gpuc.binary div %6, %zero : tensor<2x4x4xf32>, tensor<f32> -> tensor<2x4x4xf32>
  %8 = gpuc.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x1x5xf32>, tensor<4x1x2xf32> -> tensor<2x4x4xf32>
  %9 = gpuc.binary add %8, %v : tensor<2x4x4xf32>, tensor<4x1xf32> -> tensor<2x4x4xf32>
  return %1, %2, %3, %5, %7, %9 : tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<2x4x4xf32>
}

// A scale that would overflow 16-bit weights stays behind.
// CHECK-LABEL: func.func @half_overflow
// CHECK: gpuc.conv
// CHECK: gpuc.binary mul
func.func @half_overflow(%x: tensor<2x1x5xf16>) -> tensor<2x2x4xf16> {
  %w = gpuc.constant dense<1000.0> : tensor<2x1x2xf16>
  %s = gpuc.constant dense<100.0> : tensor<f16>
  %0 = gpuc.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x1x5xf16>, tensor<2x1x2xf16> -> tensor<2x2x4xf16>
  %1 = gpuc.binary mul %0, %s : tensor<2x2x4xf16>, tensor<f16> -> tensor<2x2x4xf16>
  return %1 : tensor<2x2x4xf16>
}

// CHECK-LABEL: func.func @matmul_scale
// CHECK-DAG: %[[W:.*]] = gpuc.constant dense<{{\[}}[2.000000e+00, 6.000000e+00], [2.000000e+00, 6.000000e+00]]> : tensor<2x2xf32>
// CHECK: gpuc.matmul %{{.*}}, %[[W]]
// CHECK-NOT: gpuc.binary
// CHECK: gpuc.matmul
// CHECK: gpuc.binary mul %{{.*}} : tensor<2x2xf32>, tensor<2x1xf32>
// CHECK: gpuc.matmul %{{.*}} : tensor<2x2xi32>
// CHECK: gpuc.binary mul
func.func @matmul_scale(%x: tensor<2x2xf32>, %i: tensor<2x2xi32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xi32>) {
  %w = gpuc.constant dense<2.0> : tensor<2x2xf32>
  %s = gpuc.constant dense<[1.0, 3.0]> : tensor<2xf32>
  %r = gpuc.constant dense<[[1.0], [3.0]]> : tensor<2x1xf32>
  %wi = gpuc.constant dense<2> : tensor<2x2xi32>
  %si = gpuc.constant dense<3> : tensor<i32>
  %0 = gpuc.matmul %x, %w : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  %1 = gpuc.binary mul %0, %s : tensor<2x2xf32>, tensor<2xf32> -> tensor<2x2xf32>
  %2 = gpuc.matmul %x, %w : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  %3 = gpuc.binary mul %2, %r : tensor<2x2xf32>, tensor<2x1xf32> -> tensor<2x2xf32>
  %4 = gpuc.matmul %i, %wi : tensor<2x2xi32>, tensor<2x2xi32> -> tensor<2x2xi32>
  %5 = gpuc.binary mul %4, %si : tensor<2x2xi32>, tensor<i32> -> tensor<2x2xi32>
  return %1, %3, %5 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xi32>
}

// CHECK-LABEL: func.func @pad_into_conv
// CHECK-NOT: gpuc.pad
// CHECK: gpuc.conv {{.*}}high = array<i64: 5>, low = array<i64: 3>
// CHECK: gpuc.pad
// CHECK: gpuc.conv
// CHECK: gpuc.pad
// CHECK: gpuc.conv
func.func @pad_into_conv(%x: tensor<2x3x5xf32>, %w: tensor<7x3x3xf32>, %u: tensor<7x5x3xf32>) -> (tensor<2x7x11xf32>, tensor<2x7x6xf32>, tensor<2x7x3xf32>) {
  %zero = gpuc.constant dense<0.0> : tensor<f32>
  %one = gpuc.constant dense<1.0> : tensor<f32>
  %0 = gpuc.pad constant %x, %zero {low = array<i64: 0, 0, 2>, high = array<i64: 0, 0, 4>} : tensor<2x3x5xf32>, tensor<f32> -> tensor<2x3x11xf32>
  %1 = gpuc.conv %0, %w {strides = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x3x11xf32>, tensor<7x3x3xf32> -> tensor<2x7x11xf32>
  %2 = gpuc.pad constant %x, %one {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 2>} : tensor<2x3x5xf32>, tensor<f32> -> tensor<2x3x8xf32>
  %3 = gpuc.conv %2, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x3x8xf32>, tensor<7x3x3xf32> -> tensor<2x7x6xf32>
  %4 = gpuc.pad constant %x, %zero {low = array<i64: 0, 1, 0>, high = array<i64: 0, 1, 0>} : tensor<2x3x5xf32>, tensor<f32> -> tensor<2x5x5xf32>
  %5 = gpuc.conv %4, %u {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x5x5xf32>, tensor<7x5x3xf32> -> tensor<2x7x3xf32>
  return %1, %3, %5 : tensor<2x7x11xf32>, tensor<2x7x6xf32>, tensor<2x7x3xf32>
}

// Pads of an average count; over what is not negative they never win a maximum. Otherwise, with indices, or where a window would see
// pads only, they stay.
// CHECK-LABEL: func.func @pad_into_pool
// CHECK: gpuc.avg_pool {{.*}}countIncludePad = true{{.*}}high = array<i64: 1>, kernel = array<i64: 3>, low = array<i64: 1>{{.*}} : tensor<2x3x5xf32>
// CHECK: gpuc.max_pool {{.*}}high = array<i64: 1>, kernel = array<i64: 3>, low = array<i64: 1>{{.*}} : tensor<2x3x5xf32>
// CHECK: gpuc.max_pool {{.*}} : tensor<2x3x7xf32>
// CHECK: gpuc.max_pool {{.*}} : tensor<2x3x7xf32>
// CHECK: gpuc.avg_pool {{.*}} : tensor<2x3x11xf32>
// CHECK: gpuc.avg_pool {{.*}} : tensor<2x3x7xf32>
func.func @pad_into_pool(%x: tensor<2x3x5xf32>)
    -> (tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xi64>, tensor<2x3x9xf32>, tensor<2x3x7xf32>) {
  %zero = gpuc.constant dense<0.0> : tensor<f32>
  %0 = gpuc.pad constant %x, %zero {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 1>} : tensor<2x3x5xf32>, tensor<f32> -> tensor<2x3x7xf32>
  %1 = gpuc.avg_pool %0 {kernel = array<i64: 3>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3x7xf32> -> tensor<2x3x5xf32>
  %r = gpuc.unary relu %x : tensor<2x3x5xf32> -> tensor<2x3x5xf32>
  %2 = gpuc.pad constant %r, %zero {low = array<i64: 0, 0, 1>, high = array<i64: 0, 0, 1>} : tensor<2x3x5xf32>, tensor<f32> -> tensor<2x3x7xf32>
  %3 = gpuc.max_pool %2 {kernel = array<i64: 3>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3x7xf32> -> tensor<2x3x5xf32>
  %4 = gpuc.max_pool %0 {kernel = array<i64: 3>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3x7xf32> -> tensor<2x3x5xf32>
  %5, %6 = gpuc.max_pool %2 {kernel = array<i64: 3>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3x7xf32> -> tensor<2x3x5xf32>, tensor<2x3x5xi64>
  %7 = gpuc.pad constant %x, %zero {low = array<i64: 0, 0, 3>, high = array<i64: 0, 0, 3>} : tensor<2x3x5xf32>, tensor<f32> -> tensor<2x3x11xf32>
  %8 = gpuc.avg_pool %7 {kernel = array<i64: 3>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3x11xf32> -> tensor<2x3x9xf32>
  %9 = gpuc.avg_pool %0 {kernel = array<i64: 3>, strides = array<i64: 1>, low = array<i64: 1>, high = array<i64: 1>, dilations = array<i64: 1>} : tensor<2x3x7xf32> -> tensor<2x3x7xf32>
  return %1, %3, %4, %5, %6, %8, %9 : tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xf32>, tensor<2x3x5xi64>, tensor<2x3x9xf32>, tensor<2x3x7xf32>
}

// A split that is joined again with something else: one slice, which here is the whole tensor.
// CHECK-LABEL: func.func @adjacent_slices
// CHECK-SAME: (%[[X:.*]]: tensor<3x7x5xf32>, %[[Y:.*]]: tensor<3x2x5xf32>)
// CHECK: %[[A:.*]] = gpuc.concat %[[X]], %[[Y]] {axis = 1 : i64}
// CHECK: gpuc.concat %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64}
func.func @adjacent_slices(%x: tensor<3x7x5xf32>, %y: tensor<3x2x5xf32>) -> (tensor<3x9x5xf32>, tensor<3x9x5xf32>) {
  %0 = gpuc.slice %x {starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 1>} : tensor<3x7x5xf32> -> tensor<3x3x5xf32>
  %1 = gpuc.slice %x {starts = array<i64: 0, 3, 0>, steps = array<i64: 1, 1, 1>} : tensor<3x7x5xf32> -> tensor<3x4x5xf32>
  %2 = gpuc.concat %0, %1, %y {axis = 1 : i64} : (tensor<3x3x5xf32>, tensor<3x4x5xf32>, tensor<3x2x5xf32>) -> tensor<3x9x5xf32>
  %3 = gpuc.concat %1, %0, %y {axis = 1 : i64} : (tensor<3x4x5xf32>, tensor<3x3x5xf32>, tensor<3x2x5xf32>) -> tensor<3x9x5xf32>
  return %2, %3 : tensor<3x9x5xf32>, tensor<3x9x5xf32>
}

// Keras' multi-head bias [heads, size] behind the reshape of a product: goes below it as [heads * size]. A constant along the heads only
// can't.
// CHECK-LABEL: func.func @bias_below_reshape
// CHECK: %[[P:.*]] = gpuc.matmul
// CHECK: %[[S:.*]] = gpuc.binary add %[[P]], %{{.*}} : tensor<7x15xf32>, tensor<1x15xf32> -> tensor<7x15xf32>
// CHECK: %[[Y:.*]] = gpuc.reshape %[[S]] : tensor<7x15xf32> -> tensor<1x7x3x5xf32>
// CHECK: %[[Q:.*]] = gpuc.matmul
// CHECK: %[[R:.*]] = gpuc.reshape %[[Q]]
// CHECK: gpuc.binary add %[[R]]
func.func @bias_below_reshape(%x: tensor<7x2xf32>) -> (tensor<1x7x3x5xf32>, tensor<1x7x3x5xf32>) {
  %w = gpuc.constant dense<2.0> : tensor<2x15xf32>
  %b = gpuc.constant dense<[[1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 4.0, 6.0]]> : tensor<3x5xf32>
  %c = gpuc.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %0 = gpuc.matmul %x, %w : tensor<7x2xf32>, tensor<2x15xf32> -> tensor<7x15xf32>
  %1 = gpuc.reshape %0 : tensor<7x15xf32> -> tensor<1x7x3x5xf32>
  %2 = gpuc.binary add %1, %b : tensor<1x7x3x5xf32>, tensor<3x5xf32> -> tensor<1x7x3x5xf32>
  %3 = gpuc.matmul %x, %w : tensor<7x2xf32>, tensor<2x15xf32> -> tensor<7x15xf32>
  %4 = gpuc.reshape %3 : tensor<7x15xf32> -> tensor<1x7x3x5xf32>
  %5 = gpuc.binary add %4, %c : tensor<1x7x3x5xf32>, tensor<3x1xf32> -> tensor<1x7x3x5xf32>
  return %2, %5 : tensor<1x7x3x5xf32>, tensor<1x7x3x5xf32>
}

// A one-hot matrix times a finite table takes rows of it; row 3 holds zeros for indices out of range.
// CHECK-LABEL: func.func @one_hot
// CHECK-SAME: (%[[I:.*]]: tensor<5x7x1xi32>)
// CHECK: %[[T:.*]] = gpuc.constant dense<{{\[}}[1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00], [5.000000e+00, 6.000000e+00], [0.000000e+00, 0.000000e+00]]> : tensor<4x2xf32>
// CHECK: %[[R:.*]] = gpuc.reshape %[[I]] : tensor<5x7x1xi32> -> tensor<5x7xi32>
// CHECK: %[[S:.*]] = gpuc.select %{{.*}}, %[[R]], %{{.*}}
// CHECK: %[[Y:.*]] = gpuc.gather %[[T]], %[[S]] {axis = 0 : i64}
// CHECK: return %[[Y]]
func.func @one_hot(%i: tensor<5x7x1xi32>) -> tensor<5x7x2xf32> {
  %classes = gpuc.constant dense<[0, 1, 2]> : tensor<3xi32>
  %w = gpuc.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %0 = gpuc.binary eq %i, %classes : tensor<5x7x1xi32>, tensor<3xi32> -> tensor<5x7x3xi1>
  %1 = gpuc.cast %0 : tensor<5x7x3xi1> -> tensor<5x7x3xf32>
  %2 = gpuc.matmul %1, %w : tensor<5x7x3xf32>, tensor<3x2xf32> -> tensor<5x7x2xf32>
  return %2 : tensor<5x7x2xf32>
}

// Classes out of order, an infinite entry (0 * inf is NaN), indices along the last axis too.
// CHECK-LABEL: func.func @one_hot_refused
// CHECK-NOT: gpuc.gather
// CHECK: return
func.func @one_hot_refused(%i: tensor<5x1xi32>, %j: tensor<5x3xi32>) -> (tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>) {
  %classes = gpuc.constant dense<[0, 1, 2]> : tensor<3xi32>
  %other = gpuc.constant dense<[0, 2, 1]> : tensor<3xi32>
  %w = gpuc.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %inf = gpuc.constant dense<[[1.0, 2.0], [3.0, 0x7F800000], [5.0, 6.0]]> : tensor<3x2xf32>
  %0 = gpuc.binary eq %i, %other : tensor<5x1xi32>, tensor<3xi32> -> tensor<5x3xi1>
  %1 = gpuc.cast %0 : tensor<5x3xi1> -> tensor<5x3xf32>
  %2 = gpuc.matmul %1, %w : tensor<5x3xf32>, tensor<3x2xf32> -> tensor<5x2xf32>
  %3 = gpuc.binary eq %i, %classes : tensor<5x1xi32>, tensor<3xi32> -> tensor<5x3xi1>
  %4 = gpuc.cast %3 : tensor<5x3xi1> -> tensor<5x3xf32>
  %5 = gpuc.matmul %4, %inf : tensor<5x3xf32>, tensor<3x2xf32> -> tensor<5x2xf32>
  %6 = gpuc.binary eq %j, %classes : tensor<5x3xi32>, tensor<3xi32> -> tensor<5x3xi1>
  %7 = gpuc.cast %6 : tensor<5x3xi1> -> tensor<5x3xf32>
  %8 = gpuc.matmul %7, %w : tensor<5x3xf32>, tensor<3x2xf32> -> tensor<5x2xf32>
  return %2, %5, %8 : tensor<5x2xf32>, tensor<5x2xf32>, tensor<5x2xf32>
}

// RUN: gpuc-opt %s | gpuc-opt | FileCheck %s
// RUN: gpuc-opt %s --mlir-print-op-generic | gpuc-opt | FileCheck %s

// CHECK-LABEL: func.func @products
func.func @products(%x: tensor<2x3x5xf32>, %y: tensor<5x7xf32>, %e: tensor<3x0xi8>, %f: tensor<0x4xi8>) {
  // CHECK: gpuc.matmul %{{.*}}, %{{.*}} : tensor<2x3x5xf32>, tensor<5x7xf32> -> tensor<2x3x7xf32>
  %0 = gpuc.matmul %x, %y : tensor<2x3x5xf32>, tensor<5x7xf32> -> tensor<2x3x7xf32>
  // CHECK: gpuc.matmul %{{.*}}, %{{.*}} {tf32} : tensor<2x3x5xf32>, tensor<5x7xf32> -> tensor<2x3x7xf32>
  %1 = gpuc.matmul %x, %y {tf32} : tensor<2x3x5xf32>, tensor<5x7xf32> -> tensor<2x3x7xf32>
  // CHECK: gpuc.matmul %{{.*}}, %{{.*}} : tensor<3x0xi8>, tensor<0x4xi8> -> tensor<3x4xi8>
  %2 = gpuc.matmul %e, %f : tensor<3x0xi8>, tensor<0x4xi8> -> tensor<3x4xi8>
  return
}

// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<2x4x7x64xf16>, %k: tensor<2x2x5x64xf16>, %v: tensor<2x2x5x32xf16>, %m: tensor<7x5xi1>) {
  // CHECK: gpuc.attention %{{.*}}, %{{.*}}, %{{.*}} {scale = 1.250000e-01 : f64} : tensor<2x4x7x64xf16>, tensor<2x2x5x64xf16>, tensor<2x2x5x32xf16> -> tensor<2x4x7x32xf16>
  %0 = gpuc.attention %q, %k, %v {scale = 0.125} : tensor<2x4x7x64xf16>, tensor<2x2x5x64xf16>, tensor<2x2x5x32xf16> -> tensor<2x4x7x32xf16>
  // CHECK: gpuc.attention %{{.*}}, %{{.*}}, %{{.*}} bias %{{.*}} {causal = true, causalOffset = -2 : i64, scale = 1.250000e-01 : f64, softcap = 5.000000e+01 : f64, zeroMasked = true} : tensor<2x4x7x64xf16>, tensor<2x2x5x64xf16>, tensor<2x2x5x32xf16>, tensor<7x5xi1> -> tensor<2x4x7x32xf16>
  %1 = gpuc.attention %q, %k, %v bias %m {scale = 0.125, causal = true, causalOffset = -2 : i64, softcap = 50.0, zeroMasked = true} : tensor<2x4x7x64xf16>, tensor<2x2x5x64xf16>, tensor<2x2x5x32xf16>, tensor<7x5xi1> -> tensor<2x4x7x32xf16>
  return
}

// CHECK-LABEL: func.func @convolutions
func.func @convolutions(%x: tensor<2x3x5x7xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<4xf32>, %d: tensor<3x1x2x2xf32>,
                        %s: tensor<2x3x5xf32>, %t: tensor<3x4x2xf32>) {
  // CHECK: gpuc.conv %{{.*}}, %{{.*}} bias %{{.*}} {dilations = array<i64: 1, 1>, group = 1 : i64, high = array<i64: 1, 1>, low = array<i64: 1, 1>, strides = array<i64: 1, 1>} : tensor<2x3x5x7xf32>, tensor<4x3x3x3xf32>, tensor<4xf32> -> tensor<2x4x5x7xf32>
  %0 = gpuc.conv %x, %w bias %b {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
    group = 1 : i64} : tensor<2x3x5x7xf32>, tensor<4x3x3x3xf32>, tensor<4xf32> -> tensor<2x4x5x7xf32>
  // Depthwise: (5 + 0 - 1*1 - 1)/2 + 1 = 2 rows, (7 + 1 - 3*1 - 1)/3 + 1 = 2 columns.
  // CHECK: gpuc.conv {{.*}} -> tensor<2x3x2x2xf32>
  %1 = gpuc.conv %x, %d {strides = array<i64: 2, 3>, low = array<i64: 0, 1>, high = array<i64: 0, 0>, dilations = array<i64: 1, 3>,
    group = 3 : i64} : tensor<2x3x5x7xf32>, tensor<3x1x2x2xf32> -> tensor<2x3x2x2xf32>
  // CHECK: gpuc.conv_transpose %{{.*}}, %{{.*}} {dilations = array<i64: 1>, group = 1 : i64, low = array<i64: 0>, strides = array<i64: 2>} : tensor<2x3x5xf32>, tensor<3x4x2xf32> -> tensor<2x4x10xf32>
  %2 = gpuc.conv_transpose %s, %t {strides = array<i64: 2>, low = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x3x5xf32>, tensor<3x4x2xf32> -> tensor<2x4x10xf32>
  // CHECK: gpuc.conv_transpose %{{.*}}, %{{.*}} bias %{{.*}} {{.*}}, tensor<4xf32> -> tensor<2x4x11xf32>
  %3 = gpuc.conv_transpose %s, %t bias %b {strides = array<i64: 2>, low = array<i64: -1>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x3x5xf32>, tensor<3x4x2xf32>, tensor<4xf32> -> tensor<2x4x11xf32>
  return
}

// CHECK-LABEL: func.func @pools
func.func @pools(%x: tensor<2x3x6xf32>, %y: tensor<1x1x5xf32>) {
  // CHECK: gpuc.max_pool %{{.*}} {dilations = array<i64: 1>, high = array<i64: 0>, kernel = array<i64: 2>, low = array<i64: 0>, strides = array<i64: 2>} : tensor<2x3x6xf32> -> tensor<2x3x3xf32>
  %0 = gpuc.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>,
    dilations = array<i64: 1>} : tensor<2x3x6xf32> -> tensor<2x3x3xf32>
  // CHECK: gpuc.max_pool %{{.*}} {columnMajor = true, {{.*}}} : tensor<2x3x6xf32> -> tensor<2x3x3xf32>, tensor<2x3x3xi64>
  %1, %i = gpuc.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>,
    dilations = array<i64: 1>, columnMajor = true} : tensor<2x3x6xf32> -> tensor<2x3x3xf32>, tensor<2x3x3xi64>
  // The last window hangs over the end, as with ceil_mode.
  // CHECK: gpuc.avg_pool %{{.*}} {countIncludePad = true, {{.*}}} : tensor<1x1x5xf32> -> tensor<1x1x3xf32>
  %2 = gpuc.avg_pool %y {kernel = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>,
    dilations = array<i64: 1>, countIncludePad = true} : tensor<1x1x5xf32> -> tensor<1x1x3xf32>
  return
}

// CHECK-LABEL: func.func @gates
func.func @gates(%x: tensor<2x8x3x5xf16>, %w1: tensor<4x8xf16>, %b1: tensor<4xf16>, %w2: tensor<8x4xf16>, %b2: tensor<8xf16>) {
  // CHECK: gpuc.squeeze_excite {{ *}}relu %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} gate {{ *}}hard_sigmoid {alpha = 2.000000e-01 : f64, beta = 5.000000e-01 : f64} : tensor<2x8x3x5xf16>, tensor<4x8xf16>, tensor<4xf16>, tensor<8x4xf16>, tensor<8xf16> -> tensor<2x8x3x5xf16>
  %0 = gpuc.squeeze_excite relu %x, %w1, %b1, %w2, %b2 gate hard_sigmoid {alpha = 0.2, beta = 0.5} : tensor<2x8x3x5xf16>, tensor<4x8xf16>, tensor<4xf16>, tensor<8x4xf16>, tensor<8xf16> -> tensor<2x8x3x5xf16>
  return
}

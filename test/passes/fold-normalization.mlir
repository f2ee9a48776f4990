// RUN: gpuc-opt %s -split-input-file -gpuc-fold-normalization | FileCheck %s

// A post-norm block: one reader multiplies the norm, another adds it.
// CHECK-LABEL: func.func @post_norm
func.func @post_norm(%x: tensor<3x64xf16>, %w0: tensor<64x128xf16>) -> tensor<3x128xf16> {
  %w1 = gpuc.constant dense<0.5> : tensor<128x7xf16>
  %w2 = gpuc.constant dense<0.25> : tensor<7x128xf16>
  %g = gpuc.constant dense<2.0> : tensor<128xf16>
  %b = gpuc.constant dense<1.0> : tensor<128xf16>
  // CHECK: %[[P:.*]]:2 = gpuc.kernel "matmul" {{.*}} -> tensor<3x128xf16>, tensor<3x4x2xf32> {
  // CHECK: %[[M:.*]] = gpuc.row_moments %[[Z:.*]] {columns = 32 : i64}
  // CHECK: gpuc.yield %[[Z]], %[[M]]
  %p = gpuc.kernel "matmul" (%a = %x : tensor<3x64xf16>, %c = %w0 : tensor<64x128xf16>) -> tensor<3x128xf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<3x64xf16>, tensor<64x128xf16> -> tensor<3x128xf16>
    gpuc.yield %0 : tensor<3x128xf16>
  }
  // CHECK-NOT: layer_norm
  // scale ⊙ W = 1 in every row, so nothing is left of the centered columns; bias W sums to 64.
  // CHECK-DAG: %[[W:.*]] = gpuc.constant dense<0.000000e+00> : tensor<128x7xf16>
  // CHECK-DAG: %[[BIAS:.*]] = gpuc.constant dense<6.400000e+01> : tensor<7xf32>
  %n = gpuc.kernel "normalization" (%a = %p : tensor<3x128xf16>, %s = %g : tensor<128xf16>, %t = %b : tensor<128xf16>) -> tensor<3x128xf16> {
    %0 = gpuc.layer_norm %a scale %s bias %t {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x128xf16>, tensor<128xf16>, tensor<128xf16> -> tensor<3x128xf16>
    gpuc.yield %0 : tensor<3x128xf16>
  }
  // CHECK: gpuc.kernel "matmul" (%[[A:.*]] = %[[P]]#0 : tensor<3x128xf16>, %[[C:.*]] = %[[W]] : {{.*}}, %[[MA:.*]] = %[[P]]#1 : tensor<3x4x2xf32>, %[[BA:.*]] = %[[BIAS]] : tensor<7xf32>) -> tensor<3x7xf16> {
  // CHECK: %[[ACC:.*]] = gpuc.matmul %[[A]], %[[C]]
  // CHECK: %[[MEAN:.*]], %[[SCALE:.*]] = gpuc.row_statistics %[[MA]] {centered = true, epsilon = {{.*}}, extent = 128 : i64}
  // CHECK: %[[ACC32:.*]] = gpuc.cast %[[ACC]] : tensor<3x7xf16> -> tensor<3x7xf32>
  // CHECK: %[[S:.*]] = gpuc.binary mul %[[ACC32]], %[[SCALE]]
  // CHECK: %[[R:.*]] = gpuc.binary add %[[S]], %[[BA]]
  // CHECK: %[[R16:.*]] = gpuc.cast %[[R]] : tensor<3x7xf32> -> tensor<3x7xf16>
  // CHECK: gpuc.unary gelu %[[R16]] : tensor<3x7xf16>
  %q = gpuc.kernel "matmul" (%a = %n : tensor<3x128xf16>, %c = %w1 : tensor<128x7xf16>) -> tensor<3x7xf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<3x128xf16>, tensor<128x7xf16> -> tensor<3x7xf16>
    %1 = gpuc.unary gelu %0 : tensor<3x7xf16> -> tensor<3x7xf16>
    gpuc.yield %1 : tensor<3x7xf16>
  }
  // CHECK: gpuc.kernel "matmul" {{.*}} = %[[P]]#0 : tensor<3x128xf16>, %{{.*}} = %[[P]]#1 : tensor<3x4x2xf32>
  // CHECK: gpuc.row_statistics
  // CHECK: %[[C0:.*]] = gpuc.binary sub %{{.*}}, %{{.*}} : tensor<3x128xf32>, tensor<3x1xf32>
  // CHECK: %[[C1:.*]] = gpuc.binary mul %[[C0]], %{{.*}} : tensor<3x128xf32>, tensor<3x1xf32>
  // CHECK: %[[C2:.*]] = gpuc.binary mul %[[C1]], %{{.*}} : tensor<3x128xf32>, tensor<128xf32>
  // CHECK: %[[C3:.*]] = gpuc.binary add %[[C2]], %{{.*}} : tensor<3x128xf32>, tensor<128xf32>
  // CHECK: gpuc.binary add %{{.*}}, %[[C3]] : tensor<3x128xf32>, tensor<3x128xf32>
  %r = gpuc.kernel "matmul" (%a = %q : tensor<3x7xf16>, %c = %w2 : tensor<7x128xf16>, %d = %n : tensor<3x128xf16>) -> tensor<3x128xf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<3x7xf16>, tensor<7x128xf16> -> tensor<3x128xf16>
    %1 = gpuc.binary add %0, %d : tensor<3x128xf16>, tensor<3x128xf16> -> tensor<3x128xf16>
    gpuc.yield %1 : tensor<3x128xf16>
  }
  return %r : tensor<3x128xf16>
}

// -----

// An RMS norm has no mean to subtract; a kernel can read one norm and yield the moments for the next.
// CHECK-LABEL: func.func @rms_chain
func.func @rms_chain(%x: tensor<2x3x64xbf16>, %w0: tensor<64x64xbf16>) -> tensor<2x3x64xbf16> {
  %w = gpuc.constant dense<0.5> : tensor<64x64xbf16>
  // CHECK: %[[P:.*]]:2 = gpuc.kernel "matmul"
  %p = gpuc.kernel "matmul" (%a = %x : tensor<2x3x64xbf16>, %c = %w0 : tensor<64x64xbf16>) -> tensor<2x3x64xbf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<2x3x64xbf16>, tensor<64x64xbf16> -> tensor<2x3x64xbf16>
    gpuc.yield %0 : tensor<2x3x64xbf16>
  }
  %n = gpuc.kernel "normalization" (%a = %p : tensor<2x3x64xbf16>) -> tensor<2x3x64xbf16> {
    %0 = gpuc.rms_norm %a {axis = 2 : i64, epsilon = 1.0e-5} : tensor<2x3x64xbf16> -> tensor<2x3x64xbf16>
    gpuc.yield %0 : tensor<2x3x64xbf16>
  }
  // CHECK: %[[Q:.*]]:2 = gpuc.kernel "matmul" {{.*}}%[[P]]#1 : tensor<6x2x2xf32>) -> tensor<2x3x64xbf16>, tensor<6x2x2xf32> {
  // CHECK: %[[ACC:.*]] = gpuc.matmul
  // CHECK: %{{.*}}, %[[S:.*]] = gpuc.row_statistics %{{.*}} {centered = false,
  // CHECK: %[[ACC32:.*]] = gpuc.cast %[[ACC]]
  // CHECK: %[[SR:.*]] = gpuc.reshape %[[S]] : tensor<6x1xf32> -> tensor<2x3x1xf32>
  // CHECK: %[[Y:.*]] = gpuc.binary mul %[[ACC32]], %[[SR]]
  // CHECK: gpuc.row_moments %[[Y]] {columns = 32 : i64} : tensor<2x3x64xf32> -> tensor<6x2x2xf32>
  %q = gpuc.kernel "matmul" (%a = %n : tensor<2x3x64xbf16>, %c = %w : tensor<64x64xbf16>) -> tensor<2x3x64xbf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<2x3x64xbf16>, tensor<64x64xbf16> -> tensor<2x3x64xbf16>
    gpuc.yield %0 : tensor<2x3x64xbf16>
  }
  %m = gpuc.kernel "normalization" (%a = %q : tensor<2x3x64xbf16>) -> tensor<2x3x64xbf16> {
    %0 = gpuc.rms_norm %a {axis = 2 : i64, epsilon = 1.0e-5} : tensor<2x3x64xbf16> -> tensor<2x3x64xbf16>
    gpuc.yield %0 : tensor<2x3x64xbf16>
  }
  %r = gpuc.kernel "matmul" (%a = %m : tensor<2x3x64xbf16>, %c = %w : tensor<64x64xbf16>) -> tensor<2x3x64xbf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<2x3x64xbf16>, tensor<64x64xbf16> -> tensor<2x3x64xbf16>
    gpuc.yield %0 : tensor<2x3x64xbf16>
  }
  return %r : tensor<2x3x64xbf16>
}

// -----

// Refused: the producer's variant writes no moments.
// CHECK-LABEL: func.func @unmarked_producer
// CHECK-NOT: gpuc.row_moments
// CHECK: gpuc.layer_norm
// CHECK-NOT: gpuc.row_state
func.func @unmarked_producer(%x: tensor<3x64xf16>, %w0: tensor<64x64xf16>) -> tensor<3x7xf16> {
  %w1 = gpuc.constant dense<0.5> : tensor<64x7xf16>
  %g = gpuc.constant dense<2.0> : tensor<64xf16>
  %p = gpuc.kernel "matmul" (%a = %x : tensor<3x64xf16>, %c = %w0 : tensor<64x64xf16>) -> tensor<3x64xf16> {
    %0 = gpuc.matmul %a, %c : tensor<3x64xf16>, tensor<64x64xf16> -> tensor<3x64xf16>
    gpuc.yield %0 : tensor<3x64xf16>
  }
  %n = gpuc.kernel "normalization" (%a = %p : tensor<3x64xf16>, %s = %g : tensor<64xf16>) -> tensor<3x64xf16> {
    %0 = gpuc.layer_norm %a scale %s {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x64xf16>, tensor<64xf16> -> tensor<3x64xf16>
    gpuc.yield %0 : tensor<3x64xf16>
  }
  %q = gpuc.kernel "matmul" (%a = %n : tensor<3x64xf16>, %c = %w1 : tensor<64x7xf16>) -> tensor<3x7xf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<3x64xf16>, tensor<64x7xf16> -> tensor<3x7xf16>
    gpuc.yield %0 : tensor<3x7xf16>
  }
  return %q : tensor<3x7xf16>
}

// -----

// Refused: a reader's variant keeps no statistics per row.
// CHECK-LABEL: func.func @unmarked_reader
// CHECK-NOT: gpuc.row_moments
// CHECK: gpuc.layer_norm
// CHECK-NOT: gpuc.row_state
func.func @unmarked_reader(%x: tensor<3x64xf16>, %w0: tensor<64x64xf16>) -> tensor<3x7xf16> {
  %w1 = gpuc.constant dense<0.5> : tensor<64x7xf16>
  %g = gpuc.constant dense<2.0> : tensor<64xf16>
  %p = gpuc.kernel "matmul" (%a = %x : tensor<3x64xf16>, %c = %w0 : tensor<64x64xf16>) -> tensor<3x64xf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<3x64xf16>, tensor<64x64xf16> -> tensor<3x64xf16>
    gpuc.yield %0 : tensor<3x64xf16>
  }
  %n = gpuc.kernel "normalization" (%a = %p : tensor<3x64xf16>, %s = %g : tensor<64xf16>) -> tensor<3x64xf16> {
    %0 = gpuc.layer_norm %a scale %s {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x64xf16>, tensor<64xf16> -> tensor<3x64xf16>
    gpuc.yield %0 : tensor<3x64xf16>
  }
  %q = gpuc.kernel "matmul" (%a = %n : tensor<3x64xf16>, %c = %w1 : tensor<64x7xf16>) -> tensor<3x7xf16> {
    %0 = gpuc.matmul %a, %c : tensor<3x64xf16>, tensor<64x7xf16> -> tensor<3x7xf16>
    gpuc.yield %0 : tensor<3x7xf16>
  }
  return %q : tensor<3x7xf16>
}

// -----

// Refused: the scale is not known when compiling.
// CHECK-LABEL: func.func @scale_is_no_constant
// CHECK-NOT: gpuc.row_moments
// CHECK: gpuc.layer_norm
// CHECK-NOT: gpuc.row_state
func.func @scale_is_no_constant(%x: tensor<3x64xf16>, %w0: tensor<64x64xf16>, %s0: tensor<64xf16>) -> tensor<3x7xf16> {
  %w1 = gpuc.constant dense<0.5> : tensor<64x7xf16>
  %g = gpuc.constant dense<2.0> : tensor<64xf16>
  %p = gpuc.kernel "matmul" (%a = %x : tensor<3x64xf16>, %c = %w0 : tensor<64x64xf16>) -> tensor<3x64xf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<3x64xf16>, tensor<64x64xf16> -> tensor<3x64xf16>
    gpuc.yield %0 : tensor<3x64xf16>
  }
  %n = gpuc.kernel "normalization" (%a = %p : tensor<3x64xf16>, %s = %s0 : tensor<64xf16>) -> tensor<3x64xf16> {
    %0 = gpuc.layer_norm %a scale %s {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x64xf16>, tensor<64xf16> -> tensor<3x64xf16>
    gpuc.yield %0 : tensor<3x64xf16>
  }
  %q = gpuc.kernel "matmul" (%a = %n : tensor<3x64xf16>, %c = %w1 : tensor<64x7xf16>) -> tensor<3x7xf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<3x64xf16>, tensor<64x7xf16> -> tensor<3x7xf16>
    gpuc.yield %0 : tensor<3x7xf16>
  }
  return %q : tensor<3x7xf16>
}

// -----

// Refused: the scale can not be folded into these weights.
// CHECK-LABEL: func.func @weights_are_no_constant
// CHECK-NOT: gpuc.row_moments
// CHECK: gpuc.layer_norm
// CHECK-NOT: gpuc.row_state
func.func @weights_are_no_constant(%x: tensor<3x64xf16>, %w0: tensor<64x64xf16>, %w2: tensor<64x7xf16>) -> tensor<3x7xf16> {
  %w1 = gpuc.constant dense<0.5> : tensor<64x7xf16>
  %g = gpuc.constant dense<2.0> : tensor<64xf16>
  %p = gpuc.kernel "matmul" (%a = %x : tensor<3x64xf16>, %c = %w0 : tensor<64x64xf16>) -> tensor<3x64xf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<3x64xf16>, tensor<64x64xf16> -> tensor<3x64xf16>
    gpuc.yield %0 : tensor<3x64xf16>
  }
  %n = gpuc.kernel "normalization" (%a = %p : tensor<3x64xf16>, %s = %g : tensor<64xf16>) -> tensor<3x64xf16> {
    %0 = gpuc.layer_norm %a scale %s {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x64xf16>, tensor<64xf16> -> tensor<3x64xf16>
    gpuc.yield %0 : tensor<3x64xf16>
  }
  %q = gpuc.kernel "matmul" (%a = %n : tensor<3x64xf16>, %c = %w2 : tensor<64x7xf16>) -> tensor<3x7xf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<3x64xf16>, tensor<64x7xf16> -> tensor<3x7xf16>
    gpuc.yield %0 : tensor<3x7xf16>
  }
  return %q : tensor<3x7xf16>
}

// -----

// Refused: the norm itself is a result.
// CHECK-LABEL: func.func @returned
// CHECK-NOT: gpuc.row_moments
// CHECK: gpuc.layer_norm
// CHECK-NOT: gpuc.row_state
func.func @returned(%x: tensor<3x64xf16>, %w0: tensor<64x64xf16>) -> (tensor<3x7xf16>, tensor<3x64xf16>) {
  %w1 = gpuc.constant dense<0.5> : tensor<64x7xf16>
  %g = gpuc.constant dense<2.0> : tensor<64xf16>
  %p = gpuc.kernel "matmul" (%a = %x : tensor<3x64xf16>, %c = %w0 : tensor<64x64xf16>) -> tensor<3x64xf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<3x64xf16>, tensor<64x64xf16> -> tensor<3x64xf16>
    gpuc.yield %0 : tensor<3x64xf16>
  }
  %n = gpuc.kernel "normalization" (%a = %p : tensor<3x64xf16>, %s = %g : tensor<64xf16>) -> tensor<3x64xf16> {
    %0 = gpuc.layer_norm %a scale %s {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x64xf16>, tensor<64xf16> -> tensor<3x64xf16>
    gpuc.yield %0 : tensor<3x64xf16>
  }
  %q = gpuc.kernel "matmul" (%a = %n : tensor<3x64xf16>, %c = %w1 : tensor<64x7xf16>) -> tensor<3x7xf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<3x64xf16>, tensor<64x7xf16> -> tensor<3x7xf16>
    gpuc.yield %0 : tensor<3x7xf16>
  }
  return %q, %n : tensor<3x7xf16>, tensor<3x64xf16>
}

// -----

// Refused: statistics over more than the last axis.
// CHECK-LABEL: func.func @two_axes
// CHECK-NOT: gpuc.row_moments
// CHECK: gpuc.layer_norm
// CHECK-NOT: gpuc.row_state
func.func @two_axes(%x: tensor<3x64xf16>, %w0: tensor<64x64xf16>) -> tensor<3x7xf16> {
  %w1 = gpuc.constant dense<0.5> : tensor<64x7xf16>
  %g = gpuc.constant dense<2.0> : tensor<64xf16>
  %p = gpuc.kernel "matmul" (%a = %x : tensor<3x64xf16>, %c = %w0 : tensor<64x64xf16>) -> tensor<3x64xf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<3x64xf16>, tensor<64x64xf16> -> tensor<3x64xf16>
    gpuc.yield %0 : tensor<3x64xf16>
  }
  %n = gpuc.kernel "normalization" (%a = %p : tensor<3x64xf16>, %s = %g : tensor<64xf16>) -> tensor<3x64xf16> {
    %0 = gpuc.layer_norm %a scale %s {axis = 0 : i64, epsilon = 1.0e-5} : tensor<3x64xf16>, tensor<64xf16> -> tensor<3x64xf16>
    gpuc.yield %0 : tensor<3x64xf16>
  }
  %q = gpuc.kernel "matmul" (%a = %n : tensor<3x64xf16>, %c = %w1 : tensor<64x7xf16>) -> tensor<3x7xf16> attributes {gpuc.row_state = 32 : i64} {
    %0 = gpuc.matmul %a, %c : tensor<3x64xf16>, tensor<64x7xf16> -> tensor<3x7xf16>
    gpuc.yield %0 : tensor<3x7xf16>
  }
  return %q : tensor<3x7xf16>
}

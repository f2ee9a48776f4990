// RUN: gpuc-opt %s --gpuc-sink-transposes | FileCheck %s

// The product sees rows as they lie in memory; the transpose of leading axes follows it.
// CHECK-LABEL: func.func @leading_axes
// CHECK-SAME: (%[[X:.*]]: tensor<3x5x7xf32>, %[[W:[a-z0-9]+]]: tensor<7x11xf32>)
// CHECK: %[[P:.*]] = gpuc.matmul %[[X]], %[[W]] {tf32} : tensor<3x5x7xf32>
// CHECK: %[[T:.*]] = gpuc.transpose %[[P]] {perm = array<i64: 1, 0, 2>} : tensor<3x5x11xf32> -> tensor<5x3x11xf32>
// CHECK: return %[[T]]
func.func @leading_axes(%x: tensor<3x5x7xf32>, %w: tensor<7x11xf32>) -> tensor<5x3x11xf32> {
  %0 = gpuc.transpose %x {perm = array<i64: 1, 0, 2>} : tensor<3x5x7xf32> -> tensor<5x3x7xf32>
  %1 = gpuc.matmul %0, %w {tf32} : tensor<5x3x7xf32>, tensor<7x11xf32> -> tensor<5x3x11xf32>
  return %1 : tensor<5x3x11xf32>
}

// The summed axis moves, the right side has batch axes, a plain transposed matrix.
// CHECK-LABEL: func.func @refused
// CHECK-COUNT-3: gpuc.transpose
// CHECK-COUNT-3: gpuc.matmul
// CHECK-NOT: gpuc.transpose
// CHECK: return
func.func @refused(%x: tensor<7x5x7xf32>, %w: tensor<7x11xf32>, %b: tensor<5x7x11xf32>, %m: tensor<7x5xf32>) -> (tensor<7x5x11xf32>, tensor<5x7x11xf32>, tensor<5x11xf32>) {
  %0 = gpuc.transpose %x {perm = array<i64: 2, 1, 0>} : tensor<7x5x7xf32> -> tensor<7x5x7xf32>
  %1 = gpuc.transpose %x {perm = array<i64: 1, 0, 2>} : tensor<7x5x7xf32> -> tensor<5x7x7xf32>
  %2 = gpuc.transpose %m {perm = array<i64: 1, 0>} : tensor<7x5xf32> -> tensor<5x7xf32>
  %3 = gpuc.matmul %0, %w : tensor<7x5x7xf32>, tensor<7x11xf32> -> tensor<7x5x11xf32>
  %4 = gpuc.matmul %1, %b : tensor<5x7x7xf32>, tensor<5x7x11xf32> -> tensor<5x7x11xf32>
  %5 = gpuc.matmul %2, %w : tensor<5x7xf32>, tensor<7x11xf32> -> tensor<5x11xf32>
  return %3, %4, %5 : tensor<7x5x11xf32>, tensor<5x7x11xf32>, tensor<5x11xf32>
}

// A bias along the last axis and an activation come first, then the view. A scalar result has no last axis.
// CHECK-LABEL: func.func @bias
// CHECK: %[[P:.*]] = gpuc.matmul
// CHECK: %[[S:.*]] = gpuc.binary add %[[P]]
// CHECK: %[[U:.*]] = gpuc.unary relu %[[S]]
// CHECK: gpuc.transpose %[[U]]
// CHECK: %[[R:.*]] = gpuc.reshape %{{.*}} : tensor<1x1xf32> -> tensor<f32>
// CHECK: gpuc.binary add %[[R]]
func.func @bias(%x: tensor<3x5x7xf32>, %w: tensor<7x11xf32>, %v: tensor<1x7xf32>, %u: tensor<7x1xf32>) -> (tensor<5x3x11xf32>, tensor<f32>) {
  %b = gpuc.constant dense<2.0> : tensor<11xf32>
  %c = gpuc.constant dense<2.0> : tensor<f32>
  %0 = gpuc.transpose %x {perm = array<i64: 1, 0, 2>} : tensor<3x5x7xf32> -> tensor<5x3x7xf32>
  %1 = gpuc.matmul %0, %w : tensor<5x3x7xf32>, tensor<7x11xf32> -> tensor<5x3x11xf32>
  %2 = gpuc.binary add %1, %b : tensor<5x3x11xf32>, tensor<11xf32> -> tensor<5x3x11xf32>
  %3 = gpuc.unary relu %2 : tensor<5x3x11xf32> -> tensor<5x3x11xf32>
  %4 = gpuc.matmul %v, %u : tensor<1x7xf32>, tensor<7x1xf32> -> tensor<1x1xf32>
  %5 = gpuc.reshape %4 : tensor<1x1xf32> -> tensor<f32>
  %6 = gpuc.binary add %5, %c : tensor<f32>, tensor<f32> -> tensor<f32>
  return %3, %6 : tensor<5x3x11xf32>, tensor<f32>
}

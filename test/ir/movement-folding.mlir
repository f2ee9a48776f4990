// RUN: gpuc-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @identities
// CHECK-SAME: (%[[X:.*]]: tensor<3x5xf32>, %[[E:.*]]: tensor<0x5xf32>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
func.func @identities(%x: tensor<3x5xf32>, %e: tensor<0x5xf32>)
    -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>,
        tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) {
  %v = gpuc.constant dense<0.0> : tensor<f32>
  %0 = gpuc.transpose %x {perm = array<i64: 0, 1>} : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = gpuc.reshape %x : tensor<3x5xf32> -> tensor<3x5xf32>
  %2 = gpuc.expand %x : tensor<3x5xf32> -> tensor<3x5xf32>
  %3 = gpuc.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : tensor<3x5xf32> -> tensor<3x5xf32>
  %4 = gpuc.concat %x {axis = 0 : i64} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %5 = gpuc.concat %e, %x, %e {axis = 0 : i64} : (tensor<0x5xf32>, tensor<3x5xf32>, tensor<0x5xf32>) -> tensor<3x5xf32>
  %6 = gpuc.pad constant %x, %v {low = array<i64: 0, 0>, high = array<i64: 0, 0>} : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %7 = gpuc.tile %x {repeats = array<i64: 1, 1>} : tensor<3x5xf32> -> tensor<3x5xf32>
  %8 = gpuc.resize linear %x {coordinate = #gpuc<coordinate_mode half_pixel>, nearest = #gpuc<nearest_mode floor>,
    scales = array<f64: 1.0, 1.0>} : tensor<3x5xf32> -> tensor<3x5xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>,
    tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
}

// Reversing has the type of a whole slice, and is none.
// CHECK-LABEL: func.func @reverse
// CHECK: gpuc.slice
func.func @reverse(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = gpuc.slice %x {starts = array<i64: 4>, steps = array<i64: -1>} : tensor<5xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// CHECK-LABEL: func.func @transposes
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x5xf32>)
// CHECK-NEXT: %[[T:.*]] = gpuc.transpose %[[X]] {perm = array<i64: 1, 0, 2>} : tensor<2x3x5xf32> -> tensor<3x2x5xf32>
// CHECK-NEXT: return %[[T]], %[[X]]
func.func @transposes(%x: tensor<2x3x5xf32>) -> (tensor<3x2x5xf32>, tensor<2x3x5xf32>) {
  %0 = gpuc.transpose %x {perm = array<i64: 1, 2, 0>} : tensor<2x3x5xf32> -> tensor<3x5x2xf32>
  %1 = gpuc.transpose %0 {perm = array<i64: 0, 2, 1>} : tensor<3x5x2xf32> -> tensor<3x2x5xf32>
  %2 = gpuc.transpose %0 {perm = array<i64: 2, 0, 1>} : tensor<3x5x2xf32> -> tensor<2x3x5xf32>
  return %1, %2 : tensor<3x2x5xf32>, tensor<2x3x5xf32>
}

// CHECK-LABEL: func.func @reshapes
// CHECK-SAME: (%[[X:.*]]: tensor<3x5xf32>)
// CHECK-NEXT: %[[R:.*]] = gpuc.reshape %[[X]] : tensor<3x5xf32> -> tensor<5x3xf32>
// CHECK-NEXT: return %[[R]], %[[X]]
func.func @reshapes(%x: tensor<3x5xf32>) -> (tensor<5x3xf32>, tensor<3x5xf32>) {
  %0 = gpuc.reshape %x : tensor<3x5xf32> -> tensor<15xf32>
  %1 = gpuc.reshape %0 : tensor<15xf32> -> tensor<5x3xf32>
  %2 = gpuc.reshape %1 : tensor<5x3xf32> -> tensor<3x5xf32>
  return %1, %2 : tensor<5x3xf32>, tensor<3x5xf32>
}

// A constant is reshaped whatever its size; a resource keeps its bytes.
// CHECK-LABEL: func.func @reshaped_constants
// CHECK-DAG: gpuc.constant dense<{{\[\[}}true], [false]]> : tensor<2x1xi1>
// CHECK-DAG: gpuc.constant dense<1.000000e+00> : tensor<1000x1000xf32>
// CHECK-DAG: gpuc.constant dense_resource<weights> : tensor<2x1xf32>
// CHECK-NOT: gpuc.reshape
func.func @reshaped_constants() -> (tensor<2x1xi1>, tensor<1000x1000xf32>, tensor<2x1xf32>) {
  %a = gpuc.constant dense<[true, false]> : tensor<2xi1>
  %b = gpuc.constant dense<1.0> : tensor<1000000xf32>
  %c = gpuc.constant dense_resource<weights> : tensor<2xf32>
  %0 = gpuc.reshape %a : tensor<2xi1> -> tensor<2x1xi1>
  %1 = gpuc.reshape %b : tensor<1000000xf32> -> tensor<1000x1000xf32>
  %2 = gpuc.reshape %c : tensor<2xf32> -> tensor<2x1xf32>
  return %0, %1, %2 : tensor<2x1xi1>, tensor<1000x1000xf32>, tensor<2x1xf32>
}

// CHECK-LABEL: func.func @expands
// CHECK-SAME: (%[[X:.*]]: tensor<3x1xf32>)
// CHECK-NEXT: %[[E:.*]] = gpuc.expand %[[X]] : tensor<3x1xf32> -> tensor<2x3x5xf32>
// CHECK-NEXT: return %[[E]]
func.func @expands(%x: tensor<3x1xf32>) -> tensor<2x3x5xf32> {
  %0 = gpuc.expand %x : tensor<3x1xf32> -> tensor<3x5xf32>
  %1 = gpuc.expand %0 : tensor<3x5xf32> -> tensor<2x3x5xf32>
  return %1 : tensor<2x3x5xf32>
}

// x[1:9:2] is 1 3 5 7; its [::-2] is 7 3. An axis of extent 1 or 0 has step 1.
// CHECK-LABEL: func.func @slices
// CHECK-SAME: (%[[X:.*]]: tensor<10x4xf32>)
// CHECK-NEXT: %[[S:.*]] = gpuc.slice %[[X]] {starts = array<i64: 7, 3>, steps = array<i64: -4, 1>} : tensor<10x4xf32> -> tensor<2x1xf32>
// CHECK-NEXT: %[[T:.*]] = gpuc.slice %[[X]] {starts = array<i64: 0, 1>, steps = array<i64: 1, 2>} : tensor<10x4xf32> -> tensor<0x2xf32>
// CHECK-NEXT: return %[[S]], %[[T]]
func.func @slices(%x: tensor<10x4xf32>) -> (tensor<2x1xf32>, tensor<0x2xf32>) {
  %0 = gpuc.slice %x {starts = array<i64: 1, 1>, steps = array<i64: 2, 2>} : tensor<10x4xf32> -> tensor<4x2xf32>
  %1 = gpuc.slice %0 {starts = array<i64: 3, 1>, steps = array<i64: -2, 7>} : tensor<4x2xf32> -> tensor<2x1xf32>
  %2 = gpuc.slice %0 {starts = array<i64: 99, 0>, steps = array<i64: 9, 1>} : tensor<4x2xf32> -> tensor<0x2xf32>
  return %1, %2 : tensor<2x1xf32>, tensor<0x2xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040"
    }
  }
#-}

// RUN: gpuc-opt %s --gpuc-fold-constants | FileCheck %s
// RUN: gpuc-opt %s --gpuc-fold-constants=max-bytes=64 | FileCheck %s --check-prefix=CAP

// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[C:.*]] = gpuc.constant dense<{{\[}}[4.000000e+00], [6.000000e+00], [8.000000e+00]]> : tensor<3x1xf32>
// CHECK-NEXT: return %[[C]]
func.func @chain() -> tensor<3x1xf32> {
  %a = gpuc.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %b = gpuc.constant dense<1.0> : tensor<f32>
  %0 = gpuc.binary add %a, %b : tensor<3xf32>, tensor<f32> -> tensor<3xf32>
  %1 = gpuc.binary add %0, %0 : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  %2 = gpuc.reshape %1 : tensor<3xf32> -> tensor<3x1xf32>
  return %2 : tensor<3x1xf32>
}

// int64 stays exact beyond 2^53, and wraps.
// CHECK-LABEL: func.func @exact_integers
// CHECK-DAG: gpuc.constant dense<9007199254740995> : tensor<i64>
// CHECK-DAG: gpuc.constant dense<-9223372036854775808> : tensor<i64>
func.func @exact_integers() -> (tensor<i64>, tensor<i64>) {
  %a = gpuc.constant dense<9007199254740993> : tensor<i64>
  %two = gpuc.constant dense<2> : tensor<i64>
  %max = gpuc.constant dense<9223372036854775807> : tensor<i64>
  %one = gpuc.constant dense<1> : tensor<i64>
  %0 = gpuc.binary add %a, %two : tensor<i64>, tensor<i64> -> tensor<i64>
  %1 = gpuc.binary add %max, %one : tensor<i64>, tensor<i64> -> tensor<i64>
  return %0, %1 : tensor<i64>, tensor<i64>
}

// Several results at once.
// CHECK-LABEL: func.func @topk
// CHECK-DAG: gpuc.constant dense<[5.000000e+00, 3.000000e+00]>
// CHECK-DAG: gpuc.constant dense<[1, 2]> : tensor<2xi64>
// CHECK-NOT: gpuc.topk
func.func @topk() -> (tensor<2xf32>, tensor<2xi64>) {
  %a = gpuc.constant dense<[1.0, 5.0, 3.0]> : tensor<3xf32>
  %v, %i = gpuc.topk %a {k = 2 : i64, axis = 0 : i64, largest = true} : tensor<3xf32> -> tensor<2xf32>, tensor<2xi64>
  return %v, %i : tensor<2xf32>, tensor<2xi64>
}

// A value that depends on an argument stays, and constants that nobody reads go.
// CHECK-LABEL: func.func @argument
// CHECK-NEXT: %[[Y:.*]] = gpuc.unary exp
// CHECK-NEXT: return %[[Y]]
func.func @argument(%x: tensor<3xf32>) -> tensor<3xf32> {
  %unused = gpuc.constant dense<1.0> : tensor<7xf32>
  %0 = gpuc.unary exp %x : tensor<3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// A constant must not blow up beyond the cap; a weight may be moved whatever its size.
// CAP-LABEL: func.func @cap
// CAP: gpuc.tile
// CAP-NOT: gpuc.transpose
// CHECK-LABEL: func.func @cap
// CHECK-NOT: gpuc.tile
func.func @cap() -> (tensor<35xf32>, tensor<7x5xf32>) {
  %a = gpuc.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>
  %0 = gpuc.tile %a {repeats = array<i64: 7>} : tensor<5xf32> -> tensor<35xf32>
  %w = gpuc.constant dense<2.0> : tensor<5x7xf32>
  %1 = gpuc.transpose %w {perm = array<i64: 1, 0>} : tensor<5x7xf32> -> tensor<7x5xf32>
  return %0, %1 : tensor<35xf32>, tensor<7x5xf32>
}

// RUN: gpuc-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @gather_of_one
// CHECK-SAME: (%[[X:.*]]: tensor<7x5xf32>)
// CHECK-NEXT: %[[S:.*]] = gpuc.slice %[[X]] {starts = array<i64: 6, 0>, steps = array<i64: 1, 1>} : tensor<7x5xf32> -> tensor<1x5xf32>
// CHECK-NEXT: %[[R:.*]] = gpuc.reshape %[[S]] : tensor<1x5xf32> -> tensor<5xf32>
// CHECK-NEXT: %[[U:.*]] = gpuc.slice %[[X]] {starts = array<i64: 0, 2>, steps = array<i64: 1, 1>} : tensor<7x5xf32> -> tensor<7x1xf32>
// CHECK-NEXT: return %[[R]], %[[U]]
func.func @gather_of_one(%x: tensor<7x5xf32>) -> (tensor<5xf32>, tensor<7x1xf32>) {
  %last = gpuc.constant dense<-1> : tensor<i64>
  %two = gpuc.constant dense<2> : tensor<1xi32>
  %0 = gpuc.gather %x, %last {axis = 0 : i64} : tensor<7x5xf32>, tensor<i64> -> tensor<5xf32>
  %1 = gpuc.gather %x, %two {axis = 1 : i64} : tensor<7x5xf32>, tensor<1xi32> -> tensor<7x1xf32>
  return %0, %1 : tensor<5xf32>, tensor<7x1xf32>
}

// An index out of range is left alone.
// CHECK-LABEL: func.func @gather_out_of_range
// CHECK: gpuc.gather
func.func @gather_out_of_range(%x: tensor<7x5xf32>) -> tensor<5xf32> {
  %i = gpuc.constant dense<7> : tensor<i64>
  %0 = gpuc.gather %x, %i {axis = 0 : i64} : tensor<7x5xf32>, tensor<i64> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// The same for constants: the reference executor refuses, nothing is folded.
// CHECK-LABEL: func.func @constant_gather_out_of_range
// CHECK: gpuc.gather
func.func @constant_gather_out_of_range() -> tensor<2xi64> {
  %x = gpuc.constant dense<[1, 2, 3]> : tensor<3xi64>
  %i = gpuc.constant dense<[0, 3]> : tensor<2xi64>
  %0 = gpuc.gather %x, %i {axis = 0 : i64} : tensor<3xi64>, tensor<2xi64> -> tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @reduce_nothing
// CHECK-SAME: (%[[X:.*]]: tensor<3x5xf32>)
// CHECK-NEXT: %[[S:.*]] = gpuc.reduce sum_square
// CHECK-NEXT: return %[[X]], %[[S]]
func.func @reduce_nothing(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  %0 = gpuc.reduce sum %x {axes = array<i64>, keepdims = true} : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = gpuc.reduce sum_square %x {axes = array<i64>, keepdims = true} : tensor<3x5xf32> -> tensor<3x5xf32>
  return %0, %1 : tensor<3x5xf32>, tensor<3x5xf32>
}

// CHECK-LABEL: func.func @constants
// CHECK-DAG: gpuc.constant dense<[3, 1]> : tensor<2xi64>
// CHECK-DAG: gpuc.constant dense<[7, 8]> : tensor<2xi32>
// CHECK-DAG: gpuc.constant dense<{{\[\[}}1.900000e+01, 2.200000e+01], [4.300000e+01, 5.000000e+01]]> : tensor<2x2xf32>
// CHECK-NOT: gpuc.{{gather|reduce|matmul}}
func.func @constants() -> (tensor<2xi64>, tensor<2xi32>, tensor<2x2xf32>) {
  %x = gpuc.constant dense<[1, 2, 3]> : tensor<3xi64>
  %i = gpuc.constant dense<[-1, 0]> : tensor<2xi64>
  %m = gpuc.constant dense<[[1, 2], [6, 6]]> : tensor<2x2xi32>
  %a = gpuc.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = gpuc.constant dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>
  %0 = gpuc.gather %x, %i {axis = 0 : i64} : tensor<3xi64>, tensor<2xi64> -> tensor<2xi64>
  %1 = gpuc.reduce sum %m {axes = array<i64: 0>, keepdims = false} : tensor<2x2xi32> -> tensor<2xi32>
  %2 = gpuc.matmul %a, %b : tensor<2x2xf32>, tensor<2x2xf32> -> tensor<2x2xf32>
  return %0, %1, %2 : tensor<2xi64>, tensor<2xi32>, tensor<2x2xf32>
}

// Folding works inside a kernel region too, and the constants stay in it.
// CHECK-LABEL: func.func @in_kernel
// CHECK: gpuc.kernel "pointwise" (%[[A:.*]] = %{{.*}} : tensor<2xf32>)
// CHECK-NEXT: %[[C:.*]] = gpuc.constant dense<3.000000e+00> : tensor<2xf32>
// CHECK-NEXT: gpuc.binary mul %[[A]], %[[C]]
func.func @in_kernel(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = gpuc.kernel "pointwise" (%a = %x : tensor<2xf32>) -> tensor<2xf32> {
    %one = gpuc.constant dense<1.0> : tensor<f32>
    %two = gpuc.constant dense<2.0> : tensor<2xf32>
    %0 = gpuc.binary add %one, %two : tensor<f32>, tensor<2xf32> -> tensor<2xf32>
    %1 = gpuc.binary mul %a, %0 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
    gpuc.yield %1 : tensor<2xf32>
  }
  return %y : tensor<2xf32>
}

// RUN: gpuc-opt %s --gpuc-merge-products | FileCheck %s

// q, k and v: one product, three slices. The one without a bias gets -0, which changes no number, not even -0.
// CHECK-LABEL: func.func @qkv
// CHECK-SAME: (%[[X:.*]]: tensor<7x2xf32>)
// CHECK: %[[W:.*]] = gpuc.constant dense<{{\[}}[1.000000e+00, 2.000000e+00, 5.000000e+00, 7.000000e+00, 8.000000e+00, 9.000000e+00], [3.000000e+00, 4.000000e+00, 6.000000e+00, 1.000000e+01, 1.100000e+01, 1.200000e+01]]> : tensor<2x6xf32>
// CHECK: %[[P:.*]] = gpuc.matmul %[[X]], %[[W]]
// CHECK: %[[B:.*]] = gpuc.constant dense<[1.000000e+00, 2.000000e+00, -0.000000e+00, 3.000000e+00, 4.000000e+00, 5.000000e+00]> : tensor<6xf32>
// CHECK: %[[S:.*]] = gpuc.binary add %[[P]], %[[B]]
// CHECK: gpuc.slice %[[S]] {starts = array<i64: 0, 0>, steps = array<i64: 1, 1>} : tensor<7x6xf32> -> tensor<7x2xf32>
// CHECK: gpuc.slice %[[S]] {starts = array<i64: 0, 2>, steps = array<i64: 1, 1>} : tensor<7x6xf32> -> tensor<7x1xf32>
// CHECK: gpuc.slice %[[S]] {starts = array<i64: 0, 3>, steps = array<i64: 1, 1>} : tensor<7x6xf32> -> tensor<7x3xf32>
func.func @qkv(%x: tensor<7x2xf32>) -> (tensor<7x2xf32>, tensor<7x1xf32>, tensor<7x3xf32>) {
  %a = gpuc.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %b = gpuc.constant dense<[[5.0], [6.0]]> : tensor<2x1xf32>
  %c = gpuc.constant dense<[[7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]> : tensor<2x3xf32>
  %abias = gpuc.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %cbias = gpuc.constant dense<[[3.0, 4.0, 5.0]]> : tensor<1x3xf32>
  %0 = gpuc.matmul %x, %a : tensor<7x2xf32>, tensor<2x2xf32> -> tensor<7x2xf32>
  %1 = gpuc.binary add %0, %abias : tensor<7x2xf32>, tensor<2xf32> -> tensor<7x2xf32>
  %2 = gpuc.matmul %x, %b : tensor<7x2xf32>, tensor<2x1xf32> -> tensor<7x1xf32>
  %3 = gpuc.matmul %x, %c : tensor<7x2xf32>, tensor<2x3xf32> -> tensor<7x3xf32>
  %4 = gpuc.binary add %cbias, %3 : tensor<1x3xf32>, tensor<7x3xf32> -> tensor<7x3xf32>
  %5 = gpuc.softmax %1 {axis = 0 : i64} : tensor<7x2xf32> -> tensor<7x2xf32>
  %6 = gpuc.softmax %2 {axis = 0 : i64} : tensor<7x1xf32> -> tensor<7x1xf32>
  %7 = gpuc.softmax %4 {axis = 0 : i64} : tensor<7x3xf32> -> tensor<7x3xf32>
  return %5, %6, %7 : tensor<7x2xf32>, tensor<7x1xf32>, tensor<7x3xf32>
}

// Gate and up meet in one pointwise kernel.
// CHECK-LABEL: func.func @gate_and_up
// CHECK: gpuc.matmul %{{.*}} -> tensor<7x6xf32>
// CHECK-NOT: gpuc.matmul
// CHECK: return
func.func @gate_and_up(%x: tensor<7x2xf32>) -> tensor<7x3xf32> {
  %a = gpuc.constant dense<1.0> : tensor<2x3xf32>
  %b = gpuc.constant dense<2.0> : tensor<2x3xf32>
  %0 = gpuc.matmul %x, %a : tensor<7x2xf32>, tensor<2x3xf32> -> tensor<7x3xf32>
  %1 = gpuc.unary silu %0 : tensor<7x3xf32> -> tensor<7x3xf32>
  %2 = gpuc.matmul %x, %b : tensor<7x2xf32>, tensor<2x3xf32> -> tensor<7x3xf32>
  %3 = gpuc.binary mul %1, %2 : tensor<7x3xf32>, tensor<7x3xf32> -> tensor<7x3xf32>
  return %3 : tensor<7x3xf32>
}

// Two products with an activation each are two launches; merged they would be three.
// CHECK-LABEL: func.func @own_activations
// CHECK-COUNT-2: gpuc.matmul
func.func @own_activations(%x: tensor<7x2xf32>) -> (tensor<7x3xf32>, tensor<7x3xf32>) {
  %a = gpuc.constant dense<1.0> : tensor<2x3xf32>
  %b = gpuc.constant dense<2.0> : tensor<2x3xf32>
  %0 = gpuc.matmul %x, %a : tensor<7x2xf32>, tensor<2x3xf32> -> tensor<7x3xf32>
  %1 = gpuc.unary silu %0 : tensor<7x3xf32> -> tensor<7x3xf32>
  %2 = gpuc.matmul %x, %b : tensor<7x2xf32>, tensor<2x3xf32> -> tensor<7x3xf32>
  %3 = gpuc.unary tanh %2 : tensor<7x3xf32> -> tensor<7x3xf32>
  return %1, %3 : tensor<7x3xf32>, tensor<7x3xf32>
}

// Different left sides, a matrix that is no constant, batched matrices, integers.
// CHECK-LABEL: func.func @refused
// CHECK-COUNT-8: gpuc.matmul
func.func @refused(%x: tensor<7x2xf32>, %y: tensor<7x2xf32>, %w: tensor<2x3xf32>, %i: tensor<7x2xi32>)
    -> (tensor<7x3xf32>, tensor<7x3xf32>, tensor<7x3xf32>, tensor<7x3xf32>, tensor<5x7x3xf32>, tensor<5x7x3xf32>, tensor<7x3xi32>, tensor<7x3xi32>) {
  %a = gpuc.constant dense<1.0> : tensor<2x3xf32>
  %b = gpuc.constant dense<1.0> : tensor<5x2x3xf32>
  %c = gpuc.constant dense<1> : tensor<2x3xi32>
  %d = gpuc.constant dense<2> : tensor<2x3xi32>
  %0 = gpuc.matmul %x, %a : tensor<7x2xf32>, tensor<2x3xf32> -> tensor<7x3xf32>
  %1 = gpuc.matmul %y, %a : tensor<7x2xf32>, tensor<2x3xf32> -> tensor<7x3xf32>
  %2 = gpuc.matmul %x, %w : tensor<7x2xf32>, tensor<2x3xf32> -> tensor<7x3xf32>
  %3 = gpuc.matmul %y, %w : tensor<7x2xf32>, tensor<2x3xf32> -> tensor<7x3xf32>
  %4 = gpuc.matmul %x, %b : tensor<7x2xf32>, tensor<5x2x3xf32> -> tensor<5x7x3xf32>
  %5 = gpuc.matmul %y, %b : tensor<7x2xf32>, tensor<5x2x3xf32> -> tensor<5x7x3xf32>
  %6 = gpuc.matmul %i, %c : tensor<7x2xi32>, tensor<2x3xi32> -> tensor<7x3xi32>
  %7 = gpuc.matmul %i, %d : tensor<7x2xi32>, tensor<2x3xi32> -> tensor<7x3xi32>
  %t0 = gpuc.softmax %0 {axis = 0 : i64} : tensor<7x3xf32> -> tensor<7x3xf32>
  %t1 = gpuc.softmax %1 {axis = 0 : i64} : tensor<7x3xf32> -> tensor<7x3xf32>
  %t2 = gpuc.softmax %2 {axis = 0 : i64} : tensor<7x3xf32> -> tensor<7x3xf32>
  %t3 = gpuc.softmax %3 {axis = 0 : i64} : tensor<7x3xf32> -> tensor<7x3xf32>
  %t6 = gpuc.cumsum %6 {axis = 0 : i64, exclusive = false, reverse = false} : tensor<7x3xi32> -> tensor<7x3xi32>
  %t7 = gpuc.cumsum %7 {axis = 0 : i64, exclusive = false, reverse = false} : tensor<7x3xi32> -> tensor<7x3xi32>
  %t4 = gpuc.softmax %4 {axis = 0 : i64} : tensor<5x7x3xf32> -> tensor<5x7x3xf32>
  %t5 = gpuc.softmax %5 {axis = 0 : i64} : tensor<5x7x3xf32> -> tensor<5x7x3xf32>
  return %t0, %t1, %t2, %t3, %t4, %t5, %t6, %t7 : tensor<7x3xf32>, tensor<7x3xf32>, tensor<7x3xf32>, tensor<7x3xf32>, tensor<5x7x3xf32>, tensor<5x7x3xf32>, tensor<7x3xi32>, tensor<7x3xi32>
}

// A bias that varies along the rows (7x1, and 7x7 has as many rows as columns) is no bias of columns: it stays behind the slice.
// CHECK-LABEL: func.func @row_bias
// CHECK: %[[P:.*]] = gpuc.matmul %{{.*}} -> tensor<7x14xf32>
// CHECK-NOT: gpuc.binary add %[[P]]
// CHECK: %[[S:.*]] = gpuc.slice %[[P]]
// CHECK: gpuc.slice %[[P]]
// CHECK: gpuc.binary add %{{.*}} : tensor<7x7xf32>, tensor<7x1xf32>
func.func @row_bias(%x: tensor<7x2xf32>) -> tensor<7x7xf32> {
  %a = gpuc.constant dense<1.0> : tensor<2x7xf32>
  %b = gpuc.constant dense<2.0> : tensor<2x7xf32>
  %bias = gpuc.constant dense<[[1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0]]> : tensor<7x1xf32>
  %0 = gpuc.matmul %x, %a : tensor<7x2xf32>, tensor<2x7xf32> -> tensor<7x7xf32>
  %1 = gpuc.binary add %0, %bias : tensor<7x7xf32>, tensor<7x1xf32> -> tensor<7x7xf32>
  %2 = gpuc.matmul %x, %b : tensor<7x2xf32>, tensor<2x7xf32> -> tensor<7x7xf32>
  %3 = gpuc.binary add %1, %2 : tensor<7x7xf32>, tensor<7x7xf32> -> tensor<7x7xf32>
  return %3 : tensor<7x7xf32>
}

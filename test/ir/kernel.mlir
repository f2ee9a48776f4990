// RUN: gpuc-opt %s | gpuc-opt | FileCheck %s
// RUN: gpuc-opt %s --mlir-print-op-generic | gpuc-opt | FileCheck %s

// CHECK-LABEL: func.func @constants
func.func @constants() {
  // CHECK: gpuc.constant dense<[1, 2, 3]> : tensor<3xi64>
  %0 = gpuc.constant dense<[1, 2, 3]> : tensor<3xi64>
  // CHECK: gpuc.constant dense<1.500000e+00> : tensor<3x5xf8E5M2>
  %1 = gpuc.constant dense<1.5> : tensor<3x5xf8E5M2>
  // CHECK: gpuc.constant dense_resource<weights> : tensor<2xf32>
  %2 = gpuc.constant dense_resource<weights> : tensor<2xf32>
  // CHECK: gpuc.constant dense<> : tensor<0x7xf16>
  %3 = gpuc.constant dense<> : tensor<0x7xf16>
  // CHECK: gpuc.constant dense<[-8, 7]> : tensor<2xi4>
  %4 = gpuc.constant dense<[-8, 7]> : tensor<2xi4>
  return
}

// CHECK-LABEL: func.func @kernels
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>
func.func @kernels(%x: tensor<3xf32>, %m: tensor<3x4xf32>) -> tensor<3xf32> {
  // CHECK: %[[Y:.*]] = gpuc.kernel "pointwise" (%[[A:.*]] = %[[X]] : tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: %[[E:.*]] = gpuc.unary exp %[[A]] : tensor<3xf32> -> tensor<3xf32>
  // CHECK-NEXT: gpuc.yield %[[E]] : tensor<3xf32>
  // CHECK-NEXT: }
  %y = gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>) -> tensor<3xf32> {
    %0 = gpuc.unary exp %a : tensor<3xf32> -> tensor<3xf32>
    gpuc.yield %0 : tensor<3xf32>
  }
  // Two operands and results, every attribute, and one that gpuc does not know.
  // CHECK: %[[Z:.*]]:2 = gpuc.kernel "matmul" (%{{.*}} = %{{.*}} : tensor<3x4xf32>, %{{.*}} = %[[Y]] : tensor<3xf32>) -> tensor<3x3xf32>, tensor<3xf32>
  // CHECK-SAME: attributes {config = {tile = 64 : i64}, note = "kept", offsets = array<i64: 0, 256>, storage = {{\[\[}}1, 3], []]} {
  %z:2 = gpuc.kernel "matmul" (%a = %m : tensor<3x4xf32>, %b = %y : tensor<3xf32>) -> tensor<3x3xf32>, tensor<3xf32>
      attributes {config = {tile = 64 : i64}, note = "kept", offsets = array<i64: 0, 256>, storage = [[1, 3], []]} {
    %t = gpuc.transpose %a {perm = array<i64: 1, 0>} : tensor<3x4xf32> -> tensor<4x3xf32>
    %0 = gpuc.matmul %a, %t : tensor<3x4xf32>, tensor<4x3xf32> -> tensor<3x3xf32>
    %1 = gpuc.unary neg %b : tensor<3xf32> -> tensor<3xf32>
    gpuc.yield %0, %1 : tensor<3x3xf32>, tensor<3xf32>
  }
  // No operands.
  // CHECK: gpuc.kernel "pointwise" () -> tensor<2xf32> {
  %c = gpuc.kernel "pointwise" () -> tensor<2xf32> {
    %0 = gpuc.constant dense<1.0> : tensor<2xf32>
    gpuc.yield %0 : tensor<2xf32>
  }
  // No results.
  // CHECK: gpuc.kernel "pointwise" (%{{.*}} = %{{.*}} : tensor<3xf32>) -> () {
  // CHECK-NEXT: gpuc.yield
  // CHECK-NEXT: }
  gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>) -> () {
    gpuc.yield
  }
  // CHECK: return %[[Z]]#1
  return %z#1 : tensor<3xf32>
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040"
    }
  }
#-}

// RUN: gpuc-opt %s | gpuc-opt | FileCheck %s
// RUN: gpuc-opt %s --mlir-print-op-generic | gpuc-opt | FileCheck %s

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<3x5xf32>, %b: tensor<3x5xi1>, %e: tensor<0x5xi8>) {
  // CHECK: gpuc.reduce sum %{{.*}} {axes = array<i64: 1>, keepdims = false} : tensor<3x5xf32> -> tensor<3xf32>
  %0 = gpuc.reduce sum %x {axes = array<i64: 1>, keepdims = false} : tensor<3x5xf32> -> tensor<3xf32>
  // CHECK: gpuc.reduce log_sum_exp %{{.*}} {axes = array<i64: 0, 1>, keepdims = true} : tensor<3x5xf32> -> tensor<1x1xf32>
  %1 = gpuc.reduce log_sum_exp %x {axes = array<i64: 0, 1>, keepdims = true} : tensor<3x5xf32> -> tensor<1x1xf32>
  // CHECK: gpuc.reduce any %{{.*}} {axes = array<i64: 0>, keepdims = false} : tensor<3x5xi1> -> tensor<5xi1>
  %2 = gpuc.reduce any %b {axes = array<i64: 0>, keepdims = false} : tensor<3x5xi1> -> tensor<5xi1>
  // CHECK: gpuc.reduce max %{{.*}} {axes = array<i64: 0>, keepdims = false} : tensor<0x5xi8> -> tensor<5xi8>
  %3 = gpuc.reduce max %e {axes = array<i64: 0>, keepdims = false} : tensor<0x5xi8> -> tensor<5xi8>
  // CHECK: gpuc.reduce l2 %{{.*}} {axes = array<i64>, keepdims = false} : tensor<3x5xf32> -> tensor<3x5xf32>
  %4 = gpuc.reduce l2 %x {axes = array<i64>, keepdims = false} : tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// CHECK-LABEL: func.func @others
func.func @others(%x: tensor<3x5xf32>) {
  // CHECK: gpuc.arg_reduce %{{.*}} {axis = 1 : i64, isMax = true, keepdims = false, selectLast = false} : tensor<3x5xf32> -> tensor<3xi64>
  %0 = gpuc.arg_reduce %x {isMax = true, axis = 1 : i64, keepdims = false, selectLast = false} : tensor<3x5xf32> -> tensor<3xi64>
  // CHECK: gpuc.arg_reduce {{.*}} -> tensor<1x5xi64>
  %1 = gpuc.arg_reduce %x {isMax = false, axis = 0 : i64, keepdims = true, selectLast = true} : tensor<3x5xf32> -> tensor<1x5xi64>
  // CHECK: gpuc.cumsum %{{.*}} {axis = 0 : i64, exclusive = true, reverse = false} : tensor<3x5xf32> -> tensor<3x5xf32>
  %2 = gpuc.cumsum %x {axis = 0 : i64, exclusive = true, reverse = false} : tensor<3x5xf32> -> tensor<3x5xf32>
  // CHECK: gpuc.topk %{{.*}} {axis = 1 : i64, k = 2 : i64, largest = true} : tensor<3x5xf32> -> tensor<3x2xf32>, tensor<3x2xi64>
  %v, %i = gpuc.topk %x {k = 2 : i64, axis = 1 : i64, largest = true} : tensor<3x5xf32> -> tensor<3x2xf32>, tensor<3x2xi64>
  return
}

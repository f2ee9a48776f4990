// RUN: gpuc-opt %s --pass-pipeline='builtin.module(func.func(gpuc-form-kernels,gpuc-assign-layouts,gpuc-plan-memory))' | FileCheck %s
// Elements that share a byte are written by kernels without a root, row-major, never in place.

// CHECK-LABEL: func.func @packed
func.func @packed(%x: tensor<3x5xf32>) -> tensor<3xi4> {
  // CHECK: gpuc.kernel "reduction"
  // CHECK: gpuc.kernel "pointwise"
  // CHECK: gpuc.cast {{.*}} -> tensor<3xi4>
  %0 = gpuc.reduce max %x {axes = array<i64: 1>, keepdims = false} : tensor<3x5xf32> -> tensor<3xf32>
  %1 = gpuc.cast %0 : tensor<3xf32> -> tensor<3xi4>
  return %1 : tensor<3xi4>
}

// CHECK-LABEL: func.func @bytes
func.func @bytes(%x: tensor<3x5xf32>) -> tensor<3xf8E5M2> {
  // CHECK: gpuc.kernel "reduction" {{.*}} -> tensor<3xf8E5M2>
  // CHECK-NOT: gpuc.kernel
  %0 = gpuc.reduce max %x {axes = array<i64: 1>, keepdims = false} : tensor<3x5xf32> -> tensor<3xf32>
  %1 = gpuc.cast %0 : tensor<3xf32> -> tensor<3xf8E5M2>
  return %1 : tensor<3xf8E5M2>
}

// RUN: gpuc-opt %s | gpuc-opt | FileCheck %s
// RUN: gpuc-opt %s --mlir-print-op-generic | gpuc-opt | FileCheck %s
// Types that are only stored: they are cast, viewed, and passed in and out.

// CHECK-LABEL: func.func @casts
func.func @casts(%x: tensor<3x5xf32>, %w: tensor<3x5xui2>) -> (tensor<3x5xf8E8M0FNU>, tensor<3x5xf4E2M1FN>) {
  // CHECK: gpuc.cast %{{.*}} : tensor<3x5xui2> -> tensor<3x5xf8E8M0FNU>
  %0 = gpuc.cast %w : tensor<3x5xui2> -> tensor<3x5xf8E8M0FNU>
  // CHECK: gpuc.cast %{{.*}} {round = #gpuc<round_mode nearest>, saturate = false} : tensor<3x5xf32> -> tensor<3x5xf8E8M0FNU>
  %1 = gpuc.cast %x {round = #gpuc<round_mode nearest>, saturate = false} : tensor<3x5xf32> -> tensor<3x5xf8E8M0FNU>
  %2 = gpuc.cast %x : tensor<3x5xf32> -> tensor<3x5xf4E2M1FN>
  return %1, %2 : tensor<3x5xf8E8M0FNU>, tensor<3x5xf4E2M1FN>
}

// CHECK-LABEL: func.func @moves
func.func @moves(%x: tensor<3x5xi4>) -> tensor<15xi4> {
  // CHECK: gpuc.transpose %{{.*}} : tensor<3x5xi4> -> tensor<5x3xi4>
  %0 = gpuc.transpose %x {perm = array<i64: 1, 0>} : tensor<3x5xi4> -> tensor<5x3xi4>
  // CHECK: gpuc.reshape %{{.*}} : tensor<5x3xi4> -> tensor<15xi4>
  %1 = gpuc.reshape %0 : tensor<5x3xi4> -> tensor<15xi4>
  return %1 : tensor<15xi4>
}

// CHECK-LABEL: func.func @kernels
func.func @kernels(%x: tensor<3x5xf32>) -> tensor<3x5xi4> {
  // CHECK: gpuc.kernel "pointwise" ({{.*}}) -> tensor<3x5xi4>, tensor<3x5xf8E5M2>
  // CHECK-SAME: storage = {{\[\[}}], [1, 3]]
  // CHECK: gpuc.yield %{{.*}}, %{{.*}} : tensor<3x5xi4>, tensor<3x5xf8E5M2>
  %y:2 = gpuc.kernel "pointwise" (%a = %x : tensor<3x5xf32>) -> tensor<3x5xi4>, tensor<3x5xf8E5M2>
      attributes {storage = [[], [1, 3]]} {
    %0 = gpuc.cast %a : tensor<3x5xf32> -> tensor<3x5xi4>
    %1 = gpuc.cast %a : tensor<3x5xf32> -> tensor<3x5xf8E5M2>
    gpuc.yield %0, %1 : tensor<3x5xi4>, tensor<3x5xf8E5M2>
  }
  return %y#0 : tensor<3x5xi4>
}

// RUN: gpuc-opt %s | gpuc-opt | FileCheck %s
// RUN: gpuc-opt %s --mlir-print-op-generic | gpuc-opt | FileCheck %s

// CHECK-LABEL: func.func @gathers
func.func @gathers(%table: tensor<7x5xf32>, %ids: tensor<2x3xi64>, %one: tensor<i32>, %along: tensor<9x2xi32>,
                   %vectors: tensor<7x2x1xi64>) {
  // CHECK: gpuc.gather %{{.*}}, %{{.*}} {axis = 0 : i64} : tensor<7x5xf32>, tensor<2x3xi64> -> tensor<2x3x5xf32>
  %0 = gpuc.gather %table, %ids {axis = 0 : i64} : tensor<7x5xf32>, tensor<2x3xi64> -> tensor<2x3x5xf32>
  // CHECK: gpuc.gather %{{.*}}, %{{.*}} {axis = 1 : i64} : tensor<7x5xf32>, tensor<i32> -> tensor<7xf32>
  %1 = gpuc.gather %table, %one {axis = 1 : i64} : tensor<7x5xf32>, tensor<i32> -> tensor<7xf32>
  // CHECK: gpuc.gather_elements %{{.*}}, %{{.*}} {axis = 0 : i64} : tensor<7x5xf32>, tensor<9x2xi32> -> tensor<9x2xf32>
  %2 = gpuc.gather_elements %table, %along {axis = 0 : i64} : tensor<7x5xf32>, tensor<9x2xi32> -> tensor<9x2xf32>
  // CHECK: gpuc.gather_nd %{{.*}}, %{{.*}} {batchDims = 1 : i64} : tensor<7x5xf32>, tensor<7x2x1xi64> -> tensor<7x2xf32>
  %3 = gpuc.gather_nd %table, %vectors {batchDims = 1 : i64} : tensor<7x5xf32>, tensor<7x2x1xi64> -> tensor<7x2xf32>
  // CHECK: gpuc.gather_nd %{{.*}}, %{{.*}} {batchDims = 0 : i64} : tensor<7x5xf32>, tensor<7x2x1xi64> -> tensor<7x2x5xf32>
  %4 = gpuc.gather_nd %table, %vectors {batchDims = 0 : i64} : tensor<7x5xf32>, tensor<7x2x1xi64> -> tensor<7x2x5xf32>
  return
}

// CHECK-LABEL: func.func @scatters
func.func @scatters(%x: tensor<3x5xf32>, %rows: tensor<2x1xi64>, %u: tensor<2x5xf32>, %i: tensor<3x2xi64>,
                    %v: tensor<3x2xf32>) {
  // CHECK: gpuc.scatter_nd add %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x5xf32>, tensor<2x1xi64>, tensor<2x5xf32> -> tensor<3x5xf32>
  %0 = gpuc.scatter_nd add %x, %rows, %u : tensor<3x5xf32>, tensor<2x1xi64>, tensor<2x5xf32> -> tensor<3x5xf32>
  // CHECK: gpuc.scatter_elements none %{{.*}}, %{{.*}}, %{{.*}} {axis = 1 : i64} : tensor<3x5xf32>, tensor<3x2xi64>, tensor<3x2xf32> -> tensor<3x5xf32>
  %1 = gpuc.scatter_elements none %x, %i, %v {axis = 1 : i64} : tensor<3x5xf32>, tensor<3x2xi64>, tensor<3x2xf32> -> tensor<3x5xf32>
  return
}

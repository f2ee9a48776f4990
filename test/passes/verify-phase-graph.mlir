// RUN: gpuc-opt %s --split-input-file --verify-diagnostics --gpuc-verify-phase=phase=graph
// RUN: not gpuc-opt %s --split-input-file --gpuc-verify-phase=phase=soup 2>&1 | FileCheck %s
// CHECK: unknown phase 'soup', expected import, graph, kernels or memory

func.func @right(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = gpuc.unary exp %x : tensor<2x4xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @kernel(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{phase 'graph' must not hold kernels yet}}
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> {
    gpuc.yield %a : tensor<2x4xf32>
  }
  return %0 : tensor<2x4xf32>
}

// -----

func.func private @g(tensor<2x4xf32>) -> tensor<2x4xf32>
func.func @other_dialect(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @+1 {{phase 'graph' holds an op that is no core op}}
  %0 = func.call @g(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

// expected-error @+1 {{phase 'graph' needs static shapes, got argument type 'tensor<?x4xf32>'}}
func.func @dynamic(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  return %x : tensor<?x4xf32>
}

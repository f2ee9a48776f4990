// RUN: gpuc-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+2 {{reduce_c1: axes are not sorted, distinct and below 2: got [1, 0]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.reduce sum %x {axes = array<i64: 1, 0>, keepdims = false} : tensor<3x5xf32> -> tensor<f32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+2 {{reduce_c1: axes are not sorted, distinct and below 2: got [1, 1]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.reduce sum %x {axes = array<i64: 1, 1>, keepdims = false} : tensor<3x5xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+2 {{reduce_c1: axes are not sorted, distinct and below 2: got [2]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.reduce sum %x {axes = array<i64: 2>, keepdims = false} : tensor<3x5xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+2 {{reduce_c2: any takes i1, got f32}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.reduce any %x {axes = array<i64: 1>, keepdims = false} : tensor<3x5xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xi1>) {
  // expected-error @+2 {{reduce_c2: sum takes numbers, got i1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.reduce sum %x {axes = array<i64: 1>, keepdims = false} : tensor<3x5xi1> -> tensor<3xi1>
  return
}

// -----

func.func @f(%x: tensor<3x0xf32>) {
  // expected-error @+2 {{arg_reduce_c1: axis 1 is empty}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.arg_reduce %x {isMax = true, axis = 1 : i64, keepdims = false, selectLast = false} : tensor<3x0xf32> -> tensor<3xi64>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+2 {{arg_reduce_c1: axis is out of range: expected 0 <= axis < 2, got -1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.arg_reduce %x {isMax = true, axis = -1 : i64, keepdims = false, selectLast = false} : tensor<3x5xf32> -> tensor<3xi64>
  return
}

// -----

func.func @f(%x: tensor<5xf32>) {
  // expected-error @+2 {{cumsum_c1: axis is out of range: expected 0 <= axis < 1, got 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.cumsum %x {axis = 1 : i64, exclusive = false, reverse = false} : tensor<5xf32> -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<5xi1>) {
  // expected-error @+2 {{cumsum_c2: expected numbers, got i1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.cumsum %x {axis = 0 : i64, exclusive = false, reverse = false} : tensor<5xi1> -> tensor<5xi1>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+2 {{topk_c1: axis is out of range: expected 0 <= axis < 0, got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %v, %i = gpuc.topk %x {k = 1 : i64, axis = 0 : i64, largest = true} : tensor<f32> -> tensor<1xf32>, tensor<1xi64>
  return
}

// -----

func.func @f(%x: tensor<5xf32>) {
  // expected-error @+2 {{topk_c2: k is out of range: expected 0 <= k <= 5, got 6}}
  // expected-error @+1 {{failed to infer returned types}}
  %v, %i = gpuc.topk %x {k = 6 : i64, axis = 0 : i64, largest = true} : tensor<5xf32> -> tensor<6xf32>, tensor<6xi64>
  return
}

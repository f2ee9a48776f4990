// RUN: gpuc-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<7x5xf32>, %i: tensor<2xi64>) {
  // expected-error @+2 {{gather_c1: axis is out of range: expected 0 <= axis < 2, got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.gather %x, %i {axis = 2 : i64} : tensor<7x5xf32>, tensor<2xi64> -> tensor<7x2xf32>
  return
}

// -----

func.func @f(%x: tensor<0x5xf32>, %i: tensor<2xi64>) {
  // expected-error @+2 {{gather_c1: axis 0 is empty, there is nothing to take}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.gather %x, %i {axis = 0 : i64} : tensor<0x5xf32>, tensor<2xi64> -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<7x5xf32>, %i: tensor<2xf32>) {
  // expected-error @+1 {{operand #1 must be statically shaped tensor of 32-bit signless integer or 64-bit signless integer values}}
  %0 = gpuc.gather %x, %i {axis = 0 : i64} : tensor<7x5xf32>, tensor<2xf32> -> tensor<2x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %i: tensor<4x2xi64>) {
  // expected-error @+2 {{gather_elements_c1: indices of shape [4, 2] exceed data of shape [3, 5] outside axis 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.gather_elements %x, %i {axis = 1 : i64} : tensor<3x5xf32>, tensor<4x2xi64> -> tensor<4x2xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %i: tensor<2xi64>) {
  // expected-error @+2 {{gather_elements_c1: indices of shape [2] exceed data of shape [3, 5] outside axis 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.gather_elements %x, %i {axis = 1 : i64} : tensor<3x5xf32>, tensor<2xi64> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %i: tensor<2x1x1xi64>) {
  // expected-error @+2 {{gather_nd_c1: batch extents differ at axis 0: data has 3, indices has 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.gather_nd %x, %i {batchDims = 1 : i64} : tensor<3x5xf32>, tensor<2x1x1xi64> -> tensor<2x1xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %i: tensor<2x1xi64>) {
  // expected-error @+2 {{gather_nd_c1: batchDims is out of range: expected at most 1, got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.gather_nd %x, %i {batchDims = 2 : i64} : tensor<3x5xf32>, tensor<2x1xi64> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %i: tensor<2x3xi64>) {
  // expected-error @+2 {{gather_nd_c2: the index vector is longer than the axes left: expected at most 2, got 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.gather_nd %x, %i {batchDims = 0 : i64} : tensor<3x5xf32>, tensor<2x3xi64> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %i: tensor<i64>) {
  // expected-error @+2 {{gather_nd_c2: indices must have an axis of index vectors, got a scalar}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.gather_nd %x, %i {batchDims = 0 : i64} : tensor<3x5xf32>, tensor<i64> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %i: tensor<2x1xi64>, %u: tensor<2x4xf32>) {
  // expected-error @+2 {{scatter_nd_c1: updates have the wrong shape: expected [2, 5], got [2, 4]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.scatter_nd add %x, %i, %u : tensor<3x5xf32>, tensor<2x1xi64>, tensor<2x4xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %i: tensor<2x3xi64>, %u: tensor<2xf32>) {
  // expected-error @+2 {{scatter_nd_c1: the index vector is longer than data's rank: expected at most 2, got 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.scatter_nd add %x, %i, %u : tensor<3x5xf32>, tensor<2x3xi64>, tensor<2xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %i: tensor<2x1xi64>, %u: tensor<2x5xf16>) {
  // expected-error @+2 {{scatter_nd_c1: element types differ: data has f32, updates has f16}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.scatter_nd add %x, %i, %u : tensor<3x5xf32>, tensor<2x1xi64>, tensor<2x5xf16> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %i: tensor<3x2xi64>, %u: tensor<3x3xf32>) {
  // expected-error @+2 {{scatter_elements_c1: indices and updates differ in shape: [3, 2] and [3, 3]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.scatter_elements none %x, %i, %u {axis = 1 : i64} : tensor<3x5xf32>, tensor<3x2xi64>, tensor<3x3xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error @+2 {{scatter_elements_c1: indices have the wrong rank: expected 2, got 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.scatter_elements none %x, %i, %u {axis = 1 : i64} : tensor<3x5xf32>, tensor<2xi64>, tensor<2xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %i: tensor<4x2xi64>, %u: tensor<4x2xf32>) {
  // expected-error @+2 {{scatter_elements_c1: indices of shape [4, 2] exceed data of shape [3, 5] outside axis 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.scatter_elements none %x, %i, %u {axis = 1 : i64} : tensor<3x5xf32>, tensor<4x2xi64>, tensor<4x2xf32> -> tensor<3x5xf32>
  return
}

// RUN: gpuc-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+2 {{softmax_c1: axis is out of range: expected 0 <= axis < 2, got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.softmax %x {axis = 2 : i64} : tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xi32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor}}
  %0 = gpuc.softmax %x {axis = 1 : i64} : tensor<3x5xi32> -> tensor<3x5xi32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+2 {{layer_norm_c1: axis is out of range: expected 0 <= axis < 2, got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.layer_norm %x {axis = 2 : i64, epsilon = 1.0e-5} : tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %g: tensor<3xf32>) {
  // expected-error @+2 {{layer_norm_c2: scale of shape [3] does not broadcast to [5]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.layer_norm %x scale %g {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x5xf32>, tensor<3xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %g: tensor<3x5xf32>) {
  // expected-error @+2 {{layer_norm_c2: scale of shape [3, 5] does not broadcast to [5]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.layer_norm %x scale %g {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %g: tensor<5xf16>) {
  // expected-error @+2 {{layer_norm_c2: element types differ: x has f32, scale has f16}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.layer_norm %x scale %g {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x5xf32>, tensor<5xf16> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %b: tensor<4xf32>) {
  // expected-error @+2 {{layer_norm_c2: bias of shape [4] does not broadcast to [5]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.layer_norm %x bias %b {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x5xf32>, tensor<4xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+2 {{rms_norm_c1: axis is out of range: expected 0 <= axis < 2, got -1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.rms_norm %x {axis = -1 : i64, epsilon = 1.0e-5} : tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %g: tensor<3xf32>) {
  // expected-error @+2 {{rms_norm_c2: scale of shape [3] does not broadcast to [5]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.rms_norm %x scale %g {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x5xf32>, tensor<3xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x4x5xf32>) {
  // expected-error @+2 {{group_norm_c1: groups must be positive and divide the 4 channels, got 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.group_norm %x {groups = 3 : i64, epsilon = 1.0e-5} : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x4x5xf32>) {
  // expected-error @+2 {{group_norm_c1: groups must be positive and divide the 4 channels, got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.group_norm %x {groups = 0 : i64, epsilon = 1.0e-5} : tensor<3x4x5xf32> -> tensor<3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+2 {{group_norm_c1: expected rank at least 2, got 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.group_norm %x {groups = 1 : i64, epsilon = 1.0e-5} : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3x4x5xf32>, %g: tensor<5xf32>) {
  // expected-error @+2 {{group_norm_c2: scale has the wrong shape: expected [4], got [5]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.group_norm %x scale %g {groups = 2 : i64, epsilon = 1.0e-5} : tensor<3x4x5xf32>, tensor<5xf32> -> tensor<3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x4x5xf32>, %g: tensor<4xf64>) {
  // expected-error @+2 {{group_norm_c2: element types differ: x has f32, bias has f64}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.group_norm %x bias %g {groups = 2 : i64, epsilon = 1.0e-5} : tensor<3x4x5xf32>, tensor<4xf64> -> tensor<3x4x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5x7xf32>) {
  // expected-error @+2 {{lrn_c1: size must be positive, got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.lrn %x {size = 0 : i64, alpha = 1.0e-4, beta = 0.75, bias = 1.0} : tensor<3x5x7xf32> -> tensor<3x5x7xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+2 {{lrn_c1: expected rank at least 2, got 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.lrn %x {size = 3 : i64, alpha = 1.0e-4, beta = 0.75, bias = 1.0} : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+2 {{row_moments_c2: columns must be positive and divide the last extent 5, got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.row_moments %x {columns = 2 : i64} : tensor<3x5xf32> -> tensor<3x2x2xf32>
  return
}

// -----

func.func @f(%x: tensor<f32>) {
  // expected-error @+2 {{row_moments_c1: expected rank at least 1, got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.row_moments %x {columns = 1 : i64} : tensor<f32> -> tensor<1x1x2xf32>
  return
}

// -----

func.func @f(%m: tensor<3x5xf32>) {
  // expected-error @+2 {{row_statistics_c1: expected moments of shape [R, P, 2] and type f32, got 3x5 of f32}}
  // expected-error @+1 {{failed to infer returned types}}
  %0, %1 = gpuc.row_statistics %m {extent = 5 : i64, epsilon = 1.0e-5, centered = true} : tensor<3x5xf32> -> tensor<3x1xf32>, tensor<3x1xf32>
  return
}

// -----

func.func @f(%m: tensor<3x5x2xf32>) {
  // expected-error @+2 {{row_statistics_c2: extent must be positive, got 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0, %1 = gpuc.row_statistics %m {extent = 0 : i64, epsilon = 1.0e-5, centered = true} : tensor<3x5x2xf32> -> tensor<3x1xf32>, tensor<3x1xf32>
  return
}

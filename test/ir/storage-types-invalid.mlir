// RUN: gpuc-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<3x5xf32>) -> tensor<3x5xi4> {
  // expected-error @+1 {{kernel_c6: result 0 of type 'i4' must be row-major, got strides [1, 3]}}
  %y = gpuc.kernel "pointwise" (%a = %x : tensor<3x5xf32>) -> tensor<3x5xi4> attributes {storage = [[1, 3]]} {
    %0 = gpuc.cast %a : tensor<3x5xf32> -> tensor<3x5xi4>
    gpuc.yield %0 : tensor<3x5xi4>
  }
  return %y : tensor<3x5xi4>
}

// -----

func.func @f(%x: tensor<3xf8E5M2>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor}}
  %0 = gpuc.unary neg %x : tensor<3xf8E5M2> -> tensor<3xf8E5M2>
  return
}

// -----

func.func @f(%x: tensor<3xi4>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor}}
  %0 = gpuc.binary add %x, %x : tensor<3xi4>, tensor<3xi4> -> tensor<3xi4>
  return
}

// -----

func.func @f(%x: tensor<3xui2>) {
  // expected-error @+1 {{operand #0 must be}}
  %0 = gpuc.concat %x, %x {axis = 0 : i64} : (tensor<3xui2>, tensor<3xui2>) -> tensor<6xui2>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+2 {{unknown RoundMode 'away'}}
  // expected-error @+1 {{failed to parse}}
  %0 = gpuc.cast %x {round = #gpuc<round_mode away>} : tensor<3xf32> -> tensor<3xf8E8M0FNU>
  return
}

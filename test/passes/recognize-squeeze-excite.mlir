// RUN: gpuc-opt %s -split-input-file -gpuc-recognize-squeeze-excite | FileCheck %s

// The gate in either place; a convolution without bias has one of zeros.
// CHECK-LABEL: func.func @block
// CHECK-DAG: %[[W1:.*]] = gpuc.constant dense<5.000000e-01> : tensor<4x8xf32>
// CHECK-DAG: %[[W2:.*]] = gpuc.constant dense<2.500000e-01> : tensor<8x4xf32>
// CHECK-DAG: %[[ZERO:.*]] = gpuc.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK: gpuc.squeeze_excite {{ *}}silu %arg0, %[[W1]], %{{.*}}, %[[W2]], %[[ZERO]] gate {{ *}}sigmoid
// CHECK-NOT: gpuc.conv
func.func @block(%x: tensor<2x8x3x5xf32>, %other: tensor<2x8x3x5xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<2x8x3x5xf32> {
  %w1 = gpuc.constant dense<0.5> : tensor<4x8x1x1xf32>
  %b1 = gpuc.constant dense<0.1> : tensor<4xf32>
  %w2 = gpuc.constant dense<0.25> : tensor<8x4x1x1xf32>
  %m = gpuc.reduce mean %x {axes = array<i64: 2, 3>, keepdims = true} : tensor<2x8x3x5xf32> -> tensor<2x8x1x1xf32>
  %h0 = gpuc.conv %m, %w1 bias %b1 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x8x1x1xf32>, tensor<4x8x1x1xf32>, tensor<4xf32> -> tensor<2x4x1x1xf32>
  %h = gpuc.unary silu %h0 : tensor<2x4x1x1xf32> -> tensor<2x4x1x1xf32>
  %g0 = gpuc.conv %h, %w2 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x4x1x1xf32>, tensor<8x4x1x1xf32> -> tensor<2x8x1x1xf32>
  %g = gpuc.unary sigmoid %g0 : tensor<2x8x1x1xf32> -> tensor<2x8x1x1xf32>
  %y = gpuc.binary mul %g, %x : tensor<2x8x1x1xf32>, tensor<2x8x3x5xf32> -> tensor<2x8x3x5xf32>
  return %y : tensor<2x8x3x5xf32>
}

// -----

// Refused: the mean is of another tensor.
// CHECK-LABEL: func.func @mean_of_another
// CHECK-NOT: gpuc.squeeze_excite
// CHECK: gpuc.binary {{ *}}mul
func.func @mean_of_another(%x: tensor<2x8x3x5xf32>, %other: tensor<2x8x3x5xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<2x8x3x5xf32> {
  %w1 = gpuc.constant dense<0.5> : tensor<4x8x1x1xf32>
  %b1 = gpuc.constant dense<0.1> : tensor<4xf32>
  %w2 = gpuc.constant dense<0.25> : tensor<8x4x1x1xf32>
  %m = gpuc.reduce mean %other {axes = array<i64: 2, 3>, keepdims = true} : tensor<2x8x3x5xf32> -> tensor<2x8x1x1xf32>
  %h0 = gpuc.conv %m, %w1 bias %b1 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x8x1x1xf32>, tensor<4x8x1x1xf32>, tensor<4xf32> -> tensor<2x4x1x1xf32>
  %h = gpuc.unary silu %h0 : tensor<2x4x1x1xf32> -> tensor<2x4x1x1xf32>
  %g0 = gpuc.conv %h, %w2 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x4x1x1xf32>, tensor<8x4x1x1xf32> -> tensor<2x8x1x1xf32>
  %g = gpuc.unary sigmoid %g0 : tensor<2x8x1x1xf32> -> tensor<2x8x1x1xf32>
  %y = gpuc.binary mul %x, %g : tensor<2x8x3x5xf32>, tensor<2x8x1x1xf32> -> tensor<2x8x3x5xf32>
  return %y : tensor<2x8x3x5xf32>
}

// -----

// Refused: the mean is over one spatial axis only.
// CHECK-LABEL: func.func @mean_of_rows
// CHECK-NOT: gpuc.squeeze_excite
// CHECK: gpuc.binary {{ *}}mul
func.func @mean_of_rows(%x: tensor<2x8x3x5xf32>, %other: tensor<2x8x3x5xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<2x8x3x5xf32> {
  %w1 = gpuc.constant dense<0.5> : tensor<4x8x1x1xf32>
  %b1 = gpuc.constant dense<0.1> : tensor<4xf32>
  %w2 = gpuc.constant dense<0.25> : tensor<8x4x1x1xf32>
  %m = gpuc.reduce mean %x {axes = array<i64: 3>, keepdims = true} : tensor<2x8x3x5xf32> -> tensor<2x8x3x1xf32>
  %h0 = gpuc.conv %m, %w1 bias %b1 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x8x3x1xf32>, tensor<4x8x1x1xf32>, tensor<4xf32> -> tensor<2x4x3x1xf32>
  %h = gpuc.unary silu %h0 : tensor<2x4x3x1xf32> -> tensor<2x4x3x1xf32>
  %g0 = gpuc.conv %h, %w2 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x4x3x1xf32>, tensor<8x4x1x1xf32> -> tensor<2x8x3x1xf32>
  %g = gpuc.unary sigmoid %g0 : tensor<2x8x3x1xf32> -> tensor<2x8x3x1xf32>
  %y = gpuc.binary mul %x, %g : tensor<2x8x3x5xf32>, tensor<2x8x3x1xf32> -> tensor<2x8x3x5xf32>
  return %y : tensor<2x8x3x5xf32>
}

// -----

// Refused: weights that are no constants.
// CHECK-LABEL: func.func @weights_are_computed
// CHECK-NOT: gpuc.squeeze_excite
// CHECK: gpuc.binary {{ *}}mul
func.func @weights_are_computed(%x: tensor<2x8x3x5xf32>, %other: tensor<2x8x3x5xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<2x8x3x5xf32> {
  %w1 = gpuc.constant dense<0.5> : tensor<4x8x1x1xf32>
  %b1 = gpuc.constant dense<0.1> : tensor<4xf32>
  %w2 = gpuc.constant dense<0.25> : tensor<8x4x1x1xf32>
  %m = gpuc.reduce mean %x {axes = array<i64: 2, 3>, keepdims = true} : tensor<2x8x3x5xf32> -> tensor<2x8x1x1xf32>
  %h0 = gpuc.conv %m, %w bias %b1 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x8x1x1xf32>, tensor<4x8x1x1xf32>, tensor<4xf32> -> tensor<2x4x1x1xf32>
  %h = gpuc.unary silu %h0 : tensor<2x4x1x1xf32> -> tensor<2x4x1x1xf32>
  %g0 = gpuc.conv %h, %w2 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x4x1x1xf32>, tensor<8x4x1x1xf32> -> tensor<2x8x1x1xf32>
  %g = gpuc.unary sigmoid %g0 : tensor<2x8x1x1xf32> -> tensor<2x8x1x1xf32>
  %y = gpuc.binary mul %x, %g : tensor<2x8x3x5xf32>, tensor<2x8x1x1xf32> -> tensor<2x8x3x5xf32>
  return %y : tensor<2x8x3x5xf32>
}

// -----

// Refused: a function that the op does not have.
// CHECK-LABEL: func.func @unknown_function
// CHECK-NOT: gpuc.squeeze_excite
// CHECK: gpuc.binary {{ *}}mul
func.func @unknown_function(%x: tensor<2x8x3x5xf32>, %other: tensor<2x8x3x5xf32>, %w: tensor<4x8x1x1xf32>) -> tensor<2x8x3x5xf32> {
  %w1 = gpuc.constant dense<0.5> : tensor<4x8x1x1xf32>
  %b1 = gpuc.constant dense<0.1> : tensor<4xf32>
  %w2 = gpuc.constant dense<0.25> : tensor<8x4x1x1xf32>
  %m = gpuc.reduce mean %x {axes = array<i64: 2, 3>, keepdims = true} : tensor<2x8x3x5xf32> -> tensor<2x8x1x1xf32>
  %h0 = gpuc.conv %m, %w1 bias %b1 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x8x1x1xf32>, tensor<4x8x1x1xf32>, tensor<4xf32> -> tensor<2x4x1x1xf32>
  %h = gpuc.unary exp %h0 : tensor<2x4x1x1xf32> -> tensor<2x4x1x1xf32>
  %g0 = gpuc.conv %h, %w2 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x4x1x1xf32>, tensor<8x4x1x1xf32> -> tensor<2x8x1x1xf32>
  %g = gpuc.unary sigmoid %g0 : tensor<2x8x1x1xf32> -> tensor<2x8x1x1xf32>
  %y = gpuc.binary mul %x, %g : tensor<2x8x3x5xf32>, tensor<2x8x1x1xf32> -> tensor<2x8x3x5xf32>
  return %y : tensor<2x8x3x5xf32>
}

// -----

// Refused: an inner value is needed besides.
// CHECK-LABEL: func.func @hidden_is_returned
// CHECK-NOT: gpuc.squeeze_excite
// CHECK: gpuc.binary {{ *}}mul
func.func @hidden_is_returned(%x: tensor<2x8x3x5xf32>, %other: tensor<2x8x3x5xf32>, %w: tensor<4x8x1x1xf32>) -> (tensor<2x8x3x5xf32>, tensor<2x4x1x1xf32>) {
  %w1 = gpuc.constant dense<0.5> : tensor<4x8x1x1xf32>
  %b1 = gpuc.constant dense<0.1> : tensor<4xf32>
  %w2 = gpuc.constant dense<0.25> : tensor<8x4x1x1xf32>
  %m = gpuc.reduce mean %x {axes = array<i64: 2, 3>, keepdims = true} : tensor<2x8x3x5xf32> -> tensor<2x8x1x1xf32>
  %h0 = gpuc.conv %m, %w1 bias %b1 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x8x1x1xf32>, tensor<4x8x1x1xf32>, tensor<4xf32> -> tensor<2x4x1x1xf32>
  %h = gpuc.unary silu %h0 : tensor<2x4x1x1xf32> -> tensor<2x4x1x1xf32>
  %g0 = gpuc.conv %h, %w2 {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x4x1x1xf32>, tensor<8x4x1x1xf32> -> tensor<2x8x1x1xf32>
  %g = gpuc.unary sigmoid %g0 : tensor<2x8x1x1xf32> -> tensor<2x8x1x1xf32>
  %y = gpuc.binary mul %x, %g : tensor<2x8x3x5xf32>, tensor<2x8x1x1xf32> -> tensor<2x8x3x5xf32>
  return %y, %h : tensor<2x8x3x5xf32>, tensor<2x4x1x1xf32>
}

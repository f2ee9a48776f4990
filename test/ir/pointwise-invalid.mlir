// RUN: gpuc-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{unary_c1: not takes i1, got 'f32'}}
  %0 = gpuc.unary not %x : tensor<3xf32> -> tensor<3xi1>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{unary_c1: bit_not takes integers, got 'f32'}}
  %0 = gpuc.unary bit_not %x : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xi1>) {
  // expected-error @+1 {{unary_c1: abs takes numbers, got 'i1'}}
  %0 = gpuc.unary abs %x : tensor<3xi1> -> tensor<3xi1>
  return
}

// -----

func.func @f(%x: tensor<3xi32>) {
  // expected-error @+1 {{unary_c1: exp takes floats, got 'i32'}}
  %0 = gpuc.unary exp %x : tensor<3xi32> -> tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+2 {{inferred type(s) 'tensor<3xi1>' are incompatible with return type(s) of operation 'tensor<3xf32>'}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.unary is_nan %x : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+2 {{unknown UnaryKind 'frobnicate'}}
  // expected-error @+1 {{failed to parse}}
  %0 = gpuc.unary frobnicate %x : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>, %y: tensor<3xf16>) {
  // expected-error @+1 {{binary_c1: element types differ: x has f32, y has f16}}
  %0 = gpuc.binary add %x, %y : tensor<3xf32>, tensor<3xf16> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2xf32>) {
  // expected-error @+2 {{binary_c2: shapes do not broadcast: [2, 3] and [2] differ at axis 1 (3 against 2)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.binary add %x, %y : tensor<2x3xf32>, tensor<2xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xi32>) {
  // expected-error @+1 {{binary_c3: and takes i1, got 'i32'}}
  %0 = gpuc.binary and %x, %x : tensor<3xi32>, tensor<3xi32> -> tensor<3xi32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{binary_c3: shl takes integers, got 'f32'}}
  %0 = gpuc.binary shl %x, %x : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xi1>) {
  // expected-error @+1 {{binary_c3: add takes numbers, got 'i1'}}
  %0 = gpuc.binary add %x, %x : tensor<3xi1>, tensor<3xi1> -> tensor<3xi1>
  return
}

// -----

func.func @f(%c: tensor<3xi1>, %x: tensor<3xf32>, %y: tensor<3xf64>) {
  // expected-error @+2 {{select_c1: element types differ: x has f32, y has f64}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.select %c, %x, %y : tensor<3xi1>, tensor<3xf32>, tensor<3xf64> -> tensor<3xf32>
  return
}

// -----

func.func @f(%c: tensor<4xi1>, %x: tensor<3xf32>, %y: tensor<f32>) {
  // expected-error @+2 {{select_c2: shapes do not broadcast: [4] and [3] and [] differ at axis 0 (4 against 3)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.select %c, %x, %y : tensor<4xi1>, tensor<3xf32>, tensor<f32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{cast_c1: shapes differ: [3] and [4]}}
  %0 = gpuc.cast %x : tensor<3xf32> -> tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<?xf32>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor}}
  %0 = gpuc.cast %x : tensor<?xf32> -> tensor<4xf16>
  return
}

// -----

func.func @f(%x: tensor<3xi128>) {
  // expected-error @+1 {{operand #0 must be statically shaped tensor}}
  %0 = gpuc.unary neg %x : tensor<3xi128> -> tensor<3xi128>
  return
}

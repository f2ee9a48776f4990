// RUN: gpuc-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{kernel_c1: the region must have one argument per operand (1), got 2}}
  %y = "gpuc.kernel"(%x) ({
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    gpuc.yield %a : tensor<3xf32>
  }) {family = "pointwise"} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{kernel_c1: argument 0 has type 'tensor<4xf32>', operand has 'tensor<3xf32>'}}
  %y = "gpuc.kernel"(%x) ({
  ^bb0(%a: tensor<4xf32>):
    gpuc.yield %a : tensor<4xf32>
  }) {family = "pointwise"} : (tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{kernel_c2: yielded value 0 has type 'tensor<3xf32>', result has 'tensor<3xf16>'}}
  %y = gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>) -> tensor<3xf16> {
    gpuc.yield %a : tensor<3xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{kernel_c2: the region must yield one value per result (1), got 2}}
  %y = gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>) -> tensor<3xf32> {
    gpuc.yield %a, %a : tensor<3xf32>, tensor<3xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{kernel_c2: the region must end with gpuc.yield}}
  %y = gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>) -> tensor<3xf32> {
    %0 = gpuc.unary exp %a : tensor<3xf32> -> tensor<3xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<3x3xf32>) {
  // expected-error @+1 {{kernel_c3: expected at most one root op, got 'gpuc.matmul' and 'gpuc.softmax'}}
  %y = gpuc.kernel "matmul" (%a = %x : tensor<3x3xf32>) -> tensor<3x3xf32> {
    %0 = gpuc.matmul %a, %a : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3x3xf32>
    %1 = gpuc.softmax %0 {axis = 1 : i64} : tensor<3x3xf32> -> tensor<3x3xf32>
    gpuc.yield %1 : tensor<3x3xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{kernel_c4: the region must hold core ops only, got 'gpuc.kernel'}}
  %y = gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>) -> tensor<3xf32> {
    %0 = gpuc.kernel "pointwise" (%b = %a : tensor<3xf32>) -> tensor<3xf32> {
      gpuc.yield %b : tensor<3xf32>
    }
    gpuc.yield %0 : tensor<3xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{kernel_c5: storage must have one list per result (1), got 2}}
  %y = gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>) -> tensor<3xf32> attributes {storage = [[1], [1]]} {
    gpuc.yield %a : tensor<3xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{kernel_c5: storage of result 0 must be empty or have 1 non-negative i64 strides, got [1, 3]}}
  %y = gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>) -> tensor<3xf32> attributes {storage = [[1, 3]]} {
    gpuc.yield %a : tensor<3xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{kernel_c5: storage of result 0 must be empty or have 1 non-negative i64 strides, got [1 : i32]}}
  %y = gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>) -> tensor<3xf32> attributes {storage = [[1 : i32]]} {
    gpuc.yield %a : tensor<3xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{kernel_c5: offsets must have one entry per result (1), got 0}}
  %y = gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>) -> tensor<3xf32> attributes {offsets = array<i64>} {
    gpuc.yield %a : tensor<3xf32>
  }
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // The wrong kind of attribute is not dropped without a word.
  // expected-error @+1 {{attribute 'storage' failed to satisfy constraint: array attribute}}
  %y = gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>) -> tensor<3xf32> attributes {storage = 5} {
    gpuc.yield %a : tensor<3xf32>
  }
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{constant_c1: resource 'missing' must hold 12 bytes, got 0}}
  %0 = gpuc.constant dense_resource<missing> : tensor<3xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+1 {{constant_c1: resource 'short' must hold 12 bytes, got 8}}
  %0 = gpuc.constant dense_resource<short> : tensor<3xf32>
  return
}

{-#
  dialect_resources: {
    builtin: {
      short: "0x040000000000803F00000040"
    }
  }
#-}

// -----

func.func @f() {
  // expected-error @+1 {{constant_c1: value must be a dense or dense_resource attribute}}
  %0 = gpuc.constant sparse<0, 1.0> : tensor<3xf32>
  return
}

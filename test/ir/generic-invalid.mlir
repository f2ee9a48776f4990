// RUN: gpuc-opt %s -split-input-file -verify-diagnostics
// Ops in generic form, with parts missing or of the wrong kind.

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{'gpuc.transpose' op requires attribute 'perm'}}
  %0 = "gpuc.transpose"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{'gpuc.unary' op attribute 'kind' failed to satisfy constraint: a UnaryKind}}
  %0 = "gpuc.unary"(%x) {kind = 5} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{'gpuc.topk' op expected 2 results}}
  %0 = "gpuc.topk"(%x) {k = 1 : i64, axis = 0 : i64, largest = true} : (tensor<3xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{'gpuc.kernel' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
  %0 = "gpuc.kernel"(%x) ({ }) {family = "x"} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{'gpuc.kernel' op expects a non-empty block}}
  %0 = "gpuc.kernel"(%x) ({
  ^bb0:
  }) {family = "x"} : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{'gpuc.kernel' op requires attribute 'family'}}
  %0 = "gpuc.kernel"(%x) ({
  ^bb0(%a: tensor<3xf32>):
    gpuc.yield %a : tensor<3xf32>
  }) : (tensor<3xf32>) -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-note @+1 {{required by region isolation constraints}}
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>) -> tensor<3xf32> {
    // expected-error @+1 {{'gpuc.yield' op using value defined outside the region}}
    gpuc.yield %x : tensor<3xf32>
  }
  return %0 : tensor<3xf32>
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+1 {{'gpuc.yield' op expects parent op 'gpuc.kernel'}}
  gpuc.yield %x : tensor<3xf32>
}

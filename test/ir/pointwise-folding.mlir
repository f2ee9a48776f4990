// RUN: gpuc-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @exact_float_identities
// CHECK-SAME: (%[[X:.*]]: tensor<3x5xf32>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[X]], %[[X]], %[[X]]
func.func @exact_float_identities(%x: tensor<3x5xf32>)
    -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) {
  %one = gpuc.constant dense<1.0> : tensor<5xf32>
  %zero = gpuc.constant dense<0.0> : tensor<f32>
  %negzero = gpuc.constant dense<-0.0> : tensor<f32>
  %0 = gpuc.binary mul %x, %one : tensor<3x5xf32>, tensor<5xf32> -> tensor<3x5xf32>
  %1 = gpuc.binary mul %one, %x : tensor<5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %2 = gpuc.binary div %x, %one : tensor<3x5xf32>, tensor<5xf32> -> tensor<3x5xf32>
  %3 = gpuc.binary sub %x, %zero : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %4 = gpuc.binary add %x, %negzero : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %5 = gpuc.binary max %x, %x : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
}

// What is false for -0, infinities or NaN stays.
// CHECK-LABEL: func.func @inexact_float_identities
// CHECK: gpuc.binary add
// CHECK: gpuc.binary sub
// CHECK: gpuc.binary mul
// CHECK: gpuc.binary sub
// CHECK: gpuc.binary div
// CHECK: gpuc.binary sub
func.func @inexact_float_identities(%x: tensor<5xf32>)
    -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %zero = gpuc.constant dense<0.0> : tensor<f32>
  %negzero = gpuc.constant dense<-0.0> : tensor<f32>
  %0 = gpuc.binary add %x, %zero : tensor<5xf32>, tensor<f32> -> tensor<5xf32>
  %1 = gpuc.binary sub %x, %negzero : tensor<5xf32>, tensor<f32> -> tensor<5xf32>
  %2 = gpuc.binary mul %x, %zero : tensor<5xf32>, tensor<f32> -> tensor<5xf32>
  %3 = gpuc.binary sub %x, %x : tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>
  %4 = gpuc.binary div %x, %x : tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>
  %5 = gpuc.binary sub %zero, %x : tensor<f32>, tensor<5xf32> -> tensor<5xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

// CHECK-LABEL: func.func @integer_identities
// CHECK-SAME: (%[[X:.*]]: tensor<5xi32>, %[[B:.*]]: tensor<5xi1>)
// CHECK-NEXT: return %[[X]], %[[X]], %[[X]], %[[B]], %[[B]], %[[X]]
func.func @integer_identities(%x: tensor<5xi32>, %b: tensor<5xi1>)
    -> (tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi1>, tensor<5xi1>, tensor<5xi32>) {
  %zero = gpuc.constant dense<0> : tensor<5xi32>
  %one = gpuc.constant dense<1.0> : tensor<f32>
  %true = gpuc.constant dense<true> : tensor<i1>
  %false = gpuc.constant dense<false> : tensor<5xi1>
  %0 = gpuc.binary add %zero, %x : tensor<5xi32>, tensor<5xi32> -> tensor<5xi32>
  %1 = gpuc.binary bit_or %x, %x : tensor<5xi32>, tensor<5xi32> -> tensor<5xi32>
  %2 = gpuc.binary shl %x, %zero : tensor<5xi32>, tensor<5xi32> -> tensor<5xi32>
  %3 = gpuc.binary and %b, %true : tensor<5xi1>, tensor<i1> -> tensor<5xi1>
  %4 = gpuc.binary xor %false, %b : tensor<5xi1>, tensor<5xi1> -> tensor<5xi1>
  %5 = gpuc.binary pow %x, %one : tensor<5xi32>, tensor<f32> -> tensor<5xi32>
  return %0, %1, %2, %3, %4, %5 : tensor<5xi32>, tensor<5xi32>, tensor<5xi32>, tensor<5xi1>, tensor<5xi1>, tensor<5xi32>
}

// An identity element that makes the result larger is no identity.
// CHECK-LABEL: func.func @broadcasting_identity
// CHECK: gpuc.binary mul
func.func @broadcasting_identity(%x: tensor<5xf32>) -> tensor<3x5xf32> {
  %one = gpuc.constant dense<1.0> : tensor<3x1xf32>
  %0 = gpuc.binary mul %x, %one : tensor<5xf32>, tensor<3x1xf32> -> tensor<3x5xf32>
  return %0 : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @unary_of_unary
// CHECK-SAME: (%[[X:.*]]: tensor<5xf32>, %[[B:.*]]: tensor<5xi1>)
// CHECK-NEXT: %[[F:.*]] = gpuc.unary floor %[[X]]
// CHECK-NEXT: %[[A:.*]] = gpuc.unary abs %[[X]]
// CHECK-NEXT: %[[R:.*]] = gpuc.unary relu %[[X]]
// CHECK-NEXT: %[[L:.*]] = gpuc.unary log %[[X]]
// CHECK-NEXT: %[[E:.*]] = gpuc.unary exp %[[L]]
// CHECK-NEXT: return %[[X]], %[[B]], %[[F]], %[[A]], %[[R]], %[[E]]
func.func @unary_of_unary(%x: tensor<5xf32>, %b: tensor<5xi1>)
    -> (tensor<5xf32>, tensor<5xi1>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %n = gpuc.unary neg %x : tensor<5xf32> -> tensor<5xf32>
  %0 = gpuc.unary neg %n : tensor<5xf32> -> tensor<5xf32>
  %m = gpuc.unary not %b : tensor<5xi1> -> tensor<5xi1>
  %1 = gpuc.unary not %m : tensor<5xi1> -> tensor<5xi1>
  %f = gpuc.unary floor %x : tensor<5xf32> -> tensor<5xf32>
  %2 = gpuc.unary round %f : tensor<5xf32> -> tensor<5xf32>
  %3 = gpuc.unary abs %n : tensor<5xf32> -> tensor<5xf32>
  %r = gpuc.unary relu %x : tensor<5xf32> -> tensor<5xf32>
  %4 = gpuc.unary relu %r : tensor<5xf32> -> tensor<5xf32>
  %l = gpuc.unary log %x : tensor<5xf32> -> tensor<5xf32>
  %5 = gpuc.unary exp %l : tensor<5xf32> -> tensor<5xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<5xf32>, tensor<5xi1>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

// CHECK-LABEL: func.func @selects
// CHECK-SAME: (%[[C:.*]]: tensor<5xi1>, %[[X:.*]]: tensor<5xf32>, %[[Y:.*]]: tensor<5xf32>)
// CHECK-NEXT: return %[[X]], %[[Y]], %[[X]]
func.func @selects(%c: tensor<5xi1>, %x: tensor<5xf32>, %y: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
  %true = gpuc.constant dense<true> : tensor<i1>
  %false = gpuc.constant dense<false> : tensor<5xi1>
  %0 = gpuc.select %true, %x, %y : tensor<i1>, tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>
  %1 = gpuc.select %false, %x, %y : tensor<5xi1>, tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>
  %2 = gpuc.select %c, %x, %x : tensor<5xi1>, tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>
  return %0, %1, %2 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
}

// A cast goes away where the middle type holds every value; a chain through a narrower or clamping type stays.
// CHECK-LABEL: func.func @casts
// CHECK-SAME: (%[[H:.*]]: tensor<5xf16>, %[[I:.*]]: tensor<5xi32>, %[[D:.*]]: tensor<5xf64>)
// CHECK-NEXT: %[[B:.*]] = gpuc.cast %[[I]] : tensor<5xi32> -> tensor<5xi8>
// CHECK-NEXT: %[[DF:.*]] = gpuc.cast %[[D]] : tensor<5xf64> -> tensor<5xf32>
// CHECK-NEXT: %[[DD:.*]] = gpuc.cast %[[DF]] : tensor<5xf32> -> tensor<5xf64>
// CHECK-NEXT: %[[ID:.*]] = gpuc.cast %[[I]] : tensor<5xi32> -> tensor<5xf64>
// CHECK-NEXT: %[[IB:.*]] = gpuc.cast %[[ID]] : tensor<5xf64> -> tensor<5xi8>
// CHECK-NEXT: %[[HB:.*]] = gpuc.cast %[[H]] : tensor<5xf16> -> tensor<5xbf16>
// CHECK-NEXT: return %[[H]], %[[B]], %[[DD]], %[[IB]], %[[HB]]
func.func @casts(%h: tensor<5xf16>, %i: tensor<5xi32>, %d: tensor<5xf64>)
    -> (tensor<5xf16>, tensor<5xi8>, tensor<5xf64>, tensor<5xi8>, tensor<5xbf16>) {
  %hf = gpuc.cast %h : tensor<5xf16> -> tensor<5xf32>
  %0 = gpuc.cast %hf : tensor<5xf32> -> tensor<5xf16>
  %il = gpuc.cast %i : tensor<5xi32> -> tensor<5xi64>
  %1 = gpuc.cast %il : tensor<5xi64> -> tensor<5xi8>
  %df = gpuc.cast %d : tensor<5xf64> -> tensor<5xf32>
  %2 = gpuc.cast %df : tensor<5xf32> -> tensor<5xf64>
  %id = gpuc.cast %i : tensor<5xi32> -> tensor<5xf64>
  %3 = gpuc.cast %id : tensor<5xf64> -> tensor<5xi8>
  %4 = gpuc.cast %hf : tensor<5xf32> -> tensor<5xbf16>
  return %0, %1, %2, %3, %4 : tensor<5xf16>, tensor<5xi8>, tensor<5xf64>, tensor<5xi8>, tensor<5xbf16>
}

// CHECK-LABEL: func.func @constants
// CHECK-DAG: gpuc.constant dense<[true, false]> : tensor<2xi1>
// CHECK-DAG: gpuc.constant dense<[4, 6]> : tensor<2xi64>
// CHECK-DAG: gpuc.constant dense<[-2, 1]> : tensor<2xi8>
// CHECK-DAG: gpuc.constant dense<[7, -8]> : tensor<2xi4>
// CHECK-NOT: gpuc.{{binary|unary|cast}}
func.func @constants() -> (tensor<2xi1>, tensor<2xi64>, tensor<2xi8>, tensor<2xi4>) {
  %a = gpuc.constant dense<[1, 3]> : tensor<2xi64>
  %b = gpuc.constant dense<3> : tensor<i64>
  %f = gpuc.constant dense<[-2.75, 1.5]> : tensor<2xf32>
  %w = gpuc.constant dense<[7, -8]> : tensor<2xi4>
  %0 = gpuc.binary lt %a, %b : tensor<2xi64>, tensor<i64> -> tensor<2xi1>
  %1 = gpuc.binary add %a, %b : tensor<2xi64>, tensor<i64> -> tensor<2xi64>
  %2 = gpuc.cast %f : tensor<2xf32> -> tensor<2xi8>
  %3 = gpuc.cast %w : tensor<2xi4> -> tensor<2xf16>
  %4 = gpuc.cast %3 : tensor<2xf16> -> tensor<2xi4>
  return %0, %1, %2, %4 : tensor<2xi1>, tensor<2xi64>, tensor<2xi8>, tensor<2xi4>
}

// 65537 bytes are left to a pass.
// CHECK-LABEL: func.func @large
// CHECK: gpuc.unary bit_not
func.func @large() -> tensor<65537xi8> {
  %a = gpuc.constant dense<1> : tensor<65537xi8>
  %0 = gpuc.unary bit_not %a : tensor<65537xi8> -> tensor<65537xi8>
  return %0 : tensor<65537xi8>
}

// RUN: gpuc-opt %s --gpuc-elide-concats -split-input-file | FileCheck %s

// Both parts are written into the whole; a reader of a part follows.
// CHECK-LABEL: func.func @elided
// CHECK: %[[A:.*]] = gpuc.kernel "pointwise" {{.*}} attributes {storage = {{\[\[}}56, 7, 1]]}
// CHECK: %[[B:.*]] = gpuc.kernel "pointwise" {{.*}} attributes {storage = {{\[\[}}56, 7, 1]]}
// CHECK: gpuc.concat %[[A]], %[[B]] {axis = 1 : i64, elided, gpuc.storage = array<i64: 56, 7, 1>}
func.func @elided(%x: tensor<2x4x7xf32>, %w: tensor<7x3xf32>) -> (tensor<2x8x7xf32>, tensor<2x4x3xf32>) {
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4x7xf32>) -> tensor<2x4x7xf32> {
    %y = gpuc.unary exp %a : tensor<2x4x7xf32> -> tensor<2x4x7xf32>
    gpuc.yield %y : tensor<2x4x7xf32>
  }
  %1 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4x7xf32>) -> tensor<2x4x7xf32> {
    %y = gpuc.unary tanh %a : tensor<2x4x7xf32> -> tensor<2x4x7xf32>
    gpuc.yield %y : tensor<2x4x7xf32>
  }
  %2 = gpuc.concat %0, %1 {axis = 1 : i64} : (tensor<2x4x7xf32>, tensor<2x4x7xf32>) -> tensor<2x8x7xf32>
  %3 = gpuc.kernel "pointwise" (%a = %2 : tensor<2x8x7xf32>) -> tensor<2x8x7xf32> {
    %y = gpuc.unary relu %a : tensor<2x8x7xf32> -> tensor<2x8x7xf32>
    gpuc.yield %y : tensor<2x8x7xf32>
  }
  %4 = gpuc.kernel "matmul" (%a = %1 : tensor<2x4x7xf32>, %b = %w : tensor<7x3xf32>) -> tensor<2x4x3xf32> {
    %y = gpuc.matmul %a, %b : tensor<2x4x7xf32>, tensor<7x3xf32> -> tensor<2x4x3xf32>
    gpuc.yield %y : tensor<2x4x3xf32>
  }
  return %3, %4 : tensor<2x8x7xf32>, tensor<2x4x3xf32>
}

// -----

// A part at byte 12 becomes a copy; so does everything else.
// CHECK-LABEL: func.func @misaligned
// CHECK: gpuc.kernel "pointwise"
// CHECK: gpuc.kernel "pointwise"
// CHECK: gpuc.kernel "pointwise"
// CHECK-NEXT: gpuc.concat
// CHECK-NOT: elided
// CHECK: return
func.func @misaligned(%x: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<2x3xf32>) -> tensor<2x3xf32> {
    %y = gpuc.unary exp %a : tensor<2x3xf32> -> tensor<2x3xf32>
    gpuc.yield %y : tensor<2x3xf32>
  }
  %1 = gpuc.kernel "pointwise" (%a = %x : tensor<2x3xf32>) -> tensor<2x3xf32> {
    %y = gpuc.unary tanh %a : tensor<2x3xf32> -> tensor<2x3xf32>
    gpuc.yield %y : tensor<2x3xf32>
  }
  %2 = gpuc.concat %0, %1 {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %3 = gpuc.kernel "pointwise" (%a = %2 : tensor<2x6xf32>) -> tensor<2x6xf32> {
    %y = gpuc.unary relu %a : tensor<2x6xf32> -> tensor<2x6xf32>
    gpuc.yield %y : tensor<2x6xf32>
  }
  return %3 : tensor<2x6xf32>
}

// -----

// A returned whole, a returned part, a part of two wholes, an argument, a part twice: all copies.
// CHECK-LABEL: func.func @owned_elsewhere
// CHECK-NOT: elided
// CHECK: return
func.func @owned_elsewhere(%x: tensor<4x7xf32>) -> (tensor<8x7xf32>, tensor<8x7xf32>, tensor<4x7xf32>, tensor<8x7xf32>) {
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<4x7xf32>) -> tensor<4x7xf32> {
    %y = gpuc.unary exp %a : tensor<4x7xf32> -> tensor<4x7xf32>
    gpuc.yield %y : tensor<4x7xf32>
  }
  %1 = gpuc.kernel "pointwise" (%a = %x : tensor<4x7xf32>) -> tensor<4x7xf32> {
    %y = gpuc.unary tanh %a : tensor<4x7xf32> -> tensor<4x7xf32>
    gpuc.yield %y : tensor<4x7xf32>
  }
  %2 = gpuc.concat %0, %x {axis = 0 : i64} : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<8x7xf32>
  %3 = gpuc.concat %0, %1 {axis = 0 : i64} : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<8x7xf32>
  %4 = gpuc.kernel "pointwise" (%a = %3 : tensor<8x7xf32>) -> tensor<8x7xf32> {
    %y = gpuc.unary relu %a : tensor<8x7xf32> -> tensor<8x7xf32>
    gpuc.yield %y : tensor<8x7xf32>
  }
  %5 = gpuc.kernel "pointwise" (%a = %x : tensor<4x7xf32>) -> tensor<4x7xf32> {
    %y = gpuc.unary abs %a : tensor<4x7xf32> -> tensor<4x7xf32>
    gpuc.yield %y : tensor<4x7xf32>
  }
  %6 = gpuc.concat %5, %5 {axis = 0 : i64} : (tensor<4x7xf32>, tensor<4x7xf32>) -> tensor<8x7xf32>
  %7 = gpuc.kernel "pointwise" (%a = %6 : tensor<8x7xf32>) -> tensor<8x7xf32> {
    %y = gpuc.unary relu %a : tensor<8x7xf32> -> tensor<8x7xf32>
    gpuc.yield %y : tensor<8x7xf32>
  }
  return %2, %4, %1, %7 : tensor<8x7xf32>, tensor<8x7xf32>, tensor<4x7xf32>, tensor<8x7xf32>
}

// -----

// A product that reads a part through a reshape which its new strides can't express, behind a transpose.
// CHECK-LABEL: func.func @reader_can_not_follow
// CHECK-NOT: elided
// CHECK: return
func.func @reader_can_not_follow(%x: tensor<2x4x8xf32>, %w: tensor<64x3xf32>) -> (tensor<2x8x8xf32>, tensor<1x3xf32>) {
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
    %y = gpuc.unary exp %a : tensor<2x4x8xf32> -> tensor<2x4x8xf32>
    gpuc.yield %y : tensor<2x4x8xf32>
  }
  %1 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4x8xf32>) -> tensor<2x4x8xf32> {
    %y = gpuc.unary tanh %a : tensor<2x4x8xf32> -> tensor<2x4x8xf32>
    gpuc.yield %y : tensor<2x4x8xf32>
  }
  %2 = gpuc.concat %0, %1 {axis = 1 : i64} : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x8x8xf32>
  %3 = gpuc.kernel "pointwise" (%a = %2 : tensor<2x8x8xf32>) -> tensor<2x8x8xf32> {
    %y = gpuc.unary relu %a : tensor<2x8x8xf32> -> tensor<2x8x8xf32>
    gpuc.yield %y : tensor<2x8x8xf32>
  }
  %4 = gpuc.kernel "matmul" (%a = %0 : tensor<2x4x8xf32>, %b = %w : tensor<64x3xf32>) -> tensor<1x3xf32> {
    %s = gpuc.transpose %a {perm = array<i64: 0, 1, 2>} : tensor<2x4x8xf32> -> tensor<2x4x8xf32>
    %r = gpuc.reshape %s : tensor<2x4x8xf32> -> tensor<1x64xf32>
    %y = gpuc.matmul %r, %b : tensor<1x64xf32>, tensor<64x3xf32> -> tensor<1x3xf32>
    gpuc.yield %y : tensor<1x3xf32>
  }
  return %3, %4 : tensor<2x8x8xf32>, tensor<1x3xf32>
}

// RUN: gpuc-opt %s --gpuc-plan-memory | FileCheck %s

// The third value takes the place of the first, which is dead; the returned one lives with the caller. 35 floats are 256 bytes.
// CHECK-LABEL: func.func @reuse
// CHECK-SAME: attributes {gpuc.arena_bytes = 512 : i64, gpuc.arena_lower_bound = 512 : i64}
// CHECK: offsets = array<i64: 0>
// CHECK: offsets = array<i64: 256>
// CHECK: offsets = array<i64: 0>
// CHECK: offsets = array<i64: -1>
func.func @reuse(%x: tensor<5x7xf32>) -> tensor<5x7xf32> {
  %0 = gpuc.kernel "reduction" (%a = %x : tensor<5x7xf32>) -> tensor<5x7xf32> {
    %y = gpuc.softmax %a {axis = 1 : i64} : tensor<5x7xf32> -> tensor<5x7xf32>
    gpuc.yield %y : tensor<5x7xf32>
  }
  %1 = gpuc.kernel "reduction" (%a = %0 : tensor<5x7xf32>) -> tensor<5x7xf32> {
    %y = gpuc.softmax %a {axis = 1 : i64} : tensor<5x7xf32> -> tensor<5x7xf32>
    gpuc.yield %y : tensor<5x7xf32>
  }
  %2 = gpuc.kernel "reduction" (%a = %1 : tensor<5x7xf32>) -> tensor<5x7xf32> {
    %y = gpuc.softmax %a {axis = 1 : i64} : tensor<5x7xf32> -> tensor<5x7xf32>
    gpuc.yield %y : tensor<5x7xf32>
  }
  %3 = gpuc.kernel "reduction" (%a = %2 : tensor<5x7xf32>) -> tensor<5x7xf32> {
    %y = gpuc.softmax %a {axis = 1 : i64} : tensor<5x7xf32> -> tensor<5x7xf32>
    gpuc.yield %y : tensor<5x7xf32>
  }
  return %3 : tensor<5x7xf32>
}

// A pointwise kernel overwrites an operand that dies there. Not one that is read later, nor through a view, nor of another type, nor an
// argument of the function.
// CHECK-LABEL: func.func @in_place
// CHECK: "pointwise" {{.*}}offsets = array<i64: 0>
// CHECK: "pointwise" {{.*}}offsets = array<i64: 0>
// CHECK: "pointwise" {{.*}}offsets = array<i64: 256>
// CHECK: "pointwise" {{.*}}offsets = array<i64: 512>
// CHECK: "pointwise" {{.*}}offsets = array<i64: -1>
func.func @in_place(%x: tensor<7x7xf32>) -> tensor<7x7xf32> {
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<7x7xf32>) -> tensor<7x7xf32> {
    %y = gpuc.unary exp %a : tensor<7x7xf32> -> tensor<7x7xf32>
    gpuc.yield %y : tensor<7x7xf32>
  }
  %1 = gpuc.kernel "pointwise" (%a = %0 : tensor<7x7xf32>) -> tensor<7x7xf32> {
    %y = gpuc.unary tanh %a : tensor<7x7xf32> -> tensor<7x7xf32>
    gpuc.yield %y : tensor<7x7xf32>
  }
  %2 = gpuc.kernel "pointwise" (%a = %1 : tensor<7x7xf32>) -> tensor<7x7xf32> {
    %t = gpuc.transpose %a {perm = array<i64: 1, 0>} : tensor<7x7xf32> -> tensor<7x7xf32>
    %y = gpuc.unary tanh %t : tensor<7x7xf32> -> tensor<7x7xf32>
    gpuc.yield %y : tensor<7x7xf32>
  }
  %3 = gpuc.kernel "pointwise" (%a = %2 : tensor<7x7xf32>) -> tensor<7x7xf32> {
    %y = gpuc.unary tanh %a : tensor<7x7xf32> -> tensor<7x7xf32>
    gpuc.yield %y : tensor<7x7xf32>
  }
  %4 = gpuc.kernel "pointwise" (%a = %1 : tensor<7x7xf32>, %b = %2 : tensor<7x7xf32>, %c = %3 : tensor<7x7xf32>) -> tensor<7x7xf32> {
    %s = gpuc.binary add %a, %b : tensor<7x7xf32>, tensor<7x7xf32> -> tensor<7x7xf32>
    %y = gpuc.binary add %s, %c : tensor<7x7xf32>, tensor<7x7xf32> -> tensor<7x7xf32>
    gpuc.yield %y : tensor<7x7xf32>
  }
  return %4 : tensor<7x7xf32>
}

// Parts of an elided concatenation lie in its block, side by side, and live as long as it does: nothing takes a part's place.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: gpuc.arena_bytes = 512 : i64
// CHECK: {{.*}}offsets = array<i64: 0>
// CHECK: {{.*}}offsets = array<i64: 256>
// CHECK: {{.*}}offsets = array<i64: 16>
// CHECK: {{.*}}offsets = array<i64: -1, -1>
func.func @parts(%x: tensor<2x4xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {storage = [[8, 1]]} {
    %y = gpuc.unary exp %a : tensor<2x4xf32> -> tensor<2x4xf32>
    gpuc.yield %y : tensor<2x4xf32>
  }
  %1 = gpuc.kernel "pointwise" (%a = %0 : tensor<2x4xf32>) -> tensor<2x4xf32> {
    %y = gpuc.unary tanh %a : tensor<2x4xf32> -> tensor<2x4xf32>
    gpuc.yield %y : tensor<2x4xf32>
  }
  %2 = gpuc.kernel "pointwise" (%a = %1 : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {storage = [[8, 1]]} {
    %y = gpuc.unary tanh %a : tensor<2x4xf32> -> tensor<2x4xf32>
    gpuc.yield %y : tensor<2x4xf32>
  }
  %3 = gpuc.concat %0, %2 {axis = 1 : i64, elided, gpuc.storage = array<i64: 8, 1>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %4:2 = gpuc.kernel "pointwise" (%a = %3 : tensor<2x8xf32>) -> tensor<2x8xf32>, tensor<2x8xf32> {
    %y = gpuc.unary relu %a : tensor<2x8xf32> -> tensor<2x8xf32>
    %z = gpuc.unary tanh %a : tensor<2x8xf32> -> tensor<2x8xf32>
    gpuc.yield %y, %z : tensor<2x8xf32>, tensor<2x8xf32>
  }
  return %4#0, %4#1 : tensor<2x8xf32>, tensor<2x8xf32>
}

// A returned value that is read later, an alias, and the same value twice: all in the caller's buffer.
// CHECK-LABEL: func.func @returned
// CHECK-SAME: gpuc.arena_bytes = 0 : i64
// CHECK: offsets = array<i64: -1>
// CHECK: offsets = array<i64: -1>
func.func @returned(%x: tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<35xf32>, tensor<35xf32>) {
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<5x7xf32>) -> tensor<5x7xf32> {
    %y = gpuc.unary exp %a : tensor<5x7xf32> -> tensor<5x7xf32>
    gpuc.yield %y : tensor<5x7xf32>
  }
  %1 = gpuc.kernel "pointwise" (%a = %0 : tensor<5x7xf32>) -> tensor<5x7xf32> {
    %y = gpuc.unary tanh %a : tensor<5x7xf32> -> tensor<5x7xf32>
    gpuc.yield %y : tensor<5x7xf32>
  }
  %2 = gpuc.reshape %1 : tensor<5x7xf32> -> tensor<35xf32>
  return %0, %2, %2 : tensor<5x7xf32>, tensor<35xf32>, tensor<35xf32>
}

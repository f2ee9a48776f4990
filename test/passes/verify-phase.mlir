// RUN: gpuc-opt %s --split-input-file --verify-diagnostics --gpuc-verify-phase=phase=memory

// What is right says nothing: an operand overwritten in place, an elided concatenation of interleaved parts, an alias.
func.func @right(%x: tensor<2x4xf32>) -> (tensor<2x8xf32>, tensor<16xf32>) attributes {gpuc.arena_bytes = 512 : i64} {
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {offsets = array<i64: 0>, storage = [[8, 1]]} {
    gpuc.yield %a : tensor<2x4xf32>
  }
  %1 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {offsets = array<i64: 16>, storage = [[8, 1]]} {
    gpuc.yield %a : tensor<2x4xf32>
  }
  %2 = gpuc.concat %0, %1 {axis = 1 : i64, elided, gpuc.storage = array<i64: 8, 1>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %3 = gpuc.kernel "pointwise" (%a = %2 : tensor<2x8xf32>) -> tensor<2x8xf32> attributes {offsets = array<i64: 0>} {
    gpuc.yield %a : tensor<2x8xf32>
  }
  %4 = gpuc.kernel "pointwise" (%a = %3 : tensor<2x8xf32>) -> tensor<2x8xf32> attributes {offsets = array<i64: -1>} {
    gpuc.yield %a : tensor<2x8xf32>
  }
  %5 = gpuc.reshape %4 : tensor<2x8xf32> -> tensor<16xf32>
  return %4, %5 : tensor<2x8xf32>, tensor<16xf32>
}

// -----

func.func @core_op(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {gpuc.arena_bytes = 0 : i64} {
  // expected-error @+1 {{phase 'memory' must hold kernels only}}
  %0 = gpuc.unary exp %x : tensor<2x4xf32> -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----

func.func @concat(%x: tensor<2x4xf32>) -> tensor<4x4xf32> attributes {gpuc.arena_bytes = 0 : i64} {
  // expected-error @+1 {{a concatenation outside kernels must be elided}}
  %0 = gpuc.concat %x, %x {axis = 0 : i64} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @alias(%x: tensor<2x4xf32>) -> tensor<8xf32> attributes {gpuc.arena_bytes = 256 : i64} {
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {offsets = array<i64: 0>, storage = [[1, 2]]} {
    gpuc.yield %a : tensor<2x4xf32>
  }
  // expected-error @+1 {{a reshape outside kernels must be an alias of row-major data}}
  %1 = gpuc.reshape %0 : tensor<2x4xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// expected-error @+1 {{phase 'memory' needs the size of the arena}}
func.func @no_arena(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  return %x : tensor<2x4xf32>
}

// -----

func.func @no_offsets(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {gpuc.arena_bytes = 0 : i64} {
  // expected-error @+1 {{phase 'memory' needs one arena offset per result}}
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> {
    gpuc.yield %a : tensor<2x4xf32>
  }
  return %0 : tensor<2x4xf32>
}

// -----

func.func @outside(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {gpuc.arena_bytes = 256 : i64} {
  // expected-error @+1 {{a result at offset 240 with 32 bytes does not fit the arena of 256}}
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {offsets = array<i64: 240>} {
    gpuc.yield %a : tensor<2x4xf32>
  }
  return %0 : tensor<2x4xf32>
}

// -----

func.func @not_returned(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {gpuc.arena_bytes = 256 : i64} {
  // expected-error @+1 {{a result without an arena offset must be returned}}
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {offsets = array<i64: -1>} {
    gpuc.yield %a : tensor<2x4xf32>
  }
  %1 = gpuc.kernel "pointwise" (%a = %0 : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {offsets = array<i64: -1>} {
    gpuc.yield %a : tensor<2x4xf32>
  }
  return %1 : tensor<2x4xf32>
}

// -----

func.func @overlap(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {gpuc.arena_bytes = 512 : i64} {
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {offsets = array<i64: 0>} {
    gpuc.yield %a : tensor<2x4xf32>
  }
  // expected-error @+1 {{a result at offset 16 lies in memory of another value that is still alive}}
  %1 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {offsets = array<i64: 16>} {
    gpuc.yield %a : tensor<2x4xf32>
  }
  %2 = gpuc.kernel "pointwise" (%a = %0 : tensor<2x4xf32>, %b = %1 : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {offsets = array<i64: -1>} {
    %y = gpuc.binary add %a, %b : tensor<2x4xf32>, tensor<2x4xf32> -> tensor<2x4xf32>
    gpuc.yield %y : tensor<2x4xf32>
  }
  return %2 : tensor<2x4xf32>
}

// -----

// A kernel with a root reads other elements than it writes.
func.func @in_place_root(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {gpuc.arena_bytes = 512 : i64} {
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {offsets = array<i64: 0>} {
    gpuc.yield %a : tensor<2x4xf32>
  }
  // expected-error @+1 {{a result at offset 0 lies in memory of another value that is still alive}}
  %1 = gpuc.kernel "normalization" (%a = %0 : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {offsets = array<i64: 0>} {
    %y = gpuc.softmax %a {axis = 1 : i64} : tensor<2x4xf32> -> tensor<2x4xf32>
    gpuc.yield %y : tensor<2x4xf32>
  }
  %2 = gpuc.kernel "pointwise" (%a = %1 : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {offsets = array<i64: -1>} {
    gpuc.yield %a : tensor<2x4xf32>
  }
  return %2 : tensor<2x4xf32>
}

// -----

func.func @returned_in_arena(%x: tensor<2x4xf32>) -> tensor<8xf32> attributes {gpuc.arena_bytes = 512 : i64} {
  // expected-error @+1 {{a returned result must lie in the caller's buffer, not in the arena}}
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {offsets = array<i64: 0>} {
    gpuc.yield %a : tensor<2x4xf32>
  }
  %1 = gpuc.reshape %0 : tensor<2x4xf32> -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

func.func @returned_concat(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {gpuc.arena_bytes = 512 : i64} {
  %0 = gpuc.kernel "pointwise" (%a = %x : tensor<2x4xf32>) -> tensor<2x4xf32> attributes {offsets = array<i64: 0>} {
    gpuc.yield %a : tensor<2x4xf32>
  }
  // expected-error @+1 {{only kernels may read an elided concatenation}}
  %1 = gpuc.concat %0 {axis = 0 : i64, elided} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

func.func @part_of_argument(%x: tensor<2x4xf32>) -> tensor<4x4xf32> attributes {gpuc.arena_bytes = 512 : i64} {
  // expected-error @+1 {{parts of an elided concatenation must be results of kernels that are not returned}}
  %0 = gpuc.concat %x, %x {axis = 0 : i64, elided} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %1 = gpuc.kernel "pointwise" (%a = %0 : tensor<4x4xf32>) -> tensor<4x4xf32> attributes {offsets = array<i64: -1>} {
    gpuc.yield %a : tensor<4x4xf32>
  }
  return %1 : tensor<4x4xf32>
}

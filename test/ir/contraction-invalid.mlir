// RUN: gpuc-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<5xf32>, %y: tensor<5x7xf32>) {
  // expected-error @+2 {{matmul_c1: expected rank at least 2 on both sides, got 1 and 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.matmul %x, %y : tensor<5xf32>, tensor<5x7xf32> -> tensor<7xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %y: tensor<5x7xf16>) {
  // expected-error @+2 {{matmul_c1: element types differ: x has f32, y has f16}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.matmul %x, %y : tensor<3x5xf32>, tensor<5x7xf16> -> tensor<3x7xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xi1>, %y: tensor<5x7xi1>) {
  // expected-error @+2 {{matmul_c1: expected numbers, got i1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.matmul %x, %y : tensor<3x5xi1>, tensor<5x7xi1> -> tensor<3x7xi1>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %y: tensor<7x2xf32>) {
  // expected-error @+2 {{matmul_c2: inner extents differ: x has 5, y has 7}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.matmul %x, %y : tensor<3x5xf32>, tensor<7x2xf32> -> tensor<3x2xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5xf32>, %y: tensor<4x5x7xf32>) {
  // expected-error @+2 {{matmul_c3: shapes do not broadcast: [2] and [4] differ at axis 0 (2 against 4)}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.matmul %x, %y : tensor<2x3x5xf32>, tensor<4x5x7xf32> -> tensor<2x3x7xf32>
  return
}

// -----

func.func @f(%q: tensor<4x7x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x5x8xf32>) {
  // expected-error @+2 {{attention_c1: expected q, k and v of rank 4, got 3, 4 and 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.attention %q, %k, %v {scale = 0.125} : tensor<4x7x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x5x8xf32> -> tensor<2x4x7x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x7x8xf32>, %k: tensor<2x4x5x8xf16>, %v: tensor<2x4x5x8xf32>) {
  // expected-error @+2 {{attention_c1: element types differ: q has f32, k has f16}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.attention %q, %k, %v {scale = 0.125} : tensor<2x4x7x8xf32>, tensor<2x4x5x8xf16>, tensor<2x4x5x8xf32> -> tensor<2x4x7x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x7x8xf32>, %k: tensor<3x4x5x8xf32>, %v: tensor<3x4x5x8xf32>) {
  // expected-error @+2 {{attention_c2: batch extents of q and k differ: 2 and 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.attention %q, %k, %v {scale = 0.125} : tensor<2x4x7x8xf32>, tensor<3x4x5x8xf32>, tensor<3x4x5x8xf32> -> tensor<2x4x7x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x7x8xf32>, %k: tensor<2x4x5x9xf32>, %v: tensor<2x4x5x8xf32>) {
  // expected-error @+2 {{attention_c2: head widths of q and k differ: 8 and 9}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.attention %q, %k, %v {scale = 0.125} : tensor<2x4x7x8xf32>, tensor<2x4x5x9xf32>, tensor<2x4x5x8xf32> -> tensor<2x4x7x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x7x8xf32>, %k: tensor<2x4x5x8xf32>, %v: tensor<2x4x6x8xf32>) {
  // expected-error @+2 {{attention_c2: lengths of k and v differ: 5 and 6}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.attention %q, %k, %v {scale = 0.125} : tensor<2x4x7x8xf32>, tensor<2x4x5x8xf32>, tensor<2x4x6x8xf32> -> tensor<2x4x7x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x7x8xf32>, %k: tensor<2x3x5x8xf32>, %v: tensor<2x3x5x8xf32>) {
  // expected-error @+2 {{attention_c3: the heads of q must be a multiple of those of k and v, got 4 and 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.attention %q, %k, %v {scale = 0.125} : tensor<2x4x7x8xf32>, tensor<2x3x5x8xf32>, tensor<2x3x5x8xf32> -> tensor<2x4x7x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x7x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x8xf32>, %b: tensor<7x4xf32>) {
  // expected-error @+2 {{attention_c4: bias of shape [7, 4] does not broadcast to [2, 4, 7, 5]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.attention %q, %k, %v bias %b {scale = 0.125} : tensor<2x4x7x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x8xf32>, tensor<7x4xf32> -> tensor<2x4x7x8xf32>
  return
}

// -----

func.func @f(%q: tensor<2x4x7x8xf32>, %k: tensor<2x2x5x8xf32>, %v: tensor<2x2x5x8xf32>, %b: tensor<7x5xi32>) {
  // expected-error @+2 {{attention_c4: bias must be float or i1, got i32}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.attention %q, %k, %v bias %b {scale = 0.125} : tensor<2x4x7x8xf32>, tensor<2x2x5x8xf32>, tensor<2x2x5x8xf32>, tensor<7x5xi32> -> tensor<2x4x7x8xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) {
  // expected-error @+2 {{conv_c1: expected x and w of one rank, at least 3, got 2 and 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x3xf32>, tensor<4x3xf32> -> tensor<2x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5x7xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error @+2 {{conv_c1: expected x and w of one rank, at least 3, got 4 and 3}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x3x5x7xf32>, tensor<4x3x3xf32> -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5x7xf32>, %w: tensor<4x3x3x3xf16>) {
  // expected-error @+2 {{conv_c1: element types differ: x has f32, w has f16}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x3x5x7xf32>, tensor<4x3x3x3xf16> -> tensor<2x4x5x7xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5x7xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+2 {{conv_c2: group must be positive and divide the channels of x and w, got 2 for 3 and 4}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 2 : i64} : tensor<2x3x5x7xf32>, tensor<4x3x3x3xf32> -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5x7xf32>, %w: tensor<4x2x3x3xf32>) {
  // expected-error @+2 {{conv_c2: w has the wrong number of input channels: expected 3, got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x3x5x7xf32>, tensor<4x2x3x3xf32> -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5x7xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<3xf32>) {
  // expected-error @+2 {{conv_c2: bias has the wrong shape: expected [4], got [3]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.conv %x, %w bias %b {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x3x5x7xf32>, tensor<4x3x3x3xf32>, tensor<3xf32> -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5x7xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+2 {{conv_c3: expected one entry in strides per spatial axis (2), got 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x3x5x7xf32>, tensor<4x3x3x3xf32> -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5x7xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+2 {{conv_c3: entries of strides must be at least 1, got [0, 1]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.conv %x, %w {strides = array<i64: 0, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x3x5x7xf32>, tensor<4x3x3x3xf32> -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5x7xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+2 {{conv_c3: entries of low must be at least 0, got [0, -1]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, -1>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : tensor<2x3x5x7xf32>, tensor<4x3x3x3xf32> -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5x7xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+2 {{conv_c3: the window does not fit at spatial axis 0: it covers 7 cells of 5}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 3, 1>, group = 1 : i64} : tensor<2x3x5x7xf32>, tensor<4x3x3x3xf32> -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5x7xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @+2 {{conv_c3: the window does not fit at spatial axis 1: it covers too many cells of 7}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 9223372036854775807>, group = 1 : i64} : tensor<2x3x5x7xf32>, tensor<4x3x3x3xf32> -> tensor<2x4x3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5xf32>, %w: tensor<3x4xf32>) {
  // expected-error @+1 {{conv_transpose_c1: expected x and w of one rank, at least 3, got 3 and 2}}
  %0 = gpuc.conv_transpose %x, %w {strides = array<i64: 2>, low = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64} : tensor<2x3x5xf32>, tensor<3x4xf32> -> tensor<2x4x10xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5xf32>, %w: tensor<3x4x2xf32>) {
  // expected-error @+1 {{conv_transpose_c1: element types differ: x has f32, the result has f16}}
  %0 = gpuc.conv_transpose %x, %w {strides = array<i64: 2>, low = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64} : tensor<2x3x5xf32>, tensor<3x4x2xf32> -> tensor<2x4x10xf16>
  return
}

// -----

func.func @f(%x: tensor<2x3x5xf32>, %w: tensor<4x4x2xf32>) {
  // expected-error @+1 {{conv_transpose_c2: w has the wrong number of input channels: expected 3, got 4}}
  %0 = gpuc.conv_transpose %x, %w {strides = array<i64: 2>, low = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64} : tensor<2x3x5xf32>, tensor<4x4x2xf32> -> tensor<2x4x10xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5xf32>, %w: tensor<3x4x2xf32>) {
  // expected-error @+1 {{conv_transpose_c2: group must be positive and divide the 3 channels of x, got 2}}
  %0 = gpuc.conv_transpose %x, %w {strides = array<i64: 2>, low = array<i64: 0>, dilations = array<i64: 1>, group = 2 : i64} : tensor<2x3x5xf32>, tensor<3x4x2xf32> -> tensor<2x4x10xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5xf32>, %w: tensor<3x4x2xf32>) {
  // expected-error @+1 {{conv_transpose_c2: the result has the wrong batch or channels: expected 2 and 4, got 2 and 5}}
  %0 = gpuc.conv_transpose %x, %w {strides = array<i64: 2>, low = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64} : tensor<2x3x5xf32>, tensor<3x4x2xf32> -> tensor<2x5x10xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5xf32>, %w: tensor<3x4x2xf32>, %b: tensor<3xf32>) {
  // expected-error @+1 {{conv_transpose_c2: bias has the wrong shape: expected [4], got [3]}}
  %0 = gpuc.conv_transpose %x, %w bias %b {strides = array<i64: 2>, low = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64} : tensor<2x3x5xf32>, tensor<3x4x2xf32>, tensor<3xf32> -> tensor<2x4x10xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5xf32>, %w: tensor<3x4x2xf32>) {
  // expected-error @+1 {{conv_transpose_c3: entries of dilations must be at least 1, got [0]}}
  %0 = gpuc.conv_transpose %x, %w {strides = array<i64: 2>, low = array<i64: 0>, dilations = array<i64: 0>, group = 1 : i64} : tensor<2x3x5xf32>, tensor<3x4x2xf32> -> tensor<2x4x10xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x5xf32>, %w: tensor<3x4x2xf32>) {
  // expected-error @+1 {{conv_transpose_c3: positions along spatial axis 0 do not fit in 64 bits}}
  %0 = gpuc.conv_transpose %x, %w {strides = array<i64: 9223372036854775807>, low = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64} : tensor<2x3x5xf32>, tensor<3x4x2xf32> -> tensor<2x4x10xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{max_pool_c1: expected x and the result of one rank, at least 3, got 2 and 2}}
  %0 = gpuc.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x6xf32>) {
  // expected-error @+1 {{max_pool_c1: batch and channels differ: x has [2, 3], the result has [2, 4]}}
  %0 = gpuc.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3x6xf32> -> tensor<2x4x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x6xf32>) {
  // expected-error @+1 {{max_pool_c1: expected one entry in kernel per spatial axis (1), got 2}}
  %0 = gpuc.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3x6xf32> -> tensor<2x3x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x6xf32>) {
  // expected-error @+1 {{max_pool_c1: window 3 of spatial axis 0 holds no cell of x, whose extent is 6}}
  %0 = gpuc.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3x6xf32> -> tensor<2x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x6xf32>) {
  // expected-error @+1 {{max_pool_c1: window 0 of spatial axis 0 holds no cell of x, whose extent is 6}}
  %0 = gpuc.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 2>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3x6xf32> -> tensor<2x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x2xf32>) {
  // expected-error @+1 {{max_pool_c1: window 2 of spatial axis 0 holds no cell of x, whose extent is 2}}
  %0 = gpuc.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 1>, low = array<i64: 3>, high = array<i64: 0>, dilations = array<i64: 3>} : tensor<2x3x2xf32> -> tensor<2x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x6xf32>) {
  // expected-error @+1 {{max_pool_c1: positions along spatial axis 0 do not fit in 64 bits}}
  %0 = gpuc.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 4611686018427387904>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3x6xf32> -> tensor<2x3x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x6xi1>) {
  // expected-error @+1 {{max_pool_c1: expected numbers, got i1}}
  %0 = gpuc.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3x6xi1> -> tensor<2x3x3xi1>
  return
}

// -----

func.func @f(%x: tensor<2x3x6xf32>) {
  // expected-error @+1 {{max_pool_c2: indices must be i64 of the result's shape, got 'tensor<2x3x3xi32>'}}
  %0, %1 = gpuc.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3x6xf32> -> tensor<2x3x3xf32>, tensor<2x3x3xi32>
  return
}

// -----

func.func @f(%x: tensor<2x3x6xf32>) {
  // expected-error @+1 {{avg_pool_c1: window 3 of spatial axis 0 holds no cell of x, whose extent is 6}}
  %0 = gpuc.avg_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3x6xf32> -> tensor<2x3x4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x3x6xi8>) {
  // expected-error @+1 {{avg_pool_c1: expected floats, got 'i8'}}
  %0 = gpuc.avg_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>} : tensor<2x3x6xi8> -> tensor<2x3x3xi8>
  return
}

// -----

func.func @f(%x: tensor<2x8x3xf32>, %w1: tensor<4x7xf32>, %b1: tensor<4xf32>, %w2: tensor<8x4xf32>, %b2: tensor<8xf32>) {
  // expected-error @+2 {{squeeze_excite_c2: w1 must have shape 4x8, got 4x7}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.squeeze_excite relu %x, %w1, %b1, %w2, %b2 gate sigmoid : tensor<2x8x3xf32>, tensor<4x7xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<8xf32> -> tensor<2x8x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8x3xf32>, %w1: tensor<4x8xf32>, %b1: tensor<4xf32>, %w2: tensor<8x4xf32>, %b2: tensor<8xf32>) {
  // expected-error @+1 {{squeeze_excite_c3: gate must be sigmoid, hard_sigmoid or tanh, got relu}}
  %0 = gpuc.squeeze_excite relu %x, %w1, %b1, %w2, %b2 gate relu : tensor<2x8x3xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<8xf32> -> tensor<2x8x3xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8xf32>, %w1: tensor<4x8xf32>, %b1: tensor<4xf32>, %w2: tensor<8x4xf32>, %b2: tensor<8xf32>) {
  // expected-error @+2 {{squeeze_excite_c1: x must have rank at least 3, got 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.squeeze_excite relu %x, %w1, %b1, %w2, %b2 gate sigmoid : tensor<2x8xf32>, tensor<4x8xf32>, tensor<4xf32>, tensor<8x4xf32>, tensor<8xf32> -> tensor<2x8xf32>
  return
}

// RUN: gpuc-opt %s -split-input-file -verify-diagnostics

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+2 {{transpose_c1: perm is no permutation of the axes: expected rank 2, got [1, 1]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.transpose %x {perm = array<i64: 1, 1>} : tensor<3x5xf32> -> tensor<5x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+2 {{transpose_c1: perm is no permutation of the axes: expected rank 2, got [0]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.transpose %x {perm = array<i64: 0>} : tensor<3x5xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+2 {{transpose_c1: perm is no permutation of the axes: expected rank 2, got [0, -1]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.transpose %x {perm = array<i64: 0, -1>} : tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+1 {{reshape_c1: element counts differ: [3, 5] has 15, [16] has 16}}
  %0 = gpuc.reshape %x : tensor<3x5xf32> -> tensor<16xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+1 {{reshape_c1: element types differ: x has f32, the result has i32}}
  %0 = gpuc.reshape %x : tensor<3x5xf32> -> tensor<15xi32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+1 {{expand_c1: x of shape [3, 5] does not broadcast to [3, 10]}}
  %0 = gpuc.expand %x : tensor<3x5xf32> -> tensor<3x10xf32>
  return
}

// -----

func.func @f(%x: tensor<1x5xf32>) {
  // expected-error @+1 {{expand_c1: x of shape [1, 5] does not broadcast to [5]}}
  %0 = gpuc.expand %x : tensor<1x5xf32> -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+1 {{slice_c1: expected one start, step and result extent per axis of rank 2, got 1, 1 and 2}}
  %0 = gpuc.slice %x {starts = array<i64: 0>, steps = array<i64: 1>} : tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// -----

func.func @f(%x: tensor<5xf32>) {
  // expected-error @+1 {{slice_c1: step of axis 0 is zero}}
  %0 = gpuc.slice %x {starts = array<i64: 0>, steps = array<i64: 0>} : tensor<5xf32> -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<5xf32>) {
  // expected-error @+1 {{slice_c2: axis 0 of extent 5 is left: start 1, step 2, 3 elements}}
  %0 = gpuc.slice %x {starts = array<i64: 1>, steps = array<i64: 2>} : tensor<5xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<5xf32>) {
  // expected-error @+1 {{slice_c2: axis 0 of extent 5 is left: start -1, step 1, 1 elements}}
  %0 = gpuc.slice %x {starts = array<i64: -1>, steps = array<i64: 1>} : tensor<5xf32> -> tensor<1xf32>
  return
}

// -----

func.func @f(%x: tensor<5xf32>) {
  // expected-error @+1 {{slice_c2: axis 0 of extent 5 is left: start 4, step -9223372036854775808, 3 elements}}
  %0 = gpuc.slice %x {starts = array<i64: 4>, steps = array<i64: -9223372036854775808>} : tensor<5xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f() {
  // expected-error @+2 {{concat_c1: expected at least one operand, got none}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "gpuc.concat"() {axis = 0 : i64} : () -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>, %y: tensor<3x4xf32>) {
  // expected-error @+2 {{concat_c1: shapes differ outside axis 0: operand 0 has [3, 5], operand 1 has [3, 4]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.concat %x, %y {axis = 0 : i64} : (tensor<3x5xf32>, tensor<3x4xf32>) -> tensor<6x5xf32>
  return
}

// -----

func.func @f(%x: tensor<5xf32>, %y: tensor<5xf16>) {
  // expected-error @+2 {{concat_c1: element types differ: operand 0 has f32, operand 1 has f16}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.concat %x, %y {axis = 0 : i64} : (tensor<5xf32>, tensor<5xf16>) -> tensor<10xf32>
  return
}

// -----

func.func @f(%x: tensor<5xf32>) {
  // expected-error @+2 {{concat_c1: axis is out of range: expected 0 <= axis < 1, got 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.concat %x {axis = 1 : i64} : (tensor<5xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{pad_c1: the extent becomes negative: axis 0 of extent 3 with pads -2 and -2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.pad constant %x, %v {low = array<i64: -2>, high = array<i64: -2>} : tensor<3xf32>, tensor<f32> -> tensor<0xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{pad_c1: more is cropped than there is: axis 0 of extent 3 with pads -4 and 2}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.pad constant %x, %v {low = array<i64: -4>, high = array<i64: 2>} : tensor<3xf32>, tensor<f32> -> tensor<1xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{pad_c1: the extent does not fit in 64 bits}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.pad constant %x, %v {low = array<i64: 9223372036854775807>, high = array<i64: 2>} : tensor<3xf32>, tensor<f32> -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{pad_c1: expected one low and one high pad per axis of rank 1, got 0 and 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.pad constant %x, %v {low = array<i64>, high = array<i64: 2>} : tensor<3xf32>, tensor<f32> -> tensor<5xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+2 {{pad_c2: reflect pads must be smaller than the extent: axis 0 of extent 3 with pads 3 and 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.pad reflect %x {low = array<i64: 3>, high = array<i64: 0>} : tensor<3xf32> -> tensor<6xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+2 {{pad_c2: only constant mode may crop: axis 0 of extent 3 with pads -1 and 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.pad edge %x {low = array<i64: -1>, high = array<i64: 0>} : tensor<3xf32> -> tensor<2xf32>
  return
}

// -----

func.func @f(%x: tensor<0xf32>) {
  // expected-error @+2 {{pad_c2: an empty axis has no cells to copy: axis 0 of extent 0 with pads 1 and 0}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.pad wrap %x {low = array<i64: 1>, high = array<i64: 0>} : tensor<0xf32> -> tensor<1xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+2 {{pad_c3: constant mode needs a value}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.pad constant %x {low = array<i64: 1>, high = array<i64: 0>} : tensor<3xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>, %v: tensor<f32>) {
  // expected-error @+2 {{pad_c3: only constant mode takes a value}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.pad edge %x, %v {low = array<i64: 1>, high = array<i64: 0>} : tensor<3xf32>, tensor<f32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>, %v: tensor<1xf32>) {
  // expected-error @+2 {{pad_c3: value must be a scalar, got shape [1]}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.pad constant %x, %v {low = array<i64: 1>, high = array<i64: 0>} : tensor<3xf32>, tensor<1xf32> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>, %v: tensor<f16>) {
  // expected-error @+2 {{pad_c3: element types differ: x has f32, value has f16}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.pad constant %x, %v {low = array<i64: 1>, high = array<i64: 0>} : tensor<3xf32>, tensor<f16> -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+2 {{tile_c1: expected one repeat per axis of rank 2, got 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.tile %x {repeats = array<i64: 2>} : tensor<3x5xf32> -> tensor<6x5xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+2 {{tile_c1: repeat of axis 0 is negative: -1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.tile %x {repeats = array<i64: -1>} : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+2 {{tile_c1: the extent of axis 0 does not fit in 64 bits}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.tile %x {repeats = array<i64: 9223372036854775807>} : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3x3xf32>) {
  // expected-error @+2 {{the result has too many elements: 6000000000x6000000000}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.tile %x {repeats = array<i64: 2000000000, 2000000000>} : tensor<3x3xf32> -> tensor<3x3xf32>
  return
}

// -----

func.func @f(%x: tensor<3xf32>) {
  // expected-error @+2 {{trilu_c1: expected rank at least 2, got 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = gpuc.trilu %x {k = 0 : i64, upper = true} : tensor<3xf32> -> tensor<3xf32>
  return
}

// -----

func.func @f(%x: tensor<3x5xf32>) {
  // expected-error @+1 {{resize_c1: expected one scale and one result extent per axis of rank 2, got 1 and 2}}
  %0 = gpuc.resize nearest %x {coordinate = #gpuc<coordinate_mode asymmetric>, nearest = #gpuc<nearest_mode floor>, scales = array<f64: 2.0>} : tensor<3x5xf32> -> tensor<3x10xf32>
  return
}

// -----

func.func @f(%x: tensor<5xf32>) {
  // expected-error @+1 {{resize_c1: scale of axis 0 is not positive and finite: -2.0}}
  %0 = gpuc.resize nearest %x {coordinate = #gpuc<coordinate_mode asymmetric>, nearest = #gpuc<nearest_mode floor>, scales = array<f64: -2.0>} : tensor<5xf32> -> tensor<10xf32>
  return
}

// -----

func.func @f(%x: tensor<0xf32>) {
  // expected-error @+1 {{resize_c1: axis 0 is empty and can not become 10}}
  %0 = gpuc.resize nearest %x {coordinate = #gpuc<coordinate_mode asymmetric>, nearest = #gpuc<nearest_mode floor>, scales = array<f64: 2.0>} : tensor<0xf32> -> tensor<10xf32>
  return
}

// -----

func.func @f(%x: tensor<5xf32>) {
  // expected-error @+1 {{resize_c1: element types differ: x has f32, the result has f16}}
  %0 = gpuc.resize nearest %x {coordinate = #gpuc<coordinate_mode asymmetric>, nearest = #gpuc<nearest_mode floor>, scales = array<f64: 2.0>} : tensor<5xf32> -> tensor<10xf16>
  return
}

// -----

func.func @f(%x: tensor<5xf32>) {
  // expected-error @+1 {{resize_c2: expected a roi of 0 or 2 numbers, got 1}}
  %0 = gpuc.resize nearest %x {coordinate = #gpuc<coordinate_mode asymmetric>, nearest = #gpuc<nearest_mode floor>, scales = array<f64: 2.0>, roi = array<f64: 0.0>} : tensor<5xf32> -> tensor<10xf32>
  return
}

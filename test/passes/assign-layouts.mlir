// RUN: gpuc-opt %s --gpuc-assign-layouts | FileCheck %s

// Between convolutions with whole vectors of channels: channels-last, also through a pointwise kernel. The returned value is row-major.
// CHECK-LABEL: func.func @chain
// CHECK: gpuc.kernel "convolution" {{.*}} -> tensor<2x8x5x7xf32> attributes {storage = {{\[\[}}280, 1, 56, 8]]}
// CHECK: gpuc.kernel "pointwise" {{.*}} -> tensor<2x8x5x7xf32> attributes {storage = {{\[\[}}280, 1, 56, 8]]}
// CHECK: gpuc.kernel "convolution" {{.*}} -> tensor<2x8x5x7xf32> {
func.func @chain(%x: tensor<2x3x5x7xf32>, %w: tensor<8x3x1x1xf32>, %u: tensor<8x8x1x1xf32>) -> tensor<2x8x5x7xf32> {
  %0 = gpuc.kernel "convolution" (%a = %x : tensor<2x3x5x7xf32>, %b = %w : tensor<8x3x1x1xf32>) -> tensor<2x8x5x7xf32> {
    %y = gpuc.conv %a, %b {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
      : tensor<2x3x5x7xf32>, tensor<8x3x1x1xf32> -> tensor<2x8x5x7xf32>
    gpuc.yield %y : tensor<2x8x5x7xf32>
  }
  %1 = gpuc.kernel "pointwise" (%a = %0 : tensor<2x8x5x7xf32>) -> tensor<2x8x5x7xf32> {
    %y = gpuc.unary exp %a : tensor<2x8x5x7xf32> -> tensor<2x8x5x7xf32>
    gpuc.yield %y : tensor<2x8x5x7xf32>
  }
  %2 = gpuc.kernel "convolution" (%a = %1 : tensor<2x8x5x7xf32>, %b = %u : tensor<8x8x1x1xf32>) -> tensor<2x8x5x7xf32> {
    %y = gpuc.conv %a, %b {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
      : tensor<2x8x5x7xf32>, tensor<8x8x1x1xf32> -> tensor<2x8x5x7xf32>
    gpuc.yield %y : tensor<2x8x5x7xf32>
  }
  return %2 : tensor<2x8x5x7xf32>
}

// An argument with whole vectors of channels is copied for the convolution, once for both readers after CSE; one of 1x1 pixels is
// channels-last as it is.
// CHECK-LABEL: func.func @arguments
// CHECK-SAME: (%[[X:.*]]: tensor<2x8x5x7xf32>, %[[V:[a-z0-9]+]]: tensor<2x8x1x1xf32>, %
// CHECK: %[[C:.*]] = gpuc.kernel "pointwise" (%{{.*}} = %[[X]] : tensor<2x8x5x7xf32>) -> tensor<2x8x5x7xf32> attributes {storage = {{\[\[}}280, 1, 56, 8]]}
// CHECK: gpuc.kernel "convolution" (%{{.*}} = %[[C]]
// CHECK: gpuc.kernel "convolution" (%{{.*}} = %[[V]]
func.func @arguments(%x: tensor<2x8x5x7xf32>, %v: tensor<2x8x1x1xf32>, %u: tensor<3x8x1x1xf32>) -> (tensor<2x3x5x7xf32>, tensor<2x3x1x1xf32>) {
  %0 = gpuc.kernel "convolution" (%a = %x : tensor<2x8x5x7xf32>, %b = %u : tensor<3x8x1x1xf32>) -> tensor<2x3x5x7xf32> {
    %y = gpuc.conv %a, %b {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
      : tensor<2x8x5x7xf32>, tensor<3x8x1x1xf32> -> tensor<2x3x5x7xf32>
    gpuc.yield %y : tensor<2x3x5x7xf32>
  }
  %1 = gpuc.kernel "convolution" (%a = %v : tensor<2x8x1x1xf32>, %b = %u : tensor<3x8x1x1xf32>) -> tensor<2x3x1x1xf32> {
    %y = gpuc.conv %a, %b {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
      : tensor<2x8x1x1xf32>, tensor<3x8x1x1xf32> -> tensor<2x3x1x1xf32>
    gpuc.yield %y : tensor<2x3x1x1xf32>
  }
  return %0, %1 : tensor<2x3x5x7xf32>, tensor<2x3x1x1xf32>
}

// A product that reads the flattened result can't follow channels-last strides: the convolution writes rows, without a copy.
// CHECK-LABEL: func.func @flattened
// CHECK: gpuc.kernel "convolution" {{.*}} -> tensor<2x8x5x7xf32> {
// CHECK-NOT: gpuc.kernel "pointwise"
// CHECK: gpuc.kernel "matmul"
func.func @flattened(%x: tensor<2x3x5x7xf32>, %w: tensor<8x3x1x1xf32>, %m: tensor<280x3xf32>) -> tensor<2x3xf32> {
  %0 = gpuc.kernel "convolution" (%a = %x : tensor<2x3x5x7xf32>, %b = %w : tensor<8x3x1x1xf32>) -> tensor<2x8x5x7xf32> {
    %y = gpuc.conv %a, %b {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
      : tensor<2x3x5x7xf32>, tensor<8x3x1x1xf32> -> tensor<2x8x5x7xf32>
    gpuc.yield %y : tensor<2x8x5x7xf32>
  }
  %1 = gpuc.kernel "matmul" (%a = %0 : tensor<2x8x5x7xf32>, %b = %m : tensor<280x3xf32>) -> tensor<2x3xf32> {
    %f = gpuc.reshape %a : tensor<2x8x5x7xf32> -> tensor<2x280xf32>
    %y = gpuc.matmul %f, %b : tensor<2x280xf32>, tensor<280x3xf32> -> tensor<2x3xf32>
    gpuc.yield %y : tensor<2x3xf32>
  }
  return %1 : tensor<2x3xf32>
}

// When a convolution reads it too, channels-last wins and the product gets a copy of rows.
// CHECK-LABEL: func.func @flattened_and_convolved
// CHECK: %[[Y:.*]] = gpuc.kernel "convolution" {{.*}}storage = {{\[\[}}280, 1, 56, 8]]
// CHECK: %[[C:.*]] = gpuc.kernel "pointwise" (%{{.*}} = %[[Y]] : tensor<2x8x5x7xf32>) -> tensor<2x8x5x7xf32> {
// CHECK: gpuc.kernel "matmul" (%{{.*}} = %[[C]]
// CHECK: gpuc.kernel "convolution" (%{{.*}} = %[[Y]]
func.func @flattened_and_convolved(%x: tensor<2x3x5x7xf32>, %w: tensor<8x3x1x1xf32>, %m: tensor<280x3xf32>, %u: tensor<3x8x1x1xf32>) -> (tensor<2x3xf32>, tensor<2x3x5x7xf32>) {
  %0 = gpuc.kernel "convolution" (%a = %x : tensor<2x3x5x7xf32>, %b = %w : tensor<8x3x1x1xf32>) -> tensor<2x8x5x7xf32> {
    %y = gpuc.conv %a, %b {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
      : tensor<2x3x5x7xf32>, tensor<8x3x1x1xf32> -> tensor<2x8x5x7xf32>
    gpuc.yield %y : tensor<2x8x5x7xf32>
  }
  %1 = gpuc.kernel "matmul" (%a = %0 : tensor<2x8x5x7xf32>, %b = %m : tensor<280x3xf32>) -> tensor<2x3xf32> {
    %f = gpuc.reshape %a : tensor<2x8x5x7xf32> -> tensor<2x280xf32>
    %y = gpuc.matmul %f, %b : tensor<2x280xf32>, tensor<280x3xf32> -> tensor<2x3xf32>
    gpuc.yield %y : tensor<2x3xf32>
  }
  %2 = gpuc.kernel "convolution" (%a = %0 : tensor<2x8x5x7xf32>, %b = %u : tensor<3x8x1x1xf32>) -> tensor<2x3x5x7xf32> {
    %y = gpuc.conv %a, %b {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
      : tensor<2x8x5x7xf32>, tensor<3x8x1x1xf32> -> tensor<2x3x5x7xf32>
    gpuc.yield %y : tensor<2x3x5x7xf32>
  }
  return %1, %2 : tensor<2x3xf32>, tensor<2x3x5x7xf32>
}

// Channels that are no whole vectors, and an alias that is returned: row-major.
// CHECK-LABEL: func.func @row_major
// CHECK-NOT: storage
// CHECK: return
func.func @row_major(%x: tensor<2x3x5x7xf32>, %w: tensor<5x3x1x1xf32>, %u: tensor<8x5x1x1xf32>) -> tensor<2x280xf32> {
  %0 = gpuc.kernel "convolution" (%a = %x : tensor<2x3x5x7xf32>, %b = %w : tensor<5x3x1x1xf32>) -> tensor<2x5x5x7xf32> {
    %y = gpuc.conv %a, %b {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
      : tensor<2x3x5x7xf32>, tensor<5x3x1x1xf32> -> tensor<2x5x5x7xf32>
    gpuc.yield %y : tensor<2x5x5x7xf32>
  }
  %1 = gpuc.kernel "convolution" (%a = %0 : tensor<2x5x5x7xf32>, %b = %u : tensor<8x5x1x1xf32>) -> tensor<2x8x5x7xf32> {
    %y = gpuc.conv %a, %b {strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64}
      : tensor<2x5x5x7xf32>, tensor<8x5x1x1xf32> -> tensor<2x8x5x7xf32>
    gpuc.yield %y : tensor<2x8x5x7xf32>
  }
  %2 = gpuc.reshape %1 : tensor<2x8x5x7xf32> -> tensor<2x280xf32>
  return %2 : tensor<2x280xf32>
}

// RUN: gpuc-opt %s --gpuc-convert-precision=type=f16 | FileCheck %s
// RUN: gpuc-opt %s --gpuc-convert-precision=type=bf16 | FileCheck %s --check-prefix=BF16
// RUN: not gpuc-opt %s --gpuc-convert-precision=type=f8 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: unknown precision 'f8', expected f16 or bf16

// Inputs and outputs keep their types; constants are converted when compiling.
// CHECK-LABEL: func.func @product
// CHECK-SAME: (%[[X:.*]]: tensor<3x5xf32>) -> tensor<3x7xf32>
// CHECK-DAG: %[[N:.*]] = gpuc.cast %[[X]] : tensor<3x5xf32> -> tensor<3x5xf16>
// CHECK-DAG: %[[W:.*]] = gpuc.constant dense<1.500000e+00> : tensor<5x7xf16>
// CHECK: %[[P:.*]] = gpuc.matmul %[[N]], %[[W]] : tensor<3x5xf16>, tensor<5x7xf16> -> tensor<3x7xf16>
// CHECK: %[[Y:.*]] = gpuc.cast %[[P]] : tensor<3x7xf16> -> tensor<3x7xf32>
// CHECK: return %[[Y]]
// BF16-LABEL: func.func @product
// BF16: gpuc.matmul %{{.*}} -> tensor<3x7xbf16>
func.func @product(%x: tensor<3x5xf32>) -> tensor<3x7xf32> {
  %w = gpuc.constant dense<1.5> : tensor<5x7xf32>
  %0 = gpuc.matmul %x, %w : tensor<3x5xf32>, tensor<5x7xf32> -> tensor<3x7xf32>
  return %0 : tensor<3x7xf32>
}

// Squares, exponentials and their sums stay in f32; what follows a large f32 value follows it; a norm ends the island.
// CHECK-LABEL: func.func @islands
// CHECK: gpuc.binary mul %{{.*}} : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
// CHECK: gpuc.unary exp %{{.*}} : tensor<3x5xf32> -> tensor<3x5xf32>
// CHECK: gpuc.unary relu %{{.*}} : tensor<3x5xf32> -> tensor<3x5xf32>
// CHECK: gpuc.reduce sum %{{.*}} : tensor<3x5xf32> -> tensor<3x1xf32>
// CHECK: %[[S:.*]] = gpuc.softmax %{{.*}} : tensor<3x5xf32> -> tensor<3x5xf32>
// CHECK: %[[N:.*]] = gpuc.cast %[[S]] : tensor<3x5xf32> -> tensor<3x5xf16>
// CHECK: gpuc.unary tanh %[[N]] : tensor<3x5xf16> -> tensor<3x5xf16>
func.func @islands(%x: tensor<3x5xf32>) -> (tensor<3x1xf32>, tensor<3x5xf32>) {
  %0 = gpuc.binary mul %x, %x : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = gpuc.unary exp %0 : tensor<3x5xf32> -> tensor<3x5xf32>
  %2 = gpuc.unary relu %1 : tensor<3x5xf32> -> tensor<3x5xf32>
  %3 = gpuc.reduce sum %2 {axes = array<i64: 1>, keepdims = true} : tensor<3x5xf32> -> tensor<3x1xf32>
  %4 = gpuc.softmax %2 {axis = 1 : i64} : tensor<3x5xf32> -> tensor<3x5xf32>
  %5 = gpuc.unary tanh %4 : tensor<3x5xf32> -> tensor<3x5xf32>
  return %3, %5 : tensor<3x1xf32>, tensor<3x5xf32>
}

// A small statistic beside a large narrow tensor does not make that wide.
// CHECK-LABEL: func.func @statistics
// CHECK: %[[R:.*]] = gpuc.unary rsqrt %{{.*}} : tensor<3x1xf32> -> tensor<3x1xf32>
// CHECK: %[[C:.*]] = gpuc.cast %[[R]] : tensor<3x1xf32> -> tensor<3x1xf16>
// CHECK: gpuc.binary mul %{{.*}}, %[[C]] : tensor<3x5xf16>, tensor<3x1xf16> -> tensor<3x5xf16>
func.func @statistics(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %0 = gpuc.reduce mean %x {axes = array<i64: 1>, keepdims = true} : tensor<3x5xf32> -> tensor<3x1xf32>
  %1 = gpuc.unary rsqrt %0 : tensor<3x1xf32> -> tensor<3x1xf32>
  %2 = gpuc.binary mul %x, %1 : tensor<3x5xf32>, tensor<3x1xf32> -> tensor<3x5xf32>
  return %2 : tensor<3x5xf32>
}

// Finite constants beyond the range are clamped, infinities stay. bf16 has the range of f32.
// CHECK-LABEL: func.func @clamped
// CHECK: gpuc.constant dense<[-6.550400e+04, 0xFC00, 6.550400e+04]> : tensor<3xf16>
// BF16-LABEL: func.func @clamped
// BF16: gpuc.constant dense<[-9.982440e+08, 0xFF80, 9.982440e+08]> : tensor<3xbf16>
func.func @clamped(%x: tensor<3xf32>) -> tensor<3xf32> {
  %c = gpuc.constant dense<[-1.0e9, 0xFF800000, 1.0e9]> : tensor<3xf32>
  %0 = gpuc.binary add %x, %c : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// (1 - mask) * -1e9: the product stays in f32 and saturates where it is added to narrow scores, so that a row of it is not all -inf.
// CHECK-LABEL: func.func @additive_mask
// CHECK: %[[M:.*]] = gpuc.binary mul %{{.*}} : tensor<1x5xf32>, tensor<f32> -> tensor<1x5xf32>
// CHECK: %[[INF:.*]] = gpuc.unary is_inf %[[M]]
// CHECK: %[[S:.*]] = gpuc.select %[[INF]], %[[M]], %{{.*}} : tensor<1x5xi1>, tensor<1x5xf32>, tensor<1x5xf32> -> tensor<1x5xf32>
// CHECK: %[[B:.*]] = gpuc.cast %[[S]] : tensor<1x5xf32> -> tensor<1x5xf16>
// CHECK: gpuc.binary add %{{.*}}, %[[B]] : tensor<3x5xf16>, tensor<1x5xf16>
// BF16-LABEL: func.func @additive_mask
// BF16-NOT: is_inf
// BF16: return
func.func @additive_mask(%x: tensor<3x5xf32>, %m: tensor<1x5xi64>) -> tensor<3x5xf32> {
  %one = gpuc.constant dense<1.0> : tensor<f32>
  %low = gpuc.constant dense<-1.0e9> : tensor<f32>
  %0 = gpuc.cast %m : tensor<1x5xi64> -> tensor<1x5xf32>
  %1 = gpuc.binary sub %one, %0 : tensor<f32>, tensor<1x5xf32> -> tensor<1x5xf32>
  %2 = gpuc.binary mul %1, %low : tensor<1x5xf32>, tensor<f32> -> tensor<1x5xf32>
  %3 = gpuc.binary add %x, %2 : tensor<3x5xf32>, tensor<1x5xf32> -> tensor<3x5xf32>
  %4 = gpuc.softmax %3 {axis = 1 : i64} : tensor<3x5xf32> -> tensor<3x5xf32>
  return %4 : tensor<3x5xf32>
}

// As a bias of attention it keeps its type.
// CHECK-LABEL: func.func @attention_bias
// CHECK: gpuc.attention %{{.*}} bias %{{.*}} : tensor<2x3x5x7xf16>, tensor<2x3x5x7xf16>, tensor<2x3x5x7xf16>, tensor<2x1x1x5xf32> -> tensor<2x3x5x7xf16>
func.func @attention_bias(%x: tensor<2x3x5x7xf32>, %c: tensor<2x1x1x5xi1>) -> tensor<2x3x5x7xf32> {
  %zero = gpuc.constant dense<0.0> : tensor<f32>
  %low = gpuc.constant dense<-1.0e37> : tensor<f32>
  %0 = gpuc.select %c, %zero, %low : tensor<2x1x1x5xi1>, tensor<f32>, tensor<f32> -> tensor<2x1x1x5xf32>
  %1 = gpuc.attention %x, %x, %x bias %0 {scale = 1.0} : tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>, tensor<2x1x1x5xf32> -> tensor<2x3x5x7xf32>
  return %1 : tensor<2x3x5x7xf32>
}

// f64 and integers are left alone; a cast between f32 and f64 is one between f16 and f64. 8-bit integers fit, 32-bit ones don't.
// CHECK-LABEL: func.func @other_types
// CHECK: gpuc.binary add %{{.*}} : tensor<3xf64>, tensor<3xf64> -> tensor<3xf64>
// CHECK: gpuc.cast %{{.*}} : tensor<3xf16> -> tensor<3xf64>
// CHECK: gpuc.cast %{{.*}} : tensor<3xi8> -> tensor<3xf16>
// CHECK: gpuc.cast %{{.*}} : tensor<3xi32> -> tensor<3xf32>
// CHECK: gpuc.binary pow %{{.*}} : tensor<3xf64>, tensor<3xf32> -> tensor<3xf64>
func.func @other_types(%x: tensor<3xf32>, %d: tensor<3xf64>, %b: tensor<3xi8>, %i: tensor<3xi32>)
    -> (tensor<3xf64>, tensor<3xf64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf64>) {
  %0 = gpuc.binary add %d, %d : tensor<3xf64>, tensor<3xf64> -> tensor<3xf64>
  %1 = gpuc.unary relu %x : tensor<3xf32> -> tensor<3xf32>
  %2 = gpuc.cast %1 : tensor<3xf32> -> tensor<3xf64>
  %3 = gpuc.cast %b : tensor<3xi8> -> tensor<3xf32>
  %4 = gpuc.cast %i : tensor<3xi32> -> tensor<3xf32>
  %5 = gpuc.binary pow %d, %x : tensor<3xf64>, tensor<3xf32> -> tensor<3xf64>
  return %0, %2, %3, %4, %5 : tensor<3xf64>, tensor<3xf64>, tensor<3xf32>, tensor<3xf32>, tensor<3xf64>
}

// Results that are no floats keep their type; several results, and a comparison inside an island.
// CHECK-LABEL: func.func @results
// CHECK: %{{.*}}, %{{.*}} = gpuc.topk %{{.*}} : tensor<3x5xf16> -> tensor<3x2xf16>, tensor<3x2xi64>
// CHECK: gpuc.binary lt %{{.*}} : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xi1>
// CHECK: gpuc.max_pool %{{.*}} : tensor<1x3x5xf16> -> tensor<1x3x4xf16>, tensor<1x3x4xi64>
func.func @results(%x: tensor<3x5xf32>, %p: tensor<1x3x5xf32>) -> (tensor<3x2xf32>, tensor<3x2xi64>, tensor<3x5xi1>, tensor<1x3x4xf32>, tensor<1x3x4xi64>) {
  %v, %i = gpuc.topk %x {k = 2 : i64, axis = 1 : i64, largest = true} : tensor<3x5xf32> -> tensor<3x2xf32>, tensor<3x2xi64>
  %0 = gpuc.unary exp %x : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = gpuc.unary sqrt %x : tensor<3x5xf32> -> tensor<3x5xf32>
  %2 = gpuc.binary lt %0, %1 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xi1>
  %y, %j = gpuc.max_pool %p {kernel = array<i64: 2>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>}
    : tensor<1x3x5xf32> -> tensor<1x3x4xf32>, tensor<1x3x4xi64>
  return %v, %i, %2, %y, %j : tensor<3x2xf32>, tensor<3x2xi64>, tensor<3x5xi1>, tensor<1x3x4xf32>, tensor<1x3x4xi64>
}

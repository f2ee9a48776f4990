// RUN: gpuc-opt %s --gpuc-recognize-activations | FileCheck %s

// x * 0.5 * (1 + erf(x / sqrt 2)), torch.
// CHECK-LABEL: func.func @gelu_torch
// CHECK: %[[Y:.*]] = gpuc.unary gelu %{{.*}} : tensor<3x5xf32>
// CHECK-NEXT: return %[[Y]]
func.func @gelu_torch(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %root = gpuc.constant dense<1.41421354> : tensor<f32>
  %one = gpuc.constant dense<1.0> : tensor<f32>
  %half = gpuc.constant dense<0.5> : tensor<f32>
  %0 = gpuc.binary div %x, %root : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %1 = gpuc.unary erf %0 : tensor<3x5xf32> -> tensor<3x5xf32>
  %2 = gpuc.binary add %1, %one : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %3 = gpuc.binary mul %x, %2 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %4 = gpuc.binary mul %3, %half : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  return %4 : tensor<3x5xf32>
}

// (0.5 * x) * (1 + erf(x * 0.7071)), with a rounded constant.
// CHECK-LABEL: func.func @gelu_half_first
// CHECK: gpuc.unary gelu %
func.func @gelu_half_first(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %root = gpuc.constant dense<0.70710> : tensor<f32>
  %one = gpuc.constant dense<1.0> : tensor<1x1xf32>
  %half = gpuc.constant dense<0.5> : tensor<f32>
  %0 = gpuc.binary mul %root, %x : tensor<f32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = gpuc.unary erf %0 : tensor<3x5xf32> -> tensor<3x5xf32>
  %2 = gpuc.binary add %one, %1 : tensor<1x1xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %3 = gpuc.binary mul %half, %x : tensor<f32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %4 = gpuc.binary mul %3, %2 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  return %4 : tensor<3x5xf32>
}

// x * (0.5 * (1 + erf)), tf2onnx, in f16.
// CHECK-LABEL: func.func @gelu_gate_first
// CHECK: gpuc.unary gelu %
func.func @gelu_gate_first(%x: tensor<7xf16>) -> tensor<7xf16> {
  %root = gpuc.constant dense<0.7070> : tensor<f16>
  %one = gpuc.constant dense<1.0> : tensor<f16>
  %half = gpuc.constant dense<0.5> : tensor<f16>
  %0 = gpuc.binary mul %x, %root : tensor<7xf16>, tensor<f16> -> tensor<7xf16>
  %1 = gpuc.unary erf %0 : tensor<7xf16> -> tensor<7xf16>
  %2 = gpuc.binary add %1, %one : tensor<7xf16>, tensor<f16> -> tensor<7xf16>
  %3 = gpuc.binary mul %half, %2 : tensor<f16>, tensor<7xf16> -> tensor<7xf16>
  %4 = gpuc.binary mul %3, %x : tensor<7xf16>, tensor<7xf16> -> tensor<7xf16>
  return %4 : tensor<7xf16>
}

// The erf of another value, another slope, a scale of 0.501, and a gate that broadcasts are something else.
// CHECK-LABEL: func.func @gelu_refused
// CHECK-NOT: gelu
// CHECK: return
func.func @gelu_refused(%x: tensor<3x5xf32>, %y: tensor<3x5xf32>, %row: tensor<5xf32>)
    -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) {
  %root = gpuc.constant dense<0.707106769> : tensor<f32>
  %slope = gpuc.constant dense<0.7> : tensor<f32>
  %one = gpuc.constant dense<1.0> : tensor<f32>
  %half = gpuc.constant dense<0.5> : tensor<f32>
  %more = gpuc.constant dense<0.501> : tensor<f32>
  %0 = gpuc.binary mul %y, %root : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %1 = gpuc.unary erf %0 : tensor<3x5xf32> -> tensor<3x5xf32>
  %2 = gpuc.binary add %1, %one : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %3 = gpuc.binary mul %x, %2 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %other = gpuc.binary mul %3, %half : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %4 = gpuc.binary mul %x, %slope : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %5 = gpuc.unary erf %4 : tensor<3x5xf32> -> tensor<3x5xf32>
  %6 = gpuc.binary add %5, %one : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %7 = gpuc.binary mul %x, %6 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %steep = gpuc.binary mul %7, %half : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %8 = gpuc.binary mul %x, %root : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %9 = gpuc.unary erf %8 : tensor<3x5xf32> -> tensor<3x5xf32>
  %10 = gpuc.binary add %9, %one : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %11 = gpuc.binary mul %x, %10 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %large = gpuc.binary mul %11, %more : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %12 = gpuc.binary mul %row, %root : tensor<5xf32>, tensor<f32> -> tensor<5xf32>
  %13 = gpuc.unary erf %12 : tensor<5xf32> -> tensor<5xf32>
  %14 = gpuc.binary add %13, %one : tensor<5xf32>, tensor<f32> -> tensor<5xf32>
  %15 = gpuc.binary mul %x, %14 : tensor<3x5xf32>, tensor<5xf32> -> tensor<3x5xf32>
  %wide = gpuc.binary mul %15, %half : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  return %other, %steep, %large, %wide : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
}

// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), with pow and an integer exponent.
// CHECK-LABEL: func.func @gelu_tanh
// CHECK: gpuc.unary gelu_tanh %
func.func @gelu_tanh(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %three = gpuc.constant dense<3> : tensor<i64>
  %cubic = gpuc.constant dense<0.044715> : tensor<f32>
  %linear = gpuc.constant dense<0.797884583> : tensor<f32>
  %one = gpuc.constant dense<1.0> : tensor<f32>
  %half = gpuc.constant dense<0.5> : tensor<f32>
  %0 = gpuc.binary pow %x, %three : tensor<3x5xf32>, tensor<i64> -> tensor<3x5xf32>
  %1 = gpuc.binary mul %0, %cubic : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %2 = gpuc.binary add %x, %1 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %3 = gpuc.binary mul %2, %linear : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %4 = gpuc.unary tanh %3 : tensor<3x5xf32> -> tensor<3x5xf32>
  %5 = gpuc.binary add %4, %one : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %6 = gpuc.binary mul %x, %half : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %7 = gpuc.binary mul %6, %5 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  return %7 : tensor<3x5xf32>
}

// A quadratic term makes it another function.
// CHECK-LABEL: func.func @gelu_tanh_refused
// CHECK-NOT: gelu_tanh
// CHECK: return
func.func @gelu_tanh_refused(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %two = gpuc.constant dense<2.0> : tensor<f32>
  %cubic = gpuc.constant dense<0.044715> : tensor<f32>
  %linear = gpuc.constant dense<0.797884583> : tensor<f32>
  %one = gpuc.constant dense<1.0> : tensor<f32>
  %half = gpuc.constant dense<0.5> : tensor<f32>
  %0 = gpuc.binary pow %x, %two : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %1 = gpuc.binary mul %0, %cubic : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %2 = gpuc.binary add %x, %1 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %3 = gpuc.binary mul %2, %linear : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %4 = gpuc.unary tanh %3 : tensor<3x5xf32> -> tensor<3x5xf32>
  %5 = gpuc.binary add %4, %one : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %6 = gpuc.binary mul %x, %half : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %7 = gpuc.binary mul %6, %5 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  return %7 : tensor<3x5xf32>
}

// An inner value with another reader stays, and so does the recognised op.
// CHECK-LABEL: func.func @silu
// CHECK: %[[S:.*]] = gpuc.unary sigmoid
// CHECK: %[[Y:.*]] = gpuc.unary silu
// CHECK: %[[Z:.*]] = gpuc.binary mul
// CHECK: return %[[Y]], %[[S]], %[[Z]]
func.func @silu(%x: tensor<3x5xf32>, %y: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) {
  %0 = gpuc.unary sigmoid %x : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = gpuc.binary mul %0, %x : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %2 = gpuc.binary mul %0, %y : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  return %1, %0, %2 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
}

// x * clip(x + 3, 0, 6) / 6 (paddle), and x * hard_sigmoid(x).
// CHECK-LABEL: func.func @hard_swish
// CHECK: %[[A:.*]] = gpuc.unary hard_swish
// CHECK: %[[B:.*]] = gpuc.unary hard_swish
// CHECK: return %[[A]], %[[B]]
func.func @hard_swish(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  %three = gpuc.constant dense<3.0> : tensor<f32>
  %zero = gpuc.constant dense<0.0> : tensor<f32>
  %six = gpuc.constant dense<6.0> : tensor<f32>
  %0 = gpuc.binary add %x, %three : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %1 = gpuc.binary max %0, %zero : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %2 = gpuc.binary min %1, %six : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %3 = gpuc.binary mul %x, %2 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %4 = gpuc.binary div %3, %six : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %5 = gpuc.unary hard_sigmoid %x {alpha = 0.16666667, beta = 0.5} : tensor<3x5xf32> -> tensor<3x5xf32>
  %6 = gpuc.binary mul %x, %5 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  return %4, %6 : tensor<3x5xf32>, tensor<3x5xf32>
}

// ONNX's default hard_sigmoid has another slope; a clip at 5 is no hard-swish.
// CHECK-LABEL: func.func @hard_swish_refused
// CHECK-NOT: hard_swish
// CHECK: return
func.func @hard_swish_refused(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  %three = gpuc.constant dense<3.0> : tensor<f32>
  %zero = gpuc.constant dense<0.0> : tensor<f32>
  %five = gpuc.constant dense<5.0> : tensor<f32>
  %six = gpuc.constant dense<6.0> : tensor<f32>
  %0 = gpuc.binary add %x, %three : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %1 = gpuc.binary max %0, %zero : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %2 = gpuc.binary min %1, %five : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %3 = gpuc.binary mul %x, %2 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %4 = gpuc.binary div %3, %six : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %5 = gpuc.unary hard_sigmoid %x {alpha = 0.2, beta = 0.5} : tensor<3x5xf32> -> tensor<3x5xf32>
  %6 = gpuc.binary mul %x, %5 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  return %4, %6 : tensor<3x5xf32>, tensor<3x5xf32>
}

// CHECK-LABEL: func.func @mish_from_exp
// CHECK: %[[Y:.*]] = gpuc.unary mish %{{.*}}
// CHECK: return %[[Y]]
func.func @mish_from_exp(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %one = gpuc.constant dense<1.0> : tensor<f32>
  %0 = gpuc.unary exp %x : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = gpuc.binary add %0, %one : tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %2 = gpuc.unary log %1 : tensor<3x5xf32> -> tensor<3x5xf32>
  %3 = gpuc.unary tanh %2 : tensor<3x5xf32> -> tensor<3x5xf32>
  %4 = gpuc.binary mul %3, %x : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
  return %4 : tensor<3x5xf32>
}

// log(1 + exp x) is a softplus; log(2 + exp x) is not.
// CHECK-LABEL: func.func @softplus
// CHECK: %[[A:.*]] = gpuc.unary softplus
// CHECK: %[[B:.*]] = gpuc.unary log
// CHECK: return %[[A]], %[[B]]
func.func @softplus(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
  %one = gpuc.constant dense<1.0> : tensor<f32>
  %two = gpuc.constant dense<2.0> : tensor<f32>
  %0 = gpuc.unary exp %x : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = gpuc.binary add %one, %0 : tensor<f32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %2 = gpuc.unary log %1 : tensor<3x5xf32> -> tensor<3x5xf32>
  %3 = gpuc.binary add %two, %0 : tensor<f32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %4 = gpuc.unary log %3 : tensor<3x5xf32> -> tensor<3x5xf32>
  return %2, %4 : tensor<3x5xf32>, tensor<3x5xf32>
}

// CHECK-LABEL: func.func @rsqrt
// CHECK: %[[A:.*]] = gpuc.unary rsqrt
// CHECK: %[[B:.*]] = gpuc.unary rsqrt
// CHECK: %[[C:.*]] = gpuc.binary div
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @rsqrt(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) {
  %one = gpuc.constant dense<1.0> : tensor<f32>
  %two = gpuc.constant dense<2.0> : tensor<f32>
  %0 = gpuc.unary sqrt %x : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = gpuc.unary reciprocal %0 : tensor<3x5xf32> -> tensor<3x5xf32>
  %2 = gpuc.binary div %one, %0 : tensor<f32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %3 = gpuc.binary div %two, %0 : tensor<f32>, tensor<3x5xf32> -> tensor<3x5xf32>
  return %1, %2, %3 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
}

// RUN: gpuc-opt %s --gpuc-recognize-normalization | FileCheck %s

// torch: (x - mean) / sqrt(mean((x - mean)^2) + eps) * scale + bias.
// CHECK-LABEL: func.func @layer_norm_torch
// CHECK-SAME: (%[[X:.*]]: tensor<3x5x7xf32>, %[[G:.*]]: tensor<7xf32>, %[[B:.*]]: tensor<1x1x7xf32>)
// CHECK: %[[R:.*]] = gpuc.reshape %[[B]] : tensor<1x1x7xf32> -> tensor<7xf32>
// CHECK: %[[Y:.*]] = gpuc.layer_norm %[[X]] scale %[[G]] bias %[[R]] {axis = 2 : i64, epsilon = 9.9999997{{.*}}E-6 : f64}
// CHECK-NEXT: return %[[Y]]
func.func @layer_norm_torch(%x: tensor<3x5x7xf32>, %g: tensor<7xf32>, %b: tensor<1x1x7xf32>) -> tensor<3x5x7xf32> {
  %two = gpuc.constant dense<2.0> : tensor<f32>
  %eps = gpuc.constant dense<1.0e-5> : tensor<f32>
  %0 = gpuc.reduce mean %x {axes = array<i64: 2>, keepdims = true} : tensor<3x5x7xf32> -> tensor<3x5x1xf32>
  %1 = gpuc.binary sub %x, %0 : tensor<3x5x7xf32>, tensor<3x5x1xf32> -> tensor<3x5x7xf32>
  %2 = gpuc.binary pow %1, %two : tensor<3x5x7xf32>, tensor<f32> -> tensor<3x5x7xf32>
  %3 = gpuc.reduce mean %2 {axes = array<i64: 2>, keepdims = true} : tensor<3x5x7xf32> -> tensor<3x5x1xf32>
  %4 = gpuc.binary add %3, %eps : tensor<3x5x1xf32>, tensor<f32> -> tensor<3x5x1xf32>
  %5 = gpuc.unary sqrt %4 : tensor<3x5x1xf32> -> tensor<3x5x1xf32>
  %6 = gpuc.binary div %1, %5 : tensor<3x5x7xf32>, tensor<3x5x1xf32> -> tensor<3x5x7xf32>
  %7 = gpuc.binary mul %6, %g : tensor<3x5x7xf32>, tensor<7xf32> -> tensor<3x5x7xf32>
  %8 = gpuc.binary add %7, %b : tensor<3x5x7xf32>, tensor<1x1x7xf32> -> tensor<3x5x7xf32>
  return %8 : tensor<3x5x7xf32>
}

// Two trailing axes, a difference of its own for the square, rsqrt; the scale varies along both axes.
// CHECK-LABEL: func.func @layer_norm_two_axes
// CHECK: gpuc.layer_norm %{{.*}} scale %{{.*}} {axis = 1 : i64
// CHECK-NOT: gpuc.binary
func.func @layer_norm_two_axes(%x: tensor<3x5x7xf32>, %g: tensor<5x7xf32>) -> tensor<3x5x7xf32> {
  %eps = gpuc.constant dense<1.0e-3> : tensor<1xf32>
  %0 = gpuc.reduce mean %x {axes = array<i64: 1, 2>, keepdims = true} : tensor<3x5x7xf32> -> tensor<3x1x1xf32>
  %1 = gpuc.binary sub %x, %0 : tensor<3x5x7xf32>, tensor<3x1x1xf32> -> tensor<3x5x7xf32>
  %2 = gpuc.binary sub %x, %0 : tensor<3x5x7xf32>, tensor<3x1x1xf32> -> tensor<3x5x7xf32>
  %3 = gpuc.binary mul %1, %1 : tensor<3x5x7xf32>, tensor<3x5x7xf32> -> tensor<3x5x7xf32>
  %4 = gpuc.reduce mean %3 {axes = array<i64: 1, 2>, keepdims = true} : tensor<3x5x7xf32> -> tensor<3x1x1xf32>
  %5 = gpuc.binary add %eps, %4 : tensor<1xf32>, tensor<3x1x1xf32> -> tensor<3x1x1xf32>
  %6 = gpuc.unary rsqrt %5 : tensor<3x1x1xf32> -> tensor<3x1x1xf32>
  %7 = gpuc.binary mul %6, %2 : tensor<3x1x1xf32>, tensor<3x5x7xf32> -> tensor<3x5x7xf32>
  %8 = gpuc.binary mul %g, %7 : tensor<5x7xf32>, tensor<3x5x7xf32> -> tensor<3x5x7xf32>
  return %8 : tensor<3x5x7xf32>
}

// Keras: x * s + (beta - mean * s), s = rsqrt(var + eps) * gamma.
// CHECK-LABEL: func.func @layer_norm_keras
// CHECK-SAME: (%[[X:.*]]: tensor<3x7xf32>, %[[G:.*]]: tensor<7xf32>, %[[B:.*]]: tensor<7xf32>)
// CHECK: %[[Y:.*]] = gpuc.layer_norm %[[X]] scale %[[G]] bias %[[B]] {axis = 1 : i64
// CHECK-NEXT: return %[[Y]]
func.func @layer_norm_keras(%x: tensor<3x7xf32>, %g: tensor<7xf32>, %b: tensor<7xf32>) -> tensor<3x7xf32> {
  %eps = gpuc.constant dense<1.0e-3> : tensor<f32>
  %0 = gpuc.reduce mean %x {axes = array<i64: 1>, keepdims = true} : tensor<3x7xf32> -> tensor<3x1xf32>
  %1 = gpuc.binary sub %x, %0 : tensor<3x7xf32>, tensor<3x1xf32> -> tensor<3x7xf32>
  %2 = gpuc.binary mul %1, %1 : tensor<3x7xf32>, tensor<3x7xf32> -> tensor<3x7xf32>
  %3 = gpuc.reduce mean %2 {axes = array<i64: 1>, keepdims = true} : tensor<3x7xf32> -> tensor<3x1xf32>
  %4 = gpuc.binary add %3, %eps : tensor<3x1xf32>, tensor<f32> -> tensor<3x1xf32>
  %5 = gpuc.unary rsqrt %4 : tensor<3x1xf32> -> tensor<3x1xf32>
  %6 = gpuc.binary mul %5, %g : tensor<3x1xf32>, tensor<7xf32> -> tensor<3x7xf32>
  %7 = gpuc.binary mul %x, %6 : tensor<3x7xf32>, tensor<3x7xf32> -> tensor<3x7xf32>
  %8 = gpuc.binary mul %0, %6 : tensor<3x1xf32>, tensor<3x7xf32> -> tensor<3x7xf32>
  %9 = gpuc.binary sub %b, %8 : tensor<7xf32>, tensor<3x7xf32> -> tensor<3x7xf32>
  %10 = gpuc.binary add %7, %9 : tensor<3x7xf32>, tensor<3x7xf32> -> tensor<3x7xf32>
  return %10 : tensor<3x7xf32>
}

// jax: max(0, E[x^2] - E[x]^2) from scaled sums without kept axes, over a middle axis. Transposes carry the axis to the end and back.
// CHECK-LABEL: func.func @layer_norm_jax
// CHECK-SAME: (%[[X:.*]]: tensor<3x5x7xf32>)
// CHECK: %[[T:.*]] = gpuc.transpose %[[X]] {perm = array<i64: 0, 2, 1>}
// CHECK: %[[N:.*]] = gpuc.layer_norm %[[T]] scale %{{.*}} bias %{{.*}} {axis = 2 : i64{{.*}}: tensor<3x7x5xf32>, tensor<5xf32>, tensor<5xf32>
// CHECK: %[[Y:.*]] = gpuc.transpose %[[N]] {perm = array<i64: 0, 2, 1>}
// CHECK-NEXT: return %[[Y]]
func.func @layer_norm_jax(%x: tensor<3x5x7xf32>) -> tensor<3x5x7xf32> {
  %n = gpuc.constant dense<0.2> : tensor<f32>
  %zero = gpuc.constant dense<0.0> : tensor<f32>
  %eps = gpuc.constant dense<1.0e-6> : tensor<f32>
  %gamma = gpuc.constant dense<[[[1.0], [2.0], [3.0], [4.0], [5.0]]]> : tensor<1x5x1xf32>
  %beta = gpuc.constant dense<[[[1.0], [2.0], [3.0], [4.0], [6.0]]]> : tensor<1x5x1xf32>
  %0 = gpuc.reduce sum %x {axes = array<i64: 1>, keepdims = false} : tensor<3x5x7xf32> -> tensor<3x7xf32>
  %mean = gpuc.binary mul %0, %n : tensor<3x7xf32>, tensor<f32> -> tensor<3x7xf32>
  %1 = gpuc.binary mul %x, %x : tensor<3x5x7xf32>, tensor<3x5x7xf32> -> tensor<3x5x7xf32>
  %2 = gpuc.reduce sum %1 {axes = array<i64: 1>, keepdims = false} : tensor<3x5x7xf32> -> tensor<3x7xf32>
  %mean2 = gpuc.binary mul %2, %n : tensor<3x7xf32>, tensor<f32> -> tensor<3x7xf32>
  %3 = gpuc.binary mul %mean, %mean : tensor<3x7xf32>, tensor<3x7xf32> -> tensor<3x7xf32>
  %4 = gpuc.binary sub %mean2, %3 : tensor<3x7xf32>, tensor<3x7xf32> -> tensor<3x7xf32>
  %var = gpuc.binary max %zero, %4 : tensor<f32>, tensor<3x7xf32> -> tensor<3x7xf32>
  %5 = gpuc.reshape %mean : tensor<3x7xf32> -> tensor<3x1x7xf32>
  %6 = gpuc.reshape %var : tensor<3x7xf32> -> tensor<3x1x7xf32>
  %7 = gpuc.binary sub %x, %5 : tensor<3x5x7xf32>, tensor<3x1x7xf32> -> tensor<3x5x7xf32>
  %8 = gpuc.binary add %6, %eps : tensor<3x1x7xf32>, tensor<f32> -> tensor<3x1x7xf32>
  %9 = gpuc.unary rsqrt %8 : tensor<3x1x7xf32> -> tensor<3x1x7xf32>
  %10 = gpuc.binary mul %9, %gamma : tensor<3x1x7xf32>, tensor<1x5x1xf32> -> tensor<3x5x7xf32>
  %11 = gpuc.binary mul %7, %10 : tensor<3x5x7xf32>, tensor<3x5x7xf32> -> tensor<3x5x7xf32>
  %12 = gpuc.binary add %11, %beta : tensor<3x5x7xf32>, tensor<1x5x1xf32> -> tensor<3x5x7xf32>
  return %12 : tensor<3x5x7xf32>
}

// The variance of another axis (which is an RMS norm of the difference), of another value, a mean that is no mean (sum times 0.3), an epsilon that is no constant.
// CHECK-LABEL: func.func @layer_norm_refused
// CHECK-NOT: gpuc.layer_norm
// CHECK: return
func.func @layer_norm_refused(%x: tensor<5x5xf32>, %y: tensor<5x5xf32>, %e: tensor<f32>)
    -> (tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>) {
  %eps = gpuc.constant dense<1.0e-3> : tensor<f32>
  %third = gpuc.constant dense<0.3> : tensor<f32>
  %0 = gpuc.reduce mean %x {axes = array<i64: 1>, keepdims = true} : tensor<5x5xf32> -> tensor<5x1xf32>
  %1 = gpuc.binary sub %x, %0 : tensor<5x5xf32>, tensor<5x1xf32> -> tensor<5x5xf32>
  %2 = gpuc.binary mul %1, %1 : tensor<5x5xf32>, tensor<5x5xf32> -> tensor<5x5xf32>
  %3 = gpuc.reduce mean %2 {axes = array<i64: 0>, keepdims = true} : tensor<5x5xf32> -> tensor<1x5xf32>
  %4 = gpuc.binary add %3, %eps : tensor<1x5xf32>, tensor<f32> -> tensor<1x5xf32>
  %5 = gpuc.unary sqrt %4 : tensor<1x5xf32> -> tensor<1x5xf32>
  %axis = gpuc.binary div %1, %5 : tensor<5x5xf32>, tensor<1x5xf32> -> tensor<5x5xf32>
  %6 = gpuc.binary mul %y, %y : tensor<5x5xf32>, tensor<5x5xf32> -> tensor<5x5xf32>
  %7 = gpuc.reduce mean %6 {axes = array<i64: 1>, keepdims = true} : tensor<5x5xf32> -> tensor<5x1xf32>
  %8 = gpuc.binary add %7, %eps : tensor<5x1xf32>, tensor<f32> -> tensor<5x1xf32>
  %9 = gpuc.unary sqrt %8 : tensor<5x1xf32> -> tensor<5x1xf32>
  %value = gpuc.binary div %1, %9 : tensor<5x5xf32>, tensor<5x1xf32> -> tensor<5x5xf32>
  %10 = gpuc.reduce sum %2 {axes = array<i64: 1>, keepdims = true} : tensor<5x5xf32> -> tensor<5x1xf32>
  %11 = gpuc.binary mul %10, %third : tensor<5x1xf32>, tensor<f32> -> tensor<5x1xf32>
  %12 = gpuc.binary add %11, %eps : tensor<5x1xf32>, tensor<f32> -> tensor<5x1xf32>
  %13 = gpuc.unary sqrt %12 : tensor<5x1xf32> -> tensor<5x1xf32>
  %sum = gpuc.binary div %1, %13 : tensor<5x5xf32>, tensor<5x1xf32> -> tensor<5x5xf32>
  %14 = gpuc.reduce mean %2 {axes = array<i64: 1>, keepdims = true} : tensor<5x5xf32> -> tensor<5x1xf32>
  %15 = gpuc.binary add %14, %e : tensor<5x1xf32>, tensor<f32> -> tensor<5x1xf32>
  %16 = gpuc.unary sqrt %15 : tensor<5x1xf32> -> tensor<5x1xf32>
  %epsilon = gpuc.binary div %1, %16 : tensor<5x5xf32>, tensor<5x1xf32> -> tensor<5x5xf32>
  return %axis, %value, %sum, %epsilon : tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>
}

// Leading and trailing axes together are no norm of the kernel family.
// CHECK-LABEL: func.func @layer_norm_scattered_axes
// CHECK-NOT: gpuc.layer_norm
// CHECK: return
func.func @layer_norm_scattered_axes(%x: tensor<3x5x7xf32>) -> tensor<3x5x7xf32> {
  %eps = gpuc.constant dense<1.0e-3> : tensor<f32>
  %0 = gpuc.reduce mean %x {axes = array<i64: 0, 2>, keepdims = true} : tensor<3x5x7xf32> -> tensor<1x5x1xf32>
  %1 = gpuc.binary sub %x, %0 : tensor<3x5x7xf32>, tensor<1x5x1xf32> -> tensor<3x5x7xf32>
  %2 = gpuc.binary mul %1, %1 : tensor<3x5x7xf32>, tensor<3x5x7xf32> -> tensor<3x5x7xf32>
  %3 = gpuc.reduce mean %2 {axes = array<i64: 0, 2>, keepdims = true} : tensor<3x5x7xf32> -> tensor<1x5x1xf32>
  %4 = gpuc.binary add %3, %eps : tensor<1x5x1xf32>, tensor<f32> -> tensor<1x5x1xf32>
  %5 = gpuc.unary rsqrt %4 : tensor<1x5x1xf32> -> tensor<1x5x1xf32>
  %6 = gpuc.binary mul %1, %5 : tensor<3x5x7xf32>, tensor<1x5x1xf32> -> tensor<3x5x7xf32>
  return %6 : tensor<3x5x7xf32>
}

// CHECK-LABEL: func.func @rms_norm
// CHECK-SAME: (%[[X:.*]]: tensor<3x7xf16>, %[[G:.*]]: tensor<7xf16>)
// CHECK: %[[Y:.*]] = gpuc.rms_norm %[[X]] scale %[[G]] {axis = 1 : i64
// CHECK-NEXT: return %[[Y]]
func.func @rms_norm(%x: tensor<3x7xf16>, %g: tensor<7xf16>) -> tensor<3x7xf16> {
  %two = gpuc.constant dense<2> : tensor<i64>
  %eps = gpuc.constant dense<1.0e-3> : tensor<f16>
  %0 = gpuc.binary pow %x, %two : tensor<3x7xf16>, tensor<i64> -> tensor<3x7xf16>
  %1 = gpuc.reduce mean %0 {axes = array<i64: 1>, keepdims = true} : tensor<3x7xf16> -> tensor<3x1xf16>
  %2 = gpuc.binary add %1, %eps : tensor<3x1xf16>, tensor<f16> -> tensor<3x1xf16>
  %3 = gpuc.unary rsqrt %2 : tensor<3x1xf16> -> tensor<3x1xf16>
  %4 = gpuc.binary mul %x, %3 : tensor<3x7xf16>, tensor<3x1xf16> -> tensor<3x7xf16>
  %5 = gpuc.binary mul %g, %4 : tensor<7xf16>, tensor<3x7xf16> -> tensor<3x7xf16>
  return %5 : tensor<3x7xf16>
}

// A column scale (3x1 of the square size's other axis), a second reader of the norm, and a scale after the bias are no parameters.
// CHECK-LABEL: func.func @absorb_refused
// CHECK: %[[A:.*]] = gpuc.layer_norm %{{.*}} {axis = 1 : i64, epsilon = 1.000000e-05 : f64} : tensor<7x7xf32> -> tensor<7x7xf32>
// CHECK: gpuc.binary mul %[[A]]
// CHECK: %[[B:.*]] = gpuc.layer_norm %{{.*}} {axis = 1 : i64, epsilon = 1.000000e-04 : f64} : tensor<7x7xf32> -> tensor<7x7xf32>
// CHECK: gpuc.binary mul %[[B]]
// CHECK: %[[C:.*]] = gpuc.layer_norm %{{.*}} bias %{{.*}} {axis = 1 : i64, epsilon = 1.000000e-03 : f64}
// CHECK: gpuc.binary mul %[[C]]
// CHECK: %[[D:.*]] = gpuc.rms_norm %{{.*}}
// CHECK: gpuc.binary add %[[D]]
func.func @absorb_refused(%x: tensor<7x7xf32>, %column: tensor<7x1xf32>, %row: tensor<7xf32>)
    -> (tensor<7x7xf32>, tensor<7x7xf32>, tensor<7x7xf32>, tensor<7x7xf32>, tensor<7x7xf32>) {
  %0 = gpuc.layer_norm %x {axis = 1 : i64, epsilon = 1.0e-5} : tensor<7x7xf32> -> tensor<7x7xf32>
  %1 = gpuc.binary mul %0, %column : tensor<7x7xf32>, tensor<7x1xf32> -> tensor<7x7xf32>
  %2 = gpuc.layer_norm %x {axis = 1 : i64, epsilon = 1.0e-4} : tensor<7x7xf32> -> tensor<7x7xf32>
  %3 = gpuc.binary mul %2, %row : tensor<7x7xf32>, tensor<7xf32> -> tensor<7x7xf32>
  %4 = gpuc.layer_norm %x {axis = 1 : i64, epsilon = 1.0e-3} : tensor<7x7xf32> -> tensor<7x7xf32>
  %5 = gpuc.binary add %4, %row : tensor<7x7xf32>, tensor<7xf32> -> tensor<7x7xf32>
  %6 = gpuc.binary mul %5, %row : tensor<7x7xf32>, tensor<7xf32> -> tensor<7x7xf32>
  %7 = gpuc.rms_norm %x {axis = 1 : i64, epsilon = 1.0e-3} : tensor<7x7xf32> -> tensor<7x7xf32>
  %8 = gpuc.binary add %7, %row : tensor<7x7xf32>, tensor<7xf32> -> tensor<7x7xf32>
  return %1, %2, %3, %6, %8 : tensor<7x7xf32>, tensor<7x7xf32>, tensor<7x7xf32>, tensor<7x7xf32>, tensor<7x7xf32>
}

// Softmax along a middle axis, as a quotient and with a reciprocal; jax bounds the maximum below by -inf.
// CHECK-LABEL: func.func @softmax
// CHECK-SAME: (%[[X:.*]]: tensor<3x5x7xf32>)
// CHECK: %[[A:.*]] = gpuc.softmax %[[X]] {axis = 1 : i64}
// CHECK: %[[B:.*]] = gpuc.softmax %[[X]] {axis = 1 : i64}
// CHECK: return %[[A]], %[[B]]
func.func @softmax(%x: tensor<3x5x7xf32>) -> (tensor<3x5x7xf32>, tensor<3x5x7xf32>) {
  %inf = gpuc.constant dense<0xFF800000> : tensor<f32>
  %0 = gpuc.reduce max %x {axes = array<i64: 1>, keepdims = false} : tensor<3x5x7xf32> -> tensor<3x7xf32>
  %1 = gpuc.binary max %inf, %0 : tensor<f32>, tensor<3x7xf32> -> tensor<3x7xf32>
  %2 = gpuc.reshape %1 : tensor<3x7xf32> -> tensor<3x1x7xf32>
  %3 = gpuc.binary sub %x, %2 : tensor<3x5x7xf32>, tensor<3x1x7xf32> -> tensor<3x5x7xf32>
  %4 = gpuc.unary exp %3 : tensor<3x5x7xf32> -> tensor<3x5x7xf32>
  %5 = gpuc.reduce sum %4 {axes = array<i64: 1>, keepdims = false} : tensor<3x5x7xf32> -> tensor<3x7xf32>
  %6 = gpuc.reshape %5 : tensor<3x7xf32> -> tensor<3x1x7xf32>
  %7 = gpuc.binary div %4, %6 : tensor<3x5x7xf32>, tensor<3x1x7xf32> -> tensor<3x5x7xf32>
  %8 = gpuc.unary reciprocal %6 : tensor<3x1x7xf32> -> tensor<3x1x7xf32>
  %9 = gpuc.binary mul %8, %4 : tensor<3x1x7xf32>, tensor<3x5x7xf32> -> tensor<3x5x7xf32>
  return %7, %9 : tensor<3x5x7xf32>, tensor<3x5x7xf32>
}

// The maximum of another axis, of another value, and exponentials over somebody else's sum.
// CHECK-LABEL: func.func @softmax_refused
// CHECK-NOT: gpuc.softmax
// CHECK: return
func.func @softmax_refused(%x: tensor<5x5xf32>, %y: tensor<5x5xf32>) -> (tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>) {
  %0 = gpuc.reduce max %x {axes = array<i64: 0>, keepdims = true} : tensor<5x5xf32> -> tensor<1x5xf32>
  %1 = gpuc.binary sub %x, %0 : tensor<5x5xf32>, tensor<1x5xf32> -> tensor<5x5xf32>
  %2 = gpuc.unary exp %1 : tensor<5x5xf32> -> tensor<5x5xf32>
  %3 = gpuc.reduce sum %2 {axes = array<i64: 1>, keepdims = true} : tensor<5x5xf32> -> tensor<5x1xf32>
  %4 = gpuc.binary div %2, %3 : tensor<5x5xf32>, tensor<5x1xf32> -> tensor<5x5xf32>
  %5 = gpuc.reduce max %y {axes = array<i64: 1>, keepdims = true} : tensor<5x5xf32> -> tensor<5x1xf32>
  %6 = gpuc.binary sub %x, %5 : tensor<5x5xf32>, tensor<5x1xf32> -> tensor<5x5xf32>
  %7 = gpuc.unary exp %6 : tensor<5x5xf32> -> tensor<5x5xf32>
  %8 = gpuc.reduce sum %7 {axes = array<i64: 1>, keepdims = true} : tensor<5x5xf32> -> tensor<5x1xf32>
  %9 = gpuc.binary div %7, %8 : tensor<5x5xf32>, tensor<5x1xf32> -> tensor<5x5xf32>
  %10 = gpuc.binary div %7, %3 : tensor<5x5xf32>, tensor<5x1xf32> -> tensor<5x5xf32>
  return %4, %9, %10 : tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>
}

// CHECK-LABEL: func.func @safe_softmax
// CHECK: %[[Y:.*]] = gpuc.softmax %{{.*}} {axis = 1 : i64, zeroMasked = true}
// CHECK: return %[[Y]]
func.func @safe_softmax(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
  %zero = gpuc.constant dense<0.0> : tensor<f32>
  %0 = gpuc.softmax %x {axis = 1 : i64} : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = gpuc.unary is_nan %0 : tensor<3x5xf32> -> tensor<3x5xi1>
  %2 = gpuc.select %1, %zero, %0 : tensor<3x5xi1>, tensor<f32>, tensor<3x5xf32> -> tensor<3x5xf32>
  return %2 : tensor<3x5xf32>
}

// Another filler than 0, NaN tests of another value, a log softmax.
// CHECK-LABEL: func.func @safe_softmax_refused
// CHECK-NOT: zeroMasked
// CHECK: return
func.func @safe_softmax_refused(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>) {
  %zero = gpuc.constant dense<0.0> : tensor<f32>
  %one = gpuc.constant dense<1.0> : tensor<f32>
  %0 = gpuc.softmax %x {axis = 1 : i64} : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = gpuc.unary is_nan %0 : tensor<3x5xf32> -> tensor<3x5xi1>
  %2 = gpuc.select %1, %one, %0 : tensor<3x5xi1>, tensor<f32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %3 = gpuc.unary is_nan %x : tensor<3x5xf32> -> tensor<3x5xi1>
  %4 = gpuc.select %3, %zero, %0 : tensor<3x5xi1>, tensor<f32>, tensor<3x5xf32> -> tensor<3x5xf32>
  %5 = gpuc.softmax %x {axis = 1 : i64, log = true} : tensor<3x5xf32> -> tensor<3x5xf32>
  %6 = gpuc.unary is_nan %5 : tensor<3x5xf32> -> tensor<3x5xi1>
  %7 = gpuc.select %6, %zero, %5 : tensor<3x5xi1>, tensor<f32>, tensor<3x5xf32> -> tensor<3x5xf32>
  return %2, %4, %7 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<3x5xf32>
}

// A reduction with kept and without kept axes is one reduction.
// CHECK-LABEL: func.func @keep_reduced_axes
// CHECK: %[[R:.*]] = gpuc.reduce sum %{{.*}} {axes = array<i64: 1>, keepdims = true}
// CHECK: %[[F:.*]] = gpuc.reshape %[[R]] : tensor<3x1x7xf32> -> tensor<3x7xf32>
// CHECK-NOT: gpuc.reduce
// CHECK: return %[[R]], %[[F]]
func.func @keep_reduced_axes(%x: tensor<3x5x7xf32>) -> (tensor<3x1x7xf32>, tensor<3x7xf32>) {
  %0 = gpuc.reduce sum %x {axes = array<i64: 1>, keepdims = false} : tensor<3x5x7xf32> -> tensor<3x7xf32>
  %1 = gpuc.reshape %0 : tensor<3x7xf32> -> tensor<3x1x7xf32>
  return %1, %0 : tensor<3x1x7xf32>, tensor<3x7xf32>
}

// A reshape that puts the axis elsewhere.
// CHECK-LABEL: func.func @keep_reduced_axes_refused
// CHECK: keepdims = false
// CHECK: gpuc.reshape
func.func @keep_reduced_axes_refused(%x: tensor<3x5x7xf32>) -> tensor<1x3x7xf32> {
  %0 = gpuc.reduce sum %x {axes = array<i64: 1>, keepdims = false} : tensor<3x5x7xf32> -> tensor<3x7xf32>
  %1 = gpuc.reshape %0 : tensor<3x7xf32> -> tensor<1x3x7xf32>
  return %1 : tensor<1x3x7xf32>
}

// sum / n and sum * (1/n) over several axes; an integer sum stays.
// CHECK-LABEL: func.func @mean_from_sum
// CHECK: %[[A:.*]] = gpuc.reduce mean
// CHECK: %[[B:.*]] = gpuc.reduce sum
// CHECK: gpuc.binary div
// CHECK: return %[[A]]
func.func @mean_from_sum(%x: tensor<3x5x7xf32>, %i: tensor<3x5x7xi32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %n = gpuc.constant dense<35.0> : tensor<f32>
  %m = gpuc.constant dense<35> : tensor<i32>
  %0 = gpuc.reduce sum %x {axes = array<i64: 1, 2>, keepdims = false} : tensor<3x5x7xf32> -> tensor<3xf32>
  %1 = gpuc.binary div %0, %n : tensor<3xf32>, tensor<f32> -> tensor<3xf32>
  %2 = gpuc.reduce sum %i {axes = array<i64: 1, 2>, keepdims = false} : tensor<3x5x7xi32> -> tensor<3xi32>
  %3 = gpuc.binary div %2, %m : tensor<3xi32>, tensor<i32> -> tensor<3xi32>
  return %1, %3 : tensor<3xf32>, tensor<3xi32>
}

// max(x, -inf) is x, NaN included; max(x, +inf) and max with the lowest finite number are not.
// CHECK-LABEL: func.func @infinite_bounds
// CHECK-SAME: (%[[X:.*]]: tensor<3xf32>)
// CHECK: %[[A:.*]] = gpuc.binary max
// CHECK: %[[B:.*]] = gpuc.binary max
// CHECK: return %[[X]], %[[X]], %[[A]], %[[B]]
func.func @infinite_bounds(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %low = gpuc.constant dense<0xFF800000> : tensor<f32>
  %high = gpuc.constant dense<0x7F800000> : tensor<f32>
  %lowest = gpuc.constant dense<-3.40282347E+38> : tensor<f32>
  %0 = gpuc.binary max %low, %x : tensor<f32>, tensor<3xf32> -> tensor<3xf32>
  %1 = gpuc.binary min %x, %high : tensor<3xf32>, tensor<f32> -> tensor<3xf32>
  %2 = gpuc.binary max %x, %high : tensor<3xf32>, tensor<f32> -> tensor<3xf32>
  %3 = gpuc.binary max %x, %lowest : tensor<3xf32>, tensor<f32> -> tensor<3xf32>
  return %0, %1, %2, %3 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

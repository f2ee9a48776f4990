// RUN: gpuc-opt %s | gpuc-opt | FileCheck %s
// RUN: gpuc-opt %s --mlir-print-op-generic | gpuc-opt | FileCheck %s

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<3x5xf32>, %b: tensor<3x5xi1>, %i: tensor<7xui8>) -> tensor<3x5xf32> {
  // CHECK: gpuc.unary leaky_relu %{{.*}} {alpha = 1.000000e-01 : f64} : tensor<3x5xf32> -> tensor<3x5xf32>
  %0 = gpuc.unary leaky_relu %x {alpha = 0.1} : tensor<3x5xf32> -> tensor<3x5xf32>
  // CHECK: gpuc.unary is_inf %{{.*}} {beta = 1.000000e+00 : f64} : tensor<3x5xf32> -> tensor<3x5xi1>
  %1 = gpuc.unary is_inf %0 {beta = 1.0} : tensor<3x5xf32> -> tensor<3x5xi1>
  // CHECK: gpuc.unary not %{{.*}} : tensor<3x5xi1> -> tensor<3x5xi1>
  %2 = gpuc.unary not %1 : tensor<3x5xi1> -> tensor<3x5xi1>
  // CHECK: gpuc.unary bit_not %{{.*}} : tensor<7xui8> -> tensor<7xui8>
  %3 = gpuc.unary bit_not %i : tensor<7xui8> -> tensor<7xui8>
  // CHECK: gpuc.unary gelu_tanh
  %4 = gpuc.unary gelu_tanh %0 : tensor<3x5xf32> -> tensor<3x5xf32>
  return %4 : tensor<3x5xf32>
}

// CHECK-LABEL: func.func @binary
func.func @binary(%x: tensor<3x5xf32>, %y: tensor<5xf32>, %i: tensor<3x1xi64>, %u: tensor<2x1x5xui16>) {
  // CHECK: gpuc.binary add %{{.*}}, %{{.*}} : tensor<3x5xf32>, tensor<5xf32> -> tensor<3x5xf32>
  %0 = gpuc.binary add %x, %y : tensor<3x5xf32>, tensor<5xf32> -> tensor<3x5xf32>
  // CHECK: gpuc.binary pow %{{.*}}, %{{.*}} : tensor<5xf32>, tensor<3x1xi64> -> tensor<3x5xf32>
  %1 = gpuc.binary pow %y, %i : tensor<5xf32>, tensor<3x1xi64> -> tensor<3x5xf32>
  // CHECK: gpuc.binary le %{{.*}}, %{{.*}} : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xi1>
  %2 = gpuc.binary le %0, %1 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xi1>
  // CHECK: gpuc.binary shl %{{.*}}, %{{.*}} : tensor<2x1x5xui16>, tensor<2x1x5xui16> -> tensor<2x1x5xui16>
  %3 = gpuc.binary shl %u, %u : tensor<2x1x5xui16>, tensor<2x1x5xui16> -> tensor<2x1x5xui16>
  // CHECK: gpuc.binary xor %{{.*}}, %{{.*}} : tensor<3x5xi1>, tensor<3x5xi1> -> tensor<3x5xi1>
  %4 = gpuc.binary xor %2, %2 : tensor<3x5xi1>, tensor<3x5xi1> -> tensor<3x5xi1>
  return
}

// CHECK-LABEL: func.func @select_cast
func.func @select_cast(%c: tensor<3x1xi1>, %x: tensor<3x5xf32>, %y: tensor<f32>, %q: tensor<8xi4>,
                       %f: tensor<4xf8E4M3FN>) {
  // CHECK: gpuc.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<3x1xi1>, tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  %0 = gpuc.select %c, %x, %y : tensor<3x1xi1>, tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
  // CHECK: gpuc.cast %{{.*}} : tensor<3x5xf32> -> tensor<3x5xi64>
  %1 = gpuc.cast %0 : tensor<3x5xf32> -> tensor<3x5xi64>
  // CHECK: gpuc.cast %{{.*}} : tensor<8xi4> -> tensor<8xbf16>
  %2 = gpuc.cast %q : tensor<8xi4> -> tensor<8xbf16>
  // CHECK: gpuc.cast %{{.*}} {saturate = false} : tensor<8xbf16> -> tensor<8xf8E5M2>
  %3 = gpuc.cast %2 {saturate = false} : tensor<8xbf16> -> tensor<8xf8E5M2>
  // CHECK: gpuc.cast %{{.*}} : tensor<4xf8E4M3FN> -> tensor<4xf16>
  %4 = gpuc.cast %f : tensor<4xf8E4M3FN> -> tensor<4xf16>
  return
}

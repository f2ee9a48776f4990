// RUN: gpuc-opt %s --gpuc-allow-tf32 | FileCheck %s

// f32 products are marked, others are not.
// CHECK-LABEL: func.func @f
// CHECK: gpuc.matmul %{{.*}} {tf32} : tensor<3x5xf32>
// CHECK: gpuc.matmul %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : tensor<3x5xf16>
// CHECK: gpuc.matmul %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : tensor<3x5xi32>
// CHECK: gpuc.matmul %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : tensor<3x5xf64>
// CHECK: gpuc.conv %{{.*}} tf32}
// CHECK: gpuc.conv_transpose %{{.*}} tf32}
// CHECK: gpuc.attention %{{.*}} tf32}
// CHECK-NOT: tf32
func.func @f(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>, %c: tensor<3x5xf16>, %d: tensor<5x7xf16>, %e: tensor<3x5xi32>, %f: tensor<5x7xi32>,
             %g: tensor<3x5xf64>, %h: tensor<5x7xf64>, %x: tensor<2x3x5xf32>, %w: tensor<7x3x3xf32>, %u: tensor<3x7x3xf32>, %q: tensor<2x3x5x7xf32>)
    -> (tensor<3x7xf32>, tensor<3x7xf16>, tensor<3x7xi32>, tensor<3x7xf64>, tensor<2x7x3xf32>, tensor<2x7x7xf32>, tensor<2x3x5x7xf32>, tensor<3x5xf32>) {
  %0 = gpuc.matmul %a, %b : tensor<3x5xf32>, tensor<5x7xf32> -> tensor<3x7xf32>
  %1 = gpuc.matmul %c, %d : tensor<3x5xf16>, tensor<5x7xf16> -> tensor<3x7xf16>
  %2 = gpuc.matmul %e, %f : tensor<3x5xi32>, tensor<5x7xi32> -> tensor<3x7xi32>
  %3 = gpuc.matmul %g, %h : tensor<3x5xf64>, tensor<5x7xf64> -> tensor<3x7xf64>
  %4 = gpuc.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x3x5xf32>, tensor<7x3x3xf32> -> tensor<2x7x3xf32>
  %5 = gpuc.conv_transpose %x, %u {strides = array<i64: 1>, low = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x3x5xf32>, tensor<3x7x3xf32> -> tensor<2x7x7xf32>
  %6 = gpuc.attention %q, %q, %q {scale = 1.0} : tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32>, tensor<2x3x5x7xf32> -> tensor<2x3x5x7xf32>
  %7 = gpuc.softmax %a {axis = 1 : i64} : tensor<3x5xf32> -> tensor<3x5xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<3x7xf32>, tensor<3x7xf16>, tensor<3x7xi32>, tensor<3x7xf64>, tensor<2x7x3xf32>, tensor<2x7x7xf32>, tensor<2x3x5x7xf32>, tensor<3x5xf32>
}

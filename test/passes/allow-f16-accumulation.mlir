// RUN: gpuc-opt %s --gpuc-allow-f16-accumulation | FileCheck %s

// f16 products and convolutions are marked, others are not.
// CHECK-LABEL: func.func @f
// CHECK: gpuc.matmul %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : tensor<3x5xf32>
// CHECK: gpuc.matmul %{{.*}} {f16_accumulate} : tensor<3x5xf16>
// CHECK: gpuc.matmul %{{[a-z0-9]*}}, %{{[a-z0-9]*}} : tensor<3x5xbf16>
// CHECK: gpuc.conv %{{.*}} f16_accumulate{{.*}}} : tensor<2x3x5xf16>
// CHECK-NOT: f16_accumulate
func.func @f(%a: tensor<3x5xf32>, %b: tensor<5x7xf32>, %c: tensor<3x5xf16>, %d: tensor<5x7xf16>, %e: tensor<3x5xbf16>, %f: tensor<5x7xbf16>,
             %x: tensor<2x3x5xf16>, %w: tensor<7x3x3xf16>, %q: tensor<2x3x5x7xf16>)
    -> (tensor<3x7xf32>, tensor<3x7xf16>, tensor<3x7xbf16>, tensor<2x7x3xf16>, tensor<2x3x5x7xf16>) {
  %0 = gpuc.matmul %a, %b : tensor<3x5xf32>, tensor<5x7xf32> -> tensor<3x7xf32>
  %1 = gpuc.matmul %c, %d : tensor<3x5xf16>, tensor<5x7xf16> -> tensor<3x7xf16>
  %2 = gpuc.matmul %e, %f : tensor<3x5xbf16>, tensor<5x7xbf16> -> tensor<3x7xbf16>
  %3 = gpuc.conv %x, %w {strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
    : tensor<2x3x5xf16>, tensor<7x3x3xf16> -> tensor<2x7x3xf16>
  %4 = gpuc.attention %q, %q, %q {scale = 1.0} : tensor<2x3x5x7xf16>, tensor<2x3x5x7xf16>, tensor<2x3x5x7xf16> -> tensor<2x3x5x7xf16>
  return %0, %1, %2, %3, %4 : tensor<3x7xf32>, tensor<3x7xf16>, tensor<3x7xbf16>, tensor<2x7x3xf16>, tensor<2x3x5x7xf16>
}

// RUN: gpuc-opt %s | gpuc-opt | FileCheck %s
// RUN: gpuc-opt %s --mlir-print-op-generic | gpuc-opt | FileCheck %s

// CHECK-LABEL: func.func @norms
func.func @norms(%x: tensor<3x5xf32>, %g: tensor<5xf32>, %b: tensor<5xf32>, %c: tensor<2x4x7xf16>, %d: tensor<4xf16>, %e: tensor<6x4x14xf16>) {
  // CHECK: gpuc.softmax %{{.*}} {axis = 1 : i64} : tensor<3x5xf32> -> tensor<3x5xf32>
  %0 = gpuc.softmax %x {axis = 1 : i64} : tensor<3x5xf32> -> tensor<3x5xf32>
  // CHECK: gpuc.softmax %{{.*}} {axis = 0 : i64, log = true, zeroMasked = true} : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = gpuc.softmax %x {axis = 0 : i64, log = true, zeroMasked = true} : tensor<3x5xf32> -> tensor<3x5xf32>
  // CHECK: gpuc.layer_norm %{{.*}} scale %{{.*}} bias %{{.*}} {axis = 1 : i64, epsilon = {{.*}} : f64} : tensor<3x5xf32>, tensor<5xf32>, tensor<5xf32> -> tensor<3x5xf32>
  %2 = gpuc.layer_norm %x scale %g bias %b {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x5xf32>, tensor<5xf32>, tensor<5xf32> -> tensor<3x5xf32>
  // CHECK: gpuc.layer_norm %{{.*}} bias %{{.*}} {axis = 0 : i64, epsilon = {{.*}} : f64} : tensor<3x5xf32>, tensor<5xf32> -> tensor<3x5xf32>
  %3 = gpuc.layer_norm %x bias %b {axis = 0 : i64, epsilon = 1.0e-5} : tensor<3x5xf32>, tensor<5xf32> -> tensor<3x5xf32>
  // CHECK: gpuc.layer_norm %{{.*}} {axis = 0 : i64, epsilon = {{.*}} : f64} : tensor<3x5xf32> -> tensor<3x5xf32>
  %4 = gpuc.layer_norm %x {axis = 0 : i64, epsilon = 1.0e-5} : tensor<3x5xf32> -> tensor<3x5xf32>
  // CHECK: gpuc.rms_norm %{{.*}} scale %{{.*}} {axis = 1 : i64, epsilon = {{.*}} : f64} : tensor<3x5xf32>, tensor<5xf32> -> tensor<3x5xf32>
  %5 = gpuc.rms_norm %x scale %g {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x5xf32>, tensor<5xf32> -> tensor<3x5xf32>
  // CHECK: gpuc.group_norm %{{.*}} scale %{{.*}} bias %{{.*}} {epsilon = {{.*}} : f64, groups = 2 : i64} : tensor<2x4x7xf16>, tensor<4xf16>, tensor<4xf16> -> tensor<2x4x7xf16>
  %6 = gpuc.group_norm %c scale %d bias %d {groups = 2 : i64, epsilon = 1.0e-5} : tensor<2x4x7xf16>, tensor<4xf16>, tensor<4xf16> -> tensor<2x4x7xf16>
  // CHECK: gpuc.group_norm %{{.*}} scale %{{.*}} {epsilon = {{.*}} : f64, groups = 4 : i64} : tensor<2x4x7xf16>, tensor<4xf16> -> tensor<2x4x7xf16>
  %7 = gpuc.group_norm %c scale %d {groups = 4 : i64, epsilon = 1.0e-5} : tensor<2x4x7xf16>, tensor<4xf16> -> tensor<2x4x7xf16>
  // CHECK: gpuc.lrn %{{.*}} {alpha = {{.*}} : f64, beta = 7.500000e-01 : f64, bias = 1.000000e+00 : f64, size = 3 : i64} : tensor<2x4x7xf16> -> tensor<2x4x7xf16>
  %8 = gpuc.lrn %c {size = 3 : i64, alpha = 1.0e-4, beta = 0.75, bias = 1.0} : tensor<2x4x7xf16> -> tensor<2x4x7xf16>
  // CHECK: %[[M:.*]] = gpuc.row_moments %{{.*}} {columns = 2 : i64} : tensor<6x4x14xf16> -> tensor<24x7x2xf32>
  %9 = gpuc.row_moments %e {columns = 2 : i64} : tensor<6x4x14xf16> -> tensor<24x7x2xf32>
  // CHECK: gpuc.row_statistics %[[M]] {centered = true, epsilon = {{.*}} : f64, extent = 14 : i64} : tensor<24x7x2xf32> -> tensor<24x1xf32>, tensor<24x1xf32>
  %10, %11 = gpuc.row_statistics %9 {extent = 14 : i64, epsilon = 1.0e-5, centered = true} : tensor<24x7x2xf32> -> tensor<24x1xf32>, tensor<24x1xf32>
  return
}

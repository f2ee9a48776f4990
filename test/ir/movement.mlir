// RUN: gpuc-opt %s | gpuc-opt | FileCheck %s
// RUN: gpuc-opt %s --mlir-print-op-generic | gpuc-opt | FileCheck %s

// CHECK-LABEL: func.func @views
func.func @views(%x: tensor<3x5xf32>, %v: tensor<5xui32>, %s: tensor<i1>) {
  // CHECK: gpuc.transpose %{{.*}} {perm = array<i64: 1, 0>} : tensor<3x5xf32> -> tensor<5x3xf32>
  %0 = gpuc.transpose %x {perm = array<i64: 1, 0>} : tensor<3x5xf32> -> tensor<5x3xf32>
  // CHECK: gpuc.transpose %{{.*}} {perm = array<i64>} : tensor<i1> -> tensor<i1>
  %1 = gpuc.transpose %s {perm = array<i64>} : tensor<i1> -> tensor<i1>
  // CHECK: gpuc.reshape %{{.*}} : tensor<5x3xf32> -> tensor<15x1xf32>
  %2 = gpuc.reshape %0 : tensor<5x3xf32> -> tensor<15x1xf32>
  // CHECK: gpuc.reshape %{{.*}} : tensor<i1> -> tensor<1x1xi1>
  %3 = gpuc.reshape %1 : tensor<i1> -> tensor<1x1xi1>
  // CHECK: gpuc.expand %{{.*}} : tensor<15x1xf32> -> tensor<2x15x4xf32>
  %4 = gpuc.expand %2 : tensor<15x1xf32> -> tensor<2x15x4xf32>
  // CHECK: gpuc.expand %{{.*}} : tensor<1x1xi1> -> tensor<0x1x1xi1>
  %5 = gpuc.expand %3 : tensor<1x1xi1> -> tensor<0x1x1xi1>
  // CHECK: gpuc.slice %{{.*}} {starts = array<i64: 4>, steps = array<i64: -2>} : tensor<5xui32> -> tensor<3xui32>
  %6 = gpuc.slice %v {starts = array<i64: 4>, steps = array<i64: -2>} : tensor<5xui32> -> tensor<3xui32>
  // An empty slice may start anywhere.
  // CHECK: gpuc.slice %{{.*}} {starts = array<i64: 9>, steps = array<i64: 1>} : tensor<5xui32> -> tensor<0xui32>
  %7 = gpuc.slice %v {starts = array<i64: 9>, steps = array<i64: 1>} : tensor<5xui32> -> tensor<0xui32>
  return
}

// CHECK-LABEL: func.func @copies
func.func @copies(%x: tensor<3x5xf32>, %y: tensor<2x5xf32>, %c: tensor<f32>) {
  // CHECK: gpuc.concat %{{.*}}, %{{.*}} {axis = 0 : i64} : (tensor<3x5xf32>, tensor<2x5xf32>) -> tensor<5x5xf32>
  %0 = gpuc.concat %x, %y {axis = 0 : i64} : (tensor<3x5xf32>, tensor<2x5xf32>) -> tensor<5x5xf32>
  // CHECK: gpuc.concat %{{.*}} {axis = 1 : i64, elided} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = gpuc.concat %x {axis = 1 : i64, elided} : (tensor<3x5xf32>) -> tensor<3x5xf32>
  // CHECK: gpuc.pad constant %{{.*}}, %{{.*}} {high = array<i64: 2, -1>, low = array<i64: -1, 0>} : tensor<3x5xf32>, tensor<f32> -> tensor<4x4xf32>
  %2 = gpuc.pad constant %x, %c {low = array<i64: -1, 0>, high = array<i64: 2, -1>} : tensor<3x5xf32>, tensor<f32> -> tensor<4x4xf32>
  // CHECK: gpuc.pad reflect %{{.*}} {high = array<i64: 2, 4>, low = array<i64: 0, 0>} : tensor<3x5xf32> -> tensor<5x9xf32>
  %3 = gpuc.pad reflect %x {low = array<i64: 0, 0>, high = array<i64: 2, 4>} : tensor<3x5xf32> -> tensor<5x9xf32>
  // CHECK: gpuc.pad wrap
  %4 = gpuc.pad wrap %x {low = array<i64: 7, 0>, high = array<i64: 0, 0>} : tensor<3x5xf32> -> tensor<10x5xf32>
  // CHECK: gpuc.pad edge
  %5 = gpuc.pad edge %x {low = array<i64: 1, 1>, high = array<i64: 1, 1>} : tensor<3x5xf32> -> tensor<5x7xf32>
  // CHECK: gpuc.tile %{{.*}} {repeats = array<i64: 2, 0>} : tensor<3x5xf32> -> tensor<6x0xf32>
  %6 = gpuc.tile %x {repeats = array<i64: 2, 0>} : tensor<3x5xf32> -> tensor<6x0xf32>
  // CHECK: gpuc.trilu %{{.*}} {k = -1 : i64, upper = false} : tensor<3x5xf32> -> tensor<3x5xf32>
  %7 = gpuc.trilu %x {k = -1 : i64, upper = false} : tensor<3x5xf32> -> tensor<3x5xf32>
  return
}

// CHECK-LABEL: func.func @resize
func.func @resize(%x: tensor<3x5xf32>) {
  // CHECK: gpuc.resize nearest %{{.*}} {coordinate = #gpuc<coordinate_mode asymmetric>, nearest = #gpuc<nearest_mode floor>, scales = array<f64: 1.000000e+00, 2.000000e+00>} : tensor<3x5xf32> -> tensor<3x10xf32>
  %0 = gpuc.resize nearest %x {coordinate = #gpuc<coordinate_mode asymmetric>, nearest = #gpuc<nearest_mode floor>,
    scales = array<f64: 1.0, 2.0>} : tensor<3x5xf32> -> tensor<3x10xf32>
  // CHECK: gpuc.resize cubic %{{.*}} {antialias = true, coordinate = #gpuc<coordinate_mode tf_crop_and_resize>, cubicCoeff = -5.000000e-01 : f64, excludeOutside = true, extrapolation = 1.000000e+00 : f64, nearest = #gpuc<nearest_mode simple>, roi = array<f64: 0.000000e+00, 0.000000e+00, 1.000000e+00, 5.000000e-01>, scales = array<f64: 1.000000e+00, 4.000000e-01>}
  %1 = gpuc.resize cubic %x {antialias = true, coordinate = #gpuc<coordinate_mode tf_crop_and_resize>, cubicCoeff = -0.5,
    excludeOutside = true, extrapolation = 1.0, nearest = #gpuc<nearest_mode simple>, roi = array<f64: 0.0, 0.0, 1.0, 0.5>,
    scales = array<f64: 1.0, 0.4>} : tensor<3x5xf32> -> tensor<3x2xf32>
  return
}

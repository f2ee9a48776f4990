// RUN: gpuc-opt %s --gpuc-form-kernels | FileCheck %s

// A product with bias, activation and residual is one launch; the residual is an operand.
// CHECK-LABEL: func.func @epilogue
// CHECK: %[[K:.*]] = gpuc.kernel "matmul"
// CHECK: gpuc.matmul
// CHECK: gpuc.binary add
// CHECK: gpuc.unary gelu
// CHECK: %[[R:.*]] = gpuc.binary add
// CHECK: gpuc.yield %[[R]] : tensor<3x7xf32>
// CHECK-NOT: gpuc.kernel
// CHECK: return %[[K]]
func.func @epilogue(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>, %b: tensor<7xf32>, %r: tensor<3x7xf32>) -> tensor<3x7xf32> {
  %0 = gpuc.matmul %x, %w : tensor<3x5xf32>, tensor<5x7xf32> -> tensor<3x7xf32>
  %1 = gpuc.binary add %0, %b : tensor<3x7xf32>, tensor<7xf32> -> tensor<3x7xf32>
  %2 = gpuc.unary gelu %1 : tensor<3x7xf32> -> tensor<3x7xf32>
  %3 = gpuc.binary add %r, %2 : tensor<3x7xf32>, tensor<3x7xf32> -> tensor<3x7xf32>
  return %3 : tensor<3x7xf32>
}

// What only the epilogue reads is computed in it.
// CHECK-LABEL: func.func @computed_residual
// CHECK: gpuc.kernel "matmul"
// CHECK-NOT: gpuc.kernel
// CHECK: return
func.func @computed_residual(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>, %r: tensor<3x7xf32>) -> tensor<3x7xf32> {
  %0 = gpuc.matmul %x, %w : tensor<3x5xf32>, tensor<5x7xf32> -> tensor<3x7xf32>
  %1 = gpuc.unary tanh %r : tensor<3x7xf32> -> tensor<3x7xf32>
  %2 = gpuc.binary add %0, %1 : tensor<3x7xf32>, tensor<3x7xf32> -> tensor<3x7xf32>
  return %2 : tensor<3x7xf32>
}

// Pointwise ops before a reduction and a norm, and after them.
// CHECK-LABEL: func.func @prologue
// CHECK: gpuc.kernel "reduction"
// CHECK: gpuc.unary exp
// CHECK: gpuc.reduce sum
// CHECK: gpuc.unary log
// CHECK: gpuc.kernel "normalization"
// CHECK: gpuc.binary add
// CHECK: gpuc.softmax
// CHECK: gpuc.binary mul
// CHECK-NOT: gpuc.kernel
// CHECK: return
func.func @prologue(%x: tensor<3x5xf32>, %m: tensor<5xf32>) -> (tensor<3x1xf32>, tensor<3x5xf32>) {
  %0 = gpuc.unary exp %x : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = gpuc.reduce sum %0 {axes = array<i64: 1>, keepdims = true} : tensor<3x5xf32> -> tensor<3x1xf32>
  %2 = gpuc.unary log %1 : tensor<3x1xf32> -> tensor<3x1xf32>
  %3 = gpuc.binary add %x, %m : tensor<3x5xf32>, tensor<5xf32> -> tensor<3x5xf32>
  %4 = gpuc.softmax %3 {axis = 1 : i64} : tensor<3x5xf32> -> tensor<3x5xf32>
  %5 = gpuc.binary mul %4, %m : tensor<3x5xf32>, tensor<5xf32> -> tensor<3x5xf32>
  return %2, %5 : tensor<3x1xf32>, tensor<3x5xf32>
}

// The parameters of a norm are buffers: a scale that is computed from what the norm reads can't move into its kernel.
// CHECK-LABEL: func.func @parameter_of_the_same_cluster
// CHECK: gpuc.kernel "pointwise"
// CHECK: gpuc.kernel "normalization" (%[[X:.*]] = %{{.*}}, %[[S:.*]] = %{{.*}})
// CHECK-NEXT: gpuc.layer_norm %[[X]] scale %[[S]]
func.func @parameter_of_the_same_cluster(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = gpuc.unary exp %x : tensor<5xf32> -> tensor<5xf32>
  %1 = gpuc.unary tanh %0 : tensor<5xf32> -> tensor<5xf32>
  %2 = gpuc.layer_norm %0 scale %1 {axis = 0 : i64, epsilon = 1.0e-3} : tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>
  return %2 : tensor<5xf32>
}

// Joining the product would make a cycle through the softmax: product -> softmax -> sum -> product.
// CHECK-LABEL: func.func @cycle
// CHECK: %[[M:.*]] = gpuc.kernel "matmul"
// CHECK: gpuc.kernel "normalization" (%{{.*}} = %[[M]] : tensor<3x7xf32>)
// CHECK: gpuc.softmax
// CHECK: gpuc.binary add
// CHECK-NOT: gpuc.kernel
// CHECK: return
func.func @cycle(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>) -> tensor<3x7xf32> {
  %0 = gpuc.matmul %x, %w : tensor<3x5xf32>, tensor<5x7xf32> -> tensor<3x7xf32>
  %1 = gpuc.softmax %0 {axis = 1 : i64} : tensor<3x7xf32> -> tensor<3x7xf32>
  %2 = gpuc.binary add %0, %1 : tensor<3x7xf32>, tensor<3x7xf32> -> tensor<3x7xf32>
  return %2 : tensor<3x7xf32>
}

// An inner value that is returned, or read by another kernel, is a result of its own.
// CHECK-LABEL: func.func @several_results
// CHECK: %[[K:.*]]:2 = gpuc.kernel "matmul"
// CHECK: gpuc.yield %{{.*}}, %{{.*}} : tensor<3x7xf32>, tensor<3x7xf32>
// CHECK: return %[[K]]#0, %[[K]]#1
func.func @several_results(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>) -> (tensor<3x7xf32>, tensor<3x7xf32>) {
  %0 = gpuc.matmul %x, %w : tensor<3x5xf32>, tensor<5x7xf32> -> tensor<3x7xf32>
  %1 = gpuc.unary relu %0 : tensor<3x7xf32> -> tensor<3x7xf32>
  return %0, %1 : tensor<3x7xf32>, tensor<3x7xf32>
}

// The sum of a square and its transpose needs two elements of the product at once: another kernel.
// CHECK-LABEL: func.func @two_routes
// CHECK: gpuc.kernel "matmul"
// CHECK: gpuc.yield %{{.*}} : tensor<5x5xf32>
// CHECK: gpuc.kernel "pointwise"
// CHECK-NEXT: gpuc.transpose
// CHECK-NEXT: gpuc.binary add
func.func @two_routes(%x: tensor<5x5xf32>) -> tensor<5x5xf32> {
  %0 = gpuc.matmul %x, %x : tensor<5x5xf32>, tensor<5x5xf32> -> tensor<5x5xf32>
  %1 = gpuc.transpose %0 {perm = array<i64: 1, 0>} : tensor<5x5xf32> -> tensor<5x5xf32>
  %2 = gpuc.binary add %0, %1 : tensor<5x5xf32>, tensor<5x5xf32> -> tensor<5x5xf32>
  return %2 : tensor<5x5xf32>
}

// There and back again is one route; so is a reshape that both sides go through.
// CHECK-LABEL: func.func @one_route
// CHECK: gpuc.kernel "matmul"
// CHECK-NOT: gpuc.kernel
// CHECK: return
func.func @one_route(%x: tensor<6x5xf32>, %w: tensor<5x4xf32>) -> tensor<3x2x4xf32> {
  %0 = gpuc.matmul %x, %w : tensor<6x5xf32>, tensor<5x4xf32> -> tensor<6x4xf32>
  %1 = gpuc.transpose %0 {perm = array<i64: 1, 0>} : tensor<6x4xf32> -> tensor<4x6xf32>
  %2 = gpuc.unary tanh %1 : tensor<4x6xf32> -> tensor<4x6xf32>
  %3 = gpuc.transpose %2 {perm = array<i64: 1, 0>} : tensor<4x6xf32> -> tensor<6x4xf32>
  %4 = gpuc.reshape %3 : tensor<6x4xf32> -> tensor<3x2x4xf32>
  %5 = gpuc.reshape %0 : tensor<6x4xf32> -> tensor<3x2x4xf32>
  %6 = gpuc.binary mul %4, %5 : tensor<3x2x4xf32>, tensor<3x2x4xf32> -> tensor<3x2x4xf32>
  return %6 : tensor<3x2x4xf32>
}

// A broadcast changes the iteration space: no epilogue.
// CHECK-LABEL: func.func @broadcast
// CHECK: gpuc.kernel "matmul"
// CHECK: gpuc.kernel "pointwise"
// CHECK-NEXT: gpuc.binary add
func.func @broadcast(%x: tensor<1x5xf32>, %w: tensor<5x7xf32>, %r: tensor<3x7xf32>) -> tensor<3x7xf32> {
  %0 = gpuc.matmul %x, %w : tensor<1x5xf32>, tensor<5x7xf32> -> tensor<1x7xf32>
  %1 = gpuc.binary add %0, %r : tensor<1x7xf32>, tensor<3x7xf32> -> tensor<3x7xf32>
  return %1 : tensor<3x7xf32>
}

// Results of a pointwise kernel share one shape: the reshaped sum is a kernel of its own because the exponential is read elsewhere too.
// CHECK-LABEL: func.func @pointwise_shapes
// CHECK: gpuc.kernel "pointwise" {{.*}} -> tensor<3x5xf32> {
// CHECK: gpuc.kernel "pointwise" {{.*}} -> tensor<15xf32> {
func.func @pointwise_shapes(%x: tensor<3x5xf32>, %y: tensor<15xf32>) -> (tensor<3x5xf32>, tensor<15xf32>) {
  %0 = gpuc.unary exp %x : tensor<3x5xf32> -> tensor<3x5xf32>
  %1 = gpuc.reshape %0 : tensor<3x5xf32> -> tensor<15xf32>
  %2 = gpuc.binary add %1, %y : tensor<15xf32>, tensor<15xf32> -> tensor<15xf32>
  return %0, %2 : tensor<3x5xf32>, tensor<15xf32>
}

// Views are copied into every reader; a strided one costs the product nothing.
// CHECK-LABEL: func.func @views
// CHECK: gpuc.kernel "pointwise"
// CHECK: gpuc.transpose
// CHECK: gpuc.kernel "matmul"
// CHECK: gpuc.transpose
// CHECK: gpuc.matmul
// CHECK-NOT: gpuc.kernel
// CHECK: return
func.func @views(%x: tensor<5x3xf32>, %w: tensor<5x7xf32>) -> (tensor<3x5xf32>, tensor<3x7xf32>) {
  %0 = gpuc.transpose %x {perm = array<i64: 1, 0>} : tensor<5x3xf32> -> tensor<3x5xf32>
  %1 = gpuc.unary exp %0 : tensor<3x5xf32> -> tensor<3x5xf32>
  %2 = gpuc.matmul %0, %w : tensor<3x5xf32>, tensor<5x7xf32> -> tensor<3x7xf32>
  return %1, %2 : tensor<3x5xf32>, tensor<3x7xf32>
}

// Heads side by side are no strides of the argument: a copy.
// CHECK-LABEL: func.func @copied_view
// CHECK: %[[C:.*]] = gpuc.kernel "pointwise" {{.*}} -> tensor<5x6xf32> {
// CHECK: gpuc.transpose
// CHECK: gpuc.reshape
// CHECK: gpuc.kernel "matmul" (%{{.*}} = %[[C]] : tensor<5x6xf32>
func.func @copied_view(%x: tensor<2x5x3xf32>, %w: tensor<6x7xf32>) -> tensor<5x7xf32> {
  %0 = gpuc.transpose %x {perm = array<i64: 1, 0, 2>} : tensor<2x5x3xf32> -> tensor<5x2x3xf32>
  %1 = gpuc.reshape %0 : tensor<5x2x3xf32> -> tensor<5x6xf32>
  %2 = gpuc.matmul %1, %w : tensor<5x6xf32>, tensor<6x7xf32> -> tensor<5x7xf32>
  return %2 : tensor<5x7xf32>
}

// The same after attention: it writes its result that way itself.
// CHECK-LABEL: func.func @written_view
// CHECK: %[[A:.*]] = gpuc.kernel "attention" {{.*}} -> tensor<5x6xf32> {
// CHECK: gpuc.attention
// CHECK: gpuc.transpose
// CHECK: gpuc.reshape
// CHECK: gpuc.kernel "matmul" (%{{.*}} = %[[A]] : tensor<5x6xf32>
func.func @written_view(%q: tensor<1x2x5x3xf32>, %w: tensor<6x7xf32>) -> tensor<5x7xf32> {
  %0 = gpuc.attention %q, %q, %q {scale = 1.0} : tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32> -> tensor<1x2x5x3xf32>
  %1 = gpuc.transpose %0 {perm = array<i64: 0, 2, 1, 3>} : tensor<1x2x5x3xf32> -> tensor<1x5x2x3xf32>
  %2 = gpuc.reshape %1 : tensor<1x5x2x3xf32> -> tensor<5x6xf32>
  %3 = gpuc.matmul %2, %w : tensor<5x6xf32>, tensor<6x7xf32> -> tensor<5x7xf32>
  return %3 : tensor<5x7xf32>
}

// An epilogue that goes through a view which a slice-reading product needs in memory: stored by the copy of the view, never a cycle.
// CHECK-LABEL: func.func @view_in_epilogue_and_memory
// CHECK: gpuc.kernel "attention"
// CHECK: gpuc.kernel "matmul"
// CHECK: return
func.func @view_in_epilogue_and_memory(%q: tensor<1x2x5x3xf32>, %w: tensor<6x7xf32>) -> (tensor<5x6xf32>, tensor<5x7xf32>, tensor<1x2x5x3xf32>) {
  %0 = gpuc.attention %q, %q, %q {scale = 1.0} : tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32>, tensor<1x2x5x3xf32> -> tensor<1x2x5x3xf32>
  %1 = gpuc.transpose %0 {perm = array<i64: 0, 2, 1, 3>} : tensor<1x2x5x3xf32> -> tensor<1x5x2x3xf32>
  %2 = gpuc.reshape %1 : tensor<1x5x2x3xf32> -> tensor<5x6xf32>
  %3 = gpuc.unary relu %2 : tensor<5x6xf32> -> tensor<5x6xf32>
  %4 = gpuc.matmul %2, %w : tensor<5x6xf32>, tensor<6x7xf32> -> tensor<5x7xf32>
  return %3, %4, %0 : tensor<5x6xf32>, tensor<5x7xf32>, tensor<1x2x5x3xf32>
}

// A concatenation of results of roots stays outside; copies of arguments do not.
// CHECK-LABEL: func.func @concats
// CHECK: %[[A:.*]] = gpuc.kernel "matmul"
// CHECK: %[[B:.*]] = gpuc.kernel "matmul"
// CHECK: %[[C:.*]] = gpuc.concat %[[A]], %[[B]] {axis = 0 : i64}
// CHECK: gpuc.kernel "normalization" (%{{.*}} = %[[C]]
// CHECK: gpuc.kernel "pointwise"
// CHECK: gpuc.concat
func.func @concats(%x: tensor<4x5xf32>, %w: tensor<5x8xf32>) -> (tensor<8x8xf32>, tensor<8x5xf32>) {
  %0 = gpuc.matmul %x, %w : tensor<4x5xf32>, tensor<5x8xf32> -> tensor<4x8xf32>
  %1 = gpuc.unary relu %0 : tensor<4x8xf32> -> tensor<4x8xf32>
  %2 = gpuc.matmul %x, %w : tensor<4x5xf32>, tensor<5x8xf32> -> tensor<4x8xf32>
  %3 = gpuc.concat %1, %2 {axis = 0 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %4 = gpuc.softmax %3 {axis = 1 : i64} : tensor<8x8xf32> -> tensor<8x8xf32>
  %5 = gpuc.concat %x, %x {axis = 0 : i64} : (tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<8x5xf32>
  return %4, %5 : tensor<8x8xf32>, tensor<8x5xf32>
}

// Parts that are returned (here as a reshape), that occur twice, or that lie at odd bytes: a kernel that copies.
// CHECK-LABEL: func.func @copying_concats
// CHECK: gpuc.kernel "normalization"
// CHECK-NEXT: gpuc.concat
// CHECK: gpuc.kernel "normalization"
// CHECK-NEXT: gpuc.concat
// CHECK: gpuc.kernel "normalization"
// CHECK-NEXT: gpuc.concat
// CHECK: return
func.func @copying_concats(%x: tensor<4x5xf32>, %w: tensor<5x8xf32>, %u: tensor<5x3xf32>)
    -> (tensor<8x8xf32>, tensor<32xf32>, tensor<8x8xf32>, tensor<4x11xf32>) {
  %0 = gpuc.matmul %x, %w : tensor<4x5xf32>, tensor<5x8xf32> -> tensor<4x8xf32>
  %1 = gpuc.matmul %x, %w : tensor<4x5xf32>, tensor<5x8xf32> -> tensor<4x8xf32>
  %2 = gpuc.concat %0, %1 {axis = 0 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %3 = gpuc.softmax %2 {axis = 1 : i64} : tensor<8x8xf32> -> tensor<8x8xf32>
  %4 = gpuc.reshape %0 : tensor<4x8xf32> -> tensor<32xf32>
  %5 = gpuc.concat %1, %1 {axis = 0 : i64} : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %6 = gpuc.softmax %5 {axis = 1 : i64} : tensor<8x8xf32> -> tensor<8x8xf32>
  %7 = gpuc.matmul %x, %u : tensor<4x5xf32>, tensor<5x3xf32> -> tensor<4x3xf32>
  %8 = gpuc.matmul %x, %w : tensor<4x5xf32>, tensor<5x8xf32> -> tensor<4x8xf32>
  %9 = gpuc.concat %7, %8 {axis = 1 : i64} : (tensor<4x3xf32>, tensor<4x8xf32>) -> tensor<4x11xf32>
  %10 = gpuc.softmax %9 {axis = 1 : i64} : tensor<4x11xf32> -> tensor<4x11xf32>
  return %3, %4, %6, %10 : tensor<8x8xf32>, tensor<32xf32>, tensor<8x8xf32>, tensor<4x11xf32>
}

// Arguments, constants, their reshapes and repeated values are returned as they are; other views of them are copies.
// CHECK-LABEL: func.func @returns
// CHECK-SAME: (%[[X:.*]]: tensor<3x5xf32>)
// CHECK-DAG: %[[C:.*]] = gpuc.constant
// CHECK-DAG: %[[T:.*]] = gpuc.kernel "pointwise"
// CHECK-DAG: %[[R:.*]] = gpuc.reshape %[[X]] : tensor<3x5xf32> -> tensor<15xf32>
// CHECK: return %[[X]], %[[X]], %[[C]], %[[R]], %[[T]], %[[T]]
func.func @returns(%x: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>, tensor<2xf32>, tensor<15xf32>, tensor<5x3xf32>, tensor<5x3xf32>) {
  %c = gpuc.constant dense<1.0> : tensor<2xf32>
  %0 = gpuc.reshape %x : tensor<3x5xf32> -> tensor<15xf32>
  %1 = gpuc.transpose %x {perm = array<i64: 1, 0>} : tensor<3x5xf32> -> tensor<5x3xf32>
  return %x, %x, %c, %0, %1, %1 : tensor<3x5xf32>, tensor<3x5xf32>, tensor<2xf32>, tensor<15xf32>, tensor<5x3xf32>, tensor<5x3xf32>
}

// A transposed result is written that way; a slice of one is a copy.
// CHECK-LABEL: func.func @returned_views
// CHECK: %[[K:.*]]:2 = gpuc.kernel "matmul"
// CHECK: %[[T:.*]] = gpuc.transpose
// CHECK: gpuc.yield %{{.*}}, %[[T]] : tensor<3x7xf32>, tensor<7x3xf32>
// CHECK: gpuc.kernel "pointwise" (%{{.*}} = %[[K]]#0
// CHECK-NEXT: gpuc.slice
func.func @returned_views(%x: tensor<3x5xf32>, %w: tensor<5x7xf32>) -> (tensor<7x3xf32>, tensor<2x7xf32>) {
  %0 = gpuc.matmul %x, %w : tensor<3x5xf32>, tensor<5x7xf32> -> tensor<3x7xf32>
  %1 = gpuc.transpose %0 {perm = array<i64: 1, 0>} : tensor<3x7xf32> -> tensor<7x3xf32>
  %2 = gpuc.slice %0 {starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : tensor<3x7xf32> -> tensor<2x7xf32>
  return %1, %2 : tensor<7x3xf32>, tensor<2x7xf32>
}

// Only the values of a root are at its coordinates: indices of a pooling with a cast go to their own kernel, dead code to none.
// CHECK-LABEL: func.func @second_result
// CHECK: %[[P:.*]]:2 = gpuc.kernel "pooling"
// CHECK: gpuc.kernel "pointwise" (%{{.*}} = %[[P]]#1
// CHECK-NEXT: gpuc.cast
// CHECK-NOT: gpuc.unary
// CHECK: return
func.func @second_result(%x: tensor<2x3x5xf32>) -> (tensor<2x3x4xf32>, tensor<2x3x4xi32>) {
  %y, %i = gpuc.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 1>, low = array<i64: 0>, high = array<i64: 0>, dilations = array<i64: 1>}
    : tensor<2x3x5xf32> -> tensor<2x3x4xf32>, tensor<2x3x4xi64>
  %0 = gpuc.cast %i : tensor<2x3x4xi64> -> tensor<2x3x4xi32>
  %dead = gpuc.unary exp %x : tensor<2x3x5xf32> -> tensor<2x3x5xf32>
  return %y, %0 : tensor<2x3x4xf32>, tensor<2x3x4xi32>
}

// Empty tensors have no elements to fuse over.
// CHECK-LABEL: func.func @empty
// CHECK: gpuc.kernel "matmul"
// CHECK: gpuc.kernel "pointwise"
func.func @empty(%x: tensor<0x5xf32>, %w: tensor<5x7xf32>) -> tensor<0x7xf32> {
  %0 = gpuc.matmul %x, %w : tensor<0x5xf32>, tensor<5x7xf32> -> tensor<0x7xf32>
  %1 = gpuc.unary relu %0 : tensor<0x7xf32> -> tensor<0x7xf32>
  return %1 : tensor<0x7xf32>
}

// Small producers that are broadcast are computed where they are needed; a gather whose result is read by all is not in an epilogue.
// CHECK-LABEL: func.func @small_producers
// CHECK: gpuc.kernel "pointwise"
// CHECK: gpuc.cast
// CHECK: gpuc.select
// CHECK: gpuc.binary add
// CHECK-NOT: gpuc.kernel
// CHECK: return
func.func @small_producers(%x: tensor<3x7x5xf32>, %m: tensor<7x1xi64>) -> tensor<3x7x5xf32> {
  %zero = gpuc.constant dense<0.0> : tensor<f32>
  %low = gpuc.constant dense<-1.0e9> : tensor<f32>
  %0 = gpuc.cast %m : tensor<7x1xi64> -> tensor<7x1xi1>
  %1 = gpuc.select %0, %zero, %low : tensor<7x1xi1>, tensor<f32>, tensor<f32> -> tensor<7x1xf32>
  %2 = gpuc.binary add %x, %1 : tensor<3x7x5xf32>, tensor<7x1xf32> -> tensor<3x7x5xf32>
  return %2 : tensor<3x7x5xf32>
}

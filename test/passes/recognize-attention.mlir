// RUN: gpuc-opt %s --gpuc-recognize-attention | FileCheck %s

// nn.MultiheadAttention: three axes, sqrt(scale) on both sides, behind reshapes and transposes.
// CHECK-LABEL: func.func @scale_on_both_sides
// CHECK-SAME: (%[[Q:.*]]: tensor<5x6x7xf32>, %[[K:.*]]: tensor<3x6x7xf32>, %[[V:.*]]: tensor<6x3x11xf32>)
// CHECK-DAG: %[[QT:.*]] = gpuc.transpose %[[Q]] {perm = array<i64: 1, 0, 2>}
// CHECK-DAG: %[[Q4:.*]] = gpuc.reshape %[[QT]] : tensor<6x5x7xf32> -> tensor<6x1x5x7xf32>
// CHECK-DAG: %[[V4:.*]] = gpuc.reshape %[[V]] : tensor<6x3x11xf32> -> tensor<6x1x3x11xf32>
// CHECK: %[[Y:.*]] = gpuc.attention %[[Q4]], %{{.*}}, %[[V4]] {scale = 2.500000e-01 : f64{{.*}}} : tensor<6x1x5x7xf32>, tensor<6x1x3x7xf32>, tensor<6x1x3x11xf32> -> tensor<6x1x5x11xf32>
// CHECK: %[[R:.*]] = gpuc.reshape %[[Y]] : tensor<6x1x5x11xf32> -> tensor<6x5x11xf32>
// CHECK: return %[[R]]
func.func @scale_on_both_sides(%q: tensor<5x6x7xf32>, %k: tensor<3x6x7xf32>, %v: tensor<6x3x11xf32>) -> tensor<6x5x11xf32> {
  %half = gpuc.constant dense<0.5> : tensor<f32>
  %0 = gpuc.binary mul %q, %half : tensor<5x6x7xf32>, tensor<f32> -> tensor<5x6x7xf32>
  %1 = gpuc.transpose %0 {perm = array<i64: 1, 0, 2>} : tensor<5x6x7xf32> -> tensor<6x5x7xf32>
  %2 = gpuc.binary mul %k, %half : tensor<3x6x7xf32>, tensor<f32> -> tensor<3x6x7xf32>
  %3 = gpuc.transpose %2 {perm = array<i64: 1, 2, 0>} : tensor<3x6x7xf32> -> tensor<6x7x3xf32>
  %4 = gpuc.matmul %1, %3 : tensor<6x5x7xf32>, tensor<6x7x3xf32> -> tensor<6x5x3xf32>
  %5 = gpuc.softmax %4 {axis = 2 : i64} : tensor<6x5x3xf32> -> tensor<6x5x3xf32>
  %6 = gpuc.matmul %5, %v : tensor<6x5x3xf32>, tensor<6x3x11xf32> -> tensor<6x5x11xf32>
  return %6 : tensor<6x5x11xf32>
}

// BERT: scores / 8 + mask, then a safe softmax, around casts to f32. The bias keeps its type and its range.
// CHECK-LABEL: func.func @half_with_mask
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<2x1x1x5xf32>)
// CHECK: gpuc.attention %{{.*}}, %{{.*}}, %{{.*}} bias %[[M]] {scale = 1.250000e-01 : f64, zeroMasked = true} : {{.*}}, tensor<2x1x1x5xf32> -> tensor<2x3x7x11xf16>
// CHECK-NOT: gpuc.softmax
func.func @half_with_mask(%q: tensor<2x3x7x11xf16>, %k: tensor<2x3x5x11xf16>, %v: tensor<2x3x5x11xf16>, %m: tensor<2x1x1x5xf32>) -> tensor<2x3x7x11xf16> {
  %eight = gpuc.constant dense<8.0> : tensor<f16>
  %0 = gpuc.transpose %k {perm = array<i64: 0, 1, 3, 2>} : tensor<2x3x5x11xf16> -> tensor<2x3x11x5xf16>
  %1 = gpuc.matmul %q, %0 : tensor<2x3x7x11xf16>, tensor<2x3x11x5xf16> -> tensor<2x3x7x5xf16>
  %2 = gpuc.binary div %1, %eight : tensor<2x3x7x5xf16>, tensor<f16> -> tensor<2x3x7x5xf16>
  %3 = gpuc.cast %2 : tensor<2x3x7x5xf16> -> tensor<2x3x7x5xf32>
  %4 = gpuc.binary add %3, %m : tensor<2x3x7x5xf32>, tensor<2x1x1x5xf32> -> tensor<2x3x7x5xf32>
  %5 = gpuc.softmax %4 {axis = 3 : i64, zeroMasked = true} : tensor<2x3x7x5xf32> -> tensor<2x3x7x5xf32>
  %6 = gpuc.cast %5 : tensor<2x3x7x5xf32> -> tensor<2x3x7x5xf16>
  %7 = gpuc.matmul %6, %v : tensor<2x3x7x5xf16>, tensor<2x3x5x11xf16> -> tensor<2x3x7x11xf16>
  return %7 : tensor<2x3x7x11xf16>
}

// GPT-2: where(mask, scores, lowest) gives a masked row equal weights; a number that swallows scores does too, in f32 even for f16.
// CHECK-LABEL: func.func @where_finite
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<7x5xi1>)
// CHECK-DAG: %[[ZERO:.*]] = gpuc.constant dense<0.000000e+00> : tensor<f32>
// CHECK-DAG: %[[LOW:.*]] = gpuc.constant dense<-{{9.99.*E\+36|1.000000e\+37}}> : tensor<f32>
// CHECK: %[[S:.*]] = gpuc.select %[[C]], %[[ZERO]], %[[LOW]]
// CHECK: %[[B:.*]] = gpuc.reshape %[[S]] : tensor<7x5xf32> -> tensor<1x1x7x5xf32>
// CHECK: gpuc.attention %{{.*}} bias %[[B]]
func.func @where_finite(%q: tensor<2x3x7x11xf16>, %k: tensor<2x3x11x5xf16>, %v: tensor<2x3x5x11xf16>, %c: tensor<7x5xi1>) -> tensor<2x3x7x11xf16> {
  %low = gpuc.constant dense<-65504.0> : tensor<f16>
  %1 = gpuc.matmul %q, %k : tensor<2x3x7x11xf16>, tensor<2x3x11x5xf16> -> tensor<2x3x7x5xf16>
  %2 = gpuc.select %c, %1, %low : tensor<7x5xi1>, tensor<2x3x7x5xf16>, tensor<f16> -> tensor<2x3x7x5xf16>
  %3 = gpuc.softmax %2 {axis = 3 : i64} : tensor<2x3x7x5xf16> -> tensor<2x3x7x5xf16>
  %4 = gpuc.matmul %3, %v : tensor<2x3x7x5xf16>, tensor<2x3x5x11xf16> -> tensor<2x3x7x11xf16>
  return %4 : tensor<2x3x7x11xf16>
}

// where(mask, -inf, scores) hides keys: a boolean mask, turned around.
// CHECK-LABEL: func.func @where_infinite
// CHECK-SAME: %[[C:[a-z0-9]+]]: tensor<7x5xi1>)
// CHECK: %[[N:.*]] = gpuc.unary not %[[C]]
// CHECK: %[[B:.*]] = gpuc.reshape %[[N]] : tensor<7x5xi1> -> tensor<1x1x7x5xi1>
// CHECK: gpuc.attention %{{.*}} bias %[[B]]
func.func @where_infinite(%q: tensor<3x7x11xf32>, %k: tensor<3x11x5xf32>, %v: tensor<3x5x11xf32>, %c: tensor<7x5xi1>) -> tensor<3x7x11xf32> {
  %low = gpuc.constant dense<0xFF800000> : tensor<f32>
  %1 = gpuc.matmul %q, %k : tensor<3x7x11xf32>, tensor<3x11x5xf32> -> tensor<3x7x5xf32>
  %2 = gpuc.select %c, %low, %1 : tensor<7x5xi1>, tensor<f32>, tensor<3x7x5xf32> -> tensor<3x7x5xf32>
  %3 = gpuc.softmax %2 {axis = 2 : i64} : tensor<3x7x5xf32> -> tensor<3x7x5xf32>
  %4 = gpuc.matmul %3, %v : tensor<3x7x5xf32>, tensor<3x5x11xf32> -> tensor<3x7x11xf32>
  return %4 : tensor<3x7x11xf32>
}

// A bias of three axes belongs to the batch of a three-axis softmax.
// CHECK-LABEL: func.func @bias_per_batch
// CHECK: gpuc.reshape %{{.*}} : tensor<3x7x5xf32> -> tensor<3x1x7x5xf32>
// CHECK: gpuc.attention %{{.*}} bias %{{.*}} tensor<3x1x7x5xf32> -> tensor<3x1x7x11xf32>
func.func @bias_per_batch(%q: tensor<3x7x11xf32>, %k: tensor<3x11x5xf32>, %v: tensor<3x5x11xf32>, %b: tensor<3x7x5xf32>) -> tensor<3x7x11xf32> {
  %1 = gpuc.matmul %q, %k : tensor<3x7x11xf32>, tensor<3x11x5xf32> -> tensor<3x7x5xf32>
  %2 = gpuc.binary add %b, %1 : tensor<3x7x5xf32>, tensor<3x7x5xf32> -> tensor<3x7x5xf32>
  %3 = gpuc.softmax %2 {axis = 2 : i64} : tensor<3x7x5xf32> -> tensor<3x7x5xf32>
  %4 = gpuc.matmul %3, %v : tensor<3x7x5xf32>, tensor<3x5x11xf32> -> tensor<3x7x11xf32>
  return %4 : tensor<3x7x11xf32>
}

// paddle and qonnx: two or five axes, no bias.
// CHECK-LABEL: func.func @other_ranks
// CHECK: gpuc.attention %{{.*}} -> tensor<1x1x7x11xf32>
// CHECK: gpuc.attention %{{.*}} -> tensor<6x5x7x11xf32>
func.func @other_ranks(%q: tensor<7x11xf32>, %k: tensor<11x3xf32>, %v: tensor<3x11xf32>, %a: tensor<2x3x5x7x11xf32>, %b: tensor<2x3x5x11x7xf32>)
    -> (tensor<7x11xf32>, tensor<2x3x5x7x11xf32>) {
  %0 = gpuc.matmul %q, %k : tensor<7x11xf32>, tensor<11x3xf32> -> tensor<7x3xf32>
  %1 = gpuc.softmax %0 {axis = 1 : i64} : tensor<7x3xf32> -> tensor<7x3xf32>
  %2 = gpuc.matmul %1, %v : tensor<7x3xf32>, tensor<3x11xf32> -> tensor<7x11xf32>
  %3 = gpuc.matmul %a, %b : tensor<2x3x5x7x11xf32>, tensor<2x3x5x11x7xf32> -> tensor<2x3x5x7x7xf32>
  %4 = gpuc.softmax %3 {axis = 4 : i64} : tensor<2x3x5x7x7xf32> -> tensor<2x3x5x7x7xf32>
  %5 = gpuc.matmul %4, %a : tensor<2x3x5x7x7xf32>, tensor<2x3x5x7x11xf32> -> tensor<2x3x5x7x11xf32>
  return %2, %5 : tensor<7x11xf32>, tensor<2x3x5x7x11xf32>
}

// Keras' einsum: k q^T with the batch flattened, turned around before the softmax.
// CHECK-LABEL: func.func @transposed_scores
// CHECK-SAME: (%[[K:.*]]: tensor<6x5x11xf32>, %[[Q:.*]]: tensor<6x11x7xf32>, %[[V:.*]]: tensor<6x5x13xf32>)
// CHECK: %[[T:.*]] = gpuc.transpose %[[Q]] {perm = array<i64: 0, 2, 1>} : tensor<6x11x7xf32> -> tensor<6x7x11xf32>
// CHECK-DAG: %[[Q4:.*]] = gpuc.reshape %[[T]] : tensor<6x7x11xf32> -> tensor<2x3x7x11xf32>
// CHECK-DAG: %[[K4:.*]] = gpuc.reshape %[[K]] : tensor<6x5x11xf32> -> tensor<2x3x5x11xf32>
// CHECK: gpuc.attention %[[Q4]], %[[K4]], %{{.*}} -> tensor<2x3x7x13xf32>
func.func @transposed_scores(%k: tensor<6x5x11xf32>, %q: tensor<6x11x7xf32>, %v: tensor<6x5x13xf32>) -> tensor<6x7x13xf32> {
  %0 = gpuc.matmul %k, %q : tensor<6x5x11xf32>, tensor<6x11x7xf32> -> tensor<6x5x7xf32>
  %1 = gpuc.reshape %0 : tensor<6x5x7xf32> -> tensor<2x3x5x7xf32>
  %2 = gpuc.transpose %1 {perm = array<i64: 0, 1, 3, 2>} : tensor<2x3x5x7xf32> -> tensor<2x3x7x5xf32>
  %3 = gpuc.softmax %2 {axis = 3 : i64} : tensor<2x3x7x5xf32> -> tensor<2x3x7x5xf32>
  %4 = gpuc.reshape %3 : tensor<2x3x7x5xf32> -> tensor<6x7x5xf32>
  %5 = gpuc.matmul %4, %v : tensor<6x7x5xf32>, tensor<6x5x13xf32> -> tensor<6x7x13xf32>
  return %5 : tensor<6x7x13xf32>
}

// 30 tanh(0.1 q k / 30): the cap, and what is left as the scale.
// CHECK-LABEL: func.func @softcap
// CHECK: gpuc.attention %{{.*}} bias %{{.*}} {scale = 0.1000{{.*}} : f64, softcap = 3.000000e+01 : f64
func.func @softcap(%q: tensor<2x3x7x11xf32>, %k: tensor<2x3x11x5xf32>, %v: tensor<2x3x5x11xf32>, %b: tensor<7x5xf32>) -> tensor<2x3x7x11xf32> {
  %scale = gpuc.constant dense<0.1> : tensor<f32>
  %cap = gpuc.constant dense<30.0> : tensor<f32>
  %0 = gpuc.matmul %q, %k : tensor<2x3x7x11xf32>, tensor<2x3x11x5xf32> -> tensor<2x3x7x5xf32>
  %1 = gpuc.binary mul %0, %scale : tensor<2x3x7x5xf32>, tensor<f32> -> tensor<2x3x7x5xf32>
  %2 = gpuc.binary div %1, %cap : tensor<2x3x7x5xf32>, tensor<f32> -> tensor<2x3x7x5xf32>
  %3 = gpuc.unary tanh %2 : tensor<2x3x7x5xf32> -> tensor<2x3x7x5xf32>
  %4 = gpuc.binary mul %3, %cap : tensor<2x3x7x5xf32>, tensor<f32> -> tensor<2x3x7x5xf32>
  %5 = gpuc.binary add %4, %b : tensor<2x3x7x5xf32>, tensor<7x5xf32> -> tensor<2x3x7x5xf32>
  %6 = gpuc.softmax %5 {axis = 3 : i64} : tensor<2x3x7x5xf32> -> tensor<2x3x7x5xf32>
  %7 = gpuc.matmul %6, %v : tensor<2x3x7x5xf32>, tensor<2x3x5x11xf32> -> tensor<2x3x7x11xf32>
  return %7 : tensor<2x3x7x11xf32>
}

// Scores or probabilities that somebody else reads.
// CHECK-LABEL: func.func @other_readers
// CHECK-NOT: gpuc.attention
// CHECK: return
func.func @other_readers(%q: tensor<3x7x11xf32>, %k: tensor<3x11x5xf32>, %v: tensor<3x5x11xf32>)
    -> (tensor<3x7x11xf32>, tensor<3x7x5xf32>, tensor<3x7x11xf32>, tensor<3x7x5xf32>) {
  %0 = gpuc.matmul %q, %k : tensor<3x7x11xf32>, tensor<3x11x5xf32> -> tensor<3x7x5xf32>
  %1 = gpuc.softmax %0 {axis = 2 : i64} : tensor<3x7x5xf32> -> tensor<3x7x5xf32>
  %2 = gpuc.matmul %1, %v : tensor<3x7x5xf32>, tensor<3x5x11xf32> -> tensor<3x7x11xf32>
  %3 = gpuc.matmul %q, %k : tensor<3x7x11xf32>, tensor<3x11x5xf32> -> tensor<3x7x5xf32>
  %4 = gpuc.softmax %3 {axis = 2 : i64} : tensor<3x7x5xf32> -> tensor<3x7x5xf32>
  %5 = gpuc.matmul %4, %v : tensor<3x7x5xf32>, tensor<3x5x11xf32> -> tensor<3x7x11xf32>
  return %2, %0, %5, %4 : tensor<3x7x11xf32>, tensor<3x7x5xf32>, tensor<3x7x11xf32>, tensor<3x7x5xf32>
}

// A softmax along the queries, a log softmax, a scale after the bias, two biases, a mask of -2, keys shared by all heads.
// CHECK-LABEL: func.func @other_formulas
// CHECK-NOT: gpuc.attention
// CHECK: return
func.func @other_formulas(%q: tensor<3x5x5xf32>, %b: tensor<5x5xf32>, %c: tensor<5x5xi1>, %shared: tensor<1x5x5xf32>)
    -> (tensor<3x5x5xf32>, tensor<3x5x5xf32>, tensor<3x5x5xf32>, tensor<3x5x5xf32>, tensor<3x5x5xf32>, tensor<3x5x5xf32>) {
  %half = gpuc.constant dense<0.5> : tensor<f32>
  %two = gpuc.constant dense<-2.0> : tensor<f32>
  %a0 = gpuc.matmul %q, %q : tensor<3x5x5xf32>, tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %a1 = gpuc.softmax %a0 {axis = 1 : i64} : tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %a2 = gpuc.matmul %a1, %q : tensor<3x5x5xf32>, tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %b0 = gpuc.matmul %q, %q : tensor<3x5x5xf32>, tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %b1 = gpuc.softmax %b0 {axis = 2 : i64, log = true} : tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %b2 = gpuc.matmul %b1, %q : tensor<3x5x5xf32>, tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %c0 = gpuc.matmul %q, %q : tensor<3x5x5xf32>, tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %c1 = gpuc.binary add %c0, %b : tensor<3x5x5xf32>, tensor<5x5xf32> -> tensor<3x5x5xf32>
  %c2 = gpuc.binary mul %c1, %half : tensor<3x5x5xf32>, tensor<f32> -> tensor<3x5x5xf32>
  %c3 = gpuc.softmax %c2 {axis = 2 : i64} : tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %c4 = gpuc.matmul %c3, %q : tensor<3x5x5xf32>, tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %d0 = gpuc.matmul %q, %q : tensor<3x5x5xf32>, tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %d1 = gpuc.binary add %d0, %b : tensor<3x5x5xf32>, tensor<5x5xf32> -> tensor<3x5x5xf32>
  %d2 = gpuc.binary add %d1, %b : tensor<3x5x5xf32>, tensor<5x5xf32> -> tensor<3x5x5xf32>
  %d3 = gpuc.softmax %d2 {axis = 2 : i64} : tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %d4 = gpuc.matmul %d3, %q : tensor<3x5x5xf32>, tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %e0 = gpuc.matmul %q, %q : tensor<3x5x5xf32>, tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %e1 = gpuc.select %c, %e0, %two : tensor<5x5xi1>, tensor<3x5x5xf32>, tensor<f32> -> tensor<3x5x5xf32>
  %e2 = gpuc.softmax %e1 {axis = 2 : i64} : tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %e3 = gpuc.matmul %e2, %q : tensor<3x5x5xf32>, tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %f0 = gpuc.matmul %q, %shared : tensor<3x5x5xf32>, tensor<1x5x5xf32> -> tensor<3x5x5xf32>
  %f1 = gpuc.softmax %f0 {axis = 2 : i64} : tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  %f2 = gpuc.matmul %f1, %q : tensor<3x5x5xf32>, tensor<3x5x5xf32> -> tensor<3x5x5xf32>
  return %a2, %b2, %c4, %d4, %e3, %f2 : tensor<3x5x5xf32>, tensor<3x5x5xf32>, tensor<3x5x5xf32>, tensor<3x5x5xf32>, tensor<3x5x5xf32>, tensor<3x5x5xf32>
}

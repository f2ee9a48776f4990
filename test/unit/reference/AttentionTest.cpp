// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention: masks, grouped heads, softcap, fully masked rows.
#include "Tensors.h"

using namespace gpuc;
using namespace gpuc::reference;

namespace {
/// q·k is 0 everywhere, so visible keys have equal weights.
HostTensor zeros(Shape shape) { return HostTensor(DType::F32, shape); }
} // namespace

TEST(Attention, EqualsMatmulSoftmaxMatmul) {
  HostTensor q = noise(DType::F64, {2, 3, 5, 7}), k = noise(DType::F64, {2, 3, 11, 7}, 2),
             v = noise(DType::F64, {2, 3, 11, 13}, 3);
  HostTensor scores = matmul(q, transpose(k, {0, 1, 3, 2}).take()).take();
  scores = binary(BinaryKind::Mul, scores, make(DType::F64, {}, {0.25})).take();
  AttentionParams p;
  p.scale = 0.25;
  expectSame(attention(q, k, v, nullptr, p), matmul(softmax(scores, 3).take(), v), 1e-14);
}
TEST(Attention, CausalOffsetIsRelativeToTheQuery) {
  HostTensor q = zeros({1, 1, 3, 2}), k = zeros({1, 1, 3, 2}), v = f32({1, 1, 3, 1}, {3, 6, 9});
  AttentionParams p;
  p.causalOffset = 0;
  expectTensor(attention(q, k, v, nullptr, p), DType::F32, {1, 1, 3, 1}, {3, 4.5, 6}, 1e-6);
  p.causalOffset = 1;
  expectTensor(attention(q, k, v, nullptr, p), DType::F32, {1, 1, 3, 1}, {4.5, 6, 6}, 1e-6);
  p.causalOffset = -1;
  expectTensor(attention(q, k, v, nullptr, p), DType::F32, {1, 1, 3, 1}, {0, 3, 4.5}, 1e-6);
}
TEST(Attention, FullyMaskedRowsAreZeroOrNaN) {
  HostTensor q = zeros({1, 1, 2, 1}), k = zeros({1, 1, 2, 1}), v = f32({1, 1, 2, 1}, {3, 6});
  HostTensor mask = make(DType::Bool, {2, 2}, {0, 0, 0, 1}), bias = f32({2, 2}, {-kInf, -kInf, -kInf, 0});
  AttentionParams p;
  expectTensor(attention(q, k, v, &mask, p), DType::F32, {1, 1, 2, 1}, {0, 6});
  expectTensor(attention(q, k, v, &bias, p), DType::F32, {1, 1, 2, 1}, {0, 6});
  p.zeroMaskedRows = false;
  expectTensor(attention(q, k, v, &mask, p), DType::F32, {1, 1, 2, 1}, {kNaN, 6});
}
TEST(Attention, GroupedHeadsShareKeysAndBiasBroadcasts) {
  HostTensor q = zeros({1, 4, 1, 1}), k = zeros({1, 2, 2, 1}), v = f32({1, 2, 2, 1}, {1, 2, 10, 20});
  HostTensor bias = f32({4, 1, 2}, {0, -kInf, -kInf, 0, 0, 0, 0, std::log(3)});
  expectTensor(attention(q, k, v, &bias, {}), DType::F32, {1, 4, 1, 1}, {1, 2, 15, 17.5}, 1e-5);
}
TEST(Attention, SoftcapComesBeforeTheMask) {
  HostTensor q = f32({1, 1, 1, 1}, {100}), k = f32({1, 1, 3, 1}, {1, 1, 1}),
             v = f32({1, 1, 3, 1}, {1, 2, 60});
  HostTensor mask = make(DType::Bool, {3}, {1, 1, 0});
  AttentionParams p;
  p.softcap = 2;
  expectTensor(attention(q, k, v, &mask, p), DType::F32, {1, 1, 1, 1}, {1.5}, 1e-6);
  HostTensor opposite = f32({1, 1, 2, 1}, {100, -100}), values = f32({1, 1, 2, 1}, {0, 1});
  expectTensor(attention(q, opposite, values, nullptr, p), DType::F32, {1, 1, 1, 1}, {1 / (1 + std::exp(4))},
               1e-7);
}
TEST(Attention, ShapesThatDoNotFit) {
  HostTensor q = zeros({1, 3, 1, 2}), k = zeros({1, 2, 3, 2}), v = zeros({1, 2, 3, 2});
  expectError(attention(q, k, v, nullptr, {}), StatusCode::InvalidArgument, "do not fit");
  HostTensor bias = zeros({2, 3}), one = zeros({1, 1, 1, 2});
  expectError(attention(one, one, one, &bias, {}), StatusCode::InvalidArgument, "broadcast");
  expectTensor(attention(one, zeros({1, 1, 0, 2}), zeros({1, 1, 0, 1}), nullptr, {}), DType::F32,
               {1, 1, 1, 1}, {0});
}

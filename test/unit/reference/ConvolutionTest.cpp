// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matmul and convolutions: hand-made values, and identities against the plainest possible loops.
#include "Tensors.h"

using namespace gpuc;
using namespace gpuc::reference;

namespace {
ConvParams params(std::vector<int64_t> strides, std::vector<int64_t> low, std::vector<int64_t> high,
                  std::vector<int64_t> dilations, int64_t group = 1) {
  return {strides, low, high, dilations, group};
}
ConvParams plain(size_t rank, int64_t group = 1) {
  std::vector<int64_t> ones(rank, 1), zeros(rank, 0);
  return {ones, zeros, zeros, ones, group};
}
} // namespace

TEST(Matmul, BroadcastsBatchAxesFromEitherSide) {
  HostTensor a = noise(DType::F64, {3, 1, 2, 5}), b = noise(DType::F64, {7, 5, 3}, 2);
  auto y = matmul(a, b);
  ASSERT_TRUE(y.ok());
  ASSERT_EQ(y->shape(), (Shape{3, 7, 2, 3}));
  for (int64_t p = 0; p < 3; ++p)
    for (int64_t q = 0; q < 7; ++q)
      for (int64_t i = 0; i < 2; ++i)
        for (int64_t j = 0; j < 3; ++j) {
          double sum = 0;
          for (int64_t k = 0; k < 5; ++k)
            sum += a.data<double>()[(p * 2 + i) * 5 + k] * b.data<double>()[(q * 5 + k) * 3 + j];
          EXPECT_EQ(y->data<double>()[((p * 7 + q) * 2 + i) * 3 + j], sum);
        }
}
TEST(Matmul, ManyRowsAndColumnsCrossTheBlocks) {
  HostTensor a = noise(DType::F32, {11, 13}), b = noise(DType::F32, {13, 521}, 3);
  expectSame(matmul(a, b),
             transpose(matmul(transpose(b, {1, 0}).take(), transpose(a, {1, 0}).take()).take(), {1, 0}));
}
TEST(Matmul, EmptyKGivesZerosAndEmptyBatchBroadcasts) {
  expectTensor(matmul(f32({2, 0}, {}), f32({0, 3}, {})), DType::F32, {2, 3}, {0, 0, 0, 0, 0, 0});
  expectTensor(matmul(f32({0, 2, 2}, {}), f32({1, 2, 3}, {1, 2, 3, 4, 5, 6})), DType::F32, {0, 2, 3}, {});
  expectError(matmul(f32({2, 3}, {1, 2, 3, 4, 5, 6}), f32({2, 3}, {1, 2, 3, 4, 5, 6})),
              StatusCode::InvalidArgument, "2x3");
}
TEST(Matmul, IntegersAreExactAndWrap) {
  int64_t big = (int64_t(1) << 60) + 1;
  EXPECT_EQ(matmul(i64({1, 2}, {big, 1}), i64({2, 1}, {1, 1}))->data<int64_t>()[0], big + 1);
  expectTensor(matmul(make(DType::I8, {1, 2}, {100, -7}), make(DType::I8, {2, 1}, {3, 5})), DType::I8, {1, 1},
               {9});
}
TEST(Matmul, HalfAccumulatesWide) {
  HostTensor a = make(DType::F16, {1, 3}, {60000, 60000, -60000}), b = make(DType::F16, {3, 1}, {1, 1, 1});
  expectTensor(matmul(a, b), DType::F16, {1, 1}, {60000});
}

TEST(Conv, OneDimensionByHand) {
  HostTensor x = iota(DType::F32, {1, 1, 7}, 1), w = f32({1, 1, 3}, {1, 10, 100}), bias = f32({1}, {0.5});
  expectTensor(conv(x, w, nullptr, plain(1)), DType::F32, {1, 1, 5}, {321, 432, 543, 654, 765});
  expectTensor(conv(x, w, &bias, params({3}, {1}, {2}, {2})), DType::F32, {1, 1, 2}, {420.5, 753.5});
  expectTensor(conv(x, w, nullptr, params({2}, {-1}, {-1}, {1})), DType::F32, {1, 1, 2}, {432, 654});
}
TEST(Conv, TwoDimensionsAgainstPlainLoops) {
  HostTensor x = noise(DType::F32, {2, 6, 11, 7}), w = noise(DType::F32, {4, 3, 3, 2}, 5),
             bias = noise(DType::F32, {4}, 7);
  ConvParams p = params({2, 1}, {1, 0}, {2, 1}, {1, 3}, 2);
  auto y = conv(x, w, &bias, p);
  ASSERT_TRUE(y.ok());
  ASSERT_EQ(y->shape(), (Shape{2, 4, 6, 5}));
  int64_t at = 0;
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t o = 0; o < 4; ++o)
      for (int64_t i = 0; i < 6; ++i)
        for (int64_t j = 0; j < 5; ++j, ++at) {
          double sum = bias.data<float>()[o];
          for (int64_t c = 0; c < 3; ++c)
            for (int64_t a = 0; a < 3; ++a)
              for (int64_t b = 0; b < 2; ++b) {
                int64_t row = i * 2 + a - 1, column = j + 3 * b;
                if (row >= 0 && row < 11 && column < 7)
                  sum += double(x.data<float>()[((n * 6 + o / 2 * 3 + c) * 11 + row) * 7 + column]) *
                         w.data<float>()[((o * 3 + c) * 3 + a) * 2 + b];
              }
          EXPECT_EQ(y->data<float>()[at], float(sum)) << at;
        }
}
TEST(Conv, OneByOneIsAMatmul) {
  HostTensor x = noise(DType::F32, {1, 5, 3, 111}), w = noise(DType::F32, {7, 5, 1, 1}, 2);
  expectSame(reshape(conv(x, w, nullptr, plain(2)).take(), {7, 333}),
             matmul(w.reshaped({7, 5}), x.reshaped({5, 333})));
}
TEST(Conv, ThreeDimensionsDepthwiseInteger) {
  HostTensor x = iota(DType::I32, {1, 2, 2, 2, 2}),
             w = make(DType::I32, {2, 1, 2, 2, 2}, std::vector<double>(16, 1));
  expectTensor(conv(x, w, nullptr, plain(3, 2)), DType::I32, {1, 2, 1, 1, 1}, {28, 92});
}
TEST(Conv, RefusesWhatDoesNotFit) {
  HostTensor x = iota(DType::F32, {1, 3, 5}), w = iota(DType::F32, {2, 2, 3});
  expectError(conv(x, w, nullptr, plain(1)), StatusCode::InvalidArgument, "2x2x3");
  expectError(conv(x, iota(DType::F32, {2, 3, 3}), nullptr, params({0}, {0}, {0}, {1})),
              StatusCode::InvalidArgument, "stride 0");
  expectError(conv(x, iota(DType::F32, {2, 3, 3}), &w, plain(1)), StatusCode::InvalidArgument, "bias");
  expectTensor(conv(x, iota(DType::F32, {1, 3, 7}), nullptr, plain(1)), DType::F32, {1, 1, 0}, {});
  expectTensor(conv(f32({0, 3, 5}, {}), iota(DType::F32, {1, 3, 3}), nullptr, plain(1)), DType::F32,
               {0, 1, 3}, {});
}

TEST(ConvTranspose, OneDimensionByHand) {
  HostTensor x = f32({1, 1, 3}, {1, 2, 3}), w = f32({1, 1, 2}, {1, 10}), bias = f32({1}, {0.5});
  expectTensor(convTranspose(x, w, nullptr, plain(1), {4}), DType::F32, {1, 1, 4}, {1, 12, 23, 30});
  // stride 2, dilation 3: cells 2i + 3k - 1, and one output padding cell that is computed like the others.
  expectTensor(convTranspose(x, w, &bias, params({2}, {1}, {0}, {3}), {8}), DType::F32, {1, 1, 8},
               {0.5, 2.5, 10.5, 3.5, 20.5, 0.5, 30.5, 0.5});
}
TEST(ConvTranspose, WeightsOfAGroupAreRowsOfTheInputChannels) {
  HostTensor x = f32({1, 4, 1}, {1, 2, 3, 4}), w = f32({4, 3, 1}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  expectTensor(convTranspose(x, w, nullptr, plain(1, 2), {1}), DType::F32, {1, 6, 1},
               {9, 12, 15, 61, 68, 75});
}
TEST(ConvTranspose, IsTheAdjointOfConv) {
  // <conv(x, w), y> == <x, convTranspose(y, w)>, with exact sums.
  HostTensor x = noise(DType::F64, {2, 6, 19, 17}), w = noise(DType::F64, {4, 3, 3, 2}, 5);
  ConvParams p = params({2, 3}, {1, 0}, {2, 1}, {2, 1}, 2);
  HostTensor forward = conv(x, w, nullptr, p).take();
  HostTensor y = noise(DType::F64, forward.shape(), 9);
  HostTensor backward = convTranspose(y, w, nullptr, p, {19, 17}).take();
  auto dot = [](const HostTensor &a, const HostTensor &b) {
    double sum = 0;
    for (int64_t i = 0; i < a.size(); ++i)
      sum += a.data<double>()[i] * b.data<double>()[i];
    return sum;
  };
  ASSERT_EQ(backward.shape(), x.shape());
  EXPECT_EQ(dot(forward, y), dot(x, backward));
}

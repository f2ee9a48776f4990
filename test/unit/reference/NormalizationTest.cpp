// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax and normalisations: cancellation, fp16 range, optional operands.
#include "Tensors.h"

using namespace gpuc;
using namespace gpuc::reference;

TEST(Softmax, MiddleAxisSumsToOne) {
  auto y = softmax(noise(DType::F64, {2, 3, 5}), 1);
  std::vector<double> sums = read(reduce(ReduceKind::Sum, *y, {1}, false));
  for (double s : sums)
    EXPECT_NEAR(s, 1, 1e-15);
  expectTensor(softmax(f32({3}, {1000, 1000, -kInf}), 0), DType::F32, {3}, {0.5, 0.5, 0});
  expectTensor(softmax(f32({2}, {0, std::log(3)}), 0), DType::F32, {2}, {0.25, 0.75}, 1e-7);
  expectTensor(softmax(f32({2}, {1000, 0}), 0, /*log=*/true), DType::F32, {2}, {0, -1000});
  expectTensor(softmax(f32({0, 3}, {}), 1), DType::F32, {0, 3}, {});
  expectError(softmax(i64({1}, {1}), 0), StatusCode::Unsupported, "i64");
}
TEST(LayerNorm, ConstantRowGivesExactlyTheBias) {
  HostTensor x = f32({2, 3}, {10000.1, 10000.1, 10000.1, 1, 2, 3}), scale = f32({3}, {2, 2, 2}),
             bias = f32({3}, {5, 6, 7});
  double d = 2 / std::sqrt(2.0 / 3);
  expectTensor(layerNorm(x, &scale, &bias, 1, 0), DType::F32, {2, 3}, {kNaN, kNaN, kNaN, 5 - d, 6, 7 + d},
               1e-6);
  std::vector<double> y = read(layerNorm(x, &scale, &bias, 1, 1e-5));
  y.resize(3);
  EXPECT_EQ(y, (std::vector<double>{5, 6, 7}));
  HostTensor constant = make(DType::F64, {1, 7}, std::vector<double>(7, 0.1));
  expectTensor(layerNorm(constant, nullptr, nullptr, 1, 1e-12), DType::F64, {1, 7}, {0, 0, 0, 0, 0, 0, 0});
}
TEST(LayerNorm, HalfSquaresDoNotOverflow) {
  expectTensor(layerNorm(make(DType::F16, {1, 2}, {60000, -60000}), nullptr, nullptr, 1, 1e-5), DType::F16,
               {1, 2}, {1, -1});
}
TEST(LayerNorm, SeveralAxesEqualTheFlattenedRow) {
  HostTensor x = noise(DType::F32, {2, 3, 5});
  expectSame(reshape(layerNorm(x, nullptr, nullptr, 1, 1e-5).take(), {2, 15}),
             layerNorm(x.reshaped({2, 15}), nullptr, nullptr, 1, 1e-5));
  HostTensor bad = f32({2}, {1, 1});
  expectError(layerNorm(x, &bad, nullptr, 1, 1e-5), StatusCode::InvalidArgument, "broadcast");
}
TEST(RmsNorm, KeepsTheMean) {
  HostTensor scale = f32({2}, {10, 1});
  expectTensor(rmsNorm(f32({1, 2}, {3, 4}), &scale, 1, 0), DType::F32, {1, 2},
               {30 / std::sqrt(12.5), 4 / std::sqrt(12.5)}, 1e-6);
}
TEST(GroupNorm, OneGroupPerChannelIsInstanceNorm) {
  HostTensor x = f32({1, 2, 2}, {1, 3, 10, 30}), scale = f32({2}, {1, 2}), bias = f32({2}, {0, 5});
  expectTensor(groupNorm(x, &scale, &bias, 2, 0), DType::F32, {1, 2, 2}, {-1, 1, 3, 7}, 1e-6);
  expectSame(reshape(groupNorm(x, nullptr, nullptr, 1, 1e-5).take(), {1, 4}),
             layerNorm(x.reshaped({1, 4}), nullptr, nullptr, 1, 1e-5));
  expectError(groupNorm(x, nullptr, nullptr, 3, 0), StatusCode::InvalidArgument, "3 groups");
}
TEST(Lrn, WindowIsLongerAboveForEvenSizes) {
  HostTensor x = f32({1, 4, 1}, {1, 2, 3, 4});
  expectTensor(lrn(x, 2, 2, 1, 1), DType::F32, {1, 4, 1}, {1 / 6.0, 2 / 14.0, 3 / 26.0, 4 / 17.0}, 1e-6);
  expectTensor(lrn(x, 3, 3, 1, 1), DType::F32, {1, 4, 1}, {1 / 6.0, 2 / 15.0, 3 / 30.0, 4 / 26.0}, 1e-6);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights that take over a normalisation.
#include "FoldedWeights.h"
#include "gpuc/Reference/Ops.h"
#include "gpuc/Support/DType.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

namespace gpuc {
namespace {

HostTensor random(Shape shape, float mean, float deviation) {
  HostTensor t(DType::F32, shape);
  std::mt19937 engine(7);
  std::normal_distribution<float> normal(mean, deviation);
  for (int64_t i = 0; i < t.size(); ++i)
    t.mutableData<float>()[i] = normal(engine);
  return t;
}

struct Column {
  double sum = 0, sumOfMagnitudes = 0, worstStep = 0; ///< worstStep: of an error, in ulps of the exact value
};

Column column(const FoldedWeights &folded, const HostTensor &weights, const HostTensor &scale, int64_t n,
              double mean, int mantissa) {
  HostTensor rounded = *reference::cast(folded.weights, DType::F32);
  int64_t depth = weights.shape()[0], columns = weights.shape()[1];
  Column c;
  for (int64_t k = 0; k < depth; ++k) {
    double exact = double(weights.data<float>()[k * columns + n]) * scale.data<float>()[k] - mean;
    double value = rounded.data<float>()[k * columns + n];
    c.sum += value;
    c.sumOfMagnitudes += std::fabs(value);
    double ulp = std::exp2(std::max(std::floor(std::log2(std::fabs(exact))), -14.0) - mantissa);
    c.worstStep = std::max(c.worstStep, std::fabs(value - exact) / ulp);
  }
  return c;
}

TEST(FoldedWeights, CenteredColumnsSumToZeroAfterRounding) {
  for (auto [type, mantissa] : {std::pair(DType::F16, 10), std::pair(DType::BF16, 7)}) {
    HostTensor weights = random({384, 5}, 0.02f, 0.05f), scale = random({384}, 1.f, 0.2f);
    FoldedWeights folded = foldWeights(weights, type, &scale, nullptr, true);
    EXPECT_EQ(folded.weights.dtype(), type);
    for (int64_t n = 0; n < 5; ++n) {
      double mean = 0;
      for (int64_t k = 0; k < 384; ++k)
        mean += double(weights.data<float>()[k * 5 + n]) * scale.data<float>()[k] / 384;
      Column c = column(folded, weights, scale, n, mean, mantissa);
      // An ulp or two of a weight; plain rounding leaves three times as much.
      EXPECT_LE(std::fabs(c.sum), 2 * std::exp2(-mantissa) * c.sumOfMagnitudes / 384) << n;
      EXPECT_LE(c.worstStep, 0.68) << n; // only near ties are rounded the other way
    }
  }
}

TEST(FoldedWeights, WithoutCenteringIsScaledAndRounded) {
  HostTensor weights = random({64, 3}, 0.5f, 1.f), scale = random({64}, 1.f, 0.2f),
             bias = random({64}, 0.f, 1.f);
  FoldedWeights folded = foldWeights(weights, DType::F16, &scale, &bias, false);
  HostTensor product = *reference::binary(BinaryKind::Mul, weights, scale.reshaped({64, 1}));
  HostTensor expected = *reference::cast(product, DType::F16);
  for (int64_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(folded.weights.data<uint16_t>()[i], expected.data<uint16_t>()[i]);
  for (int64_t n = 0; n < 3; ++n) {
    double sum = 0; // the norm adds its bias after the scale: original weights
    for (int64_t k = 0; k < 64; ++k)
      sum += double(bias.data<float>()[k]) * weights.data<float>()[k * 3 + n];
    EXPECT_NEAR(folded.bias.data<float>()[n], sum, 1e-5 * std::fabs(sum) + 1e-6);
  }
}

TEST(FoldedWeights, ColumnsOfEqualWeightsVanish) {
  HostTensor weights(DType::F32, {8, 2});
  std::fill_n(weights.mutableData<float>(), 16, 0.5f);
  FoldedWeights folded = foldWeights(weights, DType::F16, nullptr, nullptr, true);
  for (int64_t i = 0; i < 16; ++i)
    EXPECT_EQ(folded.weights.data<uint16_t>()[i] & 0x7fff, 0);
}

} // namespace
} // namespace gpuc

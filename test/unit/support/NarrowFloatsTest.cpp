// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole weights to 16 bits: the same as one element at a time, whatever the number of threads.
#include "gpuc/Support/NarrowFloats.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

using namespace gpuc;

/// Every exponent with mantissas around the rounding borders, both signs, infinities and NaNs.
static std::vector<float> samples() {
  std::vector<float> values;
  for (uint32_t top = 0; top < 0x20000; ++top)
    for (uint32_t low : {0x0000u, 0x0001u, 0x0fffu, 0x1000u, 0x1001u, 0x2fffu, 0x3000u, 0x7fffu}) {
      uint32_t bits = top << 15 | low;
      float v;
      std::memcpy(&v, &bits, 4);
      values.push_back(v);
    }
  return values;
}

TEST(NarrowFloats, SameAsOneByOne) {
  std::vector<float> from = samples();
  from.push_back(1.5f); // no multiple of the vector length
  std::vector<uint16_t> to(from.size());
  for (unsigned threads : {1u, 3u}) {
    narrowFloats(DType::F16, from.data(), to.data(), from.size(), false, threads);
    for (size_t i = 0; i < from.size(); ++i)
      ASSERT_EQ(to[i], floatToHalf(from[i])) << from[i];
    narrowFloats(DType::BF16, from.data(), to.data(), from.size(), false, threads);
    for (size_t i = 0; i < from.size(); ++i)
      ASSERT_EQ(to[i], floatToBFloat(from[i])) << from[i];
  }
}

TEST(NarrowFloats, SaturationKeepsInfinities) {
  std::vector<float> from = samples();
  std::vector<uint16_t> to(from.size());
  narrowFloats(DType::F16, from.data(), to.data(), from.size(), true);
  for (size_t i = 0; i < from.size(); ++i) {
    float v = from[i];
    uint16_t expected = std::isfinite(v) && std::fabs(v) > 65504 ? (v > 0 ? 0x7bff : 0xfbff) : floatToHalf(v);
    ASSERT_EQ(to[i], expected) << v;
  }
}

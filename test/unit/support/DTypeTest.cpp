// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element type names and float conversions; the half conversions over all bit patterns and all rounding
// borders.
#include "gpuc/Support/DType.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

using namespace gpuc;

TEST(DType, NamesRoundTrip) {
  for (unsigned i = 0; i < kNumDTypes; ++i)
    EXPECT_EQ(parseDType(name(DType(i))), DType(i)) << name(DType(i));
  EXPECT_EQ(parseDType("float16"), DType::F16);
  EXPECT_EQ(parseDType("f33"), std::nullopt);
  EXPECT_EQ(name(DType(200)), "invalid");
}

TEST(DType, ByteSizeOfPackedTypesRoundsUp) {
  EXPECT_EQ(byteSize(DType::I4, 3), 2);
  EXPECT_EQ(byteSize(DType::I2, 5), 2);
  EXPECT_EQ(byteSize(DType::F64, 3), 24);
}

/// Value of half bits by definition.
static double halfValue(unsigned bits) {
  int exponent = (bits >> 10) & 31;
  double mantissa = bits & 1023;
  double magnitude = exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

TEST(Half, EveryPatternRoundTrips) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    float f = halfToFloat(uint16_t(bits));
    if ((bits & 0x7c00) == 0x7c00 && (bits & 0x3ff)) {
      EXPECT_TRUE(std::isnan(f));
      uint16_t back = floatToHalf(f);
      EXPECT_TRUE((back & 0x7c00) == 0x7c00 && (back & 0x3ff)) << bits;
      continue;
    }
    if ((bits & 0x7c00) == 0x7c00) {
      EXPECT_TRUE(std::isinf(f));
    } else {
      EXPECT_EQ(double(f), halfValue(bits)) << bits;
    }
    EXPECT_EQ(std::signbit(f), bool(bits & 0x8000));
    EXPECT_EQ(floatToHalf(f), bits);
    EXPECT_EQ(doubleToHalf(double(f)), bits);
  }
}

TEST(Half, RoundsToNearestEvenAtEveryBorder) {
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    double low = halfValue(bits), high = halfValue(bits + 1), middle = (low + high) / 2;
    unsigned even = bits & 1 ? bits + 1 : bits;
    EXPECT_EQ(doubleToHalf(middle), even) << bits;
    EXPECT_EQ(floatToHalf(float(middle)), even) << bits;
    EXPECT_EQ(doubleToHalf(std::nextafter(middle, 0)), bits);
    EXPECT_EQ(doubleToHalf(std::nextafter(middle, 1e9)), bits + 1);
    EXPECT_EQ(floatToHalf(std::nextafterf(float(middle), 0)), bits);
    EXPECT_EQ(floatToHalf(std::nextafterf(float(middle), 1e9f)), bits + 1);
    EXPECT_EQ(doubleToHalf(-std::nextafter(middle, 1e9)), 0x8000 | (bits + 1));
  }
}

TEST(Half, DoubleRoundsOnce) {
  // Just above a tie between halves, but on the tie after a rounding to float.
  double v = 1 + std::ldexp(1, -11) + std::ldexp(1, -40);
  EXPECT_EQ(doubleToHalf(v), 0x3c01);
  EXPECT_EQ(floatToHalf(float(v)), 0x3c00);
}

TEST(Half, OverflowAndTiny) {
  EXPECT_EQ(doubleToHalf(65519.999), 0x7bff);
  EXPECT_EQ(doubleToHalf(65520), 0x7c00);
  EXPECT_EQ(floatToHalf(1e30f), 0x7c00);
  EXPECT_EQ(doubleToHalf(-1e300), 0xfc00);
  EXPECT_EQ(doubleToHalf(std::ldexp(1, -25)), 0);
  EXPECT_EQ(doubleToHalf(std::nextafter(std::ldexp(1, -25), 1)), 1);
  EXPECT_EQ(doubleToHalf(std::numeric_limits<double>::denorm_min()), 0);
  EXPECT_EQ(floatToHalf(-0.0f), 0x8000);
}

TEST(BFloat, EveryPatternRoundTrips) {
  for (unsigned bits = 0; bits < 65536; ++bits) {
    float f = bfloatToFloat(uint16_t(bits));
    if (std::isnan(f)) {
      EXPECT_TRUE(std::isnan(bfloatToFloat(floatToBFloat(f))));
      EXPECT_TRUE(std::isnan(bfloatToFloat(doubleToBFloat(double(f)))));
      continue;
    }
    EXPECT_EQ(floatToBFloat(f), bits);
    EXPECT_EQ(doubleToBFloat(double(f)), bits);
  }
}

TEST(BFloat, FloatAndDoubleAgreeAndRoundToEven) {
  uint32_t state = 1;
  for (int i = 0; i < 200000; ++i) {
    state = state * 1664525u + 1013904223u;
    float f;
    __builtin_memcpy(&f, &state, 4);
    if (!std::isnan(f))
      ASSERT_EQ(floatToBFloat(f), doubleToBFloat(double(f))) << state;
  }
  EXPECT_EQ(doubleToBFloat(1 + std::ldexp(1, -8)), 0x3f80);
  EXPECT_EQ(doubleToBFloat(1 + std::ldexp(3, -8)), 0x3f82);
  EXPECT_EQ(doubleToBFloat(1 + std::ldexp(1, -8) + std::ldexp(1, -40)), 0x3f81);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions: one rounding, wrap-around, and the tables of the small floats.
#include "Tensors.h"

using namespace gpuc;
using namespace gpuc::reference;

namespace {
std::vector<int> codes(const HostTensor &x, DType to, bool saturate = true) {
  HostTensor t = cast(x, to, saturate).take();
  return std::vector<int>(t.bytes(), t.bytes() + t.sizeInBytes());
}
} // namespace

TEST(Cast, FloatToIntegerTruncates) {
  expectTensor(cast(f32({5}, {-1.9, 1.9, kNaN, 1e20, -300}), DType::I8), DType::I8, {5},
               {-1, 1, 0, 127, -128});
  EXPECT_EQ(cast(f32({1}, {1e30}), DType::I64)->data<int64_t>()[0], INT64_MAX);
  EXPECT_EQ(cast(f32({1}, {1e30}), DType::U64)->data<uint64_t>()[0], UINT64_MAX);
}
TEST(Cast, IntegerToIntegerDropsHighBits) {
  expectTensor(cast(i64({4}, {200, -1, 256, 1 << 20}), DType::I8), DType::I8, {4}, {-56, -1, 0, 0});
  EXPECT_EQ(cast(make(DType::I8, {1}, {-1}), DType::U64)->data<uint64_t>()[0], UINT64_MAX);
}
TEST(Cast, ToBoolOnlyZeroIsFalse) {
  expectTensor(cast(f32({5}, {0, -0.0, kNaN, 0.25, kInf}), DType::Bool), DType::Bool, {5}, {0, 0, 1, 1, 1});
  expectTensor(cast(make(DType::Bool, {2}, {0, 1}), DType::F16), DType::F16, {2}, {0, 1});
}
TEST(Cast, Int64IsRoundedOnce) {
  int64_t justAboveTie = (int64_t(1) << 62) + (int64_t(1) << 54) + 1; // bf16 keeps 8 bits of it
  expectTensor(cast(i64({1}, {justAboveTie}), DType::BF16), DType::BF16, {1}, {std::ldexp(129, 55)});
  int64_t f32Tie = (int64_t(1) << 60) + (int64_t(1) << 36) + 1;
  expectTensor(cast(i64({1}, {f32Tie}), DType::F32), DType::F32, {1},
               {std::ldexp(1, 60) + std::ldexp(1, 37)});
  HostTensor u(DType::U64, {1});
  u.mutableData<uint64_t>()[0] = UINT64_MAX;
  expectTensor(cast(u, DType::F32), DType::F32, {1}, {std::ldexp(1, 64)});
}
TEST(Cast, DoubleToHalfIsRoundedOnce) {
  double justAboveTie = 1 + std::ldexp(1, -11) + std::ldexp(1, -40);
  expectTensor(cast(make(DType::F64, {2}, {justAboveTie, 65520}), DType::F16), DType::F16, {2},
               {1 + std::ldexp(1, -10), kInf});
}
TEST(Cast, Fp8Saturates) {
  HostTensor x = f32({6}, {kInf, -kInf, 1e6, -1e6, 464, -0.0});
  EXPECT_EQ(codes(x, DType::F8E4M3FN), (std::vector<int>{0x7e, 0xfe, 0x7e, 0xfe, 0x7e, 0x80}));
  EXPECT_EQ(codes(x, DType::F8E4M3FNUZ), (std::vector<int>{0x7f, 0xff, 0x7f, 0xff, 0x7f, 0x00}));
  EXPECT_EQ(codes(x, DType::F8E5M2), (std::vector<int>{0x7b, 0xfb, 0x7b, 0xfb, 0x5f, 0x80}));
  EXPECT_EQ(codes(f32({1}, {kNaN}), DType::F8E4M3FN), std::vector<int>{0x7f});
  EXPECT_EQ(codes(f32({1}, {kNaN}), DType::F8E5M2FNUZ), std::vector<int>{0x80});
}
TEST(Cast, Fp8WithoutSaturation) {
  HostTensor x = f32({4}, {kInf, -kInf, 1e6, 464});
  EXPECT_EQ(codes(x, DType::F8E4M3FN, false),
            (std::vector<int>{0x7f, 0xff, 0x7f, 0x7e})); // 464 ties to even: 448
  EXPECT_EQ(codes(x, DType::F8E5M2, false), (std::vector<int>{0x7c, 0xfc, 0x7c, 0x5f}));
  EXPECT_EQ(codes(x, DType::F8E5M2FNUZ, false), (std::vector<int>{0x80, 0x80, 0x80, 0x63}));
}
TEST(Cast, EveryCodeOfEverySmallTypeSurvivesARoundTrip) {
  for (DType t : {DType::F8E4M3FN, DType::F8E4M3FNUZ, DType::F8E5M2, DType::F8E5M2FNUZ, DType::F8E8M0,
                  DType::I4, DType::U4, DType::F4E2M1, DType::I2, DType::U2}) {
    int count = 1 << bitWidth(t);
    HostTensor all(t, {count});
    for (int code = 0; code < count; ++code) // packed types: low bits first
      all.mutableBytes()[code * bitWidth(t) / 8] |= uint8_t(code << (code * bitWidth(t) % 8));
    std::vector<double> wide = read(all);
    HostTensor back = cast(f32({count}, wide), t, false).take();
    std::vector<double> again = read(back);
    for (int code = 0; code < count; ++code)
      EXPECT_TRUE(wide[code] == again[code] || std::isnan(wide[code])) << name(t) << " code " << code;
  }
}
TEST(Cast, SubByteTypesArePackedLowFirst) {
  EXPECT_EQ(codes(f32({3}, {-8, 7, -1.5}), DType::I4), (std::vector<int>{0x78, 0x0f}));
  EXPECT_EQ(codes(i64({2}, {8, -9}), DType::I4), (std::vector<int>{0x78})); // the low bits: -8 and 7
  EXPECT_EQ(codes(f32({5}, {0, 1, 2, 3, 1}), DType::U2), (std::vector<int>{0xe4, 0x01}));
  EXPECT_EQ(codes(f32({4}, {-3.5, 5, 0.25, 1000}), DType::F4E2M1), (std::vector<int>{0x6e, 0x70}));
}
TEST(Cast, E8M0RoundsUpToAPowerOfTwo) {
  EXPECT_EQ(codes(f32({5}, {1, 1.25, 4, 0, kNaN}), DType::F8E8M0), (std::vector<int>{127, 128, 129, 0, 255}));
}
TEST(Cast, E8M0RoundsAsAsked) {
  HostTensor x = f32({6}, {1, 1.25, 1.5, 1.75, 2, -1.25});
  auto rounded = [&](RoundMode round) {
    HostTensor t = cast(x, DType::F8E8M0, true, round).take();
    return std::vector<int>(t.bytes(), t.bytes() + t.size());
  };
  EXPECT_EQ(rounded(RoundMode::Up), (std::vector<int>{127, 128, 128, 128, 128, 128}));
  EXPECT_EQ(rounded(RoundMode::Down), (std::vector<int>{127, 127, 127, 127, 128, 127}));
  EXPECT_EQ(rounded(RoundMode::Nearest), (std::vector<int>{127, 127, 128, 128, 128, 127}));
}
TEST(Cast, E8M0OutOfRange) {
  HostTensor x =
      make(DType::F64, {7}, {0, kInf, kNaN, 1e300, std::ldexp(1.5, 127), std::ldexp(1, -127), 1e-40});
  EXPECT_EQ(codes(x, DType::F8E8M0), (std::vector<int>{0, 254, 255, 254, 254, 0, 0}));
  EXPECT_EQ(codes(x, DType::F8E8M0, false), (std::vector<int>{255, 255, 255, 255, 255, 0, 255}));
}

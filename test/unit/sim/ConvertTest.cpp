// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cast<To>(From): truncation, saturation, wrapping and single rounding.
#include "SimFixture.h"
#include <cmath>

namespace gpuc::test {
namespace {

template <typename To, typename From>
std::vector<To> castAll(const std::string &to, const std::string &from, std::vector<From> values) {
  Program program(
      "#include \"common/types.cuh\"\nusing namespace gpuc;\nextern \"C\" __global__ void k(const " + from +
      " *x, " + to + " *y) { y[threadIdx.x] = cast<" + to + ">(x[threadIdx.x]); }\nGPUC_EXPORT(k)\n");
  EXPECT_TRUE(program.status.ok()) << program.status.message();
  Buffer<From> x(*program.device, values);
  Buffer<To> y(*program.device, std::vector<To>(values.size()));
  EXPECT_TRUE(program.launch(1, unsigned(values.size()), 0, {x.ptr, y.ptr}).ok());
  return y.read();
}

TEST(SimCast, FloatToIntegerTruncatesAndSaturates) {
  const std::vector<float> x = {1.9f, -1.9f, 300.0f, -300.0f, NAN, INFINITY, -INFINITY, 127.9f, -0.5f};
  EXPECT_EQ((castAll<int8_t>("i8", "float", x)),
            (std::vector<int8_t>{1, -1, 127, -128, 0, 127, -128, 127, 0}));
  EXPECT_EQ((castAll<uint8_t>("u8", "float", x)), (std::vector<uint8_t>{1, 0, 255, 0, 0, 255, 0, 127, 0}));
  EXPECT_EQ((castAll<int64_t>("i64", "float", std::vector<float>{1e30f, -1e30f, 3.5f, 9.223372e18f})),
            (std::vector<int64_t>{INT64_MAX, INT64_MIN, 3, INT64_MAX}));
  EXPECT_EQ(
      (castAll<int32_t>("i32", "double", std::vector<double>{2147483647.9, -2147483648.9, 2147483646.5})),
      (std::vector<int32_t>{INT32_MAX, INT32_MIN, 2147483646}));
  EXPECT_EQ((castAll<uint64_t>("u64", "double",
                               std::vector<double>{1.8446744073709552e19, -1.0, 4503599627370497.0})),
            (std::vector<uint64_t>{UINT64_MAX, 0, 4503599627370497u}));
}
TEST(SimCast, IntegersWrap) {
  EXPECT_EQ((castAll<int8_t>("i8", "i32", std::vector<int32_t>{300, -129, 127})),
            (std::vector<int8_t>{44, 127, 127}));
  EXPECT_EQ((castAll<uint32_t>("u32", "i64", std::vector<int64_t>{-1, 1ll << 33})),
            (std::vector<uint32_t>{~0u, 0}));
}
TEST(SimCast, Bool) {
  EXPECT_EQ((castAll<uint8_t>("bool", "float", std::vector<float>{0.0f, -0.0f, 0.1f, NAN})),
            (std::vector<uint8_t>{0, 0, 1, 1}));
  EXPECT_EQ((castAll<uint8_t>("bool", "f16", std::vector<uint16_t>{0x8000, 1, 0x7e00})),
            (std::vector<uint8_t>{0, 1, 1}));
  EXPECT_EQ((castAll<float>("float", "bool", std::vector<uint8_t>{0, 1})), (std::vector<float>{0, 1}));
}
TEST(SimCast, HalfRoundTrip) {
  std::vector<uint16_t> all;
  for (unsigned i = 0; i < 1024; ++i)
    all.push_back(uint16_t(i * 61));
  auto wide = castAll<float>("float", "f16", all);
  for (size_t i = 0; i < all.size(); ++i) {
    _Float16 h;
    memcpy(&h, &all[i], 2);
    if (std::isnan(float(h)))
      EXPECT_TRUE(std::isnan(wide[i]));
    else
      EXPECT_EQ(wide[i], float(h));
  }
  EXPECT_EQ((castAll<uint16_t>(
                "f16", "float",
                std::vector<float>{1.0f, 65504.0f, 65520.0f, 2049.0f, 2051.0f, 5.9604645e-8f, 1e-10f})),
            (std::vector<uint16_t>{0x3c00, 0x7bff, 0x7c00, 0x6800, 0x6802, 1, 0}));
  EXPECT_EQ((castAll<uint16_t>("bf16", "float",
                               std::vector<float>{1.0f, 1.00390625f, 1.01171875f, -INFINITY, NAN})),
            (std::vector<uint16_t>{0x3f80, 0x3f80, 0x3f82, 0xff80, 0x7fff}));
}
TEST(SimCast, DoubleAndIntegerToHalfRoundOnce) {
  // just above the middle between 1 and the next f16 / bf16: rounding through float would lose the rest
  EXPECT_EQ((castAll<uint16_t>("f16", "double",
                               std::vector<double>{1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11, -1 - 0x1p-11 - 0x1p-40,
                                                   1e300, NAN})[0]),
            0x3c01);
  auto half = castAll<uint16_t>(
      "f16", "double", std::vector<double>{1 + 0x1p-11, -1 - 0x1p-11 - 0x1p-40, 1e300, 0x1p-25 + 0x1p-60});
  EXPECT_EQ(half, (std::vector<uint16_t>{0x3c00, 0xbc01, 0x7c00, 1}));
  EXPECT_EQ((castAll<uint16_t>("bf16", "double", std::vector<double>{1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-8})),
            (std::vector<uint16_t>{0x3f81, 0x3f80}));
  const int64_t big = (int64_t(1) << 40) + (int64_t(1) << 32);
  EXPECT_EQ((castAll<uint16_t>("bf16", "i64", std::vector<int64_t>{big + 1, big, -(big + 1)})),
            (std::vector<uint16_t>{0x5381, 0x5380, 0xd381}));
}

TEST(SimVec, AllWidths) {
  Program program(R"(#include "common/types.cuh"
using namespace gpuc;
template <int N, typename T> GPUC_DEVICE void move(const u8 *x, u8 *y) {
  stVec(reinterpret_cast<T *>(y), ldVec<N>(reinterpret_cast<const T *>(x)));
}
extern "C" __global__ void k(const u8 *x, u8 *y) {
  move<16, u8>(x, y);
  move<8, u8>(x + 16, y + 16);
  move<3, f16>(x + 24, y + 24);
  move<1, u8>(x + 30, y + 30);
  move<1, i8>(x + 31, y + 31);
  move<8, float>(x + 32, y + 32);
  move<3, double>(x + 64, y + 64);
  Vec<u16, 4> v = ldVecNc<4>(reinterpret_cast<const u16 *>(x + 88));
  stVec(reinterpret_cast<u16 *>(y + 88), v);
}
GPUC_EXPORT(k)
)");
  ASSERT_TRUE(program.status.ok()) << program.status.message();
  std::vector<uint8_t> values(96);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = uint8_t(i + 1);
  Buffer<uint8_t> x(*program.device, values), y(*program.device, std::vector<uint8_t>(96));
  Status status = program.launch(1, 1, 0, {x.ptr, y.ptr});
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(y.read(), values);
}

} // namespace
} // namespace gpuc::test

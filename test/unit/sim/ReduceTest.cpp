// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, scans, broadcasts and atomics against plain loops.
#include "SimFixture.h"
#include <cmath>

namespace gpuc::test {
namespace {

std::string reduceText(const std::string &type) {
  return "#include \"common/reduce.cuh\"\nusing namespace gpuc;\nusing T = " + type + ";\n" + R"(
struct Shared { T scratch[8]; };
extern "C" __global__ void __launch_bounds__(256) k(const T *x, T *out) {
  GPUC_SMEM(Shared, s);
  const int t = threadIdx.x;
  T sum = blockReduce<256>(x[t], SumOp{}, s.scratch);
  T largest = blockReduce<256>(x[t], MaxOp{}, s.scratch);
  T least = blockReduce<256>(x[t], MinOp{}, s.scratch);
  T total;
  T scan = blockScan<256>(x[t], SumOp{}, T(0), s.scratch, total);
  T fromSeven = blockBroadcast(x[t], 7, s.scratch);
  T quad = warpReduce<4>(x[t], SumOp{});
  out[t] = sum; out[256 + t] = largest; out[512 + t] = least; out[768 + t] = scan; out[1024 + t] = total;
  out[1280 + t] = fromSeven; out[1536 + t] = quad;
}
GPUC_EXPORT(k)
)";
}

template <typename T> void checkReductions(const std::string &type, bool full) {
  SimOptions options = simOptions();
  options.fullChecks = full;
  Program program(reduceText(type), options);
  ASSERT_TRUE(program.status.ok()) << program.status.message();
  std::vector<T> x(256);
  for (int i = 0; i < 256; ++i)
    x[i] = T(i * 37 % 101 - 50);
  Buffer<T> dx(*program.device, x), out(*program.device, std::vector<T>(7 * 256));
  Status status = program.launch(1, 256, 64, {dx.ptr, out.ptr});
  ASSERT_TRUE(status.ok()) << status.message();
  auto values = out.read();
  T total = 0, largest = x[0], least = x[0];
  for (T v : x) {
    total = T(total + v);
    largest = std::max(largest, v);
    least = std::min(least, v);
  }
  T prefix = 0;
  for (int t = 0; t < 256; ++t) {
    prefix = T(prefix + x[t]);
    T quad = 0;
    for (int i = 0; i < 4; ++i)
      quad = T(quad + x[t / 4 * 4 + i]);
    ASSERT_EQ(values[t], total);
    ASSERT_EQ(values[256 + t], largest);
    ASSERT_EQ(values[512 + t], least);
    ASSERT_EQ(values[768 + t], prefix);
    ASSERT_EQ(values[1024 + t], total);
    ASSERT_EQ(values[1280 + t], x[7]);
    ASSERT_EQ(values[1536 + t], quad);
  }
}

TEST(SimReduce, Float) { checkReductions<float>("float", false); }
TEST(SimReduce, FloatFullChecks) { checkReductions<float>("float", true); }
TEST(SimReduce, Double) { checkReductions<double>("double", false); }
TEST(SimReduce, I64) { checkReductions<int64_t>("i64", false); }
TEST(SimReduce, I32) { checkReductions<int32_t>("i32", true); }
TEST(SimReduce, I8) { checkReductions<int8_t>("i8", false); }

TEST(SimReduce, NaNPassesMaxAndMin) {
  Program program(reduceText("float"));
  std::vector<float> x(256, 1.0f);
  x[77] = NAN;
  Buffer<float> dx(*program.device, x), out(*program.device, std::vector<float>(7 * 256));
  ASSERT_TRUE(program.launch(1, 256, 64, {dx.ptr, out.ptr}).ok());
  auto values = out.read();
  EXPECT_TRUE(std::isnan(values[256]) && std::isnan(values[512 + 200]));
}

/// 64 blocks of 128 threads on two host threads add into the same elements.
TEST(SimAtomic, ManyBlocks) {
  Program program(R"(#include "arch/atomic.cuh"
using namespace gpuc;
extern "C" __global__ void k(float *f, double *d, i32 *i, i64 *l, u8 *b, f16 *h, i32 *top) {
  arch::atomicAdd(f, 1.0f);
  arch::atomicAdd(d, 0.5);
  arch::atomicAdd(i, 3);
  arch::atomicAdd(l, 5);
  arch::atomicAdd(b + threadIdx.x % 3, 1);
  if (threadIdx.x < 2)
    arch::atomicAdd(h + threadIdx.x, f16{0x3c00});
  arch::atomicMax(top, i32(blockIdx.x * 128 + threadIdx.x));
  arch::atomicMin(top + 1, -i32(blockIdx.x * 128 + threadIdx.x));
}
GPUC_EXPORT(k)
)");
  ASSERT_TRUE(program.status.ok()) << program.status.message();
  Device &device = *program.device;
  Buffer<float> f(device, {0});
  Buffer<double> d(device, {0});
  Buffer<int32_t> i(device, {0}), top(device, {0, 0});
  Buffer<int64_t> l(device, {0});
  Buffer<uint8_t> b(device, {0, 0, 0});
  Buffer<uint16_t> h(device, {0, 0});
  Status status = program.launch(64, 128, 0, {f.ptr, d.ptr, i.ptr, l.ptr, b.ptr, h.ptr, top.ptr});
  ASSERT_TRUE(status.ok()) << status.message();
  const int n = 64 * 128;
  EXPECT_EQ(f.read()[0], float(n));
  EXPECT_EQ(d.read()[0], n / 2);
  EXPECT_EQ(i.read()[0], 3 * n);
  EXPECT_EQ(l.read()[0], 5 * n);
  EXPECT_EQ(b.read(), (std::vector<uint8_t>{uint8_t(64 * 43), uint8_t(64 * 43), uint8_t(64 * 42)}));
  EXPECT_EQ(h.read(), (std::vector<uint16_t>{0x5400, 0x5400})); // 64
  EXPECT_EQ(top.read(), (std::vector<int32_t>{n - 1, -(n - 1)}));
}

TEST(SimShuffle, WidthsAndEdges) {
  Program program(R"(#include "arch/shuffle.cuh"
using namespace gpuc;
extern "C" __global__ void k(i32 *out) {
  i32 t = threadIdx.x;
  out[t] = arch::shflDown(t, 5);
  out[32 + t] = arch::shflUp(t, 3, 8);
  out[64 + t] = arch::shflIdx(t, 2, 16);
  out[96 + t] = i32(arch::shflXor(i64(t) << 33, 16) >> 33);
  out[128 + t] = i32(arch::ballot(t % 3 == 0));
}
GPUC_EXPORT(k)
)");
  Buffer<int32_t> out(*program.device, std::vector<int32_t>(160));
  ASSERT_TRUE(program.launch(1, 32, 0, {out.ptr}).ok());
  auto v = out.read();
  int32_t votes = 0;
  for (int t = 0; t < 32; ++t)
    votes |= (t % 3 == 0) << t;
  for (int t = 0; t < 32; ++t) {
    EXPECT_EQ(v[t], t + 5 < 32 ? t + 5 : t);
    EXPECT_EQ(v[32 + t], t % 8 >= 3 ? t - 3 : t);
    EXPECT_EQ(v[64 + t], t / 16 * 16 + 2);
    EXPECT_EQ(v[96 + t], t ^ 16);
    EXPECT_EQ(v[128 + t], votes);
  }
}

} // namespace
} // namespace gpuc::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ldmatrix and mma tiles against plain loops: C (64, 64) = A (64, K) B (64, K)^T by one block of 4 warps.
#include "SimFixture.h"
#include <cmath>

namespace gpuc::test {
namespace {

std::string gemmText(const std::string &kind, const std::string &element) {
  return "#include \"arch/barrier.cuh\"\n#include \"arch/cp_async.cuh\"\n#include \"arch/ldmatrix.cuh\"\n"
         "#include \"arch/mma_sm80.cuh\"\n#include \"common/types.cuh\"\nusing namespace gpuc;\n"
         "using Element = " +
         element + "; using Kind = arch::" + kind + ";\n" + R"(
constexpr int kRow = 64 / sizeof(Element), kPadded = kRow + 16 / sizeof(Element); // 64 bytes of K per step
struct Shared { Element a[2][64][kPadded], b[2][64][kPadded]; };
extern "C" __global__ void __launch_bounds__(128) k(const Element *a, const Element *b, Kind::Acc *c, const int *kSize) {
  GPUC_SMEM(Shared, s);
  const int K = *kSize, t = threadIdx.x, lane = t % 32, warpM = t / 64 * 32, warpN = t / 32 % 2 * 32;
  auto load = [&](int stage, int step) {
    for (int i = t; i < 256; i += 128) {
      int row = i / 4, column = i % 4 * 16 / int(sizeof(Element));
      arch::cpAsync16(&s.a[stage][row][column], a + row * K + step * kRow + column);
      arch::cpAsync16(&s.b[stage][row][column], b + row * K + step * kRow + column);
    }
    arch::cpAsyncCommit();
  };
  Kind::Acc acc[2][4][Kind::kAccRegs] = {};
  load(0, 0);
  for (int step = 0; step < K / kRow; ++step) {
    const int stage = step % 2;
    if (step + 1 < K / kRow)
      load(1 - stage, step + 1);
    else
      arch::cpAsyncCommit();
    arch::cpAsyncWait<1>();
    arch::syncThreads();
    for (int part = 0; part < 2; ++part) { // 32 bytes of K per instruction
      const int column = part * kRow / 2, half = 16 / sizeof(Element);
      u32 fa[2][4], fb[4][2];
      for (int i = 0; i < 2; ++i)
        arch::ldmatrixX4(fa[i], &s.a[stage][warpM + i * 16 + lane % 16][column + lane / 16 * half]);
      for (int j = 0; j < 4; ++j)
        arch::ldmatrixX2(fb[j], &s.b[stage][warpN + j * 8 + lane % 8][column + lane / 8 % 2 * half]);
      arch::mmaTile<Kind>(acc, fa, fb);
    }
    arch::syncThreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) {
      const int row = warpM + i * 16 + lane / 4, column = warpN + j * 8 + lane % 4 * 2;
      if constexpr (Kind::kAccRegs == 2) {
        for (int r = 0; r < 2; ++r)
          c[((row + r * 8) * 64 + column) / 2] = acc[i][j][r];
      } else {
        for (int r = 0; r < 4; ++r)
          c[(row + r / 2 * 8) * 64 + column + r % 2] = acc[i][j][r];
      }
    }
}
GPUC_EXPORT(k)
)";
}

/// Small integers in the element's format: every product and sum is exact in every kind.
template <typename T> T encode(const std::string &kind, int value) {
  float f = float(value);
  uint32_t bits;
  memcpy(&bits, &f, 4);
  if (kind == "MmaBf16F32")
    return T(bits >> 16);
  if (kind == "MmaTf32F32")
    return T(bits);
  if (kind == "MmaF16F32" || kind == "MmaF16F16") {
    _Float16 h = _Float16(f);
    uint16_t u;
    memcpy(&u, &h, 2);
    return T(u);
  }
  return T(value);
}

template <typename T, typename Acc>
void checkGemm(const std::string &kind, const std::string &element, bool signedA, bool signedB, bool full) {
  SimOptions options = simOptions();
  options.fullChecks = full;
  Program program(gemmText(kind, element), options);
  ASSERT_TRUE(program.status.ok()) << program.status.message();
  const int k = 3 * 64 / int(sizeof(T));
  std::vector<int> a(64 * k), b(64 * k);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = int(i * 7 % 5) - (signedA ? 2 : 0);
    b[i] = int(i * 11 % 7) - (signedB ? 3 : 0);
  }
  std::vector<T> ea, eb;
  for (size_t i = 0; i < a.size(); ++i) {
    ea.push_back(encode<T>(kind, a[i]));
    eb.push_back(encode<T>(kind, b[i]));
  }
  Buffer<T> da(*program.device, ea), db(*program.device, eb);
  Buffer<Acc> dc(*program.device, std::vector<Acc>(64 * 64));
  Buffer<int> dk(*program.device, {k});
  const unsigned shared = 2 * 2 * 64 * (64 + 16);
  Status status = program.launch(1, 128, shared, {da.ptr, db.ptr, dc.ptr, dk.ptr});
  ASSERT_TRUE(status.ok()) << status.message();
  std::vector<Acc> c = dc.read();
  for (int i = 0; i < 64; ++i)
    for (int j = 0; j < 64; ++j) {
      int sum = 0;
      for (int p = 0; p < k; ++p)
        sum += a[i * k + p] * b[j * k + p];
      ASSERT_EQ(float(c[i * 64 + j]), float(sum)) << i << ", " << j;
    }
}

TEST(SimMma, F16) { checkGemm<uint16_t, float>("MmaF16F32", "f16", true, true, false); }
TEST(SimMma, F16FullChecks) { checkGemm<uint16_t, float>("MmaF16F32", "f16", true, true, true); }
TEST(SimMma, F16Accumulators) { checkGemm<uint16_t, _Float16>("MmaF16F16", "f16", true, true, false); }
TEST(SimMma, Bf16) { checkGemm<uint16_t, float>("MmaBf16F32", "bf16", true, true, false); }
TEST(SimMma, Tf32) { checkGemm<uint32_t, float>("MmaTf32F32", "float", true, true, false); }
TEST(SimMma, S8S8) { checkGemm<uint8_t, int32_t>("MmaS8S8S32", "i8", true, true, false); }
TEST(SimMma, S8U8) { checkGemm<uint8_t, int32_t>("MmaS8U8S32", "i8", true, false, false); }
TEST(SimMma, U8S8) { checkGemm<uint8_t, int32_t>("MmaU8S8S32", "u8", false, true, false); }
TEST(SimMma, U8U8) { checkGemm<uint8_t, int32_t>("MmaU8U8S32", "u8", false, false, false); }

TEST(SimLdmatrix, TransposedIsTheTranspose) {
  Program program(R"(#include "arch/ldmatrix.cuh"
#include "arch/barrier.cuh"
using namespace gpuc;
struct Shared { alignas(16) u16 m[8][8]; };
extern "C" __global__ void k(u16 *out) {
  GPUC_SMEM(Shared, s);
  int t = threadIdx.x;
  s.m[t / 4][t % 4 * 2] = u16(t * 2);
  s.m[t / 4][t % 4 * 2 + 1] = u16(t * 2 + 1);
  arch::syncThreads();
  u32 r[1];
  arch::ldmatrixX1Trans(r, &s.m[t % 8][0]);
  out[t * 2] = u16(r[0]);
  out[t * 2 + 1] = u16(r[0] >> 16);
}
GPUC_EXPORT(k)
)");
  Buffer<uint16_t> out(*program.device, std::vector<uint16_t>(64));
  Status status = program.launch(1, 32, 128, {out.ptr});
  ASSERT_TRUE(status.ok()) << status.message();
  auto values = out.read();
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(values[i], i % 8 * 8 + i / 8);
}

} // namespace
} // namespace gpuc::test

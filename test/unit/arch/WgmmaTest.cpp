// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma of every element type, width class and operand placement against plain loops: D (64, N) = 1 + A B
// over 128 bytes of depth.
#include "ArchFixture.h"

namespace gpuc::test {
namespace {

struct Product {
  const char *type; ///< in kernels
  DType dtype;
  int n;
  bool transposedB, registersA;
};

/// -3 … 3 in the element's format: all sums are exact.
std::vector<uint8_t> encode(const std::vector<int> &values, const std::string &type) {
  std::vector<uint8_t> bytes;
  auto put = [&](auto code) {
    for (size_t i = 0; i < sizeof code; ++i)
      bytes.push_back(uint8_t(code >> (8 * i)));
  };
  for (int v : values) {
    const float f = float(v);
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    const int magnitude = v < 0 ? -v : v;
    const uint8_t sign = v < 0 ? 0x80 : 0;
    if (type == "float")
      put(bits | 0x1fffu); // the low bits are ignored
    else if (type == "bf16")
      put(uint16_t(bits >> 16));
    else if (type == "f16")
      put(toHalf({f})[0]);
    else if (type == "f8e4m3fn")
      put(uint8_t(sign | "\x00\x38\x40\x44"[magnitude]));
    else
      put(uint8_t(sign | "\x00\x3c\x40\x42"[magnitude]));
  }
  return bytes;
}

class Wgmma : public ArchTest {
protected:
  void check(const Product &p) {
    const std::string type = p.type;
    const int size = bitWidth(p.dtype) / 8, depth = 128 / size, blocks = (p.n + 63) / 64;
    SCOPED_TRACE(type + ", N = " + std::to_string(p.n) + (p.transposedB ? ", B transposed" : "") +
                 (p.registersA ? ", A in registers" : ""));
    load("using T = " + type + ";\nconstexpr int N = " + std::to_string(p.n) +
         ", kTransposed = " + (p.transposedB ? "1" : "0") +
         ";\nconstexpr bool kRegisters = " + (p.registersA ? "true" : "false") + ";\n" + R"(
struct Shared { u8 a[8192], b[32768]; u64 full; };
extern "C" __global__ void __launch_bounds__(128) k(const __grid_constant__ TensorMap mapA, const __grid_constant__ TensorMap mapB,
                                                    const u8 *a, float *d) {
  GPUC_SMEM(Shared, s);
  u32 full = arch::sharedAddress(&s.full), atA = arch::sharedAddress(s.a), atB = arch::sharedAddress(s.b);
  if (threadIdx.x == 0) {
    arch::mbarrierInit(full, 1);
    arch::mbarrierInitFence();
  }
  arch::syncThreads();
  if (threadIdx.x == 0) {
    arch::mbarrierArriveExpectTx(full, 8192 + (kTransposed ? (N + 63) / 64 * 8192 : N * 128));
    arch::tmaLoad2d(atA, &mapA, full, 0, 0);
    if (kTransposed)
      for (i32 i = 0; i < (N + 63) / 64; ++i)
        arch::tmaLoad2d(atB + u32(i) * 8192, &mapB, full, i * 64, 0);
    else
      arch::tmaLoad2d(atB, &mapB, full, 0, 0);
  }
  arch::mbarrierWait(full, 0);
  u32 lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;
  float acc[N / 2];
  u32 ra[4][4];
#pragma unroll
  for (int i = 0; i < N / 2; ++i)
    acc[i] = 1;
#pragma unroll
  for (u32 step = 0; step < 4; ++step)
#pragma unroll
    for (u32 r = 0; r < 4; ++r)
      ra[step][r] = arch::ld4(a + (row + r % 2 * 8) * 128 + step * 32 + r / 2 * 16 + lane % 4 * 4);
  u64 descA = arch::wgmmaDescK128(atA), descB = kTransposed ? arch::wgmmaDescMn128(atB, 8192, 1024) : arch::wgmmaDescK128(atB);
  arch::wgmmaFence();
#pragma unroll
  for (u32 step = 0; step < 4; ++step) {
    u64 stepB = descB + step * (kTransposed ? 128 : 2);
    if constexpr (kRegisters)
      arch::wgmmaRs<T, N, kTransposed>(acc, ra[step], stepB, 1);
    else
      arch::wgmma<T, N, kTransposed>(acc, descA + step * 2, stepB, 1);
  }
  arch::wgmmaCommit();
  arch::wgmmaWait<0>(acc);
#pragma unroll
  for (u32 i = 0; i < N / 2; ++i)
    d[(row + i / 2 % 2 * 8) * N + i / 4 * 8 + lane % 4 * 2 + i % 2] = acc[i];
})");
    std::vector<int> a(size_t(64 * depth)), b(size_t(p.n * depth));
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = int(i * 5 + i / 64) % 7 - 3;
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = int(i * 3 + i / 32) % 7 - 3;
    auto at = [&](int k, int j) { return p.transposedB ? k * p.n + j : j * depth + k; };
    TensorMapLayout mapA, mapB;
    mapA.dtype = mapB.dtype = p.dtype;
    mapA.swizzle = mapB.swizzle = TensorMapLayout::Swizzle::B128;
    mapA.dims = {uint64_t(depth), 64};
    mapA.box = {uint32_t(depth), 64};
    mapA.strides = mapB.strides = {128};
    mapB.dims = {uint64_t(depth), uint64_t(p.n)};
    mapB.box = {uint32_t(depth), uint32_t(p.n)};
    if (p.transposedB) {
      mapB.dims = {uint64_t(p.n), uint64_t(depth)};
      mapB.strides = {uint64_t(p.n * size)};
      mapB.box = {64, uint32_t(depth)};
      ASSERT_LE(blocks * 8192, 32768);
    }
    auto da = array(encode(a, type)), db = array(encode(b, type));
    auto dd = array(std::vector<float>(size_t(64 * p.n), -1));
    auto args = arguments();
    run(args.map(mapA, da.ptr).map(mapB, db.ptr).array(da).array(dd), {1, 128, 8192 + 32768 + 16});
    const std::vector<float> d = dd.read();
    for (int i = 0; i < 64; ++i)
      for (int j = 0; j < p.n; ++j) {
        int sum = 1;
        for (int k = 0; k < depth; ++k)
          sum += a[size_t(i * depth + k)] * b[size_t(at(k, j))];
        ASSERT_EQ(d[size_t(i * p.n + j)], float(sum)) << i << ", " << j;
      }
  }
};

TEST_P(Wgmma, MultipliesEveryType) {
  const std::pair<const char *, DType> types[] = {{"f16", DType::F16},
                                                  {"bf16", DType::BF16},
                                                  {"float", DType::F32},
                                                  {"f8e4m3fn", DType::U8},
                                                  {"f8e5m2", DType::U8}};
  for (auto [type, dtype] : types)
    for (bool registersA : {false, true})
      check({type, dtype, 40, false, registersA});
}
TEST_P(Wgmma, MultipliesEveryWidthClass) {
  for (int n : {8, 64, 136, 256})
    check({"f16", DType::F16, n, false, false});
}
TEST_P(Wgmma, TakesTransposedB) {
  for (int n : {16, 64, 208, 256})
    for (bool registersA : {false, true})
      check({n == 64 ? "bf16" : "f16", n == 64 ? DType::BF16 : DType::F16, n, true, registersA});
}

GPUC_ON_ALL_DEVICES(Wgmma);

} // namespace
} // namespace gpuc::test

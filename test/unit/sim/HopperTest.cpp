// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarriers, bulk and tensor copies, wgmma, stmatrix and clusters: whole pipelines against plain loops, and
// faults that must be reported.
#include "SimFixture.h"
#include <cmath>
#include <random>

namespace gpuc::test {
namespace {

using Map = std::pair<TensorMapLayout, DevicePtr>;

uint16_t half(float f) { // exact for the small integers used here
  if (f == 0)
    return 0;
  int exponent;
  float mantissa = std::frexp(std::fabs(f), &exponent);
  return uint16_t((f < 0 ? 0x8000 : 0) | (exponent + 14) << 10 | (int(mantissa * 2048) & 1023));
}

/// Small integers, so that every order of sums is exact.
std::vector<uint16_t> randomHalves(size_t count, std::vector<float> &values) {
  std::mt19937 random(7);
  values.resize(count);
  std::vector<uint16_t> bits(count);
  for (size_t i = 0; i < count; ++i)
    bits[i] = half(values[i] = float(int(random() % 9) - 4));
  return bits;
}

TensorMapLayout matrixMap(uint64_t rows, uint64_t columns, uint64_t pitch, uint32_t boxRows,
                          uint32_t boxColumns = 64) {
  TensorMapLayout map;
  map.dims = {columns, rows};
  map.strides = {pitch * 2};
  map.box = {boxColumns, boxRows};
  map.swizzle = TensorMapLayout::Swizzle::B128;
  return map;
}

/// C (M x N) = A (M x K) B (N x K)^T, tiles of 64 x 64, a producer warp and one consumer warpgroup, a ring
/// of 3. FAULT: 1 no wait for data, 2 wrong byte count, 3 early release, 4 no wgmmaWait, 5 an arrival too
/// many.
const char *const kGemm = R"(#include "arch/tma.cuh"
#include "arch/wgmma.cuh"
#include "arch/barrier.cuh"
#include "arch/ldst.cuh"
using namespace gpuc;
using namespace gpuc::arch;
#ifndef FAULT
#define FAULT 0
#endif
struct alignas(1024) Shared { u8 a[3][8192], b[3][8192]; u64 full[3], empty[3]; };
extern "C" __global__ void __launch_bounds__(160) k(const __grid_constant__ TensorMap mapA, const __grid_constant__ TensorMap mapB,
                                                    float *c, const int *sizes) {
  GPUC_SMEM(Shared, s);
  const int t = threadIdx.x, M = sizes[0], N = sizes[1], steps = (sizes[2] + 63) / 64;
  const int tilesN = (N + 63) / 64, m0 = blockIdx.x / tilesN * 64, n0 = blockIdx.x % tilesN * 64;
  const u32 a = sharedAddress(s.a), b = sharedAddress(s.b), full = sharedAddress(s.full), empty = sharedAddress(s.empty);
  if (t == 0) {
    for (int i = 0; i < 3; ++i) {
      mbarrierInit(full + i * 8, 1);
      mbarrierInit(empty + i * 8, 4);
    }
    mbarrierInitFence();
  }
  syncThreads();
  if (t >= 128) {
    if (t == 128)
      for (int i = 0; i < steps; ++i) {
        int stage = i % 3;
        mbarrierWait(empty + stage * 8, i / 3 & 1 ^ 1);
        mbarrierArriveExpectTx(full + stage * 8, FAULT == 2 ? 16384 + 128 : 16384);
        if (FAULT == 5)
          mbarrierArrive(full + stage * 8);
        tmaLoad2d(a + stage * 8192, &mapA, full + stage * 8, i * 64, m0);
        tmaLoad2d(b + stage * 8192, &mapB, full + stage * 8, i * 64, n0);
      }
    return;
  }
  float acc[32];
  for (int i = 0; i < steps; ++i) {
    int stage = i % 3;
    if (FAULT != 1)
      mbarrierWait(full + stage * 8, i / 3 & 1);
    wgmmaFence();
    for (int kk = 0; kk < 4; ++kk)
      wgmma<f16, 64>(acc, wgmmaDescK128(a + stage * 8192) + kk * 2, wgmmaDescK128(b + stage * 8192) + kk * 2, i | kk);
    wgmmaCommit();
    if (FAULT == 3 && t % 32 == 0)
      mbarrierArrive(empty + stage * 8);
    if (FAULT != 4)
      wgmmaWait<0>(acc);
    if (FAULT != 3 && t % 32 == 0)
      mbarrierArrive(empty + stage * 8);
  }
  for (int i = 0; i < 32; ++i) {
    int row = m0 + t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8, column = n0 + i / 4 * 8 + t % 4 * 2 + i % 2;
    if (row < M && column < N)
      c[row * N + column] = acc[i];
  }
}
GPUC_EXPORT(k)
)";

struct GemmRun {
  Status status;
  int wrong = 0;
};

GemmRun runGemm(int fault, bool full) {
  const int M = 131, N = 75, K = 208, pitch = 216;
  SimOptions options = simOptions();
  options.fullChecks = full;
  options.arch = "sm_90a";
  Program program("#define FAULT " + std::to_string(fault) + "\n" + kGemm, options);
  if (!program.status.ok())
    return {program.status};
  std::vector<float> a, b;
  Buffer<uint16_t> da(*program.device, randomHalves(size_t(M) * pitch, a)),
      db(*program.device, randomHalves(size_t(N) * pitch, b));
  Buffer<float> dc(*program.device, std::vector<float>(size_t(M) * N, NAN));
  Buffer<int> sizes(*program.device, {M, N, K});
  GemmRun run;
  run.status =
      program.launch(3 * 2, 160, 6 * 8192 + 1024, {dc.ptr, sizes.ptr},
                     {Map(matrixMap(M, K, pitch, 64), da.ptr), Map(matrixMap(N, K, pitch, 64), db.ptr)});
  auto c = dc.read();
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      float sum = 0;
      for (int k = 0; k < K; ++k)
        sum += a[m * pitch + k] * b[n * pitch + k];
      run.wrong += c[m * N + n] != sum;
    }
  return run;
}

TEST(SimHopper, RingOfTensorCopiesAndWgmma) {
  for (bool full : {false, true}) {
    GemmRun run = runGemm(0, full);
    ASSERT_TRUE(run.status.ok()) << run.status.message();
    EXPECT_EQ(run.wrong, 0);
  }
}

TEST(SimHopper, FaultsOfPipelinesAreSeen) {
  EXPECT_GT(runGemm(1, false).wrong, 0); // reads what has not arrived
  GemmRun bytes = runGemm(2, false);
  EXPECT_NE(bytes.status.message().find("deadlock"), std::string::npos) << bytes.status.message();
  EXPECT_NE(bytes.status.message().find("lacks 0 arrivals and 128 bytes"), std::string::npos)
      << bytes.status.message();
  GemmRun early = runGemm(3, true);
  EXPECT_NE(early.status.message().find("wgmma reads byte"), std::string::npos) << early.status.message();
  GemmRun unwaited = runGemm(4, false);
  EXPECT_NE(unwaited.status.message().find("wgmmaWait is missing"), std::string::npos)
      << unwaited.status.message();
  GemmRun arrivals = runGemm(5, false);
  EXPECT_NE(arrivals.status.message().find("has had its 1 arrivals"), std::string::npos)
      << arrivals.status.message();
}

TEST(SimHopper, OperandInRegistersAndTransposedOperand) {
  // D (64 x 128) = A (64 x 16, registers) B (16 x 128, rows along N).
  Program program(R"(#include "arch/tma.cuh"
#include "arch/wgmma.cuh"
#include "arch/barrier.cuh"
#include "arch/ldmatrix.cuh"
using namespace gpuc;
using namespace gpuc::arch;
struct alignas(1024) Shared { u8 b[2][2048]; alignas(16) u16 a[64][16]; u64 bar; };
extern "C" __global__ void __launch_bounds__(128) k(const __grid_constant__ TensorMap map, const u16 *a, float *c) {
  GPUC_SMEM(Shared, s);
  const int t = threadIdx.x;
  const u32 bar = sharedAddress(&s.bar);
  for (int i = 0; i < 8; ++i) s.a[t / 2][t % 2 * 8 + i] = a[t * 8 + i];
  if (t == 0) {
    mbarrierInit(bar, 1);
    mbarrierInitFence();
    mbarrierArriveExpectTx(bar, 4096);
    tmaLoad2d(sharedAddress(s.b[0]), &map, bar, 0, 0);
    tmaLoad2d(sharedAddress(s.b[1]), &map, bar, 64, 0);
  }
  syncThreads();
  mbarrierWait(bar, 0);
  u32 f[4];
  ldmatrixX4(f, &s.a[t / 32 * 16 + t % 16][t % 32 / 16 * 8]);
  float acc[64];
  wgmmaFence();
  wgmmaRs<f16, 128, 1>(acc, f, wgmmaDescMn128(sharedAddress(s.b), 2048, 1024), 0);
  wgmmaCommit();
  wgmmaWait<0>(acc);
  for (int i = 0; i < 64; ++i)
    c[(t / 32 * 16 + t % 32 / 4 + i / 2 % 2 * 8) * 128 + i / 4 * 8 + t % 4 * 2 + i % 2] = acc[i];
}
GPUC_EXPORT(k)
)");
  ASSERT_TRUE(program.status.ok()) << program.status.message();
  std::vector<float> a, b;
  Buffer<uint16_t> da(*program.device, randomHalves(64 * 16, a)),
      db(*program.device, randomHalves(16 * 128, b));
  Buffer<float> dc(*program.device, std::vector<float>(64 * 128, NAN));
  Status status = program.launch(1, 128, 4096 + 2048 + 1024, {da.ptr, dc.ptr},
                                 {Map(matrixMap(16, 128, 128, 16), db.ptr)});
  ASSERT_TRUE(status.ok()) << status.message();
  auto c = dc.read();
  for (int m = 0; m < 64; ++m)
    for (int n = 0; n < 128; ++n) {
      float sum = 0;
      for (int k = 0; k < 16; ++k)
        sum += a[m * 16 + k] * b[k * 128 + n];
      ASSERT_EQ(c[m * 128 + n], sum) << m << ", " << n;
    }
}

TEST(SimHopper, Im2colWalkAndClippedStore) {
  // Copies 48 pixels of a strided 3x3 window walk (tap 1, 2) of an NHWC image and stores them as rows.
  Program program(R"(#include "arch/tma.cuh"
#include "arch/barrier.cuh"
using namespace gpuc;
using namespace gpuc::arch;
struct alignas(1024) Shared { u8 x[48 * 128]; u64 bar; };
extern "C" __global__ void __launch_bounds__(32) k(const __grid_constant__ TensorMap in, const __grid_constant__ TensorMap out) {
  GPUC_SMEM(Shared, s);
  const u32 bar = sharedAddress(&s.bar), x = sharedAddress(s.x);
  if (threadIdx.x == 0) {
    mbarrierInit(bar, 1);
    mbarrierInitFence();
    mbarrierArriveExpectTx(bar, 48 * 128);
    // pixel 8 of a walk over 3 x 4 positions: row 2, column 0
    tmaLoadIm2col4d(x, &in, bar, 0, 0 * 2 - 1, 2 * 2 - 1, 0, 2, 1);
    mbarrierWait(bar, 0);
    fenceProxyAsyncShared();
    tmaStore2d(&out, x, 0, 0);
    bulkCommit();
    bulkWait<0>();
  }
}
GPUC_EXPORT(k)
)");
  ASSERT_TRUE(program.status.ok()) << program.status.message();
  const int N = 3, H = 6, W = 8, C = 40, P = 3, Q = 4; // 3x3, stride 2, pad 1
  std::vector<float> x;
  auto bits = randomHalves(size_t(N) * H * W * C, x);
  Buffer<uint16_t> dx(*program.device, bits), dy(*program.device, std::vector<uint16_t>(28 * C, 0xffff));
  TensorMapLayout in;
  in.rank = 4;
  in.dims = {C, W, H, N};
  in.strides = {C * 2, W * C * 2, H * W * C * 2};
  in.elementStrides = {1, 2, 2, 1, 1};
  in.im2col = true;
  in.lower = {-1, -1};
  in.upper = {-1, -1};
  in.channelsPerPixel = 64;
  in.pixelsPerColumn = 48;
  in.swizzle = TensorMapLayout::Swizzle::B128;
  TensorMapLayout out = matrixMap(28, C, C, 48); // fewer rows and columns than the box
  Status status = program.launch(1, 32, 48 * 128 + 1024, {}, {Map(in, dx.ptr), Map(out, dy.ptr)});
  ASSERT_TRUE(status.ok()) << status.message();
  auto y = dy.read();
  for (int pixel = 0; pixel < 28; ++pixel)
    for (int c = 0; c < C; ++c) {
      int at = pixel + 8, n = at / (P * Q), h = at / Q % P * 2 - 1 + 1, w = at % Q * 2 - 1 + 2;
      uint16_t expected =
          n < N && h >= 0 && h < H && w >= 0 && w < W ? bits[((n * H + h) * W + w) * C + c] : 0;
      ASSERT_EQ(y[pixel * C + c], expected) << pixel << ", " << c;
    }
}

TEST(SimHopper, ClusterReducesThroughRemoteStores) {
  Program program(R"(#include "arch/cluster.cuh"
#include "arch/mbarrier.cuh"
#include "arch/barrier.cuh"
#include "arch/ldst.cuh"
using namespace gpuc;
using namespace gpuc::arch;
struct Shared { alignas(16) float parts[4][32][4]; u64 bar; };
extern "C" __global__ void __launch_bounds__(32) k(const float *x, float *y) {
  GPUC_SMEM(Shared, s);
  const u32 t = threadIdx.x, rank = clusterRank(), bar = sharedAddress(&s.bar);
  if (t == 0) {
    mbarrierInit(bar, 1);
    mbarrierInitFence();
    mbarrierArriveExpectTx(bar, 4 * 32 * 16);
  }
  syncThreads();
  clusterArrive();
  clusterWait();
  for (u32 to = 0; to < 4; ++to) { // block `to` adds up columns [4 to, 4 to + 4) of every block
    const float *row = x + (blockIdx.x * 32 + t) * 16 + to * 4;
    stAsyncF32x4(clusterMap(sharedAddress(&s.parts[rank][t]), to), row[0], row[1], row[2], row[3], clusterMap(bar, to));
  }
  mbarrierWait(bar, 0);
  for (int e = 0; e < 4; ++e) {
    float sum = 0;
    for (int r = 0; r < 4; ++r) sum += s.parts[r][t][e];
    y[((blockIdx.x / 4) * 32 + t) * 16 + rank * 4 + e] = sum;
  }
  clusterArriveRelease();
  clusterWait();
}
GPUC_EXPORT(k)
)");
  ASSERT_TRUE(program.status.ok()) << program.status.message();
  std::vector<float> x(8 * 32 * 16);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = float(i % 37);
  Buffer<float> dx(*program.device, x), dy(*program.device, std::vector<float>(2 * 32 * 16, NAN));
  Status status = program.launch(8, 32, 4 * 32 * 16 + 16, {dx.ptr, dy.ptr}, {}, 4);
  ASSERT_TRUE(status.ok()) << status.message();
  auto y = dy.read();
  for (int i = 0; i < 2 * 32 * 16; ++i) {
    float sum = 0;
    for (int r = 0; r < 4; ++r)
      sum += x[(i / 512 * 4 + r) * 512 + i % 512];
    ASSERT_EQ(y[i], sum) << i;
  }
  EXPECT_FALSE(program.launch(6, 32, 4 * 32 * 16 + 16, {dx.ptr, dy.ptr}, {}, 4).ok());
}

TEST(SimHopper, StmatrixIsTheInverseOfLdmatrix) {
  Program program(R"(#include "arch/ldmatrix.cuh"
#include "arch/stmatrix.cuh"
#include "arch/barrier.cuh"
using namespace gpuc;
using namespace gpuc::arch;
struct Shared { alignas(16) u16 in[32][8], out[32][8], transposed[32][8]; };
extern "C" __global__ void __launch_bounds__(32) k(const u16 *x, u16 *y) {
  GPUC_SMEM(Shared, s);
  const int t = threadIdx.x;
  for (int i = 0; i < 8; ++i) s.in[t][i] = x[t * 8 + i];
  syncWarp();
  u32 r[4];
  ldmatrixX4(r, s.in[t]);
  stmatrixX4(sharedAddress(s.out[t]), r[0], r[1], r[2], r[3]);
  stmatrixX4Trans(sharedAddress(s.transposed[t]), r[0], r[1], r[2], r[3]);
  syncWarp();
  for (int i = 0; i < 8; ++i) {
    y[t * 8 + i] = s.out[t][i];
    y[256 + t * 8 + i] = s.transposed[t][i];
  }
}
GPUC_EXPORT(k)
)");
  ASSERT_TRUE(program.status.ok()) << program.status.message();
  std::vector<uint16_t> x(256);
  for (int i = 0; i < 256; ++i)
    x[i] = uint16_t(i * 3);
  Buffer<uint16_t> dx(*program.device, x), dy(*program.device, std::vector<uint16_t>(512));
  Status status = program.launch(1, 32, 3 * 512, {dx.ptr, dy.ptr});
  ASSERT_TRUE(status.ok()) << status.message();
  auto y = dy.read();
  for (int m = 0; m < 4; ++m)
    for (int i = 0; i < 8; ++i)
      for (int j = 0; j < 8; ++j) {
        ASSERT_EQ(y[(m * 8 + i) * 8 + j], x[(m * 8 + i) * 8 + j]);
        ASSERT_EQ(y[256 + (m * 8 + i) * 8 + j], x[(m * 8 + j) * 8 + i]);
      }
}

} // namespace
} // namespace gpuc::test

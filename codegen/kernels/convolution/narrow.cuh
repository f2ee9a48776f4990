// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 1x1 convolutions with few channels over many pixels: as a product (pixels, depth) x (depth, columns) they are bound by
// memory, so everything but the two big tensors stays out of the way. The weights live in registers, as B fragments of
// mma.sync, for the whole kernel; a warp walks over blocks of 16 pixels and loads A fragments straight from global
// memory; results go straight to the epilogue. Two permutations make all accesses wide:
//   - The order of the depth does not matter as long as A and B agree: of each 32 elements lane t of a row takes the 8
//     neighbours from 8t, and uses them as the pairs of two instructions (k = 2t, 2t + 8 of each).
//   - Nor does the order of the columns: lane t of a row gets columns in runs of kLanes neighbours, the four lanes' runs
//     side by side.
//
// Config: T (f16, bf16), kRows, kDepth, kCols, kRowStride (of x), kFilterStride (of w), kLanes (8 or 4, dividing kCols),
// kTiles (blocks of 16 pixels whose loads are in flight together), kThreads, kBias, kConstant (w and bias may be read
// before the preceding launch has ended). kDepth and the strides are multiples of 8.
#pragma once
#include "arch/griddep.cuh"
#include "arch/mma_sm80.cuh"
#include "convolution/convolution.cuh"

namespace gpuc {

template <typename Config> struct NarrowProduct {
  using T = typename Config::T;
  using Mma = typename Select<kIsSame<T, f16>, arch::MmaF16F32, arch::MmaBf16F32>::type;
  static constexpr int kLanes = Config::kLanes;
  static constexpr int kDepthBlocks = (Config::kDepth + 31) / 32;
  static constexpr int kRuns = (Config::kCols + 4 * kLanes - 1) / (4 * kLanes); ///< of columns, of a lane
  static constexpr int kOwn = kRuns * kLanes;                                   ///< columns of a lane
  static constexpr int kTilesN = kOwn / 2;                                      ///< instructions side by side
  static constexpr int kWarps = Config::kThreads / 32, kRowsOfWarp = 16 * Config::kTiles;

  /// Column `i` of those that lane `t` of a row has.
  GPUC_DEVICE static constexpr int columnOf(int t, int i) { return (i / kLanes * 4 + t) * kLanes + i % kLanes; }

  struct Words {
    u32 w[4];
  };
  /// 8 elements of the depth from `k` on, zeros behind its end.
  GPUC_DEVICE static Words load(const T *row, int k, bool exists) {
    Words words{};
    if (exists && k < Config::kDepth)
      words = arch::bitCast<Words>(ldVec<8>(row + k));
    return words;
  }

  template <typename Output>
  GPUC_DEVICE static void run(const T *x, const T *w, const T *bias, const Output &output) {
    int lane = int(threadIdx.x) % 32, g = lane / 4, t = lane % 4;
    if constexpr (!Config::kConstant)
      arch::griddepWait();
    u32 b[kDepthBlocks][2][kTilesN][2];
#pragma unroll
    for (int n = 0; n < kTilesN; ++n) {
      int col = columnOf(g / 2, n * 2 + g % 2); // what the instruction takes for its column g
#pragma unroll
      for (int k = 0; k < kDepthBlocks; ++k) {
        Words words = load(w + col * i64(Config::kFilterStride), k * 32 + t * 8, col < Config::kCols);
#pragma unroll
        for (int i = 0; i < 4; ++i)
          b[k][i / 2][n][i % 2] = words.w[i];
      }
    }
    float start[kOwn] = {}; // the sums begin with the bias
    if constexpr (Config::kBias) {
#pragma unroll
      for (int r = 0; r < kRuns; ++r) {
        int col = columnOf(t, r * kLanes);
        if (col >= Config::kCols)
          continue;
        Vec<T, kLanes> v = ldVec<kLanes>(bias + col);
#pragma unroll
        for (int l = 0; l < kLanes; ++l)
          start[r * kLanes + l] = toAcc(v[l]);
      }
    }
    if constexpr (Config::kConstant)
      arch::griddepWait();
    arch::griddepLaunch();

    i32 step = i32(gridDim.x) * kWarps * kRowsOfWarp;
    for (i32 first = (i32(blockIdx.x) * kWarps + i32(threadIdx.x) / 32) * kRowsOfWarp; first < i32(Config::kRows);
         first += step) {
      Words a[Config::kTiles][kDepthBlocks][2];
#pragma unroll
      for (int u = 0; u < Config::kTiles; ++u)
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          i32 row = first + u * 16 + h * 8 + g;
#pragma unroll
          for (int k = 0; k < kDepthBlocks; ++k)
            a[u][k][h] = load(x + row * i64(Config::kRowStride), k * 32 + t * 8, row < i32(Config::kRows));
        }
#pragma unroll
      for (int u = 0; u < Config::kTiles; ++u) {
        float sums[1][kTilesN][4];
#pragma unroll
        for (int i = 0; i < kOwn; ++i)
          sums[0][i / 2][i % 2] = sums[0][i / 2][i % 2 + 2] = start[i];
#pragma unroll
        for (int k = 0; k < kDepthBlocks; ++k)
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            u32 fragment[1][4];
#pragma unroll
            for (int i = 0; i < 4; ++i)
              fragment[0][i] = a[u][k][i % 2].w[half * 2 + i / 2];
            arch::mmaTile<Mma, 1, kTilesN>(sums, fragment, b[k][half]);
          }
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          i32 row = first + u * 16 + h * 8 + g;
          if (row >= i32(Config::kRows))
            continue;
#pragma unroll
          for (int r = 0; r < kRuns; ++r) {
            int col = columnOf(t, r * kLanes);
            float values[kLanes];
#pragma unroll
            for (int l = 0; l < kLanes; ++l)
              values[l] = sums[0][(r * kLanes + l) / 2][l % 2 + h * 2];
            if (col < Config::kCols)
              output.store(values, 0, row, col);
          }
        }
      }
    }
  }
};

} // namespace gpuc

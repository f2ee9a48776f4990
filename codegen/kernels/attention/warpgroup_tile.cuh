// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a warpgroup does with 64 queries and a block of keys: both products, the softmax between them, and the
// stores. Config: flash_wgmma.cuh.
#pragma once
#include "arch/barrier.cuh"
#include "arch/wgmma.cuh"
#include "attention/score.cuh"
#include "common/types.cuh"

namespace gpuc {

/// Scores of 64 queries and kBlockN keys: starts the products.
template <typename Config> GPUC_DEVICE void issueScores(float (&x)[Config::kBlockN / 2], u32 query, u32 keys) {
  u64 a = arch::wgmmaDescK128(query), b = arch::wgmmaDescK128(keys);
  arch::wgmmaFence();
#pragma unroll
  for (int step = 0; step < (Config::kDepth + 15) / 16; ++step)
    arch::wgmma<typename Config::T, Config::kBlockN>(x, a + step / 4 * (64 * 128 / 16) + step % 4 * 2,
                                                     b + step / 4 * (Config::kBlockN * 128 / 16) + step % 4 * 2,
                                                     step != 0);
  arch::wgmmaCommit();
}

/// out += weights * values: starts the products.
template <typename Config, int kWidth>
GPUC_DEVICE void issueValues(float (&out)[kWidth / 2], const u32 (&weights)[Config::kBlockN / 16][4],
                             u32 values) {
  u64 b = arch::wgmmaDescMn128(values, Config::kBlockN * 128, 1024);
  arch::wgmmaFence();
#pragma unroll
  for (int step = 0; step < Config::kBlockN / 16; ++step)
    arch::wgmmaRs<typename Config::T, kWidth, 1>(out, weights[step], b + step * (16 * 128 / 16), 1);
  arch::wgmmaCommit();
}

/// Turns dot products into weights and updates the softmax of the thread's two rows; `factors`: of what has been
/// accumulated so far. `whole`: no key of the block is hidden.
template <int M, typename Row>
GPUC_DEVICE void weighTile(float (&x)[M], const Row (&rows)[2], OnlineSoftmax<float> (&softmax)[2],
                           float (&factors)[2], i32 firstKey, bool whole) {
  if (!whole) {
#pragma unroll
    for (int i = 0; i < M; i += 2)
      rows[i % 4 / 2].scorePair(x[i], x[i + 1], firstKey + i / 4 * 8, false);
  } else if (!Row::kPlain) {
#pragma unroll
    for (int i = 0; i < M; i += 2)
      rows[i % 4 / 2].scorePair(x[i], x[i + 1], firstKey + i / 4 * 8, true);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    float largest[2] = {lowest<float>(), lowest<float>()}, sum[2] = {0, 0}, shift; // two chains each
#pragma unroll
    for (int i = 0; i < M / 2; ++i)
      largest[i % 2] = LargestOp()(largest[i % 2], x[i / 2 * 4 + half * 2 + i % 2]);
    factors[half] =
        softmax[half].raise(warpReduce<4>(LargestOp()(largest[0], largest[1]), LargestOp()) * Row::kUnit, shift);
#pragma unroll
    for (int i = 0; i < M / 2; ++i) {
      float &p = x[i / 2 * 4 + half * 2 + i % 2];
      p = exp2Of(p * Row::kUnit - shift);
      sum[i % 2] += p;
    }
    softmax[half].sum += sum[0] + sum[1];
  }
}

/// Weights as A fragments of steps of 16 keys: accumulators lie the same way.
template <typename T, int N> GPUC_DEVICE void packWeights(u32 (&a)[N / 16][4], const float (&x)[N / 2]) {
#pragma unroll
  for (int i = 0; i < N / 4; ++i)
    if constexpr (kIsSame<T, f16>)
      a[i / 4][i % 4] = arch::cvtF16x2F32(x[i * 2], x[i * 2 + 1]);
    else
      a[i / 4][i % 4] = arch::cvtBf16x2F32(x[i * 2], x[i * 2 + 1]);
}

/// Stores a warp's 16 rows, but for those with a bit in `skip`, through `slab`, 32 columns at a time.
template <typename Config, typename Output, int M>
GPUC_DEVICE void storeRows(float *slab, const float (&out)[M], const float (&scales)[2], AttentionCoord at,
                           i32 firstRow, u32 skip, const Output &output) {
  constexpr int kLanes = Config::kLanes, kLine = 32 / kLanes;
  int lane = int(threadIdx.x) % 32;
#pragma unroll
  for (int first = 0; first < M * 2; first += 32) {
    if (first > 0)
      arch::syncWarp();
#pragma unroll
    for (int i = 0; i < 8; ++i) { // 4 blocks of 8 columns, 2 rows
      int j = first / 8 + i / 2, r = lane / 4 + i % 2 * 8, chunk = i / 2 * 2 + lane % 4 / 2;
      if (j * 4 < M)
        stVec(slab + r * 32 + (chunk ^ (r % 4 * 2)) * 4 + lane % 2 * 2,
              Vec<float, 2>{{out[j * 4 + i % 2 * 2] * scales[i % 2], out[j * 4 + i % 2 * 2 + 1] * scales[i % 2]}});
    }
    arch::syncWarp();
#pragma unroll
    for (int i = 0; i < kLine / 2; ++i) {
      int item = i * 32 + lane, r = item / kLine, e = item % kLine * kLanes;
      if (firstRow + r >= Config::kQueries || (skip >> r & 1u) ||
          (Config::kColumns % 32 != 0 && first + e >= Config::kColumns))
        continue;
      float y[kLanes];
      constexpr int kPiece = kLanes < 4 ? kLanes : 4;
#pragma unroll
      for (int piece = 0; piece < kLanes; piece += kPiece) {
        int column = e + piece;
        Vec<float, kPiece> part = ldVec<kPiece>(slab + r * 32 + ((column / 4) ^ (r % 4 * 2)) * 4 + column % 4);
#pragma unroll
        for (int l = 0; l < kPiece; ++l)
          y[piece + l] = part[l];
      }
      output.store(y, at.b, at.g, firstRow + r, first + e);
    }
  }
}

} // namespace gpuc

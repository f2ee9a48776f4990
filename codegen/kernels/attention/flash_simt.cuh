// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fused attention without tensor cores, for f32, f64 and depths that the tensor core tiles do not hold: 256
// threads as 16 x 16, each with kRowsM x kColsN scores; depth passes through shared memory in chunks, so any
// D; blocks own kChunkE columns of the result, so any E.
//
// Config, beyond score.cuh: T, Acc, kRowsM, kColsN, kBlockM = 16 kRowsM, kBlockN = 16 kColsN, kChunkD,
// kChunkE (a multiple of 16 kColsE), kColsE, kKeyHeads, kLanes (divides kColsE). Output as in flash_mma.cuh,
// of Acc.
#pragma once
#include "arch/barrier.cuh"
#include "attention/split_keys.cuh"
#include "attention/tile_load.cuh"

namespace gpuc {

template <typename Config> struct FlashSimtShared {
  using Acc = typename Config::Acc;
  static constexpr int kPad = 16 / int(sizeof(Acc));
  static constexpr int kStrideM = Config::kBlockM + kPad, kStrideN = Config::kBlockN + kPad;
  Acc q[Config::kChunkD * kStrideM];        // (CHUNK_D, BLK_M)
  Acc k[Config::kChunkD * kStrideN];        // (CHUNK_D, BLK_N)
  Acc p[Config::kBlockN * kStrideM];        // (BLK_N, BLK_M)
  Acc v[Config::kBlockN * Config::kChunkE]; // (BLK_N, CHUNK_E)
};

/// tile[d * kStride + r] = element (first + r, depth + d), zeros past the ends.
template <typename View, int kRows, int kDepth, int kStride, int kSize, typename Acc, typename T>
GPUC_DEVICE void loadTurned(Acc (&tile)[kSize], const T *base, i32 first, i32 rows, i32 depth) {
#pragma unroll 4
  for (int item = int(threadIdx.x); item < kRows * kDepth; item += 256) {
    int r = View::kRowsFastest ? item % kRows : item / kDepth,
        d = View::kRowsFastest ? item / kRows : item % kDepth;
    bool inside = first + r < rows && depth + d < View::kExtent;
    tile[d * kStride + r] =
        inside ? toAcc(base[View::rowOffset(first + r) + i64(depth + d) * View::kDepthStride]) : Acc(0);
  }
}

/// Attention of one block of query rows over one slice of the keys, and columns [firstE, firstE + kChunkE) of
/// the result.
template <typename Config, typename Q, typename K, typename V, typename Bias, typename Output>
GPUC_DEVICE void flashSimt(FlashSimtShared<Config> &shared, const typename Config::T *q,
                           const typename Config::T *k, const typename Config::T *v, const Bias &bias,
                           const Output &output, AttentionCoord at, i32 split, i32 firstE) {
  using T = typename Config::T;
  using Acc = typename Config::Acc;
  using Shared = FlashSimtShared<Config>;
  constexpr int kRowsM = Config::kRowsM, kColsN = Config::kColsN, kColsE = Config::kColsE;
  constexpr int kBlockN = Config::kBlockN, kPieces = Config::kChunkE / (16 * kColsE);
  constexpr i32 kRows = Config::kQueries * Config::kRepeat;
  int tx = int(threadIdx.x) % 16, ty = int(threadIdx.x) / 16;

  i32 keys = visibleKeys<Config>(at.first + Config::kBlockM), begin = split * Config::kSplitTiles * kBlockN;
  if (Config::kSplits > 1 && keys > begin + Config::kSplitTiles * kBlockN)
    keys = begin + Config::kSplitTiles * kBlockN;
  const T *baseQ = q + Q::kOffset + i64(at.b) * Q::kBatch + i64(at.g) * Q::kHead * Config::kRepeat;
  const T *baseK = k + K::kOffset + i64(at.b) * K::kBatch + i64(at.g) * K::kHead;
  const T *baseV = v + V::kOffset + i64(at.b) * V::kBatch + i64(at.g) * V::kHead;

  Acc out[kRowsM][kPieces][kColsE]; // row ty * kRowsM + i, column (piece * 16 + tx) * kColsE + c
  OnlineSoftmax<Acc> softmax[kRowsM];
#pragma unroll
  for (int i = 0; i < kRowsM; ++i)
#pragma unroll
    for (int j = 0; j < kPieces; ++j)
#pragma unroll
      for (int c = 0; c < kColsE; ++c)
        out[i][j][c] = 0;

  for (i32 firstKey = begin; firstKey < keys; firstKey += kBlockN) {
    Acc scores[kRowsM][kColsN];
#pragma unroll
    for (int i = 0; i < kRowsM; ++i)
#pragma unroll
      for (int j = 0; j < kColsN; ++j)
        scores[i][j] = 0;
    // The values' copy is in flight while the scores are computed: v is free since the barrier that ended the
    // last step.
#pragma unroll 4
    for (int item = int(threadIdx.x); item < kBlockN * Config::kChunkE; item += 256) {
      int r = V::kRowsFastest ? item % kBlockN : item / Config::kChunkE;
      int e = V::kRowsFastest ? item / kBlockN : item % Config::kChunkE;
      bool inside = firstKey + r < Config::kKeys && firstE + e < V::kExtent;
      shared.v[r * Config::kChunkE + e] =
          inside ? toAcc(baseV[V::rowOffset(firstKey + r) + i64(firstE + e) * V::kDepthStride]) : Acc(0);
    }
    for (i32 depth = 0; depth < Q::kExtent; depth += Config::kChunkD) {
      loadTurned<Q, Config::kBlockM, Config::kChunkD, Shared::kStrideM>(shared.q, baseQ, at.first, kRows,
                                                                        depth);
      loadTurned<K, kBlockN, Config::kChunkD, Shared::kStrideN>(shared.k, baseK, firstKey, Config::kKeys,
                                                                depth);
      arch::syncThreads();
#pragma unroll 8
      for (int d = 0; d < Config::kChunkD; ++d) {
        Vec<Acc, kRowsM> a = ldVec<kRowsM>(&shared.q[d * Shared::kStrideM + ty * kRowsM]);
        Vec<Acc, kColsN> b = ldVec<kColsN>(&shared.k[d * Shared::kStrideN + tx * kColsN]);
#pragma unroll
        for (int i = 0; i < kRowsM; ++i)
#pragma unroll
          for (int j = 0; j < kColsN; ++j)
            scores[i][j] += a[i] * b[j];
      }
      arch::syncThreads();
    }
#pragma unroll
    for (int i = 0; i < kRowsM; ++i) {
      ScoreRow<Config, Bias> row(bias, at, at.first + ty * kRowsM + i);
      Acc largest = lowest<Acc>(), shift;
#pragma unroll
      for (int j = 0; j < kColsN; ++j) {
        scores[i][j] = row.score(scores[i][j], firstKey + tx * kColsN + j, false);
        largest = LargestOp()(largest, scores[i][j]);
      }
      constexpr Acc kUnit = ScoreRow<Config, Bias>::kUnit;
      Acc factor = softmax[i].raise(warpReduce<16>(largest, LargestOp()) * kUnit, shift);
#pragma unroll
      for (int j = 0; j < kColsN; ++j) {
        Acc weight = exp2Of(scores[i][j] * kUnit - shift);
        softmax[i].sum += weight;
        shared.p[(tx * kColsN + j) * Shared::kStrideM + ty * kRowsM + i] = weight;
      }
#pragma unroll
      for (int j = 0; j < kPieces; ++j)
#pragma unroll
        for (int c = 0; c < kColsE; ++c)
          out[i][j][c] *= factor;
    }
    arch::syncThreads();
#pragma unroll 4
    for (int key = 0; key < kBlockN; ++key) {
      Vec<Acc, kRowsM> p = ldVec<kRowsM>(&shared.p[key * Shared::kStrideM + ty * kRowsM]);
#pragma unroll
      for (int j = 0; j < kPieces; ++j) {
        Vec<Acc, kColsE> value = ldVec<kColsE>(&shared.v[key * Config::kChunkE + (j * 16 + tx) * kColsE]);
#pragma unroll
        for (int i = 0; i < kRowsM; ++i)
#pragma unroll
          for (int c = 0; c < kColsE; ++c)
            out[i][j][c] += p[i] * value[c];
      }
    }
    arch::syncThreads();
  }

  constexpr int kLanes = Config::kLanes;
#pragma unroll
  for (int i = 0; i < kRowsM; ++i) {
    softmax[i].sum = warpReduce<16>(softmax[i].sum, SumOp());
    i32 r = at.first + ty * kRowsM + i;
    Acc scale = 1;
    if constexpr (Config::kSplits > 1) {
      if (tx == 0 && firstE == 0)
        output.storeState(softmax[i], at, r);
    } else {
      scale = OnlineSoftmax<Acc>::template finalScale<Config::kZeroMasked>(softmax[i].sum);
    }
    if (r >= kRows)
      continue;
#pragma unroll
    for (int j = 0; j < kPieces; ++j)
#pragma unroll
      for (int c = 0; c < kColsE; c += kLanes) {
        i32 e = firstE + (j * 16 + tx) * kColsE + c;
        if (e >= V::kExtent)
          continue;
        Acc y[kLanes];
#pragma unroll
        for (int l = 0; l < kLanes; ++l)
          y[l] = out[i][j][c + l] * scale;
        output.store(y, at.b, at.g * Config::kRepeat + r % Config::kRepeat, r / Config::kRepeat, e);
      }
  }
}

} // namespace gpuc

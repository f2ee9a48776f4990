// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A hidden key has weight 0, but on tensor cores a NaN or infinite value of it still reaches the row's sums, as
// 0 * NaN. Rows whose sums are not finite are computed again here, key by key, without the hidden ones. That is
// slow and rare.
//
// Config, Bias: score.cuh; views of the operands: tile_load.cuh.
#pragma once
#include "attention/score.cuh"
#include "common/types.cuh"

namespace gpuc {

/// Whether some query may not see some key.
template <typename Config, typename Bias>
inline constexpr bool kHidesKeys = Config::kCausal || Bias::kKind != BiasKind::None;

/// Bits of the warp's 16 rows with a sum that is not finite. `out`: accumulators of 16 rows, 4 per 8 columns.
template <int M> GPUC_DEVICE u32 spoiltRows(const float (&out)[M]) {
  float probe[2] = {0, 0};
#pragma unroll
  for (int i = 0; i < M; ++i)
    probe[i % 4 / 2] += out[i] * 0.f;
  u32 bits = 0;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    u32 lanes = arch::ballot(probe[half] != 0.f); // four lanes per row
    lanes |= lanes >> 1;
    lanes |= lanes >> 2;
#pragma unroll
    for (int r = 0; r < 8; ++r)
      bits |= (lanes >> (r * 4) & 1u) << (half * 8 + r);
  }
  return bits;
}

/// Stores row `row` of key head (at.b, keyHead) once more: keys [first, end), weights relative to `shift`, sums
/// times `scale`. All lanes of one warp.
template <typename Config, typename Q, typename K, typename V, typename Bias, typename Output>
GPUC_DEVICE void storeVisible(const typename Config::T *q, const typename Config::T *k, const typename Config::T *v,
                              const Bias &bias, const Output &output, AttentionCoord at, i32 keyHead, i32 row,
                              i32 first, i32 end, float shift, float scale) {
  using T = typename Config::T;
  constexpr int kLanes = Config::kLanes, kGroups = (V::kExtent + 32 * kLanes - 1) / (32 * kLanes);
  const T *query =
      q + Q::kOffset + i64(at.b) * Q::kBatch + i64(at.g) * Q::kHead * Config::kRepeat + Q::rowOffset(row);
  const T *keys = k + K::kOffset + i64(at.b) * K::kBatch + i64(keyHead) * K::kHead;
  const T *values = v + V::kOffset + i64(at.b) * V::kBatch + i64(keyHead) * V::kHead;
  ScoreRow<Config, Bias> scores(bias, at, row);
  int lane = int(threadIdx.x) % 32;
  float y[kGroups][kLanes] = {};
#pragma unroll 1
  for (i32 from = first; from < end; from += 32) {
    i32 t = from + lane;
    float weight = 0;
    if (t < end) {
      const T *key = keys + K::rowOffset(t);
      float dot = 0;
#pragma unroll 1
      for (i32 d = 0; d < Q::kExtent; ++d)
        dot += toFloat(query[d * Q::kDepthStride]) * toFloat(key[d * K::kDepthStride]);
      weight = exp2Of(scores.score(dot, t, false) * ScoreRow<Config, Bias>::kUnit - shift);
    }
    u32 visible = arch::ballot(weight != 0.f);
#pragma unroll 1
    for (int i = 0; i < 32; ++i) {
      float w = arch::shflIdx(weight, u32(i));
      const T *value = values + V::rowOffset(from + i);
      if (visible >> i & 1u) {
#pragma unroll
        for (int group = 0; group < kGroups; ++group)
#pragma unroll
          for (int l = 0; l < kLanes; ++l) {
            i32 e = (group * 32 + lane) * kLanes + l;
            if (e < V::kExtent)
              y[group][l] += w * toFloat(value[e * V::kDepthStride]);
          }
      }
    }
  }
#pragma unroll
  for (int group = 0; group < kGroups; ++group) {
    i32 e = (group * 32 + lane) * kLanes;
#pragma unroll
    for (int l = 0; l < kLanes; ++l)
      y[group][l] *= scale;
    if (e < V::kExtent)
      output.store(y[group], at.b, at.g * Config::kRepeat + row % Config::kRepeat, row / Config::kRepeat, e);
  }
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fused attention on tensor cores (mma.sync, sm_80 and later), after FlashAttention-2 (Dao 2023): a warp owns
// 16 rows of queries, keys and values pass through a double-buffered cp.async ring, softmax is online,
// accumulation is in float.
//
// Config, beyond score.cuh: T, Acc = float, Fragments (below), kBlockM (16 per warp), kBlockN, kWarpsN (warps
// that share the keys of a tile and join their results at the end: few queries), kWidthD, kWidthE (D and E
// rounded up to 16), kKeyHeads, kLanes (of the output), kSplits and kSplitTiles (slices of the keys). Output:
// store(const float (&y)[kLanes], i32 b, i32 h, i32 s, i32 e).
#pragma once
#include "arch/barrier.cuh"
#include "arch/ldmatrix.cuh"
#include "arch/mma_sm80.cuh"
#include "attention/hidden_keys.cuh"
#include "attention/split_keys.cuh"
#include "attention/tile_load.cuh"

namespace gpuc {

/// f16 and bf16: fragments by ldmatrix. Steps of 16 along the depth and along the keys.
template <typename T> struct Fragments16 {
  using Mma = typename Select<kIsSame<T, f16>, arch::MmaF16F32, arch::MmaBf16F32>::type;
  static constexpr int kPad = 8, kStep = 16;
  GPUC_DEVICE static void loadQuery(u32 (&a)[1][4], const T *q, int stride, int step) {
    int lane = int(threadIdx.x) % 32;
    arch::ldmatrixX4(a[0], q + lane % 16 * stride + step * 16 + lane / 16 * 8);
  }
  /// 16 keys x kStep: B fragments of two instructions.
  GPUC_DEVICE static void loadKeys(u32 (&b)[2][2], const T *k, int stride, int step) {
    int lane = int(threadIdx.x) % 32;
    u32 r[4];
    arch::ldmatrixX4(r, k + (lane / 16 * 8 + lane % 8) * stride + step * 16 + lane / 8 % 2 * 8);
    b[0][0] = r[0], b[0][1] = r[1], b[1][0] = r[2], b[1][1] = r[3];
  }
  /// kStep keys x 16 columns.
  GPUC_DEVICE static void loadValues(u32 (&b)[2][2], const T *v, int stride, int step) {
    int lane = int(threadIdx.x) % 32;
    u32 r[4];
    arch::ldmatrixX4Trans(r, v + (step * 16 + lane % 16) * stride + lane / 16 * 8);
    b[0][0] = r[0], b[0][1] = r[1], b[1][0] = r[2], b[1][1] = r[3];
  }
  /// The weights of step `step` (accumulators of pairs of key blocks) as an A fragment.
  template <int N> GPUC_DEVICE static void pack(u32 (&a)[1][4], const float (&p)[N][1][2][4], int step) {
    const float (&left)[4] = p[step][0][0], (&right)[4] = p[step][0][1];
    a[0][0] = pair(left[0], left[1]), a[0][1] = pair(left[2], left[3]);
    a[0][2] = pair(right[0], right[1]), a[0][3] = pair(right[2], right[3]);
  }
  GPUC_DEVICE static u32 pair(float lo, float hi) {
    if constexpr (kIsSame<T, f16>)
      return arch::cvtF16x2F32(lo, hi);
    else
      return arch::cvtBf16x2F32(lo, hi);
  }
};

/// f32 rounded to tf32: element loads. Steps of 8. Within a step of the keys, key 2t is index t of the
/// instruction and key 2t+1 is t+4, which is how accumulators lie.
struct FragmentsTf32 {
  using Mma = arch::MmaTf32F32;
  static constexpr int kPad = 4, kStep = 8;
  GPUC_DEVICE static void loadQuery(u32 (&a)[1][4], const float *q, int stride, int step) {
    int lane = int(threadIdx.x) % 32, g = lane / 4, t = lane % 4 + step * 8;
    a[0][0] = arch::cvtRnaTf32(q[g * stride + t]), a[0][1] = arch::cvtRnaTf32(q[(g + 8) * stride + t]);
    a[0][2] = arch::cvtRnaTf32(q[g * stride + t + 4]),
    a[0][3] = arch::cvtRnaTf32(q[(g + 8) * stride + t + 4]);
  }
  GPUC_DEVICE static void loadKeys(u32 (&b)[2][2], const float *k, int stride, int step) {
    int lane = int(threadIdx.x) % 32, g = lane / 4, t = lane % 4 + step * 8;
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      b[n][0] = arch::cvtRnaTf32(k[(n * 8 + g) * stride + t]);
      b[n][1] = arch::cvtRnaTf32(k[(n * 8 + g) * stride + t + 4]);
    }
  }
  GPUC_DEVICE static void loadValues(u32 (&b)[2][2], const float *v, int stride, int step) {
    int lane = int(threadIdx.x) % 32, g = lane / 4, key = step * 8 + lane % 4 * 2;
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      b[n][0] = arch::cvtRnaTf32(v[key * stride + n * 8 + g]);
      b[n][1] = arch::cvtRnaTf32(v[(key + 1) * stride + n * 8 + g]);
    }
  }
  template <int N> GPUC_DEVICE static void pack(u32 (&a)[1][4], const float (&p)[N][1][2][4], int step) {
    const float (&block)[4] = p[step / 2][0][step % 2];
    a[0][0] = arch::cvtRnaTf32(block[0]), a[0][1] = arch::cvtRnaTf32(block[2]);
    a[0][2] = arch::cvtRnaTf32(block[1]), a[0][3] = arch::cvtRnaTf32(block[3]);
  }
};

template <typename Config> struct FlashMmaShared {
  using T = typename Config::T;
  static constexpr int kStrideD = Config::kWidthD + Config::Fragments::kPad,
                       kStrideE = Config::kWidthE + Config::Fragments::kPad;
  static constexpr int kSlabStride = Config::kWidthE + 4; ///< floats
  struct Ring {
    T q[Config::kBlockM * kStrideD];    // (BLK_M, D)
    T k[2][Config::kBlockN * kStrideD]; // (STAGE, BLK_N, D)
    T v[2][Config::kBlockN * kStrideE]; // (STAGE, BLK_N, E)
  };
  struct Slabs {
    float out[Config::kBlockM / 16 * Config::kWarpsN]
             [16 * kSlabStride]; // (WARP, 16, E): turns fragments into rows for the stores
    OnlineSoftmax<float> states[Config::kBlockM / 16 * Config::kWarpsN][16]; // with kWarpsN > 1
    u32 spoilt[Config::kBlockM / 16 * Config::kWarpsN]; // rows to compute again
  };
  union {
    Ring ring;
    Slabs slabs;
  };
};

/// Turns dot products into scores. kWhole: no key of the tile is hidden.
template <int kPairsN, bool kWhole, typename Row>
GPUC_DEVICE void scoreTile(float (&scores)[kPairsN][1][2][4], const Row (&rows)[2], i32 firstKey) {
#pragma unroll
  for (int j = 0; j < kPairsN; ++j)
#pragma unroll
    for (int i = 0; i < 8; i += 2)
      rows[i % 4 / 2].scorePair(scores[j][0][i / 4][i % 4], scores[j][0][i / 4][i % 4 + 1],
                                firstKey + j * 16 + i / 4 * 8, kWhole);
}

/// Attention of one block of query rows over one slice of the keys. `q`, `k`, `v` are the buffers' bases.
template <typename Config, typename Q, typename K, typename V, typename Bias, typename Output>
GPUC_DEVICE void flashMma(FlashMmaShared<Config> &shared, const typename Config::T *q,
                          const typename Config::T *k, const typename Config::T *v, const Bias &bias,
                          const Output &output, AttentionCoord at, i32 split) {
  using T = typename Config::T;
  using F = typename Config::Fragments;
  using Mma = typename F::Mma;
  using Shared = FlashMmaShared<Config>;
  constexpr int kBlockN = Config::kBlockN, kWarpsN = Config::kWarpsN, kWarpN = kBlockN / kWarpsN;
  constexpr int kThreads = Config::kBlockM * 2 * kWarpsN;
  constexpr int kPairsN = kWarpN / 16, kPairsE = Config::kWidthE / 16;
  constexpr int kStepsD = Config::kWidthD / F::kStep, kStepsN = kWarpN / F::kStep;
  constexpr int kStrideD = Shared::kStrideD, kStrideE = Shared::kStrideE;
  constexpr i32 kRows = Config::kQueries * Config::kRepeat;
  int warp = int(threadIdx.x) / 32 / kWarpsN, lane = int(threadIdx.x) % 32;
  int warpN = int(threadIdx.x) / 32 % kWarpsN * kWarpN; // first key of the warp in a tile

  i32 keys = visibleKeys<Config>(at.first + Config::kBlockM);
  i32 firstTile = split * Config::kSplitTiles, tiles = (keys + kBlockN - 1) / kBlockN;
  if (Config::kSplits > 1 && tiles > firstTile + Config::kSplitTiles)
    tiles = firstTile + Config::kSplitTiles;
  const T *baseQ = q + Q::kOffset + i64(at.b) * Q::kBatch + i64(at.g) * Q::kHead * Config::kRepeat;
  const T *baseK = k + K::kOffset + i64(at.b) * K::kBatch + i64(at.g) * K::kHead;
  const T *baseV = v + V::kOffset + i64(at.b) * V::kBatch + i64(at.g) * V::kHead;

  float out[kPairsE][1][2][4]; // (E/16, 1, 2, fragment)
#pragma unroll
  for (int j = 0; j < kPairsE; ++j)
#pragma unroll
    for (int i = 0; i < 8; ++i)
      out[j][0][i / 4][i % 4] = 0;
  OnlineSoftmax<float> softmax[2]; // rows g and g + 8 of the warp's 16
  i32 row = at.first + warp * 16 + lane / 4;
  ScoreRow<Config, Bias> rows[2] = {{bias, at, row}, {bias, at, row + 8}};

  i32 wholeKeys = commonKeys<Config>(at.first); // tiles below it need no mask
  if (firstTile < tiles) {
    requestTile<Q, Config::kBlockM, Config::kWidthD, kStrideD, kThreads>(shared.ring.q, baseQ, at.first,
                                                                         kRows);
    requestTile<K, kBlockN, Config::kWidthD, kStrideD, kThreads>(shared.ring.k[0], baseK, firstTile * kBlockN,
                                                                 Config::kKeys);
    arch::cpAsyncCommit();
    requestTile<V, kBlockN, Config::kWidthE, kStrideE, kThreads>(shared.ring.v[0], baseV, firstTile * kBlockN,
                                                                 Config::kKeys);
    arch::cpAsyncCommit();
  }
  constexpr bool kKeepQuery = kStepsD <= 8; // 32 registers
  constexpr int kUnrollD = kKeepQuery ? kStepsD : 2;
  u32 query[kKeepQuery ? kStepsD : 1][1][4];
  const T *warpQ = &shared.ring.q[warp * 16 * kStrideD];

  for (i32 tile = firstTile; tile < tiles; ++tile) {
    int stage = (tile - firstTile) & 1;
    if (tile + 1 < tiles) {
      i32 next = (tile + 1) * kBlockN;
      requestTile<K, kBlockN, Config::kWidthD, kStrideD, kThreads>(shared.ring.k[stage ^ 1], baseK, next,
                                                                   Config::kKeys);
      arch::cpAsyncCommit();
      requestTile<V, kBlockN, Config::kWidthE, kStrideE, kThreads>(shared.ring.v[stage ^ 1], baseV, next,
                                                                   Config::kKeys);
      arch::cpAsyncCommit();
    } else {
      arch::cpAsyncCommit();
      arch::cpAsyncCommit();
    }
    arch::cpAsyncWait<kWarpsN == 1 ? 2 : 3>(); // this tile, or its keys
    arch::syncThreads();
    if constexpr (kKeepQuery)
      if (tile == firstTile) {
#pragma unroll
        for (int step = 0; step < kStepsD; ++step)
          F::loadQuery(query[step], warpQ, kStrideD, step);
      }

    float scores[kPairsN][1][2][4]; // (BLK_N/16, 1, 2, fragment)
#pragma unroll
    for (int j = 0; j < kPairsN; ++j)
#pragma unroll
      for (int i = 0; i < 8; ++i)
        scores[j][0][i / 4][i % 4] = 0;
    const T *tileK = &shared.ring.k[stage][warpN * kStrideD];
#pragma unroll kUnrollD
    for (int step = 0; step < kStepsD; ++step) {
      if constexpr (!kKeepQuery)
        F::loadQuery(query[0], warpQ, kStrideD, step);
#pragma unroll
      for (int j = 0; j < kPairsN; ++j) {
        u32 b[2][2];
        F::loadKeys(b, tileK + j * 16 * kStrideD, kStrideD, step);
        arch::mmaTile<Mma, 1, 2>(scores[j], query[kKeepQuery ? step : 0], b);
      }
    }

    i32 firstKey = tile * kBlockN + warpN + lane % 4 * 2;
    if ((tile + 1) * kBlockN <= wholeKeys)
      scoreTile<kPairsN, true>(scores, rows, firstKey);
    else
      scoreTile<kPairsN, false>(scores, rows, firstKey);
    float factors[2];
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      constexpr float kUnit = ScoreRow<Config, Bias>::kUnit;
      float largest = lowest<float>(), shift;
#pragma unroll
      for (int j = 0; j < kPairsN; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          largest = LargestOp()(largest, scores[j][0][i / 2][half * 2 + i % 2]);
      factors[half] = softmax[half].raise(warpReduce<4>(largest, LargestOp()) * kUnit, shift);
#pragma unroll
      for (int j = 0; j < kPairsN; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          float &x = scores[j][0][i / 2][half * 2 + i % 2];
          x = exp2Of(x * kUnit - shift);
          softmax[half].sum += x;
        }
    }
#pragma unroll
    for (int j = 0; j < kPairsE; ++j)
#pragma unroll
      for (int i = 0; i < 8; ++i)
        out[j][0][i / 4][i % 4] *= factors[i % 4 / 2];

    if constexpr (kWarpsN > 1) { // latency counts
      arch::cpAsyncWait<2>();
      arch::syncThreads();
    }
    const T *tileV = &shared.ring.v[stage][warpN * kStrideE];
#pragma unroll
    for (int step = 0; step < kStepsN; ++step) {
      u32 a[1][4];
      F::pack(a, scores, step);
#pragma unroll
      for (int j = 0; j < kPairsE; ++j) {
        u32 b[2][2];
        F::loadValues(b, tileV + j * 16, kStrideE, step);
        arch::mmaTile<Mma, 1, 2>(out[j], a, b);
      }
    }
    arch::syncThreads();
  }
  arch::cpAsyncWait<0>();

  float scales[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    softmax[half].sum = warpReduce<4>(softmax[half].sum, SumOp());
    if constexpr (Config::kSplits > 1 || kWarpsN > 1)
      scales[half] = 1;
    else
      scales[half] = OnlineSoftmax<float>::template finalScale<Config::kZeroMasked>(softmax[half].sum);
    if constexpr (Config::kSplits > 1 && kWarpsN == 1)
      if (lane % 4 == 0)
        output.storeState(softmax[half], at, row + half * 8);
  }
  arch::syncThreads(); // the slabs lie over the ring
  int slab = int(threadIdx.x) / 32;
  u32 spoilt = 0; // bits of the warp's rows
  if constexpr (kHidesKeys<Config, Bias>)
    spoilt = spoiltRows(reinterpret_cast<const float(&)[kPairsE * 8]>(out));
  if constexpr (kWarpsN > 1)
    if (lane % 4 == 0) {
      shared.slabs.states[slab][lane / 4] = softmax[0];
      shared.slabs.states[slab][lane / 4 + 8] = softmax[1];
      if (lane == 0)
        shared.slabs.spoilt[slab] = spoilt;
    }
#pragma unroll
  for (int j = 0; j < kPairsE; ++j)
#pragma unroll
    for (int half = 0; half < 2; ++half)
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const float (&o)[4] = out[j][0][n];
        stVec(&shared.slabs
                   .out[slab][(lane / 4 + half * 8) * Shared::kSlabStride + j * 16 + n * 8 + lane % 4 * 2],
              Vec<float, 2>{{o[half * 2] * scales[half], o[half * 2 + 1] * scales[half]}});
      }
  constexpr int kLanes = Config::kLanes, kLine = Config::kWidthE / kLanes;
  i32 firstKey = firstTile * kBlockN, endKey = keys < tiles * kBlockN ? keys : tiles * kBlockN;
  auto storeAgain = [&](i32 r, const OnlineSoftmax<float> &state) {
    float scale = 1;
    if constexpr (Config::kSplits == 1)
      scale = OnlineSoftmax<float>::template finalScale<Config::kZeroMasked>(state.sum);
    storeVisible<Config, Q, K, V>(q, k, v, bias, output, at, at.g, r, firstKey, endKey,
                                  state.largest == lowest<float>() ? 0.f : state.largest, scale);
  };
  if constexpr (kWarpsN > 1) {
    arch::syncThreads();
    auto total = [&](int first, int r) {
      OnlineSoftmax<float> t;
#pragma unroll
      for (int i = 0; i < kWarpsN; ++i)
        t.largest = LargestOp()(t.largest, shared.slabs.states[first + i][r].largest);
      return t;
    };
    auto isSpoilt = [&](int first, int r) {
      u32 bits = 0;
      if constexpr (kHidesKeys<Config, Bias>) {
#pragma unroll
        for (int i = 0; i < kWarpsN; ++i)
          bits |= shared.slabs.spoilt[first + i];
      }
      return (bits >> r & 1u) != 0;
    };
#pragma unroll 2
    for (int item = int(threadIdx.x); item < Config::kBlockM * kLine; item += kThreads) {
      int r = item / kLine % 16, first = item / kLine / 16 * kWarpsN, e = item % kLine * kLanes;
      i32 at0 = at.first + item / kLine;
      if (at0 >= kRows || e >= V::kExtent)
        continue;
      OnlineSoftmax<float> state = total(first, r);
      float shift = state.largest == lowest<float>() ? 0.f : state.largest, y[kLanes] = {};
#pragma unroll
      for (int i = 0; i < kWarpsN; ++i) {
        OnlineSoftmax<float> part = shared.slabs.states[first + i][r];
        float factor = exp2Of(part.largest - shift);
        state.sum += part.sum * factor;
        Vec<float, kLanes> x = ldVec<kLanes>(&shared.slabs.out[first + i][r * Shared::kSlabStride + e]);
#pragma unroll
        for (int l = 0; l < kLanes; ++l)
          y[l] += x[l] * factor;
      }
      if constexpr (Config::kSplits > 1) {
        if (e == 0)
          output.storeState(state, at, at0);
      } else {
        float scale = OnlineSoftmax<float>::template finalScale<Config::kZeroMasked>(state.sum);
#pragma unroll
        for (int l = 0; l < kLanes; ++l)
          y[l] *= scale;
      }
      if (!isSpoilt(first, r))
        output.store(y, at.b, at.g * Config::kRepeat + at0 % Config::kRepeat, at0 / Config::kRepeat, e);
    }
    if constexpr (kHidesKeys<Config, Bias>) {
#pragma unroll 1
      for (int row = slab; row < Config::kBlockM; row += kThreads / 32) {
        int r = row % 16, first = row / 16 * kWarpsN;
        if (at.first + row < kRows && isSpoilt(first, r)) {
          OnlineSoftmax<float> state = total(first, r);
          float shift = state.largest == lowest<float>() ? 0.f : state.largest;
          for (int i = 0; i < kWarpsN; ++i)
            state.sum += shared.slabs.states[first + i][r].sum *
                         exp2Of(shared.slabs.states[first + i][r].largest - shift);
          storeAgain(at.first + row, state);
        }
      }
    }
  } else {
    arch::syncWarp();
    i32 firstRow = at.first + warp * 16;
#pragma unroll 4
    for (int item = lane; item < 16 * kLine; item += 32) {
      int r = item / kLine, e = item % kLine * kLanes;
      i32 at0 = firstRow + r;
      if (at0 < kRows && e < V::kExtent && !(spoilt >> r & 1u)) {
        Vec<float, kLanes> y = ldVec<kLanes>(&shared.slabs.out[slab][r * Shared::kSlabStride + e]);
        output.store(y.elements, at.b, at.g * Config::kRepeat + at0 % Config::kRepeat, at0 / Config::kRepeat,
                     e);
      }
    }
    if constexpr (kHidesKeys<Config, Bias>) {
#pragma unroll 1
      for (int r = 0; r < 16; ++r)
        if ((spoilt >> r & 1u) && firstRow + r < kRows) {
          OnlineSoftmax<float> state = softmax[0];
          if (r >= 8)
            state = softmax[1];
          state.largest = arch::shflIdx(state.largest, u32(r % 8 * 4));
          state.sum = arch::shflIdx(state.sum, u32(r % 8 * 4));
          storeAgain(firstRow + r, state);
        }
    }
  }
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few queries over many keys (Flash-Decoding, Dao et al. 2023): blocks take slices of the keys and leave
// unscaled sums and the softmax's state; a second launch joins the slices and runs the epilogue.
//
// Config, beyond score.cuh: kBatch, kKeyHeads, kColumns (E), kSplits, kLanes.
#pragma once
#include "attention/score.cuh"
#include "common/types.cuh"

namespace gpuc {

/// Where a slice leaves its results: sums [split, B, H, S, E] and states [split, B, H, S].
template <typename Config> struct PartialOutput {
  using Acc = typename Config::Acc;
  static constexpr i64 kRows = i64(Config::kBatch) * Config::kKeyHeads * Config::kRepeat * Config::kQueries;
  Acc *sums;
  i32 split;

  GPUC_DEVICE static i64 rowOf(i32 b, i32 h, i32 s) {
    return (i64(b) * (Config::kKeyHeads * Config::kRepeat) + h) * Config::kQueries + s;
  }
  GPUC_DEVICE static OnlineSoftmax<Acc> *states(Acc *sums) {
    return reinterpret_cast<OnlineSoftmax<Acc> *>(sums + kRows * Config::kColumns * Config::kSplits);
  }
  template <int L> GPUC_DEVICE void store(const Acc (&y)[L], i32 b, i32 h, i32 s, i32 e) const {
    Vec<Acc, L> v;
#pragma unroll
    for (int l = 0; l < L; ++l)
      v[l] = y[l];
    stVec(&sums[(kRows * split + rowOf(b, h, s)) * Config::kColumns + e], v);
  }
  /// The state of row r of key head (b, g); nothing for rows past the end.
  GPUC_DEVICE void storeState(const OnlineSoftmax<Acc> &state, AttentionCoord at, i32 r) const {
    if (r < Config::kQueries * Config::kRepeat)
      states(sums)[kRows * split +
                   rowOf(at.b, at.g * Config::kRepeat + r % Config::kRepeat, r / Config::kRepeat)] = state;
  }
};

/// Second launch: one thread per kLanes elements of the result.
template <typename Config, typename Output>
GPUC_DEVICE void joinSlices(typename Config::Acc *sums, const Output &output, i64 item) {
  using Acc = typename Config::Acc;
  using Partial = PartialOutput<Config>;
  constexpr int kLanes = Config::kLanes, kLine = Config::kColumns / kLanes,
                kHeads = Config::kKeyHeads * Config::kRepeat;
  if (item >= Partial::kRows * kLine)
    return;
  i64 row = item / kLine;
  i32 e = i32(item % kLine) * kLanes;
  const OnlineSoftmax<Acc> *states = Partial::states(sums) + row;
  Acc largest = lowest<Acc>();
  for (int i = 0; i < Config::kSplits; ++i)
    largest = LargestOp()(largest, states[i * Partial::kRows].largest);
  Acc shift = largest == lowest<Acc>() ? Acc(0) : largest, total = 0, y[kLanes] = {};
#pragma unroll 4
  for (int i = 0; i < Config::kSplits; ++i) {
    OnlineSoftmax<Acc> state = states[i * Partial::kRows];
    Acc factor = exp2Of(state.largest - shift);
    total += state.sum * factor;
    Vec<Acc, kLanes> v = ldVec<kLanes>(&sums[(Partial::kRows * i + row) * Config::kColumns + e]);
#pragma unroll
    for (int l = 0; l < kLanes; ++l)
      y[l] += v[l] * factor;
  }
  Acc scale = OnlineSoftmax<Acc>::template finalScale<Config::kZeroMasked>(total);
#pragma unroll
  for (int l = 0; l < kLanes; ++l)
    y[l] *= scale;
  output.store(y, i32(row / (i64(kHeads) * Config::kQueries)), i32(row / Config::kQueries % kHeads),
               i32(row % Config::kQueries), e);
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax along an axis that is not the fastest one: neighbouring threads own neighbouring columns, slices of
// the block share the axis, and a running maximum and sum make do with two passes.
//
// Config: Acc, Index, kOuter, kAxis, kInner, kLanes (divides kInner), kThreadsInner, kSlices.
// Source: load(Acc (&x)[kLanes], Index outer, Index axis, Index inner). Sink: store, likewise.
#pragma once
#include "normalization/row.cuh"

namespace gpuc {

template <typename Config> struct SoftmaxColumnShared {
  static constexpr int kCells = Config::kSlices * Config::kThreadsInner * Config::kLanes;
  typename Config::Acc largest[kCells], sum[kCells]; // (SLICE, LANE, THREAD_INNER)
};

template <typename Config, typename Op, typename Source, typename Sink>
GPUC_DEVICE void softmaxColumns(SoftmaxColumnShared<Config> &shared, const Source &source, const Sink &sink,
                                typename Config::Index block) {
  using Acc = typename Config::Acc;
  using Index = typename Config::Index;
  constexpr int kLanes = Config::kLanes, kWidth = Config::kThreadsInner;
  constexpr Index kTile = Index(kWidth) * kLanes;
  constexpr Index kTiles = (Config::kInner + kTile - 1) / kTile;
  int slice = int(threadIdx.x) / kWidth, column = int(threadIdx.x) % kWidth;
  Index outer = block / kTiles, inner = block % kTiles * kTile + Index(column) * kLanes;
  bool live = inner < Config::kInner;

  Acc largest[kLanes], sum[kLanes];
#pragma unroll
  for (int l = 0; l < kLanes; ++l) {
    largest[l] = lowest<Acc>();
    sum[l] = 0;
  }
  if (live) {
#pragma unroll 4
    for (Index a = slice; a < Config::kAxis; a += Config::kSlices) {
      Acc x[kLanes];
      source.load(x, outer, a, inner);
#pragma unroll
      for (int l = 0; l < kLanes; ++l)
        Op::accumulate(largest[l], sum[l], x[l]);
    }
  }
  if constexpr (Config::kSlices > 1) {
#pragma unroll
    for (int l = 0; l < kLanes; ++l) {
      int cell = (slice * kLanes + l) * kWidth + column;
      shared.largest[cell] = largest[l];
      shared.sum[cell] = sum[l];
    }
    arch::syncThreads();
#pragma unroll
    for (int l = 0; l < kLanes; ++l) {
      Acc all = lowest<Acc>(), total = 0;
      for (int s = 0; s < Config::kSlices; ++s)
        all = binary_max(all, shared.largest[(s * kLanes + l) * kWidth + column]);
      for (int s = 0; s < Config::kSlices; ++s) {
        int cell = (s * kLanes + l) * kWidth + column;
        total += Op::rescaled(shared.largest[cell], shared.sum[cell], all);
      }
      largest[l] = all;
      sum[l] = total;
    }
  }
  if (!live)
    return;
#pragma unroll
  for (int l = 0; l < kLanes; ++l) {
    largest[l] = Op::shiftOf(largest[l]);
    sum[l] = Op::scaleOf(sum[l]);
  }
#pragma unroll 4
  for (Index a = slice; a < Config::kAxis; a += Config::kSlices) {
    Acc x[kLanes];
    source.load(x, outer, a, inner);
#pragma unroll
    for (int l = 0; l < kLanes; ++l)
      x[l] = Op::result(x[l], largest[l], sum[l]);
    sink.store(x, outer, a, inner);
  }
}

} // namespace gpuc

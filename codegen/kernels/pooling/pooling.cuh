// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Max and average pooling over any number of spatial axes: a thread computes kLanes neighbouring results,
// which are channels when channels are consecutive in memory, else neighbours along the last spatial axis.
//
// Config: Acc (compute type of x), Index, kRank (spatial axes), kChannelLanes, kLanes, kLoadLanes (kLanes
// with kChannelLanes, else 1), kItems (threads' work items), and per spatial axis d: extent(d), kernel(d),
// stride(d), low(d), high(d), dilation(d). Item: kLanes results; Unit::coordsOf(item, n, c, at) decomposes
// it. Source: load(Acc (&x)[kLoadLanes], Index n, Index c, const Index (&at)[kRank]).
#pragma once
#include "arch/griddep.cuh"
#include "common/math.cuh"

namespace gpuc {

/// The taps of one axis of a window that lie inside the input.
template <typename Config> struct WindowAxis {
  using Index = typename Config::Index;
  Index start, first, last; ///< position of tap 0; taps [first, last) are inside
  Index padded;             ///< taps inside the input or its declared padding

  GPUC_DEVICE void place(int d, Index out) {
    start = out * Config::stride(d) - Config::low(d);
    first = start >= 0 ? 0 : (Config::dilation(d) - 1 - start) / Config::dilation(d);
    last = tapsBefore(d, Config::extent(d));
    padded = tapsBefore(d, Config::extent(d) + Config::high(d));
  }
  GPUC_DEVICE Index tapsBefore(int d, Index bound) const {
    Index taps = bound <= start ? 0 : (bound - start + Config::dilation(d) - 1) / Config::dilation(d);
    return taps < Config::kernel(d) ? taps : Config::kernel(d);
  }
};

/// Calls f(at) for all cells of a window that are inside, in row-major order.
template <typename Config, int D = 0, typename F>
GPUC_DEVICE void eachCell(const WindowAxis<Config> (&axes)[Config::kRank],
                          typename Config::Index (&at)[Config::kRank], F &f) {
  if constexpr (D == Config::kRank) {
    f(at);
  } else {
    for (typename Config::Index tap = axes[D].first; tap < axes[D].last; ++tap) {
      at[D] = axes[D].start + tap * Config::dilation(D);
      eachCell<Config, D + 1>(axes, at, f);
    }
  }
}

/// The greatest element and, with kIndices, its position in the flattened x (the first of equal ones; NaN is
/// the greatest).
template <typename Config, bool kIndices, bool kColumnMajor> struct MaxPoolOp {
  using Acc = typename Config::Acc;
  using Index = typename Config::Index;
  static constexpr int kLanes = Config::kLoadLanes;
  Acc best[kLanes];
  i64 position[kLanes];

  GPUC_DEVICE MaxPoolOp() {
#pragma unroll
    for (int l = 0; l < kLanes; ++l) {
      best[l] = lowest<Acc>();
      position[l] = -1;
    }
  }
  GPUC_DEVICE void cell(const Acc (&x)[kLanes], Index n, Index c, const Index (&at)[Config::kRank]) {
#pragma unroll
    for (int l = 0; l < kLanes; ++l) {
      if constexpr (kIndices) {
        if (position[l] >= 0 && (best[l] != best[l] || !(x[l] > best[l] || x[l] != x[l])))
          continue;
        best[l] = x[l];
        position[l] = flattened(n, c + (Config::kChannelLanes ? l : 0), at);
      } else {
        best[l] = binary_max(best[l], x[l]);
      }
    }
  }
  GPUC_DEVICE static i64 flattened(Index n, Index c, const Index (&at)[Config::kRank]) {
    i64 cell = 0, plane = 1;
#pragma unroll
    for (int i = 0; i < Config::kRank; ++i) {
      int d = kColumnMajor ? Config::kRank - 1 - i : i;
      cell = cell * Config::extent(d) + at[d];
      plane *= Config::extent(d);
    }
    return (i64(n) * Config::kChannels + c) * plane + cell;
  }
  GPUC_DEVICE Acc result(int l, Index, Index) const { return best[l]; }
};

/// The mean over the cells inside, or with kCountPadding over those and the declared padding.
template <typename Config, bool kCountPadding> struct AvgPoolOp {
  using Acc = typename Config::Acc;
  using Index = typename Config::Index;
  static constexpr int kLanes = Config::kLoadLanes;
  Acc sum[kLanes] = {};

  GPUC_DEVICE void cell(const Acc (&x)[kLanes], Index, Index, const Index (&)[Config::kRank]) {
#pragma unroll
    for (int l = 0; l < kLanes; ++l)
      sum[l] += x[l];
  }
  GPUC_DEVICE Acc result(int l, Index inside, Index padded) const {
    Index divisor = kCountPadding ? padded : inside;
    return divisor == 0 ? Acc(0) : sum[l] / Acc(divisor);
  }
};

/// One work item. Unit: coordsOf(item, n, c, out), load, store (see above).
template <typename Config, typename Op, bool kIndices, typename Unit>
GPUC_DEVICE void poolItem(const Unit &unit, i64 item) {
  using Acc = typename Config::Acc;
  using Index = typename Config::Index;
  if (item >= Config::kItems)
    return;
  Index n, c, out[Config::kRank];
  unit.coordsOf(Index(item), n, c, out);
  Acc y[Config::kLanes];
  i64 positions[Config::kLanes];
  constexpr int kWindows = Config::kLanes / Config::kLoadLanes;
#pragma unroll
  for (int w = 0; w < kWindows; ++w) {
    WindowAxis<Config> axes[Config::kRank];
    Index inside = 1, padded = 1;
#pragma unroll
    for (int d = 0; d < Config::kRank; ++d) {
      axes[d].place(d, out[d] + (d == Config::kRank - 1 ? w : 0));
      inside *= axes[d].last > axes[d].first ? axes[d].last - axes[d].first : 0;
      padded *= axes[d].padded;
    }
    Op op;
    auto visit = [&](const Index(&at)[Config::kRank]) {
      Acc x[Config::kLoadLanes];
      unit.load(x, n, c, at);
      op.cell(x, n, c, at);
    };
    Index at[Config::kRank];
    eachCell<Config>(axes, at, visit);
#pragma unroll
    for (int l = 0; l < Config::kLoadLanes; ++l) {
      y[w * Config::kLoadLanes + l] = op.result(l, inside, padded);
      if constexpr (kIndices)
        positions[w * Config::kLoadLanes + l] = op.position[l];
    }
  }
  if constexpr (kIndices)
    unit.store(y, positions, n, c, out);
  else
    unit.store(y, n, c, out);
}

} // namespace gpuc

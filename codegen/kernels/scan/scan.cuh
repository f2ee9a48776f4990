// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running sums. Rows: a block scans tiles of kThreads * kLanes elements and carries the sum on. Columns:
// neighbouring threads own neighbouring columns and walk along the axis; float sums are compensated there
// (Kahan), because nothing else bounds their error.
//
// Config: Acc, Index, kExclusive, kReverse, kLanes, kThreads; rows: kCols; columns: kOuter, kAxis, kInner.
// Source: load(Acc (&x)[kLanes], …), Sink: store(const Acc (&y)[kLanes], …) at (row, col) or (outer, axis,
// inner).
#pragma once
#include "arch/griddep.cuh"
#include "common/reduce.cuh"

namespace gpuc {

template <typename Config> struct ScanShared {
  typename Config::Acc totals[Config::kThreads / 32];
};

template <typename Config, typename Source, typename Sink>
GPUC_DEVICE void scanRow(ScanShared<Config> &shared, const Source &source, const Sink &sink,
                         typename Config::Index row) {
  using Acc = typename Config::Acc;
  using Index = typename Config::Index;
  constexpr int kLanes = Config::kLanes, kThreads = Config::kThreads;
  static_assert(Config::kCols % kLanes == 0, "lanes must divide the row");
  int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32;
  Acc carry = 0;
#pragma unroll 1
  for (Index first = 0; first < Config::kCols; first += kThreads * kLanes) {
    Index position = first + Index(threadIdx.x) * kLanes; // in the order of the scan
    bool inside = position < Config::kCols;
    Index col = Config::kReverse ? Index(Config::kCols) - kLanes - position : position;
    Acc x[kLanes];
#pragma unroll
    for (int l = 0; l < kLanes; ++l)
      x[l] = 0;
    if (inside)
      source.load(x, row, col);
    Acc own = 0;
#pragma unroll
    for (int l = 0; l < kLanes; ++l)
      own = binary_add(own, x[l]);
    Acc through = warpScan(own, SumOp());
    Acc before = arch::shflUp(through, 1u);
    if (lane == 0)
      before = 0;
    if (lane == 31)
      shared.totals[warp] = through;
    arch::syncThreads();
    Acc next = carry;
#pragma unroll
    for (int w = 0; w < kThreads / 32; ++w) {
      if (w == warp)
        before = binary_add(next, before);
      next = binary_add(next, shared.totals[w]);
    }
    carry = next;
    arch::syncThreads();
#pragma unroll
    for (int i = 0; i < kLanes; ++i) {
      int l = Config::kReverse ? kLanes - 1 - i : i;
      Acc sum = binary_add(before, x[l]);
      x[l] = Config::kExclusive ? before : sum;
      before = sum;
    }
    if (inside)
      sink.store(x, row, col);
  }
}

/// A sum of floats with the error of one rounding; other types add as they are.
template <typename Acc> struct CompensatedSum {
  Acc sum = Acc(0), error = Acc(0);
  GPUC_DEVICE void add(Acc x) {
    if constexpr (kIsFloat<Acc>) {
      Acc y = x - error, next = sum + y;
      error = (next - sum) - y;
      error = error == error ? error : Acc(0); // infinities
      sum = next;
    } else {
      sum = binary_add(sum, x);
    }
  }
};

template <typename Config, typename Source, typename Sink>
GPUC_DEVICE void scanColumns(const Source &source, const Sink &sink, i64 item) {
  using Acc = typename Config::Acc;
  using Index = typename Config::Index;
  constexpr int kLanes = Config::kLanes;
  constexpr i64 kVectors = Config::kInner / kLanes;
  if (item >= i64(Config::kOuter) * kVectors)
    return;
  Index outer = Index(item / kVectors), inner = Index(item % kVectors) * kLanes;
  CompensatedSum<Acc> sums[kLanes];
#pragma unroll 4
  for (Index i = 0; i < Config::kAxis; ++i) {
    Index a = Config::kReverse ? Index(Config::kAxis) - 1 - i : i;
    Acc x[kLanes];
    source.load(x, outer, a, inner);
#pragma unroll
    for (int l = 0; l < kLanes; ++l) {
      Acc before = sums[l].sum;
      sums[l].add(x[l]);
      x[l] = Config::kExclusive ? before : sums[l].sum;
    }
    sink.store(x, outer, a, inner);
  }
}

} // namespace gpuc

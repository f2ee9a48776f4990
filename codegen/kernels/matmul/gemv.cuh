// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products with few rows (at most 8): bound by reading B once. No shared-memory tiles: B goes straight from
// global memory to registers with 16-byte loads, several in flight; the depth is split over the lanes and
// warps of a block and the partial sums are added in a fixed order.
//
// Config: kM, kN, kK, kBatch, kColumns (accesses of columns of a block), kSlices (of the depth; see each
// body).
#pragma once
#include "common/reduce.cuh"
#include "matmul/operand_tile.cuh"
#include "matmul/simt_tile.cuh"

namespace gpuc {

struct SumWords { ///< addition modulo 2^n, or of floats
  template <typename T> GPUC_DEVICE T operator()(T a, T b) const { return a + b; }
};

/// Loads one access; what does not exist is zero. kInside: all of it is known to exist, so that the compiler
/// can issue many loads before it waits for the first.
template <bool kInside, typename Source>
GPUC_DEVICE Vec<typename Source::T, Source::kAccess> loadAccess(const Source &source,
                                                                const typename Source::Row &row, i32 k) {
  using T = typename Source::T;
  i32 count;
  const T *from = source.locate(row, k, 0, count);
  if constexpr (kInside) {
    return ldVec<Source::kAccess>(from);
  } else {
    Vec<T, Source::kAccess> v;
#pragma unroll
    for (int i = 0; i < Source::kAccess; ++i)
      v[i] = i < count ? from[i] : T{};
    return v;
  }
}

/// B with the depth contiguous: a block computes kColumns columns, kSlices warps share the depth of each
/// (their lanes take neighbouring accesses). Block of kColumns * kSlices warps.
template <typename Config, typename SourceA, typename SourceB> struct GemvAlongDepth {
  using T = typename SourceB::T;
  using S = Sum<T>;
  static constexpr int kM = Config::kM, kColumns = Config::kColumns, kSlices = Config::kSlices;
  static constexpr int kThreads = 32 * kColumns * kSlices, kBlockN = kColumns;
  static constexpr int kAccess = SourceB::kAccess, kUnroll = kM <= 2 ? 4 : kM <= 4 ? 2 : 1;
  static_assert(SourceB::kDepthContiguous && SourceA::kDepthContiguous, "operands are read along the depth");
  static_assert(SourceA::kAccess == kAccess, "A and B are read in equal pieces");
  struct Shared {
    S partial[kColumns][kSlices][kM];
  };

  template <typename Output>
  GPUC_DEVICE static void run(Shared &shared, const SourceA &a, const SourceB &b, const Output &output, i32 z,
                              i32 firstCol) {
    int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    int column = warp / kSlices, slice = warp % kSlices;
    i32 col = firstCol + column < i32(Config::kN) ? firstCol + column
                                                  : i32(Config::kN) - 1; // past the end: not stored
    typename SourceB::Row colB = b.row(col);
    typename SourceA::Row rowA[kM];
#pragma unroll
    for (int m = 0; m < kM; ++m)
      rowA[m] = a.row(m);
    S sum[kM] = {};
    i32 k = (slice * 32 + lane) * kAccess;
    for (; k + (kUnroll - 1) * kStep + kAccess <= i32(Config::kK); k += kUnroll * kStep)
      accumulate<true, kUnroll>(sum, a, b, rowA, colB, k);
    for (; k < i32(Config::kK); k += kStep)
      accumulate<false, 1>(sum, a, b, rowA, colB, k);
#pragma unroll
    for (int m = 0; m < kM; ++m) {
      S total = warpReduce(sum[m], SumWords{});
      if (lane == 0)
        shared.partial[column][slice][m] = total;
    }
    arch::syncThreads();
    int item = int(threadIdx.x);
    if (item < kM * kColumns && firstCol + item % kColumns < i32(Config::kN)) {
      S total = 0;
#pragma unroll
      for (int s = 0; s < kSlices; ++s)
        total += shared.partial[item % kColumns][s][item / kColumns];
      typename Output::Acc one[1] = {cast<typename Output::Acc>(total)};
      output.store(one, z, item / kColumns, firstCol + item % kColumns);
    }
  }

private:
  static constexpr i32 kStep = 32 * kSlices * kAccess;
  template <bool kInside, int kCount>
  GPUC_DEVICE static void accumulate(S (&sum)[kM], const SourceA &a, const SourceB &b,
                                     const typename SourceA::Row (&rowA)[kM],
                                     const typename SourceB::Row &colB, i32 k) {
    Vec<T, kAccess> w[kCount], x[kCount][kM];
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      w[u] = loadAccess<kInside>(b, colB, k + u * kStep);
#pragma unroll
      for (int m = 0; m < kM; ++m)
        x[u][m] = loadAccess<kInside>(a, rowA[m], k + u * kStep);
    }
#pragma unroll
    for (int u = 0; u < kCount; ++u)
#pragma unroll
      for (int m = 0; m < kM; ++m)
#pragma unroll
        for (int i = 0; i < kAccess; ++i)
          sum[m] += cast<S>(x[u][m][i]) * cast<S>(w[u][i]);
  }
};

/// B with its columns contiguous: a thread computes one access of columns for one of kSlices interleaved
/// parts of the depth. Block of kColumns * kSlices threads.
template <typename Config, typename SourceA, typename SourceB> struct GemvAlongColumns {
  using T = typename SourceB::T;
  using S = Sum<T>;
  static constexpr int kM = Config::kM, kColumns = Config::kColumns, kSlices = Config::kSlices;
  static constexpr int kAccess = SourceB::kAccess, kUnroll = kM <= 2 ? 8 : 4;
  static constexpr int kThreads = kColumns * kSlices, kBlockN = kColumns * kAccess;
  static_assert(SourceA::kAccess == 1, "A is read element by element");
  struct Shared {
    S partial[kSlices][kBlockN];
  };

  template <typename Output>
  GPUC_DEVICE static void run(Shared &shared, const SourceA &a, const SourceB &b, const Output &output, i32 z,
                              i32 firstCol) {
    int column = int(threadIdx.x) % kColumns, slice = int(threadIdx.x) / kColumns;
    typename SourceB::Row colsB = b.row(firstCol + column * kAccess);
    typename SourceA::Row rowA[kM];
#pragma unroll
    for (int m = 0; m < kM; ++m)
      rowA[m] = a.row(m);
    S sum[kM][kAccess] = {};
    i32 k = slice;
    if (firstCol + (column + 1) * kAccess <= i32(Config::kN))
      for (; k + (kUnroll - 1) * kSlices < i32(Config::kK); k += kUnroll * kSlices)
        accumulate<true, kUnroll>(sum, a, b, rowA, colsB, k);
    for (; k < i32(Config::kK); k += kSlices)
      accumulate<false, 1>(sum, a, b, rowA, colsB, k);
#pragma unroll
    for (int m = 0; m < kM; ++m) {
#pragma unroll
      for (int i = 0; i < kAccess; ++i)
        shared.partial[slice][column * kAccess + i] = sum[m][i];
      arch::syncThreads();
      for (int item = int(threadIdx.x); item < kBlockN; item += kThreads) {
        S total = 0;
#pragma unroll
        for (int s = 0; s < kSlices; ++s)
          total += shared.partial[s][item];
        typename Output::Acc one[1] = {cast<typename Output::Acc>(total)};
        if (firstCol + item < i32(Config::kN))
          output.store(one, z, m, firstCol + item);
      }
      arch::syncThreads();
    }
  }

private:
  template <bool kInside, int kCount>
  GPUC_DEVICE static void accumulate(S (&sum)[kM][kAccess], const SourceA &a, const SourceB &b,
                                     const typename SourceA::Row (&rowA)[kM],
                                     const typename SourceB::Row &colsB, i32 k) {
    Vec<T, kAccess> w[kCount];
    S x[kCount][kM];
#pragma unroll
    for (int u = 0; u < kCount; ++u) {
      w[u] = loadAccess<kInside>(b, colsB, k + u * kSlices);
#pragma unroll
      for (int m = 0; m < kM; ++m)
        x[u][m] = cast<S>(loadAccess<kInside>(a, rowA[m], k + u * kSlices)[0]);
    }
#pragma unroll
    for (int u = 0; u < kCount; ++u)
#pragma unroll
      for (int m = 0; m < kM; ++m)
#pragma unroll
        for (int i = 0; i < kAccess; ++i)
          sum[m][i] += x[u][m] * cast<S>(w[u][i]);
  }
};

} // namespace gpuc

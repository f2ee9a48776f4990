// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions of x[outer, count, inner] over the middle axis to y[outer, inner]. Elements come from a
// generated Prologue (load(x[lanes], outer, r, inner)), results go to a generated Epilogue (store(acc[1],
// outer, inner)).
//  - rowTile: inner = 1, consecutive elements are reduced: kGroup threads share a row.
//  - columnTile: consecutive elements belong to different results: a thread owns kLanes columns, the threads
//  above each
//    other share them.
// With kSplits > 1 the middle axis is cut into kSplits ranges whose States go to scratch [kSplits, outer *
// inner]; combineTile joins them in a second launch. The order of additions is fixed, so results are the same
// in every run.
#pragma once
#include "arch/griddep.cuh"
#include "pointwise/access.cuh"
#include "reduction/reducers.cuh"

namespace gpuc {

template <typename Reducer, int kWarps> struct RowShared {
  typename Reducer::State warps[kWarps];
};

/// Joins the States of each group of kGroup neighbouring threads (a power of two up to 32, or the whole
/// block).
template <typename Reducer, int kGroup>
GPUC_DEVICE typename Reducer::State groupReduce(typename Reducer::State s,
                                                RowShared<Reducer, (kGroup + 31) / 32> &shared) {
  constexpr int kWidth = kGroup < 32 ? kGroup : 32;
#pragma unroll
  for (int mask = kWidth / 2; mask > 0; mask /= 2)
    s = Reducer::merge(s, Reducer::shuffle(s, u32(mask)));
  if constexpr (kGroup > 32) {
    constexpr int kWarps = kGroup / 32;
    if (threadIdx.x % 32 == 0)
      shared.warps[threadIdx.x / 32] = s;
    arch::syncThreads();
    s = int(threadIdx.x % 32) < kWarps ? shared.warps[threadIdx.x % 32] : Reducer::identity();
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2)
      s = Reducer::merge(s, Reducer::shuffle(s, u32(mask)));
  }
  return s;
}

/// Where States or results go.
template <typename Config, typename Reducer, typename Epilogue>
GPUC_DEVICE void finishResult(const Epilogue &epilogue, typename Reducer::State *partial,
                              typename Reducer::State s, typename Config::Index outer,
                              typename Config::Index inner, int split) {
  if constexpr (Config::kSplits > 1) {
    partial[i64(split) * (i64(Config::kOuter) * Config::kInner) + i64(outer) * Config::kInner + inner] = s;
  } else {
    typename Reducer::Output y[1] = {Reducer::finish(s, Config::kCount)};
    epilogue.store(y, outer, inner);
  }
}

/// Config: Index, kOuter, kInner = 1, kCount, kThreads, kGroup, kLanes, kUnroll, kSplits. Tile t covers
/// kThreads / kGroup rows.
template <typename Config, typename Reducer, typename Prologue, typename Epilogue>
GPUC_DEVICE void rowTile(const Prologue &prologue, const Epilogue &epilogue, typename Reducer::State *partial,
                         RowShared<Reducer, (Config::kGroup + 31) / 32> &shared, typename Config::Index tile,
                         int split) {
  using I = typename Config::Index;
  using State = typename Reducer::State;
  constexpr int V = Config::kLanes, U = Config::kUnroll;
  constexpr I kVectors = Config::kCount / V;                                  // whole vectors of a row
  constexpr I kPerSplit = (kVectors + Config::kSplits - 1) / Config::kSplits; // vectors of a split
  int t = threadIdx.x % Config::kGroup;
  I row = tile * (Config::kThreads / Config::kGroup) + threadIdx.x / Config::kGroup;
  bool inside = row < Config::kOuter;
  row = inside ? row : Config::kOuter - 1; // such threads take part in collectives
  State lanes[V];                          // (V): one accumulator per lane, joined as a tree
#pragma unroll
  for (int l = 0; l < V; ++l)
    lanes[l] = Reducer::identity();
  I begin = split * kPerSplit, end = begin + kPerSplit < kVectors ? begin + kPerSplit : kVectors;
  I v = begin + t;
  constexpr int kSteps =
      int(kVectors < 4 * Config::kGroup ? (kVectors + Config::kGroup - 1) / Config::kGroup : 0);
  if constexpr (Config::kSplits == 1 && kSteps >= 1 && kSteps <= 4) { // a short row: all its loads at once
    typename Reducer::Input x[kSteps][V];
#pragma unroll
    for (int u = 0; u < kSteps; ++u)
      if (v + I(u) * Config::kGroup < end)
        prologue.load(x[u], row, (v + I(u) * Config::kGroup) * V, I(0));
#pragma unroll
    for (int u = 0; u < kSteps; ++u)
      if (v + I(u) * Config::kGroup < end) {
#pragma unroll
        for (int l = 0; l < V; ++l)
          Reducer::fold(lanes[l], x[u][l], i64(v + I(u) * Config::kGroup) * V + l);
      }
  } else {
    for (; v + I(U - 1) * Config::kGroup < end; v += I(U) * Config::kGroup) {
      typename Reducer::Input x[U][V];
#pragma unroll
      for (int u = 0; u < U; ++u)
        prologue.load(x[u], row, (v + I(u) * Config::kGroup) * V, I(0));
#pragma unroll
      for (int u = 0; u < U; ++u)
#pragma unroll
        for (int l = 0; l < V; ++l)
          Reducer::fold(lanes[l], x[u][l], i64(v + I(u) * Config::kGroup) * V + l);
    }
    if constexpr (U > 1) {
#pragma unroll 1
      for (; v < end; v += Config::kGroup) {
        typename Reducer::Input x[V];
        prologue.load(x, row, v * V, I(0));
#pragma unroll
        for (int l = 0; l < V; ++l)
          Reducer::fold(lanes[l], x[l], i64(v) * V + l);
      }
    }
  }
  if constexpr (Config::kCount % V != 0) {
    if (split == Config::kSplits - 1) {
#pragma unroll 1
      for (I r = kVectors * V + t; r < Config::kCount; r += Config::kGroup) {
        typename Reducer::Input x[1];
        prologue.load(x, row, r, I(0));
        Reducer::fold(lanes[0], x[0], r);
      }
    }
  }
#pragma unroll
  for (int step = V / 2; step > 0; step /= 2)
#pragma unroll
    for (int l = 0; l < step; ++l)
      lanes[l] = Reducer::merge(lanes[l], lanes[l + step]);
  State s = groupReduce<Reducer, Config::kGroup>(lanes[0], shared);
  if (inside && t == 0)
    finishResult<Config, Reducer>(epilogue, partial, s, row, I(0), split);
}

template <typename Reducer, int kRows, int kColumns> struct ColumnShared {
  typename Reducer::State parts[kRows][kColumns]; // (Y, X * V)
};

/// Config: Index, kOuter, kInner, kCount, kThreads, kGroup (threads along inner, X), kLanes (divides kInner),
/// kUnroll, kSplits. A tile is kGroup * kLanes columns of one outer index.
template <typename Config, typename Reducer, typename Prologue, typename Epilogue>
GPUC_DEVICE void
columnTile(const Prologue &prologue, const Epilogue &epilogue, typename Reducer::State *partial,
           ColumnShared<Reducer, Config::kThreads / Config::kGroup, Config::kGroup * Config::kLanes> &shared,
           typename Config::Index tile, int split) {
  using I = typename Config::Index;
  constexpr int V = Config::kLanes, U = Config::kUnroll, X = Config::kGroup, Y = Config::kThreads / X;
  static_assert(Config::kInner % V == 0, "lanes must divide the inner extent");
  constexpr I kTiles = (Config::kInner + I(X) * V - 1) / (I(X) * V);
  constexpr I kPerSplit = (I(Config::kCount) + Config::kSplits - 1) / Config::kSplits;
  int x = threadIdx.x % X, y = threadIdx.x / X;
  I outer = tile / kTiles, first = tile % kTiles * (I(X) * V), inner = first + I(x) * V;
  typename Reducer::State lanes[V]; // (V): columns inner … inner + V - 1
#pragma unroll
  for (int l = 0; l < V; ++l)
    lanes[l] = Reducer::identity();
  if (inner < Config::kInner) {
    I begin = split * kPerSplit,
      end = begin + kPerSplit < Config::kCount ? begin + kPerSplit : I(Config::kCount);
    I r = begin + y;
    for (; r + I(U - 1) * Y < end; r += I(U) * Y) {
      typename Reducer::Input in[U][V];
#pragma unroll
      for (int u = 0; u < U; ++u)
        prologue.load(in[u], outer, r + I(u) * Y, inner);
#pragma unroll
      for (int u = 0; u < U; ++u)
#pragma unroll
        for (int l = 0; l < V; ++l)
          Reducer::fold(lanes[l], in[u][l], r + I(u) * Y);
    }
    if constexpr (U > 1) {
#pragma unroll 1
      for (; r < end; r += Y) {
        typename Reducer::Input in[V];
        prologue.load(in, outer, r, inner);
#pragma unroll
        for (int l = 0; l < V; ++l)
          Reducer::fold(lanes[l], in[l], r);
      }
    }
  }
#pragma unroll
  for (int l = 0; l < V; ++l)
    shared.parts[y][x * V + l] = lanes[l];
  arch::syncThreads();
  for (int c = threadIdx.x; c < X * V; c += Config::kThreads) {
    if (first + c >= Config::kInner)
      break;
    typename Reducer::State s = shared.parts[0][c];
#pragma unroll 4
    for (int row = 1; row < Y; ++row)
      s = Reducer::merge(s, shared.parts[row][c]);
    finishResult<Config, Reducer>(epilogue, partial, s, outer, first + I(c), split);
  }
}

/// The second launch of a split reduction. Config: Index, kOuter, kInner, kCount, kThreads, kGroup (a power
/// of two up to 32, or kThreads), kSplits (of the first launch). kGroup threads join the States of one
/// result.
template <typename Config, typename Reducer, typename Epilogue>
GPUC_DEVICE void combineTile(const Epilogue &epilogue, const typename Reducer::State *partial,
                             RowShared<Reducer, (Config::kGroup + 31) / 32> &shared,
                             typename Config::Index tile) {
  using I = typename Config::Index;
  constexpr I kResults = I(Config::kOuter) * Config::kInner;
  int t = threadIdx.x % Config::kGroup;
  I result = tile * (Config::kThreads / Config::kGroup) + threadIdx.x / Config::kGroup;
  bool inside = result < kResults;
  result = inside ? result : kResults - 1;
  typename Reducer::State s = Reducer::identity();
  for (int split = t; split < Config::kSplits; split += Config::kGroup)
    s = Reducer::merge(s, partial[i64(split) * kResults + result]);
  s = groupReduce<Reducer, Config::kGroup>(s, shared);
  if (inside && t == 0) {
    typename Reducer::Output y[1] = {Reducer::finish(s, Config::kCount)};
    epilogue.store(y, result / Config::kInner, result % Config::kInner);
  }
}

/// Stands for an epilogue in the first launch of a split reduction.
struct NoEpilogue {};

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Few long rows (group norms of images): blocks take the moments of chunks, and a second launch joins them
// (Chan, Golub, LeVeque 1979) and normalises. Sums are relative to an element or a chunk's mean, so a
// constant row has variance 0.
//
// Config as in row.cuh with kTeam = all threads, kVectors > 0 (of a chunk), and kChunks = chunks per row.
#pragma once
#include "normalization/row.cuh"

namespace gpuc {

/// Mean and sum of squared deviations from it.
template <typename Acc> struct Moments {
  Acc mean, squares;
};

template <typename Config> struct RowChunk {
  using Index = typename Config::Index;
  static constexpr Index kStep = Index(Config::kTeam) * Config::kLanes, kChunk = kStep * Config::kVectors;
  Index row, chunk;

  GPUC_DEVICE explicit RowChunk(i64 block)
      : row(Index(block / Config::kChunks)), chunk(Index(block % Config::kChunks)) {}
  GPUC_DEVICE static Index elements(Index chunk) {
    Index rest = Index(Config::kCols) - chunk * kChunk;
    return rest < kChunk ? rest : kChunk;
  }
  /// Column of the thread's vector v; at least kCols when there is none.
  GPUC_DEVICE Index col(int v) const {
    return chunk * kChunk + v * kStep + Index(threadIdx.x) * Config::kLanes;
  }
};

/// kCentre false: the mean is taken as 0 (RMS).
template <typename Config, bool kCentre, typename Source>
GPUC_DEVICE void partialMoments(typename RowTeam<Config>::Shared &shared, const Source &source,
                                Moments<typename Config::Acc> *moments, i64 block) {
  using Acc = typename Config::Acc;
  constexpr int kLanes = Config::kLanes, kVectors = Config::kVectors;
  RowTeam<Config> team{shared};
  RowChunk<Config> at(block);
  Acc x[kVectors][kLanes] = {};
#pragma unroll
  for (int v = 0; v < kVectors; ++v)
    if (at.col(v) < Config::kCols)
      source.load(x[v], at.row, at.col(v));
  Acc mean = 0, squares = 0;
  if constexpr (kCentre) {
    Acc pivot = team.first(x[0][0]), sum = 0;
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
      if (at.col(v) < Config::kCols) {
#pragma unroll
        for (int l = 0; l < kLanes; ++l)
          sum += x[v][l] - pivot;
      }
    mean = pivot + team.reduce(sum, SumOp()) / Acc(RowChunk<Config>::elements(at.chunk));
  }
#pragma unroll
  for (int v = 0; v < kVectors; ++v)
    if (at.col(v) < Config::kCols) {
#pragma unroll
      for (int l = 0; l < kLanes; ++l)
        squares += (x[v][l] - mean) * (x[v][l] - mean);
    }
  squares = team.reduce(squares, SumOp());
  if (threadIdx.x == 0)
    moments[block] = {mean, squares};
}

/// Joins a row's moments and normalises one chunk.
template <typename Config, bool kCentre, typename Source, typename Affine, typename Sink>
GPUC_DEVICE void applyMoments(typename RowTeam<Config>::Shared &shared, const Source &source,
                              const Affine &affine, const Sink &sink,
                              const Moments<typename Config::Acc> *moments, typename Config::Acc epsilon,
                              i64 block) {
  using Acc = typename Config::Acc;
  constexpr int kLanes = Config::kLanes, kVectors = Config::kVectors;
  RowTeam<Config> team{shared};
  RowChunk<Config> at(block);
  const Moments<Acc> *own = moments + i64(at.row) * Config::kChunks;
  Acc pivot = own[0].mean, sum = 0, squares = 0;
  if constexpr (kCentre) {
    for (int c = int(threadIdx.x); c < Config::kChunks; c += Config::kTeam)
      sum += (own[c].mean - pivot) * Acc(RowChunk<Config>::elements(c));
    sum = team.reduce(sum, SumOp());
  }
  Acc mean = pivot + sum / Acc(Config::kCols);
  for (int c = int(threadIdx.x); c < Config::kChunks; c += Config::kTeam) {
    Acc delta = own[c].mean - mean;
    squares += own[c].squares + delta * delta * Acc(RowChunk<Config>::elements(c));
  }
  Acc scale = Acc(1) / unary_sqrt(team.reduce(squares, SumOp()) / Acc(Config::kCols) + epsilon);
#pragma unroll 4
  for (int v = 0; v < kVectors; ++v) {
    if (at.col(v) >= Config::kCols)
      break;
    Acc x[kLanes];
    source.load(x, at.row, at.col(v));
#pragma unroll
    for (int l = 0; l < kLanes; ++l)
      x[l] = (x[l] - mean) * scale;
    affine.apply(x, at.row, at.col(v));
    sink.store(x, at.row, at.col(v));
  }
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Maps of independent elements: a linear tile, and a tile that turns operands round through shared memory.
// A generated Body has, at a point p (the first of kLanes elements that are consecutive in the result's
// storage):
//   Values                      the results of a point, in registers, in storage types
//   compute(Values &, p)        loads and computes
//   store(const Values &, p)
// All points of a thread are computed before the first is stored, so that their loads are in flight together.
#pragma once
#include "arch/barrier.cuh"
#include "arch/griddep.cuh"
#include "pointwise/access.cuh"

namespace gpuc {

/// Config: Index, kTotal (elements), kThreads, kLanes, kUnroll. Tile t covers elements
/// [t * kTile, (t + 1) * kTile), kTile = kThreads * kLanes * kUnroll. `Single` is the Body of one lane, for
/// the last elements.
template <typename Config, typename Body, typename Single>
GPUC_DEVICE void pointwiseTile(const Body &body, const Single &single, typename Config::Index tile) {
  using I = typename Config::Index;
  constexpr I kStep = I(Config::kThreads) * Config::kLanes; // elements between two points of a thread
  constexpr I kTile = kStep * Config::kUnroll;
  constexpr I kTotal = Config::kTotal;
  static_assert(Config::kTotal > 0, "an empty result has no tiles");
  I first = tile * kTile + I(threadIdx.x) * Config::kLanes;
  if (kTotal >= kTile && tile < kTotal / kTile) {
    typename Body::Values values[Config::kUnroll];
#pragma unroll
    for (int u = 0; u < Config::kUnroll; ++u)
      body.compute(values[u], first + u * kStep);
#pragma unroll
    for (int u = 0; u < Config::kUnroll; ++u)
      body.store(values[u], first + u * kStep);
  } else if (kTotal % kTile != 0) {
#pragma unroll 1
    for (int u = 0; u < Config::kUnroll; ++u) {
      I p = first + u * kStep;
      if (kTotal >= Config::kLanes && p <= kTotal - Config::kLanes) {
        typename Body::Values values;
        body.compute(values, p);
        body.store(values, p);
      } else if constexpr (Config::kTotal % Config::kLanes != 0) {
#pragma unroll 1
        for (; p < kTotal; ++p) {
          typename Single::Values values;
          single.compute(values, p);
          single.store(values, p);
        }
      }
    }
  }
}

/// Some operands are consecutive along axis A, the results along axis B; the other axes are one batch axis.
/// Config: Index, kExtentA, kExtentB, kTile (elements per side), kThreads, kLanes (divides both extents).
/// Body:
///   Fetched                              kLanes elements of those operands
///   fetch(Fetched &, batch, a, b)        loads them along A
///   keep(Shared &, const Fetched &, i, j)   to row j (along B), columns i… (along A) of the shared tiles
///   compute(Values &, const Shared &, batch, a, b, i, j)   kLanes points along B; shared rows j…, column i
///   store(const Values &, batch, a, b)
template <typename Config, typename Body, typename Shared>
GPUC_DEVICE void turningTile(const Body &body, Shared &shared, typename Config::Index tile) {
  using I = typename Config::Index;
  constexpr int kTile = Config::kTile, kLanes = Config::kLanes, kThreads = Config::kThreads;
  constexpr int kLine = kTile / kLanes; // vectors
  constexpr int kSteps = kTile * kLine / kThreads;
  static_assert(kTile * kLine % kThreads == 0, "threads must divide the tile's vectors");
  constexpr I kTilesA = (Config::kExtentA + kTile - 1) / kTile;
  constexpr I kTilesB = (Config::kExtentB + kTile - 1) / kTile;
  constexpr bool kWhole = Config::kExtentA % kTile == 0 && Config::kExtentB % kTile == 0;
  // Bands of two tiles along A: blocks that run together write long pieces of few lines. (H200, 268 MB: 71.5 us, without
  // bands 76.3, bands of 1, 4 and 8 tiles 71.9, 73.1 and 74.2.)
  constexpr I kBand = kTilesA % 2 == 0 ? 2 : 1;
  I a0 = (tile % kBand + tile / (kBand * kTilesB) % (kTilesA / kBand) * kBand) * kTile;
  I b0 = tile / kBand % kTilesB * kTile;
  I batch = tile / (kTilesA * kTilesB);
  auto inside = [&](int i, int j) {
    return kWhole || (a0 + i < Config::kExtentA && b0 + j < Config::kExtentB);
  };
  typename Body::Fetched fetched[kSteps]; // all loads before the first store
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    int v = s * kThreads + threadIdx.x, i = v % kLine * kLanes, j = v / kLine;
    if (inside(i, j))
      body.fetch(fetched[s], batch, a0 + i, b0 + j);
  }
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    int v = s * kThreads + threadIdx.x, i = v % kLine * kLanes, j = v / kLine;
    if (inside(i, j))
      body.keep(shared, fetched[s], i, j);
  }
  arch::syncThreads();
#pragma unroll
  for (int s = 0; s < kSteps; ++s) {
    int v = s * kThreads + threadIdx.x, j = v % kLine * kLanes, i = v / kLine;
    if (inside(i, j)) {
      typename Body::Values values;
      body.compute(values, shared, batch, a0 + i, b0 + j, i, j);
      body.store(values, batch, a0 + i, b0 + j);
    }
  }
}

} // namespace gpuc

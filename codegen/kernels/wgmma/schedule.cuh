// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which tiles a persistent block computes, and in which order.
//
// Config (all bodies of this folder) has, as constants:
//   kM, kN, kBatch            the problem: rows and columns of the result
//   kSteps, kRun, kTail       k-tiles of 128 bytes along the depth; every kRun-th one (the end of a row, or of a
//                             filter tap's channels) holds only kTail times 32 bytes
//   kBlockA, kBlockB          tile of the tensor cores: A's rows (a multiple of 64), B's rows
//   kStages                   k-tiles in flight
//   kConsumers, kPingPong     consumer warpgroups; they share a tile (cooperative) or take turns (ping-pong)
//   kStaging                  64 x 64 blocks of the result that a warpgroup may have in shared memory
//   kSwapped                  A's rows are the result's columns (and B's its rows): it is stored transposed
#pragma once
#include "matmul/tile_coord.cuh"

namespace gpuc {

/// A tile: batch element, slice of the depth (of ../slab), first row of A and of B, first k-tile and their
/// number.
struct WgmmaTile {
  i32 z, split, rowA, rowB, firstStep, steps;
};

template <typename Config> struct WgmmaSchedule {
  static constexpr u32 kRowsA = u32(Config::kSwapped ? Config::kN : Config::kM);
  static constexpr u32 kRowsB = u32(Config::kSwapped ? Config::kM : Config::kN);
  static constexpr u32 kTilesA = (kRowsA + Config::kBlockA - 1) / Config::kBlockA;
  static constexpr u32 kTilesB = (kRowsB + Config::kBlockB - 1) / Config::kBlockB;
  static constexpr u32 kTiles = kTilesA * kTilesB * u32(Config::kBatch);
  /// Of a tile, for one consumer warpgroup.
  static constexpr int kRowsOfGroup = Config::kPingPong ? Config::kBlockA : Config::kBlockA / Config::kConsumers;

  GPUC_DEVICE static WgmmaTile tile(u32 index) {
    u32 row, col;
    bandedTile<kTilesA, kTilesB, 4>(index % (kTilesA * kTilesB), row, col);
    i32 z = i32(index / (kTilesA * kTilesB));
    return {z, 0, i32(row) * Config::kBlockA, i32(col) * Config::kBlockB, 0, Config::kSteps};
  }
};

} // namespace gpuc

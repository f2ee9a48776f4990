// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a block's index to the tile of the result that it computes, and the outputs that tiles are stored to.
#pragma once
#include "common/types.cuh"

namespace gpuc {

/// A tile of a batched product whose depth is split: batch z, slice of the depth, first row and column, and
/// the slice's steps of the depth [firstStep, firstStep + steps).
struct TileCoord {
  i32 z, split, row, col, firstStep, steps;
};

/// Row and column of tile `index` of kRows x kCols tiles in bands of kBand tile rows, whose tiles are visited
/// column by column: the operands of blocks that run together stay in L2.
template <u32 kRows, u32 kCols, u32 kBand> GPUC_DEVICE void bandedTile(u32 index, u32 &row, u32 &col) {
  u32 band = index / (kBand * kCols), inBand = index % (kBand * kCols);
  u32 height = kRows - band * kBand < kBand ? kRows - band * kBand : kBand;
  row = band * kBand + inBand % height;
  col = inBand / height;
}

/// Order of blocks: batch slowest, then slices, then tiles in bands of 8 rows.
template <typename Config> GPUC_DEVICE TileCoord tileCoord(u32 block) {
  constexpr u32 kTilesM = (u32(Config::kM) + Config::kBlockM - 1) / Config::kBlockM;
  constexpr u32 kTilesN = (u32(Config::kN) + Config::kBlockN - 1) / Config::kBlockN;
  constexpr u32 kTiles = kTilesM * kTilesN;
  constexpr i32 kSteps = (i32(Config::kK) + Config::kBlockK - 1) / Config::kBlockK;
  constexpr i32 kStepsPerSplit = (kSteps + Config::kSplits - 1) / Config::kSplits;
  u32 outer = block / kTiles, row, col;
  bandedTile<kTilesM, kTilesN, 8>(block % kTiles, row, col);
  TileCoord coord;
  coord.z = i32(outer / u32(Config::kSplits));
  coord.split = i32(outer % u32(Config::kSplits));
  coord.row = i32(row) * Config::kBlockM;
  coord.col = i32(col) * Config::kBlockN;
  coord.firstStep = coord.split * kStepsPerSplit;
  i32 left = kSteps - coord.firstStep;
  coord.steps = left < 0 ? 0 : left < kStepsPerSplit ? left : kStepsPerSplit;
  return coord;
}

// Contract of an Output: Acc, the type of its values; store(const Acc (&values)[L], z, row, col) for L ==
// Output::kLanes and L == 1; the values are consecutive columns, all inside. kLanes divides 8, and kN when it
// is above 1.

/// Stores L consecutive columns of a row, of which only those inside the problem exist.
template <typename Config, typename Output, typename Acc, int L>
GPUC_DEVICE void storeTileItem(const Output &output, const Acc (&values)[L], i32 z, i32 row, i32 col) {
  if (row >= i32(Config::kM))
    return;
  if (col + L <= i32(Config::kN)) {
    output.store(values, z, row, col);
  } else if constexpr (L > 1) {
#pragma unroll
    for (int i = 0; i < L; ++i) {
      Acc one[1] = {values[i]};
      if (col + i < i32(Config::kN))
        output.store(one, z, row, col + i);
    }
  }
}

/// Partial sums of one slice of the depth: scratch[split][z][row][col].
template <typename Config, typename AccType> struct PartialOutput {
  using Acc = AccType;
  static constexpr int kLanes = Config::kN % 4 == 0 && sizeof(Acc) == 4 ? 4 : 1;
  Acc *scratch;
  i32 split;
  template <int L> GPUC_DEVICE void store(const Acc (&values)[L], i32 z, i32 row, i32 col) const {
    i64 at = ((i64(split) * Config::kBatch + z) * Config::kM + row) * i64(Config::kN) + col;
    Vec<Acc, L> v;
#pragma unroll
    for (int i = 0; i < L; ++i)
      v[i] = values[i];
    stVec(scratch + at, v);
  }
};

/// Second step of a split product: adds the slices in order and stores. `item` counts groups of
/// Output::kLanes columns.
template <typename Config, typename Acc, typename Output>
GPUC_DEVICE void reduceSplits(const Acc *scratch, const Output &output, i64 item) {
  constexpr int kLanes = Config::kN % Output::kLanes == 0 ? Output::kLanes : 1;
  constexpr i64 kSlice = i64(Config::kBatch) * Config::kM * Config::kN;
  i64 at = item * kLanes;
  if (at >= kSlice)
    return;
  Acc sum[kLanes] = {};
#pragma unroll 4
  for (int s = 0; s < Config::kSplits; ++s) {
    Vec<Acc, kLanes> v = ldVec<kLanes>(scratch + s * kSlice + at);
#pragma unroll
    for (int i = 0; i < kLanes; ++i)
      sum[i] += v[i];
  }
  typename Output::Acc values[kLanes];
#pragma unroll
  for (int i = 0; i < kLanes; ++i)
    values[i] = cast<typename Output::Acc>(sum[i]);
  i64 line = at / i64(Config::kN);
  output.store(values, i32(line / i64(Config::kM)), i32(line % i64(Config::kM)), i32(at % i64(Config::kN)));
}

} // namespace gpuc

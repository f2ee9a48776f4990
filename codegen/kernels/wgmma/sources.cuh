// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the tensor memory accelerator brings one operand's k-tile to shared memory. An operand is a matrix
// (rows, depth); a k-tile is kBlockRows rows of 128 bytes of the depth, swizzled by 128 bytes. What lies
// outside arrives as zeros, so no extent needs to be a multiple of anything.
//
// Contract of a Source: kConstant (a weight: may be read before griddepWait), kDepthContiguous (a line of the
// tile is a row, else 64 rows at one depth), and
//   struct Cursor; Cursor begin(const WgmmaTile &, i32 row) const;    a tile's first k-tile
//   void load(const Cursor &, u32 to, u32 barrier) const;             one thread; counts bytes at the barrier
//   void next(Cursor &) const;                                        the k-tile after it
#pragma once
#include "arch/tma.cuh"
#include "wgmma/schedule.cuh"

namespace gpuc {

/// Loads a box of a matrix of a batch. Layout has, as constants: kBatchAxes (0, 1 or 2: further dimensions of the
/// map), and batch(axis, z): the coordinate along one of them.
template <typename Layout>
GPUC_DEVICE void loadBox(u32 to, const arch::TensorMap *map, u32 barrier, i32 inner, i32 outer, i32 z) {
  if constexpr (Layout::kBatchAxes == 0)
    arch::tmaLoad2d(to, map, barrier, inner, outer);
  else if constexpr (Layout::kBatchAxes == 1)
    arch::tmaLoad3d(to, map, barrier, inner, outer, Layout::batch(0, z));
  else
    arch::tmaLoad4d(to, map, barrier, inner, outer, Layout::batch(0, z), Layout::batch(1, z));
}

/// A matrix, perhaps one of a batch. Operand has, as constants: kElements (of the depth in a k-tile),
/// kBlockRows, kConstant, kDepthContiguous, and what loadBox wants.
template <typename Operand> struct MatrixSource {
  static constexpr bool kConstant = Operand::kConstant, kDepthContiguous = Operand::kDepthContiguous;
  const arch::TensorMap *map; // (DEPTH, ROWS, BATCH…), or (ROWS, DEPTH, BATCH…)

  struct Cursor {
    i32 depth, row, z;
  };
  GPUC_DEVICE Cursor begin(const WgmmaTile &tile, i32 row) const {
    return {tile.firstStep * Operand::kElements, row, tile.z};
  }
  GPUC_DEVICE void load(const Cursor &at, u32 to, u32 barrier) const {
    if constexpr (kDepthContiguous) {
      loadBox<Operand>(to, map, barrier, at.depth, at.row, at.z);
    } else {
      constexpr int kGroupRows = 64; // 128 bytes of 16-bit rows
#pragma unroll
      for (int i = 0; i < Operand::kBlockRows / kGroupRows; ++i)
        loadBox<Operand>(to + u32(i * Operand::kElements * 128), map, barrier, at.row + i * kGroupRows, at.depth,
                         at.z);
    }
  }
  GPUC_DEVICE void next(Cursor &at) const { at.depth += Operand::kElements; }
};

/// Pixels of a channels-last image under a filter: the map walks the positions of the filter's corner, a tap
/// is an offset added to every pixel, padding arrives as zeros. Geometry has, as constants: kPixelsX,
/// kPixelsY (of the result), kStrideX, kStrideY, kLowX, kLowY (padding), kDilationX, kDilationY, kTapsX,
/// kChannelSteps (k-tiles of one tap), kElements.
template <typename Geometry> struct PixelTaps {
  static constexpr bool kConstant = false, kDepthContiguous = true;
  const arch::TensorMap *map; // (C, W, H, N)

  struct Cursor {
    i32 x, y, image, channel, tapX, tapY;
  };
  GPUC_DEVICE Cursor begin(const WgmmaTile &tile, i32 pixel) const {
    i32 tap = tile.firstStep / Geometry::kChannelSteps;
    i32 y = pixel / Geometry::kPixelsX, image = y / Geometry::kPixelsY;
    return {pixel % Geometry::kPixelsX * Geometry::kStrideX - Geometry::kLowX,
            y % Geometry::kPixelsY * Geometry::kStrideY - Geometry::kLowY,
            image,
            tile.firstStep % Geometry::kChannelSteps * Geometry::kElements,
            tap % Geometry::kTapsX * Geometry::kDilationX,
            tap / Geometry::kTapsX * Geometry::kDilationY};
  }
  GPUC_DEVICE void load(const Cursor &at, u32 to, u32 barrier) const {
    arch::tmaLoadIm2col4d(to, map, barrier, at.channel, at.x, at.y, at.image, u16(at.tapX), u16(at.tapY));
  }
  GPUC_DEVICE void next(Cursor &at) const {
    at.channel += Geometry::kElements;
    if (at.channel < Geometry::kChannelSteps * Geometry::kElements)
      return;
    at.channel = 0;
    at.tapX += Geometry::kDilationX;
    if (at.tapX == Geometry::kTapsX * Geometry::kDilationX) {
      at.tapX = 0;
      at.tapY += Geometry::kDilationY;
    }
  }
};

/// Filters as rows of (tap, channel), in the order of PixelTaps.
template <typename Geometry> struct FilterTaps {
  static constexpr bool kConstant = true, kDepthContiguous = true;
  const arch::TensorMap *map; // (C, TAPS, O)

  struct Cursor {
    i32 channel, tap, row;
  };
  GPUC_DEVICE Cursor begin(const WgmmaTile &tile, i32 row) const {
    return {tile.firstStep % Geometry::kChannelSteps * Geometry::kElements,
            tile.firstStep / Geometry::kChannelSteps, row};
  }
  GPUC_DEVICE void load(const Cursor &at, u32 to, u32 barrier) const {
    arch::tmaLoad3d(to, map, barrier, at.channel, at.tap, at.row);
  }
  GPUC_DEVICE void next(Cursor &at) const {
    at.channel += Geometry::kElements;
    if (at.channel >= Geometry::kChannelSteps * Geometry::kElements) {
      at.channel = 0;
      ++at.tap;
    }
  }
};

} // namespace gpuc

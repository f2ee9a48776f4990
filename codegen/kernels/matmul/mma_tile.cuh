// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block's tile of a product on tensor cores (sm_80 and later): cp.async ring of kStages, ldmatrix fragments double
// buffered in registers, mma.sync, float accumulation. The structure is that of CUTLASS' multistage SM80 mainloop.
//
// Config: kM, kN, kK, kBatch, kSplits (problem), kBlockM, kBlockN, kBlockK, kStages, kWarpsM, kWarpsN (tile), Mma (an
// instruction kind of mma_sm80.cuh). Call prepare, requestConstants, (griddepWait, griddepLaunch), requestRest,
// multiply, store in this order, all threads.
#pragma once
#include "arch/barrier.cuh"
#include "matmul/operand_tile.cuh"
#include "matmul/tile_coord.cuh"

namespace gpuc {

template <typename Config, typename SourceA, typename SourceB> struct MmaTile {
  using T = typename SourceA::T;
  using Mma = typename Config::Mma;
  static constexpr int kWarps = Config::kWarpsM * Config::kWarpsN, kThreads = kWarps * 32;
  static constexpr int kWarpM = Config::kBlockM / Config::kWarpsM, kWarpN = Config::kBlockN / Config::kWarpsN;
  static constexpr int kMi = kWarpM / Mma::kM, kNi = kWarpN / Mma::kN; ///< instructions of a warp
  static constexpr int kInner = Config::kBlockK / Mma::kK;             ///< instructions along a step of the depth
  static constexpr int kStages = Config::kStages;
  static_assert(kMi * Mma::kM == kWarpM && kNi * Mma::kN == kWarpN && kNi % 2 == 0, "warp tiles are multiples of 16x16");
  static_assert(kStages >= 2, "the ring needs two stages");

  using TileA = OperandTile<SourceA, Config::kBlockM, Config::kBlockK, kThreads>;
  using TileB = OperandTile<SourceB, Config::kBlockN, Config::kBlockK, kThreads>;

  static constexpr int kSlabStride = kWarpN + 4; ///< floats; rows 4 banks apart
  struct Ring {
    T a[kStages][TileA::kElements]; // (STAGE, BLK_M x BLK_K or BLK_K x BLK_M)
    T b[kStages][TileB::kElements]; // (STAGE, BLK_N x BLK_K or BLK_K x BLK_N)
  };
  union Shared {
    Ring ring;
    float slab[kWarps][Mma::kM * kSlabStride]; // (WARP, 16 x WARP_N): turns fragments into rows for the stores
  };

  Shared &shared;
  const SourceA &sourceA;
  const SourceB &sourceB;
  TileCoord coord;
  TileA tileA;
  TileB tileB;
  float acc[kMi][kNi][4];

  GPUC_DEVICE MmaTile(Shared &shared, const SourceA &a, const SourceB &b, TileCoord coord)
      : shared(shared), sourceA(a), sourceB(b), coord(coord) {
    tileA.prepare(sourceA, coord.row);
    tileB.prepare(sourceB, coord.col);
#pragma unroll
    for (int i = 0; i < kMi; ++i)
#pragma unroll
      for (int j = 0; j < kNi; ++j)
#pragma unroll
        for (int r = 0; r < 4; ++r)
          acc[i][j][r] = 0;
  }

  /// Starts the copies of constant operands for the first stages.
  GPUC_DEVICE void requestConstants() {
#pragma unroll
    for (int s = 0; s < kStages - 1; ++s)
      if (s < coord.steps)
        requestStage<true>(s, s);
  }
  /// Starts the copies of the other operands for the first stages.
  GPUC_DEVICE void requestRest() {
#pragma unroll
    for (int s = 0; s < kStages - 1; ++s) {
      if (s < coord.steps)
        requestStage<false>(s, s);
      arch::cpAsyncCommit();
    }
  }

  GPUC_DEVICE void multiply() {
    int warp = int(threadIdx.x) / 32;
    int row = warp / Config::kWarpsN * kWarpM, col = warp % Config::kWarpsN * kWarpN;
    int stage = 0, refill = kStages - 1;
    for (i32 step = 0; step < coord.steps; ++step) {
      arch::cpAsyncWait<kStages - 2>();
      arch::syncThreads();
      bool more = step + kStages - 1 < coord.steps;
      i32 k = (coord.firstStep + step + kStages - 1) * Config::kBlockK;
      if (more) {
        tileA.request(sourceA, shared.ring.a[refill], k);
        tileB.request(sourceB, shared.ring.b[refill], k);
      }
      arch::cpAsyncCommit();

      u32 fragmentsA[2][kMi][4], fragmentsB[2][kNi][2];
      TileA::loadA(fragmentsA[0], shared.ring.a[stage], row, 0);
      TileB::loadB(fragmentsB[0], shared.ring.b[stage], col, 0);
#pragma unroll
      for (int inner = 0; inner < kInner; ++inner) {
        if (inner + 1 < kInner) {
          TileA::loadA(fragmentsA[(inner + 1) % 2], shared.ring.a[stage], row, inner + 1);
          TileB::loadB(fragmentsB[(inner + 1) % 2], shared.ring.b[stage], col, inner + 1);
        }
        arch::mmaTile<Mma, kMi, kNi>(acc, fragmentsA[inner % 2], fragmentsB[inner % 2]);
      }
      if (more) {
        tileA.finish(shared.ring.a[refill]);
        tileB.finish(shared.ring.b[refill]);
      }
      stage = stage + 1 == kStages ? 0 : stage + 1;
      refill = refill + 1 == kStages ? 0 : refill + 1;
    }
  }

  /// Passes the tile's elements that exist to `output`, Output::kLanes columns at a time where they fit.
  template <typename Output> GPUC_DEVICE void store(const Output &output) {
    constexpr int kLanes = Output::kLanes, kLineItems = kWarpN / kLanes, kItems = Mma::kM * kLineItems;
    static_assert(kItems % 32 == 0, "a warp stores whole passes");
    int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    i32 row = coord.row + warp / Config::kWarpsN * kWarpM, col = coord.col + warp % Config::kWarpsN * kWarpN;
    arch::syncThreads(); // the slab lies over the ring
    float(&slab)[Mma::kM * kSlabStride] = shared.slab[warp];
#pragma unroll
    for (int i = 0; i < kMi; ++i) {
#pragma unroll
      for (int j = 0; j < kNi; ++j) {
        int at = lane / 4 * kSlabStride + j * 8 + lane % 4 * 2;
        stVec(&slab[at], Vec<float, 2>{{acc[i][j][0], acc[i][j][1]}});
        stVec(&slab[at + 8 * kSlabStride], Vec<float, 2>{{acc[i][j][2], acc[i][j][3]}});
      }
      arch::syncWarp();
#pragma unroll
      for (int pass = 0; pass < kItems / 32; ++pass) {
        int item = pass * 32 + lane, r = item / kLineItems, c = item % kLineItems * kLanes;
        Vec<float, kLanes> v = ldVec<kLanes>(&slab[r * kSlabStride + c]);
        storeTileItem<Config>(output, v.elements, coord.z, row + i * 16 + r, col + c);
      }
      arch::syncWarp();
    }
  }

private:
  template <bool kConstants> GPUC_DEVICE void requestStage(int stage, i32 step) {
    i32 k = (coord.firstStep + step) * Config::kBlockK;
    if (SourceA::kConstant == kConstants) {
      tileA.request(sourceA, shared.ring.a[stage], k);
      tileA.finish(shared.ring.a[stage]);
    }
    if (SourceB::kConstant == kConstants) {
      tileB.request(sourceB, shared.ring.b[stage], k);
      tileB.finish(shared.ring.b[stage]);
    }
  }
};

} // namespace gpuc

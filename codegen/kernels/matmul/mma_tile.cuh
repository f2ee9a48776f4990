// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block's tile of a product on tensor cores (sm_80 and later): cp.async ring of kStages, ldmatrix fragments
// double buffered in registers, mma.sync, float accumulation. The structure is that of CUTLASS' multistage
// SM80 mainloop.
//
// Config: kM, kN, kK, kBatch, kSplits (problem), kBlockM, kBlockN, kBlockK, kStages, kWarpsM, kWarpsN (tile),
// kWarpsK (groups of warps that share the tile and take turns along the depth), Mma (an instruction kind of
// mma_sm80.cuh; with MmaF16F16 the sums of a step, of kBlockK / kWarpsK products, are f16 and then added to the
// float ones). Call prepare, requestConstants, (griddepWait, griddepLaunch), requestRest, multiply, store
// in this order, all threads.
#pragma once
#include "arch/barrier.cuh"
#include "matmul/operand_tile.cuh"
#include "matmul/tile_coord.cuh"

namespace gpuc {

template <typename Config, typename SourceA, typename SourceB> struct MmaTile {
  using T = typename SourceA::T;
  using Mma = typename Config::Mma;
  static constexpr int kWarps = Config::kWarpsM * Config::kWarpsN, kThreads = kWarps * Config::kWarpsK * 32;
  static constexpr int kWarpM = Config::kBlockM / Config::kWarpsM, kWarpN = Config::kBlockN / Config::kWarpsN;
  static constexpr int kMi = kWarpM / Mma::kM, kNi = kWarpN / Mma::kN; ///< instructions of a warp
  static constexpr int kInner =
      Config::kBlockK / Mma::kK / Config::kWarpsK; ///< of a warp, along a step of the depth
  static constexpr int kStages = Config::kStages;
  static_assert(kMi * Mma::kM == kWarpM && kNi * Mma::kN == kWarpN && kNi % 2 == 0,
                "warp tiles are multiples of 16x16");
  static_assert(kStages >= 3, "a stage is refilled while the next two are read");
  static_assert(kInner >= 2 && kInner % 2 == 0, "fragments alternate between two buffers");

  static constexpr bool kSumsSteps = kIsSame<Mma, arch::MmaF16F16>;

  using TileA = OperandTile<SourceA, Config::kBlockM, Config::kBlockK, kThreads>;
  using TileB = OperandTile<SourceB, Config::kBlockN, Config::kBlockK, kThreads>;

  static constexpr int kSlabStride = kWarpN + 4; ///< floats; rows 4 banks apart
  struct Ring {
    T a[kStages][TileA::kElements]; // (STAGE, BLK_M x BLK_K or BLK_K x BLK_M)
    T b[kStages][TileB::kElements]; // (STAGE, BLK_N x BLK_K or BLK_K x BLK_N)
  };
  union Shared {
    Ring ring;
    float slab[kWarps]
              [Mma::kM * kSlabStride]; // (WARP, 16 x WARP_N): turns fragments into rows for the stores
    float parts[Config::kWarpsK > 1 ? Config::kWarpsK - 1 : 1][Config::kWarpsK > 1 ? kMi * kNi * 4 : 1]
               [kWarps * 32]; // of other groups
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
    if constexpr (SourceA::kConstant || SourceB::kConstant) {
#pragma unroll 1
      for (int s = 0; s < kStages - 1; ++s)
        if (s < coord.steps)
          requestStage<true>(s, s);
    }
  }
  /// Starts the copies of the other operands for the first stages.
  GPUC_DEVICE void requestRest() {
#pragma unroll 1
    for (int s = 0; s < kStages - 1; ++s) {
      if (s < coord.steps)
        requestStage<false>(s, s);
      arch::cpAsyncCommit();
    }
  }

  GPUC_DEVICE void multiply() {
    int warp = int(threadIdx.x) / 32 % kWarps, part = int(threadIdx.x) / 32 / kWarps;
    int row = warp / Config::kWarpsN * kWarpM, col = warp % Config::kWarpsN * kWarpN, first = part * kInner;
    int stage = 0, refill = kStages - 1;
    u32 fragmentsA[2][kMi][4], fragmentsB[2][kNi][2];
    u32 stepSums[kSumsSteps ? kMi : 1][kSumsSteps ? kNi : 1][2] = {}; // pairs of f16
    if (coord.steps > 0) {
      arch::cpAsyncWait<kStages - 2>();
      arch::syncThreads();
      TileA::loadA(fragmentsA[0], shared.ring.a[0], row, first);
      TileB::loadB(fragmentsB[0], shared.ring.b[0], col, first);
    }
    for (i32 step = 0; step < coord.steps; ++step) {
      bool more = step + kStages - 1 < coord.steps;
      int target = refill; // everyone has read this stage before the last barrier
#pragma unroll
      for (int inner = 0; inner < kInner; ++inner) {
        if (inner + 1 == kInner) {
          arch::cpAsyncWait<kStages - 2>();
          arch::syncThreads();
          stage = stage + 1 == kStages ? 0 : stage + 1;
          refill = refill + 1 == kStages ? 0 : refill + 1;
        }
        // The fragments of the instruction after this one; after the last step nobody uses them.
        int ahead = (inner + 1) % kInner;
        TileA::loadA(fragmentsA[(inner + 1) % 2], shared.ring.a[stage], row, first + ahead);
        TileB::loadB(fragmentsB[(inner + 1) % 2], shared.ring.b[stage], col, first + ahead);
        if (inner == 0) {
          if (more) {
            i32 k = (coord.firstStep + step + kStages - 1) * Config::kBlockK;
            tileA.request(sourceA, shared.ring.a[target], k);
            tileB.request(sourceB, shared.ring.b[target], k);
          }
          arch::cpAsyncCommit();
        }
        if constexpr (kSumsSteps)
          arch::mmaTile<Mma, kMi, kNi>(stepSums, fragmentsA[inner % 2], fragmentsB[inner % 2]);
        else
          arch::mmaTile<Mma, kMi, kNi>(acc, fragmentsA[inner % 2], fragmentsB[inner % 2]);
      }
      if constexpr (kSumsSteps)
        addStep(stepSums);
      if (more) {
        tileA.finish(shared.ring.a[target]);
        tileB.finish(shared.ring.b[target]);
      }
    }
    if constexpr (Config::kWarpsK > 1)
      addParts();
  }

  /// Adds the sums of a step to `acc`, and clears them.
  template <int MI, int NI> GPUC_DEVICE void addStep(u32 (&sums)[MI][NI][2]) {
#pragma unroll
    for (int i = 0; i < MI; ++i) {
#pragma unroll
      for (int j = 0; j < NI; ++j) {
#pragma unroll
        for (int r = 0; r < 4; ++r)
          acc[i][j][r] += cast<float>(f16{u16(sums[i][j][r / 2] >> r % 2 * 16)});
        sums[i][j][0] = sums[i][j][1] = 0;
      }
    }
  }

  /// Passes the tile's elements that exist to `output`, Output::kLanes columns at a time where they fit.
  template <typename Output> GPUC_DEVICE void store(const Output &output) {
    constexpr int kLanes = Output::kLanes, kLineItems = kWarpN / kLanes, kItems = Mma::kM * kLineItems;
    static_assert(kItems % 32 == 0, "a warp stores whole passes");
    int warp = int(threadIdx.x) / 32, lane = int(threadIdx.x) % 32;
    arch::syncThreads(); // the slab lies over the ring
    if (warp >= kWarps)
      return; // its sums are in those of the first group
    i32 row = coord.row + warp / Config::kWarpsN * kWarpM, col = coord.col + warp % Config::kWarpsN * kWarpN;
    float (&slab)[Mma::kM * kSlabStride] = shared.slab[warp];
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
  /// Adds the sums of all groups of warps to those of the first, in order.
  GPUC_DEVICE void addParts() {
    int part = int(threadIdx.x) / (kWarps * 32), thread = int(threadIdx.x) % (kWarps * 32);
    arch::syncThreads(); // the sums lie over the ring
#pragma unroll
    for (int i = 0; i < kMi * kNi * 4; ++i)
      if (part > 0)
        shared.parts[part - 1][i][thread] = acc[i / 4 / kNi][i / 4 % kNi][i % 4];
    arch::syncThreads();
    if (part > 0)
      return;
#pragma unroll
    for (int p = 0; p < Config::kWarpsK - 1; ++p)
#pragma unroll
      for (int i = 0; i < kMi * kNi * 4; ++i)
        acc[i / 4 / kNi][i / 4 % kNi][i % 4] += shared.parts[p][i][thread];
  }
  template <bool kConstants> GPUC_DEVICE void requestStage(int stage, i32 step) {
    i32 k = (coord.firstStep + step) * Config::kBlockK;
    if constexpr (SourceA::kConstant == kConstants) {
      tileA.request(sourceA, shared.ring.a[stage], k);
      tileA.finish(shared.ring.a[stage]);
    }
    if constexpr (SourceB::kConstant == kConstants) {
      tileB.request(sourceB, shared.ring.b[stage], k);
      tileB.finish(shared.ring.b[stage]);
    }
  }
};

} // namespace gpuc

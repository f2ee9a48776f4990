// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block of a product with few rows (sm_90a): one tile of 64 x kBlockB, all k-tiles of its slice of the depth in
// shared memory at once. Latency decides here: weights are requested before the preceding kernel has ended, there is
// no ring, two warpgroups split the depth, and a depth that does not fit is split over the blocks of a cluster.
// README.md explains the choice.
//
// Config: as wgmma/schedule.cuh; kSplits is the blocks of a cluster. Sources: wgmma/sources.cuh, the columns'
// constant. Output: RowLoads and loadRow(row), Row and row(loads) (requested once per row, before the product),
// store(values, Row, z, row, col), and with kMoments storeMoments(row, part, sum, squares) of what store left in
// `values`, per tile of columns. PlainRows makes one of an Output of matmul/tile_coord.cuh.
#pragma once
#include "arch/barrier.cuh"
#include "arch/cluster.cuh"
#include "arch/griddep.cuh"
#include "arch/shuffle.cuh"
#include "arch/tma.cuh"
#include "arch/wgmma.cuh"
#include "matmul/tile_coord.cuh"
#include "wgmma/sources.cuh"

namespace gpuc {

template <typename Output> struct PlainRows {
  static constexpr int kLanes = Output::kLanes;
  static constexpr bool kMoments = false;
  struct RowLoads {};
  struct Row {};
  const Output &output;
  GPUC_DEVICE RowLoads loadRow(i32) const { return {}; }
  GPUC_DEVICE static Row row(const RowLoads &) { return {}; }
  template <int L> GPUC_DEVICE void store(float (&values)[L], const Row &, i32 z, i32 row, i32 col) const {
    const float(&sums)[L] = values;
    output.store(sums, z, row, col);
  }
};

template <typename Config, typename RowSource, typename ColSource, typename Output> struct SlabProduct {
  using T = typename Config::T;
  static constexpr int kRows = 64, kCols = Config::kBlockB, kRanks = Config::kSplits;
  static constexpr int kSteps = (Config::kSteps + kRanks - 1) / kRanks; ///< of a block; the last may have fewer
  static constexpr int kConsumerThreads = 256, kThreads = kConsumerThreads + 32;
  static constexpr u32 kRowBytes = u32(kRows) * 128, kColBytes = u32(kCols) * 128;
  /// k-tiles of a group arrive at one barrier and are multiplied by one warpgroup.
  static constexpr int kGroups = kSteps < 4 ? kSteps : 4, kGroupSteps = (kSteps + kGroups - 1) / kGroups;
  static constexpr int kStride = kCols + 8; ///< floats of a row of partial sums: rows are 8 banks apart
  static constexpr u32 kPartBytes = u32(kRows * kStride) * 4, kSlabBytes = u32(kSteps) * (kRowBytes + kColBytes);
  static constexpr int kOwnRows = kRows / kRanks; ///< of the tile, which a block stores
  static_assert(ColSource::kConstant && ColSource::kDepthContiguous && RowSource::kDepthContiguous, "as selected");
  static_assert(kRows % kRanks == 0, "ranks own whole rows");

  struct Shared {
    // Rows' k-tiles (STEP, ROW x 128 bytes), then columns', 128-byte swizzle; then the warpgroups' partial sums.
    u8 slab[kSlabBytes > 2 * kPartBytes ? kSlabBytes : 2 * kPartBytes];
    float incoming[kRanks > 1 ? kRows * kCols : 4]; // (RANK, kOwnRows, kCols): the cluster's sums of this block's rows
    u64 full[kGroups], weights, reduced;
  };

  GPUC_DEVICE static void run(Shared &shared, const RowSource &rows, const ColSource &cols, const Output &output) {
    u32 base = arch::opaque(arch::sharedAddress(&shared));
    auto address = [&](const void *field) {
      return base + u32(static_cast<const u8 *>(field) - reinterpret_cast<const u8 *>(&shared));
    };
    u32 full = address(shared.full), weights = address(&shared.weights), reduced = address(&shared.reduced);
    WgmmaTile tile = tileOf(blockIdx.x);
    bool isProducer = threadIdx.x == kConsumerThreads;
    if (isProducer) {
      for (int g = 0; g < kGroups; ++g)
        arch::mbarrierInit(full + u32(g) * 8, 1);
      arch::mbarrierInit(weights, 1);
      arch::mbarrierInit(reduced, 1);
      arch::mbarrierInitFence();
    }
    arch::syncThreads();
    if constexpr (kRanks > 1)
      arch::clusterArrive();
    if (isProducer)
      produce(base, full, weights, reduced, tile, rows, cols);
    if constexpr (kRanks > 1)
      arch::clusterWait(); // every block's barriers exist
    if (threadIdx.x < kConsumerThreads)
      consume(base, full, weights, address(shared.incoming), reduced, tile, output);
  }

private:
  static constexpr u32 kTilesM = (u32(Config::kM) + kRows - 1) / kRows, kTilesN = (u32(Config::kN) + kCols - 1) / kCols;

  GPUC_DEVICE static WgmmaTile tileOf(u32 block) {
    u32 rank = block % u32(kRanks), index = block / u32(kRanks);
    WgmmaTile t;
    t.z = i32(index / (kTilesM * kTilesN));
    t.split = i32(rank);
    t.rowA = i32(index % kTilesM) * kRows;
    t.rowB = i32(index / kTilesM % kTilesN) * kCols;
    t.firstStep = i32(rank) * kSteps;
    i32 left = Config::kSteps - t.firstStep;
    t.steps = left < kSteps ? left : kSteps;
    return t;
  }

  /// One thread: weights, then the wait, then activations; then the next kernel may start.
  GPUC_DEVICE static void produce(u32 base, u32 full, u32 weights, u32 reduced, const WgmmaTile &tile,
                                  const RowSource &rows, const ColSource &cols) {
    arch::mbarrierArriveExpectTx(weights, u32(tile.steps) * kColBytes);
    auto atCols = cols.begin(tile, tile.rowB);
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      if (k < tile.steps)
        cols.load(atCols, base + u32(kSteps) * kRowBytes + u32(k) * kColBytes, weights);
      cols.next(atCols);
    }
    arch::tensorMapPrefetch(rows.map);
    if constexpr (kRanks > 1)
      arch::mbarrierArriveExpectTx(reduced, u32(kRows * kCols) * 4);
    arch::griddepWait();
    auto atRows = rows.begin(tile, tile.rowA);
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      if (k < tile.steps) {
        u32 barrier = full + u32(k / kGroupSteps) * 8;
        if (k % kGroupSteps == 0) {
          i32 left = tile.steps - k;
          arch::mbarrierArriveExpectTx(barrier, u32(left < kGroupSteps ? left : kGroupSteps) * kRowBytes);
        }
        rows.load(atRows, base + u32(k) * kRowBytes, barrier);
      }
      rows.next(atRows);
    }
    arch::griddepLaunch();
  }

  GPUC_DEVICE static void consume(u32 base, u32 full, u32 weights, u32 incoming, u32 reduced, const WgmmaTile &tile,
                                  const Output &output) {
    int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32 % 4, group = int(threadIdx.x) / 128;
    arch::griddepWait(); // the epilogue reads activations and writes
    // Lanes divide kN: an item lies inside or outside.
    constexpr int kLanes = Output::kLanes, kLineItems = kCols / kLanes;
    constexpr int kItems = (kRanks > 1 ? kOwnRows : kRows) * kLineItems;
    constexpr int kOfThread = (kItems + kConsumerThreads - 1) / kConsumerThreads;
    i32 firstRow = tile.rowA + (kRanks > 1 ? tile.split * kOwnRows : 0);
    typename Output::RowLoads rowLoads[kOfThread];
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) {
      i32 row = firstRow + (i * kConsumerThreads + i32(threadIdx.x)) / kLineItems;
      rowLoads[i] = output.loadRow(row < i32(Config::kM) ? row : i32(Config::kM) - 1);
    }
    constexpr bool kLate = kOfThread <= 2; // more loads under way would take too many registers
    typename Output::Row rowStates[kOfThread];
    auto finishRows = [&] {
#pragma unroll
      for (int i = 0; i < kOfThread; ++i)
        rowStates[i] = Output::row(rowLoads[i]);
    };
    if constexpr (!kLate)
      finishRows();
    float acc[kCols / 2] = {};
    arch::mbarrierWait(weights, 0);
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      if (g % 2 != group || g * kGroupSteps >= tile.steps)
        continue;
      arch::mbarrierWait(full + u32(g) * 8, 0);
      arch::wgmmaFence();
#pragma unroll
      for (int k = g * kGroupSteps; k < (g + 1) * kGroupSteps && k < kSteps; ++k)
        if (k < tile.steps) {
          u32 a = base + u32(k) * kRowBytes, b = base + u32(kSteps) * kRowBytes + u32(k) * kColBytes;
          if (Config::kTail == 4 || (tile.firstStep + k + 1) % Config::kRun != 0)
            multiply<4>(acc, a, b);
          else
            multiply<Config::kTail>(acc, a, b);
        }
      arch::wgmmaCommit();
    }
    arch::wgmmaWait<0>(acc);
    arch::barSync(1, kConsumerThreads); // all k-tiles have been read: partial sums take their place
    u32 part = base + u32(group) * kPartBytes + u32((warp * 16 + lane / 4) * kStride + lane % 4 * 2) * 4;
#pragma unroll
    for (int j = 0; j < kCols / 8; ++j) {
      arch::stSharedF32x2(part + u32(j) * 32, acc[j * 4], acc[j * 4 + 1]);
      arch::stSharedF32x2(part + u32(j) * 32 + u32(8 * kStride) * 4, acc[j * 4 + 2], acc[j * 4 + 3]);
    }
    arch::barSync(1, kConsumerThreads);
    if constexpr (kRanks > 1) {
      exchange(base, incoming, reduced, tile);
      arch::mbarrierWait(reduced, 0);
    }
    if constexpr (kLate)
      finishRows();
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) {
      int item = i * kConsumerThreads + int(threadIdx.x), r = item / kLineItems, c = item % kLineItems * kLanes;
      if (item >= kItems)
        continue;
      float values[kLanes] = {};
      if constexpr (kRanks > 1) { // in order of the ranks: always the same result
#pragma unroll
        for (int s = 0; s < kRanks; ++s)
          addLanes(values, incoming + u32((s * kOwnRows + r) * kCols + c) * 4);
      } else {
        addLanes(values, base + u32(r * kStride + c) * 4);
        addLanes(values, base + kPartBytes + u32(r * kStride + c) * 4);
      }
      i32 row = firstRow + r, col = tile.rowB + c;
      bool isInside = row < i32(Config::kM) && col < i32(Config::kN);
      if (isInside)
        output.store(values, rowStates[i], tile.z, row, col);
      if constexpr (Output::kMoments)
        storeMoments<kLineItems>(values, isInside, row, tile.rowB, c == 0, output);
    }
  }

  /// Adds up a row's values of this tile; the threads of a row are neighbours.
  template <int kThreadsOfRow, int L>
  GPUC_DEVICE static void storeMoments(const float (&values)[L], bool isInside, i32 row, i32 col, bool isFirst,
                                       const Output &output) {
    static_assert(kCols == Output::kMomentColumns && kThreadsOfRow <= 32, "a tile is one part");
    float sum = 0, squares = 0;
#pragma unroll
    for (int l = 0; l < L; ++l) {
      float v = isInside ? values[l] : 0.f;
      sum += v;
      squares += v * v;
    }
#pragma unroll
    for (int d = 1; d < kThreadsOfRow; d *= 2) {
      sum += arch::shflXor(sum, d);
      squares += arch::shflXor(squares, d);
    }
    if (isFirst && isInside)
      output.storeMoments(row, col / kCols, sum, squares);
  }

  /// Sends this block's sums to the blocks that own their rows, four columns at a time.
  GPUC_DEVICE static void exchange(u32 base, u32 incoming, u32 reduced, const WgmmaTile &tile) {
    constexpr int kLineItems = kCols / 4;
#pragma unroll
    for (int first = 0; first < kRows * kLineItems; first += kConsumerThreads) {
      int item = first + int(threadIdx.x), r = item / kLineItems, c = item % kLineItems * 4;
      float v[4] = {};
      addLanes(v, base + u32(r * kStride + c) * 4);
      addLanes(v, base + kPartBytes + u32(r * kStride + c) * 4);
      u32 owner = u32(r / kOwnRows), to = incoming + u32((tile.split * kOwnRows + r % kOwnRows) * kCols + c) * 4;
      arch::stAsyncF32x4(arch::clusterMap(to, owner), v[0], v[1], v[2], v[3], arch::clusterMap(reduced, owner));
    }
  }

  template <int L> GPUC_DEVICE static void addLanes(float (&values)[L], u32 from) {
    float v[L];
    ldSharedLanes(v, from);
#pragma unroll
    for (int l = 0; l < L; ++l)
      values[l] += v[l];
  }

  /// acc += A B of one k-tile, kCount times 32 bytes of the depth.
  template <int kCount> GPUC_DEVICE static void multiply(float (&acc)[kCols / 2], u32 a, u32 b) {
    u64 descA = arch::wgmmaDescK128(a), descB = arch::wgmmaDescK128(b);
#pragma unroll
    for (int i = 0; i < kCount; ++i)
      arch::wgmma<T, kCols>(acc, descA + u64(i * 2), descB + u64(i * 2), 1);
  }
};

} // namespace gpuc

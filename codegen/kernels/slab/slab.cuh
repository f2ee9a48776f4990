// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block of a product with few rows (sm_90a): one tile of 64 x kBlockB, the weights of its slice of the depth in shared
// memory at once, the rows' k-tiles too as far as they fit. Latency decides here: weights are requested before the
// preceding kernel has ended, two warpgroups split the depth, and a depth that does not fit is split over the blocks of
// a cluster. README.md explains the choice.
//
// Config: as wgmma/schedule.cuh; kSplits is the blocks of a cluster, kSlots the places for the rows' k-tiles of a block
// (as many as it has k-tiles, or fewer: then later ones take the places of those that have been multiplied), kGroups how
// many requests its k-tiles are waited for in. Sources: wgmma/sources.cuh, the columns' constant. Output: kLanes;
// kRows, loadRow<S>(row, slice), Row and row<S>(loads) (wgmma/epilogue.cuh); Loads and load(z, row, col), what the
// epilogue reads for kLanes columns; store(values, Row, Loads, z, row, col); and with kMoments storeMoments(row, part,
// sum, squares) of what store left in `values`.
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

template <typename Config, typename RowSource, typename ColSource, typename Output> struct SlabProduct {
  using T = typename Config::T;
  using Row = typename Output::Row;
  static constexpr int kRows = 64, kCols = Config::kBlockB, kRanks = Config::kSplits;
  static constexpr int kSteps = (Config::kSteps + kRanks - 1) / kRanks; ///< of a block; the last may have fewer
  static constexpr bool kEven = Config::kSteps % kRanks == 0;           ///< no block has fewer
  static constexpr int kConsumerThreads = 256, kThreads = kConsumerThreads + 32;
  static constexpr u32 kRowBytes = u32(kRows) * 128, kColBytes = u32(kCols) * 128;
  static constexpr int kSlots = Config::kSlots, kGroups = Config::kGroups;
  /// Floats of a row of partial sums: a multiple of 32 and 8, so that neighbouring rows are 8 banks apart.
  static constexpr int kStride = kCols + (40 - kCols % 32) % 32;
  static constexpr u32 kPartBytes = u32(kRows * kStride) * 4,
                       kSlabBytes = u32(kSlots) * kRowBytes + u32(kSteps) * kColBytes;
  static constexpr int kOwnRows = kRows / kRanks; ///< of the tile, which a block stores
  static constexpr int kRowSlices = 4;            ///< threads that read a row's moments
  static_assert(ColSource::kConstant && ColSource::kDepthContiguous && RowSource::kDepthContiguous, "as selected");
  static_assert(kRows % kRanks == 0 && kRows * kRowSlices == kConsumerThreads, "ranks own whole rows");
  static_assert(kCols % 8 == 0 && kSlots <= kSteps, "as selected");

  struct Shared {
    // Rows' k-tiles (SLOT, ROW x 128 bytes), then columns' (STEP, ROW x 128 bytes), 128-byte swizzle; then the
    // warpgroups' partial sums.
    u8 slab[kSlabBytes > 2 * kPartBytes ? kSlabBytes : 2 * kPartBytes];
    float incoming[kRanks > 1 ? kRows * kCols : 4]; // (RANK, kOwnRows, kCols): the cluster's sums of this block's rows
    Row rows[Output::kRows ? kOwnRows : 1];
    u64 full[kGroups], freed[kGroups], weights, reduced;
  };
  /// 32-bit addresses of the parts.
  struct Places {
    u32 rows, cols, incoming, states, full, freed, weights, reduced;
  };

  GPUC_DEVICE static void run(Shared &shared, const RowSource &rows, const ColSource &cols, const Output &output) {
    u32 base = arch::opaque(arch::sharedAddress(&shared));
    auto address = [&](const void *field) {
      return base + u32(static_cast<const u8 *>(field) - reinterpret_cast<const u8 *>(&shared));
    };
    Places at{base,
              base + u32(kSlots) * kRowBytes,
              address(shared.incoming),
              address(shared.rows),
              address(shared.full),
              address(shared.freed),
              address(&shared.weights),
              address(&shared.reduced)};
    WgmmaTile tile = tileOf(blockIdx.x);
    bool isProducer = threadIdx.x == kConsumerThreads;
    if (isProducer) {
      for (int g = 0; g < kGroups; ++g) {
        arch::mbarrierInit(at.full + u32(g) * 8, 1);
        if (kSlots < kSteps)
          arch::mbarrierInit(at.freed + u32(g) * 8, 4);
      }
      arch::mbarrierInit(at.weights, 1);
      arch::mbarrierInit(at.reduced, 1);
      arch::mbarrierInitFence();
    }
    arch::syncThreads();
    if constexpr (kRanks > 1)
      arch::clusterArrive();
    if (threadIdx.x >= kConsumerThreads) {
      if (isProducer)
        produce(at, tile, rows, cols);
      arch::syncWarp(); // a warp waits for the cluster as one
    }
    if constexpr (kRanks > 1)
      arch::clusterWait(); // every block's barriers exist
    if (threadIdx.x < kConsumerThreads)
      consume(at, tile, output);
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

  /// First k-tile of a group.
  GPUC_DEVICE static constexpr int groupStart(int g) { return g * kSteps / kGroups; }
  /// Groups that must have been multiplied before group `g` is requested: its k-tiles take their places.
  GPUC_DEVICE static constexpr int groupsBefore(int g) {
    int before = 0;
    while (g >= 0 && groupStart(before) < groupStart(g + 1) - kSlots)
      ++before;
    return before;
  }

  /// One thread: weights, then the wait, then activations; then the next kernel may start.
  GPUC_DEVICE static void produce(const Places &at, const WgmmaTile &tile, const RowSource &rows, const ColSource &cols) {
    arch::mbarrierArriveExpectTx(at.weights, (kEven ? u32(kSteps) : u32(tile.steps)) * kColBytes);
    auto atCols = cols.begin(tile, tile.rowB);
#pragma unroll
    for (int k = 0; k < kSteps; ++k) {
      if (kEven || k < tile.steps)
        cols.load(atCols, at.cols + u32(k) * kColBytes, at.weights);
      cols.next(atCols);
    }
    arch::tensorMapPrefetch(rows.map);
    if constexpr (kRanks > 1)
      arch::mbarrierArriveExpectTx(at.reduced, u32(kRows * kCols) * 4);
    arch::griddepWait();
    auto atRows = rows.begin(tile, tile.rowA);
    requestRows<0>(at, tile, rows, atRows);
    arch::griddepLaunch();
  }

  /// Group `g` and those after it.
  template <int g, typename Cursor>
  GPUC_DEVICE static void requestRows(const Places &at, const WgmmaTile &tile, const RowSource &rows, Cursor &cursor) {
    if constexpr (g < kGroups) {
      constexpr int kFirst = groupStart(g), kEnd = groupStart(g + 1), kKnown = groupsBefore(g - 1),
                    kWanted = groupsBefore(g);
      if (!kEven && kFirst >= tile.steps)
        return;
#pragma unroll
      for (int f = kKnown; f < kWanted; ++f)
        arch::mbarrierWait(at.freed + u32(f) * 8, 0);
      i32 steps = kEven || tile.steps > kEnd ? kEnd - kFirst : tile.steps - kFirst;
      arch::mbarrierArriveExpectTx(at.full + u32(g) * 8, u32(steps) * kRowBytes);
#pragma unroll
      for (int k = kFirst; k < kEnd; ++k) {
        if (kEven || k < tile.steps)
          rows.load(cursor, at.rows + u32(k % kSlots) * kRowBytes, at.full + u32(g) * 8);
        rows.next(cursor);
      }
      requestRows<g + 1>(at, tile, rows, cursor);
    }
  }

  GPUC_DEVICE static void consume(const Places &at, const WgmmaTile &tile, const Output &output) {
    int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32 % 4, group = int(threadIdx.x) / 128;
    arch::griddepWait(); // the epilogue reads activations and writes
    i32 firstRow = tile.rowA + (kRanks > 1 ? tile.split * kOwnRows : 0);
    auto states = loadStates(firstRow, output);
    // Lanes divide kN: an item lies inside or outside.
    constexpr int kLanes = Output::kLanes, kLineItems = kCols / kLanes;
    constexpr int kItems = (kRanks > 1 ? kOwnRows : kRows) * kLineItems;
    constexpr int kOfThread = (kItems + kConsumerThreads - 1) / kConsumerThreads;
    constexpr bool kAhead = kOfThread * kLanes <= 32; // else too many registers
    typename Output::Loads held[kAhead ? kOfThread : 1];
    auto place = [&](int i, i32 &row, i32 &col) {
      int item = i * kConsumerThreads + int(threadIdx.x);
      row = firstRow + item / kLineItems;
      col = tile.rowB + item % kLineItems * kLanes;
      return item < kItems && row < i32(Config::kM) && col < i32(Config::kN);
    };
    if constexpr (kAhead) {
#pragma unroll
      for (int i = 0; i < kOfThread; ++i) {
        i32 row, col;
        if (place(i, row, col))
          held[i] = output.load(tile.z, row, col);
      }
    }
    float acc[kCols / 2] = {};
    arch::mbarrierWait(at.weights, 0);
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
      if (g % 2 != group || (!kEven && groupStart(g) >= tile.steps))
        continue;
      arch::mbarrierWait(at.full + u32(g) * 8, 0);
      arch::wgmmaFence();
#pragma unroll
      for (int k = groupStart(g); k < groupStart(g + 1); ++k)
        if (kEven || k < tile.steps) {
          u32 a = at.rows + u32(k % kSlots) * kRowBytes, b = at.cols + u32(k) * kColBytes;
          if (Config::kTail == 4 || (tile.firstStep + k + 1) % Config::kRun != 0)
            multiply<4>(acc, a, b);
          else
            multiply<Config::kTail>(acc, a, b);
        }
      arch::wgmmaCommit();
      if (groupStart(g) + kSlots < kSteps) { // its places are wanted
        arch::wgmmaWait<0>(acc);
        if (lane == 0)
          arch::mbarrierArrive(at.freed + u32(g) * 8);
      }
    }
    arch::wgmmaWait<0>(acc);
    storeStates(at, states);
    arch::barSync(1, kConsumerThreads); // all k-tiles have been read: partial sums take their place
    u32 part = at.rows + u32(group) * kPartBytes + u32((warp * 16 + lane / 4) * kStride + lane % 4 * 2) * 4;
#pragma unroll
    for (int j = 0; j < kCols / 8; ++j) {
      arch::stSharedF32x2(part + u32(j) * 32, acc[j * 4], acc[j * 4 + 1]);
      arch::stSharedF32x2(part + u32(j) * 32 + u32(8 * kStride) * 4, acc[j * 4 + 2], acc[j * 4 + 3]);
    }
    arch::barSync(1, kConsumerThreads);
    if constexpr (kRanks > 1) {
      exchange(at, tile);
      arch::mbarrierWait(at.reduced, 0);
    }
#pragma unroll
    for (int i = 0; i < kOfThread; ++i) {
      int item = i * kConsumerThreads + int(threadIdx.x), r = item / kLineItems, c = item % kLineItems * kLanes;
      if (item >= kItems)
        continue;
      float values[kLanes] = {};
      if constexpr (kRanks > 1) { // in order of the ranks: always the same result
#pragma unroll
        for (int s = 0; s < kRanks; ++s)
          addLanes(values, at.incoming + u32((s * kOwnRows + r) * kCols + c) * 4);
      } else {
        addLanes(values, at.rows + u32(r * kStride + c) * 4);
        addLanes(values, at.rows + kPartBytes + u32(r * kStride + c) * 4);
      }
      i32 row, col;
      bool isInside = place(i, row, col);
      if (isInside) {
        if constexpr (!kAhead)
          held[0] = output.load(tile.z, row, col);
        output.store(values, stateOf(at, r), held[kAhead ? i : 0], tile.z, row, col);
      }
      if constexpr (Output::kMoments)
        storeMoments(values, isInside, row, col, output);
    }
  }

  /// Requests the moments of the block's rows: four lanes have one.
  GPUC_DEVICE static auto loadStates(i32 firstRow, const Output &output) {
    if constexpr (Output::kRows) {
      i32 row = firstRow + i32(threadIdx.x) / kRowSlices % kOwnRows;
      return output.template loadRow<kRowSlices>(row < i32(Config::kM) ? row : i32(Config::kM) - 1,
                                                 int(threadIdx.x) % kRowSlices);
    } else {
      return 0;
    }
  }
  /// Puts what the epilogue needs of each row into shared memory.
  template <typename Loads> GPUC_DEVICE static void storeStates(const Places &at, const Loads &loads) {
    if constexpr (Output::kRows) {
      Words words = arch::bitCast<Words>(Output::template row<kRowSlices>(loads));
      if (threadIdx.x % kRowSlices != 0 || threadIdx.x >= kOwnRows * kRowSlices)
        return;
#pragma unroll
      for (u32 i = 0; i < sizeof(Row) / 4; ++i)
        arch::stSharedF32x1(at.states + (threadIdx.x / kRowSlices) * u32(sizeof(Row)) + i * 4, words.f[i]);
    }
  }
  GPUC_DEVICE static Row stateOf(const Places &at, int r) {
    if constexpr (Output::kRows) {
      Words words;
#pragma unroll
      for (u32 i = 0; i < sizeof(Row) / 4; ++i)
        arch::ldSharedF32x1(at.states + u32(r) * u32(sizeof(Row)) + i * 4, words.f[i]);
      return arch::bitCast<Row>(words);
    } else {
      return {};
    }
  }
  struct Words {
    float f[Output::kRows ? sizeof(Row) / 4 : 1];
  };

  /// Adds up a row's values of the columns of one part; their threads are neighbours.
  template <int L>
  GPUC_DEVICE static void storeMoments(const float (&values)[L], bool isInside, i32 row, i32 col, const Output &output) {
    constexpr int kColumns = Output::kMomentColumns, kThreadsOfPart = kColumns / L;
    static_assert(kCols % kColumns == 0 && kThreadsOfPart <= 32, "a tile has whole parts");
    float sum = 0, squares = 0;
#pragma unroll
    for (int l = 0; l < L; ++l) {
      float v = isInside ? values[l] : 0.f;
      sum += v;
      squares += v * v;
    }
#pragma unroll
    for (int d = 1; d < kThreadsOfPart; d *= 2) {
      sum += arch::shflXor(sum, d);
      squares += arch::shflXor(squares, d);
    }
    if (col % kColumns == 0 && isInside)
      output.storeMoments(row, col / kColumns, sum, squares);
  }

  /// Sends this block's sums to the blocks that own their rows, four columns at a time.
  GPUC_DEVICE static void exchange(const Places &at, const WgmmaTile &tile) {
    constexpr int kLineItems = kCols / 4;
#pragma unroll
    for (int first = 0; first < kRows * kLineItems; first += kConsumerThreads) {
      int item = first + int(threadIdx.x), r = item / kLineItems, c = item % kLineItems * 4;
      float v[4] = {};
      if (item >= kRows * kLineItems)
        continue;
      addLanes(v, at.rows + u32(r * kStride + c) * 4);
      addLanes(v, at.rows + kPartBytes + u32(r * kStride + c) * 4);
      u32 owner = u32(r / kOwnRows), to = at.incoming + u32((tile.split * kOwnRows + r % kOwnRows) * kCols + c) * 4;
      arch::stAsyncF32x4(arch::clusterMap(to, owner), v[0], v[1], v[2], v[3], arch::clusterMap(at.reduced, owner));
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

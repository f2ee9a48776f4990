// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From the accumulators of a warpgroup to the result. Of a 64-row block, warp w holds rows 16w…16w+15; lane l
// holds in acc[4j…4j+3] the columns 8j + 2(l%4) and the next, of row l/4 and of row l/4 + 8.
//
// Contract of both stores: kBytes (shared memory of a warpgroup, aligned to 1024), kBarriers; start(tile,
// row, col) before the main loop of a tile, store(acc, tile, row, col) after it, finish() at the end. row and
// col count A's and B's rows.
#pragma once
#include "arch/barrier.cuh"
#include "arch/ldmatrix.cuh"
#include "arch/shuffle.cuh"
#include "arch/stmatrix.cuh"
#include "arch/tma.cuh"
#include "matmul/tile_coord.cuh"
#include "wgmma/sources.cuh"

namespace gpuc {

/// What Output::loadRow<kSlices> returns, if there is one.
template <typename Output, int kSlices, bool = Output::kRows> struct RowLoadsOf {
  using Type = int;
};
template <typename Output, int kSlices> struct RowLoadsOf<Output, kSlices, true> {
  using Type = typename Output::template RowLoads<kSlices>;
};

/// Any result: sums go through shared memory so that each lane has 8 consecutive columns, and to the Output
/// of tile_coord.cuh.
template <typename Config, typename Output> struct SlabStore {
  static_assert(!Config::kSwapped, "slabs are rows of the result");
  static constexpr int kCols = 32, kStride = kCols + 8; ///< floats: 8 lanes' rows are 8 banks apart
  static constexpr u32 kWarpBytes = 16 * kStride * 4, kBytes = (4 * kWarpBytes + 1023) / 1024 * 1024;
  static constexpr int kBarriers = 0;

  u32 slabs; ///< shared memory of the warpgroup
  Output output;

  GPUC_DEVICE SlabStore(u32 shared, u32, u32, const Output &output) : slabs(shared), output(output) {}
  template <int, int> GPUC_DEVICE void start(const WgmmaTile &, i32, i32) {}
  GPUC_DEVICE void finish() {}

  template <int kMi, int kSums>
  GPUC_DEVICE void store(const float (&acc)[kMi][kSums], const WgmmaTile &tile, i32 row, i32 col) {
    constexpr int kLanes = Output::kLanes, kLineItems = kCols / kLanes, kItems = 16 * kLineItems;
    int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32 % 4;
    u32 slab = slabs + u32(warp) * kWarpBytes;
#pragma unroll
    for (int i = 0; i < kMi; ++i) {
#pragma unroll
      for (int part = 0; part < kSums * 2 / kCols; ++part) {
        if (row + i * 64 + warp * 16 >= Config::kM || col + part * kCols >= Config::kN)
          continue;
#pragma unroll
        for (int j = 0; j < kCols / 8; ++j) {
          const float *sums = &acc[i][(part * (kCols / 8) + j) * 4];
          u32 to = slab + u32(lane / 4 * kStride + j * 8 + lane % 4 * 2) * 4;
          arch::stSharedF32x2(to, sums[0], sums[1]);
          arch::stSharedF32x2(to + 8 * kStride * 4, sums[2], sums[3]);
        }
        arch::syncWarp();
#pragma unroll
        for (int item = lane; item < (kItems + 31) / 32 * 32; item += 32) {
          int r = item / kLineItems, c = item % kLineItems * kLanes;
          float values[kLanes];
          ldSharedLanes(values, slab + u32(r * kStride + c) * 4);
          storeTileItem<Config>(output, values, tile.z, row + i * 64 + warp * 16 + r, col + part * kCols + c);
        }
        arch::syncWarp();
      }
    }
  }
};

/// Results of 16 or 32 bits that lie row-major: the epilogue works on pairs where they are, the values are
/// put in blocks of 64 x 64 in shared memory (16 bits by stmatrix), and the tensor memory accelerator writes
/// them. Another matrix of the result's shape (a residual) comes to the same places of the same blocks
/// beforehand.
///
/// Output has Element (f16, bf16, float), kHeld (there is such a matrix), kWhole (no tile passes the end of
/// the result), and
///   compute(const float (&sums)[2], const Element (&held)[2], const Row &, i32 z, i32 row, i32 col, float (&values)[2])
/// for two neighbours along B's rows, and `maps`, a BlockMaps. For folded normalisations (docs/adr/0006): Row,
/// what a row's values have in common, and kRows: there are loadRow<S>(row, slice), which requests slice `lane % S` of
/// what Row is made of, and row<S>(loads), by which S neighbouring lanes make it; kMoments and storeMoments(row, part, sum,
/// squares) of the values of kMomentColumns columns. None of it goes with swapped operands.
template <typename Config, typename Output> struct StagedStore {
  using Element = typename Output::Element;
  using Schedule = WgmmaSchedule<Config>;
  static constexpr bool kWide = sizeof(Element) == 4;
  /// A block is made of boxes whose rows are 128 bytes of the result, swizzled by 128 bytes.
  static constexpr int kBoxes = kWide ? 2 : 1, kBoxCols = 64 / kBoxes;
  static constexpr u32 kBoxBytes = 8192, kBlockBytes = kBoxes * kBoxBytes;
  static constexpr int kBuffers = Config::kStaging;
  static constexpr u32 kBytes = u32(kBuffers) * kBlockBytes;
  static constexpr int kBarriers = Output::kHeld ? kBuffers : 0;
  /// Words of a thread in a quarter of a block: 16 of its columns, four 8x8 matrices per warp: (rows 0-7,
  /// first columns), (rows 8-15, first), (rows 0-7, last), (rows 8-15, last). A pair of each: one word or
  /// two.
  static constexpr int kPairWords = kWide ? 2 : 1, kWords = 4 * kPairWords;
  /// Quarters at a time: as many as registers allow.
  static constexpr int kTogether = kWide || (Config::kConsumers != 2 && (Output::kRows || Output::kMoments)) ? 2 : 4;
  using Row = typename Output::Row;
  static_assert(!Config::kSwapped || !(Output::kRows || Output::kMoments), "rows are A's");
  static_assert(Schedule::kRowsOfGroup <= 128, "a warp's rows have a lane each");

  u32 blocks, barriers, id; ///< shared memory and barriers of the warpgroup, its number
  Output output;
  u32 heldPhases = 0;
  static constexpr int kRowSlices = Schedule::kRowsOfGroup == 64 ? 2 : 1; ///< lanes that have a row
  /// Of the row of this lane: lane l has row l/kRowSlices%16 of the warp's in block l/kRowSlices/16.
  typename RowLoadsOf<Output, kRowSlices>::Type own{}; ///< under way during the main loop

  GPUC_DEVICE StagedStore(u32 shared, u32 barriers, u32 warpgroup, const Output &output)
      : blocks(shared), barriers(barriers), id(warpgroup), output(output) {}

  GPUC_DEVICE static bool isLeader() { return threadIdx.x % 128 == 0; }
  GPUC_DEVICE static constexpr int blocksOf(int mi, int sums) { return mi * sums * 2 / 64; }

  /// Requests the residual of the first blocks, and the state of the rows.
  template <int kMi, int kSums> GPUC_DEVICE void start(const WgmmaTile &tile, i32 row, i32 col) {
    if constexpr (Output::kRows) {
      i32 lane = i32(threadIdx.x % 32), place = lane / kRowSlices;
      i32 r = row + place / 16 * 64 + i32(threadIdx.x / 32 % 4) * 16 + place % 16;
      own = output.template loadRow<kRowSlices>(r < i32(Config::kM) ? r : i32(Config::kM) - 1, lane % kRowSlices);
    }
    if constexpr (Output::kHeld) {
      if (isLeader()) {
        arch::bulkWaitRead<0>();
#pragma unroll
        for (int b = 0; b < kBuffers && b < blocksOf(kMi, kSums); ++b)
          request<kSums>(b, tile, row, col);
      }
    }
  }
  /// Shared memory must outlive the last store.
  GPUC_DEVICE void finish() {
    if (isLeader())
      arch::bulkWait<0>();
  }

  template <int kMi, int kSums>
  GPUC_DEVICE void store(const float (&acc)[kMi][kSums], const WgmmaTile &tile, i32 row, i32 col) {
    constexpr int kBlocks = blocksOf(kMi, kSums), kAcross = kSums * 2 / 64;
    static_assert(kBuffers >= kBlocks || (kBlocks % kBuffers == 0 && (kMi == 1 || kBuffers % kAcross == 0)),
                  "a buffer's next block is left out if its last one was");
    Row lanes{};
    if constexpr (Output::kRows)
      lanes = Output::template row<kRowSlices>(own);
#pragma unroll
    for (int b = 0; b < kBlocks; ++b) {
      int i = b / kAcross, j = b % kAcross, buffer = b % kBuffers;
      u32 block = blocks + u32(buffer) * kBlockBytes;
      i32 blockA = row + i * 64, blockB = col + j * 64;
      if (!isInside(blockA, blockB))
        continue;
      if constexpr (Output::kHeld) {
        arch::mbarrierWait(barriers + u32(buffer) * 8, heldPhases >> buffer & 1);
        heldPhases ^= 1u << buffer;
      }
      Row rows[2] = {}; // of this thread's rows of the block
      if constexpr (Output::kRows) {
#pragma unroll
        for (u32 h = 0; h < 2; ++h)
          rows[h] = arch::shflIdx(lanes, (u32(i) * 16 + h * 8 + threadIdx.x % 32 / 4) * u32(kRowSlices));
      }
      Moments moments;
      bool hasRows = isInside(blockA + i32(threadIdx.x / 32 % 4) * 16, blockB);
      // Loads of several quarters are issued before the first value is needed.
#pragma unroll
      for (int first = 0; first < 4; first += kTogether) {
        u32 held[kTogether][kWords] = {}, values[kTogether][kWords] = {};
        if constexpr (Output::kHeld) {
#pragma unroll
          for (int q = 0; q < kTogether; ++q)
            moveQuarter<false>(held[q], block, first + q);
        }
        if (hasRows) {
#pragma unroll
          for (int q = 0; q < kTogether; ++q)
            computeQuarter(values[q], &acc[i][(j * 4 + first + q) * 8], held[q], rows, moments, first + q, tile.z,
                           blockA, blockB);
        }
        if constexpr (!Output::kHeld) {
          if (first == 0 && (kBuffers < kBlocks || b == 0)) {
            if (isLeader())
              arch::bulkWaitRead<(kBuffers < kBlocks && Output::kWhole ? kBuffers - 1 : 0)>();
            arch::barSync(1 + id, 128);
          }
        }
#pragma unroll
        for (int q = 0; q < kTogether; ++q)
          moveQuarter<true>(values[q], block, first + q);
      }
      if constexpr (Output::kMoments) {
        if (hasRows)
          storeMoments(moments, blockA, blockB);
      }
      arch::fenceProxyAsyncShared();
      arch::barSync(1 + id, 128);
      if (isLeader()) {
#pragma unroll
        for (int box = 0; box < kBoxes; ++box)
          output.maps.store(block + u32(box) * kBoxBytes, Config::kSwapped ? blockB : blockA,
                            (Config::kSwapped ? blockA : blockB) + box * kBoxCols, tile.z);
        arch::bulkCommit();
        if constexpr (Output::kHeld && kBuffers < kBlocks) {
          if (b + kBuffers < kBlocks) {
            arch::bulkWaitRead<0>();
            request<kSums>(b + kBuffers, tile, row, col);
          }
        }
      }
    }
  }

private:
  static constexpr int kParts = 2; ///< of a block, whose moments are added up
  /// Of this thread's columns in the two rows that it has of a block.
  struct Moments {
    float sums[kParts][2] = {}, squares[kParts][2] = {};
  };
  /// Adds up the columns of four lanes.
  GPUC_DEVICE void storeMoments(Moments moments, i32 blockA, i32 blockB) const {
    static_assert(Output::kMomentColumns * kParts == 64, "a block has whole parts");
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
#pragma unroll
    for (int p = 0; p < kParts; ++p) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
#pragma unroll
        for (u32 d = 1; d < 4; d *= 2) {
          moments.sums[p][h] += arch::shflXor(moments.sums[p][h], d);
          moments.squares[p][h] += arch::shflXor(moments.squares[p][h], d);
        }
        i32 row = blockA + i32(warp * 16 + lane / 4) + h * 8;
        if (lane % 4 == 0 && row < i32(Config::kM))
          output.storeMoments(row, blockB / Output::kMomentColumns + p, moments.sums[p][h], moments.squares[p][h]);
      }
    }
  }

  /// A row of A and one of B exist. Blocks, and rows of a warp, that lie outside are left out: with few
  /// channels that is most of a tile.
  GPUC_DEVICE static bool isInside(i32 rowA, i32 rowB) {
    return Output::kWhole || (rowA < i32(Schedule::kRowsA) && rowB < i32(Schedule::kRowsB));
  }
  template <int kSums> GPUC_DEVICE void request(int b, const WgmmaTile &tile, i32 row, i32 col) {
    constexpr int kAcross = kSums * 2 / 64;
    i32 blockA = row + b / kAcross * 64, blockB = col + b % kAcross * 64;
    if (!isInside(blockA, blockB))
      return;
    u32 barrier = barriers + u32(b % kBuffers) * 8;
    arch::mbarrierArriveExpectTx(barrier, kBlockBytes);
#pragma unroll
    for (int box = 0; box < kBoxes; ++box)
      output.maps.load(blocks + u32(b % kBuffers) * kBlockBytes + u32(box) * kBoxBytes, barrier,
                       Config::kSwapped ? blockB : blockA,
                       (Config::kSwapped ? blockA : blockB) + box * kBoxCols, tile.z);
  }

  /// Moves a quarter between registers and the block. Swapped, rows of the accumulators are the result's
  /// columns.
  template <bool kStore> GPUC_DEVICE static void moveQuarter(u32 (&words)[kWords], u32 block, int quarter) {
    u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    if constexpr (!kWide) {
      // Lane l gives the place of row l%8 of matrix l/8.
      u32 matrix = lane / 8, line = lane % 8;
      u32 row =
          Config::kSwapped ? u32(quarter) * 16 + matrix / 2 * 8 + line : warp * 16 + matrix % 2 * 8 + line;
      u32 chunk = Config::kSwapped ? warp * 2 + matrix % 2 : u32(quarter) * 2 + matrix / 2;
      u32 at = block + row * 128 + ((chunk ^ line) << 4);
      if constexpr (kStore && Config::kSwapped)
        arch::stmatrixX4Trans(at, words[0], words[1], words[2], words[3]);
      else if constexpr (kStore)
        arch::stmatrixX4(at, words[0], words[1], words[2], words[3]);
      else if constexpr (Config::kSwapped)
        arch::ldmatrixX4Trans(words, at);
      else
        arch::ldmatrixX4(words, at);
    } else {
#pragma unroll
      for (int m = 0; m < 4; ++m) {
        u32 a = warp * 16 + u32(m % 2) * 8 + lane / 4, b = u32(quarter) * 16 + u32(m / 2) * 8 + lane % 4 * 2;
        float pair[2] = {arch::bitCast<float>(words[m * 2]), arch::bitCast<float>(words[m * 2 + 1])};
        if constexpr (Config::kSwapped) {
#pragma unroll
          for (u32 i = 0; i < 2; ++i) {
            if constexpr (kStore)
              arch::stSharedF32x1(placeOf(block, b + i, a), pair[i]);
            else
              arch::ldSharedF32x1(placeOf(block, b + i, a), pair[i]);
          }
        } else if constexpr (kStore) {
          arch::stSharedF32x2(placeOf(block, a, b), pair[0], pair[1]);
        } else {
          arch::ldSharedF32x2(placeOf(block, a, b), pair[0], pair[1]);
        }
        if constexpr (!kStore) {
          words[m * 2] = arch::bitCast<u32>(pair[0]);
          words[m * 2 + 1] = arch::bitCast<u32>(pair[1]);
        }
      }
    }
  }
  /// Of an element of 32 bits.
  GPUC_DEVICE static u32 placeOf(u32 block, u32 row, u32 col) {
    u32 chunk = col % 32 / 4;
    return block + col / 32 * kBoxBytes + row * 128 + ((chunk ^ row % 8) << 4) + col % 4 * 4;
  }

  GPUC_DEVICE void computeQuarter(u32 (&words)[kWords], const float *sums, const u32 (&held)[kWords],
                                  const Row (&rows)[2], Moments &moments, int quarter, i32 z, i32 blockA,
                                  i32 blockB) const {
    int lane = int(threadIdx.x) % 32, warp = int(threadIdx.x) / 32 % 4;
    i32 rowA = blockA + warp * 16 + lane / 4, rowB = blockB + quarter * 16 + lane % 4 * 2;
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      float pair[2] = {sums[m * 2], sums[m * 2 + 1]}, values[2];
      Element own[2];
      if constexpr (kWide) {
        own[0] = arch::bitCast<float>(held[m * 2]);
        own[1] = arch::bitCast<float>(held[m * 2 + 1]);
      } else {
        own[0] = Element{u16(held[m])};
        own[1] = Element{u16(held[m] >> 16)};
      }
      computePair(pair, own, rows[m % 2], z, rowA + m % 2 * 8, rowB + m / 2 * 8, values);
      if constexpr (Output::kMoments) {
        moments.sums[quarter * kParts / 4][m % 2] += values[0] + values[1];
        moments.squares[quarter * kParts / 4][m % 2] += values[0] * values[0] + values[1] * values[1];
      }
      if constexpr (kWide) {
        words[m * 2] = arch::bitCast<u32>(values[0]);
        words[m * 2 + 1] = arch::bitCast<u32>(values[1]);
      } else if constexpr (kIsSame<Element, f16>) {
        words[m] = arch::cvtF16x2F32(values[0], values[1]);
      } else {
        words[m] = arch::cvtBf16x2F32(values[0], values[1]);
      }
    }
  }

  GPUC_DEVICE void computePair(const float (&sums)[2], const Element (&held)[2], const Row &state, i32 z, i32 rowA,
                               i32 rowB, float (&values)[2]) const {
    i32 row = Config::kSwapped ? rowB : rowA, col = Config::kSwapped ? rowA : rowB;
    if constexpr (!Output::kWhole) { // what lies outside is computed somewhere inside and not written
      constexpr i32 kLastRow = Config::kM - (Config::kSwapped ? 2 : 1),
                    kLastCol = Config::kN - (Config::kSwapped ? 1 : 2);
      row = row < kLastRow ? row : kLastRow;
      col = col < kLastCol ? col : kLastCol;
    }
    output.compute(sums, held, state, z, row, col, values);
  }
};

/// A pair's bias: one element for both (swapped), two, or two that lie in one aligned vector.
enum class BiasPair { One, Two, Vector };
template <BiasPair kForm, bool kConstant, typename T>
GPUC_DEVICE void addBias(float (&sums)[2], const T *bias, i32 col) {
  constexpr int kCount = kForm == BiasPair::Vector ? 2 : 1;
#pragma unroll
  for (int i = 0; i < 2; i += kCount) {
    const T *from = bias + col + (kForm == BiasPair::Two ? i : 0);
    Vec<T, kCount> v;
    if constexpr (kConstant)
      v = ldVecNc<kCount>(from);
    else
      v = ldVec<kCount>(from);
#pragma unroll
    for (int j = 0; j < kCount; ++j)
      sums[i + j] += toAcc(v[j]);
  }
}

/// Maps of the result and of what is held: matrices, perhaps one of a batch. Layouts have kBatchAxes and
/// batch(axis, z) as an operand (sources.cuh).
template <typename ResultLayout, typename HeldLayout> struct BlockMaps {
  const arch::TensorMap *result, *held; // (COLS, ROWS, BATCH…)

  GPUC_DEVICE void store(u32 from, i32 row, i32 col, i32 z) const {
    if constexpr (ResultLayout::kBatchAxes == 0)
      arch::tmaStore2d(result, from, col, row);
    else if constexpr (ResultLayout::kBatchAxes == 1)
      arch::tmaStore3d(result, from, col, row, ResultLayout::batch(0, z));
    else
      arch::tmaStore4d(result, from, col, row, ResultLayout::batch(0, z), ResultLayout::batch(1, z));
  }
  GPUC_DEVICE void load(u32 to, u32 barrier, i32 row, i32 col, i32 z) const {
    loadBox<HeldLayout>(to, held, barrier, col, row, z);
  }
};

} // namespace gpuc

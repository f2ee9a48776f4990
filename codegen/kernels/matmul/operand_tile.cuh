// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One operand of a contraction: how it is addressed in global memory (a Source) and how a block's part of it
// lies in shared memory. Both operands of a product are seen as (rows, depth): A has the rows of the result,
// B its columns.
//
// Contract of a Source:
//   T, kAccess            element type; elements per global access (a power of two; 1: through registers)
//   kDepthContiguous      accesses run along the depth, else along the rows
//   kRowsFastest          with kAccess == 1: neighbouring threads take neighbouring rows
//   kConstant             a weight: may be read before griddepWait
//   struct Row; Row row(i32 r)                  what depends on the row alone; r may lie past the end
//   const T *locate(const Row &, i32 k, i32 sub, i32 &count)
//        address of kAccess elements that start `sub` elements after (row, k) along the contiguous axis;
//        `count` of them exist, the others are zeros. Always a valid address, aligned to the access.
#pragma once
#include "arch/cp_async.cuh"
#include "arch/ldmatrix.cuh"
#include "arch/mma_sm80.cuh"
#include "common/types.cuh"

namespace gpuc {

/// The part of an operand that one block needs for one step of the depth: kRows x kDepth elements in shared
/// memory, in lines of 16-byte chunks along the contiguous axis, chunks XOR-swizzled so that ldmatrix and the
/// copies are free of bank conflicts.
template <typename SourceType, int kRows, int kDepth, int kThreads> struct OperandTile {
  using Source = SourceType;
  using T = typename Source::T;
  static constexpr int kVec = 16 / int(sizeof(T));
  static constexpr bool kDepthLines = Source::kDepthContiguous; ///< a line is a row, else a depth
  static constexpr int kLines = kDepthLines ? kRows : kDepth;
  static constexpr int kLineChunks = (kDepthLines ? kDepth : kRows) / kVec;
  static constexpr int kElements = kRows * kDepth;
  static constexpr int kChunks = kLines * kLineChunks;
  static constexpr int kSlots = (kChunks + kThreads - 1) / kThreads; ///< chunks per thread
  static constexpr bool kAsync = Source::kAccess * int(sizeof(T)) >= 4;
  static constexpr bool kRowsFastest = !kAsync && Source::kRowsFastest;
  static_assert(kDepth % kVec == 0 && kRows % kVec == 0, "tiles are made of 16-byte chunks");
  static_assert(kAsync || kDepthLines, "element-wise sources fill lines along the depth");
  static_assert(Source::kAccess <= kVec, "an access is 16 bytes at most");

  typename Source::Row rows[kSlots];
  Vec<T, kAsync ? 1 : kVec> held[kAsync ? 1 : kSlots]; ///< element-wise: between request and finish

  /// Chunk `chunk` of line `line` lies at this chunk of the line.
  GPUC_DEVICE static int swizzle(int line, int chunk) {
    if constexpr (!kDepthLines && sizeof(T) == 4) {
      static_assert(kDepthLines || sizeof(T) != 4 || kLineChunks >= 8, "lines of 32-bit rows need 128 bytes");
      return chunk ^ ((line & 3) << 1);
    } else {
      constexpr int kPerLine = kLineChunks >= 8 ? 1 : 8 / kLineChunks; // lines per 128 bytes
      return chunk ^ ((line / kPerLine) & ((kLineChunks >= 8 ? 8 : kLineChunks) - 1));
    }
  }
  GPUC_DEVICE static int offset(int line, int chunk) {
    return (line * kLineChunks + swizzle(line, chunk)) * kVec;
  }

  GPUC_DEVICE static int chunkIndex(int slot) { return slot * kThreads + int(threadIdx.x); }
  GPUC_DEVICE static int lineOf(int index) { return kRowsFastest ? index % kLines : index / kLineChunks; }
  GPUC_DEVICE static int chunkOf(int index) { return kRowsFastest ? index / kLines : index % kLineChunks; }

  /// Decodes the rows that this thread copies; `firstRow` is the tile's.
  GPUC_DEVICE void prepare(const Source &source, i32 firstRow) {
#pragma unroll
    for (int s = 0; s < kSlots; ++s) {
      int index = chunkIndex(s);
      rows[s] = source.row(firstRow + (kDepthLines ? lineOf(index) : chunkOf(index) * kVec));
    }
  }

  /// Starts the copy of the tile at depth `k` to `tile`; element-wise sources go to registers until `finish`.
  GPUC_DEVICE void request(const Source &source, T (&tile)[kElements], i32 k) {
#pragma unroll
    for (int s = 0; s < kSlots; ++s) {
      int index = chunkIndex(s);
      if (kChunks % kThreads != 0 && index >= kChunks)
        break;
      int line = lineOf(index), chunk = chunkOf(index);
      i32 depth = k + (kDepthLines ? chunk * kVec : line);
      if constexpr (kAsync) {
        constexpr int kBytes = Source::kAccess * int(sizeof(T));
        int at = offset(line, chunk);
#pragma unroll
        for (int i = 0; i < kVec / Source::kAccess; ++i) {
          i32 count;
          const T *from = source.locate(rows[s], depth, i * Source::kAccess, count);
          if constexpr (kBytes == 16)
            arch::cpAsync16(&tile[at], from, u32(count) * u32(sizeof(T)));
          else if constexpr (kBytes == 8)
            arch::cpAsync8(&tile[at + i * Source::kAccess], from, u32(count) * u32(sizeof(T)));
          else
            arch::cpAsync4(&tile[at + i * Source::kAccess], from, u32(count) * u32(sizeof(T)));
        }
      } else {
#pragma unroll
        for (int i = 0; i < kVec; ++i) {
          i32 count;
          const T *from = source.locate(rows[s], depth, i, count);
          held[s][i] = count ? *from : T{};
        }
      }
    }
  }

  /// Puts what an element-wise request loaded into shared memory.
  GPUC_DEVICE void finish(T (&tile)[kElements]) {
    if constexpr (!kAsync) {
#pragma unroll
      for (int s = 0; s < kSlots; ++s) {
        int index = chunkIndex(s);
        if (kChunks % kThreads == 0 || index < kChunks)
          stVec(&tile[offset(lineOf(index), chunkOf(index))], held[s]);
      }
    }
  }

  /// A fragments (mma_sm80.cuh) of kCount 16-row blocks from `row` on. An instruction's depth is two chunks;
  /// `step` counts instructions.
  template <int kCount>
  GPUC_DEVICE static void loadA(u32 (&fragments)[kCount][4], const T (&tile)[kElements], int row, int step) {
    int lane = int(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kCount; ++i) {
      int first = row + i * 16;
      if constexpr (kDepthLines) {
        arch::ldmatrixX4(fragments[i], &tile[offset(first + lane % 16, step * 2 + lane / 16)]);
      } else if constexpr (sizeof(T) == 2) {
        arch::ldmatrixX4Trans(
            fragments[i], &tile[offset(step * 16 + lane % 8 + lane / 16 * 8, first / kVec + lane / 8 % 2)]);
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          fragments[i][j] = element(tile, first + lane / 4 + j % 2 * 8, step * 8 + lane % 4 + j / 2 * 4);
      }
      roundFragment(fragments[i]);
    }
  }

  /// B fragments of kCount 8-row blocks (columns of the result) from `row` on.
  template <int kCount>
  GPUC_DEVICE static void loadB(u32 (&fragments)[kCount][2], const T (&tile)[kElements], int row, int step) {
    static_assert(kCount % 2 == 0, "B fragments are loaded in pairs");
    int lane = int(threadIdx.x) % 32;
#pragma unroll
    for (int i = 0; i < kCount; i += 2) {
      int first = row + i * 8;
      u32 pair[4];
      if constexpr (kDepthLines) {
        arch::ldmatrixX4(pair, &tile[offset(first + lane % 8 + lane / 16 * 8, step * 2 + lane / 8 % 2)]);
      } else if constexpr (sizeof(T) == 2) {
        arch::ldmatrixX4Trans(pair, &tile[offset(step * 16 + lane % 16, first / kVec + lane / 16)]);
      } else {
#pragma unroll
        for (int j = 0; j < 4; ++j)
          pair[j] = element(tile, first + lane / 4 + j / 2 * 8, step * 8 + lane % 4 + j % 2 * 4);
      }
      roundFragment(pair);
      fragments[i][0] = pair[0];
      fragments[i][1] = pair[1];
      fragments[i + 1][0] = pair[2];
      fragments[i + 1][1] = pair[3];
    }
  }

private:
  /// 32-bit element of a tile whose lines are depths.
  GPUC_DEVICE static u32 element(const T (&tile)[kElements], int row, int depth) {
    return arch::bitCast<u32>(tile[offset(depth, row / kVec) + row % kVec]);
  }
  GPUC_DEVICE static void roundFragment(u32 (&fragment)[4]) {
    if constexpr (sizeof(T) == 4) {
#pragma unroll
      for (int j = 0; j < 4; ++j)
        fragment[j] = arch::cvtRnaTf32(arch::bitCast<float>(fragment[j]));
    }
  }
};

/// A matrix with constant strides. Operand has, as constants: T, kRows, kDepth, kRowStride, kDepthStride
/// (elements, i64), kAccess, kConstant, kWholeRows and kWholeDepth (tiles never pass the end), and
/// batchOffset(z).
template <typename Operand> struct DenseSource {
  using T = typename Operand::T;
  static constexpr int kAccess = Operand::kAccess;
  static constexpr bool kConstant = Operand::kConstant;
  static constexpr bool kDepthContiguous = kAccess == 1 || Operand::kDepthStride == 1;
  static constexpr bool kRowsFastest = Operand::kDepthStride != 1;
  static_assert(kAccess == 1 || Operand::kDepthStride == 1 || Operand::kRowStride == 1,
                "vector accesses need a unit stride");

  /// Offsets from `base`: 32 bits where they fit, since every chunk of a thread keeps one.
  static constexpr bool kSmall =
      Operand::kRowStride >= 0 && Operand::kDepthStride >= 0 &&
      (Operand::kRows + 256) * Operand::kRowStride + (Operand::kDepth + 1024) * Operand::kDepthStride <
          (i64(1) << 31);
  using Offset = typename Select<kSmall, u32, i64>::type;
  static constexpr Offset kRowStride = Offset(Operand::kRowStride),
                          kDepthStride = Offset(Operand::kDepthStride);

  const T *base; ///< first element of this batch's matrix

  GPUC_DEVICE DenseSource(const T *pointer, i32 z) : base(pointer + Operand::batchOffset(z)) {}

  struct Row {
    Offset first; ///< of element (row, 0)
    i32 count;    ///< rows from this one on that exist, at least 0
  };
  GPUC_DEVICE Row row(i32 r) const {
    i32 left = Operand::kWholeRows ? 1 << 20 : i32(Operand::kRows) - r;
    return {left > 0 ? Offset(r) * kRowStride : Offset(0), left > 0 ? left : 0};
  }
  GPUC_DEVICE const T *locate(const Row &row, i32 k, i32 sub, i32 &count) const {
    i32 rowSub = kDepthContiguous ? 0 : sub, depth = kDepthContiguous ? k + sub : k;
    i32 left = Operand::kWholeDepth ? 1 << 20 : i32(Operand::kDepth) - depth;
    i32 leftRows = row.count - rowSub;
    if constexpr (kDepthContiguous)
      left = leftRows > 0 ? left : 0;
    else
      left = left > 0 ? leftRows : 0;
    count = left < 0 ? 0 : left < kAccess ? left : kAccess;
    return count > 0 ? base + (row.first + Offset(depth) * kDepthStride + Offset(rowSub) * kRowStride) : base;
  }
};

} // namespace gpuc

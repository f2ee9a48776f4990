// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A block's tile of a product without tensor cores: f32 and f64 at full precision, integers modulo 2^n. Two
// buffers of shared memory with the rows contiguous, the next step's operands in registers meanwhile,
// kThreadM x kThreadN results per thread. Sources and outputs as in mma_tile.cuh, and the same order of
// calls.
//
// Config: kM, kN, kK, kBatch, kSplits (problem), kBlockM, kBlockN, kBlockK, kThreadM, kThreadN (tile).
#pragma once
#include "arch/barrier.cuh"
#include "matmul/operand_tile.cuh"
#include "matmul/tile_coord.cuh"

namespace gpuc {

/// The type that products of T are summed in: integers in unsigned words, whose low bits are exact.
template <typename T> struct SumType {
  using type = Wide<T>;
};
template <> struct SumType<f16> {
  using type = float;
};
template <> struct SumType<bf16> {
  using type = float;
};
template <> struct SumType<float> {
  using type = float;
};
template <> struct SumType<double> {
  using type = double;
};
template <> struct SumType<bool> {
  using type = u32;
};
template <typename T> using Sum = typename SumType<T>::type;

/// One operand's part of a step: global memory to registers to shared memory, as Sum<T>.
template <typename Source, int kRows, int kDepth, int kThreads> struct SimtOperand {
  using T = typename Source::T;
  static constexpr int kAccess = Source::kAccess;
  static constexpr bool kDepthAccess = Source::kDepthContiguous;
  static constexpr int kStride = kRows + 4; ///< of a depth, in elements
  static constexpr int kAccesses = kRows * kDepth / kAccess;
  static constexpr int kSlots = (kAccesses + kThreads - 1) / kThreads;
  static constexpr bool kRowsFastest = !kDepthAccess || (kAccess == 1 && Source::kRowsFastest);
  static constexpr int kRowGroups = kDepthAccess ? kRows : kRows / kAccess;
  static constexpr int kDepthGroups = kDepthAccess ? kDepth / kAccess : kDepth;
  static_assert((kDepthAccess ? kDepth : kRows) % kAccess == 0, "an access lies inside the tile");

  typename Source::Row rows[kSlots];
  Vec<T, kAccess> held[kSlots];

  GPUC_DEVICE static int rowOf(int index) {
    return (kRowsFastest ? index % kRowGroups : index / kDepthGroups) * (kDepthAccess ? 1 : kAccess);
  }
  GPUC_DEVICE static int depthOf(int index) {
    return (kRowsFastest ? index / kRowGroups : index % kDepthGroups) * (kDepthAccess ? kAccess : 1);
  }

  GPUC_DEVICE void prepare(const Source &source, i32 firstRow) {
#pragma unroll
    for (int s = 0; s < kSlots; ++s)
      rows[s] = source.row(firstRow + rowOf(s * kThreads + int(threadIdx.x)));
  }
  GPUC_DEVICE void request(const Source &source, i32 k) {
#pragma unroll
    for (int s = 0; s < kSlots; ++s) {
      int index = s * kThreads + int(threadIdx.x);
      if (kAccesses % kThreads != 0 && index >= kAccesses)
        break;
      i32 count;
      const T *from = source.locate(rows[s], k + depthOf(index), 0, count);
      if (count == kAccess) {
        held[s] = ldVec<kAccess>(from);
      } else {
#pragma unroll
        for (int i = 0; i < kAccess; ++i)
          held[s][i] = i < count ? from[i] : T{};
      }
    }
  }
  GPUC_DEVICE void finish(Sum<T> (&tile)[kDepth * kStride]) {
#pragma unroll
    for (int s = 0; s < kSlots; ++s) {
      int index = s * kThreads + int(threadIdx.x);
      if (kAccesses % kThreads != 0 && index >= kAccesses)
        break;
      int row = rowOf(index), depth = depthOf(index);
#pragma unroll
      for (int i = 0; i < kAccess; ++i)
        tile[(depth + (kDepthAccess ? i : 0)) * kStride + row + (kDepthAccess ? 0 : i)] =
            cast<Sum<T>>(held[s][i]);
    }
  }
};

template <typename Config, typename SourceA, typename SourceB> struct SimtTile {
  using T = typename SourceA::T;
  using S = Sum<T>;
  static constexpr int kThreadM = Config::kThreadM, kThreadN = Config::kThreadN;
  static constexpr int kThreadsM = Config::kBlockM / kThreadM, kThreadsN = Config::kBlockN / kThreadN;
  static constexpr int kThreads = kThreadsM * kThreadsN;
  static_assert(kThreadM % 4 == 0 && kThreadN % 4 == 0, "threads own runs of four rows and columns");
  static_assert(kThreads % 32 == 0, "blocks are whole warps");

  using OperandA = SimtOperand<SourceA, Config::kBlockM, Config::kBlockK, kThreads>;
  using OperandB = SimtOperand<SourceB, Config::kBlockN, Config::kBlockK, kThreads>;
  struct Shared {
    S a[2][Config::kBlockK * OperandA::kStride]; // (BUFFER, BLK_K x BLK_M)
    S b[2][Config::kBlockK * OperandB::kStride]; // (BUFFER, BLK_K x BLK_N)
  };

  Shared &shared;
  const SourceA &sourceA;
  const SourceB &sourceB;
  TileCoord coord;
  OperandA operandA;
  OperandB operandB;
  S acc[kThreadM][kThreadN];

  GPUC_DEVICE SimtTile(Shared &shared, const SourceA &a, const SourceB &b, TileCoord coord)
      : shared(shared), sourceA(a), sourceB(b), coord(coord) {
    operandA.prepare(sourceA, coord.row);
    operandB.prepare(sourceB, coord.col);
#pragma unroll
    for (int i = 0; i < kThreadM; ++i)
#pragma unroll
      for (int j = 0; j < kThreadN; ++j)
        acc[i][j] = 0;
  }

  GPUC_DEVICE void requestConstants() {
    if (coord.steps > 0)
      requestStep<true>();
  }
  GPUC_DEVICE void requestRest() {
    if (coord.steps > 0)
      requestStep<false>();
  }

  GPUC_DEVICE void multiply() {
    int m = int(threadIdx.x) / kThreadsN, n = int(threadIdx.x) % kThreadsN;
    for (i32 step = 0; step < coord.steps; ++step) {
      int buffer = step % 2;
      operandA.finish(shared.a[buffer]);
      operandB.finish(shared.b[buffer]);
      arch::syncThreads();
      if (step + 1 < coord.steps) {
        i32 k = (coord.firstStep + step + 1) * Config::kBlockK;
        operandA.request(sourceA, k);
        operandB.request(sourceB, k);
      }
#pragma unroll
      for (int k = 0; k < Config::kBlockK; ++k) {
        S a[kThreadM], b[kThreadN];
        loadRuns<kThreadM, kThreadsM>(a, shared.a[buffer], k * OperandA::kStride, m);
        loadRuns<kThreadN, kThreadsN>(b, shared.b[buffer], k * OperandB::kStride, n);
#pragma unroll
        for (int i = 0; i < kThreadM; ++i)
#pragma unroll
          for (int j = 0; j < kThreadN; ++j)
            acc[i][j] += a[i] * b[j];
      }
    }
  }

  template <typename Output> GPUC_DEVICE void store(const Output &output) {
    using Value = typename Output::Acc;
    constexpr int kLanes = Output::kLanes;
    static_assert(kLanes <= 4, "a thread owns runs of four columns");
    int m = int(threadIdx.x) / kThreadsN, n = int(threadIdx.x) % kThreadsN;
#pragma unroll
    for (int i = 0; i < kThreadM; ++i) {
#pragma unroll
      for (int j = 0; j < kThreadN; j += kLanes) {
        Value values[kLanes];
#pragma unroll
        for (int l = 0; l < kLanes; ++l)
          values[l] = cast<Value>(acc[i][j + l]);
        storeTileItem<Config>(output, values, coord.z, coord.row + runIndex<kThreadsM>(m, i),
                              coord.col + runIndex<kThreadsN>(n, j));
      }
    }
  }

private:
  /// Position in the tile of a thread's element i: runs of four, one run of every thread after the other.
  template <int kCount> GPUC_DEVICE static int runIndex(int thread, int i) {
    return i / 4 * (4 * kCount) + thread * 4 + i % 4;
  }
  template <int kLength, int kCount, int kSize>
  GPUC_DEVICE static void loadRuns(S (&values)[kLength], const S (&tile)[kSize], int first, int thread) {
#pragma unroll
    for (int i = 0; i < kLength; i += 4) {
      Vec<S, 4> run = ldVec<4>(&tile[first + runIndex<kCount>(thread, i)]);
#pragma unroll
      for (int j = 0; j < 4; ++j)
        values[i + j] = run[j];
    }
  }
  template <bool kConstants> GPUC_DEVICE void requestStep() {
    i32 k = coord.firstStep * Config::kBlockK;
    if (SourceA::kConstant == kConstants)
      operandA.request(sourceA, k);
    if (SourceB::kConstant == kConstants)
      operandB.request(sourceB, k);
  }
};

} // namespace gpuc

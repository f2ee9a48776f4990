// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, broadcasts and scans over the lanes of a warp and the threads of a block. `op` is an
// associative, commutative functor of two T (scans need only associativity); T is any type that shuffles move
// (1, 2, 4, 8 bytes). All threads must call them together. Blocks are one-dimensional, of a multiple of 32
// threads, at most 1024.
#pragma once
#include "arch/barrier.cuh"
#include "arch/shuffle.cuh"
#include "common/math.cuh"

namespace gpuc {

struct SumOp {
  template <typename T> GPUC_DEVICE static T identity() { return T(0); }
  template <typename T> GPUC_DEVICE T operator()(T a, T b) const { return binary_add(a, b); }
};
struct ProdOp {
  template <typename T> GPUC_DEVICE static T identity() { return T(1); }
  template <typename T> GPUC_DEVICE T operator()(T a, T b) const { return binary_mul(a, b); }
};
struct MaxOp { ///< NaN passes
  template <typename T> GPUC_DEVICE static T identity() { return lowest<T>(); }
  template <typename T> GPUC_DEVICE T operator()(T a, T b) const { return binary_max(a, b); }
};
struct MinOp { ///< NaN passes
  template <typename T> GPUC_DEVICE static T identity() { return highest<T>(); }
  template <typename T> GPUC_DEVICE T operator()(T a, T b) const { return binary_min(a, b); }
};
struct AnyOp {
  template <typename T> GPUC_DEVICE static T identity() { return T(0); }
  template <typename T> GPUC_DEVICE T operator()(T a, T b) const { return T(binary_or(a, b)); }
};
struct AllOp {
  template <typename T> GPUC_DEVICE static T identity() { return T(1); }
  template <typename T> GPUC_DEVICE T operator()(T a, T b) const { return T(binary_and(a, b)); }
};

/// Reduces over each aligned group of `Width` lanes; every lane gets the result.
template <int Width = 32, typename T, typename Op> GPUC_DEVICE T warpReduce(T v, Op op) {
  static_assert(Width >= 1 && Width <= 32 && (Width & (Width - 1)) == 0, "Width is a power of two up to 32");
#pragma unroll
  for (int mask = Width / 2; mask > 0; mask /= 2)
    v = op(v, arch::shflXor(v, u32(mask)));
  return v;
}

/// Reduces over the block; every thread gets the result. `scratch` is shared memory of Threads/32 elements,
/// free for reuse afterwards. `identity` is neutral under `op`.
template <int Threads, typename T, typename Op>
GPUC_DEVICE T blockReduce(T v, Op op, NoDeduce<T> identity, T *scratch) {
  static_assert(Threads % 32 == 0 && Threads <= 1024, "a block has a multiple of 32 threads, at most 1024");
  v = warpReduce(v, op);
  if constexpr (Threads > 32) {
    constexpr int kWarps = Threads / 32;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0)
      scratch[warp] = v;
    arch::syncThreads();
    v = lane < kWarps ? scratch[lane] : identity;
    v = warpReduce(v, op);
    arch::syncThreads();
  }
  return v;
}
template <int Threads, typename T, typename Op> GPUC_DEVICE T blockReduce(T v, Op op, T *scratch) {
  return blockReduce<Threads>(v, op, Op::template identity<T>(), scratch);
}

/// The value of thread `source`, in every thread. `scratch` is one element of shared memory.
template <typename T> GPUC_DEVICE T blockBroadcast(T v, int source, T *scratch) {
  if (int(threadIdx.x) == source)
    *scratch = v;
  arch::syncThreads();
  v = *scratch;
  arch::syncThreads();
  return v;
}

/// Inclusive scan over the 32 lanes.
template <typename T, typename Op> GPUC_DEVICE T warpScan(T v, Op op) {
  int lane = threadIdx.x % 32;
#pragma unroll
  for (int delta = 1; delta < 32; delta *= 2) {
    T other = arch::shflUp(v, u32(delta));
    if (lane >= delta)
      v = op(other, v);
  }
  return v;
}

/// Inclusive scan over the block; `total` receives the reduction over all threads. `scratch` is shared memory
/// of Threads/32 elements, free for reuse afterwards.
template <int Threads, typename T, typename Op>
GPUC_DEVICE T blockScan(T v, Op op, NoDeduce<T> identity, T *scratch, T &total) {
  static_assert(Threads % 32 == 0 && Threads <= 1024, "a block has a multiple of 32 threads, at most 1024");
  constexpr int kWarps = Threads / 32;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  v = warpScan(v, op);
  if (lane == 31)
    scratch[warp] = v;
  arch::syncThreads();
  T sums = warpScan(lane < kWarps ? scratch[lane] : identity, op);
  T before = arch::shflIdx(sums, u32(warp == 0 ? 0 : warp - 1));
  total = arch::shflIdx(sums, u32(kWarps - 1));
  arch::syncThreads();
  return warp == 0 ? v : op(before, v);
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two launches of a scatter: the copy of the data, and the updates, one thread each. Indices out of range
// write nothing.
#pragma once
#include "arch/atomic.cuh"
#include "arch/griddep.cuh"
#include "common/types.cuh"

namespace gpuc {

/// Config: Acc, Index, kItems (vectors of kLanes). Source: load(Acc (&x)[kLanes], Index element). Sink:
/// store, likewise.
template <typename Config, typename Source, typename Sink>
GPUC_DEVICE void copyItem(const Source &source, const Sink &sink, i64 item) {
  if (item >= Config::kItems)
    return;
  typename Config::Acc x[Config::kLanes];
  source.load(x, typename Config::Index(item) * Config::kLanes);
  sink.store(x, typename Config::Index(item) * Config::kLanes);
}

enum class ScatterOp : u8 { None, Add, Mul, Min, Max };

/// An index that may count from the end; false when it is out of range.
template <typename T> GPUC_DEVICE bool resolveIndex(T index, i64 extent, i64 &resolved) {
  resolved = i64(index) < 0 ? i64(index) + extent : i64(index);
  return resolved >= 0 && resolved < extent;
}

/// Combines an update with the element at `p`. Duplicates combine in any order; without a reduction one of
/// them wins.
template <ScatterOp kOp, typename T> GPUC_DEVICE void scatterTo(T *p, Acc<T> update) {
  T x = fromAcc<T>(update);
  if constexpr (kOp == ScatterOp::None)
    *p = x;
  else if constexpr (kOp == ScatterOp::Add)
    arch::atomicAdd(p, x);
  else if constexpr (kOp == ScatterOp::Mul)
    arch::atomicMul(p, x);
  else if constexpr (kOp == ScatterOp::Min)
    arch::atomicMin(p, x);
  else
    arch::atomicMax(p, x);
}

} // namespace gpuc

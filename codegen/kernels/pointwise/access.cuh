// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores of consecutive lanes that generated code uses: V-element vectors when the emitter could
// prove alignment, single elements otherwise. A guard that is false reads nothing and gives zeros.
#pragma once
#include "common/half_math.cuh"
#include "common/math.cuh"
#include "common/rows.cuh"
#include "common/storage_types.cuh"
#include "common/types.cuh"

namespace gpuc {

/// r[l] = p[l]; p is aligned to V elements.
template <int V, typename T, int L> GPUC_DEVICE void ldLanes(T (&r)[L], const T *p) {
  static_assert(L % V == 0, "vectors must cover the lanes exactly");
#pragma unroll
  for (int i = 0; i < L / V; ++i) {
    Vec<T, V> v = ldVec<V>(p + i * V);
#pragma unroll
    for (int j = 0; j < V; ++j)
      r[i * V + j] = v[j];
  }
}
template <int V, typename T, int L> GPUC_DEVICE void ldLanes(T (&r)[L], const T *p, bool guard) {
  if (guard) {
    ldLanes<V>(r, p);
  } else {
#pragma unroll
    for (int i = 0; i < L; ++i)
      r[i] = T{};
  }
}
/// As ldLanes, for memory that nobody writes while the kernel runs.
template <int V, typename T, int L> GPUC_DEVICE void ldLanesNc(T (&r)[L], const T *p) {
  static_assert(L % V == 0, "vectors must cover the lanes exactly");
#pragma unroll
  for (int i = 0; i < L / V; ++i) {
    Vec<T, V> v = ldVecNc<V>(p + i * V);
#pragma unroll
    for (int j = 0; j < V; ++j)
      r[i * V + j] = v[j];
  }
}
template <int V, typename T, int L> GPUC_DEVICE void ldLanesNc(T (&r)[L], const T *p, bool guard) {
  if (guard) {
    ldLanesNc<V>(r, p);
  } else {
#pragma unroll
    for (int i = 0; i < L; ++i)
      r[i] = T{};
  }
}
template <typename T> GPUC_DEVICE T ldElementNc(const T *p) { return ldVecNc<1>(p)[0]; }

/// p[l] = r[l]; p is aligned to V elements.
template <int V, typename T, int L> GPUC_DEVICE void stLanes(T *p, const T (&r)[L]) {
  static_assert(L % V == 0, "vectors must cover the lanes exactly");
#pragma unroll
  for (int i = 0; i < L / V; ++i) {
    Vec<T, V> v;
#pragma unroll
    for (int j = 0; j < V; ++j)
      v[j] = r[i * V + j];
    stVec(p + i * V, v);
  }
}

/// An index of a gather: negative ones count from the end, wrong ones are moved into the tensor.
template <typename T> GPUC_DEVICE T clampIndex(T index, i64 extent) {
  i64 i = index < 0 ? i64(index) + extent : i64(index);
  return T(i < 0 ? 0 : i >= extent ? extent - 1 : i);
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies rows of a strided operand to shared memory: cp.async where depth is contiguous and aligned, else
// elements.
//
// View: T, kBatch, kHead (strides), rowOffset(r), kDepthStride, kOffset, kExtent (depth), kAccess (elements
// per access), kRowsFastest (element-wise copies walk along the rows).
#pragma once
#include "arch/cp_async.cuh"
#include "common/types.cuh"

namespace gpuc {

/// Rows [first, first + kRows) of the `rows` rows at `base`, kWidth deep with zeros past the end, to tile[r *
/// kStride + d]. All kThreads threads; asynchronous: wait with cpAsyncWait and a barrier.
template <typename View, int kRows, int kWidth, int kStride, int kThreads, typename T>
GPUC_DEVICE void requestTile(T (&tile)[kRows * kStride], const T *base, i32 first, i32 rows) {
  constexpr int kAccess = View::kAccess, kBytes = kAccess * int(sizeof(T));
  constexpr int kLine = kWidth / kAccess, kItems = kRows * kLine;
  static_assert(kWidth % kAccess == 0, "accesses must fill a row exactly");
#pragma unroll 8
  for (int i = 0; i < (kItems + kThreads - 1) / kThreads; ++i) {
    int item = i * kThreads + int(threadIdx.x);
    if (kItems % kThreads != 0 && item >= kItems)
      break;
    int r = View::kRowsFastest ? item % kRows : item / kLine;
    int d = (View::kRowsFastest ? item / kRows : item % kLine) * kAccess;
    bool inside = first + r < rows && (View::kExtent % kWidth == 0 || d < View::kExtent);
    const T *from = inside ? base + View::rowOffset(first + r) + i64(d) * View::kDepthStride : base;
    T *to = &tile[r * kStride + d];
    if constexpr (kBytes == 16)
      arch::cpAsync16(to, from, inside ? 16 : 0);
    else if constexpr (kBytes == 8)
      arch::cpAsync8(to, from, inside ? 8 : 0);
    else if constexpr (kBytes == 4)
      arch::cpAsync4(to, from, inside ? 4 : 0);
    else
      *to = inside ? *from : T{};
  }
}

} // namespace gpuc

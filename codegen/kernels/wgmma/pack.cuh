// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rearranges a constant operand once at load, so that tensor maps can read it: row by row, rows of whole
// 16-byte chunks.
#pragma once
#include "common/types.cuh"

namespace gpuc {

/// Writes element `item` of the packed matrix (rows, kPadded). Operand: as DenseSource's (operand_tile.cuh).
/// Items run along the axis that is contiguous in `from`.
template <typename Operand, i32 kPadded>
GPUC_DEVICE void packRows(const typename Operand::T *from, typename Operand::T *to, i64 item) {
  constexpr bool kAlongRows = Operand::kRowStride == 1;
  constexpr i64 kInner = kAlongRows ? Operand::kRows : kPadded;
  i64 outer = item / kInner, inner = item % kInner;
  i64 row = kAlongRows ? inner : outer, depth = kAlongRows ? outer : inner;
  if (row >= Operand::kRows || depth >= kPadded)
    return;
  i64 at = Operand::batchOffset(0) + row * Operand::kRowStride + depth * Operand::kDepthStride;
  to[row * kPadded + depth] = depth < Operand::kDepth ? tensorCoreValue(from[at]) : typename Operand::T{};
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which layouts the readers and the owner of a buffer allow.
#pragma once
#include "gpuc/IR/Ops.h"

namespace gpuc {

/// Vector stores of producers need parts of a concatenation at such byte offsets.
inline constexpr int64_t kPartAlignment = 16;

/// The kernel can read its operand number `operand` stored with these strides: what its root reads through
/// views stays expressible with strides. Operands that a prologue or epilogue reads may lie anyhow.
bool canFollow(KernelOp reader, unsigned operand, llvm::ArrayRef<int64_t> strides);
/// Every part of the concatenation starts at a multiple of kPartAlignment bytes when the whole has these
/// strides.
bool partsAreAligned(ConcatOp concat, llvm::ArrayRef<int64_t> strides);

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What PlanMemory leaves in the IR for the plan builder.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace gpuc {

/// Function attribute: bytes of the arena.
inline constexpr llvm::StringLiteral kArenaBytesAttr = "gpuc.arena_bytes";
/// Function attribute: the largest sum of bytes alive at one time.
inline constexpr llvm::StringLiteral kArenaLowerBoundAttr = "gpuc.arena_lower_bound";
/// Offset of a kernel result that is written straight into the caller's output buffer.
inline constexpr int64_t kReturnedOffset = -1;

} // namespace gpuc

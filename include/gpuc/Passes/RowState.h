// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What FoldNormalization and the kernel families agree on (docs/adr/0006).
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace gpuc {

/// Unit attribute of a gpuc.kernel: the variant that its family would choose can yield row moments and keep
/// statistics per row.
inline constexpr llvm::StringLiteral kRowStateAttr = "gpuc.row_state";
/// Columns that one pair of row moments covers; products whose results have other widths do not take part.
inline constexpr int64_t kMomentColumns = 32;

} // namespace gpuc

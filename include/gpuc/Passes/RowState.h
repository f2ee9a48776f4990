// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What FoldNormalization and the kernel families agree on (docs/adr/0006).
#pragma once
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace gpuc {

/// Integer attribute of a gpuc.kernel: the variant that its family would choose can yield row moments, one
/// pair for so many columns, and keep statistics per row.
inline constexpr llvm::StringLiteral kRowStateAttr = "gpuc.row_state";

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The variants that keep or stream rows, smallest first.
#include "Normalization.h"

namespace gpuc::normalization {

static constexpr RowVariant kRowVariants[] = {
    //  name      team  perThread
    {"warp", 32, 32},      {"block64", 64, 16},   {"block128", 128, 16},
    {"block256", 256, 16}, {"block512", 512, 32}, {"stream", 512, 0},
};

llvm::ArrayRef<RowVariant> rowVariants() { return kRowVariants; }

} // namespace gpuc::normalization

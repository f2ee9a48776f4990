// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The variants of reductions.
#include "Reduction.h"

namespace gpuc::reduction {

//                      name      threads  unroll
const Variant kRow = {"row", 256, 4};       // the reduced axis is consecutive in memory
const Variant kColumn = {"column", 256, 4}; // a kept axis is

} // namespace gpuc::reduction

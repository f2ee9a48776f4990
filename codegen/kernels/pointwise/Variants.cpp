// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The variants of pointwise kernels.
#include "Pointwise.h"

namespace gpuc::pointwise {

//                        name      threads  maxUnroll  minTileExtent
const Variant kLinear = {"linear", 256, 4, 0};
const Variant kTurning = {"turning", 256, 1, 16};

} // namespace gpuc::pointwise

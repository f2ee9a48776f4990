// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma with tf32 elements (f32 whose low 13 bits are ignored); T is float. Both operands are K-major.
#pragma once
#include "arch/wgmma.cuh"

namespace gpuc::arch {
GPUC_WGMMA_ALL(float, "f32.tf32.tf32", 8)
} // namespace gpuc::arch

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma with 8-bit floats and f32 accumulators. Both operands are K-major.
#pragma once
#include "arch/wgmma.cuh"
#include "common/storage_types.cuh"

namespace gpuc::arch {
GPUC_WGMMA_ALL(f8e4m3fn, "f32.e4m3.e4m3", 32)
GPUC_WGMMA_ALL(f8e5m2, "f32.e5m2.e5m2", 32)
} // namespace gpuc::arch

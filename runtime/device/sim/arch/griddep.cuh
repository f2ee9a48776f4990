// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/griddep.cuh: kernels run one after the other.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

GPUC_DEVICE void griddepWait() {}
GPUC_DEVICE void griddepLaunch() {}

} // namespace gpuc::arch

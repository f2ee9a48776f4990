// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/stmatrix.cuh.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

GPUC_DEVICE void stmatrixX4(u32 row, u32 r0, u32 r1, u32 r2, u32 r3, GPUC_SIM_SITE) {
  const u32 r[4] = {r0, r1, r2, r3};
  ::gpucsim::api->stmatrix(row, r, 4, false, line);
}
GPUC_DEVICE void stmatrixX4Trans(u32 row, u32 r0, u32 r1, u32 r2, u32 r3, GPUC_SIM_SITE) {
  const u32 r[4] = {r0, r1, r2, r3};
  ::gpucsim::api->stmatrix(row, r, 4, true, line);
}
GPUC_DEVICE void stmatrixX2(u32 row, u32 r0, u32 r1, GPUC_SIM_SITE) {
  const u32 r[2] = {r0, r1};
  ::gpucsim::api->stmatrix(row, r, 2, false, line);
}
GPUC_DEVICE void stmatrixX2Trans(u32 row, u32 r0, u32 r1, GPUC_SIM_SITE) {
  const u32 r[2] = {r0, r1};
  ::gpucsim::api->stmatrix(row, r, 2, true, line);
}

} // namespace gpuc::arch

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/ldmatrix.cuh.
#pragma once
#include "arch/cp_async.cuh"

namespace gpuc::arch {

GPUC_DEVICE void ldmatrixX4(u32 (&r)[4], const void *row, GPUC_SIM_SITE) {
  ::gpucsim::api->ldmatrix(r, row, 4, false, line);
}
GPUC_DEVICE void ldmatrixX4Trans(u32 (&r)[4], const void *row, GPUC_SIM_SITE) {
  ::gpucsim::api->ldmatrix(r, row, 4, true, line);
}
GPUC_DEVICE void ldmatrixX2(u32 (&r)[2], const void *row, GPUC_SIM_SITE) {
  ::gpucsim::api->ldmatrix(r, row, 2, false, line);
}
GPUC_DEVICE void ldmatrixX2Trans(u32 (&r)[2], const void *row, GPUC_SIM_SITE) {
  ::gpucsim::api->ldmatrix(r, row, 2, true, line);
}
GPUC_DEVICE void ldmatrixX1(u32 (&r)[1], const void *row, GPUC_SIM_SITE) {
  ::gpucsim::api->ldmatrix(r, row, 1, false, line);
}
GPUC_DEVICE void ldmatrixX1Trans(u32 (&r)[1], const void *row, GPUC_SIM_SITE) {
  ::gpucsim::api->ldmatrix(r, row, 1, true, line);
}
GPUC_DEVICE void ldmatrixX4(u32 (&r)[4], u32 row, GPUC_SIM_SITE) {
  ::gpucsim::api->ldmatrix(r, ::gpucsim::api->sharedPointer(row, 16), 4, false, line);
}
GPUC_DEVICE void ldmatrixX4Trans(u32 (&r)[4], u32 row, GPUC_SIM_SITE) {
  ::gpucsim::api->ldmatrix(r, ::gpucsim::api->sharedPointer(row, 16), 4, true, line);
}

} // namespace gpuc::arch

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/wgmma_f8.cuh.
#pragma once
#include "arch/wgmma.cuh"
#include "common/storage_types.cuh"

namespace gpuc::arch {
template <> struct WgmmaElement<f8e4m3fn> {
  static constexpr ::gpucsim::WgmmaKind kKind = ::gpucsim::WgmmaKind::E4m3;
};
template <> struct WgmmaElement<f8e5m2> {
  static constexpr ::gpucsim::WgmmaKind kKind = ::gpucsim::WgmmaKind::E5m2;
};
} // namespace gpuc::arch

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/wgmma_tf32.cuh.
#pragma once
#include "arch/wgmma.cuh"

namespace gpuc::arch {
template <> struct WgmmaElement<float> {
  static constexpr ::gpucsim::WgmmaKind kKind = ::gpucsim::WgmmaKind::Tf32;
};
} // namespace gpuc::arch

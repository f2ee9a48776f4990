// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/wgmma.cuh: products are computed when they are waited for.
#pragma once
#include "arch/cp_async.cuh"
#include "common/types.cuh"
#include "common/wgmma_descriptor.cuh"

namespace gpuc::arch {

GPUC_DEVICE void wgmmaFence() {}
GPUC_DEVICE void wgmmaCommit() { ::gpucsim::api->wgmmaCommit(); }
template <int N> GPUC_DEVICE void wgmmaWait(GPUC_SIM_SITE) { ::gpucsim::api->wgmmaWait(N, line); }
/// The compiler must see that `d` changes here.
template <int N, int M> GPUC_DEVICE void wgmmaWait(float (&d)[M], GPUC_SIM_SITE) {
  ::gpucsim::api->wgmmaWait(N, line);
  asm volatile("" : : "r"(&d) : "memory");
}
template <typename T> struct WgmmaElement;
template <> struct WgmmaElement<f16> {
  static constexpr ::gpucsim::WgmmaKind kKind = ::gpucsim::WgmmaKind::F16;
};
template <> struct WgmmaElement<bf16> {
  static constexpr ::gpucsim::WgmmaKind kKind = ::gpucsim::WgmmaKind::Bf16;
};
template <int N, int kTransposedB> GPUC_DEVICE u32 wgmmaShape(int accumulate) {
  static_assert(N % 8 == 0 && N >= 8 && N <= 256, "the width is a multiple of 8 up to 256");
  return N | (kTransposedB ? ::gpucsim::kWgmmaTransposedB : 0) | (accumulate ? ::gpucsim::kWgmmaAccumulate : 0);
}
template <typename T, int N, int kTransposedB = 0> GPUC_DEVICE void wgmma(float (&d)[N / 2], u64 a, u64 b, int accumulate) {
  ::gpucsim::api->wgmma(d, nullptr, a, b, wgmmaShape<N, kTransposedB>(accumulate), WgmmaElement<T>::kKind);
}
template <typename T, int N, int kTransposedB = 0>
GPUC_DEVICE void wgmmaRs(float (&d)[N / 2], const u32 (&a)[4], u64 b, int accumulate) {
  ::gpucsim::api->wgmma(d, a, 0, b, wgmmaShape<N, kTransposedB>(accumulate), WgmmaElement<T>::kKind);
}

} // namespace gpuc::arch

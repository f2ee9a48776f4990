// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/shuffle.cuh.
#pragma once
#include "arch/convert.cuh"

namespace gpuc::arch {

template <typename T>
GPUC_DEVICE T shflAny(T v, u32 arg, u32 width, ::gpucsim::ShuffleMode mode, unsigned line) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8,
                "shuffles move 1, 2, 4 or 8 bytes");
  u64 word = 0;
  __builtin_memcpy(&word, &v, sizeof(T));
  word = ::gpucsim::api->shuffle(word, arg, width, mode, line);
  __builtin_memcpy(&v, &word, sizeof(T));
  return v;
}
template <typename T> GPUC_DEVICE T shflXor(T v, u32 mask, u32 width = 32, GPUC_SIM_SITE) {
  return shflAny(v, mask, width, ::gpucsim::ShuffleMode::Xor, line);
}
template <typename T> GPUC_DEVICE T shflDown(T v, u32 delta, u32 width = 32, GPUC_SIM_SITE) {
  return shflAny(v, delta, width, ::gpucsim::ShuffleMode::Down, line);
}
template <typename T> GPUC_DEVICE T shflUp(T v, u32 delta, u32 width = 32, GPUC_SIM_SITE) {
  return shflAny(v, delta, width, ::gpucsim::ShuffleMode::Up, line);
}
template <typename T> GPUC_DEVICE T shflIdx(T v, u32 lane, u32 width = 32, GPUC_SIM_SITE) {
  return shflAny(v, lane, width, ::gpucsim::ShuffleMode::Idx, line);
}
GPUC_DEVICE u32 ballot(bool predicate, GPUC_SIM_SITE) { return u32(::gpucsim::api->ballot(predicate, line)); }

} // namespace gpuc::arch

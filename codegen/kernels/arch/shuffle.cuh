// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warp shuffles and votes of all 32 lanes, of any trivially copyable type of 1, 2 or a multiple of 4 bytes.
// A source lane outside the warp (or outside the `width` group) gives the own value.
#pragma once
#include "arch/convert.cuh"

namespace gpuc::arch {

/// shfl.sync.* on words; the functions below split and join.
struct ShflXor {
  GPUC_DEVICE static u32 word(u32 v, u32 arg, u32 width) { return __shfl_xor_sync(~0u, v, arg, width); }
};
struct ShflDown {
  GPUC_DEVICE static u32 word(u32 v, u32 arg, u32 width) { return __shfl_down_sync(~0u, v, arg, width); }
};
struct ShflUp {
  GPUC_DEVICE static u32 word(u32 v, u32 arg, u32 width) { return __shfl_up_sync(~0u, v, arg, width); }
};
struct ShflIdx {
  GPUC_DEVICE static u32 word(u32 v, u32 arg, u32 width) { return __shfl_sync(~0u, v, arg, width); }
};

template <typename Mode, typename T> GPUC_DEVICE T shflAny(T v, u32 arg, u32 width) {
  static_assert(sizeof(T) <= 2 || sizeof(T) % 4 == 0, "shuffles move 1, 2 or a multiple of 4 bytes");
  constexpr int kWords = sizeof(T) <= 4 ? 1 : int(sizeof(T) / 4);
  u32 words[kWords] = {};
  memcpy(words, &v, sizeof(T));
#pragma unroll
  for (int i = 0; i < kWords; ++i)
    words[i] = Mode::word(words[i], arg, width);
  memcpy(&v, words, sizeof(T));
  return v;
}

/// From lane (lane ^ mask); `width` (a power of two) splits the warp in groups that do not see each other.
template <typename T> GPUC_DEVICE T shflXor(T v, u32 mask, u32 width = 32) {
  return shflAny<ShflXor>(v, mask, width);
}
/// From lane + delta.
template <typename T> GPUC_DEVICE T shflDown(T v, u32 delta, u32 width = 32) {
  return shflAny<ShflDown>(v, delta, width);
}
/// From lane - delta.
template <typename T> GPUC_DEVICE T shflUp(T v, u32 delta, u32 width = 32) {
  return shflAny<ShflUp>(v, delta, width);
}
/// From lane `lane` of the group.
template <typename T> GPUC_DEVICE T shflIdx(T v, u32 lane, u32 width = 32) {
  return shflAny<ShflIdx>(v, lane, width);
}
/// vote.sync.ballot: bit l is lane l's predicate.
GPUC_DEVICE u32 ballot(bool predicate) { return __ballot_sync(~0u, predicate); }

} // namespace gpuc::arch

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matrix descriptors of wgmma's operands in shared memory: plain integers, the same on a GPU and in the simulator.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

/// Matrix descriptor of a K-major operand: rows of 128 bytes of K, 128-byte swizzle, groups of 8 rows 1024 bytes apart.
/// `address` may start at any row; K steps of 32 bytes are + 2 each.
GPUC_DEVICE u64 wgmmaDescK128(u32 address) {
  return u64((address & 0x3ffff) >> 4) | u64(1) << 16 | u64(64) << 32 | u64(1) << 62;
}
/// Matrix descriptor of an operand whose rows run along M or N (64 elements of 16 bits, 128-byte swizzle): `leadBytes` from
/// one 64-element block along M or N to the next, `strideBytes` from one group of 8 rows (along K) to the next.
GPUC_DEVICE u64 wgmmaDescMn128(u32 address, u32 leadBytes, u32 strideBytes) {
  return u64((address & 0x3ffff) >> 4) | u64(leadBytes >> 4) << 16 | u64(strideBytes >> 4) << 32 | u64(1) << 62;
}

} // namespace gpuc::arch

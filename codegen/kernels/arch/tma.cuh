// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bulk copies (sm_90) between global and shared memory by the copy engine: plain runs of bytes, and boxes of a tensor that a
// tensor map describes (cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col; Plan/TensorMap.h). One thread issues them. Loads
// count their bytes (the whole box, parts outside the tensor read as zero included) at an mbarrier; stores leave out what
// lies outside the tensor and are waited for by groups. Coordinates count elements, innermost first; of a swizzled box the
// shared address is a multiple of 1024 (128-byte swizzle), 512 or 256, else of 128.
#pragma once
#include "arch/mbarrier.cuh"

namespace gpuc::arch {

/// An encoded tensor map: a kernel parameter `const __grid_constant__ TensorMap`.
struct alignas(64) TensorMap {
  u64 opaque[16];
};

/// prefetch.tensormap
GPUC_DEVICE void tensorMapPrefetch(const TensorMap *map) { asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory"); }

/// cp.async.bulk global to shared: `bytes` and both addresses are multiples of 16.
GPUC_DEVICE void bulkLoad(u32 to, const void *from, u32 bytes, u32 barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
/// cp.async.bulk.tensor.2d global to shared.
GPUC_DEVICE void tmaLoad2d(u32 to, const TensorMap *map, u32 barrier, i32 c0, i32 c1) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3,%4}], "
               "[%2];" ::"r"(to),
               "l"(map), "r"(barrier), "r"(c0), "r"(c1)
               : "memory");
}
/// cp.async.bulk.tensor.3d global to shared.
GPUC_DEVICE void tmaLoad3d(u32 to, const TensorMap *map, u32 barrier, i32 c0, i32 c1, i32 c2) {
  asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3,%4,%5}], "
               "[%2];" ::"r"(to),
               "l"(map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2)
               : "memory");
}
/// cp.async.bulk.tensor.4d global to shared.
GPUC_DEVICE void tmaLoad4d(u32 to, const TensorMap *map, u32 barrier, i32 c0, i32 c1, i32 c2, i32 c3) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3,%4,%5,%6}], "
               "[%2];" ::"r"(to),
               "l"(map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
               : "memory");
}
/// cp.async.bulk.tensor.5d global to shared.
GPUC_DEVICE void tmaLoad5d(u32 to, const TensorMap *map, u32 barrier, i32 c0, i32 c1, i32 c2, i32 c3, i32 c4) {
  asm volatile("cp.async.bulk.tensor.5d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3,%4,%5,%6,%7}], "
               "[%2];" ::"r"(to),
               "l"(map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
               : "memory");
}
/// cp.async.bulk.tensor.4d.im2col: (c, w, h, n) is the first pixel in input coordinates (within the map's bounding box),
/// (tapW, tapH) the filter tap that is added to every pixel of the walk.
GPUC_DEVICE void tmaLoadIm2col4d(u32 to, const TensorMap *map, u32 barrier, i32 c, i32 w, i32 h, i32 n, u16 tapW, u16 tapH) {
  asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, "
               "{%3,%4,%5,%6}], [%2], {%7,%8};" ::"r"(to),
               "l"(map), "r"(barrier), "r"(c), "r"(w), "r"(h), "r"(n), "h"(tapW), "h"(tapH)
               : "memory");
}
/// cp.async.bulk.tensor.2d shared to global, part of the thread's open group.
GPUC_DEVICE void tmaStore2d(const TensorMap *map, u32 from, i32 c0, i32 c1) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2,%3}], [%1];" ::"l"(map), "r"(from),
               "r"(c0), "r"(c1)
               : "memory");
}
/// cp.async.bulk.tensor.3d shared to global, part of the thread's open group.
GPUC_DEVICE void tmaStore3d(const TensorMap *map, u32 from, i32 c0, i32 c1, i32 c2) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2,%3,%4}], [%1];" ::"l"(map), "r"(from),
               "r"(c0), "r"(c1), "r"(c2)
               : "memory");
}
/// cp.async.bulk.tensor.4d shared to global, part of the thread's open group.
GPUC_DEVICE void tmaStore4d(const TensorMap *map, u32 from, i32 c0, i32 c1, i32 c2, i32 c3) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.bulk_group [%0, {%2,%3,%4,%5}], [%1];" ::"l"(map), "r"(from),
               "r"(c0), "r"(c1), "r"(c2), "r"(c3)
               : "memory");
}
/// cp.async.bulk.commit_group: closes this thread's group of stores.
GPUC_DEVICE void bulkCommit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
/// cp.async.bulk.wait_group.read: at most N of the thread's newest groups still read shared memory.
template <int N> GPUC_DEVICE void bulkWaitRead() { asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(N) : "memory"); }
/// cp.async.bulk.wait_group: at most N of the thread's newest groups are unfinished. Shared memory outlives the last store.
template <int N> GPUC_DEVICE void bulkWait() { asm volatile("cp.async.bulk.wait_group %0;" ::"n"(N) : "memory"); }
/// fence.proxy.async.shared::cta: ordinary writes to shared memory before it are seen by copies issued after it (by this
/// thread, or after a barrier).
GPUC_DEVICE void fenceProxyAsyncShared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
/// fence.proxy.async: the same for all memory.
GPUC_DEVICE void fenceProxyAsync() { asm volatile("fence.proxy.async;" ::: "memory"); }

} // namespace gpuc::arch

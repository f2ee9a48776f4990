// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/tma.cuh.
#pragma once
#include "arch/mbarrier.cuh"

namespace gpuc::arch {

struct alignas(64) TensorMap {
  u64 opaque[16];
};
GPUC_DEVICE void tensorMapPrefetch(const TensorMap *) {}
GPUC_DEVICE void bulkLoad(u32 to, const void *from, u32 bytes, u32 barrier) {
  ::gpucsim::api->bulkLoad(to, from, bytes, barrier);
}
GPUC_DEVICE void tmaLoad2d(u32 to, const TensorMap *map, u32 barrier, i32 c0, i32 c1) {
  const i32 at[5] = {c0, c1};
  ::gpucsim::api->tmaLoad(to, map, barrier, 2, at, -1);
}
GPUC_DEVICE void tmaLoad3d(u32 to, const TensorMap *map, u32 barrier, i32 c0, i32 c1, i32 c2) {
  const i32 at[5] = {c0, c1, c2};
  ::gpucsim::api->tmaLoad(to, map, barrier, 3, at, -1);
}
GPUC_DEVICE void tmaLoad4d(u32 to, const TensorMap *map, u32 barrier, i32 c0, i32 c1, i32 c2, i32 c3) {
  const i32 at[5] = {c0, c1, c2, c3};
  ::gpucsim::api->tmaLoad(to, map, barrier, 4, at, -1);
}
GPUC_DEVICE void tmaLoad5d(u32 to, const TensorMap *map, u32 barrier, i32 c0, i32 c1, i32 c2, i32 c3, i32 c4) {
  const i32 at[5] = {c0, c1, c2, c3, c4};
  ::gpucsim::api->tmaLoad(to, map, barrier, 5, at, -1);
}
GPUC_DEVICE void tmaLoadIm2col4d(u32 to, const TensorMap *map, u32 barrier, i32 c, i32 w, i32 h, i32 n, u16 tapW, u16 tapH) {
  const i32 at[5] = {c, w, h, n};
  ::gpucsim::api->tmaLoad(to, map, barrier, 4, at, i32(tapW) | i32(tapH) << 16);
}
GPUC_DEVICE void tmaStore2d(const TensorMap *map, u32 from, i32 c0, i32 c1) {
  const i32 at[5] = {c0, c1};
  ::gpucsim::api->tmaStore(map, from, 2, at);
}
GPUC_DEVICE void tmaStore3d(const TensorMap *map, u32 from, i32 c0, i32 c1, i32 c2) {
  const i32 at[5] = {c0, c1, c2};
  ::gpucsim::api->tmaStore(map, from, 3, at);
}
GPUC_DEVICE void tmaStore4d(const TensorMap *map, u32 from, i32 c0, i32 c1, i32 c2, i32 c3) {
  const i32 at[5] = {c0, c1, c2, c3};
  ::gpucsim::api->tmaStore(map, from, 4, at);
}
GPUC_DEVICE void bulkCommit() { ::gpucsim::api->bulkCommit(); }
template <int N> GPUC_DEVICE void bulkWaitRead() { ::gpucsim::api->bulkWait(N); }
template <int N> GPUC_DEVICE void bulkWait() { ::gpucsim::api->bulkWait(N); }
GPUC_DEVICE void fenceProxyAsyncShared() {}
GPUC_DEVICE void fenceProxyAsync() {}

} // namespace gpuc::arch

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulator's encoding of a tensor map, and the copies that it describes. All but the encoding run on a
// fiber.
#pragma once
#include "gpuc/Plan/TensorMap.h"

namespace gpuc::sim {

/// What the 128 bytes hold. `magic` tells it from anything else that a kernel may pass.
struct EncodedTensorMap {
  static constexpr uint32_t kMagic = 0x70616d74;
  uint32_t magic;
  uint8_t elementBytes, rank, swizzle, im2col;
  uint64_t base; ///< address of the first element
  uint64_t strides[4];
  uint32_t dims[5];
  uint16_t box[5]; ///< elements copied along each dimension, or channels and pixels
  uint16_t elementStrides[5];
  int16_t lower[3], upper[3];
};
static_assert(sizeof(EncodedTensorMap) <= kTensorMapBytes, "a tensor map parameter has 128 bytes");

/// Encodes a valid layout for a tensor at `base`.
void encodeTensorMap(const TensorMapLayout &layout, uint64_t base, void *out);

/// Bytes of one box.
unsigned boxBytes(const EncodedTensorMap &map);
/// Where a byte of a box lies: its place in the unswizzled box, at a shared address.
inline unsigned swizzled(unsigned address, unsigned swizzle) {
  unsigned mask = swizzle == 3 ? 7 : swizzle == 2 ? 3 : swizzle == 1 ? 1 : 0;
  return address ^ ((address >> 7 & mask) << 4);
}
/// Calls `row(boxOffset, address, elements, skipped)` for every run of dimension 0 of a box at `at`:
/// `elements` elements in global memory at `address` belong to the box from byte `boxOffset` on, `skipped`
/// elements before and the rest of the run lie outside the tensor. `tap`: offsets of an im2col walk. A run
/// that is outside as a whole has 0 elements.
template <typename Row> void forEachRow(const EncodedTensorMap &map, const int *at, int tap, Row row);

template <typename Row> void forEachRow(const EncodedTensorMap &map, const int *at, int tap, Row row) {
  const int64_t run = map.box[0], first = at[0];
  const int64_t skipped = first < 0 ? std::min<int64_t>(-first, run) : 0;
  const int64_t inside =
      std::max<int64_t>(std::min<int64_t>(first + run, map.dims[0]) - (first + skipped), 0);
  const unsigned rowBytes = unsigned(run) * map.elementBytes;
  unsigned boxOffset = 0;
  auto emit = [&](const int64_t *coordinate) { // of dimensions 1 on
    bool within = inside > 0;
    uint64_t address = map.base + uint64_t(first + skipped) * map.elementBytes;
    for (int d = 1; d < map.rank; ++d) {
      within = within && coordinate[d] >= 0 && coordinate[d] < int64_t(map.dims[d]);
      address += uint64_t(coordinate[d]) * map.strides[d - 1];
    }
    row(boxOffset, address, within ? unsigned(inside) : 0u, unsigned(skipped));
    boxOffset += rowBytes;
  };
  if (map.im2col) {
    int64_t w = at[1], h = at[2], n = at[3];
    for (unsigned pixel = 0; pixel < map.box[1]; ++pixel) {
      int64_t coordinate[5] = {0, w + (tap & 0xffff), h + (tap >> 16 & 0xffff), n};
      emit(coordinate);
      w += map.elementStrides[1];
      if (w > int64_t(map.dims[1]) - 1 + map.upper[0]) {
        w = map.lower[0];
        h += map.elementStrides[2];
        if (h > int64_t(map.dims[2]) - 1 + map.upper[1]) {
          h = map.lower[1];
          ++n;
        }
      }
    }
    return;
  }
  int64_t index[5] = {};
  for (;;) {
    int64_t coordinate[5];
    for (int d = 1; d < map.rank; ++d)
      coordinate[d] = at[d] + index[d] * map.elementStrides[d];
    emit(coordinate);
    int d = 1;
    while (d < map.rank && ++index[d] == map.box[d])
      index[d++] = 0;
    if (d == map.rank)
      return;
  }
}

} // namespace gpuc::sim

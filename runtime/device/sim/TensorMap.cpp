// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "TensorMap.h"
#include <cstring>

namespace gpuc::sim {

void encodeTensorMap(const TensorMapLayout &layout, uint64_t base, void *out) {
  EncodedTensorMap map = {};
  map.magic = EncodedTensorMap::kMagic;
  map.elementBytes = uint8_t(bitWidth(layout.dtype) / 8);
  map.rank = uint8_t(layout.rank);
  map.swizzle = uint8_t(layout.swizzle);
  map.im2col = layout.im2col;
  map.base = base + layout.byteOffset;
  for (int d = 0; d < layout.rank; ++d) {
    map.dims[d] = uint32_t(layout.dims[d]);
    if (d + 1 < layout.rank)
      map.strides[d] = layout.strides[d];
    map.elementStrides[d] = uint16_t(layout.elementStrides[d]);
    // A box spans `box` elements, of which every elementStrides-th is taken.
    map.box[d] = uint16_t((layout.box[d] + layout.elementStrides[d] - 1) / layout.elementStrides[d]);
  }
  if (layout.im2col) {
    map.box[0] = uint16_t(layout.channelsPerPixel);
    map.box[1] = uint16_t(layout.pixelsPerColumn);
    for (int d = 0; d < 3; ++d) {
      map.lower[d] = int16_t(layout.lower[d]);
      map.upper[d] = int16_t(layout.upper[d]);
    }
  }
  memset(out, 0, kTensorMapBytes);
  memcpy(out, &map, sizeof map);
}

unsigned boxBytes(const EncodedTensorMap &map) {
  unsigned bytes = map.elementBytes;
  for (int d = 0; d < (map.im2col ? 2 : map.rank); ++d)
    bytes *= map.box[d];
  return bytes;
}

} // namespace gpuc::sim

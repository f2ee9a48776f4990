// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape arithmetic that the families of the reference executor share: allocation with a checked size,
// strides, odometer over coordinates, and the split of a shape around an axis. Private to runtime/reference.
#pragma once
#include "gpuc/Support/HostTensor.h"
#include "gpuc/Support/Status.h"
#include <cstring>
#include <string>
#include <vector>

namespace gpuc::reference {

/// A zero-filled tensor, or InvalidArgument / OutOfMemory for an impossible size.
Result<HostTensor> allocate(DType dtype, const Shape &shape);

/// InvalidArgument unless 0 <= axis < rank.
Status checkAxis(const char *op, int64_t axis, int64_t rank);
Status checkSameType(const char *op, const HostTensor &a, const HostTensor &b);
/// Unsupported: the op has no meaning for this element type.
Status unsupportedType(const char *op, DType dtype);

/// Element strides of a row-major tensor.
std::vector<int64_t> rowMajorStrides(const Shape &shape);
/// Strides that read `from` as if it had shape `to`: 0 on broadcast axes. `from` must broadcast to `to`.
std::vector<int64_t> broadcastStrides(const Shape &from, const Shape &to);
/// True when `from` broadcasts to exactly `to`.
bool broadcastsTo(const Shape &from, const Shape &to);

/// A shape seen as (outer, extent, inner) around one axis.
struct AxisSplit {
  int64_t outer = 1, extent = 1, inner = 1;
  AxisSplit(const Shape &shape, int64_t axis) : extent(shape[axis]) {
    for (int64_t d = 0; d < int64_t(shape.size()); ++d)
      (d < axis ? outer : inner) *= d == axis ? 1 : shape[d];
  }
};

/// Walks all coordinates of a shape in row-major order and keeps N element offsets, one per stride vector,
/// beside it.
template <unsigned N> class Odometer {
public:
  Odometer(const Shape &shape, const std::vector<int64_t> (&strides)[N])
      : extents(shape), coordinate(shape.size()) {
    for (unsigned n = 0; n < N; ++n)
      steps[n] = strides[n];
  }
  int64_t offset(unsigned n = 0) const { return offsets[n]; }
  const std::vector<int64_t> &coordinates() const { return coordinate; }
  void next() {
    for (int64_t d = int64_t(extents.size()) - 1; d >= 0; --d) {
      for (unsigned n = 0; n < N; ++n)
        offsets[n] += steps[n][d];
      if (++coordinate[d] < extents[d])
        return;
      coordinate[d] = 0;
      for (unsigned n = 0; n < N; ++n)
        offsets[n] -= steps[n][d] * extents[d];
    }
  }

private:
  Shape extents;
  std::vector<int64_t> coordinate;
  std::vector<int64_t> steps[N];
  int64_t offsets[N] = {};
};

/// result[linear] = x[base + sum coordinate * strides], a copy of whole elements of at least one byte.
void copyStrided(const HostTensor &x, int64_t base, const std::vector<int64_t> &strides, HostTensor &result);

/// True when elements can be copied one by one.
inline bool isByteSized(DType t) { return bitWidth(t) >= 8; }
inline int64_t elementBytes(DType t) { return bitWidth(t) / 8; }

/// Element i of packed data with elements of `bits` bits.
inline unsigned packedAt(const uint8_t *bytes, int64_t i, unsigned bits) {
  unsigned perByte = 8 / bits;
  return (bytes[i / perByte] >> (i % perByte * bits)) & ((1u << bits) - 1);
}
/// Sets element i; it was zero before.
inline void setPacked(uint8_t *bytes, int64_t i, unsigned bits, uint64_t code) {
  unsigned perByte = 8 / bits;
  bytes[i / perByte] |= uint8_t((code & ((1u << bits) - 1)) << (i % perByte * bits));
}

} // namespace gpuc::reference

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A dense row-major tensor in host memory: what .npy and .pb files, the reference executor and tests
// exchange.
#pragma once
#include "gpuc/Support/DType.h"
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace gpuc {

using Shape = std::vector<int64_t>;

/// Number of elements; extents must be valid (see CheckedMath for untrusted ones).
inline int64_t numElements(const Shape &shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}
/// "2x3x5", "scalar" for rank 0.
std::string toString(const Shape &shape);

/// Shares its bytes between copies; `mutableBytes` may be used by the only owner that fills it.
class HostTensor {
public:
  HostTensor() = default;
  /// Zero-filled.
  HostTensor(DType dtype, Shape shape)
      : elementType(dtype), extents(std::move(shape)),
        storage(std::make_shared<std::vector<uint8_t>>(byteSize(dtype, numElements(extents)))) {}
  DType dtype() const { return elementType; }
  const Shape &shape() const { return extents; }
  int64_t rank() const { return int64_t(extents.size()); }
  int64_t size() const { return numElements(extents); } ///< elements
  const uint8_t *bytes() const { return storage ? storage->data() : nullptr; }
  uint8_t *mutableBytes() { return storage ? storage->data() : nullptr; }
  int64_t sizeInBytes() const { return byteSize(elementType, size()); }
  template <typename T> const T *data() const { return reinterpret_cast<const T *>(bytes()); }
  template <typename T> T *mutableData() { return reinterpret_cast<T *>(mutableBytes()); }
  /// The same bytes under another shape with the same number of elements.
  HostTensor reshaped(Shape shape) const {
    HostTensor t = *this;
    t.extents = std::move(shape);
    return t;
  }

private:
  DType elementType = DType::F32;
  Shape extents;
  std::shared_ptr<std::vector<uint8_t>> storage = std::make_shared<std::vector<uint8_t>>();
};

} // namespace gpuc

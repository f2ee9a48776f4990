// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape arithmetic shared by the families of the reference executor.
#include "Dispatch.h"
#include "gpuc/Reference/Ops.h"
#include "gpuc/Support/CheckedMath.h"
#include <new>
#include <stdexcept>

namespace gpuc::reference {

Result<HostTensor> allocate(DType dtype, const Shape &shape) {
  constexpr int64_t kMaxElements = int64_t(1) << 48; // keeps every byte count and offset far from overflow
  for (int64_t extent : shape)
    if (extent < 0)
      return invalidArgument("the result would have the negative extent " + std::to_string(extent) +
                             " in shape " + toString(shape));
  auto count = checkedProduct(shape);
  if (!count || *count > kMaxElements)
    return invalidArgument("a tensor of shape " + toString(shape) + " has more than 2^48 elements");
  try {
    return HostTensor(dtype, shape);
  } catch (const std::bad_alloc &) {
  } catch (const std::length_error &) {
  }
  return Status(StatusCode::OutOfMemory, "no memory for a tensor of shape " + toString(shape) + " and type " +
                                             std::string(name(dtype)));
}

Status checkAxis(const char *op, int64_t axis, int64_t rank) {
  if (axis >= 0 && axis < rank)
    return {};
  return invalidArgument(std::string(op) + ": axis " + std::to_string(axis) + " is not in [0, " +
                         std::to_string(rank) + ")");
}

Status checkSameType(const char *op, const HostTensor &a, const HostTensor &b) {
  if (a.dtype() == b.dtype())
    return {};
  return invalidArgument(std::string(op) + ": operands must have one type, got " +
                         std::string(name(a.dtype())) + " and " + std::string(name(b.dtype())));
}

Status unsupportedType(const char *op, DType dtype) {
  return unsupported(std::string(op) + " is not defined for " + std::string(name(dtype)));
}

std::vector<int64_t> rowMajorStrides(const Shape &shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    strides[d] = step;
    step *= shape[d];
  }
  return strides;
}

std::vector<int64_t> broadcastStrides(const Shape &from, const Shape &to) {
  std::vector<int64_t> own = rowMajorStrides(from), strides(to.size(), 0);
  size_t missing = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d)
    strides[missing + d] = from[d] == 1 ? 0 : own[d];
  return strides;
}

bool broadcastsTo(const Shape &from, const Shape &to) {
  if (from.size() > to.size())
    return false;
  size_t missing = to.size() - from.size();
  for (size_t d = 0; d < from.size(); ++d)
    if (from[d] != 1 && from[d] != to[missing + d])
      return false;
  return true;
}

Result<Shape> broadcastShapes(const Shape &a, const Shape &b) {
  const Shape &longer = a.size() >= b.size() ? a : b, &shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  size_t missing = longer.size() - shorter.size();
  for (size_t d = 0; d < shorter.size(); ++d) {
    int64_t &extent = result[missing + d];
    if (extent == 1)
      extent = shorter[d];
    else if (shorter[d] != 1 && shorter[d] != extent)
      return invalidArgument("shapes " + toString(a) + " and " + toString(b) + " do not broadcast");
  }
  return result;
}

const float *halfValues() {
  static const std::vector<float> kValues = [] {
    std::vector<float> values(1 << 16);
    for (size_t bits = 0; bits < values.size(); ++bits)
      values[bits] = halfToFloat(uint16_t(bits));
    return values;
  }();
  return kValues.data();
}

namespace {
template <typename T>
void copyElements(const HostTensor &x, int64_t base, const std::vector<int64_t> &strides,
                  HostTensor &result) {
  const T *in = x.data<T>() + base;
  T *out = result.mutableData<T>();
  int64_t count = result.size();
  Odometer<1> position(result.shape(), {strides});
  for (int64_t i = 0; i < count; ++i, position.next())
    out[i] = in[position.offset()];
}
} // namespace

void copyStrided(const HostTensor &x, int64_t base, const std::vector<int64_t> &strides, HostTensor &result) {
  if (result.size() == 0)
    return;
  switch (elementBytes(x.dtype())) {
  case 1:
    return copyElements<uint8_t>(x, base, strides, result);
  case 2:
    return copyElements<uint16_t>(x, base, strides, result);
  case 4:
    return copyElements<uint32_t>(x, base, strides, result);
  default:
    return copyElements<uint64_t>(x, base, strides, result);
  }
}

} // namespace gpuc::reference

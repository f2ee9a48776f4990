// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that only move elements. Everything that is affine in the coordinate is one strided copy.
#include "Dispatch.h"
#include "gpuc/Reference/Ops.h"
#include "gpuc/Support/CheckedMath.h"
#include <algorithm>

namespace gpuc::reference {
namespace {

Status checkByteSized(const char *op, const HostTensor &x) {
  return isByteSized(x.dtype()) ? Status() : unsupportedType(op, x.dtype());
}
Status checkCount(const char *op, const char *what, size_t got, int64_t rank) {
  if (int64_t(got) == rank)
    return {};
  return invalidArgument(std::string(op) + ": expected " + std::to_string(rank) + " " + what +
                         ", one per axis, got " + std::to_string(got));
}

/// Source position of a padded axis, or -1 for the constant. i may be negative or beyond the extent.
int64_t paddedSource(int64_t i, int64_t extent, PadMode mode) {
  if (i >= 0 && i < extent)
    return i;
  switch (mode) {
  case PadMode::Constant:
    return -1;
  case PadMode::Edge:
    return i < 0 ? 0 : extent - 1;
  case PadMode::Wrap:
    return (i % extent + extent) % extent;
  case PadMode::Reflect: {
    if (extent == 1)
      return 0;
    int64_t period = 2 * (extent - 1);
    int64_t r = (i % period + period) % period;
    return r < extent ? r : period - r;
  }
  }
  return -1;
}

/// Copies elements by a table of source positions per axis (-1: leave as it is).
void copyByTables(const HostTensor &x, const std::vector<std::vector<int64_t>> &sources, HostTensor &result) {
  int64_t size = elementBytes(x.dtype());
  std::vector<int64_t> strides = rowMajorStrides(x.shape()), none(result.rank(), 0);
  Odometer<1> at(result.shape(), {none});
  for (int64_t i = 0, e = result.size(); i < e; ++i, at.next()) {
    int64_t offset = 0;
    bool inside = true;
    for (size_t d = 0; d < sources.size() && inside; ++d) {
      int64_t source = sources[d][at.coordinates()[d]];
      inside = source >= 0;
      offset += source * strides[d];
    }
    if (inside)
      std::memcpy(result.mutableBytes() + i * size, x.bytes() + offset * size, size);
  }
}

} // namespace

Result<HostTensor> transpose(const HostTensor &x, const std::vector<int64_t> &perm) {
  if (!isByteSized(x.dtype())) { // as one code per byte
    unsigned bits = bitWidth(x.dtype());
    auto codes = allocate(DType::U8, x.shape());
    if (!codes)
      return codes;
    for (int64_t i = 0; i < x.size(); ++i)
      codes->mutableBytes()[i] = uint8_t(packedAt(x.bytes(), i, bits));
    auto moved = transpose(*codes, perm);
    if (!moved)
      return moved;
    auto result = allocate(x.dtype(), moved->shape());
    for (int64_t i = 0; result && i < x.size(); ++i)
      setPacked(result->mutableBytes(), i, bits, moved->bytes()[i]);
    return result;
  }
  GPUC_RETURN_IF_ERROR(checkCount("transpose", "entries in perm", perm.size(), x.rank()));
  std::vector<bool> seen(perm.size());
  std::vector<int64_t> own = rowMajorStrides(x.shape()), strides(perm.size());
  Shape shape(perm.size());
  for (size_t d = 0; d < perm.size(); ++d) {
    GPUC_RETURN_IF_ERROR(checkAxis("transpose", perm[d], x.rank()));
    if (seen[perm[d]])
      return invalidArgument("transpose: axis " + std::to_string(perm[d]) + " appears twice in perm");
    seen[perm[d]] = true;
    shape[d] = x.shape()[perm[d]];
    strides[d] = own[perm[d]];
  }
  auto result = allocate(x.dtype(), shape);
  if (result)
    copyStrided(x, 0, strides, *result);
  return result;
}

Result<HostTensor> reshape(const HostTensor &x, const Shape &shape) {
  auto count = checkedProduct(shape);
  if (!count || *count != x.size())
    return invalidArgument("reshape: " + toString(x.shape()) + " has " + std::to_string(x.size()) +
                           " elements and can not take shape " + toString(shape));
  return x.reshaped(shape);
}

Result<HostTensor> expand(const HostTensor &x, const Shape &shape) {
  GPUC_RETURN_IF_ERROR(checkByteSized("expand", x));
  if (!broadcastsTo(x.shape(), shape))
    return invalidArgument("expand: " + toString(x.shape()) + " does not broadcast to " + toString(shape));
  auto result = allocate(x.dtype(), shape);
  if (result)
    copyStrided(x, 0, broadcastStrides(x.shape(), shape), *result);
  return result;
}

Result<HostTensor> slice(const HostTensor &x, const std::vector<int64_t> &starts,
                         const std::vector<int64_t> &steps, const std::vector<int64_t> &sizes) {
  GPUC_RETURN_IF_ERROR(checkByteSized("slice", x));
  GPUC_RETURN_IF_ERROR(checkCount("slice", "starts", starts.size(), x.rank()));
  GPUC_RETURN_IF_ERROR(checkCount("slice", "steps", steps.size(), x.rank()));
  GPUC_RETURN_IF_ERROR(checkCount("slice", "sizes", sizes.size(), x.rank()));
  std::vector<int64_t> strides = rowMajorStrides(x.shape());
  int64_t base = 0;
  bool empty = std::count(sizes.begin(), sizes.end(), 0) > 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    int64_t extent = x.shape()[d];
    auto reach = checkedMul(sizes[d] - 1, steps[d]);
    auto last = reach ? checkedAdd(starts[d], *reach) : std::nullopt;
    bool inside = last && starts[d] >= 0 && starts[d] < extent && *last >= 0 && *last < extent;
    if (steps[d] == 0 || sizes[d] < 0 || (sizes[d] > 0 && !inside))
      return invalidArgument("slice: start " + std::to_string(starts[d]) + ", step " +
                             std::to_string(steps[d]) + ", size " + std::to_string(sizes[d]) +
                             " leaves axis " + std::to_string(d) + " of extent " + std::to_string(extent));
    if (empty)
      continue;
    base += starts[d] * strides[d];
    strides[d] = sizes[d] == 1 ? 0 : strides[d] * steps[d];
  }
  auto result = allocate(x.dtype(), sizes);
  if (result)
    copyStrided(x, base, strides, *result);
  return result;
}

Result<HostTensor> concat(const std::vector<HostTensor> &tensors, int64_t axis) {
  if (tensors.empty())
    return invalidArgument("concat: expected at least one tensor");
  const HostTensor &first = tensors.front();
  GPUC_RETURN_IF_ERROR(checkByteSized("concat", first));
  GPUC_RETURN_IF_ERROR(checkAxis("concat", axis, first.rank()));
  Shape shape = first.shape();
  shape[axis] = 0;
  for (const HostTensor &t : tensors) {
    GPUC_RETURN_IF_ERROR(checkSameType("concat", first, t));
    Shape other = t.shape();
    if (t.rank() == first.rank())
      other[axis] = first.shape()[axis];
    if (other != first.shape())
      return invalidArgument("concat: " + toString(t.shape()) + " does not fit " + toString(first.shape()) +
                             " along axis " + std::to_string(axis));
    auto extent = checkedAdd(shape[axis], t.shape()[axis]);
    if (!extent)
      return invalidArgument("concat: the extent of axis " + std::to_string(axis) + " overflows");
    shape[axis] = *extent;
  }
  auto result = allocate(first.dtype(), shape);
  if (!result || result->size() == 0)
    return result;
  AxisSplit whole(shape, axis);
  int64_t unit = whole.inner * elementBytes(first.dtype()), done = 0;
  for (const HostTensor &t : tensors) {
    int64_t run = t.shape()[axis] * unit;
    for (int64_t o = 0; o < whole.outer && run > 0; ++o)
      std::memcpy(result->mutableBytes() + (o * whole.extent + done) * unit, t.bytes() + o * run, run);
    done += t.shape()[axis];
  }
  return result;
}

Result<HostTensor> pad(const HostTensor &x, const std::vector<int64_t> &low, const std::vector<int64_t> &high,
                       PadMode mode, const HostTensor *value) {
  GPUC_RETURN_IF_ERROR(checkByteSized("pad", x));
  GPUC_RETURN_IF_ERROR(checkCount("pad", "low pads", low.size(), x.rank()));
  GPUC_RETURN_IF_ERROR(checkCount("pad", "high pads", high.size(), x.rank()));
  if (value && (value->size() != 1 || value->dtype() != x.dtype()))
    return invalidArgument("pad: the value must be one element of type " + std::string(name(x.dtype())) +
                           ", got " + std::string(name(value->dtype())) + " of shape " +
                           toString(value->shape()));
  Shape shape(x.rank());
  for (int64_t d = 0; d < x.rank(); ++d) {
    int64_t extent = x.shape()[d];
    auto bigger = checkedAdd(extent, low[d]);
    auto total = bigger ? checkedAdd(*bigger, high[d]) : std::nullopt;
    if (!total || *total < 0)
      return invalidArgument("pad: pads " + std::to_string(low[d]) + " and " + std::to_string(high[d]) +
                             " do not fit axis " + std::to_string(d) + " of extent " +
                             std::to_string(extent));
    if (extent == 0 && *total > 0 && mode != PadMode::Constant)
      return invalidArgument("pad: axis " + std::to_string(d) + " is empty and has nothing to repeat");
    shape[d] = *total;
  }
  auto result = allocate(x.dtype(), shape);
  if (!result || result->size() == 0)
    return result;
  std::vector<std::vector<int64_t>> sources(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    for (int64_t i = 0; i < shape[d]; ++i)
      sources[d].push_back(paddedSource(i - low[d], x.shape()[d], mode));
  if (value && mode == PadMode::Constant) {
    int64_t size = elementBytes(x.dtype());
    for (int64_t i = 0, e = result->size(); i < e; ++i)
      std::memcpy(result->mutableBytes() + i * size, value->bytes(), size);
  }
  copyByTables(x, sources, *result);
  return result;
}

Result<HostTensor> tile(const HostTensor &x, const std::vector<int64_t> &repeats) {
  GPUC_RETURN_IF_ERROR(checkByteSized("tile", x));
  GPUC_RETURN_IF_ERROR(checkCount("tile", "repeats", repeats.size(), x.rank()));
  Shape shape(x.rank());
  for (int64_t d = 0; d < x.rank(); ++d) {
    auto extent = checkedMul(x.shape()[d], repeats[d]);
    if (repeats[d] < 0 || !extent)
      return invalidArgument("tile: can not repeat axis " + std::to_string(d) + " of extent " +
                             std::to_string(x.shape()[d]) + " " + std::to_string(repeats[d]) + " times");
    shape[d] = *extent;
  }
  auto result = allocate(x.dtype(), shape);
  if (!result || result->size() == 0)
    return result;
  std::vector<std::vector<int64_t>> sources(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    for (int64_t i = 0; i < shape[d]; ++i)
      sources[d].push_back(i % x.shape()[d]);
  copyByTables(x, sources, *result);
  return result;
}

Result<HostTensor> trilu(const HostTensor &x, int64_t k, bool upper) {
  GPUC_RETURN_IF_ERROR(checkByteSized("trilu", x));
  if (x.rank() < 2)
    return invalidArgument("trilu: expected rank 2 or more, got shape " + toString(x.shape()));
  auto result = allocate(x.dtype(), x.shape());
  if (!result)
    return result;
  int64_t rows = x.shape()[x.rank() - 2], columns = x.shape()[x.rank() - 1], size = elementBytes(x.dtype());
  for (int64_t i = 0, e = x.size(); i < e; ++i) {
    int64_t diagonal = i % columns - i / columns % rows;
    if (upper ? diagonal >= k : diagonal <= k)
      std::memcpy(result->mutableBytes() + i * size, x.bytes() + i * size, size);
  }
  return result;
}

} // namespace gpuc::reference

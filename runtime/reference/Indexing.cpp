// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gather and scatter. Indices are read and checked before anything is addressed with them.
#include "Dispatch.h"
#include "gpuc/Reference/Ops.h"

namespace gpuc::reference {
namespace {

/// Index i of an i32 or i64 tensor.
int64_t indexAt(const HostTensor &indices, int64_t i) {
  return indices.dtype() == DType::I32 ? indices.data<int32_t>()[i] : indices.data<int64_t>()[i];
}
Status checkOperands(const char *op, const HostTensor &data, const HostTensor &indices) {
  if (indices.dtype() != DType::I32 && indices.dtype() != DType::I64)
    return unsupportedType((std::string(op) + ": an index").c_str(), indices.dtype());
  return isByteSized(data.dtype()) ? Status() : unsupportedType(op, data.dtype());
}
/// Counts a negative index from the end; InvalidArgument outside [-extent, extent).
Status resolve(const char *op, int64_t &index, int64_t extent, int64_t axis) {
  if (index < -extent || index >= extent)
    return invalidArgument(std::string(op) + ": index " + std::to_string(index) + " is not in [" +
                           std::to_string(-extent) + ", " + std::to_string(extent) + ") of axis " +
                           std::to_string(axis));
  index += index < 0 ? extent : 0;
  return {};
}
void copyRun(const HostTensor &from, int64_t source, HostTensor &to, int64_t target, int64_t count) {
  int64_t size = elementBytes(from.dtype());
  if (count > 0)
    std::memcpy(to.mutableBytes() + target * size, from.bytes() + source * size, count * size);
}
int64_t product(const Shape &shape, size_t first, size_t last) {
  int64_t p = 1;
  for (size_t d = first; d < last; ++d)
    p *= shape[d];
  return p;
}

/// A private copy, because HostTensor shares its bytes.
Result<HostTensor> copyOf(const HostTensor &x) {
  auto result = allocate(x.dtype(), x.shape());
  if (result && x.sizeInBytes() > 0)
    std::memcpy(result->mutableBytes(), x.bytes(), x.sizeInBytes());
  return result;
}

template <typename V> V combine(ScatterReduction reduction, V a, V b) {
  // clang-format off
  switch (reduction) {
  case ScatterReduction::None: return b;
  case ScatterReduction::Min: return minOf(a, b);
  case ScatterReduction::Max: return maxOf(a, b);
  case ScatterReduction::Add:
  case ScatterReduction::Mul: break;
  }
  // clang-format on
  bool add = reduction == ScatterReduction::Add;
  if constexpr (std::is_same_v<V, bool>)
    return add ? a || b : a && b;
  else if constexpr (std::is_floating_point_v<V>)
    return add ? a + b : a * b;
  else
    return add ? V(uint64_t(a) + uint64_t(b)) : V(uint64_t(a) * uint64_t(b));
}

/// result[targets[i] + j] op= updates[i * run + j] for j < run; floats are rounded once, at the end.
Result<HostTensor> scatterRuns(const HostTensor &data, const HostTensor &updates,
                               const std::vector<int64_t> &targets, int64_t run, ScatterReduction reduction) {
  auto result = copyOf(data);
  if (!result)
    return result;
  if (reduction == ScatterReduction::None) {
    for (size_t i = 0; i < targets.size(); ++i)
      copyRun(updates, int64_t(i) * run, *result, targets[i], run);
    return result;
  }
  return dispatchAny("scatter", data.dtype(), [&](auto element) -> Result<HostTensor> {
    using E = decltype(element);
    using Storage = typename E::Storage;
    Storage *out = result->template mutableData<Storage>();
    std::vector<typename E::Value> values(data.size());
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = E::load(out[i]);
    for (size_t i = 0; i < targets.size(); ++i)
      for (int64_t j = 0; j < run; ++j)
        values[targets[i] + j] = combine<typename E::Value>(
            reduction, values[targets[i] + j], E::load(updates.data<Storage>()[int64_t(i) * run + j]));
    for (size_t i = 0; i < values.size(); ++i)
      out[i] = Storage(E::store(values[i]));
    return result;
  });
}

/// Offsets of the slices that the coordinate tuples in `indices` name; tuple t lives in batch t /
/// tuplesPerBatch.
Status resolveTuples(const char *op, const HostTensor &data, const HostTensor &indices, int64_t batchDims,
                     std::vector<int64_t> &offsets) {
  int64_t depth = indices.shape().back();
  int64_t tuples = product(indices.shape(), 0, indices.shape().size() - 1);
  int64_t perBatch = product(indices.shape(), batchDims, indices.shape().size() - 1);
  int64_t batchSize = product(data.shape(), batchDims, data.shape().size());
  std::vector<int64_t> strides = rowMajorStrides(data.shape());
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t offset = t / perBatch * batchSize;
    for (int64_t d = 0; d < depth; ++d) {
      int64_t index = indexAt(indices, t * depth + d), axis = batchDims + d;
      GPUC_RETURN_IF_ERROR(resolve(op, index, data.shape()[axis], axis));
      offset += index * strides[axis];
    }
    offsets.push_back(offset);
  }
  return {};
}

/// Shapes of the element-wise forms: one rank, and no axis but `axis` longer than data's.
Status checkElementwise(const char *op, const HostTensor &data, const HostTensor &indices, int64_t axis) {
  GPUC_RETURN_IF_ERROR(checkOperands(op, data, indices));
  GPUC_RETURN_IF_ERROR(checkAxis(op, axis, data.rank()));
  bool fits = indices.rank() == data.rank();
  for (int64_t d = 0; fits && d < data.rank(); ++d)
    fits = d == axis || indices.shape()[d] <= data.shape()[d];
  if (fits)
    return {};
  return invalidArgument(std::string(op) + ": indices of shape " + toString(indices.shape()) +
                         " do not fit data of " + toString(data.shape()) + " along axis " +
                         std::to_string(axis));
}
/// The element of data that every element of indices names.
Status resolveElements(const char *op, const HostTensor &data, const HostTensor &indices, int64_t axis,
                       std::vector<int64_t> &offsets) {
  std::vector<int64_t> strides = rowMajorStrides(data.shape());
  int64_t alongAxis = strides[axis];
  strides[axis] = 0;
  Odometer<1> at(indices.shape(), {strides});
  for (int64_t i = 0, e = indices.size(); i < e; ++i, at.next()) {
    int64_t index = indexAt(indices, i);
    GPUC_RETURN_IF_ERROR(resolve(op, index, data.shape()[axis], axis));
    offsets.push_back(at.offset() + index * alongAxis);
  }
  return {};
}

} // namespace

Result<HostTensor> gather(const HostTensor &data, const HostTensor &indices, int64_t axis) {
  GPUC_RETURN_IF_ERROR(checkOperands("gather", data, indices));
  GPUC_RETURN_IF_ERROR(checkAxis("gather", axis, data.rank()));
  Shape shape(data.shape().begin(), data.shape().begin() + axis);
  shape.insert(shape.end(), indices.shape().begin(), indices.shape().end());
  shape.insert(shape.end(), data.shape().begin() + axis + 1, data.shape().end());
  auto result = allocate(data.dtype(), shape);
  if (!result)
    return result;
  AxisSplit s(data.shape(), axis);
  int64_t count = indices.size();
  for (int64_t i = 0; i < count; ++i) {
    int64_t index = indexAt(indices, i);
    GPUC_RETURN_IF_ERROR(resolve("gather", index, s.extent, axis));
    for (int64_t o = 0; o < s.outer; ++o)
      copyRun(data, (o * s.extent + index) * s.inner, *result, (o * count + i) * s.inner, s.inner);
  }
  return result;
}

Result<HostTensor> gatherElements(const HostTensor &data, const HostTensor &indices, int64_t axis) {
  GPUC_RETURN_IF_ERROR(checkElementwise("gather_elements", data, indices, axis));
  std::vector<int64_t> offsets;
  GPUC_RETURN_IF_ERROR(resolveElements("gather_elements", data, indices, axis, offsets));
  auto result = allocate(data.dtype(), indices.shape());
  if (!result)
    return result;
  for (size_t i = 0; i < offsets.size(); ++i)
    copyRun(data, offsets[i], *result, int64_t(i), 1);
  return result;
}

Result<HostTensor> gatherNd(const HostTensor &data, const HostTensor &indices, int64_t batchDims) {
  GPUC_RETURN_IF_ERROR(checkOperands("gather_nd", data, indices));
  bool fits = indices.rank() >= 1 && batchDims >= 0 && batchDims < indices.rank() &&
              batchDims <= data.rank() && indices.shape().back() <= data.rank() - batchDims;
  for (int64_t d = 0; fits && d < batchDims; ++d)
    fits = data.shape()[d] == indices.shape()[d];
  if (!fits)
    return invalidArgument("gather_nd: indices of shape " + toString(indices.shape()) +
                           " do not fit data of " + toString(data.shape()) + " with " +
                           std::to_string(batchDims) + " batch axes");
  int64_t first = batchDims + indices.shape().back();
  Shape shape(indices.shape().begin(), indices.shape().end() - 1);
  shape.insert(shape.end(), data.shape().begin() + first, data.shape().end());
  std::vector<int64_t> offsets;
  GPUC_RETURN_IF_ERROR(resolveTuples("gather_nd", data, indices, batchDims, offsets));
  auto result = allocate(data.dtype(), shape);
  if (!result)
    return result;
  int64_t run = product(data.shape(), first, data.shape().size());
  for (size_t i = 0; i < offsets.size(); ++i)
    copyRun(data, offsets[i], *result, int64_t(i) * run, run);
  return result;
}

Result<HostTensor> scatterNd(const HostTensor &data, const HostTensor &indices, const HostTensor &updates,
                             ScatterReduction reduction) {
  GPUC_RETURN_IF_ERROR(checkOperands("scatter_nd", data, indices));
  GPUC_RETURN_IF_ERROR(checkSameType("scatter_nd", data, updates));
  bool fits = indices.rank() >= 1 && indices.shape().back() <= data.rank();
  Shape expected;
  if (fits) {
    expected.assign(indices.shape().begin(), indices.shape().end() - 1);
    expected.insert(expected.end(), data.shape().begin() + indices.shape().back(), data.shape().end());
  }
  if (!fits || updates.shape() != expected)
    return invalidArgument("scatter_nd: updates of shape " + toString(updates.shape()) + " and indices of " +
                           toString(indices.shape()) + " do not fit data of " + toString(data.shape()));
  std::vector<int64_t> offsets;
  GPUC_RETURN_IF_ERROR(resolveTuples("scatter_nd", data, indices, 0, offsets));
  int64_t run = product(data.shape(), indices.shape().back(), data.shape().size());
  return scatterRuns(data, updates, offsets, run, reduction);
}

Result<HostTensor> scatterElements(const HostTensor &data, const HostTensor &indices,
                                   const HostTensor &updates, int64_t axis, ScatterReduction reduction) {
  GPUC_RETURN_IF_ERROR(checkElementwise("scatter_elements", data, indices, axis));
  GPUC_RETURN_IF_ERROR(checkSameType("scatter_elements", data, updates));
  if (updates.shape() != indices.shape())
    return invalidArgument("scatter_elements: updates of shape " + toString(updates.shape()) +
                           " must have the shape of the indices, " + toString(indices.shape()));
  std::vector<int64_t> offsets;
  GPUC_RETURN_IF_ERROR(resolveElements("scatter_elements", data, indices, axis, offsets));
  return scatterRuns(data, updates, offsets, 1, reduction);
}

} // namespace gpuc::reference

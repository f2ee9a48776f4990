// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Batched matrix product with broadcast batch axes.
#include "Contraction.h"
#include "gpuc/Reference/Ops.h"

namespace gpuc::reference {
namespace {

template <typename A> void multiply(const HostTensor &a, const HostTensor &b, HostTensor &result) {
  const Shape &shape = result.shape();
  size_t batchRank = shape.size() - 2;
  int64_t m = shape[batchRank], n = shape[batchRank + 1], k = a.shape().back();
  auto batchOf = [](const HostTensor &t) { return Shape(t.shape().begin(), t.shape().end() - 2); };
  Shape batch(shape.begin(), shape.begin() + batchRank);
  std::vector<A> left = toAccumulators<A>(a), right = toAccumulators<A>(b), block(m * n);
  Odometer<2> at(batch, {broadcastStrides(batchOf(a), batch), broadcastStrides(batchOf(b), batch)});
  for (int64_t i = 0, e = numElements(batch); i < e; ++i, at.next()) {
    std::fill(block.begin(), block.end(), A(0));
    multiplyAdd(left.data() + at.offset(0) * m * k, right.data() + at.offset(1) * k * n, block.data(), m, n,
                k);
    storeAccumulators(block, result, i * m * n);
  }
}

} // namespace

Result<HostTensor> matmul(const HostTensor &a, const HostTensor &b) {
  GPUC_RETURN_IF_ERROR(checkSameType("matmul", a, b));
  if (!isComputeType(a.dtype()) || a.dtype() == DType::Bool)
    return unsupportedType("matmul", a.dtype());
  if (a.rank() < 2 || b.rank() < 2 || a.shape().back() != b.shape()[b.rank() - 2])
    return invalidArgument("matmul: can not multiply " + toString(a.shape()) + " with " +
                           toString(b.shape()));
  auto shape = broadcastShapes(Shape(a.shape().begin(), a.shape().end() - 2),
                               Shape(b.shape().begin(), b.shape().end() - 2));
  if (!shape)
    return shape.status();
  shape->push_back(a.shape()[a.rank() - 2]);
  shape->push_back(b.shape().back());
  auto result = allocate(a.dtype(), *shape);
  if (!result || result->size() == 0)
    return result;
  if (isFloat(a.dtype()))
    multiply<double>(a, b, *result);
  else
    multiply<uint64_t>(a, b, *result);
  return result;
}

} // namespace gpuc::reference

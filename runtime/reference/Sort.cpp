// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TopK by sorting the indices of each lane; equal elements compare by index.
#include "Dispatch.h"
#include "gpuc/Reference/Ops.h"
#include <algorithm>
#include <numeric>

namespace gpuc::reference {

Result<TopK> topk(const HostTensor &x, int64_t k, int64_t axis, bool largest, bool sorted) {
  GPUC_RETURN_IF_ERROR(checkAxis("topk", axis, x.rank()));
  if (k < 0 || k > x.shape()[axis])
    return invalidArgument("topk: k = " + std::to_string(k) + " is not in [0, " +
                           std::to_string(x.shape()[axis]) + "], the extent of axis " + std::to_string(axis));
  Shape shape = x.shape();
  shape[axis] = k;
  auto values = allocate(x.dtype(), shape);
  if (!values)
    return values.status();
  auto indices = allocate(DType::I64, shape);
  if (!indices)
    return indices.status();
  if (values->size() == 0)
    return TopK{values.take(), indices.take()};
  return dispatchNumeric("topk", x.dtype(), [&](auto element) -> Result<TopK> {
    using E = decltype(element);
    const auto *in = x.data<typename E::Storage>();
    auto *out = values->template mutableData<typename E::Storage>();
    int64_t *outIndex = indices->template mutableData<int64_t>();
    AxisSplit s(x.shape(), axis);
    std::vector<int64_t> order(s.extent);
    for (int64_t lane = 0; lane < s.outer * s.inner; ++lane) {
      int64_t outer = lane / s.inner, inner = lane % s.inner;
      auto at = [&](int64_t i) { return E::load(in[(outer * s.extent + i) * s.inner + inner]); };
      auto less = [&](auto a, auto b) { return a < b || (b != b && a == a); }; // NaN is the largest
      std::iota(order.begin(), order.end(), 0);
      std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        auto first = largest ? at(b) : at(a), second = largest ? at(a) : at(b);
        return less(first, second) || (!less(second, first) && a < b);
      });
      if (!sorted)
        std::sort(order.begin(), order.begin() + k);
      for (int64_t i = 0; i < k; ++i) {
        int64_t to = (outer * k + i) * s.inner + inner;
        out[to] = in[(outer * s.extent + order[i]) * s.inner + inner];
        outIndex[to] = order[i];
      }
    }
    return TopK{values.take(), indices.take()};
  });
}

} // namespace gpuc::reference

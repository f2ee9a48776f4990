// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling: one loop over all windows and their cells, and three ways to combine them.
#include "Dispatch.h"
#include "gpuc/Reference/Ops.h"

namespace gpuc::reference {
namespace {

Status checkPool(const char *op, const HostTensor &x, const PoolParams &p, const Shape &outputSpatial) {
  size_t r = outputSpatial.size();
  if (r < 1 || x.shape().size() != r + 2 || p.kernel.size() != r || p.strides.size() != r ||
      p.padLow.size() != r || p.padHigh.size() != r || p.dilations.size() != r)
    return invalidArgument(std::string(op) +
                           ": kernel, strides, pads and output need one entry per spatial axis of " +
                           toString(x.shape()));
  constexpr int64_t kLimit = int64_t(1) << 31; // keeps every product below 2^63
  for (size_t d = 0; d < r; ++d)
    for (int64_t v : {p.kernel[d] - 1, p.strides[d] - 1, p.dilations[d] - 1, p.padLow[d], p.padHigh[d]})
      if (v < 0 || v >= kLimit)
        return invalidArgument(std::string(op) + ": kernel, stride, dilation or pads of spatial axis " +
                               std::to_string(d) + " are out of range");
  return {};
}

/// Calls begin(output), cell(output, x position, spatial coordinate) for the real cells of its window, and
/// end(output, real cells, padded cells), for all outputs. Padded cells lie inside [-padLow, D + padHigh).
template <typename Begin, typename Cell, typename End>
void forEachWindow(const HostTensor &x, const PoolParams &p, const Shape &out, Begin begin, Cell cell,
                   End end) {
  size_t r = out.size();
  Shape in(x.shape().begin() + 2, x.shape().end());
  int64_t plane = numElements(in), outPlane = numElements(out), planes = x.shape()[0] * x.shape()[1];
  std::vector<int64_t> none(r, 0), first(r), last(r), k(r), at(r);
  for (int64_t c = 0; c < planes; ++c) {
    Odometer<1> position(out, {none});
    for (int64_t o = 0; o < outPlane; ++o, position.next()) {
      int64_t real = 1, padded = 1;
      for (size_t d = 0; d < r; ++d) {
        int64_t start = position.coordinates()[d] * p.strides[d] - p.padLow[d], step = p.dilations[d];
        // Number of taps before `bound`, among all taps of the window.
        auto tapsBefore = [&](int64_t bound) {
          return bound <= start ? 0 : std::min(p.kernel[d], (bound - start + step - 1) / step);
        };
        first[d] = tapsBefore(0);
        last[d] = tapsBefore(in[d]);
        real *= last[d] - first[d];
        padded *= tapsBefore(in[d] + p.padHigh[d]);
        k[d] = first[d];
      }
      int64_t output = c * outPlane + o;
      begin(output);
      for (int64_t i = 0; i < real; ++i) {
        int64_t linear = 0;
        for (size_t d = 0; d < r; ++d) {
          at[d] = position.coordinates()[d] * p.strides[d] - p.padLow[d] + k[d] * p.dilations[d];
          linear = linear * in[d] + at[d];
        }
        cell(output, c * plane + linear, at);
        for (size_t d = r; d-- > 0;) {
          if (++k[d] < last[d])
            break;
          k[d] = first[d];
        }
      }
      end(output, real, padded);
    }
  }
}

Shape withSpatial(const HostTensor &x, const Shape &spatial) {
  Shape shape(x.shape().begin(), x.shape().begin() + 2);
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return shape;
}

/// Position of a cell when its plane is stored column-major.
int64_t columnMajor(const HostTensor &x, int64_t position, const std::vector<int64_t> &at) {
  int64_t linear = 0, plane = 1;
  for (size_t d = at.size(); d-- > 0;) {
    linear = linear * x.shape()[d + 2] + at[d];
    plane *= x.shape()[d + 2];
  }
  return position / plane * plane + linear;
}

} // namespace

Result<HostTensor> maxPool(const HostTensor &x, const PoolParams &p, const Shape &outputSpatial) {
  GPUC_RETURN_IF_ERROR(checkPool("max_pool", x, p, outputSpatial));
  auto result = allocate(x.dtype(), withSpatial(x, outputSpatial));
  if (!result)
    return result;
  return dispatchNumeric("max_pool", x.dtype(), [&](auto element) -> Result<HostTensor> {
    using E = decltype(element);
    const auto *in = x.data<typename E::Storage>();
    auto *out = result->template mutableData<typename E::Storage>();
    typename E::Value best = E::lowest();
    forEachWindow(
        x, p, outputSpatial, [&](int64_t) { best = E::lowest(); },
        [&](int64_t, int64_t i, const auto &) { best = maxOf(best, E::load(in[i])); },
        [&](int64_t o, int64_t, int64_t) { out[o] = typename E::Storage(E::store(best)); });
    return result;
  });
}

Result<HostTensor> maxPoolIndices(const HostTensor &x, const PoolParams &p, const Shape &outputSpatial,
                                  int64_t storageOrder) {
  GPUC_RETURN_IF_ERROR(checkPool("max_pool", x, p, outputSpatial));
  if (storageOrder != 0 && storageOrder != 1)
    return invalidArgument("max_pool: storage_order must be 0 or 1, got " + std::to_string(storageOrder));
  auto result = allocate(DType::I64, withSpatial(x, outputSpatial));
  if (!result)
    return result;
  return dispatchNumeric("max_pool", x.dtype(), [&](auto element) -> Result<HostTensor> {
    using E = decltype(element);
    const auto *in = x.data<typename E::Storage>();
    int64_t *out = result->template mutableData<int64_t>();
    typename E::Value best = E::lowest();
    forEachWindow(
        x, p, outputSpatial, [&](int64_t o) { out[o] = -1; },
        [&](int64_t o, int64_t i, const auto &at) {
          auto v = E::load(in[i]);
          bool nan = v != v, bestIsNan = best != best;
          if (out[o] >= 0 && (bestIsNan || !(v > best || nan)))
            return;
          best = v;
          out[o] = storageOrder == 0 ? i : columnMajor(x, i, at);
        },
        [](int64_t, int64_t, int64_t) {});
    return result;
  });
}

Result<HostTensor> avgPool(const HostTensor &x, const PoolParams &p, const Shape &outputSpatial,
                           bool countIncludePad) {
  GPUC_RETURN_IF_ERROR(checkPool("avg_pool", x, p, outputSpatial));
  auto result = allocate(x.dtype(), withSpatial(x, outputSpatial));
  if (!result)
    return result;
  return dispatchFloat("avg_pool", x.dtype(), [&](auto element) -> Result<HostTensor> {
    using E = decltype(element);
    const auto *in = x.data<typename E::Storage>();
    auto *out = result->template mutableData<typename E::Storage>();
    double sum = 0;
    forEachWindow(
        x, p, outputSpatial, [&](int64_t) { sum = 0; },
        [&](int64_t, int64_t i, const auto &) { sum += E::load(in[i]); },
        [&](int64_t o, int64_t real, int64_t padded) {
          int64_t divisor = countIncludePad ? padded : real;
          out[o] = typename E::Storage(E::store(divisor == 0 ? 0 : sum / double(divisor)));
        });
    return result;
  });
}

} // namespace gpuc::reference

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of any spatial rank as matrix products: conv gathers columns (tap by position) and multiplies,
// the transposed form multiplies and scatters. Blocks of positions keep the columns small.
#include "Contraction.h"
#include "gpuc/Reference/Ops.h"
#include "gpuc/Support/CheckedMath.h"

namespace gpuc::reference {
namespace {

constexpr int64_t kBlock = 256; ///< positions gathered at a time

Shape spatial(const HostTensor &t) { return Shape(t.shape().begin() + 2, t.shape().end()); }

Status checkOperands(const char *op, const HostTensor &x, const HostTensor &w, const HostTensor *bias,
                     const ConvParams &p, int64_t outChannels) {
  size_t rank = x.shape().size();
  GPUC_RETURN_IF_ERROR(checkSameType(op, x, w));
  if (bias)
    GPUC_RETURN_IF_ERROR(checkSameType(op, x, *bias));
  if (!isComputeType(x.dtype()) || x.dtype() == DType::Bool)
    return unsupportedType(op, x.dtype());
  if (bias && bias->shape() != Shape{outChannels})
    return invalidArgument(std::string(op) + ": bias of shape " + toString(bias->shape()) + ", expected " +
                           std::to_string(outChannels));
  size_t r = rank - 2;
  if (p.strides.size() != r || p.dilations.size() != r || p.padLow.size() != r || p.padHigh.size() != r)
    return invalidArgument(std::string(op) + ": strides, dilations and pads need " + std::to_string(r) +
                           " entries");
  for (size_t d = 0; d < r; ++d) {
    constexpr int64_t kLimit = int64_t(1) << 31;
    if (p.strides[d] < 1 || p.dilations[d] < 1 || p.strides[d] > kLimit || p.dilations[d] > kLimit ||
        std::abs(p.padLow[d]) > kLimit || std::abs(p.padHigh[d]) > kLimit)
      return invalidArgument(std::string(op) + ": stride " + std::to_string(p.strides[d]) + ", dilation " +
                             std::to_string(p.dilations[d]) + " or pads of spatial axis " +
                             std::to_string(d) + " are out of range");
  }
  return {};
}

/// One spatial axis: where step `i` of the strided side and tap `k` meet on the other side.
int64_t meet(const ConvParams &p, size_t d, int64_t i, int64_t k) {
  return i * p.strides[d] + k * p.dilations[d] - p.padLow[d];
}

/// For each tap (rows) and each of `count` strided positions from `first` on (columns): the linear position
/// in `plane` that they meet at, or -1 outside.
void meetingPoints(const ConvParams &p, const Shape &strided, const Shape &kernel, const Shape &plane,
                   int64_t first, int64_t count, std::vector<int64_t> &points) {
  int64_t taps = numElements(kernel);
  points.assign(taps * count, 0);
  for (int64_t t = 0; t < taps; ++t)
    for (int64_t c = 0; c < count; ++c) {
      int64_t tap = t, position = first + c, scale = 1, linear = 0;
      for (size_t d = plane.size(); d-- > 0 && linear >= 0;) {
        int64_t at = meet(p, d, position % strided[d], tap % kernel[d]);
        linear = at >= 0 && at < plane[d] ? linear + at * scale : -1;
        scale *= plane[d];
        position /= strided[d];
        tap /= kernel[d];
      }
      points[t * count + c] = linear;
    }
}

template <typename A>
void convolve(const HostTensor &x, const HostTensor &w, const HostTensor *bias, const ConvParams &p,
              HostTensor &result) {
  int64_t group = p.group, perGroup = w.shape()[1], outputs = w.shape()[0] / group;
  Shape in = spatial(x), out = spatial(result), kernel = spatial(w);
  int64_t plane = numElements(in), positions = numElements(out), taps = numElements(kernel);
  std::vector<A> input = toAccumulators<A>(x), weights = toAccumulators<A>(w), biases;
  if (bias)
    biases = toAccumulators<A>(*bias);
  std::vector<int64_t> points;
  std::vector<A> columns, products, sums(result.size());
  for (int64_t first = 0; first < positions; first += kBlock) {
    int64_t count = std::min(kBlock, positions - first);
    meetingPoints(p, out, kernel, in, first, count, points);
    for (int64_t ng = 0; ng < x.shape()[0] * group; ++ng) {
      columns.resize(perGroup * taps * count);
      for (int64_t c = 0; c < perGroup; ++c)
        for (int64_t i = 0; i < taps * count; ++i)
          columns[c * taps * count + i] =
              points[i] < 0 ? A(0) : input[(ng * perGroup + c) * plane + points[i]];
      products.assign(outputs * count, A(0));
      int64_t g = ng % group;
      for (int64_t i = 0; bias && i < outputs * count; ++i)
        products[i] = biases[g * outputs + i / count];
      multiplyAdd(weights.data() + g * outputs * perGroup * taps, columns.data(), products.data(), outputs,
                  count, perGroup * taps);
      for (int64_t o = 0; o < outputs; ++o)
        std::copy_n(&products[o * count], count, &sums[(ng * outputs + o) * positions + first]);
    }
  }
  storeAccumulators(sums, result, 0);
}

template <typename A>
void convolveTransposed(const HostTensor &x, const HostTensor &w, const HostTensor *bias, const ConvParams &p,
                        HostTensor &result) {
  int64_t group = p.group, perGroup = w.shape()[0] / group, outputs = w.shape()[1];
  Shape in = spatial(x), out = spatial(result), kernel = spatial(w);
  int64_t plane = numElements(out), positions = numElements(in), taps = numElements(kernel);
  std::vector<A> input = toAccumulators<A>(x), weights = toAccumulators<A>(w), sums(result.size());
  if (bias) {
    std::vector<A> biases = toAccumulators<A>(*bias);
    for (size_t i = 0; i < sums.size(); ++i)
      sums[i] = biases[int64_t(i) / plane % (group * outputs)];
  }
  int64_t rows = outputs * taps;
  std::vector<A> transposed(weights.size()); // per group (rows, perGroup)
  for (int64_t i = 0; i < int64_t(weights.size()); ++i) {
    int64_t g = i / (perGroup * rows), c = i / rows % perGroup;
    transposed[(g * rows + i % rows) * perGroup + c] = weights[i];
  }
  std::vector<int64_t> points;
  std::vector<A> block, products;
  for (int64_t first = 0; first < positions; first += kBlock) {
    int64_t count = std::min(kBlock, positions - first);
    meetingPoints(p, in, kernel, out, first, count, points);
    for (int64_t ng = 0; ng < x.shape()[0] * group; ++ng) {
      block.resize(perGroup * count);
      for (int64_t c = 0; c < perGroup; ++c)
        std::copy_n(input.data() + (ng * perGroup + c) * positions + first, count, block.data() + c * count);
      products.assign(rows * count, A(0));
      multiplyAdd(transposed.data() + ng % group * rows * perGroup, block.data(), products.data(), rows,
                  count, perGroup);
      for (int64_t i = 0; i < rows * count; ++i)
        if (int64_t point = points[i % (taps * count)]; point >= 0)
          sums[(ng * outputs + i / (taps * count)) * plane + point] += products[i];
    }
  }
  storeAccumulators(sums, result, 0);
}

} // namespace

Result<HostTensor> conv(const HostTensor &x, const HostTensor &w, const HostTensor *bias,
                        const ConvParams &p) {
  if (x.rank() < 3 || w.rank() != x.rank() || p.group < 1 || w.shape()[1] > x.shape()[1] ||
      w.shape()[1] * p.group != x.shape()[1] || w.shape()[0] % p.group != 0)
    return invalidArgument("conv: weights of shape " + toString(w.shape()) + " in " +
                           std::to_string(p.group) + " groups do not fit x of shape " + toString(x.shape()));
  GPUC_RETURN_IF_ERROR(checkOperands("conv", x, w, bias, p, w.shape()[0]));
  Shape shape{x.shape()[0], w.shape()[0]};
  for (size_t d = 0; d < p.strides.size(); ++d) {
    int64_t kernel = w.shape()[d + 2];
    auto reach = checkedMul(p.dilations[d], kernel - 1);
    int64_t space = x.shape()[d + 2] + p.padLow[d] + p.padHigh[d] - 1;
    if (!reach || kernel < 1)
      return invalidArgument("conv: kernel extent " + std::to_string(kernel) + " of spatial axis " +
                             std::to_string(d) + " is out of range");
    shape.push_back(space < *reach ? 0 : (space - *reach) / p.strides[d] + 1);
  }
  auto result = allocate(x.dtype(), shape);
  if (!result || result->size() == 0)
    return result;
  if (isFloat(x.dtype()))
    convolve<double>(x, w, bias, p, *result);
  else
    convolve<uint64_t>(x, w, bias, p, *result);
  return result;
}

Result<HostTensor> convTranspose(const HostTensor &x, const HostTensor &w, const HostTensor *bias,
                                 const ConvParams &p, const Shape &outputShape) {
  if (x.rank() < 3 || w.rank() != x.rank() || p.group < 1 || w.shape()[0] != x.shape()[1] ||
      x.shape()[1] % p.group != 0 || outputShape.size() + 2 != x.shape().size())
    return invalidArgument("conv_transpose: weights of shape " + toString(w.shape()) + " in " +
                           std::to_string(p.group) + " groups and output " + toString(outputShape) +
                           " do not fit x of shape " + toString(x.shape()));
  auto outChannels = checkedMul(w.shape()[1], p.group);
  if (!outChannels)
    return invalidArgument("conv_transpose: " + std::to_string(p.group) + " groups are too many");
  GPUC_RETURN_IF_ERROR(checkOperands("conv_transpose", x, w, bias, p, *outChannels));
  Shape shape{x.shape()[0], *outChannels};
  shape.insert(shape.end(), outputShape.begin(), outputShape.end());
  auto result = allocate(x.dtype(), shape);
  if (!result || result->size() == 0)
    return result;
  if (isFloat(x.dtype()))
    convolveTransposed<double>(x, w, bias, p, *result);
  else
    convolveTransposed<uint64_t>(x, w, bias, p, *result);
  return result;
}

} // namespace gpuc::reference

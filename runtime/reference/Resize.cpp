// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resize: every axis gets a table of taps (source position and weight) per output position; linear and cubic
// apply the tables one axis after the other in double, nearest copies. Formulas: ONNX Resize 19 and its
// reference.
#include "Dispatch.h"
#include "gpuc/Reference/Ops.h"
#include <algorithm>

namespace gpuc::reference {
namespace {

struct Tap {
  int64_t source;
  double weight;
};
struct AxisTable {
  std::vector<std::vector<Tap>> taps; ///< per output position
  std::vector<bool> outside;          ///< TfCropAndResize: take the extrapolation value
  bool identity = true;
};

/// Where output position x of an axis lies in the input. A quotient is rounded only once when scale ==
/// out/in.
double sourceCoordinate(const ResizeParams &p, size_t axis, int64_t in, int64_t out, int64_t x) {
  double scale = p.scales[axis], resized = scale * double(in);
  bool exact = scale == double(out) / double(in);
  if (exact)
    resized = double(out);
  auto halfPixel = [&] {
    return exact ? double((2 * x + 1) * in - out) / double(2 * out) : (double(x) + 0.5) / scale - 0.5;
  };
  switch (p.coordinates) {
  case CoordinateMode::HalfPixel:
    return halfPixel();
  case CoordinateMode::HalfPixelSymmetric:
    return exact ? halfPixel() : double(in) / 2 * (1 - double(out) / resized) + halfPixel();
  case CoordinateMode::PytorchHalfPixel:
    return out > 1 ? halfPixel() : 0;
  case CoordinateMode::AlignCorners:
    return x == 0 || resized == 1 ? 0 : double(x * (in - 1)) / (resized - 1);
  case CoordinateMode::Asymmetric:
    return exact ? double(x * in) / double(out) : double(x) / scale;
  case CoordinateMode::TfHalfPixelForNn:
    return exact ? double((2 * x + 1) * in) / double(2 * out) : (double(x) + 0.5) / scale;
  case CoordinateMode::TfCropAndResize: {
    double start = p.roi.empty() ? 0 : p.roi[axis], end = p.roi.empty() ? 1 : p.roi[p.scales.size() + axis];
    if (resized == 1 || out == 1)
      return 0.5 * (start + end) * double(in - 1);
    return start * double(in - 1) + double(x) * (end - start) * double(in - 1) / (resized - 1);
  }
  }
  return 0;
}

double nearestPosition(const ResizeParams &p, double scale, double x) {
  // clang-format off
  switch (p.nearest) {
  case NearestMode::RoundPreferFloor: return std::ceil(x - 0.5);
  case NearestMode::RoundPreferCeil: return std::floor(x + 0.5);
  case NearestMode::Floor: return std::floor(x);
  case NearestMode::Ceil: return std::ceil(x);
  case NearestMode::Simple: return scale < 1 ? std::ceil(x) : std::trunc(x);
  }
  // clang-format on
  return x;
}

/// Interpolation kernel at distance d: triangle of half width 1, or Keys' cubic of half width 2.
double kernelWeight(const ResizeParams &p, double d) {
  d = std::fabs(d);
  if (p.mode == ResizeMode::Linear)
    return d < 1 ? 1 - d : 0;
  double a = p.cubicCoeffA;
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// Taps around coordinate x: all positions where the kernel, stretched when antialiasing shrinks, is not
/// zero.
std::vector<Tap> interpolationTaps(const ResizeParams &p, double scale, int64_t in, double x) {
  double stretch = p.antialias ? std::min(scale, 1.0) : 1.0;
  double radius = (p.mode == ResizeMode::Linear ? 1 : 2) / stretch;
  std::vector<Tap> taps;
  double sum = 0;
  for (int64_t i = int64_t(std::floor(x - radius)); i <= int64_t(std::ceil(x + radius)); ++i) {
    double weight = kernelWeight(p, (double(i) - x) * stretch);
    bool inside = i >= 0 && i < in;
    if (weight == 0 || (p.excludeOutside && !inside))
      continue;
    sum += weight;
    taps.push_back({std::clamp<int64_t>(i, 0, in - 1), weight});
  }
  if (p.antialias || p.excludeOutside)
    for (Tap &tap : taps)
      tap.weight /= sum;
  return taps;
}

AxisTable axisTable(const ResizeParams &p, size_t axis, int64_t in, int64_t out) {
  AxisTable table;
  table.identity = in == out;
  for (int64_t x = 0; x < out; ++x) {
    double at = sourceCoordinate(p, axis, in, out, x);
    bool outside = p.coordinates == CoordinateMode::TfCropAndResize && !(at >= 0 && at <= double(in - 1));
    table.outside.push_back(outside);
    at = at >= -double(in) - 4 ? std::min(at, 2 * double(in) + 4)
                               : -double(in) - 4; // beyond it nothing changes
    if (p.mode == ResizeMode::Nearest) {
      double position = std::clamp(nearestPosition(p, p.scales[axis], at), 0.0, double(in - 1));
      table.taps.push_back({{int64_t(position), 1}});
    } else {
      table.taps.push_back(interpolationTaps(p, p.scales[axis], in, at));
    }
    const auto &taps = table.taps.back();
    table.identity &= taps.size() == 1 && taps[0].source == x && taps[0].weight == 1;
  }
  return table;
}

/// One separable pass.
std::vector<double> applyAxis(const std::vector<double> &values, Shape &shape, int64_t axis,
                              const AxisTable &table) {
  AxisSplit s(shape, axis);
  int64_t out = int64_t(table.taps.size());
  std::vector<double> result(s.outer * out * s.inner);
  for (int64_t o = 0; o < s.outer; ++o)
    for (int64_t x = 0; x < out; ++x)
      for (const Tap &tap : table.taps[x]) {
        const double *from = &values[(o * s.extent + tap.source) * s.inner];
        double *to = &result[(o * out + x) * s.inner];
        for (int64_t i = 0; i < s.inner; ++i)
          to[i] += tap.weight * from[i];
      }
  shape[axis] = out;
  return result;
}

Status checkParams(const HostTensor &x, const ResizeParams &p) {
  size_t rank = x.shape().size();
  if (!isByteSized(x.dtype()) || (!isComputeType(x.dtype()) && p.mode != ResizeMode::Nearest) ||
      (x.dtype() == DType::Bool && p.mode != ResizeMode::Nearest))
    return unsupportedType("resize", x.dtype());
  if (p.outputShape.size() != rank || p.scales.size() != rank || (!p.roi.empty() && p.roi.size() != 2 * rank))
    return invalidArgument("resize: expected " + std::to_string(rank) +
                           " sizes and scales, and twice as many roi "
                           "numbers or none, got " +
                           std::to_string(p.outputShape.size()) + ", " + std::to_string(p.scales.size()) +
                           " and " + std::to_string(p.roi.size()));
  for (size_t d = 0; d < rank; ++d) {
    if (!(p.scales[d] > 0) || std::isinf(p.scales[d]) || (p.antialias && p.scales[d] < 1e-6))
      return invalidArgument("resize: scale " + std::to_string(p.scales[d]) + " of axis " +
                             std::to_string(d) + " is out of range");
    if (x.shape()[d] == 0 && p.outputShape[d] > 0)
      return invalidArgument("resize: axis " + std::to_string(d) + " is empty and can not become " +
                             std::to_string(p.outputShape[d]));
  }
  return {};
}

} // namespace

Result<HostTensor> resize(const HostTensor &x, const ResizeParams &p) {
  GPUC_RETURN_IF_ERROR(checkParams(x, p));
  auto result = allocate(x.dtype(), p.outputShape);
  if (!result || result->size() == 0)
    return result;
  int64_t rank = x.rank(), size = elementBytes(x.dtype());
  std::vector<AxisTable> tables;
  for (int64_t d = 0; d < rank; ++d)
    tables.push_back(axisTable(p, d, x.shape()[d], p.outputShape[d]));

  HostTensor values; // linear, cubic: all results, as double
  if (p.mode != ResizeMode::Nearest) {
    auto wide = cast(x, DType::F64);
    if (!wide)
      return wide;
    Shape shape = x.shape();
    std::vector<double> buffer(wide->data<double>(), wide->data<double>() + wide->size());
    for (int64_t d = rank - 1; d >= 0; --d)
      if (!tables[d].identity)
        buffer = applyAxis(buffer, shape, d, tables[d]);
    HostTensor interpolated(DType::F64, p.outputShape);
    std::copy(buffer.begin(), buffer.end(), interpolated.mutableData<double>());
    auto narrow = cast(interpolated, x.dtype());
    if (!narrow)
      return narrow;
    values = narrow.take();
  }
  HostTensor extrapolation(DType::F64, {});
  *extrapolation.mutableData<double>() = p.extrapolationValue;
  auto outsideValue = cast(extrapolation, x.dtype());
  if (!outsideValue)
    return outsideValue;

  std::vector<int64_t> strides = rowMajorStrides(x.shape()), none(rank, 0);
  Odometer<1> at(p.outputShape, {none});
  for (int64_t i = 0, e = result->size(); i < e; ++i, at.next()) {
    int64_t offset = 0;
    bool outside = false;
    for (int64_t d = 0; d < rank; ++d) {
      int64_t c = at.coordinates()[d];
      outside |= tables[d].outside[c];
      offset += p.mode == ResizeMode::Nearest ? tables[d].taps[c][0].source * strides[d] : 0;
    }
    const uint8_t *from = outside                         ? outsideValue->bytes()
                          : p.mode == ResizeMode::Nearest ? x.bytes() + offset * size
                                                          : values.bytes() + i * size;
    std::memcpy(result->mutableBytes() + i * size, from, size);
  }
  return result;
}

} // namespace gpuc::reference

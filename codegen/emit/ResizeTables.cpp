// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tap tables of Resize.
#include "ResizeTables.h"
#include "gpuc/IR/Types.h"
#include <algorithm>
#include <cmath>

namespace gpuc {
namespace {

/// What the formulas need to know of one axis.
struct Axis {
  ResizeOp op;
  unsigned axis, rank;
  int64_t in, out;
  double scale, resized;
  bool exact; ///< the scale is out/in: positions are quotients of integers, rounded once
};

double halfPixel(const Axis &a, int64_t x) {
  if (a.exact)
    return double((2 * x + 1) * a.in - a.out) / double(2 * a.out);
  return (double(x) + 0.5) / a.scale - 0.5;
}

double sourcePosition(const Axis &a, int64_t x) {
  ResizeOp op = a.op;
  switch (op.getCoordinate()) {
  case CoordinateMode::HalfPixel:
    return halfPixel(a, x);
  case CoordinateMode::HalfPixelSymmetric:
    return halfPixel(a, x) + (a.exact ? 0 : double(a.in) / 2 * (1 - double(a.out) / a.resized));
  case CoordinateMode::PytorchHalfPixel:
    return a.out > 1 ? halfPixel(a, x) : 0;
  case CoordinateMode::AlignCorners:
    return x == 0 || a.resized == 1 ? 0 : double(x * (a.in - 1)) / (a.resized - 1);
  case CoordinateMode::Asymmetric:
    return a.exact ? double(x * a.in) / double(a.out) : double(x) / a.scale;
  case CoordinateMode::TfHalfPixelForNn:
    return a.exact ? double((2 * x + 1) * a.in) / double(2 * a.out) : (double(x) + 0.5) / a.scale;
  case CoordinateMode::TfCropAndResize: {
    auto roi = op.getRoi();
    double start = roi.empty() ? 0 : roi[a.axis], end = roi.empty() ? 1 : roi[a.rank + a.axis];
    if (a.resized == 1 || a.out == 1)
      return 0.5 * (start + end) * double(a.in - 1);
    return start * double(a.in - 1) + double(x) * (end - start) * double(a.in - 1) / (a.resized - 1);
  }
  }
  return 0;
}

double nearest(NearestMode mode, double scale, double x) {
  switch (mode) {
  case NearestMode::RoundPreferFloor:
    return std::ceil(x - 0.5);
  case NearestMode::RoundPreferCeil:
    return std::floor(x + 0.5);
  case NearestMode::Floor:
    return std::floor(x);
  case NearestMode::Ceil:
    return std::ceil(x);
  case NearestMode::Simple:
    return scale < 1 ? std::ceil(x) : std::trunc(x);
  }
  return x;
}

/// Triangle of half width 1, or Keys' cubic of half width 2.
double kernelAt(ResizeMode mode, double coefficient, double distance) {
  double d = std::fabs(distance), a = coefficient;
  if (mode == ResizeMode::Linear)
    return std::max(0.0, 1 - d);
  if (d <= 1)
    return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

using Taps = std::vector<std::pair<int64_t, double>>;

Taps interpolate(const Axis &a, double x) {
  ResizeOp op = a.op;
  double stretch = op.getAntialias() ? std::min(a.scale, 1.0) : 1.0;
  double radius = (op.getMode() == ResizeMode::Linear ? 1 : 2) / stretch, sum = 0;
  double coefficient = op.getCubicCoeff().convertToDouble();
  Taps taps;
  for (int64_t i = int64_t(std::floor(x - radius)), e = int64_t(std::ceil(x + radius)); i <= e; ++i) {
    double w = kernelAt(op.getMode(), coefficient, (double(i) - x) * stretch);
    if (w == 0 || (op.getExcludeOutside() && (i < 0 || i >= a.in)))
      continue;
    sum += w;
    int64_t source = std::clamp<int64_t>(i, 0, a.in - 1);
    if (!taps.empty() && taps.back().first == source)
      taps.back().second += w; // several taps on the border are one
    else
      taps.push_back({source, w});
  }
  if (op.getAntialias() || op.getExcludeOutside())
    for (auto &tap : taps)
      tap.second /= sum;
  return taps;
}

} // namespace

ResizeAxis resizeAxis(ResizeOp op, unsigned axis) {
  auto from = shapeOf(op.getX()), to = shapeOf(op.getY());
  ResizeAxis r;
  r.in = from[axis];
  r.out = to[axis];
  double scale = op.getScales()[axis];
  Axis a{op, axis, unsigned(from.size()), r.in, r.out, scale, scale * double(r.in), false};
  a.exact = r.in > 0 && scale == double(r.out) / double(r.in);
  if (a.exact)
    a.resized = double(r.out);
  std::vector<Taps> all;
  r.identity = r.in == r.out;
  bool anyOutside = false;
  for (int64_t x = 0; x < r.out; ++x) {
    double at = sourcePosition(a, x);
    bool outside =
        op.getCoordinate() == CoordinateMode::TfCropAndResize && !(at >= 0 && at <= double(r.in - 1));
    anyOutside |= outside;
    r.outside.push_back(outside);
    at = at >= -double(r.in) - 4 ? std::min(at, 2 * double(r.in) + 4) : -double(r.in) - 4;
    if (op.getMode() == ResizeMode::Nearest)
      all.push_back({{int64_t(std::clamp(nearest(op.getNearest(), scale, at), 0.0, double(r.in - 1))), 1.0}});
    else
      all.push_back(interpolate(a, at));
    const Taps &taps = all.back();
    r.identity &= !outside && taps.size() == 1 && taps[0].first == x && taps[0].second == 1;
    r.taps = std::max<unsigned>(r.taps, unsigned(taps.size()));
  }
  if (!anyOutside)
    r.outside.clear();
  for (Taps &taps : all) {
    if (taps.empty())
      taps.push_back({0, 0.0});
    for (unsigned t = 0; t < r.taps; ++t) {
      r.source.push_back(taps[std::min<size_t>(t, taps.size() - 1)].first);
      r.weight.push_back(t < taps.size() ? taps[t].second : 0.0);
    }
  }
  return r;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resize and Upsample: sizes, scales, roi, axes and modes of all versions resolved into one core op.
#include "Emit.h"
#include "Families.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace mlir;

namespace gpuc::frontend {

using Doubles = SmallVector<double>;

struct ResizeSpec {
  ResizeMode mode = ResizeMode::Nearest;
  CoordinateMode coordinate = CoordinateMode::Asymmetric;
  NearestMode nearest = NearestMode::Simple;
  Doubles scales, roi; ///< roi: starts of all axes, then ends; empty unless tf_crop_and_resize
  Ints shape;
  double cubicCoeff = -0.75, extrapolation = 0;
  bool excludeOutside = false, antialias = false;
};

static LogicalResult emitResize(Emit &e, Value x, const ResizeSpec &s) {
  if (!e.sizeOk(s.shape))
    return failure();
  for (auto [i, extent] : llvm::enumerate(shapeOf(x)))
    if (extent == 0 && s.shape[i] != 0)
      return e.ctx.error("axis " + Twine(i) + " of input 0 is empty and can't be resized to " +
                         Twine(s.shape[i]));
  if (s.mode != ResizeMode::Nearest && elementTypeOf(x).isInteger(1))
    return e.ctx.error("bool is resized in mode 'nearest' only");
  bool unchanged = shapeOf(x) == ArrayRef<int64_t>(s.shape) &&
                   s.coordinate != CoordinateMode::TfCropAndResize &&
                   llvm::all_of(s.scales, [](double scale) { return scale == 1; });
  if (unchanged)
    return e.out(x);
  MLIRContext *c = e.mlirContext();
  Builder &b = e.ctx.builder();
  return e.out(e.ctx.create<ResizeOp>(
      Type(tensorType(x).clone(s.shape)), ResizeModeAttr::get(c, s.mode), x,
      CoordinateModeAttr::get(c, s.coordinate), NearestModeAttr::get(c, s.nearest),
      b.getDenseF64ArrayAttr(s.scales), b.getDenseF64ArrayAttr(s.roi), e.f64(s.cubicCoeff),
      b.getBoolAttr(s.excludeOutside), e.f64(s.extrapolation), b.getBoolAttr(s.antialias)));
}

/// The number that an f32 scale stands for: out/extent where that rounds to it, else its shortest decimal.
/// 3/0.6 is a coordinate of exactly 5, while 3/0.60000002 would fall just short of it.
static double intendedScale(double scale, int64_t extent, int64_t out) {
  float given = float(scale);
  double ratio = double(out) / double(std::max<int64_t>(extent, 1));
  if (float(ratio) == given)
    return ratio;
  for (int digits = 1; digits <= 9; ++digits) {
    char text[32];
    std::snprintf(text, sizeof(text), "%.*g", digits, double(given));
    double decimal = std::strtod(text, nullptr);
    if (float(decimal) == given)
      return decimal;
  }
  return scale;
}

/// Checks scales and computes floor(extent * scale) in f32, as ONNX's own shape inference does. The schema's
/// text has the roi in that product too, but no implementation does.
static bool applyScales(Emit &e, Value x, ResizeSpec &s) {
  ArrayRef<int64_t> shape = shapeOf(x);
  if (s.scales.size() != shape.size()) {
    e.fail("expected " + Twine(shape.size()) + " scales, got " + Twine(s.scales.size()));
    return false;
  }
  s.shape.clear();
  for (auto [i, extent] : llvm::enumerate(shape)) {
    double scale = s.scales[i];
    if (!(scale > 0) || !std::isfinite(scale)) {
      e.fail("the scale of axis " + Twine(i) + " is not positive");
      return false;
    }
    double size = std::floor(double(float(extent) * float(scale)));
    if (!(size >= 0 && size <= double(kMaxElements))) {
      e.fail("the scale of axis " + Twine(i) + " gives no reasonable extent");
      return false;
    }
    s.shape.push_back(scale == 1 ? extent : int64_t(size));
    s.scales[i] = intendedScale(scale, extent, s.shape.back());
  }
  return true;
}

//===--- Upsample, and Resize before 11: asymmetric coordinates -----------------------------------------===//

static LogicalResult scaleOnly(NodeContext &ctx, FailureOr<Doubles> scales, NearestMode nearest,
                               ArrayRef<StringRef> modes) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<std::string> mode = ctx.choiceAttr("mode", modes, "nearest");
  if (!x || failed(scales) || failed(mode))
    return failure();
  ResizeSpec s;
  s.mode = *mode == "nearest" ? ResizeMode::Nearest : ResizeMode::Linear;
  s.nearest = nearest;
  s.scales = *scales;
  return applyScales(e, x, s) ? emitResize(e, x, s) : failure();
}
static LogicalResult upsampleAttributes(NodeContext &ctx) {
  return scaleOnly(ctx, ctx.floatsAttr("scales"), NearestMode::Floor, {"nearest", "linear", "bilinear"});
}
static LogicalResult upsample(NodeContext &ctx) {
  return scaleOnly(ctx, ctx.floatsInput(1), NearestMode::Floor, {"nearest", "linear", "bilinear"});
}
static LogicalResult resize10(NodeContext &ctx) {
  return scaleOnly(ctx, ctx.floatsInput(1), NearestMode::Simple, {"nearest", "linear"});
}

//===--- Resize from 11 on ------------------------------------------------------------------------------===//

/// Modes and numbers. Version 13 dropped tf_half_pixel_for_nn, 19 added half_pixel_symmetric.
static bool readModes(Emit &e, ResizeSpec &s) {
  NodeContext &ctx = e.ctx;
  SmallVector<StringRef> coordinates = {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric",
                                        "tf_crop_and_resize"};
  if (ctx.since() < 13)
    coordinates.push_back("tf_half_pixel_for_nn");
  if (ctx.since() >= 19)
    coordinates.push_back("half_pixel_symmetric");
  FailureOr<std::string> mode = ctx.choiceAttr("mode", {"nearest", "linear", "cubic"}, "nearest");
  FailureOr<std::string> coordinate =
      ctx.choiceAttr("coordinate_transformation_mode", coordinates, "half_pixel");
  FailureOr<std::string> nearest = ctx.choiceAttr(
      "nearest_mode", {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"}, "round_prefer_floor");
  FailureOr<double> cubic = ctx.floatAttr("cubic_coeff_a", -0.75),
                    extra = ctx.floatAttr("extrapolation_value", 0);
  FailureOr<int64_t> exclude = ctx.intAttr("exclude_outside", 0), antialias = ctx.intAttr("antialias", 0);
  if (failed(mode) || failed(coordinate) || failed(nearest) || failed(cubic) || failed(extra) ||
      failed(exclude) || failed(antialias))
    return false;
  s.mode = *parseResizeMode(*mode);
  s.coordinate = *parseCoordinateMode(*coordinate);
  s.nearest = *parseNearestMode(*nearest);
  s.cubicCoeff = *cubic;
  s.extrapolation = *extra;
  s.excludeOutside = *exclude != 0;
  s.antialias = *antialias != 0 && s.mode != ResizeMode::Nearest;
  return true;
}

/// out = sizes, or with a keep_aspect_ratio_policy one common scale and rounded extents (halves up).
static bool applySizes(Emit &e, Value x, ArrayRef<int64_t> sizes, ArrayRef<int64_t> axes, ResizeSpec &s) {
  FailureOr<std::string> policy =
      e.ctx.choiceAttr("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}, "stretch");
  if (failed(policy))
    return false;
  ArrayRef<int64_t> shape = shapeOf(x);
  s.shape = Ints(shape);
  s.scales.assign(shape.size(), 1);
  std::optional<double> common;
  for (auto [size, axis] : llvm::zip(sizes, axes)) {
    if (size < 0 || size > kMaxElements) {
      e.fail("sizes hold " + Twine(size));
      return false;
    }
    if (shape[axis] == 0) {
      s.shape[axis] = size;
      continue;
    }
    double scale = double(size) / double(shape[axis]);
    s.shape[axis] = size;
    s.scales[axis] = size ? scale : 1; // an empty result has no coordinates
    common = !common ? scale : *policy == "not_larger" ? std::min(*common, scale) : std::max(*common, scale);
  }
  if (*policy == "stretch" || !common || !(*common > 0))
    return true;
  for (int64_t axis : axes) {
    double size = std::floor(*common * double(shape[axis]) + 0.5);
    if (size > double(kMaxElements)) {
      e.fail("sizes give an extent that is too large");
      return false;
    }
    s.shape[axis] = int64_t(size);
    s.scales[axis] = *common;
  }
  return true;
}

// Empty and absent 'scales' and 'sizes' are the same; 'roi' matters for tf_crop_and_resize only. 'axes'
// (since 18) says which axes the three lists are about, in which order.
static LogicalResult resize(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  ResizeSpec s;
  if (!x || !readModes(e, s))
    return failure();
  int64_t rank = tensorType(x).getRank();
  Ints all = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  FailureOr<Ints> list = ctx.intsAttr("axes", ArrayRef<int64_t>(all));
  FailureOr<std::optional<Doubles>> scales = ctx.optionalFloatsInput(2);
  FailureOr<std::optional<Ints>> sizes = ctx.optionalIntsInput(3);
  if (failed(list) || failed(scales) || failed(sizes))
    return failure();
  std::optional<Ints> axes = e.axes(*list, rank, "attribute 'axes'", /*sorted=*/false);
  if (!axes)
    return failure();
  if (s.coordinate == CoordinateMode::TfCropAndResize) {
    FailureOr<Doubles> roi = ctx.floatsInput(1);
    if (failed(roi))
      return failure();
    if (roi->size() != 2 * axes->size())
      return ctx.error("input 1 (roi) must hold " + Twine(2 * axes->size()) + " numbers, got " +
                       Twine(roi->size()));
    s.roi.assign(rank, 0);
    s.roi.append(rank, 1);
    for (auto [i, axis] : llvm::enumerate(*axes)) {
      s.roi[axis] = (*roi)[i];
      s.roi[axis + rank] = (*roi)[i + axes->size()];
    }
  }
  bool hasScales = *scales && !(*scales)->empty(), hasSizes = *sizes && !(*sizes)->empty();
  if (rank == 0)
    return ctx.setOutput(0, x);
  if (hasScales == hasSizes)
    return ctx.error("exactly one of 'scales' and 'sizes' must be given");
  if ((hasScales ? (*scales)->size() : (*sizes)->size()) != axes->size())
    return ctx.error("'scales' or 'sizes' must hold " + Twine(axes->size()) + " numbers");
  if (hasSizes)
    return applySizes(e, x, **sizes, *axes, s) ? emitResize(e, x, s) : failure();
  s.scales.assign(rank, 1);
  for (auto [scale, axis] : llvm::zip(**scales, *axes))
    s.scales[axis] = scale;
  return applyScales(e, x, s) ? emitResize(e, x, s) : failure();
}

void registerResizeOps(OpRegistry &r) {
  r.add("", "Upsample", {7}, upsampleAttributes);
  r.add("", "Upsample", {9}, upsample, {1});
  r.add("", "Resize", {10}, resize10, {1});
  r.add("", "Resize", {11, 13, 18, 19}, resize, {1, 2, 3});
}

} // namespace gpuc::frontend

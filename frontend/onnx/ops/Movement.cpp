// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators that move elements: permute, join, cut, pad, repeat.
#include "Emit.h"
#include "Families.h"
#include "gpuc/Support/CheckedMath.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;

namespace gpuc::frontend {

static LogicalResult transpose(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0, /*allowStorageType=*/true);
  if (!x)
    return failure();
  int64_t rank = tensorType(x).getRank();
  Ints reversed = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, rank)));
  FailureOr<Ints> perm = ctx.intsAttr("perm", ArrayRef<int64_t>(reversed));
  if (failed(perm))
    return failure();
  Ints sorted(*perm), straight(llvm::reverse(reversed));
  llvm::sort(sorted);
  if (sorted != straight)
    return ctx.error("attribute 'perm' is no permutation of the " + Twine(rank) + " axes");
  return e.out(e.transpose(x, *perm));
}

static LogicalResult concat(NodeContext &ctx) {
  Emit e(ctx);
  SmallVector<Value> xs = e.allInputs();
  FailureOr<int64_t> attr = ctx.intAttr("axis");
  if (xs.empty() || failed(attr))
    return failure();
  FailureOr<int64_t> axis = ctx.normalizeAxis(*attr, tensorType(xs[0]).getRank(), "attribute 'axis'");
  return failed(axis) ? failure() : e.out(e.concat(xs, *axis));
}

//===--- Split ------------------------------------------------------------------------------------------===//

static LogicalResult splitInto(NodeContext &ctx, Value x, int64_t axis, ArrayRef<int64_t> sizes) {
  Emit e(ctx);
  if (sizes.size() != ctx.numOutputs())
    return ctx.error("splits into " + Twine(sizes.size()) + " parts, but has " + Twine(ctx.numOutputs()) +
                     " outputs");
  std::optional<int64_t> total = 0;
  for (int64_t size : sizes)
    total = total && size >= 0 ? checkedAdd(*total, size) : std::nullopt;
  if (!total || *total != shapeOf(x)[axis])
    return ctx.error("the parts must be non-negative and add up to extent " + Twine(shapeOf(x)[axis]) +
                     " of axis " + Twine(axis));
  int64_t start = 0;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (ctx.outputUsed(i) && failed(e.out(i, e.slice(x, axis, start, size))))
      return failure();
    start += size;
  }
  return success();
}

// The sizes are an attribute before 13 and an input from then on; without them the parts are equal, except
// that from 18 on the last one may be smaller.
static LogicalResult split(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<int64_t> attr = ctx.intAttr("axis", 0);
  if (!x || failed(attr))
    return failure();
  FailureOr<int64_t> axis = ctx.normalizeAxis(*attr, tensorType(x).getRank(), "attribute 'axis'");
  if (failed(axis))
    return failure();
  std::optional<Ints> sizes;
  if (ctx.since() >= 13) {
    FailureOr<std::optional<Ints>> given = ctx.optionalIntsInput(1);
    if (failed(given))
      return failure();
    sizes = *given;
  } else if (ctx.hasAttr("split")) {
    FailureOr<Ints> given = ctx.intsAttr("split");
    if (failed(given))
      return failure();
    sizes = *given;
  }
  if (sizes)
    return splitInto(ctx, x, *axis, *sizes);
  int64_t extent = shapeOf(x)[*axis], count = ctx.numOutputs();
  if (ctx.since() >= 18) {
    FailureOr<int64_t> parts = ctx.intAttr("num_outputs", count);
    if (failed(parts))
      return failure();
    if (*parts != count)
      return ctx.error("attribute 'num_outputs' is " + Twine(*parts) + ", but there are " + Twine(count) +
                       " outputs");
  }
  if (count == 0)
    return ctx.error("has no outputs");
  if (ctx.since() < 18 && extent % count)
    return ctx.error("extent " + Twine(extent) + " does not split into " + Twine(count) + " equal parts");
  int64_t chunk = (extent + count - 1) / count;
  Ints equal(count, chunk);
  equal.back() = extent - chunk * (count - 1);
  return splitInto(ctx, x, *axis, equal);
}

//===--- Slice ------------------------------------------------------------------------------------------===//

// Negative bounds count from the end once and are then clamped: the usual sentinels are huge numbers.
static LogicalResult sliceWith(NodeContext &ctx, Value x, ArrayRef<int64_t> starts, ArrayRef<int64_t> ends,
                               std::optional<Ints> axesGiven, std::optional<Ints> stepsGiven) {
  Emit e(ctx);
  Ints axesList = axesGiven.value_or(llvm::to_vector(llvm::seq<int64_t>(0, int64_t(starts.size()))));
  Ints steps = stepsGiven.value_or(Ints(starts.size(), 1));
  if (ends.size() != starts.size() || axesList.size() != starts.size() || steps.size() != starts.size())
    return ctx.error("starts, ends, axes and steps have different lengths");
  Ints shape(shapeOf(x)), low(shape.size(), 0), stride(shape.size(), 1);
  std::optional<Ints> axes = e.axes(axesList, int64_t(shape.size()), "axes", /*sorted=*/false);
  if (!axes)
    return failure();
  for (auto [i, axis] : llvm::enumerate(*axes)) {
    int64_t dim = shape[axis], step = steps[i];
    if (step == 0)
      return ctx.error("the step of axis " + Twine(axis) + " is 0");
    auto bound = [&](int64_t v, int64_t least, int64_t most) {
      return std::clamp(v < 0 ? v + dim : v, least, most);
    };
    int64_t start, count;
    if (step > 0) {
      start = bound(starts[i], 0, dim);
      int64_t span = bound(ends[i], 0, dim) - start;
      count = span <= 0 ? 0 : (span - 1) / step + 1;
    } else {
      start = bound(starts[i], 0, std::max<int64_t>(dim - 1, 0));
      int64_t span = start - bound(ends[i], -1, std::max<int64_t>(dim - 1, -1));
      count = span <= 0 || dim == 0 ? 0 : int64_t(uint64_t(span - 1) / (0 - uint64_t(step))) + 1;
    }
    shape[axis] = count;
    low[axis] = count ? start : 0;
    stride[axis] = count > 1 ? step : 1; // a huge step that is never taken must not overflow later
  }
  if (shapeOf(x) == ArrayRef<int64_t>(shape) && llvm::all_of(stride, [](int64_t s) { return s == 1; }))
    return ctx.setOutput(0, x);
  return e.out(
      ctx.create<SliceOp>(x, ArrayRef<int64_t>(low), ArrayRef<int64_t>(stride), ArrayRef<int64_t>(shape)));
}
static LogicalResult sliceAttributes(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<Ints> starts = ctx.intsAttr("starts"), ends = ctx.intsAttr("ends");
  if (!x || failed(starts) || failed(ends))
    return failure();
  std::optional<Ints> axes;
  if (ctx.hasAttr("axes")) {
    FailureOr<Ints> given = ctx.intsAttr("axes");
    if (failed(given))
      return failure();
    axes = *given;
  }
  return sliceWith(ctx, x, *starts, *ends, axes, std::nullopt);
}
static LogicalResult slice(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<Ints> starts = ctx.intsInput(1), ends = ctx.intsInput(2);
  FailureOr<std::optional<Ints>> axes = ctx.optionalIntsInput(3), steps = ctx.optionalIntsInput(4);
  if (!x || failed(starts) || failed(ends) || failed(axes) || failed(steps))
    return failure();
  return sliceWith(ctx, x, *starts, *ends, *axes, *steps);
}

//===--- Pad, Tile --------------------------------------------------------------------------------------===//

// Negative amounts crop; beside a positive amount only the constant mode defines them.
static LogicalResult padWith(NodeContext &ctx, Value x, ArrayRef<int64_t> pads, ArrayRef<int64_t> axes,
                             Value value) {
  Emit e(ctx);
  FailureOr<std::string> name = ctx.choiceAttr("mode", {"constant", "reflect", "edge", "wrap"}, "constant");
  if (failed(name))
    return failure();
  if (*name == "wrap" && ctx.since() < 19)
    return ctx.error("attribute 'mode' is 'wrap', which exists from opset 19 on");
  PadMode mode = *parsePadMode(*name);
  if (pads.size() != 2 * axes.size())
    return ctx.error("expected " + Twine(2 * axes.size()) + " pads, got " + Twine(pads.size()));
  Ints shape(shapeOf(x)), low(shape.size(), 0), high(shape.size(), 0);
  bool grows = false, crops = false;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    low[axis] = pads[i];
    high[axis] = pads[i + axes.size()];
    grows |= low[axis] > 0 || high[axis] > 0;
    crops |= low[axis] < 0 || high[axis] < 0;
    int64_t extent = shape[axis], most = std::max(low[axis], high[axis]),
            least = std::min(low[axis], high[axis]);
    if (most > kMaxElements || least < -kMaxElements)
      return ctx.error("the pads of axis " + Twine(axis) + " are too large");
    if (mode == PadMode::Reflect && most > 0 && most >= extent)
      return ctx.error("axis " + Twine(axis) + " has extent " + Twine(extent) + ", too small to reflect " +
                       Twine(most) + " cells");
    if (mode != PadMode::Constant && most > 0 && extent == 0)
      return ctx.error("axis " + Twine(axis) + " is empty, there is nothing to copy into the pads");
    shape[axis] += low[axis] + high[axis];
    if (shape[axis] < 0)
      return ctx.error("the pads crop axis " + Twine(axis) + " of extent " + Twine(extent) +
                       " to a negative extent");
  }
  if (!e.sizeOk(shape))
    return failure();
  if (!grows && !crops)
    return ctx.setOutput(0, x);
  if (crops && mode != PadMode::Constant) {
    if (grows)
      return ctx.error("positive and negative pads together are supported in mode 'constant' only");
    mode = PadMode::Constant;
  }
  if (mode != PadMode::Constant)
    return e.out(ctx.create<PadOp>(PadModeAttr::get(e.mlirContext(), mode), x, Value(),
                                   ArrayRef<int64_t>(low), ArrayRef<int64_t>(high)));
  if (!value)
    value = e.scalar(0, x);
  if (!value || !e.sameType(x, value, "the constant value"))
    return failure();
  return e.out(e.pad(x, low, high, e.reshape(value, {})));
}
static LogicalResult padAttributes(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<Ints> pads = ctx.intsAttr("pads");
  FailureOr<double> value = ctx.floatAttr("value", 0);
  if (!x || failed(pads) || failed(value))
    return failure();
  return padWith(ctx, x, *pads, llvm::to_vector(llvm::seq<int64_t>(0, tensorType(x).getRank())),
                 e.scalar(*value, x));
}
static LogicalResult pad(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0), value = e.optional(2);
  FailureOr<Ints> pads = ctx.intsInput(1);
  FailureOr<std::optional<Ints>> list = ctx.optionalIntsInput(3);
  if (!x || e.failed || failed(pads) || failed(list))
    return failure();
  int64_t rank = tensorType(x).getRank();
  std::optional<Ints> axes = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (*list && !(axes = e.axes(**list, rank, "input 3 (axes)", /*sorted=*/false)))
    return failure();
  return padWith(ctx, x, *pads, *axes, value);
}

static LogicalResult tile(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<Ints> repeats = ctx.intsInput(1);
  if (!x || failed(repeats))
    return failure();
  Ints shape(shapeOf(x));
  if (repeats->size() != shape.size())
    return ctx.error("input 1 (repeats) must hold " + Twine(shape.size()) + " numbers, got " +
                     Twine(repeats->size()));
  bool any = false;
  for (auto [extent, count] : llvm::zip(shape, *repeats)) {
    if (count < 0)
      return ctx.error("input 1 (repeats) holds " + Twine(count));
    extent = checkedMul(extent, count).value_or(-1);
    any |= count != 1;
  }
  if (!e.sizeOk(shape))
    return failure();
  return any ? e.out(ctx.create<TileOp>(x, ArrayRef<int64_t>(*repeats))) : ctx.setOutput(0, x);
}

//===--- DepthToSpace, SpaceToDepth, Trilu --------------------------------------------------------------===//

template <bool toSpace> static LogicalResult depthSpace(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<int64_t> size = ctx.intAttr("blocksize");
  FailureOr<std::string> mode = ctx.choiceAttr("mode", {"DCR", "CRD"}, "DCR");
  if (!x || failed(size) || failed(mode))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(x);
  if (shape.size() != 4)
    return ctx.error("input 0 must have rank 4, got shape " + shapeText(shape));
  int64_t b = *size, n = shape[0], c = shape[1], h = shape[2], w = shape[3];
  if (b < 1 || b > (int64_t(1) << 20))
    return ctx.error("attribute 'blocksize' is " + Twine(b));
  if (toSpace) {
    if (c % (b * b))
      return ctx.error("the " + Twine(c) + " channels do not divide into blocks of " + Twine(b * b));
    int64_t d = c / (b * b);
    Value y = *mode == "DCR" ? e.transpose(e.reshape(x, {n, b, b, d, h, w}), {0, 3, 4, 1, 5, 2})
                             : e.transpose(e.reshape(x, {n, d, b, b, h, w}), {0, 1, 4, 2, 5, 3});
    return e.out(e.reshape(y, {n, d, h * b, w * b}));
  }
  if (h % b || w % b)
    return ctx.error("the " + shapeText({h, w}) + " plane does not divide into blocks of " + Twine(b));
  Value y = e.transpose(e.reshape(x, {n, c, h / b, b, w / b, b}), {0, 3, 5, 1, 2, 4});
  return e.out(e.reshape(y, {n, b * b * c, h / b, w / b}));
}

static LogicalResult trilu(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<std::optional<Ints>> k = ctx.optionalIntsInput(1);
  FailureOr<int64_t> upper = ctx.intAttr("upper", 1);
  if (!x || failed(k) || failed(upper))
    return failure();
  if (tensorType(x).getRank() < 2)
    return ctx.error("input 0 must have rank 2 or more, got shape " + shapeText(shapeOf(x)));
  if (*k && (*k)->size() != 1)
    return ctx.error("input 1 (k) must hold one number, got " + Twine((*k)->size()));
  int64_t diagonal = *k ? std::clamp((**k)[0], -kMaxElements, kMaxElements) : 0; // beyond, nothing changes
  return e.out(ctx.create<TriluOp>(x, uint64_t(diagonal), *upper != 0));
}

void registerMovementOps(OpRegistry &r) {
  r.add("", "Transpose", {1, 13, 21, 23, 24, 25}, transpose);
  r.add("", "Concat", {4, 11, 13}, concat);
  r.add("", "Split", {2, 11}, split);
  r.add("", "Split", {13, 18}, split, {1});
  r.add("", "Slice", {1}, sliceAttributes);
  r.add("", "Slice", {10, 11, 13}, slice, {1, 2, 3, 4});
  r.add("", "Pad", {2}, padAttributes);
  r.add("", "Pad", {11, 13, 18, 19, 21, 23, 24, 25}, pad, {1, 3},
        "cropping beside padding in mode 'constant' only; reflect pads smaller than the extent");
  r.add("", "Tile", {6, 13}, tile, {1});
  r.add("", "DepthToSpace", {1, 11, 13}, depthSpace<true>);
  r.add("", "SpaceToDepth", {1, 13}, depthSpace<false>);
  r.add("", "Trilu", {14}, trilu, {1});
}

} // namespace gpuc::frontend

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes: questions about them, changes of them that keep the order of the elements, and Identity and
// Dropout.
#include "Emit.h"
#include "Families.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/Support/CheckedMath.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;

namespace gpuc::frontend {

// start and end (since 15) count from the end when negative and are clamped.
static LogicalResult shapeOp(NodeContext &ctx) {
  FailureOr<Value> x = ctx.input(0, /*allowStorageType=*/true);
  FailureOr<int64_t> start = ctx.intAttr("start", 0);
  if (failed(x) || failed(start))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(*x);
  int64_t rank = int64_t(shape.size());
  FailureOr<int64_t> end = ctx.intAttr("end", rank);
  if (failed(end))
    return failure();
  auto clamp = [&](int64_t v) { return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank); };
  int64_t from = clamp(*start), count = std::max<int64_t>(clamp(*end) - from, 0);
  return ctx.setOutput(0, ctx.intsConstant(shape.slice(from, count), {count}));
}
static LogicalResult sizeOp(NodeContext &ctx) {
  FailureOr<Value> x = ctx.input(0, /*allowStorageType=*/true);
  if (failed(x))
    return failure();
  return ctx.setOutput(0, ctx.intsConstant({tensorType(*x).getNumElements()}, {}));
}

// 0 copies the input's extent unless allowzero (since 14) says that it means 0; -1 takes what is left.
static LogicalResult reshapeOp(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0, /*allowStorageType=*/true);
  FailureOr<Ints> shape = ctx.intsInput(1);
  FailureOr<int64_t> allowZero = ctx.intAttr("allowzero", 0);
  if (!x || failed(shape) || failed(allowZero))
    return failure();
  ArrayRef<int64_t> old = shapeOf(x);
  int64_t *rest = nullptr;
  for (auto [i, extent] : llvm::enumerate(*shape)) {
    if (extent == 0 && !*allowZero) {
      if (i >= old.size())
        return ctx.error("input 1 (shape) copies extent " + Twine(i) + ", which input 0 of shape " +
                         shapeText(old) + " does not have");
      extent = old[i];
    } else if (extent == -1) {
      if (rest)
        return ctx.error("input 1 (shape) has more than one -1");
      rest = &extent;
    } else if (extent < -1) {
      return ctx.error("input 1 (shape) holds " + Twine(extent));
    }
  }
  if (rest) {
    *rest = 1;
    std::optional<int64_t> others = checkedProduct(*shape);
    int64_t total = tensorType(x).getNumElements();
    if (!others || *others == 0 || total % *others)
      return ctx.error("the -1 of input 1 (shape) has no solution for a tensor of shape " + shapeText(old));
    *rest = total / *others;
  }
  return e.out(e.reshape(x, *shape));
}

// The axis may be the rank: everything becomes rows.
static LogicalResult flatten(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0, /*allowStorageType=*/true);
  FailureOr<int64_t> axis = ctx.intAttr("axis", 1);
  if (!x || failed(axis))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(x);
  int64_t rank = int64_t(shape.size());
  if (*axis < -rank || *axis > rank)
    return ctx.error("attribute 'axis' is " + Twine(*axis) + ", expected " + Twine(-rank) + " to " +
                     Twine(rank));
  int64_t at = *axis < 0 ? *axis + rank : *axis;
  std::optional<int64_t> rows = checkedProduct(shape.take_front(at)),
                         columns = checkedProduct(shape.drop_front(at));
  return e.out(e.reshape(x, {rows.value_or(-1), columns.value_or(-1)}));
}

//===--- Squeeze, Unsqueeze: axes are an attribute before 13, an input from then on ---------------------===//

static FailureOr<std::optional<Ints>> axesOf(NodeContext &ctx) {
  if (ctx.since() >= 13)
    return ctx.optionalIntsInput(1);
  if (!ctx.hasAttr("axes"))
    return std::optional<Ints>();
  FailureOr<Ints> axes = ctx.intsAttr("axes");
  if (failed(axes))
    return failure();
  return std::optional<Ints>(*axes);
}

static LogicalResult squeeze(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0, /*allowStorageType=*/true);
  FailureOr<std::optional<Ints>> list = axesOf(ctx);
  if (!x || failed(list))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(x);
  Ints result;
  if (!*list) {
    llvm::copy_if(shape, std::back_inserter(result), [](int64_t extent) { return extent != 1; });
    return e.out(e.reshape(x, result));
  }
  std::optional<Ints> axes = e.axes(**list, int64_t(shape.size()), "axes");
  if (!axes)
    return failure();
  for (auto [i, extent] : llvm::enumerate(shape)) {
    if (!llvm::is_contained(*axes, int64_t(i)))
      result.push_back(extent);
    else if (extent != 1)
      return ctx.error("axis " + Twine(i) + " has extent " + Twine(extent) +
                       ", only extent 1 can be removed");
  }
  return e.out(e.reshape(x, result));
}

static LogicalResult unsqueeze(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0, /*allowStorageType=*/true);
  FailureOr<std::optional<Ints>> list = axesOf(ctx);
  if (!x || failed(list))
    return failure();
  if (!*list)
    return ctx.error("axes are missing");
  std::optional<Ints> axes = e.axes(**list, tensorType(x).getRank() + int64_t((*list)->size()), "axes");
  if (!axes)
    return failure();
  Ints shape(shapeOf(x));
  for (int64_t axis : *axes)
    shape.insert(shape.begin() + axis, 1);
  return e.out(e.reshape(x, shape));
}

// Broadcasts both ways: an extent 1 of the shape keeps the input's.
static LogicalResult expand(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<Ints> shape = ctx.intsInput(1);
  if (!x || failed(shape) || !e.sizeOk(*shape))
    return failure();
  std::optional<Ints> result = e.broadcast(shapeOf(x), *shape);
  return result ? e.out(e.expand(x, *result)) : failure();
}

static LogicalResult identity(NodeContext &ctx) {
  FailureOr<Value> x = ctx.input(0, /*allowStorageType=*/true);
  return failed(x) ? failure() : ctx.setOutput(0, *x);
}

// Inference: the input itself, and a mask that keeps everything. Before 7 and from 12 on a node may ask for
// training, which is the same when nothing is dropped.
static LogicalResult dropout(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<int64_t> isTest = ctx.intAttr("is_test", ctx.since() < 7 ? 0 : 1);
  FailureOr<double> fixedRatio = ctx.floatAttr("ratio", 0.5);
  if (!x || failed(isTest) || failed(fixedRatio))
    return failure();
  if (*isTest == 0 && *fixedRatio != 0)
    return ctx.error("training mode is not supported: export the model for inference");
  if (ctx.since() >= 12 && ctx.hasInput(2)) {
    FailureOr<Value> training = ctx.input(2);
    if (failed(training))
      return failure();
    std::optional<Ints> flag = getInts(*training);
    if (!flag || flag->size() != 1)
      return ctx.error("input 2 (training_mode) must be one constant bool");
    if ((*flag)[0]) {
      FailureOr<std::optional<SmallVector<double>>> ratio = ctx.optionalFloatsInput(1);
      if (failed(ratio))
        return failure();
      if (!*ratio || (*ratio)->size() != 1 || (**ratio)[0] != 0)
        return ctx.error("training mode is not supported: export the model for inference");
    }
  }
  if (ctx.outputUsed(1)) {
    // Before 10 the mask has the data's type.
    Value one = ctx.since() >= 10 ? ctx.scalar(1, ctx.builder().getI1Type()) : e.scalar(1, x);
    if (failed(e.out(1, e.expand(one, shapeOf(x)))))
      return failure();
  }
  return ctx.setOutput(0, x);
}

void registerShapeOps(OpRegistry &r) {
  r.add("", "Shape", {1, 13, 15, 19, 21, 23, 24, 25}, shapeOp);
  r.add("", "Size", {1, 13, 19, 21, 23, 24, 25}, sizeOp);
  r.add("", "Reshape", {5, 13, 14, 19, 21, 23, 24, 25}, reshapeOp, {1});
  r.add("", "Flatten", {1, 9, 11, 13, 21, 23, 24, 25}, flatten);
  r.add("", "Squeeze", {1, 11}, squeeze);
  r.add("", "Squeeze", {13, 21, 23, 24, 25}, squeeze, {1});
  r.add("", "Unsqueeze", {1, 11}, unsqueeze);
  r.add("", "Unsqueeze", {13, 21, 23, 24, 25}, unsqueeze, {1});
  r.add("", "Expand", {8, 13}, expand, {1});
  r.add("", "Identity", {1, 13, 14, 16, 19, 21, 23, 24, 25}, identity, {}, "tensors only");
  r.add("", "Dropout", {6, 7, 10}, dropout);
  r.add("", "Dropout", {12, 13, 22}, dropout, {1, 2}, "inference only");
}

} // namespace gpuc::frontend

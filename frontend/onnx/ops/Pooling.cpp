// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pools over sliding windows, and over everything.
#include "Families.h"
#include "Window.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;

namespace gpuc::frontend {

/// The windows of a pool over `x`, and the shape of its result.
static std::optional<Window> poolWindow(Emit &e, Value x, Ints &shape) {
  ArrayRef<int64_t> xs = shapeOf(x);
  if (xs.size() < 3) {
    e.fail("input 0 must have rank 3 or more, got shape " + shapeText(xs));
    return std::nullopt;
  }
  FailureOr<int64_t> ceilMode = e.ctx.intAttr("ceil_mode", 0);
  std::optional<Ints> kernel = failed(ceilMode) ? std::nullopt : readKernelShape(e, {});
  std::optional<Window> w = kernel ? readWindowAttributes(e, xs.size() - 2, *kernel) : std::nullopt;
  if (!w || !resolveWindow(e, *w, xs.drop_front(2), *ceilMode != 0) ||
      !everyWindowHits(e, *w, xs.drop_front(2)))
    return std::nullopt;
  shape = {xs[0], xs[1]};
  shape.append(w->out);
  if (!e.sizeOk(shape))
    return std::nullopt;
  return w;
}

// storage_order concerns the flattening of the indices only.
static LogicalResult maxPool(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<int64_t> order = ctx.intAttr("storage_order", 0);
  Ints shape;
  std::optional<Window> w = x && succeeded(order) ? poolWindow(e, x, shape) : std::nullopt;
  if (!w)
    return failure();
  Type y = RankedTensorType::get(shape, elementTypeOf(x));
  Type indices = ctx.outputUsed(1) ? RankedTensorType::get(shape, ctx.builder().getI64Type()) : Type();
  SmallVector<Value> results = ctx.createMulti<MaxPoolOp>(
      y, indices, x, ArrayRef<int64_t>(w->kernel), ArrayRef<int64_t>(w->strides), ArrayRef<int64_t>(w->low),
      ArrayRef<int64_t>(w->high), ArrayRef<int64_t>(w->dilations), *order != 0);
  if (results.empty() || failed(e.out(0, results[0])))
    return failure();
  return indices ? e.out(1, results[1]) : success();
}

static LogicalResult averagePool(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<int64_t> includePad = ctx.intAttr("count_include_pad", 0);
  Ints shape;
  std::optional<Window> w =
      x && succeeded(includePad) && e.floatOnly(x) ? poolWindow(e, x, shape) : std::nullopt;
  if (!w)
    return failure();
  return e.out(ctx.create<AvgPoolOp>(Type(tensorType(x).clone(shape)), x, ArrayRef<int64_t>(w->kernel),
                                     ArrayRef<int64_t>(w->strides), ArrayRef<int64_t>(w->low),
                                     ArrayRef<int64_t>(w->high), ArrayRef<int64_t>(w->dilations),
                                     *includePad != 0));
}

/// (sum |x|^p)^(1/p), given a way to sum.
template <typename Sum> static Value lpNorm(Emit &e, Value x, int64_t p, Sum sum) {
  Value power = e.unary(UnaryKind::Abs, x);
  if (p == 2)
    power = e.mul(x, x);
  else if (p != 1)
    power = e.binary(BinaryKind::Pow, power, e.scalar(double(p), x));
  Value total = sum(power);
  if (p == 1)
    return total;
  return p == 2 ? e.unary(UnaryKind::Sqrt, total)
                : e.binary(BinaryKind::Pow, total, e.scalar(1.0 / double(p), x));
}
static FailureOr<int64_t> readP(NodeContext &ctx) {
  FailureOr<int64_t> p = ctx.intAttr("p", 2);
  if (succeeded(p) && (*p < 1 || *p > 1000))
    return ctx.error("attribute 'p' is " + Twine(*p) + ", expected 1 or more");
  return p;
}

// The sum over a window is a convolution of every plane with ones; cells in the padding are zero there.
static LogicalResult lpPool(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<int64_t> p = readP(ctx);
  Ints shape;
  std::optional<Window> w = x && succeeded(p) && e.floatOnly(x) ? poolWindow(e, x, shape) : std::nullopt;
  if (!w)
    return failure();
  ArrayRef<int64_t> xs = shapeOf(x);
  Ints planes{xs[0] * xs[1], 1}, ones{1, 1}, high(w->high);
  planes.append(xs.begin() + 2, xs.end());
  ones.append(w->kernel);
  for (size_t i = 0; i < high.size(); ++i)
    high[i] = std::max(high[i], (w->out[i] - 1) * w->strides[i] + w->reach(i) - xs[i + 2] - w->low[i]);
  if (!e.sizeOk(ones))
    return failure();
  Value y = lpNorm(e, x, *p, [&](Value power) -> Value {
    Value plane = e.reshape(power, planes), weights = e.expand(e.scalar(1, x), ones);
    if (!plane || !weights)
      return Value();
    Value sums =
        ctx.create<ConvOp>(plane, weights, Value(), ArrayRef<int64_t>(w->strides), ArrayRef<int64_t>(w->low),
                           ArrayRef<int64_t>(high), ArrayRef<int64_t>(w->dilations), uint64_t(1));
    return e.reshape(sums, shape);
  });
  return e.out(y);
}

template <typename Build> static LogicalResult globalPool(NodeContext &ctx, Build build) {
  Emit e(ctx);
  Value x = e.in(0);
  if (!x || !e.floatOnly(x))
    return failure();
  int64_t rank = tensorType(x).getRank();
  if (rank < 3)
    return ctx.error("input 0 must have rank 3 or more, got shape " + shapeText(shapeOf(x)));
  return e.out(build(e, x, llvm::to_vector(llvm::seq<int64_t>(2, rank))));
}
template <ReduceKind kind> static LogicalResult globalReduce(NodeContext &ctx) {
  return globalPool(ctx, [](Emit &e, Value x, const Ints &axes) { return e.reduce(kind, x, axes, true); });
}
static LogicalResult globalLpPool(NodeContext &ctx) {
  FailureOr<int64_t> p = readP(ctx);
  if (failed(p))
    return failure();
  return globalPool(ctx, [&](Emit &e, Value x, const Ints &axes) {
    return lpNorm(e, x, *p, [&](Value power) { return e.reduce(ReduceKind::Sum, power, axes, true); });
  });
}

void registerPoolingOps(OpRegistry &r) {
  r.add("", "MaxPool", {1, 8, 10, 11, 12, 22}, maxPool, {}, "every window holds a cell of the input");
  r.add("", "AveragePool", {1, 7, 10, 11, 19, 22}, averagePool, {}, "every window holds a cell of the input");
  r.add("", "LpPool", {2, 11, 18, 22}, lpPool, {}, "every window holds a cell of the input");
  r.add("", "GlobalAveragePool", {1, 22}, globalReduce<ReduceKind::Mean>);
  r.add("", "GlobalMaxPool", {1, 22}, globalReduce<ReduceKind::Max>);
  r.add("", "GlobalLpPool", {2, 22}, globalLpPool);
}

} // namespace gpuc::frontend

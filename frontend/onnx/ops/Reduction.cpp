// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, arg-reductions and scans along axes.
#include "Emit.h"
#include "Families.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace gpuc::frontend {

/// True when a reduction over no axes leaves the elements as they are.
static bool isIdentityPerElement(ReduceKind kind) {
  return kind == ReduceKind::Sum || kind == ReduceKind::Mean || kind == ReduceKind::Max ||
         kind == ReduceKind::Min || kind == ReduceKind::Prod || kind == ReduceKind::LogSumExp;
}

static LogicalResult reduceOver(NodeContext &ctx, ReduceKind kind, Value x, ArrayRef<int64_t> list,
                                bool noop) {
  Emit e(ctx);
  FailureOr<int64_t> keepdims = ctx.intAttr("keepdims", 1);
  if (failed(keepdims))
    return failure();
  int64_t rank = tensorType(x).getRank();
  std::optional<Ints> axes = e.axes(list, rank, "axes");
  if (!axes)
    return failure();
  if (axes->empty() && !noop)
    axes->assign(llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  if (axes->empty() && isIdentityPerElement(kind))
    return ctx.setOutput(0, x);
  DType type = dtypeOf(x);
  if (type == DType::Bool && kind != ReduceKind::Max && kind != ReduceKind::Min)
    return ctx.error("input 0 must be a number, got bool");
  return e.out(e.reduce(kind, x, *axes, *keepdims != 0));
}

// Axes as an attribute (before 13 for ReduceSum, before 18 for the others); absent or empty means all.
template <ReduceKind kind> static LogicalResult reduceAttr(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<Ints> axes = ctx.intsAttr("axes", ArrayRef<int64_t>());
  return !x || failed(axes) ? failure() : reduceOver(ctx, kind, x, *axes, /*noop=*/false);
}

// Axes as an input; absent or empty means all, or with noop_with_empty_axes only the elementwise part.
template <ReduceKind kind> static LogicalResult reduceInput(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<std::optional<Ints>> axes = ctx.optionalIntsInput(1);
  FailureOr<int64_t> noop = ctx.intAttr("noop_with_empty_axes", 0);
  if (!x || failed(axes) || failed(noop))
    return failure();
  return reduceOver(ctx, kind, x, axes->value_or(Ints()), *noop != 0);
}

template <bool isMax> static LogicalResult argReduce(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<int64_t> axisAttr = ctx.intAttr("axis", 0), keepdims = ctx.intAttr("keepdims", 1),
                     last = ctx.intAttr("select_last_index", 0);
  if (!x || failed(axisAttr) || failed(keepdims) || failed(last))
    return failure();
  FailureOr<int64_t> axis = ctx.normalizeAxis(*axisAttr, tensorType(x).getRank(), "attribute 'axis'");
  if (failed(axis))
    return failure();
  if (shapeOf(x)[*axis] == 0)
    return ctx.error("axis " + Twine(*axis) + " is empty, it has no largest or smallest element");
  return e.out(ctx.create<ArgReduceOp>(x, isMax, uint64_t(*axis), *keepdims != 0, *last != 0));
}

static LogicalResult cumSum(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<Ints> list = ctx.intsInput(1);
  FailureOr<int64_t> exclusive = ctx.intAttr("exclusive", 0), reverse = ctx.intAttr("reverse", 0);
  if (!x || failed(list) || failed(exclusive) || failed(reverse))
    return failure();
  if (list->size() != 1)
    return ctx.error("input 1 (axis) must hold one number, got " + Twine(list->size()));
  FailureOr<int64_t> axis = ctx.normalizeAxis((*list)[0], tensorType(x).getRank(), "input 1 (axis)");
  if (failed(axis))
    return failure();
  return e.out(ctx.create<CumSumOp>(x, uint64_t(*axis), *exclusive != 0, *reverse != 0));
}

void registerReductionOps(OpRegistry &r) {
  r.add("", "ReduceSum", {1, 11}, reduceAttr<ReduceKind::Sum>);
  r.add("", "ReduceSum", {13}, reduceInput<ReduceKind::Sum>, {1});
  r.add("", "ReduceMax", {1, 11, 12, 13}, reduceAttr<ReduceKind::Max>);
  r.add("", "ReduceMax", {18, 20}, reduceInput<ReduceKind::Max>, {1});
  r.add("", "ReduceMin", {1, 11, 12, 13}, reduceAttr<ReduceKind::Min>);
  r.add("", "ReduceMin", {18, 20}, reduceInput<ReduceKind::Min>, {1});
  auto add = [&](StringRef op, OpHandler attr, OpHandler input) {
    r.add("", op, {1, 11, 13}, attr);
    r.add("", op, {18}, input, {1});
  };
  add("ReduceMean", reduceAttr<ReduceKind::Mean>, reduceInput<ReduceKind::Mean>);
  add("ReduceProd", reduceAttr<ReduceKind::Prod>, reduceInput<ReduceKind::Prod>);
  add("ReduceL1", reduceAttr<ReduceKind::L1>, reduceInput<ReduceKind::L1>);
  add("ReduceL2", reduceAttr<ReduceKind::L2>, reduceInput<ReduceKind::L2>);
  add("ReduceLogSum", reduceAttr<ReduceKind::LogSum>, reduceInput<ReduceKind::LogSum>);
  add("ReduceLogSumExp", reduceAttr<ReduceKind::LogSumExp>, reduceInput<ReduceKind::LogSumExp>);
  add("ReduceSumSquare", reduceAttr<ReduceKind::SumSquare>, reduceInput<ReduceKind::SumSquare>);
  r.add("", "ArgMax", {1, 11, 12, 13}, argReduce<true>);
  r.add("", "ArgMin", {1, 11, 12, 13}, argReduce<false>);
  r.add("", "CumSum", {11, 14}, cumSum, {1});
}

} // namespace gpuc::frontend

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and writing at positions given by index tensors; negative indices count from the end.
#include "Emit.h"
#include "Families.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace gpuc::frontend {

/// An index operand, of type i32 or i64.
static Value indexInput(Emit &e, unsigned i) {
  Value v = e.in(i);
  if (v && !elementTypeOf(v).isSignlessInteger(32) && !elementTypeOf(v).isSignlessInteger(64))
    return e.fail("input " + Twine(i) + " (indices) must be int32 or int64");
  return v;
}
static FailureOr<int64_t> axisOf(NodeContext &ctx, Value data, int64_t dflt = 0) {
  FailureOr<int64_t> axis = ctx.intAttr("axis", dflt);
  if (failed(axis))
    return failure();
  return ctx.normalizeAxis(*axis, tensorType(data).getRank(), "attribute 'axis'");
}

static LogicalResult gather(NodeContext &ctx) {
  Emit e(ctx);
  Value data = e.in(0), indices = indexInput(e, 1);
  if (!data || !indices)
    return failure();
  FailureOr<int64_t> axis = axisOf(ctx, data);
  if (failed(axis))
    return failure();
  Ints shape(shapeOf(data).take_front(*axis));
  shape.append(shapeOf(indices).begin(), shapeOf(indices).end());
  shape.append(shapeOf(data).begin() + *axis + 1, shapeOf(data).end());
  if (!e.sizeOk(shape))
    return failure();
  if (shapeOf(data)[*axis] == 0 && tensorType(indices).getNumElements())
    return ctx.error("axis " + Twine(*axis) + " of input 0 is empty, there is nothing to gather");
  return e.out(ctx.create<GatherOp>(data, indices, uint64_t(*axis)));
}

/// True when `indices` has data's rank and, but for `axis`, no larger extents.
static bool elementIndicesFit(Emit &e, Value data, Value indices, int64_t axis) {
  ArrayRef<int64_t> d = shapeOf(data), i = shapeOf(indices);
  bool ok = d.size() == i.size();
  for (size_t a = 0; ok && a < d.size(); ++a)
    ok = int64_t(a) == axis ? d[a] > 0 || i[a] == 0 : i[a] <= d[a];
  if (!ok)
    e.fail("indices of shape " + shapeText(i) + " do not fit data of shape " + shapeText(d) + " along axis " +
           Twine(axis));
  return ok;
}

static LogicalResult gatherElements(NodeContext &ctx) {
  Emit e(ctx);
  Value data = e.in(0), indices = indexInput(e, 1);
  if (!data || !indices)
    return failure();
  FailureOr<int64_t> axis = axisOf(ctx, data);
  if (failed(axis) || !elementIndicesFit(e, data, indices, *axis))
    return failure();
  return e.out(ctx.create<GatherElementsOp>(data, indices, uint64_t(*axis)));
}

// The index depth is the last extent of the indices, whatever their rank; the other axes of data are copied
// whole.
static LogicalResult gatherNd(NodeContext &ctx) {
  Emit e(ctx);
  Value data = e.in(0), indices = indexInput(e, 1);
  FailureOr<int64_t> batchAttr = ctx.intAttr("batch_dims", 0);
  if (!data || !indices || failed(batchAttr))
    return failure();
  ArrayRef<int64_t> d = shapeOf(data), i = shapeOf(indices);
  int64_t r = int64_t(d.size()), q = int64_t(i.size()), b = *batchAttr;
  if (b < 0 || b >= std::min(r, q) || d.take_front(b) != i.take_front(b))
    return ctx.error("attribute 'batch_dims' is " + Twine(b) + ", which does not fit data " + shapeText(d) +
                     " and indices " + shapeText(i));
  int64_t depth = i.back();
  if (depth < 1 || depth > r - b)
    return ctx.error("the last extent of the indices is " + Twine(depth) + ", expected 1 to " + Twine(r - b));
  Ints shape(i.drop_back());
  shape.append(d.begin() + b + depth, d.end());
  if (!e.sizeOk(shape))
    return failure();
  return e.out(ctx.create<GatherNdOp>(data, indices, uint64_t(b)));
}

/// Attribute 'reduction': add and mul exist since 16, min and max since 18.
static FailureOr<ScatterReduction> reductionOf(NodeContext &ctx) {
  static const StringRef names[] = {"none", "add", "mul", "min", "max"};
  size_t known = ctx.since() >= 18 ? 5 : ctx.since() >= 16 ? 3 : 1;
  FailureOr<std::string> name = ctx.choiceAttr("reduction", ArrayRef<StringRef>(names, known), "none");
  if (failed(name))
    return failure();
  return *parseScatterReduction(*name);
}

static LogicalResult scatterNd(NodeContext &ctx) {
  Emit e(ctx);
  Value data = e.in(0), indices = indexInput(e, 1), updates = e.in(2);
  FailureOr<ScatterReduction> reduction = reductionOf(ctx);
  if (!data || !indices || !updates || failed(reduction) || !e.sameType(data, updates, "input 2 (updates)"))
    return failure();
  ArrayRef<int64_t> d = shapeOf(data), i = shapeOf(indices);
  if (i.empty() || i.back() < 1 || i.back() > int64_t(d.size()))
    return ctx.error("indices of shape " + shapeText(i) + " do not address data of shape " + shapeText(d));
  Ints expected(i.drop_back());
  expected.append(d.begin() + i.back(), d.end());
  if (shapeOf(updates) != ArrayRef<int64_t>(expected))
    return ctx.error("updates have shape " + shapeText(shapeOf(updates)) + ", expected " +
                     shapeText(expected));
  return e.out(ctx.create<ScatterNdOp>(ScatterReductionAttr::get(e.mlirContext(), *reduction), data, indices,
                                       updates));
}

static LogicalResult scatterElements(NodeContext &ctx) {
  Emit e(ctx);
  Value data = e.in(0), indices = indexInput(e, 1), updates = e.in(2);
  FailureOr<ScatterReduction> reduction = reductionOf(ctx);
  if (!data || !indices || !updates || failed(reduction) || !e.sameType(data, updates, "input 2 (updates)"))
    return failure();
  FailureOr<int64_t> axis = axisOf(ctx, data);
  if (failed(axis) || !elementIndicesFit(e, data, indices, *axis))
    return failure();
  if (shapeOf(indices) != shapeOf(updates))
    return ctx.error("updates have shape " + shapeText(shapeOf(updates)) + ", the indices " +
                     shapeText(shapeOf(indices)));
  return e.out(ctx.create<ScatterElementsOp>(ScatterReductionAttr::get(e.mlirContext(), *reduction), data,
                                             indices, updates, uint64_t(*axis)));
}

// An index outside [-depth, depth) gives a row of the off value.
static LogicalResult oneHot(NodeContext &ctx) {
  Emit e(ctx);
  Value indices = e.in(0), values = e.in(2), depthValue = e.in(1);
  FailureOr<int64_t> attr = ctx.intAttr("axis", -1);
  if (!indices || !values || !depthValue || failed(attr))
    return failure();
  int64_t depth = 0;
  if (isa<FloatType>(elementTypeOf(depthValue))) {
    auto list = ctx.floatsInput(1);
    if (failed(list))
      return failure();
    depth =
        list->size() == 1 && (*list)[0] >= 0 && (*list)[0] < double(kMaxElements) ? int64_t((*list)[0]) : -1;
  } else {
    FailureOr<Ints> list = ctx.intsInput(1);
    if (failed(list))
      return failure();
    depth = list->size() == 1 ? (*list)[0] : -1;
  }
  if (depth < 0 || depth > (int64_t(1) << 30))
    return ctx.error("input 1 (depth) must hold one reasonable number");
  if (shapeOf(values) != ArrayRef<int64_t>({2}))
    return ctx.error("input 2 (values) must have shape 2, got " + shapeText(shapeOf(values)));
  Ints shape(shapeOf(indices));
  FailureOr<int64_t> axis = ctx.normalizeAxis(*attr, int64_t(shape.size()) + 1, "attribute 'axis'");
  if (failed(axis))
    return failure();
  Ints result(shape), columns(shape.size() + 1, 1);
  result.insert(result.begin() + *axis, depth);
  columns[*axis] = depth;
  if (!e.sizeOk(result))
    return failure();
  Type i64 = ctx.builder().getI64Type();
  Value row = e.reshape(e.iota(depth), columns), index = e.unsqueeze(e.cast(indices, i64), *axis);
  Value fromEnd = e.add(index, ctx.scalar(double(depth), i64));
  Value hit =
      e.binary(BinaryKind::Or, e.binary(BinaryKind::Eq, index, row), e.binary(BinaryKind::Eq, fromEnd, row));
  Value off = e.reshape(e.slice(values, 0, 0, 1), {}), on = e.reshape(e.slice(values, 0, 1, 1), {});
  return e.out(e.select(hit, on, off));
}

void registerIndexingOps(OpRegistry &r) {
  r.add("", "Gather", {1, 11, 13}, gather);
  r.add("", "GatherElements", {11, 13}, gatherElements);
  r.add("", "GatherND", {11, 12, 13}, gatherNd);
  r.add("", "ScatterND", {11, 13, 16, 18}, scatterNd);
  r.add("", "Scatter", {9}, scatterElements);
  r.add("", "ScatterElements", {11, 13, 16, 18}, scatterElements);
  r.add("", "OneHot", {9, 11}, oneHot, {1});
}

} // namespace gpuc::frontend

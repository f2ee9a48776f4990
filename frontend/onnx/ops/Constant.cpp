// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants and tensors that are known from their operands alone.
#include "Emit.h"
#include "Families.h"
#include "gpuc/IR/Constants.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;

namespace gpuc::frontend {

// Exactly one of the value attributes; a sparse tensor is made dense.
static LogicalResult constant(NodeContext &ctx) {
  Emit e(ctx);
  static const StringRef forms[] = {"value",       "sparse_value", "value_int",    "value_ints",
                                    "value_float", "value_floats", "value_string", "value_strings"};
  StringRef form;
  for (StringRef name : forms) {
    if (!ctx.hasAttr(name))
      continue;
    if (!form.empty())
      return ctx.error("has both attribute '" + form + "' and '" + name + "', expected one value");
    form = name;
  }
  if (form == "value" || form == "sparse_value") {
    FailureOr<ElementsAttr> value = ctx.tensorAttr(form);
    return failed(value) ? failure() : e.out(ctx.constant(*value));
  }
  if (form == "value_int" || form == "value_ints") {
    bool list = form == "value_ints";
    FailureOr<Ints> values = list ? ctx.intsAttr(form) : FailureOr<Ints>(Ints());
    FailureOr<int64_t> one = list ? FailureOr<int64_t>(0) : ctx.intAttr(form);
    if (failed(values) || failed(one))
      return failure();
    return e.out(list ? ctx.intsConstant(*values, {int64_t(values->size())}) : ctx.intsConstant({*one}, {}));
  }
  if (form == "value_float" || form == "value_floats") {
    bool list = form == "value_floats";
    auto values = list ? ctx.floatsAttr(form) : FailureOr<SmallVector<double>>(SmallVector<double>());
    FailureOr<double> one = list ? FailureOr<double>(0.0) : ctx.floatAttr(form);
    if (failed(values) || failed(one))
      return failure();
    if (!list)
      values->push_back(*one);
    HostTensor t(DType::F32, list ? Shape{int64_t(values->size())} : Shape{});
    for (auto [i, v] : llvm::enumerate(*values))
      t.mutableData<float>()[i] = float(v);
    return e.out(e.constant(t));
  }
  if (form.empty())
    return ctx.error("has no value attribute");
  return ctx.error("attribute '" + form + "' holds strings, which are not supported");
}

// The value is a one-element tensor, 0 of type float when absent. The result is a splat, whatever its size.
static LogicalResult constantOfShape(NodeContext &ctx) {
  Emit e(ctx);
  FailureOr<Ints> shape = ctx.intsInput(0);
  if (failed(shape) || !e.sizeOk(*shape))
    return failure();
  Value one;
  if (ctx.hasAttr("value")) {
    FailureOr<ElementsAttr> value = ctx.tensorAttr("value");
    if (failed(value) || !(one = ctx.constant(*value)))
      return failure();
    if (tensorType(one).getNumElements() != 1)
      return ctx.error("attribute 'value' must hold one element, got shape " + shapeText(shapeOf(one)));
  } else {
    one = ctx.scalar(0, ctx.builder().getF32Type());
  }
  DType type = dtypeOf(one);
  if (!isComputeType(type))
    return ctx.error("the element type " + Twine(name(type).data()) + " is not supported");
  auto splat = dyn_cast_or_null<DenseElementsAttr>(getConstant(one));
  auto result = RankedTensorType::get(*shape, elementTypeOf(one));
  if (result.getNumElements() == 0)
    return e.out(e.constant(HostTensor(type, Shape(shape->begin(), shape->end()))));
  if (splat && splat.isSplat())
    return e.out(ctx.constant(splat.resizeSplat(result)));
  return e.out(e.expand(e.reshape(one, {}), *shape));
}

//===--- Range ------------------------------------------------------------------------------------------===//

/// One constant number of any integer type.
static std::optional<int64_t> oneInt(NodeContext &ctx, unsigned i) {
  FailureOr<Value> v = ctx.input(i);
  if (failed(v))
    return std::nullopt;
  std::optional<Ints> list = getInts(*v);
  if (list && list->size() == 1)
    return (*list)[0];
  (void)ctx.error("input " + Twine(i) + " must be one number that is known when compiling");
  return std::nullopt;
}

// max(ceil((limit - start) / delta), 0) numbers start + i * delta, computed in double and rounded once.
static LogicalResult range(NodeContext &ctx) {
  Emit e(ctx);
  Value start = e.in(0), limit = e.in(1), delta = e.in(2);
  if (!start || !limit || !delta || !e.sameType(start, limit, "input 1 (limit)") ||
      !e.sameType(start, delta, "input 2 (delta)"))
    return failure();
  Type type = elementTypeOf(start);
  if (isa<FloatType>(type)) {
    double v[3];
    for (unsigned i = 0; i < 3; ++i) {
      auto list = ctx.floatsInput(i);
      if (failed(list))
        return failure();
      if (list->size() != 1)
        return ctx.error("input " + Twine(i) + " must be a scalar");
      v[i] = (*list)[0];
    }
    double count = std::ceil((v[1] - v[0]) / v[2]);
    if (v[2] == 0 || !(count < double(int64_t(1) << 31)))
      return ctx.error("the range has no reasonable number of elements");
    HostTensor t(DType::F64, {int64_t(std::max(count, 0.0))});
    for (int64_t i = 0; i < t.size(); ++i)
      t.mutableData<double>()[i] = v[0] + double(i) * v[2];
    return e.out(e.cast(e.constant(t), type));
  }
  std::optional<int64_t> from = oneInt(ctx, 0), to = oneInt(ctx, 1), step = oneInt(ctx, 2);
  if (!from || !to || !step)
    return failure();
  if (*step == 0)
    return ctx.error("input 2 (delta) is 0");
  bool up = *step > 0, any = up ? *from < *to : *from > *to;
  uint64_t span = up ? uint64_t(*to) - uint64_t(*from) : uint64_t(*from) - uint64_t(*to);
  uint64_t stride = up ? uint64_t(*step) : 0 - uint64_t(*step);
  uint64_t count = any ? (span - 1) / stride + 1 : 0;
  if (count >= uint64_t(1) << 31)
    return ctx.error("the range has too many elements");
  HostTensor t(DType::I64, {int64_t(count)});
  for (uint64_t i = 0; i < count; ++i)
    t.mutableData<int64_t>()[i] = int64_t(uint64_t(*from) + i * uint64_t(*step));
  return e.out(e.cast(e.constant(t), type));
}

// Ones on the k-th diagonal; the type is attribute 'dtype', else the input's.
static LogicalResult eyeLike(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<int64_t> k = ctx.intAttr("k", 0);
  if (!x || failed(k))
    return failure();
  Type type = elementTypeOf(x);
  if (ctx.hasAttr("dtype")) {
    FailureOr<Type> named = ctx.elementTypeAttr("dtype");
    if (failed(named))
      return failure();
    if (!isComputeType(*toDType(*named)))
      return ctx.error("attribute 'dtype' names a type that is not computed with");
    type = *named;
  }
  ArrayRef<int64_t> shape = shapeOf(x);
  if (shape.size() != 2 || *k < -kMaxElements || *k > kMaxElements)
    return ctx.error("needs a matrix and a reasonable k, got shape " + shapeText(shape) +
                     " and k = " + Twine(*k));
  Value row = e.reshape(e.iota(shape[0]), {shape[0], 1}), column = e.iota(shape[1]);
  Value hit =
      e.binary(BinaryKind::Eq, e.add(row, ctx.scalar(double(*k), ctx.builder().getI64Type())), column);
  return e.out(e.cast(hit, type));
}

void registerConstantOps(OpRegistry &r) {
  r.add("", "Constant", {1, 9, 11, 12, 13, 19, 21, 23, 24, 25}, constant, {}, "no strings");
  r.add("", "ConstantOfShape", {9, 20, 21, 23, 24, 25}, constantOfShape, {0});
  r.add("", "Range", {11, 27}, range, {0, 1, 2});
  r.add("", "EyeLike", {9, 22}, eyeLike);
}

} // namespace gpuc::frontend

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Checked builders for the operator handlers.
#include "Emit.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/Support/CheckedMath.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;

namespace gpuc::frontend {

std::string shapeText(ArrayRef<int64_t> shape) { return toString(Shape(shape.begin(), shape.end())); }

static std::string typeText(Value v) {
  std::string_view text = name(dtypeOf(v));
  return std::string(text);
}

//===--- in and out -------------------------------------------------------------------------------------===//

Value Emit::in(unsigned i, bool allowStorageType) {
  FailureOr<Value> v = ctx.input(i, allowStorageType);
  return succeeded(v) ? *v : Value();
}
Value Emit::optional(unsigned i) {
  FailureOr<Value> v = ctx.optionalInput(i);
  if (mlir::failed(v)) {
    failed = true;
    return Value();
  }
  return *v;
}
LogicalResult Emit::out(unsigned i, Value v) { return v ? ctx.setOutput(i, v) : failure(); }
Value Emit::fail(const Twine &message) {
  (void)ctx.error(message);
  return Value();
}
SmallVector<Value> Emit::allInputs(unsigned least, bool mixed) {
  SmallVector<Value> values;
  if (ctx.numInputs() < least) {
    fail("expected at least " + Twine(least) + " inputs, got " + Twine(ctx.numInputs()));
    return values;
  }
  for (unsigned i = 0; i < ctx.numInputs(); ++i) {
    Value v = in(i);
    if (!v || (!mixed && i && !sameType(values[0], v, "input " + Twine(i))))
      return {};
    values.push_back(v);
  }
  return values;
}
bool Emit::floatOnly(Value v, const Twine &what) {
  if (isa<FloatType>(elementTypeOf(v)))
    return true;
  fail(what + " must have a floating-point type, got " + typeText(v));
  return false;
}
bool Emit::sameType(Value a, Value b, const Twine &what) {
  if (elementTypeOf(a) == elementTypeOf(b))
    return true;
  fail(what + " has element type " + typeText(b) + ", expected " + typeText(a));
  return false;
}

Type Emit::floatTypeAttr(StringRef name, std::optional<int64_t> dflt) {
  FailureOr<Type> type = ctx.elementTypeAttr(name, dflt);
  if (mlir::failed(type))
    return Type();
  if (isa<FloatType>(*type) && isComputeType(*toDType(*type)))
    return *type;
  fail("attribute '" + name + "' names no floating-point type to compute with");
  return Type();
}

//===--- checks -----------------------------------------------------------------------------------------===//

bool Emit::sizeOk(ArrayRef<int64_t> shape) {
  std::optional<int64_t> count = checkedProduct(shape);
  bool ok = count && *count <= kMaxElements &&
            llvm::all_of(shape, [](int64_t extent) { return extent <= kMaxElements; });
  if (!ok)
    fail("the shape " + shapeText(shape) + " is negative or too large");
  return ok;
}
std::optional<Ints> Emit::broadcast(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  size_t rank = std::max(a.size(), b.size());
  Ints shape(rank, 1);
  for (size_t i = 0; i < rank; ++i) {
    int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1, y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) {
      fail("shapes " + shapeText(a) + " and " + shapeText(b) + " do not broadcast");
      return std::nullopt;
    }
    shape[rank - 1 - i] = x == 1 ? y : x;
  }
  if (!sizeOk(shape))
    return std::nullopt;
  return shape;
}
bool Emit::broadcastsTo(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  if (from.size() > to.size())
    return false;
  ArrayRef<int64_t> tail = to.take_back(from.size());
  for (auto [f, t] : llvm::zip(from, tail))
    if (f != 1 && f != t)
      return false;
  return true;
}
std::optional<Ints> Emit::axes(ArrayRef<int64_t> list, int64_t rank, StringRef what, bool sorted) {
  Ints result;
  for (int64_t axis : list) {
    FailureOr<int64_t> a = ctx.normalizeAxis(axis, rank, what);
    if (mlir::failed(a))
      return std::nullopt;
    if (llvm::is_contained(result, *a)) {
      fail(what + " names axis " + Twine(*a) + " twice");
      return std::nullopt;
    }
    result.push_back(*a);
  }
  if (sorted)
    llvm::sort(result);
  return result;
}

//===--- pointwise --------------------------------------------------------------------------------------===//

Value Emit::unary(UnaryKind kind, Value x, double alpha, double beta) {
  return x ? ctx.create<UnaryOp>(kind, x, alpha, beta) : Value();
}
Value Emit::binary(BinaryKind kind, Value a, Value b) {
  if (!a || !b || (kind != BinaryKind::Pow && !sameType(a, b, "an operand")) ||
      !broadcast(shapeOf(a), shapeOf(b)))
    return Value();
  return ctx.create<BinaryOp>(kind, a, b);
}
Value Emit::legacyBinary(BinaryKind kind, Value a, Value b) {
  FailureOr<int64_t> broadcasts = ctx.intAttr("broadcast", 0), axisAttr = ctx.intAttr("axis", -1);
  if (!a || !b || mlir::failed(broadcasts) || mlir::failed(axisAttr))
    return Value();
  int64_t rank = tensorType(a).getRank();
  if (*broadcasts && ctx.hasAttr("axis")) {
    FailureOr<int64_t> axis = ctx.normalizeAxis(*axisAttr, rank, "attribute 'axis'");
    if (mlir::failed(axis))
      return Value();
    Ints shape(shapeOf(b));
    if (*axis + int64_t(shape.size()) < rank)
      shape.append(rank - *axis - shape.size(), 1);
    b = reshape(b, shape);
  }
  if (b && (*broadcasts ? !broadcastsTo(shapeOf(b), shapeOf(a)) : shapeOf(a) != shapeOf(b)))
    return fail("input 1 of shape " + shapeText(shapeOf(b)) + " does not fit input 0 of shape " +
                shapeText(shapeOf(a)));
  return binary(kind, a, b);
}
Value Emit::select(Value condition, Value x, Value y) {
  if (!condition || !x || !y || !sameType(x, y, "an operand"))
    return Value();
  if (!elementTypeOf(condition).isInteger(1))
    return fail("the condition must be bool, got " + typeText(condition));
  std::optional<Ints> shape = broadcast(shapeOf(x), shapeOf(y));
  if (!shape || !broadcast(*shape, shapeOf(condition)))
    return Value();
  return ctx.create<SelectOp>(condition, x, y);
}
Value Emit::cast(Value x, Type elementType) { return x ? ctx.cast(x, elementType) : Value(); }
Value Emit::scalar(double value, Value like) {
  return like ? ctx.scalar(value, elementTypeOf(like)) : Value();
}

//===--- movement ---------------------------------------------------------------------------------------===//

Value Emit::reshape(Value x, ArrayRef<int64_t> shape) {
  if (!x || !sizeOk(shape))
    return Value();
  if (shapeOf(x) == shape)
    return x;
  if (checkedProduct(shape) != checkedProduct(shapeOf(x)))
    return fail("a tensor of shape " + shapeText(shapeOf(x)) + " can't be reshaped to " + shapeText(shape));
  return ctx.reshape(x, shape);
}
Value Emit::transpose(Value x, ArrayRef<int64_t> perm) {
  if (!x)
    return Value();
  bool identity = true;
  for (auto [i, p] : llvm::enumerate(perm))
    identity &= int64_t(i) == p;
  return identity ? x : ctx.create<TransposeOp>(x, perm);
}
Value Emit::expand(Value x, ArrayRef<int64_t> shape) {
  if (!x || !sizeOk(shape))
    return Value();
  if (!broadcastsTo(shapeOf(x), shape))
    return fail("a tensor of shape " + shapeText(shapeOf(x)) + " does not broadcast to " + shapeText(shape));
  return shapeOf(x) == shape ? x : ctx.create<ExpandOp>(x, shape);
}
Value Emit::slice(Value x, int64_t axis, int64_t start, int64_t size, int64_t step) {
  if (!x)
    return Value();
  ArrayRef<int64_t> shape = shapeOf(x);
  if (start == 0 && step == 1 && size == shape[axis])
    return x;
  Ints starts(shape.size(), 0), steps(shape.size(), 1), sizes(shape);
  starts[axis] = size ? start : 0;
  steps[axis] = step;
  sizes[axis] = size;
  return ctx.create<SliceOp>(x, ArrayRef<int64_t>(starts), ArrayRef<int64_t>(steps),
                             ArrayRef<int64_t>(sizes));
}
Value Emit::concat(ArrayRef<Value> xs, int64_t axis) {
  if (xs.empty() || llvm::is_contained(xs, Value()))
    return Value();
  if (xs.size() == 1)
    return xs[0];
  Ints shape(shapeOf(xs[0]));
  int64_t total = 0;
  for (auto [i, x] : llvm::enumerate(xs)) {
    if (!sameType(xs[0], x, "input " + Twine(i)))
      return Value();
    Ints own(shapeOf(x));
    std::optional<int64_t> sum;
    if (own.size() == shape.size())
      sum = checkedAdd(total, own[axis]);
    if (sum) {
      own[axis] = shape[axis];
      total = *sum;
    }
    if (!sum || own != shape)
      return fail("input " + Twine(i) + " of shape " + shapeText(shapeOf(x)) +
                  " can't be joined with shape " + shapeText(shape) + " along axis " + Twine(axis));
  }
  shape[axis] = total;
  return sizeOk(shape) ? ctx.create<ConcatOp>(ValueRange(xs), axis) : Value();
}
Value Emit::pad(Value x, ArrayRef<int64_t> low, ArrayRef<int64_t> high, Value value) {
  if (!x || !value)
    return Value();
  return ctx.create<PadOp>(PadModeAttr::get(mlirContext(), PadMode::Constant), x, value, low, high);
}
Value Emit::unsqueeze(Value x, int64_t axis) {
  if (!x)
    return Value();
  Ints shape(shapeOf(x));
  shape.insert(shape.begin() + axis, 1);
  return reshape(x, shape);
}
Value Emit::constant(const HostTensor &tensor) { return ctx.constant(toElementsAttr(tensor, mlirContext())); }
Value Emit::iota(int64_t count) {
  HostTensor t(DType::I64, {count});
  for (int64_t i = 0; i < count; ++i)
    t.mutableData<int64_t>()[i] = i;
  return constant(t);
}

//===--- the rest ---------------------------------------------------------------------------------------===//

Value Emit::reduce(ReduceKind kind, Value x, ArrayRef<int64_t> axes, bool keepdims) {
  return x ? ctx.create<ReduceOp>(ReduceKindAttr::get(mlirContext(), kind), x, axes, keepdims) : Value();
}
Value Emit::matmul(Value x, Value y) {
  if (!x || !y || !sameType(x, y, "the right operand"))
    return Value();
  ArrayRef<int64_t> a = shapeOf(x), b = shapeOf(y);
  if (a.back() != b[b.size() - 2])
    return fail("inner extents of " + shapeText(a) + " and " + shapeText(b) + " differ");
  std::optional<Ints> shape = broadcast(a.drop_back(2), b.drop_back(2));
  if (!shape)
    return Value();
  shape->append({a[a.size() - 2], b.back()});
  return sizeOk(*shape) ? ctx.create<MatmulOp>(x, y) : Value();
}
Value Emit::softmax(Value x, int64_t axis, bool log, bool zeroMasked) {
  if (!x || !floatOnly(x))
    return Value();
  return ctx.create<SoftmaxOp>(x, uint64_t(axis), log, zeroMasked);
}

} // namespace gpuc::frontend

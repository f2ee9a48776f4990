// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic, element by element, and casts.
#include "Emit.h"
#include "Families.h"
#include "gpuc/IR/Constants.h"
#include <cmath>

using namespace mlir;

namespace gpuc::frontend {

template <UnaryKind kind> static LogicalResult unaryOp(NodeContext &ctx) {
  constexpr bool anyNumber = kind == UnaryKind::Abs || kind == UnaryKind::Neg || kind == UnaryKind::Sign;
  Emit e(ctx);
  Value x = e.in(0);
  if (!x || (!anyNumber && !e.floatOnly(x)))
    return failure();
  if (elementTypeOf(x).isInteger(1))
    return ctx.error("input 0 must be a number, got bool");
  return e.out(e.unary(kind, x));
}

template <BinaryKind kind> static LogicalResult binaryOp(NodeContext &ctx) {
  Emit e(ctx);
  Value a = e.in(0), b = e.in(1);
  if (!a || !b)
    return failure();
  if (elementTypeOf(a).isInteger(1) || elementTypeOf(b).isInteger(1))
    return ctx.error("the inputs must be numbers, got bool");
  return e.out(ctx.since() < 7 ? e.legacyBinary(kind, a, b) : e.binary(kind, a, b));
}

// fmod=0 takes the divisor's sign and is for integers only, fmod=1 takes the dividend's.
static LogicalResult mod(NodeContext &ctx) {
  Emit e(ctx);
  Value a = e.in(0), b = e.in(1);
  FailureOr<int64_t> fmod = ctx.intAttr("fmod", 0);
  if (!a || !b || failed(fmod))
    return failure();
  if (!*fmod && isa<FloatType>(elementTypeOf(a)))
    return ctx.error("attribute 'fmod' must be 1 for floating-point inputs");
  return e.out(e.binary(*fmod ? BinaryKind::FMod : BinaryKind::Mod, a, b));
}

static LogicalResult bitShift(NodeContext &ctx) {
  Emit e(ctx);
  Value a = e.in(0), b = e.in(1);
  FailureOr<std::string> direction = ctx.stringAttr("direction");
  if (!a || !b || failed(direction))
    return failure();
  if (*direction != "LEFT" && *direction != "RIGHT")
    return ctx.error("attribute 'direction' must be 'LEFT' or 'RIGHT', got '" + *direction + "'");
  if (!isUnsignedInt(dtypeOf(a)))
    return ctx.error("the inputs must be unsigned integers");
  return e.out(e.binary(*direction == "LEFT" ? BinaryKind::Shl : BinaryKind::Shr, a, b));
}

template <BinaryKind kind, bool mean = false> static LogicalResult variadic(NodeContext &ctx) {
  Emit e(ctx);
  SmallVector<Value> xs = e.allInputs();
  if (xs.empty())
    return failure();
  Value y = xs[0];
  for (Value x : ArrayRef<Value>(xs).drop_front())
    y = e.binary(kind, y, x);
  if (mean && xs.size() > 1)
    y = e.div(y, e.scalar(double(xs.size()), xs[0]));
  return e.out(y);
}

// Min(max, Max(x, min)): where min exceeds max, the result is max. NaN passes.
static Value clamp(Emit &e, Value x, Value low, Value high) {
  if (low)
    x = e.binary(BinaryKind::Max, x, low);
  return high ? e.binary(BinaryKind::Min, x, high) : x;
}
// Before 11 the bounds are attributes.
static LogicalResult clipAttributes(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  if (!x || !e.floatOnly(x))
    return failure();
  Value bounds[2];
  for (auto [bound, attr] : {std::pair(&bounds[0], "min"), std::pair(&bounds[1], "max")}) {
    if (!ctx.hasAttr(attr))
      continue;
    FailureOr<double> v = ctx.floatAttr(attr);
    if (failed(v))
      return failure();
    *bound = e.scalar(*v, x);
  }
  return e.out(clamp(e, x, bounds[0], bounds[1]));
}
static LogicalResult clip(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0), low = e.optional(1), high = e.optional(2);
  if (!x || e.failed)
    return failure();
  for (Value *bound : {&low, &high}) {
    if (!*bound)
      continue;
    if (tensorType(*bound).getNumElements() != 1)
      return ctx.error("the bounds must be scalars, got shape " + shapeText(shapeOf(*bound)));
    if (!(*bound = e.reshape(*bound, {})))
      return failure();
  }
  return e.out(clamp(e, x, low, high));
}

static LogicalResult where(NodeContext &ctx) {
  Emit e(ctx);
  return e.out(e.select(e.in(0), e.in(1), e.in(2)));
}

//===--- casts ------------------------------------------------------------------------------------------===//

static LogicalResult castTo(NodeContext &ctx, Type to) {
  FailureOr<Value> x = ctx.input(0, /*allowStorageType=*/true);
  FailureOr<int64_t> saturate = ctx.intAttr("saturate", 1);
  FailureOr<std::string> round = ctx.choiceAttr("round_mode", {"up", "down", "nearest"}, "up");
  if (failed(x) || failed(saturate) || failed(round))
    return failure();
  if (to == elementTypeOf(*x))
    return ctx.setOutput(0, *x);
  Value y = ctx.create<CastOp>(Type(RankedTensorType::get(shapeOf(*x), to)), *x, *saturate != 0,
                               *parseRoundMode(*round));
  return y ? ctx.setOutput(0, y) : failure();
}
static LogicalResult castOp(NodeContext &ctx) {
  FailureOr<Type> to = ctx.elementTypeAttr("to");
  return failed(to) ? failure() : castTo(ctx, *to);
}
static LogicalResult castLike(NodeContext &ctx) {
  FailureOr<Value> like = ctx.input(1, /*allowStorageType=*/true);
  return failed(like) ? failure() : castTo(ctx, elementTypeOf(*like));
}

void registerElementwiseOps(OpRegistry &r) {
  r.add("", "Abs", {6, 13}, unaryOp<UnaryKind::Abs>);
  r.add("", "Neg", {6, 13}, unaryOp<UnaryKind::Neg>);
  r.add("", "Sign", {9, 13}, unaryOp<UnaryKind::Sign>);
  r.add("", "Ceil", {6, 13}, unaryOp<UnaryKind::Ceil>);
  r.add("", "Floor", {6, 13}, unaryOp<UnaryKind::Floor>);
  r.add("", "Round", {11, 22}, unaryOp<UnaryKind::Round>);
  r.add("", "Exp", {6, 13}, unaryOp<UnaryKind::Exp>);
  r.add("", "Log", {6, 13}, unaryOp<UnaryKind::Log>);
  r.add("", "Sqrt", {6, 13}, unaryOp<UnaryKind::Sqrt>);
  r.add("", "Reciprocal", {6, 13}, unaryOp<UnaryKind::Reciprocal>);
  r.add("", "Erf", {9, 13}, unaryOp<UnaryKind::Erf>, {}, "floating-point types only");
  r.add("", "Sin", {7, 22}, unaryOp<UnaryKind::Sin>);
  r.add("", "Cos", {7, 22}, unaryOp<UnaryKind::Cos>);
  r.add("", "Tan", {7, 22}, unaryOp<UnaryKind::Tan>);
  r.add("", "Asin", {7, 22}, unaryOp<UnaryKind::Asin>);
  r.add("", "Acos", {7, 22}, unaryOp<UnaryKind::Acos>);
  r.add("", "Atan", {7, 22}, unaryOp<UnaryKind::Atan>);
  r.add("", "Sinh", {9, 22}, unaryOp<UnaryKind::Sinh>);
  r.add("", "Cosh", {9, 22}, unaryOp<UnaryKind::Cosh>);
  r.add("", "Asinh", {9, 22}, unaryOp<UnaryKind::Asinh>);
  r.add("", "Acosh", {9, 22}, unaryOp<UnaryKind::Acosh>);
  r.add("", "Atanh", {9, 22}, unaryOp<UnaryKind::Atanh>);
  r.add("", "Add", {6, 7, 13, 14}, binaryOp<BinaryKind::Add>);
  r.add("", "Sub", {6, 7, 13, 14}, binaryOp<BinaryKind::Sub>);
  r.add("", "Mul", {6, 7, 13, 14}, binaryOp<BinaryKind::Mul>);
  r.add("", "Div", {6, 7, 13, 14}, binaryOp<BinaryKind::Div>);
  r.add("", "Pow", {1, 7, 12, 13, 15}, binaryOp<BinaryKind::Pow>);
  r.add("", "Mod", {10, 13}, mod);
  r.add("", "BitShift", {11}, bitShift);
  r.add("", "Sum", {6, 8, 13}, variadic<BinaryKind::Add>);
  r.add("", "Mean", {6, 8, 13}, variadic<BinaryKind::Add, true>);
  r.add("", "Max", {6, 8, 12, 13}, variadic<BinaryKind::Max>);
  r.add("", "Min", {6, 8, 12, 13}, variadic<BinaryKind::Min>);
  r.add("", "Clip", {6}, clipAttributes);
  r.add("", "Clip", {11, 12, 13}, clip);
  r.add("", "Where", {9, 16}, where);
  r.add("", "Cast", {6, 9, 13, 19, 21, 23, 24, 25}, castOp);
  r.add("", "CastLike", {15, 19, 21, 23, 24, 25}, castLike);
}

} // namespace gpuc::frontend

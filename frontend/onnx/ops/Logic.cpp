// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparisons, logic, bitwise operators and predicates.
#include "Emit.h"
#include "Families.h"

using namespace mlir;

namespace gpuc::frontend {

template <BinaryKind kind> static LogicalResult compare(NodeContext &ctx) {
  Emit e(ctx);
  Value a = e.in(0), b = e.in(1);
  return e.out(ctx.since() < 7 ? e.legacyBinary(kind, a, b) : e.binary(kind, a, b));
}

template <BinaryKind kind> static LogicalResult logical(NodeContext &ctx) {
  Emit e(ctx);
  Value a = e.in(0), b = e.in(1);
  if (!a || !b)
    return failure();
  if (!elementTypeOf(a).isInteger(1) || !elementTypeOf(b).isInteger(1))
    return ctx.error("the inputs must be bool");
  return e.out(ctx.since() < 7 ? e.legacyBinary(kind, a, b) : e.binary(kind, a, b));
}

template <BinaryKind kind> static LogicalResult bitwise(NodeContext &ctx) {
  Emit e(ctx);
  Value a = e.in(0), b = e.in(1);
  if (!a || !b)
    return failure();
  if (!isInt(dtypeOf(a)) || !isInt(dtypeOf(b)))
    return ctx.error("the inputs must be integers");
  return e.out(e.binary(kind, a, b));
}

static LogicalResult logicalNot(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  if (!x)
    return failure();
  if (!elementTypeOf(x).isInteger(1))
    return ctx.error("input 0 must be bool");
  return e.out(e.unary(UnaryKind::Not, x));
}
static LogicalResult bitwiseNot(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  if (!x)
    return failure();
  if (!isInt(dtypeOf(x)))
    return ctx.error("input 0 must be an integer");
  return e.out(e.unary(UnaryKind::BitNot, x));
}

static LogicalResult isNaN(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  return x && e.floatOnly(x) ? e.out(e.unary(UnaryKind::IsNaN, x)) : failure();
}
static LogicalResult isInf(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<int64_t> positive = ctx.intAttr("detect_positive", 1),
                     negative = ctx.intAttr("detect_negative", 1);
  if (!x || !e.floatOnly(x) || failed(positive) || failed(negative))
    return failure();
  return e.out(e.unary(UnaryKind::IsInf, x, *positive != 0, *negative != 0));
}

void registerLogicOps(OpRegistry &r) {
  r.add("", "Equal", {1, 7, 11, 13, 19}, compare<BinaryKind::Eq>);
  r.add("", "Less", {1, 7, 9, 13}, compare<BinaryKind::Lt>);
  r.add("", "LessOrEqual", {12, 16}, compare<BinaryKind::Le>);
  r.add("", "Greater", {1, 7, 9, 13}, compare<BinaryKind::Gt>);
  r.add("", "GreaterOrEqual", {12, 16}, compare<BinaryKind::Ge>);
  r.add("", "And", {1, 7}, logical<BinaryKind::And>);
  r.add("", "Or", {1, 7}, logical<BinaryKind::Or>);
  r.add("", "Xor", {1, 7}, logical<BinaryKind::Xor>);
  r.add("", "Not", {1}, logicalNot);
  r.add("", "BitwiseAnd", {18}, bitwise<BinaryKind::BitAnd>);
  r.add("", "BitwiseOr", {18}, bitwise<BinaryKind::BitOr>);
  r.add("", "BitwiseXor", {18}, bitwise<BinaryKind::BitXor>);
  r.add("", "BitwiseNot", {18}, bitwiseNot);
  r.add("", "IsNaN", {9, 13, 20}, isNaN);
  r.add("", "IsInf", {10, 20}, isInf);
}

} // namespace gpuc::frontend

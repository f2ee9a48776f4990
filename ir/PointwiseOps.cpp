// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise ops: result types, verification and builders.
#include "Infer.h"
#include "gpuc/IR/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "gpuc/IR/PointwiseOps.cpp.inc"

namespace gpuc {

static bool isBool(Type t) { return t.isInteger(1); }
static bool isIntNotBool(Type t) { return isa<IntegerType>(t) && !isBool(t); }

//===--- unary
//----------------------------------------------------------------------------------------------------===//

void UnaryOp::build(OpBuilder &builder, OperationState &state, UnaryKind kind, Value x, double alpha,
                    double beta) {
  build(builder, state, UnaryKindAttr::get(builder.getContext(), kind), x, builder.getF64FloatAttr(alpha),
        builder.getF64FloatAttr(beta));
}

LogicalResult UnaryOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types,
      [&]() -> Type {
        return isPredicate(adaptor.getKind()) ? IntegerType::get(context, 1) : elementTypeOf(adaptor.getX());
      },
      [&]() -> Result<Shape> { return shapeOf(adaptor.getX()).vec(); });
}

LogicalResult UnaryOp::verify() {
  Type type = elementTypeOf(getX());
  const char *expected = nullptr;
  switch (getKind()) {
  case UnaryKind::Not:
    expected = isBool(type) ? nullptr : "i1";
    break;
  case UnaryKind::BitNot:
    expected = isIntNotBool(type) ? nullptr : "integers";
    break;
  case UnaryKind::Abs:
  case UnaryKind::Neg:
  case UnaryKind::Sign:
  case UnaryKind::Relu:
    expected = !isBool(type) ? nullptr : "numbers";
    break;
  default:
    expected = isa<FloatType>(type) ? nullptr : "floats";
    break;
  }
  if (!expected)
    return success();
  return emitError() << "unary_c1: " << name(getKind()) << " takes " << expected << ", got " << type;
}

//===--- binary
//---------------------------------------------------------------------------------------------------===//

void BinaryOp::build(OpBuilder &builder, OperationState &state, BinaryKind kind, Value x, Value y) {
  build(builder, state, BinaryKindAttr::get(builder.getContext(), kind), x, y);
}

LogicalResult BinaryOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types,
      [&]() -> Type {
        return isComparison(adaptor.getKind()) ? IntegerType::get(context, 1) : elementTypeOf(adaptor.getX());
      },
      [&] {
        return shapes::broadcastShape("binary_c2", {shapeOf(adaptor.getX()), shapeOf(adaptor.getY())});
      });
}

LogicalResult BinaryOp::verify() {
  BinaryKind kind = getKind();
  if (kind != BinaryKind::Pow)
    if (Status status = sameElement("binary_c1", "x", getX(), "y", getY()); !status.ok())
      return report(*this, status);
  const char *expected = nullptr;
  for (Type type : {elementTypeOf(getX()), elementTypeOf(getY())}) {
    if (isLogical(kind))
      expected = isBool(type) ? nullptr : "i1";
    else if (kind >= BinaryKind::BitAnd && kind <= BinaryKind::Shr)
      expected = isIntNotBool(type) ? nullptr : "integers";
    else if (!isComparison(kind))
      expected = !isBool(type) ? nullptr : "numbers";
    if (expected)
      return emitError() << "binary_c3: " << name(kind) << " takes " << expected << ", got " << type;
  }
  return success();
}

//===--- select
//---------------------------------------------------------------------------------------------------===//

LogicalResult SelectOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&]() -> Result<Shape> {
        GPUC_RETURN_IF_ERROR(sameElement("select_c1", "x", adaptor.getX(), "y", adaptor.getY()));
        return shapes::broadcastShape(
            "select_c2", {shapeOf(adaptor.getCondition()), shapeOf(adaptor.getX()), shapeOf(adaptor.getY())});
      });
}

//===--- cast
//-----------------------------------------------------------------------------------------------------===//

void CastOp::build(OpBuilder &builder, OperationState &state, Value x, Type elementType) {
  state.addOperands(x);
  state.getOrAddProperties<Properties>().saturate = builder.getBoolAttr(true);
  state.getOrAddProperties<Properties>().round = RoundModeAttr::get(builder.getContext(), RoundMode::Up);
  addTensorType(builder, state, shapeOrEmpty(x), elementType);
}

LogicalResult CastOp::verify() {
  if (shapeOf(getX()) == shapeOf(getY()))
    return success();
  return emitError() << "cast_c1: shapes differ: " << shapes::text(shapeOf(getX())) << " and "
                     << shapes::text(shapeOf(getY()));
}

} // namespace gpuc

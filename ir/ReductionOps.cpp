// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, scans and sorting: result types and verification.
#include "Infer.h"
#include "gpuc/IR/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "gpuc/IR/ReductionOps.cpp.inc"

namespace gpuc {

/// any and all take i1, max and min anything, the others numbers.
static Status checkReduceElement(ReduceKind kind, Type element) {
  bool isBool = element.isInteger(1);
  if (kind == ReduceKind::Any || kind == ReduceKind::All)
    return isBool ? Status()
                  : invalidArgument("reduce_c2: " + std::string(name(kind)) + " takes i1, got " +
                                    typeName(element));
  if (isBool && kind != ReduceKind::Max && kind != ReduceKind::Min)
    return invalidArgument("reduce_c2: " + std::string(name(kind)) + " takes numbers, got i1");
  return {};
}

void ReduceOp::build(OpBuilder &builder, OperationState &state, ReduceKind kind, Value x,
                     ArrayRef<int64_t> axes, bool keepdims) {
  build(builder, state, ReduceKindAttr::get(builder.getContext(), kind), x,
        builder.getDenseI64ArrayAttr(axes), builder.getBoolAttr(keepdims));
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&]() -> Result<Shape> {
        GPUC_RETURN_IF_ERROR(checkReduceElement(adaptor.getKind(), elementTypeOf(adaptor.getX())));
        return shapes::reduceShape(shapeOf(adaptor.getX()), adaptor.getAxes(), adaptor.getKeepdims());
      });
}

LogicalResult ArgReduceOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types,
      [&]() -> Type { return IntegerType::get(context, 64); },
      [&] {
        return shapes::argReduceShape(shapeOf(adaptor.getX()), adaptor.getAxis(), adaptor.getKeepdims());
      });
}

LogicalResult CumSumOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&]() -> Result<Shape> {
        ArrayRef<int64_t> shape = shapeOf(adaptor.getX());
        GPUC_RETURN_IF_ERROR(shapes::checkAxis("cumsum_c1", adaptor.getAxis(), shape.size()));
        if (elementTypeOf(adaptor.getX()).isInteger(1))
          return invalidArgument("cumsum_c2: expected numbers, got i1");
        return shape.vec();
      });
}

LogicalResult TopKOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferMany(
      context, location, adaptor.getOperands(), types, 2, [&]() -> Result<std::vector<ResultSpec>> {
        Result<Shape> shape = shapes::topkShape(shapeOf(adaptor.getX()), adaptor.getK(), adaptor.getAxis());
        if (!shape.ok())
          return shape.status();
        return std::vector<ResultSpec>{{*shape, elementTypeOf(adaptor.getX())},
                                       {*shape, IntegerType::get(context, 64)}};
      });
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Ops that read or write at index tensors: result types and verification.
#include "Infer.h"
#include "gpuc/IR/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "gpuc/IR/IndexingOps.cpp.inc"

namespace gpuc {

LogicalResult GatherOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getData()); },
      [&] {
        return shapes::gatherShape(shapeOf(adaptor.getData()), shapeOf(adaptor.getIndices()),
                                   adaptor.getAxis());
      });
}

LogicalResult GatherElementsOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                                 Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getData()); },
      [&] {
        return shapes::gatherElementsShape(shapeOf(adaptor.getData()), shapeOf(adaptor.getIndices()),
                                           adaptor.getAxis());
      });
}

LogicalResult GatherNdOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                           Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getData()); },
      [&] {
        return shapes::gatherNdShape(shapeOf(adaptor.getData()), shapeOf(adaptor.getIndices()),
                                     adaptor.getBatchDims());
      });
}

void ScatterNdOp::build(OpBuilder &builder, OperationState &state, ScatterReduction reduction, Value data,
                        Value indices, Value updates) {
  build(builder, state, ScatterReductionAttr::get(builder.getContext(), reduction), data, indices, updates);
}

LogicalResult ScatterNdOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getData()); },
      [&]() -> Result<Shape> {
        GPUC_RETURN_IF_ERROR(
            sameElement("scatter_nd_c1", "data", adaptor.getData(), "updates", adaptor.getUpdates()));
        GPUC_RETURN_IF_ERROR(shapes::checkScatterNd(shapeOf(adaptor.getData()), shapeOf(adaptor.getIndices()),
                                                    shapeOf(adaptor.getUpdates())));
        return shapeOf(adaptor.getData()).vec();
      });
}

void ScatterElementsOp::build(OpBuilder &builder, OperationState &state, ScatterReduction reduction,
                              Value data, Value indices, Value updates, int64_t axis) {
  build(builder, state, ScatterReductionAttr::get(builder.getContext(), reduction), data, indices, updates,
        builder.getI64IntegerAttr(axis));
}

LogicalResult ScatterElementsOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                                  Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getData()); },
      [&]() -> Result<Shape> {
        GPUC_RETURN_IF_ERROR(
            sameElement("scatter_elements_c1", "data", adaptor.getData(), "updates", adaptor.getUpdates()));
        GPUC_RETURN_IF_ERROR(shapes::checkScatterElements(shapeOf(adaptor.getData()),
                                                          shapeOf(adaptor.getIndices()),
                                                          shapeOf(adaptor.getUpdates()), adaptor.getAxis()));
        return shapeOf(adaptor.getData()).vec();
      });
}

} // namespace gpuc

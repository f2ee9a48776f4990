// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Movement ops: result types, verification and builders.
#include "Infer.h"
#include "gpuc/IR/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "gpuc/IR/MovementOps.cpp.inc"

namespace gpuc {

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&] { return shapes::transposeShape(shapeOf(adaptor.getX()), adaptor.getPerm()); });
}

//===--- reshape, expand, slice
//-----------------------------------------------------------------------------------===//

void ReshapeOp::build(OpBuilder &builder, OperationState &state, Value x, ArrayRef<int64_t> shape) {
  state.addOperands(x);
  addTensorType(builder, state, shape, elementOrNull(x));
}

LogicalResult ReshapeOp::verify() {
  Status status = sameElement("reshape_c1", "x", getX(), "the result", getY());
  return report(*this, status.ok() ? shapes::checkReshape(shapeOf(getX()), shapeOf(getY())) : status);
}

void ExpandOp::build(OpBuilder &builder, OperationState &state, Value x, ArrayRef<int64_t> shape) {
  state.addOperands(x);
  addTensorType(builder, state, shape, elementOrNull(x));
}

LogicalResult ExpandOp::verify() {
  Status status = sameElement("expand_c1", "x", getX(), "the result", getY());
  return report(*this, status.ok()
                           ? shapes::checkBroadcastTo("expand_c1", "x", shapeOf(getX()), shapeOf(getY()))
                           : status);
}

void SliceOp::build(OpBuilder &builder, OperationState &state, Value x, ArrayRef<int64_t> starts,
                    ArrayRef<int64_t> steps, ArrayRef<int64_t> sizes) {
  state.addOperands(x);
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.starts = builder.getDenseI64ArrayAttr(starts);
  properties.steps = builder.getDenseI64ArrayAttr(steps);
  addTensorType(builder, state, sizes, elementOrNull(x));
}

LogicalResult SliceOp::verify() {
  Status status = sameElement("slice_c1", "x", getX(), "the result", getY());
  return report(*this, status.ok()
                           ? shapes::checkSlice(shapeOf(getX()), getStarts(), getSteps(), shapeOf(getY()))
                           : status);
}

//===--- concat, pad, tile, trilu
//---------------------------------------------------------------------------------===//

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types,
      [&] { return elementTypeOf(adaptor.getInputs().front()); },
      [&]() -> Result<Shape> {
        SmallVector<shapes::Extents> inputs;
        for (auto [i, input] : llvm::enumerate(adaptor.getInputs())) {
          GPUC_RETURN_IF_ERROR(sameElement("concat_c1", "operand 0", adaptor.getInputs().front(),
                                           "operand " + std::to_string(i), input));
          inputs.push_back(shapeOf(input));
        }
        return shapes::concatShape(inputs, adaptor.getAxis());
      });
}

void PadOp::build(OpBuilder &builder, OperationState &state, PadMode mode, Value x, Value value,
                  ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
  build(builder, state, PadModeAttr::get(builder.getContext(), mode), x, value,
        builder.getDenseI64ArrayAttr(low), builder.getDenseI64ArrayAttr(high));
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&]() -> Result<Shape> {
        Value value = adaptor.getValue();
        if ((adaptor.getMode() == PadMode::Constant) != bool(value))
          return invalidArgument(value ? "pad_c3: only constant mode takes a value"
                                       : "pad_c3: constant mode needs a value");
        if (value && !shapeOf(value).empty())
          return invalidArgument("pad_c3: value must be a scalar, got shape " + shapes::text(shapeOf(value)));
        if (value)
          GPUC_RETURN_IF_ERROR(sameElement("pad_c3", "x", adaptor.getX(), "value", value));
        return shapes::padShape(shapeOf(adaptor.getX()), adaptor.getLow(), adaptor.getHigh(),
                                adaptor.getMode());
      });
}

LogicalResult TileOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&] { return shapes::tileShape(shapeOf(adaptor.getX()), adaptor.getRepeats()); });
}

LogicalResult TriluOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                        Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&]() -> Result<Shape> {
        ArrayRef<int64_t> shape = shapeOf(adaptor.getX());
        if (shape.size() < 2)
          return invalidArgument("trilu_c1: expected rank at least 2, got " + std::to_string(shape.size()));
        return shape.vec();
      });
}

//===--- resize
//---------------------------------------------------------------------------------------------------===//

LogicalResult ResizeOp::verify() {
  Status status = sameElement("resize_c1", "x", getX(), "the result", getY());
  return report(*this, status.ok()
                           ? shapes::checkResize(shapeOf(getX()), shapeOf(getY()), getScales(), getRoi())
                           : status);
}

} // namespace gpuc

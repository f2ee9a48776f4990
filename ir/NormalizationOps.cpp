// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalising ops: result types and verification.
#include "Infer.h"
#include "gpuc/IR/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "gpuc/IR/NormalizationOps.cpp.inc"

namespace gpuc {

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&]() -> Result<Shape> {
        ArrayRef<int64_t> shape = shapeOf(adaptor.getX());
        GPUC_RETURN_IF_ERROR(shapes::checkAxis("softmax_c1", adaptor.getAxis(), shape.size()));
        return shape.vec();
      });
}

/// A parameter of layer_norm or rms_norm: x's element type, broadcasting to x's shape from `axis` on.
static Status checkNormParameter(StringRef label, StringRef what, Value parameter, Value x, int64_t axis) {
  if (!parameter)
    return {};
  GPUC_RETURN_IF_ERROR(sameElement(label, "x", x, what, parameter));
  return shapes::checkBroadcastTo(label, what, shapeOf(parameter), shapeOf(x).drop_front(axis));
}

LogicalResult LayerNormOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&]() -> Result<Shape> {
        Value x = adaptor.getX();
        int64_t axis = adaptor.getAxis();
        GPUC_RETURN_IF_ERROR(shapes::checkAxis("layer_norm_c1", axis, shapeOf(x).size()));
        GPUC_RETURN_IF_ERROR(checkNormParameter("layer_norm_c2", "scale", adaptor.getScale(), x, axis));
        GPUC_RETURN_IF_ERROR(checkNormParameter("layer_norm_c2", "bias", adaptor.getBias(), x, axis));
        return shapeOf(x).vec();
      });
}

LogicalResult RmsNormOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                          Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&]() -> Result<Shape> {
        Value x = adaptor.getX();
        int64_t axis = adaptor.getAxis();
        GPUC_RETURN_IF_ERROR(shapes::checkAxis("rms_norm_c1", axis, shapeOf(x).size()));
        GPUC_RETURN_IF_ERROR(checkNormParameter("rms_norm_c2", "scale", adaptor.getScale(), x, axis));
        return shapeOf(x).vec();
      });
}

LogicalResult RowMomentsOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                             Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return Float32Type::get(context); },
      [&]() -> Result<Shape> {
        ArrayRef<int64_t> shape = shapeOf(adaptor.getX());
        int64_t columns = adaptor.getColumns();
        if (shape.empty())
          return invalidArgument("row_moments_c1: expected rank at least 1, got 0");
        if (columns < 1 || shape.back() % columns != 0)
          return invalidArgument("row_moments_c2: columns must be positive and divide the last extent " +
                                 std::to_string(shape.back()) + ", got " + std::to_string(columns));
        return Shape{numElements(shape.drop_back().vec()), shape.back() / columns, 2};
      });
}

LogicalResult RowStatisticsOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferMany(
      context, location, adaptor.getOperands(), types, 2, [&]() -> Result<std::vector<ResultSpec>> {
        ArrayRef<int64_t> shape = shapeOf(adaptor.getMoments());
        Type element = elementTypeOf(adaptor.getMoments());
        if (shape.size() != 3 || shape[2] != 2 || !element.isF32())
          return invalidArgument("row_statistics_c1: expected moments of shape [R, P, 2] and type f32, got " +
                                 toString(shape.vec()) + " of " + typeName(element));
        if (int64_t(adaptor.getExtent()) < 1)
          return invalidArgument("row_statistics_c2: extent must be positive, got " +
                                 std::to_string(int64_t(adaptor.getExtent())));
        return std::vector<ResultSpec>(2, {{shape[0], 1}, element});
      });
}

LogicalResult GroupNormOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&]() -> Result<Shape> {
        Value x = adaptor.getX(), scale = adaptor.getScale(), bias = adaptor.getBias();
        if (scale)
          GPUC_RETURN_IF_ERROR(sameElement("group_norm_c2", "x", x, "scale", scale));
        if (bias)
          GPUC_RETURN_IF_ERROR(sameElement("group_norm_c2", "x", x, "bias", bias));
        shapes::Extents scaleShape = optionalShape(scale), biasShape = optionalShape(bias);
        GPUC_RETURN_IF_ERROR(shapes::checkGroupNorm(
            shapeOf(x), adaptor.getGroups(), scale ? &scaleShape : nullptr, bias ? &biasShape : nullptr));
        return shapeOf(x).vec();
      });
}

LogicalResult LrnOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&]() -> Result<Shape> {
        ArrayRef<int64_t> shape = shapeOf(adaptor.getX());
        if (shape.size() < 2)
          return invalidArgument("lrn_c1: expected rank at least 2, got " + std::to_string(shape.size()));
        if (int64_t(adaptor.getSize()) < 1)
          return invalidArgument("lrn_c1: size must be positive, got " +
                                 std::to_string(int64_t(adaptor.getSize())));
        return shape.vec();
      });
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products, attention, convolutions and pools: result types, verification and builders.
#include "Infer.h"
#include "gpuc/IR/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "gpuc/IR/ContractionOps.cpp.inc"

namespace gpuc {

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                         Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&]() -> Result<Shape> {
        GPUC_RETURN_IF_ERROR(sameElement("matmul_c1", "x", adaptor.getX(), "y", adaptor.getY()));
        if (elementTypeOf(adaptor.getX()).isInteger(1))
          return invalidArgument("matmul_c1: expected numbers, got i1");
        return shapes::matmulShape(shapeOf(adaptor.getX()), shapeOf(adaptor.getY()));
      });
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                            Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getQ()); },
      [&]() -> Result<Shape> {
        Value q = adaptor.getQ(), bias = adaptor.getBias();
        GPUC_RETURN_IF_ERROR(sameElement("attention_c1", "q", q, "k", adaptor.getK()));
        GPUC_RETURN_IF_ERROR(sameElement("attention_c1", "q", q, "v", adaptor.getV()));
        if (bias && !elementTypeOf(bias).isInteger(1) && !isa<FloatType>(elementTypeOf(bias)))
          return invalidArgument("attention_c4: bias must be float or i1, got " +
                                 typeName(elementTypeOf(bias)));
        shapes::Extents biasShape = optionalShape(bias);
        return shapes::attentionShape(shapeOf(q), shapeOf(adaptor.getK()), shapeOf(adaptor.getV()),
                                      bias ? &biasShape : nullptr);
      });
}

//===--- convolutions
//---------------------------------------------------------------------------------------------===//

static Status checkConvElements(StringRef label, Value x, Value w, Value bias) {
  GPUC_RETURN_IF_ERROR(sameElement(label, "x", x, "w", w));
  return bias ? sameElement(label, "x", x, "bias", bias) : Status();
}

LogicalResult ConvOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                       Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&]() -> Result<Shape> {
        Value bias = adaptor.getBias();
        GPUC_RETURN_IF_ERROR(checkConvElements("conv_c1", adaptor.getX(), adaptor.getW(), bias));
        shapes::Extents biasShape = optionalShape(bias);
        shapes::Window window{
            {}, adaptor.getStrides(), adaptor.getLow(), adaptor.getHigh(), adaptor.getDilations()};
        return shapes::convShape(shapeOf(adaptor.getX()), shapeOf(adaptor.getW()),
                                 bias ? &biasShape : nullptr, window, adaptor.getGroup());
      });
}

LogicalResult ConvTransposeOp::verify() {
  if (Status status = checkConvElements("conv_transpose_c1", getX(), getW(), getBias()); !status.ok())
    return report(*this, status);
  if (Status status = sameElement("conv_transpose_c1", "x", getX(), "the result", getY()); !status.ok())
    return report(*this, status);
  shapes::Extents biasShape = optionalShape(getBias());
  shapes::Window window{{}, getStrides(), getLow(), {}, getDilations()};
  return report(*this,
                shapes::checkConvTranspose(shapeOf(getX()), shapeOf(getW()), getBias() ? &biasShape : nullptr,
                                           window, getGroup(), shapeOf(getY())));
}

//===--- pools
//----------------------------------------------------------------------------------------------------===//

LogicalResult MaxPoolOp::verify() {
  if (elementTypeOf(getX()).isInteger(1))
    return emitError() << "max_pool_c1: expected numbers, got i1";
  if (Status status = sameElement("max_pool_c1", "x", getX(), "the result", getY()); !status.ok())
    return report(*this, status);
  shapes::Window window{getKernel(), getStrides(), getLow(), getHigh(), getDilations()};
  if (Status status = shapes::checkPool("max_pool_c1", shapeOf(getX()), window, shapeOf(getY()));
      !status.ok())
    return report(*this, status);
  if (Value indices = getIndices())
    if (!elementTypeOf(indices).isSignlessInteger(64) || shapeOf(indices) != shapeOf(getY()))
      return emitError() << "max_pool_c2: indices must be i64 of the result's shape, got "
                         << indices.getType();
  return success();
}

LogicalResult SqueezeExciteOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location,
                                                Adaptor adaptor, SmallVectorImpl<Type> &types) {
  return inferOne(
      context, location, adaptor.getOperands(), types, [&] { return elementTypeOf(adaptor.getX()); },
      [&]() -> Result<Shape> {
        ArrayRef<int64_t> shape = shapeOf(adaptor.getX()), w1 = shapeOf(adaptor.getW1());
        if (shape.size() < 3)
          return invalidArgument("squeeze_excite_c1: x must have rank at least 3, got " +
                                 std::to_string(shape.size()));
        int64_t channels = shape[1], hidden = w1.empty() ? 0 : w1[0];
        std::pair<const char *, std::pair<Value, Shape>> expected[] = {
            {"w1", {adaptor.getW1(), {hidden, channels}}},
            {"b1", {adaptor.getB1(), {hidden}}},
            {"w2", {adaptor.getW2(), {channels, hidden}}},
            {"b2", {adaptor.getB2(), {channels}}}};
        for (auto &[name, want] : expected) {
          GPUC_RETURN_IF_ERROR(sameElement("squeeze_excite_c2", "x", adaptor.getX(), name, want.first));
          if (shapeOf(want.first) != ArrayRef<int64_t>(want.second))
            return invalidArgument(std::string("squeeze_excite_c2: ") + name + " must have shape " +
                                   toString(want.second) + ", got " + toString(shapeOf(want.first).vec()));
        }
        return shape.vec();
      });
}

bool SqueezeExciteOp::isAct(UnaryKind kind) {
  return llvm::is_contained(
      {UnaryKind::Relu, UnaryKind::Silu, UnaryKind::HardSwish, UnaryKind::Gelu, UnaryKind::Tanh}, kind);
}

bool SqueezeExciteOp::isGate(UnaryKind kind) {
  return llvm::is_contained({UnaryKind::Sigmoid, UnaryKind::HardSigmoid, UnaryKind::Tanh}, kind);
}

LogicalResult SqueezeExciteOp::verify() {
  if (!isAct(UnaryKind(getAct())))
    return emitError("squeeze_excite_c3: act must be relu, silu, hard_swish, gelu or tanh, got ")
           << name(UnaryKind(getAct()));
  if (!isGate(UnaryKind(getGate())))
    return emitError("squeeze_excite_c3: gate must be sigmoid, hard_sigmoid or tanh, got ")
           << name(UnaryKind(getGate()));
  return success();
}

LogicalResult AvgPoolOp::verify() {
  if (!isa<FloatType>(elementTypeOf(getX())))
    return emitError() << "avg_pool_c1: expected floats, got " << elementTypeOf(getX());
  if (Status status = sameElement("avg_pool_c1", "x", getX(), "the result", getY()); !status.ok())
    return report(*this, status);
  shapes::Window window{getKernel(), getStrides(), getLow(), getHigh(), getDilations()};
  return report(*this, shapes::checkPool("avg_pool_c1", shapeOf(getX()), window, shapeOf(getY())));
}

} // namespace gpuc

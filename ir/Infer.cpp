// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Result types from shape rules: checks of what rules take for granted, and the two ways to fail.
#include "Infer.h"
#include "gpuc/IR/Build.h"
#include "gpuc/Support/CheckedMath.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace gpuc {

static Status checkOperands(ValueRange operands) {
  for (auto [i, operand] : llvm::enumerate(operands)) {
    if (!operand)
      return invalidArgument("operand " + std::to_string(i) + " is null");
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !type.hasStaticShape())
      return invalidArgument("operand " + std::to_string(i) + " must be a tensor of static shape, got " +
                             typeName(operand.getType()));
  }
  return {};
}

/// A type whose bytes can be counted in 63 bits.
static Result<Type> makeTensorType(ArrayRef<int64_t> shape, Type element) {
  if (!element || !toDType(element))
    return invalidArgument("the result's element type is not supported: " +
                           (element ? typeName(element) : "none"));
  for (int64_t extent : shape)
    if (extent < 0)
      return invalidArgument("the result's shape has a negative extent: " +
                             toString(Shape(shape.begin(), shape.end())));
  auto count = checkedProduct(shape);
  if (!count || !checkedMul(*count, 16))
    return invalidArgument("the result has too many elements: " +
                           toString(Shape(shape.begin(), shape.end())));
  return Type(RankedTensorType::get(shape, element));
}

LogicalResult inferMany(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                        SmallVectorImpl<Type> &types, unsigned count,
                        llvm::function_ref<Result<std::vector<ResultSpec>>()> rule) {
  Status status = checkOperands(operands);
  types.clear();
  if (status.ok()) {
    Result<std::vector<ResultSpec>> specs = rule();
    status = specs.status();
    if (specs.ok()) {
      for (const ResultSpec &spec : *specs) {
        Result<Type> type = makeTensorType(spec.shape, spec.element);
        status = type.status();
        if (!status.ok())
          break;
        types.push_back(*type);
      }
    }
  }
  if (status.ok())
    return success();
  if (location)
    emitError(*location) << status.message();
  types.clear();
  if (detail::BuildScope *scope = detail::BuildScope::current()) {
    scope->fail();
    types.assign(count, NoneType::get(context));
    return success();
  }
  return failure();
}

LogicalResult inferOne(MLIRContext *context, std::optional<Location> location, ValueRange operands,
                       SmallVectorImpl<Type> &types, llvm::function_ref<Type()> element,
                       llvm::function_ref<Result<Shape>()> rule) {
  return inferMany(context, location, operands, types, 1, [&]() -> Result<std::vector<ResultSpec>> {
    Result<Shape> shape = rule();
    if (!shape.ok())
      return shape.status();
    return std::vector<ResultSpec>{{shape.take(), element()}};
  });
}

void addTensorType(OpBuilder &builder, OperationState &state, ArrayRef<int64_t> shape, Type element) {
  Status status = checkOperands(state.operands);
  if (status.ok()) {
    Result<Type> type = makeTensorType(shape, element);
    if (type.ok()) {
      state.addTypes(*type);
      return;
    }
    status = type.status();
  }
  emitError(state.location) << status.message();
  detail::BuildScope *scope = detail::BuildScope::current();
  if (!scope)
    llvm::report_fatal_error(
        "gpuc: an op was built with an invalid result type; untrusted shapes need gpuc::tryCreate");
  scope->fail();
  state.addTypes(NoneType::get(builder.getContext()));
}

Type elementOrNull(Value v) {
  auto type = v ? dyn_cast<RankedTensorType>(v.getType()) : RankedTensorType();
  return type ? type.getElementType() : Type();
}

ArrayRef<int64_t> shapeOrEmpty(Value v) {
  auto type = v ? dyn_cast<RankedTensorType>(v.getType()) : RankedTensorType();
  return type ? type.getShape() : ArrayRef<int64_t>();
}

LogicalResult report(Operation *op, const Status &status) {
  if (status.ok())
    return success();
  return op->emitError(status.message());
}

std::string typeName(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

Status sameElement(llvm::StringRef label, llvm::StringRef a, Value x, llvm::StringRef b, Value y) {
  if (elementTypeOf(x) == elementTypeOf(y))
    return {};
  return invalidArgument((label + ": element types differ: " + a + " has " + typeName(elementTypeOf(x)) +
                          ", " + b + " has " + typeName(elementTypeOf(y)))
                             .str());
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From shape rules (ShapeRules.h) to result types, diagnostics and builders. Private to ir/.
#pragma once
#include "gpuc/IR/ShapeRules.h"
#include "gpuc/IR/Types.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace gpuc {

/// One inferred result.
struct ResultSpec {
  Shape shape;
  mlir::Type element;
};

/// Runs `rule` once the operands are known to be static tensors, and turns its answer into `count` result
/// types. An error is emitted at the location, if there is one. Within a BuildScope a failure gives
/// placeholder types and success.
mlir::LogicalResult inferMany(mlir::MLIRContext *context, std::optional<mlir::Location> location,
                              mlir::ValueRange operands, llvm::SmallVectorImpl<mlir::Type> &types,
                              unsigned count, llvm::function_ref<Result<std::vector<ResultSpec>>()> rule);

/// The same for one result: `rule` gives its shape, `element` its element type.
mlir::LogicalResult inferOne(mlir::MLIRContext *context, std::optional<mlir::Location> location,
                             mlir::ValueRange operands, llvm::SmallVectorImpl<mlir::Type> &types,
                             llvm::function_ref<mlir::Type()> element,
                             llvm::function_ref<Result<Shape>()> rule);

/// Adds the result type that a builder of a typed op was asked for, or fails as inference does.
void addTensorType(mlir::OpBuilder &builder, mlir::OperationState &state, llvm::ArrayRef<int64_t> shape,
                   mlir::Type element);
/// The element type of a builder's operand, null when it is no static tensor.
mlir::Type elementOrNull(mlir::Value v);
llvm::ArrayRef<int64_t> shapeOrEmpty(mlir::Value v);

/// Emits a failed status as the op's error.
mlir::LogicalResult report(mlir::Operation *op, const Status &status);

/// "f32", as in the IR.
std::string typeName(mlir::Type type);
/// "`label`: element types differ: `a` has …, `b` has …", or success.
Status sameElement(llvm::StringRef label, llvm::StringRef a, mlir::Value x, llvm::StringRef b, mlir::Value y);

/// The shape of an optional operand; null stays null.
inline llvm::ArrayRef<int64_t> optionalShape(mlir::Value v) {
  return v ? shapeOf(v) : llvm::ArrayRef<int64_t>();
}

} // namespace gpuc

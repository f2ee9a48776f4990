// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types between MLIR and gpuc::DType, and shorthands for static tensor types.
#pragma once
#include "gpuc/Support/DType.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace gpuc {

/// Null when MLIR's type is none of gpuc's.
std::optional<DType> toDType(mlir::Type elementType);
mlir::Type toMlirType(DType dtype, mlir::MLIRContext *context);
inline mlir::RankedTensorType tensorType(mlir::Value v) {
  return mlir::cast<mlir::RankedTensorType>(v.getType());
}
inline llvm::ArrayRef<int64_t> shapeOf(mlir::Value v) { return tensorType(v).getShape(); }
inline mlir::Type elementTypeOf(mlir::Value v) { return tensorType(v).getElementType(); }
inline DType dtypeOf(mlir::Value v) { return *toDType(elementTypeOf(v)); }
/// Row-major element strides of a shape.
llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic on constants while a pattern is still deciding: nothing is inserted into the function.
#pragma once
#include "gpuc/IR/Ops.h"
#include "mlir/IR/Builders.h"

namespace gpuc {

/// The value of an expression over constants of the function; `build` creates its ops with the builder it is
/// given. Null when it can't be evaluated.
mlir::ElementsAttr evaluateConstants(mlir::MLIRContext *context,
                                     llvm::function_ref<mlir::Value(mlir::OpBuilder &)> build);
/// No element of a tensor of f16, bf16, f32 or f64 is an infinity or NaN; false for other types.
bool allFinite(mlir::ElementsAttr constant);

} // namespace gpuc

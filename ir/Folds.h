// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What all folders share. Private to ir/.
#pragma once
#include "mlir/IR/OpDefinition.h"

namespace gpuc {

/// The only result of an op as an attribute, when all operands are constants and both they and the result are
/// small; null otherwise. Larger constants are folded by a pass, which can weigh the cost.
mlir::OpFoldResult foldSmallConstant(mlir::Operation *op, llvm::ArrayRef<mlir::Attribute> operands);

} // namespace gpuc

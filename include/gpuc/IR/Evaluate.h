// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs core ops with the reference executor: constant folding, `--device=reference` and tests share this.
#pragma once
#include "gpuc/Support/HostTensor.h"
#include "gpuc/Support/Status.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace gpuc {

/// One core op (or a whole gpuc.kernel) on host tensors, one per operand. Absent optional operands are not
/// counted.
Result<std::vector<HostTensor>> evaluate(mlir::Operation *op, llvm::ArrayRef<HostTensor> operands);
/// A function of core ops or kernels: one tensor per argument in, one per result out. `onValue` sees each
/// result.
Result<std::vector<HostTensor>>
evaluateFunction(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> arguments,
                 llvm::function_ref<void(mlir::Value, const HostTensor &)> onValue = nullptr);
/// Folds an op whose operands are all constants: the attributes of its results, or failure when an operand is
/// no constant, the results are larger than `maxBytes`, or the op can't be evaluated.
mlir::LogicalResult foldToConstants(mlir::Operation *op, int64_t maxBytes,
                                    llvm::SmallVectorImpl<mlir::Attribute> &results);

} // namespace gpuc

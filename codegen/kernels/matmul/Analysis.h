// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gpuc.kernel whose root is a matmul, as a batched product of strided matrices.
#pragma once
#include "Operands.h"

namespace gpuc {

/// rows and cols are M and N, or N and M when `swapped` (the result's unit stride lies along M): B's rows are
/// always the result's contiguous axis. Batch axes that B does not have are part of the rows.
struct MatmulAnalysis {
  MatmulOp root;
  TileProblem problem;
  DenseOperand a, b;                       ///< a: (rows, depth), b: (cols, depth)
  llvm::SmallVector<int64_t> batchExtents; ///< batch axes that are left, outermost first
  bool swapped = false;
  unsigned lanes = 1; ///< of the epilogue, along the columns
  FunctorShape epilogue;
  bool isEmpty() const { return problem.rows == 0 || problem.cols == 0 || problem.batch == 0; }
};

/// Fails with an error at the kernel when an operand is no strided view or an extent is too large.
mlir::FailureOr<MatmulAnalysis> analyzeMatmul(KernelOp kernel);

} // namespace gpuc

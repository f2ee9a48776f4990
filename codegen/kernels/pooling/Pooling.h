// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What selection and emission of pooling share.
#pragma once
#include "emit/RootUnit.h"

namespace gpuc::pooling {

struct Problem {
  mlir::Operation *root = nullptr;
  mlir::Value x, y, indices; ///< indices: null without
  llvm::ArrayRef<int64_t> kernel, strides, low, high, dilations;
  bool isMax = true, columnMajor = false, countPadding = false;
  bool channelsFastest = false;
  unsigned lanes = 1; ///< along the channels when they are fastest, else along the last spatial axis
  unsigned spatialRank() const { return unsigned(kernel.size()); }
};
mlir::FailureOr<Problem> analyze(KernelOp kernel);
mlir::LogicalResult select(KernelOp kernel, const Target &target);

} // namespace gpuc::pooling

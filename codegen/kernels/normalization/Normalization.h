// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What selection and emission of normalisations share: the problem as rows or columns, and the variants.
#pragma once
#include "emit/RootUnit.h"

namespace gpuc::normalization {

/// How a kernel's root is computed.
enum class Form : uint8_t {
  Rows,    ///< softmax along the fastest axis, layer and RMS norm, group norm
  Columns, ///< softmax along another axis
  Window,  ///< LRN
};

/// One way to run rows; row.cuh.
struct RowVariant {
  llvm::StringLiteral name;
  int64_t team;      ///< threads per row at most
  int64_t perThread; ///< elements per thread at most; 0: any number, streamed
};
llvm::ArrayRef<RowVariant> rowVariants();

/// A normalisation, seen as the templates see it.
struct Problem {
  mlir::Operation *root = nullptr;
  mlir::Value x, scale, bias;
  Form form = Form::Rows;
  bool isGroupNorm = false;
  bool channelsFastest = false;           ///< group norm and LRN: channels are consecutive in memory
  int64_t rows = 1, cols = 1;             ///< Rows
  int64_t outer = 1, axis = 1, inner = 1; ///< Columns; LRN and group norm: batch, channels, spatial
  int64_t groups = 1;                     ///< group norm
  llvm::SmallVector<llvm::SmallVector<unsigned>> axes; ///< groups of the functors
  unsigned laneGroup = 0;
  unsigned lanes = 1; ///< most lanes that loads and stores allow
  double epsilon = 0;
};
mlir::FailureOr<Problem> analyze(KernelOp kernel);
mlir::LogicalResult select(KernelOp kernel, const Target &target);

} // namespace gpuc::normalization

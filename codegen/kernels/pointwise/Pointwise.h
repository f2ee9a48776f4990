// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What selection and emission of pointwise kernels share: the variants, and the analysis of how a kernel
// walks its buffers.
#pragma once
#include "emit/ExprEmitterImpl.h"
#include "gpuc/Codegen/Functor.h"

namespace gpuc::pointwise {

/// One way to run a pointwise kernel.
struct Variant {
  llvm::StringLiteral name;
  unsigned threads;
  unsigned maxUnroll;     ///< points per thread
  unsigned minTileExtent; ///< turning: both axes are at least this long
};
extern const Variant kLinear, kTurning;

/// How a kernel's iteration space lies in its buffers.
struct Walk {
  llvm::SmallVector<int64_t> shape;  ///< of the results
  llvm::SmallVector<unsigned> order; ///< axes from slowest to fastest in the first result's storage
  int64_t total = 1;
  std::string indexType;
  // For the turning variant: groups of axes (in `order`) that every buffer sees as one.
  llvm::SmallVector<llvm::SmallVector<unsigned>> groups;
  int turnedGroup = -1; ///< group along which the turned operands are consecutive; -1: none
  /// A load to turn: element `constant + sum of coordinate * strides` of an argument's buffer.
  struct Turned {
    mlir::BlockArgument argument;
    int64_t constant;
    llvm::SmallVector<int64_t> strides;
  };
  llvm::SmallVector<Turned> turned;
  unsigned numLoads = 0; ///< distinct loads per point
  unsigned numOps = 0;
};
/// Fails (with a diagnostic) when the region can't be computed element by element.
mlir::FailureOr<Walk> analyzeWalk(KernelOp kernel);

/// Coordinates of the results' axes from a position in storage order.
ExprEmitter::Impl::Coords coordsOfPosition(ExprEmitter::Impl &e, const Walk &walk,
                                           const emit::Index &position);
/// Coordinates from one position per group.
ExprEmitter::Impl::Coords coordsOfGroups(ExprEmitter::Impl &e, const Walk &walk,
                                         llvm::ArrayRef<emit::Index> positions);
/// Product of a group's extents.
int64_t groupExtent(const Walk &walk, unsigned group);

} // namespace gpuc::pointwise

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an epilogue computes once per row instead of once per run of lanes, and the moments that it leaves to
// the kernel body (docs/adr/0006).
#pragma once
#include "ExprEmitterImpl.h"
#include "gpuc/Codegen/Functor.h"

namespace gpuc {

/// gpuc.row_statistics ops of a kernel region, in order.
llvm::SmallVector<RowStatisticsOp> rowStatisticsOf(KernelOp kernel);
/// The yielded gpuc.row_moments; null when there is none.
RowMomentsOp yieldedMoments(KernelOp kernel);
/// The region has one or the other.
bool hasRowState(KernelOp kernel);
/// Binds the results of all row statistics to members of a variable `row` (of the struct below).
void bindRowState(ExprEmitter::Impl &e, KernelOp kernel, mlir::Value root, const FunctorShape &shape,
                  llvm::ArrayRef<emit::Index> coords);
/// The expression that loads the moments of row `row`, a RowMoments (kernels/common/rows.cuh), and whether it
/// differs between lanes; and the one that makes RowStatistics of them.
std::string rowMomentsText(ExprEmitter::Impl &e, RowStatisticsOp op, const emit::Index &row, bool isSliced,
                           bool &perLane);
std::string rowStatisticsText(RowStatisticsOp op, llvm::StringRef moments);
/// "struct RowLoads {…}; struct Row {…};" and the methods that fill them; `arguments` with their member names
/// are what the functor can read.
mlir::FailureOr<std::string> rowStateText(
    KernelOp kernel, mlir::Value root, const FunctorShape &shape,
    llvm::ArrayRef<mlir::BlockArgument> arguments, llvm::ArrayRef<std::string> names,
    llvm::function_ref<ExprEmitter::Impl::Coords(ExprEmitter::Impl &, mlir::Value, const FunctorShape &)>
        groupCoords);
/// The constant and the method that store moments; `out` is the member that points to them.
std::string momentsText(RowMomentsOp moments, const FunctorShape &shape, llvm::StringRef out);

} // namespace gpuc

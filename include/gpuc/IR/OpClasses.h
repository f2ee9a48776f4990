// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classes of core ops that fusion, emission and verification ask for.
#pragma once

namespace mlir {
class Operation;
}

namespace gpuc {

/// Ops of which a kernel holds at most one: products, convolutions, pooling, reductions, scans, sorting,
/// normalisations and scatters.
bool isRootOp(mlir::Operation *op);
/// unary, binary, select, cast.
bool isPointwiseOp(mlir::Operation *op);
/// transpose, reshape, slice, expand: index arithmetic, no data of their own.
bool isViewOp(mlir::Operation *op);
/// Ops that only move elements: the views, concat, pad, tile, trilu, gather, gather_elements, gather_nd, and
/// resize in nearest mode.
bool isMovementOp(mlir::Operation *op);

} // namespace gpuc

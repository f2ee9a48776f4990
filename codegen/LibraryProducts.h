// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which products are left to cuBLASLt: a cost model, because the library can't be asked on a machine without
// a GPU.
#pragma once
#include "gpuc/IR/Ops.h"
#include "gpuc/Plan/MatmulProblem.h"
#include "gpuc/Target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gpuc {

/// Whether the library has instructions that most of gpuc's kernels don't use (wgmma), for these types.
bool libraryCompetes(const MatmulProblem &problem, const Target &target);
/// Only where it does, and large enough to pay for the call. Not for products that gpuc has a wgmma body for.
bool prefersLibrary(const MatmulProblem &problem, const Target &target);

/// Splits product kernels whose epilogue the library can't express where that is expected to be faster
/// (SplitProducts.cpp). The function is past the memory phase; the new result shares the old one's place.
void splitProductsForLibrary(mlir::func::FuncOp function, const Target &target);

} // namespace gpuc

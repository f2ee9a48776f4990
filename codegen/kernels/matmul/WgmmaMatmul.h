// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products on the warpgroup tensor cores of sm_90a (../wgmma).
#pragma once
#include "../wgmma/Wgmma.h"
#include "Analysis.h"

namespace gpuc {

/// Row state (docs/adr/0006) goes with results as these bodies store them: unswapped, one matrix, in vectors.
bool keepsRowState(const MatmulAnalysis &m);
/// A product whose operands tensor maps can describe.
struct WgmmaMatmul {
  WgmmaProblem problem;
  WgmmaMatrix rows, cols; ///< operand of the result's rows, of its columns
};
/// Nothing when this body can't compute the product.
std::optional<WgmmaMatmul> analyzeWgmmaMatmul(KernelOp kernel, const MatmulAnalysis &m, const Target &target);
mlir::FailureOr<std::vector<EmittedKernel>> emitWgmmaMatmul(KernelOp kernel, const MatmulAnalysis &m,
                                                            const WgmmaVariant &variant, int splits,
                                                            const Target &target);
/// "struct Output" of tile_coord.cuh over the epilogue's `store`.
std::string matmulOutputText(const MatmulAnalysis &m, const EmittedFunctor &epilogue, unsigned lanes);

} // namespace gpuc

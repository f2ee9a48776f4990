// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions on the warpgroup tensor cores of sm_90a (../wgmma).
#pragma once
#include "../wgmma/Wgmma.h"
#include "Analysis.h"

namespace gpuc {

/// Which operand of a convolution's product the pixels are, and the lanes of the epilogue.
struct ConvRoles {
  bool pixelRows =
      true; ///< pixels are rows and lanes are channels, else channels are rows and lanes are pixels
  unsigned lanes = 1;
};

/// The problem, when this body can compute the convolution.
std::optional<WgmmaProblem> analyzeWgmmaConv(KernelOp kernel, const ConvAnalysis &c, const ConvRoles &roles,
                                             const Target &target);
mlir::FailureOr<std::vector<EmittedKernel>> emitWgmmaConv(KernelOp kernel, const ConvAnalysis &c,
                                                          ConvRoles roles, const WgmmaVariant &variant,
                                                          int splits, const Target &target);

// Of Emit.cpp:
FunctorShape convEpilogueShape(KernelOp kernel, size_t spatial, bool pixelLanes, unsigned lanes);
/// `tf32`: rounded to TF32.
PackingKernel packFilters(KernelOp kernel, const ConvAnalysis &c, const std::string &element, bool tf32);

} // namespace gpuc

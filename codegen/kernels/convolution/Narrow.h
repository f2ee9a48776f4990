// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// 1x1 convolutions with few channels over many pixels (narrow.cuh): when they can be, and their unit.
#pragma once
#include "WgmmaConv.h"

namespace gpuc {

constexpr llvm::StringLiteral kNarrow = "narrow";

struct NarrowShape {
  int64_t rowStride = 0; ///< of x, elements
  int64_t columns = 0;   ///< output channels
  unsigned lanes = 8;    ///< columns of a store
  int64_t tiles = 1;     ///< of 16 pixels, in flight together
  int64_t blocksPerSM = 1;
};
/// Nothing when the convolution is not one that narrow.cuh computes, or its weights do not fit into
/// registers.
std::optional<NarrowShape> narrowShape(const ConvAnalysis &c, const ConvRoles &roles);
/// Microseconds, by the traffic.
double narrowMicroseconds(const NarrowShape &shape, double bytes, const Target &target);
mlir::FailureOr<std::vector<EmittedKernel>> emitNarrow(KernelOp kernel, const ConvAnalysis &c,
                                                       const NarrowShape &shape, const Target &target);

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A gpuc.kernel whose root is conv or conv_transpose, as a Geometry (geometry.cuh) and a tile problem.
#pragma once
#include "../matmul/Operands.h"

namespace gpuc {

struct ConvAnalysis {
  mlir::Operation *root = nullptr;
  DType dtype = DType::F32;
  bool transposed = false;
  int64_t images = 0, groups = 1, groupChannels = 0, groupOutputs = 0;
  /// Per spatial axis.
  llvm::SmallVector<int64_t> xExtent, yExtent, kernel, stride, low, dilation, xStride, wStride;
  int64_t imageStride = 0, channelStride = 0;                  ///< of x
  int64_t filterStride = 0, depthStride = 0, wGroupStride = 0; ///< of w: output channel, input channel, group
  OperandView x, w;
  std::optional<OperandView> bias;
  int64_t access = 1; ///< elements per load of x
  unsigned lanesChannel = 1,
           lanesPixel = 1; ///< what the epilogue allows along channels and the last spatial axis

  bool isDepthwise() const { return !transposed && groupChannels == 1 && groups > 1; }
  int64_t taps() const;   ///< of a phase
  int64_t phases() const; ///< 1 unless transposed
  int64_t pixels() const; ///< of a phase, all images
  int64_t depth() const { return taps() * groupChannels; }
  /// Elements of a packed filter row (packedDepth in geometry.cuh) and of all packed weights.
  int64_t packedDepth() const;
  int64_t packedElements() const { return phases() * groups * groupOutputs * packedDepth(); }
  bool isEmpty() const;
  /// "struct Geometry { … };"
  std::string geometryText(llvm::StringRef elementType) const;
};

mlir::FailureOr<ConvAnalysis> analyzeConvolution(KernelOp kernel);

} // namespace gpuc

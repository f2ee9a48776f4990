// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first layer of image networks on tensor maps: 2x2 pixels become 16 channels (space_to_depth.cuh).
#pragma once
#include "Analysis.h"

namespace gpuc {

/// A convolution of stride 2 over at most 4 channels, seen as one of stride 1 over blocks. Index 0 is x.
struct SpaceToDepth {
  static constexpr int64_t kChannels = 16; ///< of a block
  int64_t blocks[2], taps[2], first[2], skip[2];
  int64_t images = 0;

  int64_t rowElements() const { return taps[0] * kChannels; } ///< under one row of the filter
  int64_t elements() const { return images * blocks[0] * blocks[1] * kChannels; }
  /// The map of the blocks as pixels of `rowElements` channels under a filter of taps[1] rows.
  TensorMapLayout map(DType dtype, const ConvAnalysis &c) const;
};
std::optional<SpaceToDepth> spaceToDepth(const ConvAnalysis &c);
/// The launch that writes the blocks of x to `to`.
EmittedKernel emitSpaceToDepth(KernelOp kernel, const ConvAnalysis &c, const SpaceToDepth &s,
                               const std::string &element, const EmittedArg &to);
PackingKernel packBlockFilters(KernelOp kernel, const ConvAnalysis &c, const SpaceToDepth &s,
                               const std::string &element);

} // namespace gpuc

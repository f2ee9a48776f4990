// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How depthwise convolutions are cut into threads: what is possible, and what should be fastest.
#pragma once
#include "Analysis.h"
#include <vector>

namespace gpuc {

/// The part of the result that a thread computes: `strip` pixels of the last axis x `channels` channels.
struct DepthwiseShape {
  int64_t strip, channels, threads;
  bool operator==(const DepthwiseShape &o) const {
    return strip == o.strip && channels == o.channels && threads == o.threads;
  }
};

/// Channels of x, w and y are neighbours, so that threads may hold vectors of them; w is packed for it.
bool depthwiseUnitStride(const ConvAnalysis &c);
/// All shapes that can be emitted, never empty.
std::vector<DepthwiseShape> depthwiseShapes(const ConvAnalysis &c);
/// The same, best first.
std::vector<DepthwiseShape> rankDepthwise(const ConvAnalysis &c);
/// Threads that have work.
int64_t depthwiseItems(const ConvAnalysis &c, const DepthwiseShape &shape);
/// Whether the registers hold all cells and weights of a thread at once.
bool depthwiseWhole(const ConvAnalysis &c, const DepthwiseShape &shape);

} // namespace gpuc

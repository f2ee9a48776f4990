// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sliding windows of convolutions and pools: strides, dilations, pads, auto_pad and ceil_mode, resolved and
// checked.
#pragma once
#include "Emit.h"

namespace gpuc::frontend {

/// One number per spatial axis. `high` is the declared pad, without what ceil_mode adds.
struct Window {
  Ints kernel, strides, low, high, dilations, out;
  int64_t reach(size_t axis) const { return (kernel[axis] - 1) * dilations[axis] + 1; }
};

/// Reads the attributes 'strides', 'dilations', 'pads'; checks them and `kernel` (numbers and ranges). `out`
/// is left empty.
std::optional<Window> readWindowAttributes(Emit &e, size_t spatialRank, llvm::ArrayRef<int64_t> kernel);
/// Attribute 'kernel_shape': required when `fromWeights` is empty, else it must agree with it.
std::optional<Ints> readKernelShape(Emit &e, llvm::ArrayRef<int64_t> fromWeights);
/// Applies 'auto_pad' and `ceilMode` to a window over `extents`, and sets `out`. False after an error.
bool resolveWindow(Emit &e, Window &window, llvm::ArrayRef<int64_t> extents, bool ceilMode);
/// False, with an error, when a window lies in the padding entirely.
bool everyWindowHits(Emit &e, const Window &window, llvm::ArrayRef<int64_t> extents);
/// Attribute 'auto_pad', one of its four values.
std::optional<std::string> readAutoPad(Emit &e);

} // namespace gpuc::frontend

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where each output position of a resized axis samples the input: computed on the host in double, because
// float arithmetic lands beside exact ties (docs: ONNX Resize 19 and its reference).
#pragma once
#include "gpuc/IR/Ops.h"
#include <vector>

namespace gpuc {

/// The same number of taps for every output position; missing ones have weight 0.
struct ResizeAxis {
  int64_t in = 0, out = 0;
  unsigned taps = 1;
  std::vector<int64_t> source; ///< [out * taps], in [0, in)
  std::vector<double> weight;  ///< [out * taps]
  std::vector<bool> outside;   ///< [out], true: the extrapolation value; empty when never
  bool identity = false;
};
ResizeAxis resizeAxis(ResizeOp op, unsigned axis);

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights of a product that takes over the normalisation of its first factor (docs/adr/0006).
#pragma once
#include "gpuc/Support/HostTensor.h"

namespace gpuc {

struct FoldedWeights {
  HostTensor weights; ///< [K, N] in the weights' type
  HostTensor bias;    ///< [N] f32: the norm's bias times the original weights
};

/// `weights` [K, N] f32 times `scale` [K] f32 (or null). With `centered` the mean of each column is taken off
/// it, since then x·W = (x - mean(x))·W, and the rounding to `type` (F16 or BF16) keeps the columns' sums at
/// zero: else what rounding leaves there would be multiplied by mean(x). `bias` [K] f32 or null.
FoldedWeights foldWeights(const HostTensor &weights, DType type, const HostTensor *scale,
                          const HostTensor *bias, bool centered);

} // namespace gpuc

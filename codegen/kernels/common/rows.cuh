// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mean and scale of a row from the moments that its producer wrote (gpuc.row_moments, gpuc.row_statistics).
#pragma once
#include "common/math.cuh"

namespace gpuc {

struct RowStatistics {
  float mean, scale;
};

/// `moments` points to the row's kParts pairs (sum, sum of squares), which are added in order; 8-byte aligned,
/// 16-byte aligned when kParts is even. `inverseExtent` is 1 / (elements of the row).
template <int kParts, bool kCentered>
GPUC_DEVICE RowStatistics rowStatistics(const float *moments, float inverseExtent, float epsilon) {
  constexpr int kWidth = kParts % 2 == 0 ? 4 : 2;
  Vec<float, kWidth> part[kParts * 2 / kWidth]; // all requested before the first is used
#pragma unroll
  for (int i = 0; i < kParts * 2 / kWidth; ++i)
    part[i] = ldVec<kWidth>(moments + i * kWidth);
  float sum = 0.f, squares = 0.f;
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    sum += part[i * 2 / kWidth][i * 2 % kWidth];
    squares += part[i * 2 / kWidth][i * 2 % kWidth + 1];
  }
  float mean = kCentered ? sum * inverseExtent : 0.f;
  float variance = squares * inverseExtent - mean * mean;
  return {mean, unary_rsqrt((variance > 0.f ? variance : 0.f) + epsilon)};
}

} // namespace gpuc

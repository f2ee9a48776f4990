// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mean and scale of a row from the moments that its producer wrote (gpuc.row_moments, gpuc.row_statistics).
#pragma once
#include "common/math.cuh"

namespace gpuc {

struct RowStatistics {
  float mean, scale;
};

/// A row's kParts pairs (sum, sum of squares), on their way to registers.
template <int kParts> struct RowMoments {
  static constexpr int kWidth = kParts % 2 == 0 ? 4 : 2;
  Vec<float, kWidth> part[kParts * 2 / kWidth];
};
/// `moments` points to the pairs; 8-byte aligned, 16-byte aligned when kParts is even.
template <int kParts> GPUC_DEVICE RowMoments<kParts> loadRowMoments(const float *moments) {
  RowMoments<kParts> m;
#pragma unroll
  for (int i = 0; i < kParts * 2 / m.kWidth; ++i)
    m.part[i] = ldVec<m.kWidth>(moments + i * m.kWidth);
  return m;
}
/// The pairs are added in order. `inverseExtent` is 1 / (elements of the row).
template <bool kCentered, int kParts>
GPUC_DEVICE RowStatistics rowStatistics(const RowMoments<kParts> &m, float inverseExtent, float epsilon) {
  float sum = 0.f, squares = 0.f;
#pragma unroll
  for (int i = 0; i < kParts; ++i) {
    sum += m.part[i * 2 / m.kWidth][i * 2 % m.kWidth];
    squares += m.part[i * 2 / m.kWidth][i * 2 % m.kWidth + 1];
  }
  float mean = kCentered ? sum * inverseExtent : 0.f;
  float variance = squares * inverseExtent - mean * mean;
  return {mean, unary_rsqrt((variance > 0.f ? variance : 0.f) + epsilon)};
}

} // namespace gpuc

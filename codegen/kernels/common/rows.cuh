// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Mean and scale of a row from the moments that its producer wrote (gpuc.row_moments, gpuc.row_statistics).
#pragma once
#include "arch/shuffle.cuh"
#include "common/math.cuh"

namespace gpuc {

struct RowStatistics {
  float mean, scale;
};

/// One of kSlices shares of a row's kParts pairs (sum, sum of squares), on their way to registers.
template <int kParts, int kSlices> struct RowMoments {
  static constexpr int kOwn = (kParts + kSlices - 1) / kSlices; ///< pairs; the last slices may have fewer
  static constexpr int kWidth = kOwn % 2 == 0 && kParts % 2 == 0 ? 4 : 2;
  Vec<float, kWidth> part[kOwn * 2 / kWidth];
};
/// `moments` points to the row's pairs; 8-byte aligned, 16-byte aligned when kParts is even.
template <int kParts, int kSlices>
GPUC_DEVICE RowMoments<kParts, kSlices> loadRowMoments(const float *moments, int slice) {
  RowMoments<kParts, kSlices> m{};
#pragma unroll
  for (int i = 0; i < m.kOwn * 2 / m.kWidth; ++i) {
    int at = slice * m.kOwn * 2 + i * m.kWidth;
    if (kParts % kSlices == 0 || at < kParts * 2)
      m.part[i] = ldVec<m.kWidth>(moments + at);
  }
  return m;
}
/// The pairs are added in order, then the slices, which kSlices neighbouring lanes hold; all of them get the result.
/// `inverseExtent` is 1 / (elements of the row).
template <bool kCentered, int kParts, int kSlices>
GPUC_DEVICE RowStatistics rowStatistics(const RowMoments<kParts, kSlices> &m, float inverseExtent, float epsilon) {
  float sum = 0.f, squares = 0.f;
#pragma unroll
  for (int i = 0; i < m.kOwn; ++i) {
    sum += m.part[i * 2 / m.kWidth][i * 2 % m.kWidth];
    squares += m.part[i * 2 / m.kWidth][i * 2 % m.kWidth + 1];
  }
#pragma unroll
  for (u32 d = 1; d < u32(kSlices); d *= 2) {
    sum += arch::shflXor(sum, d);
    squares += arch::shflXor(squares, d);
  }
  float mean = kCentered ? sum * inverseExtent : 0.f;
  float variance = squares * inverseExtent - mean * mean;
  return {mean, unary_rsqrt((variance > 0.f ? variance : 0.f) + epsilon)};
}

} // namespace gpuc

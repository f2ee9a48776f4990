// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "MatrixMath.h"
#include <cstring>
#include <immintrin.h>

namespace gpuc::sim {

using Float8 = float __attribute__((vector_size(32), aligned(4)));
using Unsigned8 = uint32_t __attribute__((vector_size(32), aligned(4)));

/// Rows x (8 Columns) elements of c in registers.
template <int Rows, int Columns, typename V, typename T>
static inline __attribute__((always_inline)) void panel(T *c, const T *a, const T *b, int n, int k) {
  V sum[Rows][Columns];
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Columns; ++j)
      sum[i][j] = *reinterpret_cast<const V *>(c + i * n + j * 8);
  for (int p = 0; p < k; ++p) {
    V row[Columns];
    for (int j = 0; j < Columns; ++j)
      row[j] = *reinterpret_cast<const V *>(b + p * n + j * 8);
    for (int i = 0; i < Rows; ++i)
      for (int j = 0; j < Columns; ++j)
        sum[i][j] += row[j] * a[i * k + p];
  }
  for (int i = 0; i < Rows; ++i)
    for (int j = 0; j < Columns; ++j)
      *reinterpret_cast<V *>(c + i * n + j * 8) = sum[i][j];
}

template <typename V, typename T>
static inline void multiplyAddAny(T *c, const T *a, const T *b, int m, int n, int k) {
  for (int i = 0; i < m; i += 4) {
    int j = 0;
    for (; j + 16 <= n; j += 16)
      panel<4, 2, V>(c + i * n + j, a + i * k, b + j, n, k);
    for (; j < n; j += 8)
      panel<4, 1, V>(c + i * n + j, a + i * k, b + j, n, k);
  }
}

void multiplyAdd(float *c, const float *a, const float *b, int m, int n, int k) {
  multiplyAddAny<Float8>(c, a, b, m, n, k);
}
void multiplyAdd(int32_t *c, const int32_t *a, const int32_t *b, int m, int n, int k) {
  multiplyAddAny<Unsigned8>(reinterpret_cast<uint32_t *>(c), reinterpret_cast<const uint32_t *>(a),
                            reinterpret_cast<const uint32_t *>(b), m, n, k);
}

void widenF16(float *to, const uint16_t *from, int count) {
  for (int i = 0; i < count; i += 8)
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i *>(from + i))));
}
void widenBf16(float *to, const uint16_t *from, int count) {
  for (int i = 0; i < count; ++i) {
    uint32_t bits = uint32_t(from[i]) << 16;
    memcpy(to + i, &bits, 4);
  }
}
float widenF16(uint16_t bits) { return _cvtsh_ss(bits); }
uint16_t narrowF16(float f) { return _cvtss_sh(f, _MM_FROUND_TO_NEAREST_INT); }

} // namespace gpuc::sim

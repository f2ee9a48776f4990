// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floats to 16 bits: a portable loop, and eight at a time with the F16C instructions, which round and keep
// NaN payloads exactly as floatToHalf does.
#include "gpuc/Support/NarrowFloats.h"
#include <algorithm>
#include <cmath>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace gpuc {

static constexpr float kLargestHalf = 65504.0f;

static void toHalfPortable(const float *from, uint16_t *to, size_t count, bool saturate) {
  for (size_t i = 0; i < count; ++i) {
    float v = from[i];
    if (saturate && std::isfinite(v))
      v = std::clamp(v, -kLargestHalf, kLargestHalf);
    to[i] = floatToHalf(v);
  }
}

#if defined(__x86_64__)
__attribute__((target("avx,f16c"))) static void toHalfF16c(const float *from, uint16_t *to, size_t count,
                                                           bool saturate) {
  const __m256 most = _mm256_set1_ps(kLargestHalf), least = _mm256_set1_ps(-kLargestHalf);
  const __m256 infinity = _mm256_set1_ps(INFINITY), sign = _mm256_set1_ps(-0.0f);
  size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    __m256 v = _mm256_loadu_ps(from + i);
    if (saturate) { // min and max give their second operand when one is NaN
      __m256 inside = _mm256_max_ps(least, _mm256_min_ps(most, v));
      v = _mm256_blendv_ps(inside, v, _mm256_cmp_ps(_mm256_andnot_ps(sign, v), infinity, _CMP_EQ_OQ));
    }
    __m128i half = _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to + i), half);
  }
  toHalfPortable(from + i, to + i, count - i, saturate);
}
#endif

static void toHalf(const float *from, uint16_t *to, size_t count, bool saturate) {
#if defined(__x86_64__)
  static const bool kFast = __builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c");
  if (kFast)
    return toHalfF16c(from, to, count, saturate);
#endif
  toHalfPortable(from, to, count, saturate);
}

static void narrowRange(DType type, const float *from, uint16_t *to, size_t count, bool saturate) {
  if (type == DType::F16)
    return toHalf(from, to, count, saturate);
  for (size_t i = 0; i < count; ++i)
    to[i] = floatToBFloat(from[i]);
}

void narrowFloats(DType type, const float *from, uint16_t *to, size_t count, bool saturate,
                  unsigned threads) {
  constexpr size_t kLeast = size_t(1) << 20; // elements of a thread; fewer are not worth starting one
  if (threads == 0)
    threads = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
  size_t parts = std::max<size_t>(1, std::min<size_t>(threads, count / kLeast));
  size_t each = (count + parts - 1) / parts;
  auto part = [&](size_t i) {
    size_t begin = i * each, end = std::min(count, begin + each);
    if (begin < end)
      narrowRange(type, from + begin, to + begin, end - begin, saturate);
  };
  std::vector<std::thread> pool;
  for (size_t i = 1; i < parts; ++i)
    pool.emplace_back(part, i);
  part(0);
  for (std::thread &t : pool)
    t.join();
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The one inner product loop of the reference executor, used by matmul and the convolutions, and the
// conversion of tensors to and from its accumulator type. Private to runtime/reference.
#pragma once
#include "Dispatch.h"
#include <algorithm>

namespace gpuc::reference {

/// The elements of x as accumulators: double for floats, 64-bit two's complement for integers.
template <typename A> std::vector<A> toAccumulators(const HostTensor &x) {
  std::vector<A> values(x.size());
  (void)dispatchNumeric("load", x.dtype(), [&](auto element) -> Status {
    using E = decltype(element);
    if constexpr (std::is_same_v<A, typename E::Accumulator>) {
      const auto *data = x.data<typename E::Storage>();
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = A(E::load(data[i]));
    }
    return {};
  });
  return values;
}
/// Rounds (floats) or truncates modulo 2^n (integers) into result[at …].
template <typename A> void storeAccumulators(const std::vector<A> &values, HostTensor &result, int64_t at) {
  (void)dispatchNumeric("store", result.dtype(), [&](auto element) -> Status {
    using E = decltype(element);
    if constexpr (std::is_same_v<A, typename E::Accumulator>) {
      auto *data = result.mutableData<typename E::Storage>() + at;
      for (size_t i = 0; i < values.size(); ++i)
        data[i] = typename E::Storage(E::store(typename E::Value(values[i])));
    }
    return {};
  });
}

/// c (m, n) += a (m, k) * b (k, n), all dense. Four rows share one read of b, and a block of columns stays in
/// cache.
template <typename A> void multiplyAdd(const A *a, const A *b, A *c, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kColumns = 256, kRows = 4;
  for (int64_t j0 = 0; j0 < n; j0 += kColumns) {
    int64_t width = std::min(kColumns, n - j0);
    int64_t i = 0;
    for (; i + kRows <= m; i += kRows) {
      A *__restrict c0 = c + i * n + j0, *__restrict c1 = c0 + n, *__restrict c2 = c1 + n,
                    *__restrict c3 = c2 + n;
      for (int64_t p = 0; p < k; ++p) {
        const A *row = b + p * n + j0;
        A a0 = a[i * k + p], a1 = a[(i + 1) * k + p], a2 = a[(i + 2) * k + p], a3 = a[(i + 3) * k + p];
        for (int64_t j = 0; j < width; ++j) {
          c0[j] += a0 * row[j];
          c1[j] += a1 * row[j];
          c2[j] += a2 * row[j];
          c3[j] += a3 * row[j];
        }
      }
    }
    for (; i < m; ++i)
      for (int64_t p = 0; p < k; ++p) {
        A *__restrict out = c + i * n + j0;
        const A *row = b + p * n + j0;
        A factor = a[i * k + p];
        for (int64_t j = 0; j < width; ++j)
          out[j] += factor * row[j];
      }
  }
}

} // namespace gpuc::reference

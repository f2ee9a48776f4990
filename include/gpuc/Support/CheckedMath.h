// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sizes computed from untrusted numbers: every product and sum says when it does not fit.
#pragma once
#include <cstdint>
#include <optional>

namespace gpuc {

inline std::optional<int64_t> checkedAdd(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r))
    return std::nullopt;
  return r;
}
inline std::optional<int64_t> checkedMul(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r))
    return std::nullopt;
  return r;
}
/// Product of non-negative extents; nothing when one is negative or the product overflows. A zero extent
/// gives zero only when the others fit too.
template <typename Range> std::optional<int64_t> checkedProduct(const Range &extents) {
  int64_t product = 1;
  bool zero = false;
  for (int64_t e : extents) {
    if (e < 0)
      return std::nullopt;
    if (e == 0) {
      zero = true;
      continue;
    }
    auto next = checkedMul(product, e);
    if (!next)
      return std::nullopt;
    product = *next;
  }
  return zero ? 0 : product;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise comparison of host tensors.
#include "gpuc/Support/Compare.h"
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>

namespace gpuc {

Tolerance Tolerance::of(DType dtype) {
  switch (dtype) {
  case DType::F16:
    return {4e-3, 1e-3};
  case DType::BF16:
    return {2e-2, 1e-3};
  case DType::F32:
    return {1e-3, 1e-6};
  case DType::F64:
    return {1e-7, 1e-10};
  default:
    return exact();
  }
}

double elementAt(const HostTensor &t, int64_t i) {
  switch (t.dtype()) {
  case DType::Bool:
  case DType::U8:
    return t.data<uint8_t>()[i];
  case DType::I8:
    return t.data<int8_t>()[i];
  case DType::I16:
    return t.data<int16_t>()[i];
  case DType::I32:
    return t.data<int32_t>()[i];
  case DType::I64:
    return double(t.data<int64_t>()[i]);
  case DType::U16:
    return t.data<uint16_t>()[i];
  case DType::U32:
    return t.data<uint32_t>()[i];
  case DType::U64:
    return double(t.data<uint64_t>()[i]);
  case DType::F16:
    return halfToFloat(t.data<uint16_t>()[i]);
  case DType::BF16:
    return bfloatToFloat(t.data<uint16_t>()[i]);
  case DType::F32:
    return t.data<float>()[i];
  case DType::F64:
    return t.data<double>()[i];
  default:
    return std::numeric_limits<double>::quiet_NaN();
  }
}

std::string difference(const HostTensor &got, const HostTensor &expected, Tolerance tolerance) {
  if (got.dtype() != expected.dtype())
    return "type " + std::string(name(got.dtype())) + ", expected " + std::string(name(expected.dtype()));
  if (got.shape() != expected.shape())
    return "shape " + toString(got.shape()) + ", expected " + toString(expected.shape());
  if (expected.size() == 0)
    return "";
  bool real = isFloat(expected.dtype()) && isComputeType(expected.dtype());
  if (!real && std::memcmp(got.bytes(), expected.bytes(), size_t(expected.sizeInBytes())) == 0)
    return "";
  if (bitWidth(expected.dtype()) < 8)
    return "packed elements differ";
  int64_t width = bitWidth(expected.dtype()) / 8, wrong = 0, worst = -1;
  double worstError = 0;
  for (int64_t i = 0, n = got.size(); i < n; ++i) {
    double a = elementAt(got, i), b = elementAt(expected, i), error = std::abs(a - b);
    bool right = real
                     ? a == b || (std::isnan(a) && std::isnan(b)) ||
                           error <= tolerance.absolute + tolerance.relative * std::abs(b)
                     : std::memcmp(got.bytes() + i * width, expected.bytes() + i * width, size_t(width)) == 0;
    if (right)
      continue;
    ++wrong;
    // A NaN where a number should be is worse than any error.
    if (worst < 0 || !(error <= worstError)) {
      worst = i;
      worstError = error;
    }
  }
  if (!wrong)
    return "";
  char text[160];
  std::snprintf(text, sizeof text,
                "%lld of %lld elements differ; the worst is element %lld: got %.9g, expected %.9g",
                (long long)wrong, (long long)got.size(), (long long)worst, elementAt(got, worst),
                elementAt(expected, worst));
  return text;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short ways to write tensors down and to read results back in the tests of the reference executor.
#pragma once
#include "gpuc/Reference/Ops.h"
#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <vector>

namespace gpuc::reference {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A tensor of any type from values that a double holds.
inline HostTensor make(DType dtype, Shape shape, const std::vector<double> &values) {
  HostTensor t(DType::F64, shape);
  EXPECT_EQ(t.size(), int64_t(values.size()));
  std::copy(values.begin(), values.end(), t.mutableData<double>());
  return cast(t, dtype).take();
}
inline HostTensor f32(Shape shape, const std::vector<double> &values) {
  return make(DType::F32, shape, values);
}
inline HostTensor i64(Shape shape, const std::vector<int64_t> &values) {
  HostTensor t(DType::I64, shape);
  EXPECT_EQ(t.size(), int64_t(values.size()));
  std::copy(values.begin(), values.end(), t.mutableData<int64_t>());
  return t;
}
/// start, start + 1, … in row-major order.
inline HostTensor iota(DType dtype, Shape shape, double start = 0) {
  std::vector<double> values(numElements(shape));
  for (double &v : values)
    v = start++;
  return make(dtype, shape, values);
}
/// Reproducible values in [-1, 1), multiples of 1/128: sums and products of a few are exact.
inline HostTensor noise(DType dtype, Shape shape, uint32_t seed = 1) {
  std::vector<double> values(numElements(shape));
  for (double &v : values) {
    seed = seed * 1664525u + 1013904223u;
    v = (int(seed >> 24) - 128) / 128.0;
  }
  return make(dtype, shape, values);
}

inline std::vector<double> read(const HostTensor &t) {
  HostTensor wide = cast(t, DType::F64).take();
  return std::vector<double>(wide.data<double>(), wide.data<double>() + wide.size());
}
inline std::vector<double> read(const Result<HostTensor> &r) {
  EXPECT_TRUE(r.ok()) << r.status().message();
  return r.ok() ? read(*r) : std::vector<double>();
}

/// Expects shape, type and values (NaN equals NaN, zeros by sign) within `tolerance`.
inline void expectTensor(const Result<HostTensor> &got, DType dtype, const Shape &shape,
                         const std::vector<double> &values, double tolerance = 0) {
  ASSERT_TRUE(got.ok()) << got.status().message();
  EXPECT_EQ(got->dtype(), dtype);
  ASSERT_EQ(got->shape(), shape);
  std::vector<double> actual = read(*got);
  ASSERT_EQ(actual.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i]))
      EXPECT_TRUE(std::isnan(actual[i])) << "element " << i << " is " << actual[i];
    else if (std::isinf(values[i]) || tolerance == 0)
      EXPECT_EQ(actual[i], values[i]) << "element " << i;
    else
      EXPECT_NEAR(actual[i], values[i], tolerance) << "element " << i;
    if (values[i] == 0 && tolerance == 0)
      EXPECT_EQ(std::signbit(actual[i]), std::signbit(values[i])) << "sign of element " << i;
  }
}
inline void expectSame(const Result<HostTensor> &got, const Result<HostTensor> &expected,
                       double tolerance = 0) {
  ASSERT_TRUE(expected.ok()) << expected.status().message();
  expectTensor(got, expected->dtype(), expected->shape(), read(*expected), tolerance);
}
template <typename T> void expectError(const Result<T> &got, StatusCode code, const std::string &part) {
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.status().code(), code);
  EXPECT_NE(got.status().message().find(part), std::string::npos) << got.status().message();
}

} // namespace gpuc::reference

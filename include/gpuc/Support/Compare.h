// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Comparing tensors: one tolerance type and one rule for the command line and all tests.
#pragma once
#include "gpuc/Support/HostTensor.h"
#include <string>

namespace gpuc {

/// An element is right when |got - expected| <= absolute + relative * |expected|, when both are NaN, or when
/// both are the same infinity. Integers and bool must be equal whatever the tolerance.
struct Tolerance {
  double relative = 0, absolute = 0;
  static Tolerance exact() { return {}; }
  /// What a few roundings of the type cost in one op whose sums are taken in f32.
  static Tolerance of(DType dtype);
};

/// Element `i` in row-major order as a double; bool as 0 or 1; NaN for storage types. 64-bit integers beyond
/// 2^53 lose digits.
double elementAt(const HostTensor &tensor, int64_t i);

/// Empty when the tensors have one type, one shape and elements within the tolerance; else what differs, with
/// the worst element.
std::string difference(const HostTensor &got, const HostTensor &expected, Tolerance tolerance);

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a run-time element type to C++ code: an Element says how a compute type is stored, in which type it is
// evaluated (all floats in double, integers in their own type) and how sums are kept. Private to
// runtime/reference.
#pragma once
#include "Index.h"
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

namespace gpuc::reference {

/// The value of every f16 bit pattern: weights are read a million at a time.
const float *halfValues();

template <DType D, typename StorageT, typename ValueT> struct ElementBase {
  using Storage = StorageT; ///< in memory
  using Value = ValueT;     ///< in formulas
  static constexpr DType kDType = D;
  static constexpr bool kIsFloat = std::is_floating_point_v<ValueT>;
  static constexpr bool kIsBool = D == DType::Bool;
  static constexpr bool kIsInt = !kIsFloat && !kIsBool;
  /// Sums and products: double, or unsigned 64 bits, which are exact modulo every narrower 2^n.
  using Accumulator = std::conditional_t<kIsFloat, double, uint64_t>;
  static ValueT load(StorageT s) { return ValueT(s); }
  static StorageT store(ValueT v) { return StorageT(v); }
  /// The smallest / largest value: ±inf for floats.
  static ValueT lowest() {
    return kIsFloat ? ValueT(-std::numeric_limits<double>::infinity())
                    : std::numeric_limits<ValueT>::lowest();
  }
  static ValueT highest() {
    return kIsFloat ? ValueT(std::numeric_limits<double>::infinity()) : std::numeric_limits<ValueT>::max();
  }
};
template <DType D, typename T> struct IntElement : ElementBase<D, T, T> {};
struct BoolElement : ElementBase<DType::Bool, uint8_t, bool> {
  static bool load(uint8_t s) { return s != 0; }
};
struct HalfElement : ElementBase<DType::F16, uint16_t, double> {
  static double load(uint16_t s) { return halfValues()[s]; }
  static uint16_t store(double v) { return doubleToHalf(v); }
};
struct BFloatElement : ElementBase<DType::BF16, uint16_t, double> {
  static double load(uint16_t s) { return bfloatToFloat(s); }
  static uint16_t store(double v) { return doubleToBFloat(v); }
};
struct FloatElement : ElementBase<DType::F32, float, double> {};
struct DoubleElement : ElementBase<DType::F64, double, double> {};

/// Calls f(Element{}) with the element of a float compute type; anything else is Unsupported.
template <typename F> auto dispatchFloat(const char *op, DType dtype, F &&f) -> decltype(f(FloatElement{})) {
  switch (dtype) {
  case DType::F16:
    return f(HalfElement{});
  case DType::BF16:
    return f(BFloatElement{});
  case DType::F32:
    return f(FloatElement{});
  case DType::F64:
    return f(DoubleElement{});
  default:
    return unsupportedType(op, dtype);
  }
}
/// … of an integer compute type.
template <typename F>
auto dispatchInt(const char *op, DType dtype, F &&f) -> decltype(f(IntElement<DType::I64, int64_t>{})) {
  switch (dtype) {
  case DType::I8:
    return f(IntElement<DType::I8, int8_t>{});
  case DType::I16:
    return f(IntElement<DType::I16, int16_t>{});
  case DType::I32:
    return f(IntElement<DType::I32, int32_t>{});
  case DType::I64:
    return f(IntElement<DType::I64, int64_t>{});
  case DType::U8:
    return f(IntElement<DType::U8, uint8_t>{});
  case DType::U16:
    return f(IntElement<DType::U16, uint16_t>{});
  case DType::U32:
    return f(IntElement<DType::U32, uint32_t>{});
  case DType::U64:
    return f(IntElement<DType::U64, uint64_t>{});
  default:
    return unsupportedType(op, dtype);
  }
}
/// … of an integer or float compute type.
template <typename F>
auto dispatchNumeric(const char *op, DType dtype, F &&f) -> decltype(f(FloatElement{})) {
  return isFloat(dtype) ? dispatchFloat(op, dtype, f) : dispatchInt(op, dtype, f);
}
/// … of any compute type.
template <typename F> auto dispatchAny(const char *op, DType dtype, F &&f) -> decltype(f(FloatElement{})) {
  return dtype == DType::Bool ? f(BoolElement{}) : dispatchNumeric(op, dtype, f);
}

/// All elements of a float tensor as double.
inline std::vector<double> toDoubles(const HostTensor &x) {
  std::vector<double> values(x.size());
  (void)dispatchFloat("load", x.dtype(), [&](auto element) -> Status {
    using E = decltype(element);
    const auto *data = x.data<typename E::Storage>();
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = E::load(data[i]);
    return {};
  });
  return values;
}
/// Rounds doubles into a float tensor of the same size.
inline void fromDoubles(const std::vector<double> &values, HostTensor &x) {
  (void)dispatchFloat("store", x.dtype(), [&](auto element) -> Status {
    using E = decltype(element);
    auto *data = x.mutableData<typename E::Storage>();
    for (size_t i = 0; i < values.size(); ++i)
      data[i] = typename E::Storage(E::store(values[i]));
    return {};
  });
}

/// Maximum and minimum through which NaN passes.
template <typename V> V maxOf(V a, V b) {
  if constexpr (std::is_floating_point_v<V>)
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) ? a : b;
  return a < b ? b : a;
}
template <typename V> V minOf(V a, V b) {
  if constexpr (std::is_floating_point_v<V>)
    if (std::isnan(a) || std::isnan(b))
      return std::isnan(a) ? a : b;
  return b < a ? b : a;
}

} // namespace gpuc::reference

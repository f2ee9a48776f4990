// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversion between all element types, one rounding each. Tables: ONNX Cast 25; formats of the small floats:
// OCP 8-bit Floating Point Specification 1.0, OCP Microscaling Formats 1.0, and arXiv 2206.02915 for the FNUZ
// kinds.
#include "Dispatch.h"
#include "gpuc/Reference/Ops.h"

namespace gpuc::reference {
namespace {

/// An element outside any format: a double, or an integer of at most 64 bits.
struct Number {
  enum Kind { Float, Signed, Unsigned } kind = Float;
  double real = 0;
  uint64_t bits = 0; ///< two's complement when Signed
};

/// A float of at most 8 bits without the sign's place: exponent bias, mantissa bits, and its special values.
struct SmallFloat {
  int mantissaBits, bias;
  double largest;
  bool hasInfinity; ///< code 0x7c
  bool isFnuz;      ///< NaN is 0x80, no -0
  uint8_t nan;
  uint8_t signBit;
};
const SmallFloat *smallFloat(DType t) {
  static constexpr SmallFloat kE4M3FN{3, 7, 448, false, false, 0x7f, 0x80};
  static constexpr SmallFloat kE4M3FNUZ{3, 8, 240, false, true, 0x80, 0x80};
  static constexpr SmallFloat kE5M2{2, 15, 57344, true, false, 0x7e, 0x80};
  static constexpr SmallFloat kE5M2FNUZ{2, 16, 57344, false, true, 0x80, 0x80};
  static constexpr SmallFloat kE2M1{1, 1, 6, false, false, 0, 0x8}; // NaN: see encode
  // clang-format off
  switch (t) {
  case DType::F8E4M3FN: return &kE4M3FN;
  case DType::F8E4M3FNUZ: return &kE4M3FNUZ;
  case DType::F8E5M2: return &kE5M2;
  case DType::F8E5M2FNUZ: return &kE5M2FNUZ;
  case DType::F4E2M1: return &kE2M1;
  default: return nullptr;
  }
  // clang-format on
}

double decode(const SmallFloat &f, uint8_t code) {
  bool negative = code & f.signBit;
  int magnitude = code & (f.signBit - 1);
  if (f.isFnuz && code == f.nan)
    return NAN;
  if (f.hasInfinity && magnitude >= 0x7c)
    return std::copysign(magnitude == 0x7c ? INFINITY : NAN, negative ? -1.0 : 1.0);
  if (!f.isFnuz && f.nan == 0x7f && magnitude == 0x7f)
    return std::copysign(NAN, negative ? -1.0 : 1.0);
  int exponent = magnitude >> f.mantissaBits, fraction = magnitude & ((1 << f.mantissaBits) - 1);
  double v = exponent == 0 ? std::ldexp(fraction, 1 - f.bias - f.mantissaBits)
                           : std::ldexp(fraction + (1 << f.mantissaBits), exponent - f.bias - f.mantissaBits);
  return negative ? -v : v;
}

uint8_t encode(const SmallFloat &f, bool isFp4, double v, bool saturate) {
  uint8_t sign = std::signbit(v) ? f.signBit : 0;
  if (std::isnan(v))
    return isFp4      ? f.signBit - sign
           : f.isFnuz ? f.nan
                      : f.nan | sign; // fp4 has no NaN: a zero of the other sign
  double magnitude = std::fabs(v);
  auto overflow = [&]() -> uint8_t {
    if (saturate || isFp4)
      return encode(f, isFp4, std::copysign(f.largest, v), true);
    return f.hasInfinity ? 0x7c | sign : f.isFnuz ? f.nan : f.nan | sign;
  };
  if (std::isinf(v))
    return overflow();
  int exponent = magnitude == 0 ? 1 - f.bias : std::max(std::ilogb(magnitude), 1 - f.bias);
  double units = std::nearbyint(std::ldexp(magnitude, f.mantissaBits - exponent));
  if (std::ldexp(units, exponent - f.mantissaBits) > f.largest)
    return overflow();
  int hidden = 1 << f.mantissaBits;
  int code = int(units) < hidden ? int(units) : ((exponent + f.bias) << f.mantissaBits) + int(units) - hidden;
  return code == 0 && f.isFnuz ? 0 : uint8_t(code | sign);
}

/// 2^(code - 127), 255 is NaN; of |v|.
uint8_t encodeE8M0(double v, bool saturate, RoundMode round) {
  v = std::fabs(v);
  if (std::isnan(v))
    return 0xff;
  if (v > std::ldexp(1.0, 127))
    return saturate ? 0xfe : 0xff;
  if (v < std::ldexp(1.0, -127))
    return saturate ? 0 : 0xff;
  int exponent = std::ilogb(v);
  double fraction = std::ldexp(v, -exponent) - 1;
  exponent += (round == RoundMode::Up && fraction > 0) || (round == RoundMode::Nearest && fraction >= 0.5);
  return uint8_t(exponent + 127);
}

Number load(const HostTensor &x, int64_t i) {
  DType t = x.dtype();
  if (isComputeType(t)) {
    Number n;
    (void)dispatchAny("cast", t, [&](auto element) -> Status {
      using E = decltype(element);
      auto v = E::load(x.data<typename E::Storage>()[i]);
      if constexpr (E::kIsFloat)
        n.real = v;
      else
        n = {isSignedInt(t) ? Number::Signed : Number::Unsigned, 0, uint64_t(v)};
      return {};
    });
    return n;
  }
  unsigned bits = bitWidth(t);
  unsigned code = packedAt(x.bytes(), i, bits);
  if (t == DType::F8E8M0)
    return {Number::Float, code == 0xff ? NAN : std::ldexp(1.0, int(code) - 127), 0};
  if (const SmallFloat *f = smallFloat(t))
    return {Number::Float, decode(*f, uint8_t(code)), 0};
  bool negative = isSignedInt(t) && (code >> (bits - 1));
  return {isSignedInt(t) ? Number::Signed : Number::Unsigned, 0,
          negative ? uint64_t(code) - (uint64_t(1) << bits) : uint64_t(code)};
}

/// The number as a double; integers of more than 53 bits are rounded to odd, so that a second rounding to any
/// narrower format is right.
double toReal(const Number &n) {
  if (n.kind == Number::Float)
    return n.real;
  bool negative = n.kind == Number::Signed && int64_t(n.bits) < 0;
  uint64_t magnitude = negative ? 0 - n.bits : n.bits;
  if (magnitude >> 53)
    magnitude = (magnitude & ~uint64_t(0x7ff)) | ((magnitude & 0x7ff) ? 0x800 : 0);
  double v = double(magnitude);
  return negative ? -v : v;
}

/// Truncation toward zero, clamped to 64 bits of the wanted signedness; integers pass as they are.
uint64_t toInteger(const Number &n, bool isSigned) {
  if (n.kind != Number::Float)
    return n.bits;
  if (std::isnan(n.real))
    return 0;
  constexpr double k2To63 = 9223372036854775808.0;
  if (n.real < 0) {
    int64_t v = n.real <= -k2To63 ? INT64_MIN : int64_t(n.real);
    return uint64_t(v);
  }
  if (isSigned)
    return uint64_t(n.real >= k2To63 ? INT64_MAX : int64_t(n.real));
  return n.real >= 2 * k2To63 ? UINT64_MAX : uint64_t(n.real);
}

template <typename E> void storeAs(const Number &n, HostTensor &result, int64_t i) {
  auto *out = result.mutableData<typename E::Storage>() + i;
  if constexpr (E::kIsBool) {
    *out = n.kind == Number::Float ? n.real != 0 : n.bits != 0;
  } else if constexpr (E::kDType == DType::F64) {
    *out = n.kind == Number::Float    ? n.real
           : n.kind == Number::Signed ? double(int64_t(n.bits))
                                      : double(n.bits);
  } else if constexpr (E::kIsFloat) {
    *out = typename E::Storage(E::store(toReal(n)));
  } else {
    using V = typename E::Value;
    if (n.kind != Number::Float)
      *out = V(n.bits);
    else if (n.real <= double(std::numeric_limits<V>::lowest()))
      *out = std::numeric_limits<V>::lowest();
    else if (n.real >= double(std::numeric_limits<V>::max()))
      *out = std::numeric_limits<V>::max();
    else
      *out = V(toInteger(n, std::is_signed_v<V>));
  }
}

void store(const Number &n, HostTensor &result, int64_t i, bool saturate, RoundMode round) {
  DType t = result.dtype();
  unsigned bits = bitWidth(t);
  if (t == DType::F8E8M0)
    result.mutableBytes()[i] = encodeE8M0(toReal(n), saturate, round);
  else if (const SmallFloat *f = smallFloat(t))
    setPacked(result.mutableBytes(), i, bits, encode(*f, t == DType::F4E2M1, toReal(n), saturate));
  else
    setPacked(result.mutableBytes(), i, bits, toInteger(n, isSignedInt(t)));
}

} // namespace

Result<HostTensor> cast(const HostTensor &x, DType to, bool saturate, RoundMode round) {
  if (x.dtype() == to)
    return x;
  auto result = allocate(to, x.shape());
  if (!result)
    return result;
  int64_t count = x.size();
  if (isComputeType(to)) {
    return dispatchAny("cast", to, [&](auto element) -> Result<HostTensor> {
      for (int64_t i = 0; i < count; ++i)
        storeAs<decltype(element)>(load(x, i), *result, i);
      return result;
    });
  }
  for (int64_t i = 0; i < count; ++i)
    store(load(x, i), *result, i, saturate, round);
  return result;
}

} // namespace gpuc::reference

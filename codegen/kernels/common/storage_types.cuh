// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types that are only stored: small floats and integers of fewer than 8 bits. An element is decoded
// to its computing type when it is read and encoded when it is written; in between, `bits` holds its code in
// the low bits. Elements below 8 bits are packed in memory, the first one in the low bits of its byte. Bits
// are shifted and masked only: one text for every architecture. Tables: ONNX Cast 25, OCP 8-bit Floating
// Point Specification 1.0, OCP Microscaling Formats 1.0.
#pragma once
#include "common/types.cuh"

namespace gpuc {

// ---- types

/// A float with a sign, exponents biased by `Bias` and `Mantissa` bits. `Largest` is the code of the largest
/// finite value, `Inf` what a value out of range becomes unless it saturates, `Nan` a positive NaN. With
/// `SignedZero` false there is neither -0 nor a sign of NaN.
template <int Bits, int Mantissa, int Bias, u32 Largest, u32 Inf, u32 Nan, bool SignedZero = true>
struct SmallFloat {
  u8 bits;
  static constexpr int kBits = Bits, kMantissa = Mantissa, kBias = Bias;
  static constexpr u32 kSign = 1u << (Bits - 1), kLargest = Largest, kInf = Inf, kNan = Nan;
  static constexpr bool kSignedZero = SignedZero, kIsInt = false;
  using Compute = float;
};
using f8e4m3fn = SmallFloat<8, 3, 7, 0x7e, 0x7f, 0x7f>;
using f8e4m3fnuz = SmallFloat<8, 3, 8, 0x7f, 0x80, 0x80, false>;
using f8e5m2 = SmallFloat<8, 2, 15, 0x7b, 0x7c, 0x7e>;
using f8e5m2fnuz = SmallFloat<8, 2, 16, 0x7f, 0x80, 0x80, false>;
/// Has neither infinity nor NaN: always saturates, and NaN becomes a zero of the other sign.
using f4e2m1 = SmallFloat<4, 1, 1, 0x7, 0x7, 0x8>;

/// 2^(bits - 127); 255 is NaN.
struct f8e8m0 {
  u8 bits;
  static constexpr int kBits = 8;
  static constexpr bool kIsInt = false;
  using Compute = float;
};

template <int Bits, bool Signed> struct SmallInt {
  u8 bits;
  static constexpr int kBits = Bits;
  static constexpr bool kIsSigned = Signed, kIsInt = true;
  using Compute = typename Select<Signed, i8, u8>::type;
};
using i4 = SmallInt<4, true>;
using u4 = SmallInt<4, false>;
using i2 = SmallInt<2, true>;
using u2 = SmallInt<2, false>;

/// How a number between two powers of two becomes an f8e8m0; Nearest takes the upper one at a tie.
enum class RoundMode { Up, Down, Nearest };

// ---- codes to values

template <int Bits, int Mantissa, int Bias, u32 Largest, u32 Inf, u32 Nan, bool SignedZero>
GPUC_DEVICE float decode(SmallFloat<Bits, Mantissa, Bias, Largest, Inf, Nan, SignedZero> x) {
  using T = SmallFloat<Bits, Mantissa, Bias, Largest, Inf, Nan, SignedZero>;
  u32 code = x.bits, magnitude = code & (T::kSign - 1), sign = (code & T::kSign) << (32 - Bits);
  if constexpr (!SignedZero) {
    if (code == Nan)
      return arch::bitCast<float>(0x7fc00000u);
  } else if constexpr (Bits == 8) {
    if (magnitude > Largest)
      return arch::bitCast<float>(sign | (Inf != Nan && magnitude == Inf ? 0x7f800000u : 0x7fc00000u));
  }
  if (magnitude >> Mantissa) // normal: the fields move, the exponent gets float's bias
    return arch::bitCast<float>(sign | ((magnitude << (23 - Mantissa)) + (u32(127 - Bias) << 23)));
  float least = arch::bitCast<float>(u32(127 + 1 - Bias - Mantissa) << 23); // of the subnormal numbers
  return arch::bitCast<float>(sign | arch::bitCast<u32>(float(magnitude) * least));
}

GPUC_DEVICE float decode(f8e8m0 x) {
  u32 code = x.bits;
  return arch::bitCast<float>(code == 0 ? 0x00400000u : code == 255 ? 0x7fc00000u : code << 23);
}

template <int Bits, bool Signed>
GPUC_DEVICE typename SmallInt<Bits, Signed>::Compute decode(SmallInt<Bits, Signed> x) {
  int code = x.bits;
  if (Signed && (code >> (Bits - 1)))
    code -= 1 << Bits;
  return typename SmallInt<Bits, Signed>::Compute(code);
}

// ---- values to codes

/// `x` as a float that rounds to the same value of any narrower format.
template <typename From> GPUC_DEVICE float sticky(From x) {
  if constexpr (kIsSame<From, double>)
    return roundToOdd(x);
  else if constexpr (kIsInt<From> && sizeof(From) >= 4)
    return roundToOdd(typename Select<kIsSigned<From>, i64, u64>::type(x));
  else
    return float(x);
}

template <typename To, bool kSaturate> GPUC_DEVICE u32 encodeFloat(float x) {
  u32 bits = arch::bitCast<u32>(x), magnitude = bits & 0x7fffffffu;
  u32 sign = To::kSignedZero ? (bits >> 31) * To::kSign : 0;
  if (magnitude > 0x7f800000u)
    return To::kBits == 8 ? To::kNan | sign : To::kNan ^ sign;
  constexpr u32 kLeastExponent = 128 - To::kBias; // in float's bias, of normal numbers
  u32 exponent = magnitude >> 23, significand = magnitude - (u32(127 - To::kBias) << 23);
  int shift = 23 - To::kMantissa;
  if (exponent < kLeastExponent) { // subnormal: the leading one becomes a digit
    significand = (magnitude & 0x7fffffu) | 0x800000u;
    shift += int(kLeastExponent - exponent);
    shift = shift > 25 ? 25 : shift; // less than half of the least number from there on
  }
  u32 code = (significand + ((1u << (shift - 1)) - 1) + ((significand >> shift) & 1)) >> shift;
  if (code == 0)
    return sign;
  if (code > To::kLargest) {
    if constexpr (!kSaturate && To::kBits == 8)
      return To::kInf | sign;
    code = To::kLargest;
  }
  return code | ((bits >> 31) * To::kSign);
}

/// NaN is NaN. What is out of range, zero included, becomes the nearest power if it saturates, else NaN.
/// The sign is dropped.
template <bool kSaturate, RoundMode kRound> GPUC_DEVICE u32 encodePower(float x) {
  u32 magnitude = arch::bitCast<u32>(x) & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return 255;
  if (magnitude > 0x7f000000u) // 2^127
    return kSaturate ? 254 : 255;
  if (magnitude < 0x00400000u) // 2^-127, a subnormal float
    return kSaturate ? 0 : 255;
  u32 exponent = magnitude >> 23, fraction = magnitude & 0x7fffffu;
  if (exponent == 0) // the subnormal floats from there on have one digit more than the fraction
    fraction = (fraction << 1) & 0x7fffffu;
  if constexpr (kRound == RoundMode::Up)
    return exponent + (fraction != 0);
  else if constexpr (kRound == RoundMode::Nearest)
    return exponent + (fraction >= 0x400000u);
  else
    return exponent;
}

/// The low bits of `x` as an integer, truncated toward zero; one beyond 64 bits is clamped first.
template <bool kSigned, typename From> GPUC_DEVICE u32 lowBits(From x) {
  if constexpr (!kIsFloat<From>)
    return u32(x);
  else if constexpr (kSigned)
    return u32(cast<i64>(x));
  else
    return x < From(0) ? u32(cast<i64>(x)) : u32(cast<u64>(x));
}

/// ONNX Cast to a storage type. To a float: nearest even; out of range becomes the largest finite value if it
/// saturates, else infinity or NaN. To an integer: truncated, then the low bits.
template <typename To, bool kSaturate = true, RoundMode kRound = RoundMode::Up, typename From>
GPUC_DEVICE To encode(From x) {
  if constexpr (kIsHalf<From>)
    return encode<To, kSaturate, kRound>(toFloat(x));
  else if constexpr (To::kIsInt)
    return To{u8(lowBits<To::kIsSigned>(x) & ((1u << To::kBits) - 1))};
  else if constexpr (kIsSame<To, f8e8m0>)
    return To{u8(encodePower<kSaturate, kRound>(sticky(x)))};
  else
    return To{u8(encodeFloat<To, kSaturate>(sticky(x)))};
}

// ---- packed memory

template <typename T> inline constexpr int kPerByte = 8 / T::kBits;

/// Element `j` of a byte.
template <typename T> GPUC_DEVICE T unpack(u32 byte, int j) {
  return T{u8((byte >> (j * T::kBits)) & ((1u << T::kBits) - 1))};
}
/// Element `index` of packed memory.
template <typename T, typename I> GPUC_DEVICE T ldPacked(const u8 *p, I index) {
  return unpack<T>(p[index / kPerByte<T>], int(index % kPerByte<T>));
}
/// As ldPacked, for memory that nobody writes while the kernel runs.
template <typename T, typename I> GPUC_DEVICE T ldPackedNc(const u8 *p, I index) {
  return unpack<T>(arch::ldNc1(p + index / kPerByte<T>), int(index % kPerByte<T>));
}

/// L consecutive elements from `index` on, which starts a byte; V bytes at a time.
template <int V, typename T, int L, typename I>
GPUC_DEVICE void ldPackedLanes(T (&r)[L], const u8 *p, I index, bool guard = true) {
  static_assert(L % (V * kPerByte<T>) == 0, "vectors must cover the lanes exactly");
#pragma unroll
  for (int i = 0; i < L / kPerByte<T>; i += V) {
    Vec<u8, V> v{};
    if (guard)
      v = ldVec<V>(p + index / kPerByte<T> + i);
#pragma unroll
    for (int j = 0; j < V * kPerByte<T>; ++j)
      r[i * kPerByte<T> + j] = unpack<T>(v[j / kPerByte<T>], j % kPerByte<T>);
  }
}
/// Writes L consecutive elements from `index` on, which starts a byte; V bytes at a time.
template <int V, typename T, int L, typename I>
GPUC_DEVICE void stPackedLanes(u8 *p, I index, const T (&r)[L]) {
  static_assert(L % (V * kPerByte<T>) == 0, "vectors must cover the lanes exactly");
#pragma unroll
  for (int i = 0; i < L / kPerByte<T>; i += V) {
    Vec<u8, V> v{};
#pragma unroll
    for (int j = 0; j < V * kPerByte<T>; ++j)
      v[j / kPerByte<T>] |= u8(r[i * kPerByte<T> + j].bits << (j % kPerByte<T> * T::kBits));
    stVec(p + index / kPerByte<T> + i, v);
  }
}
/// Writes element `index`. The same thread writes all elements of a byte, in order: no other thread sees it
/// half written.
template <typename T, typename I> GPUC_DEVICE void stPackedNext(u8 *p, I index, T x) {
  int j = int(index % kPerByte<T>);
  u8 before = j == 0 ? u8(0) : p[index / kPerByte<T>];
  p[index / kPerByte<T>] = u8(before | (x.bits << (j * T::kBits)));
}

} // namespace gpuc

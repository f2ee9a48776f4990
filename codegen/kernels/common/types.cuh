// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types, vectors and conversions of kernels. f16 and bf16 are storage only: compute in Acc<T>.
#pragma once
#include "arch/convert.cuh"
#include "arch/ldst.cuh"

namespace gpuc {

struct alignas(2) f16 {
  u16 bits;
};
struct alignas(2) bf16 {
  u16 bits;
};

/// A bool in memory: one byte, 0 or 1. It is computed as bool: cast<bool>(x).
using bool8 = u8;

// ---- traits

template <typename T> struct TypeIdentity {
  using type = T;
};
/// T where it must not take part in template argument deduction.
template <typename T> using NoDeduce = typename TypeIdentity<T>::type;

template <typename A, typename B> inline constexpr bool kIsSame = false;
template <typename A> inline constexpr bool kIsSame<A, A> = true;

template <bool Condition, typename A, typename B> struct Select {
  using type = A;
};
template <typename A, typename B> struct Select<false, A, B> {
  using type = B;
};

template <typename T> inline constexpr bool kIsHalf = kIsSame<T, f16> || kIsSame<T, bf16>;
template <typename T> inline constexpr bool kIsFloat = kIsSame<T, float> || kIsSame<T, double>;
template <typename T> inline constexpr bool kIsBool = kIsSame<T, bool>;
template <typename T> inline constexpr bool kIsInt = !kIsHalf<T> && !kIsFloat<T> && !kIsBool<T>;
template <typename T> inline constexpr bool kIsSigned = T(-1) < T(0);

/// The unsigned integer of `Bytes` bytes.
template <int Bytes> struct UnsignedOf;
template <> struct UnsignedOf<1> {
  using type = u8;
};
template <> struct UnsignedOf<2> {
  using type = u16;
};
template <> struct UnsignedOf<4> {
  using type = u32;
};
template <> struct UnsignedOf<8> {
  using type = u64;
};
template <typename T> using Unsigned = typename UnsignedOf<sizeof(T)>::type;
/// An unsigned type in which T's arithmetic modulo 2^n is free of promotion to int.
template <typename T> using Wide = typename Select<sizeof(T) == 8, u64, u32>::type;

/// The type in which T is computed: float for f16 and bf16, T itself otherwise.
template <typename T> struct AccOf {
  using type = T;
};
template <> struct AccOf<f16> {
  using type = float;
};
template <> struct AccOf<bf16> {
  using type = float;
};
template <typename T> using Acc = typename AccOf<T>::type;

/// +infinity of float or double.
template <typename T> GPUC_DEVICE T infinity() {
  if constexpr (kIsSame<T, float>)
    return arch::bitCast<float>(0x7f800000u);
  else
    return arch::bitCast<double>(u64(0x7ff0000000000000));
}

/// Least and greatest value of T; infinities for float types.
template <typename T> GPUC_DEVICE T lowest() {
  if constexpr (kIsFloat<T>)
    return -infinity<T>();
  else if constexpr (kIsBool<T> || !kIsSigned<T>)
    return T(0);
  else
    return T(T(1) << (sizeof(T) * 8 - 2)) * T(-2);
}
template <typename T> GPUC_DEVICE T highest() {
  if constexpr (kIsFloat<T>)
    return infinity<T>();
  else if constexpr (kIsBool<T>)
    return true;
  else
    return T(~lowest<T>());
}

// ---- conversions

GPUC_DEVICE float toFloat(float x) { return x; }
GPUC_DEVICE float toFloat(f16 x) { return arch::cvtF32F16(x.bits); }
GPUC_DEVICE float toFloat(bf16 x) { return arch::cvtF32Bf16(x.bits); }
/// Any other type: rounds to nearest even.
template <typename T> GPUC_DEVICE float toFloat(T x) { return float(x); }

/// A float whose nearest f16 or bf16 is that of `x`: the last bit is made odd when digits are lost.
GPUC_DEVICE float roundToOdd(double x) {
  float f = float(x);
  if (double(f) == x || x != x)
    return f;
  u32 bits = arch::bitCast<u32>(f);
  if ((double(f) < x) == (x < 0)) // rounded away from zero
    --bits;
  return arch::bitCast<float>(bits | 1u);
}
GPUC_DEVICE float roundToOdd(u64 x) {
  int excess = 40 - __clzll(static_cast<long long>(x)); // significant bits beyond float's 24
  if (excess <= 0)
    return float(x);
  u64 kept = x >> excess;
  return float((kept | ((kept << excess) != x)) << excess);
}
GPUC_DEVICE float roundToOdd(i64 x) { return x < 0 ? -roundToOdd(u64(0) - u64(x)) : roundToOdd(u64(x)); }

/// ONNX Cast. float to integer truncates toward zero, NaN gives 0 and values out of range saturate; integer
/// to integer wraps; anything to bool is `!= 0` (NaN is true); to f16 and bf16 rounds once, to nearest even.
template <typename To, typename From> GPUC_DEVICE To cast(From x) {
  if constexpr (kIsSame<To, From>) {
    return x;
  } else if constexpr (kIsHalf<From>) {
    return cast<To>(toFloat(x));
  } else if constexpr (kIsBool<To>) {
    return x != From(0);
  } else if constexpr (kIsHalf<To>) {
    float f;
    if constexpr (kIsSame<From, double>)
      f = roundToOdd(x);
    else if constexpr (kIsInt<From> && sizeof(From) >= 4)
      f = roundToOdd(typename Select<kIsSigned<From>, i64, u64>::type(x));
    else
      f = float(x);
    if constexpr (kIsSame<To, f16>)
      return f16{arch::cvtF16F32(f)};
    else
      return bf16{arch::cvtBf16F32(f)};
  } else if constexpr (kIsFloat<From> && kIsInt<To>) {
    constexpr int kDigits = sizeof(To) * 8 - (kIsSigned<To> ? 1 : 0);
    constexpr From kLimit = From(u64(1) << (kDigits - 1)) * From(2); // exact
    if (x >= kLimit)
      return highest<To>();
    if (kIsSigned<To> ? x <= -kLimit : x <= From(0))
      return lowest<To>();
    return x == x ? To(x) : To(0);
  } else {
    return To(x);
  }
}

/// The value that `f` has in T, as cast<T>.
template <typename T> GPUC_DEVICE T fromFloat(float f) { return cast<T>(f); }
/// An element in its computing type, and back.
template <typename T> GPUC_DEVICE Acc<T> toAcc(T x) { return cast<Acc<T>>(x); }
template <typename T> GPUC_DEVICE T fromAcc(Acc<T> x) { return cast<T>(x); }

// ---- vectors

/// The largest power of two that divides `bytes`, at most 16.
GPUC_DEVICE constexpr int vectorAlignment(int bytes) {
  return bytes % 16 == 0 ? 16 : bytes % 8 == 0 ? 8 : bytes % 4 == 0 ? 4 : bytes % 2 == 0 ? 2 : 1;
}

/// N elements that are loaded and stored together.
template <typename T, int N> struct alignas(vectorAlignment(int(sizeof(T)) * N)) Vec {
  static constexpr int kAlignment = vectorAlignment(int(sizeof(T)) * N);
  T elements[N];
  GPUC_DEVICE T &operator[](int i) { return elements[i]; }
  GPUC_DEVICE const T &operator[](int i) const { return elements[i]; }
};

/// Loads N elements with accesses of the widest size that divides N * sizeof(T); `p` must be aligned to
/// Vec<T, N>::kAlignment. Global or shared memory.
template <int N, typename T> GPUC_DEVICE Vec<T, N> ldVec(const T *p) {
  using V = Vec<T, N>;
  V v;
#pragma unroll
  for (int i = 0; i < int(sizeof(V)); i += V::kAlignment)
    arch::ldBytes<V::kAlignment>(reinterpret_cast<u8 *>(&v) + i, reinterpret_cast<const u8 *>(p) + i);
  return v;
}

/// As ldVec, through the read-only path: global memory that nobody writes while the kernel runs.
template <int N, typename T> GPUC_DEVICE Vec<T, N> ldVecNc(const T *p) {
  using V = Vec<T, N>;
  V v;
#pragma unroll
  for (int i = 0; i < int(sizeof(V)); i += V::kAlignment)
    arch::ldNcBytes<V::kAlignment>(reinterpret_cast<u8 *>(&v) + i, reinterpret_cast<const u8 *>(p) + i);
  return v;
}

/// Stores N elements, as ldVec loads them.
template <int N, typename T> GPUC_DEVICE void stVec(T *p, const Vec<T, N> &v) {
  using V = Vec<T, N>;
#pragma unroll
  for (int i = 0; i < int(sizeof(V)); i += V::kAlignment)
    arch::stBytes<V::kAlignment>(reinterpret_cast<u8 *>(p) + i, reinterpret_cast<const u8 *>(&v) + i);
}

/// Loads L consecutive floats from a shared address, which is aligned to the widest power of two up to 16 bytes
/// that divides them.
template <int L> GPUC_DEVICE void ldSharedLanes(float (&values)[L], u32 from) {
#pragma unroll
  for (int l = 0; l < L; l += (L % 4 == 0 ? 4 : L % 2 == 0 ? 2 : 1)) {
    if constexpr (L % 4 == 0)
      arch::ldSharedF32x4(from + u32(l) * 4, values[l], values[l + 1], values[l + 2], values[l + 3]);
    else if constexpr (L % 2 == 0)
      arch::ldSharedF32x2(from + u32(l) * 4, values[l], values[l + 1]);
    else
      arch::ldSharedF32x1(from + u32(l) * 4, values[l]);
  }
}

/// f32 rounded to the nearest TF32 (the tensor cores would cut the low bits off), other types as they are.
template <typename T> GPUC_DEVICE T tensorCoreValue(T value) {
  if constexpr (kIsSame<T, float>)
    return arch::bitCast<float>(arch::cvtRnaTf32(value));
  else
    return value;
}

} // namespace gpuc

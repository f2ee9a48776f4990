// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One function per kind of gpuc/Support/OpKinds.h, which states the formulas: unary_<kind>(x[, alpha, beta])
// and binary_<kind>(a, b), with the IR's names. Operands are float, double, integers or bool: convert f16 and
// bf16 to float first (toAcc). Comparisons and predicates give bool, everything else the type of the first
// operand.
#pragma once
#include "arch/approx.cuh"
#include "common/types.cuh"

namespace gpuc {

/// Stops the compiler at a kind that has no meaning for the operand's type.
template <typename T> GPUC_DEVICE void requireFloat() {
  static_assert(kIsFloat<T>, "this function needs float or double; convert f16 and bf16 with toAcc");
}

/// A kind that is one function of the CUDA math library: `fn`f for float, `fn` for double.
#define GPUC_LIBRARY_UNARY(kind, fn)                                                                         \
  template <typename T> GPUC_DEVICE T unary_##kind(T x) {                                                    \
    requireFloat<T>();                                                                                       \
    if constexpr (kIsSame<T, float>)                                                                         \
      return fn##f(x);                                                                                       \
    else                                                                                                     \
      return fn(x);                                                                                          \
  }
GPUC_LIBRARY_UNARY(exp, exp)
GPUC_LIBRARY_UNARY(expm1, expm1) // no kind of its own, used below
GPUC_LIBRARY_UNARY(log, log)
GPUC_LIBRARY_UNARY(log1p, log1p) // no kind of its own, used below
GPUC_LIBRARY_UNARY(sqrt, sqrt)
GPUC_LIBRARY_UNARY(sin, sin)
GPUC_LIBRARY_UNARY(cos, cos)
GPUC_LIBRARY_UNARY(tan, tan)
GPUC_LIBRARY_UNARY(asin, asin)
GPUC_LIBRARY_UNARY(acos, acos)
GPUC_LIBRARY_UNARY(atan, atan)
GPUC_LIBRARY_UNARY(sinh, sinh)
GPUC_LIBRARY_UNARY(cosh, cosh)
GPUC_LIBRARY_UNARY(tanh, tanh)
GPUC_LIBRARY_UNARY(asinh, asinh)
GPUC_LIBRARY_UNARY(acosh, acosh)
GPUC_LIBRARY_UNARY(atanh, atanh)
GPUC_LIBRARY_UNARY(erf, erf)
#undef GPUC_LIBRARY_UNARY

/// A rounding kind: identity on integers.
#define GPUC_ROUNDING_UNARY(kind, fn)                                                                        \
  template <typename T> GPUC_DEVICE T unary_##kind(T x) {                                                    \
    if constexpr (kIsSame<T, float>)                                                                         \
      return fn##f(x);                                                                                       \
    else if constexpr (kIsSame<T, double>)                                                                   \
      return fn(x);                                                                                          \
    else                                                                                                     \
      return x;                                                                                              \
  }
GPUC_ROUNDING_UNARY(ceil, ceil)
GPUC_ROUNDING_UNARY(floor, floor)
GPUC_ROUNDING_UNARY(round, rint)
#undef GPUC_ROUNDING_UNARY

template <typename T> GPUC_DEVICE T unary_neg(T x) {
  if constexpr (kIsFloat<T>)
    return -x;
  else
    return T(Wide<T>(0) - Wide<T>(x));
}
template <typename T> GPUC_DEVICE T unary_abs(T x) {
  if constexpr (kIsSame<T, float>)
    return fabsf(x);
  else if constexpr (kIsSame<T, double>)
    return fabs(x);
  else if constexpr (kIsInt<T> && kIsSigned<T>)
    return x < 0 ? unary_neg(x) : x;
  else
    return x;
}
template <typename T> GPUC_DEVICE T unary_sign(T x) {
  if constexpr (!kIsFloat<T> && !kIsSigned<T>)
    return T(x != T(0));
  else
    return x > T(0) ? T(1) : x < T(0) ? T(-1) : x;
}
template <typename T> GPUC_DEVICE T unary_rsqrt(T x) {
  requireFloat<T>();
  return T(1) / unary_sqrt(x);
}
template <typename T> GPUC_DEVICE T unary_reciprocal(T x) {
  requireFloat<T>();
  return T(1) / x;
}
template <typename T> GPUC_DEVICE T unary_sigmoid(T x) {
  requireFloat<T>();
  return T(1) / (T(1) + unary_exp(-x));
}
template <typename T> GPUC_DEVICE T unary_relu(T x) {
  if constexpr (kIsSame<T, float>)
    return arch::maxOrNan(x, 0.0f);
  else if constexpr (kIsFloat<T> || kIsSigned<T>)
    return x < T(0) ? T(0) : x;
  else
    return x;
}
template <typename T> GPUC_DEVICE T unary_gelu(T x) {
  requireFloat<T>();
  return T(0.5) * x * (T(1) + unary_erf(x * T(0.70710678118654752440)));
}
template <typename T> GPUC_DEVICE T unary_gelu_tanh(T x) {
  requireFloat<T>();
  return T(0.5) * x * (T(1) + unary_tanh(T(0.79788456080286535588) * (x + T(0.044715) * x * x * x)));
}
template <typename T> GPUC_DEVICE T unary_silu(T x) {
  requireFloat<T>();
  return x / (T(1) + unary_exp(-x));
}
template <typename T> GPUC_DEVICE T unary_softplus(T x) {
  requireFloat<T>();
  return x > T(0) ? x + unary_log1p(unary_exp(-x)) : unary_log1p(unary_exp(x));
}
template <typename T> GPUC_DEVICE T unary_softsign(T x) {
  requireFloat<T>();
  return x / (T(1) + unary_abs(x));
}
template <typename T> GPUC_DEVICE T unary_mish(T x) {
  requireFloat<T>();
  return x * unary_tanh(unary_softplus(x));
}
/// max(0, min(1, x)); NaN passes.
template <typename T> GPUC_DEVICE T clampUnit(T x) { return x < T(0) ? T(0) : x > T(1) ? T(1) : x; }
template <typename T> GPUC_DEVICE T unary_hard_swish(T x) {
  requireFloat<T>();
  return x * clampUnit(x * T(1.0 / 6.0) + T(0.5));
}
template <typename T> GPUC_DEVICE T unary_hard_sigmoid(T x, NoDeduce<T> alpha, NoDeduce<T> beta) {
  requireFloat<T>();
  return clampUnit(alpha * x + beta);
}
template <typename T>
GPUC_DEVICE T unary_leaky_relu(T x, NoDeduce<T> alpha, NoDeduce<T> beta = NoDeduce<T>(0)) {
  requireFloat<T>();
  return x >= T(0) ? x : alpha * x;
}
template <typename T> GPUC_DEVICE T unary_elu(T x, NoDeduce<T> alpha, NoDeduce<T> beta = NoDeduce<T>(0)) {
  requireFloat<T>();
  return x >= T(0) ? x : alpha * unary_expm1(x);
}
template <typename T> GPUC_DEVICE T unary_celu(T x, NoDeduce<T> alpha, NoDeduce<T> beta = NoDeduce<T>(0)) {
  requireFloat<T>();
  return x >= T(0) ? x : alpha * unary_expm1(x / alpha);
}
template <typename T> GPUC_DEVICE T unary_selu(T x, NoDeduce<T> alpha, NoDeduce<T> beta) {
  requireFloat<T>();
  return beta * (x > T(0) ? x : alpha * unary_expm1(x));
}
template <typename T>
GPUC_DEVICE T unary_thresholded_relu(T x, NoDeduce<T> alpha, NoDeduce<T> beta = NoDeduce<T>(0)) {
  requireFloat<T>();
  return x > alpha ? x : x != x ? x : T(0);
}
template <typename T> GPUC_DEVICE bool unary_not(T x) { return x == T(0); }
template <typename T> GPUC_DEVICE T unary_bit_not(T x) {
  static_assert(kIsInt<T>, "bit_not needs an integer");
  return T(~x);
}
template <typename T> GPUC_DEVICE bool unary_is_nan(T x) { return x != x; }
/// alpha != 0 detects +inf, beta != 0 detects -inf.
template <typename T>
GPUC_DEVICE bool unary_is_inf(T x, NoDeduce<T> alpha = NoDeduce<T>(1), NoDeduce<T> beta = NoDeduce<T>(1)) {
  if constexpr (kIsFloat<T>)
    return (alpha != T(0) && x == highest<T>()) || (beta != T(0) && x == lowest<T>());
  else
    return false;
}

// ---- binary

#define GPUC_WRAPPING_BINARY(kind, op)                                                                       \
  template <typename T> GPUC_DEVICE T binary_##kind(T a, T b) {                                              \
    if constexpr (kIsFloat<T>)                                                                               \
      return a op b;                                                                                         \
    else                                                                                                     \
      return T(Wide<T>(a) op Wide<T>(b));                                                                    \
  }
GPUC_WRAPPING_BINARY(add, +)
GPUC_WRAPPING_BINARY(sub, -)
GPUC_WRAPPING_BINARY(mul, *)
#undef GPUC_WRAPPING_BINARY

template <typename T> GPUC_DEVICE T binary_div(T a, T b) {
  if constexpr (kIsFloat<T>)
    return a / b;
  if constexpr (kIsSigned<T>)
    if (b == T(-1))
      return unary_neg(a);
  return b == T(0) ? T(0) : T(a / b);
}
template <typename T> GPUC_DEVICE T binary_fmod(T a, T b) {
  if constexpr (kIsSame<T, float>) {
    return fmodf(a, b);
  } else if constexpr (kIsSame<T, double>) {
    return fmod(a, b);
  } else {
    if constexpr (kIsSigned<T>)
      if (b == T(-1))
        return T(0);
    return b == T(0) ? T(0) : T(a % b);
  }
}
template <typename T> GPUC_DEVICE T binary_mod(T a, T b) {
  T r = binary_fmod(a, b);
  if constexpr (kIsFloat<T> || kIsSigned<T>)
    if (r != T(0) && (r < T(0)) != (b < T(0)))
      r = T(r + b);
  return r;
}

template <typename T> GPUC_DEVICE T libraryPow(T a, T b) {
  if constexpr (kIsSame<T, float>)
    return powf(a, b);
  else
    return pow(a, b);
}
/// Base and exponent may differ in type; the result has the base's.
template <typename A, typename B> GPUC_DEVICE A binary_pow(A a, B b) {
  if constexpr (kIsFloat<A> && kIsFloat<B>) {
    return libraryPow(a, A(b));
  } else if constexpr (kIsFloat<A>) { // the exponent's parity is kept even where A cannot hold it
    A magnitude = libraryPow(unary_abs(a), A(b));
    return (u64(b) & 1) && arch::bitCast<Unsigned<A>>(a) >> (sizeof(A) * 8 - 1) ? -magnitude : magnitude;
  } else if constexpr (kIsFloat<B>) {
    double power = pow(double(a), double(b)), whole = rint(power); // 9^0.5 must not become 2
    return cast<A>(fabs(power - whole) <= fabs(whole) * 1e-15 ? whole : power);
  } else {
    if constexpr (kIsSigned<B>)
      if (b < B(0)) {
        if (a == A(1))
          return A(1);
        if constexpr (kIsSigned<A>)
          if (a == A(-1))
            return u64(b) & 1 ? A(-1) : A(1);
        return A(0);
      }
    Wide<A> result = 1, power = Wide<A>(a);
    for (Unsigned<B> n = Unsigned<B>(b); n != 0; n = Unsigned<B>(n >> 1)) {
      if (n & 1)
        result *= power;
      power *= power;
    }
    return A(result);
  }
}

template <typename T> GPUC_DEVICE T binary_min(T a, T b) {
  if constexpr (kIsFloat<T>)
    return a < b || a != a ? a : b;
  else
    return a < b ? a : b;
}
template <typename T> GPUC_DEVICE T binary_max(T a, T b) {
  if constexpr (kIsFloat<T>)
    return a > b || a != a ? a : b;
  else
    return a > b ? a : b;
}
/// min(max(x, low), high); NaN passes.
template <typename T> GPUC_DEVICE T clip(T x, NoDeduce<T> low, NoDeduce<T> high) {
  return binary_min(binary_max(x, low), high);
}
template <typename T> GPUC_DEVICE T binary_prelu(T a, T b) {
  if constexpr (kIsInt<T> && !kIsSigned<T>)
    return a;
  else
    return a >= T(0) ? a : binary_mul(a, b);
}
template <typename T> GPUC_DEVICE bool binary_and(T a, T b) { return (a != T(0)) & (b != T(0)); }
template <typename T> GPUC_DEVICE bool binary_or(T a, T b) { return (a != T(0)) | (b != T(0)); }
template <typename T> GPUC_DEVICE bool binary_xor(T a, T b) { return (a != T(0)) != (b != T(0)); }
template <typename T> GPUC_DEVICE T binary_bit_and(T a, T b) { return T(a & b); }
template <typename T> GPUC_DEVICE T binary_bit_or(T a, T b) { return T(a | b); }
template <typename T> GPUC_DEVICE T binary_bit_xor(T a, T b) { return T(a ^ b); }
/// Counts of n or more bits (and negative ones) shift everything out.
template <typename T> GPUC_DEVICE T binary_shl(T a, T b) {
  return Unsigned<T>(b) >= sizeof(T) * 8 ? T(0) : T(Wide<T>(a) << Unsigned<T>(b));
}
template <typename T> GPUC_DEVICE T binary_shr(T a, T b) {
  if (Unsigned<T>(b) >= sizeof(T) * 8) {
    if constexpr (kIsSigned<T>)
      return a < T(0) ? T(-1) : T(0);
    return T(0);
  }
  return T(a >> Unsigned<T>(b));
}
template <typename T> GPUC_DEVICE bool binary_eq(T a, T b) { return a == b; }
template <typename T> GPUC_DEVICE bool binary_ne(T a, T b) { return a != b; }
template <typename T> GPUC_DEVICE bool binary_lt(T a, T b) { return a < b; }
template <typename T> GPUC_DEVICE bool binary_le(T a, T b) { return a <= b; }
template <typename T> GPUC_DEVICE bool binary_gt(T a, T b) { return a > b; }
template <typename T> GPUC_DEVICE bool binary_ge(T a, T b) { return a >= b; }

} // namespace gpuc

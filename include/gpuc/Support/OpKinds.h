// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kinds of scalar functions, reductions and modes that core ops carry. One list, shared by the IR
// (ir/ has the same enums in ODS, tied to these by static_assert), the reference executor and the emitters.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuc {

// name in C++, name in the IR. Formula: x is the element; a, b are the op's `alpha` and `beta` attributes.
// clang-format off
#define GPUC_UNARY_KINDS(X)                                                                            \
  X(Abs, abs) X(Neg, neg) X(Ceil, ceil) X(Floor, floor) X(Round, round) /* half to even */            \
  X(Sign, sign) X(Exp, exp) X(Log, log) X(Sqrt, sqrt) X(Rsqrt, rsqrt) X(Reciprocal, reciprocal)        \
  X(Sin, sin) X(Cos, cos) X(Tan, tan) X(Asin, asin) X(Acos, acos) X(Atan, atan)                        \
  X(Sinh, sinh) X(Cosh, cosh) X(Tanh, tanh) X(Asinh, asinh) X(Acosh, acosh) X(Atanh, atanh)            \
  X(Erf, erf) X(Sigmoid, sigmoid) X(Relu, relu) /* NaN passes */                                       \
  X(Gelu, gelu)             /* x/2 (1 + erf(x/sqrt 2)) */                                              \
  X(GeluTanh, gelu_tanh)    /* x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) */                        \
  X(Silu, silu)             /* x sigmoid(x) */                                                         \
  X(Softplus, softplus)     /* log(1 + exp x), without overflow */                                     \
  X(Softsign, softsign) X(Mish, mish) /* x tanh(softplus x) */                                         \
  X(HardSwish, hard_swish)  /* x max(0, min(1, x/6 + 1/2)) */                                          \
  X(HardSigmoid, hard_sigmoid) /* max(0, min(1, a x + b)) */                                           \
  X(LeakyRelu, leaky_relu)  /* x >= 0 ? x : a x */                                                     \
  X(Elu, elu)               /* x >= 0 ? x : a (exp x - 1) */                                           \
  X(Celu, celu)             /* max(0,x) + min(0, a (exp(x/a) - 1)) */                                  \
  X(Selu, selu)             /* b (x > 0 ? x : a (exp x - 1)) */                                        \
  X(ThresholdedRelu, thresholded_relu) /* x > a ? x : 0 */                                             \
  X(Not, not) /* bool */ X(BitNot, bit_not)                                                            \
  X(IsNaN, is_nan) /* -> bool */                                                                       \
  X(IsInf, is_inf) /* -> bool; a != 0: detect +inf, b != 0: detect -inf */
#define GPUC_BINARY_KINDS(X)                                                                           \
  X(Add, add) X(Sub, sub) X(Mul, mul)                                                                  \
  X(Div, div)   /* integers: toward zero, x/0 = 0, INT_MIN/-1 = INT_MIN */                             \
  X(Mod, mod)   /* result has the divisor's sign; integers: x mod 0 = 0 */                             \
  X(FMod, fmod) /* result has the dividend's sign */                                                   \
  X(Pow, pow)   /* result has the base's type; integers exact modulo 2^n */                            \
  X(Min, min) X(Max, max) /* NaN passes */                                                             \
  X(PRelu, prelu) /* x >= 0 ? x : x * y */                                                             \
  X(And, and) X(Or, or) X(Xor, xor) /* bool */                                                         \
  X(BitAnd, bit_and) X(BitOr, bit_or) X(BitXor, bit_xor) X(Shl, shl) X(Shr, shr)                       \
  X(Eq, eq) X(Ne, ne) X(Lt, lt) X(Le, le) X(Gt, gt) X(Ge, ge) /* -> bool */
#define GPUC_REDUCE_KINDS(X)                                                                           \
  X(Sum, sum) X(Mean, mean) X(Max, max) X(Min, min) X(Prod, prod) X(L1, l1) X(L2, l2)                  \
  X(LogSum, log_sum) X(LogSumExp, log_sum_exp) X(SumSquare, sum_square)                                \
  X(Any, any) X(All, all)
#define GPUC_PAD_MODES(X) X(Constant, constant) X(Reflect, reflect) X(Edge, edge) X(Wrap, wrap)
#define GPUC_SCATTER_REDUCTIONS(X) X(None, none) X(Add, add) X(Mul, mul) X(Min, min) X(Max, max)
#define GPUC_RESIZE_MODES(X) X(Nearest, nearest) X(Linear, linear) X(Cubic, cubic)
#define GPUC_COORDINATE_MODES(X)                                                                       \
  X(HalfPixel, half_pixel) X(HalfPixelSymmetric, half_pixel_symmetric)                                 \
  X(PytorchHalfPixel, pytorch_half_pixel) X(AlignCorners, align_corners) X(Asymmetric, asymmetric)     \
  X(TfCropAndResize, tf_crop_and_resize) X(TfHalfPixelForNn, tf_half_pixel_for_nn)
#define GPUC_NEAREST_MODES(X)                                                                          \
  X(RoundPreferFloor, round_prefer_floor) X(RoundPreferCeil, round_prefer_ceil)                        \
  X(Floor, floor) X(Ceil, ceil) X(Simple, simple) /* opset < 11: trunc, ceil when shrinking */
// Of a number between two powers of two, when it is converted to f8e8m0.
#define GPUC_ROUND_MODES(X) X(Up, up) X(Down, down) X(Nearest, nearest) /* ties up */
// clang-format on

#define GPUC_DECLARE_KIND(Enum, LIST)                                                                        \
  enum class Enum : uint32_t { LIST(GPUC_KIND_ENUMERATOR) };                                                 \
  std::string_view name(Enum kind);                                                                          \
  std::optional<Enum> parse##Enum(std::string_view name);
#define GPUC_KIND_ENUMERATOR(Cxx, Ir) Cxx,
GPUC_DECLARE_KIND(UnaryKind, GPUC_UNARY_KINDS)
GPUC_DECLARE_KIND(BinaryKind, GPUC_BINARY_KINDS)
GPUC_DECLARE_KIND(ReduceKind, GPUC_REDUCE_KINDS)
GPUC_DECLARE_KIND(PadMode, GPUC_PAD_MODES)
GPUC_DECLARE_KIND(ScatterReduction, GPUC_SCATTER_REDUCTIONS)
GPUC_DECLARE_KIND(ResizeMode, GPUC_RESIZE_MODES)
GPUC_DECLARE_KIND(CoordinateMode, GPUC_COORDINATE_MODES)
GPUC_DECLARE_KIND(NearestMode, GPUC_NEAREST_MODES)
GPUC_DECLARE_KIND(RoundMode, GPUC_ROUND_MODES)
#undef GPUC_DECLARE_KIND
#undef GPUC_KIND_ENUMERATOR

/// True when the function gives bool whatever its operands' type.
constexpr bool isPredicate(UnaryKind k) {
  return k == UnaryKind::Not || k == UnaryKind::IsNaN || k == UnaryKind::IsInf;
}
constexpr bool isComparison(BinaryKind k) { return k >= BinaryKind::Eq && k <= BinaryKind::Ge; }
constexpr bool isLogical(BinaryKind k) {
  return k == BinaryKind::And || k == BinaryKind::Or || k == BinaryKind::Xor;
}

} // namespace gpuc

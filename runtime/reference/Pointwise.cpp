// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar functions element by element: unary, binary with broadcasting, select. Formulas: OpKinds.h.
#include "Dispatch.h"
#include "gpuc/Reference/Ops.h"

namespace gpuc::reference {
namespace {

using UK = UnaryKind;
using BK = BinaryKind;

double sigmoid(double x) { return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x)); }
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }
/// Clamp to [0, 1] that keeps NaN.
double clampUnit(double x) { return x < 0 ? 0 : x > 1 ? 1 : x; }

/// Half to even whatever the rounding mode of the process is.
double roundHalfEven(double x) {
  double r = std::round(x);
  return std::fabs(x - std::trunc(x)) == 0.5 && std::fmod(r, 2) != 0 ? std::copysign(std::fabs(r) - 1, x) : r;
}

double evaluate(UK kind, double x, double a, double b) {
  // clang-format off
  switch (kind) {
  case UK::Abs: return std::fabs(x);
  case UK::Neg: return -x;
  case UK::Ceil: return std::ceil(x);
  case UK::Floor: return std::floor(x);
  case UK::Round: return roundHalfEven(x);
  case UK::Sign: return x > 0 ? 1 : x < 0 ? -1 : x != x ? x : 0;
  case UK::Exp: return std::exp(x);
  case UK::Log: return std::log(x);
  case UK::Sqrt: return std::sqrt(x);
  case UK::Rsqrt: return 1 / std::sqrt(x);
  case UK::Reciprocal: return 1 / x;
  case UK::Sin: return std::sin(x);
  case UK::Cos: return std::cos(x);
  case UK::Tan: return std::tan(x);
  case UK::Asin: return std::asin(x);
  case UK::Acos: return std::acos(x);
  case UK::Atan: return std::atan(x);
  case UK::Sinh: return std::sinh(x);
  case UK::Cosh: return std::cosh(x);
  case UK::Tanh: return std::tanh(x);
  case UK::Asinh: return std::asinh(x);
  case UK::Acosh: return std::acosh(x);
  case UK::Atanh: return std::atanh(x);
  case UK::Erf: return std::erf(x);
  case UK::Sigmoid: return sigmoid(x);
  case UK::Relu: return x < 0 ? 0 : x;
  case UK::Gelu: return x == -INFINITY ? 0 : 0.5 * x * std::erfc(-x / std::sqrt(2.0));
  case UK::GeluTanh:
    if (x == -INFINITY)
      return 0;
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case UK::Silu: return x == -INFINITY ? 0 : x * sigmoid(x);
  case UK::Softplus: return softplus(x);
  case UK::Softsign: return std::isinf(x) ? std::copysign(1.0, x) : x / (1 + std::fabs(x));
  case UK::Mish: return x == -INFINITY ? 0 : x * std::tanh(softplus(x));
  case UK::HardSwish: return x == -INFINITY ? 0 : x * clampUnit(x / 6 + 0.5);
  case UK::HardSigmoid: return clampUnit(a * x + b);
  case UK::LeakyRelu: return x < 0 ? a * x : x;
  case UK::Elu: return x < 0 ? a * std::expm1(x) : x;
  case UK::Celu: return x != x ? x : std::fmax(0, x) + std::fmin(0, a * std::expm1(x / a));
  case UK::Selu: return b * (x > 0 ? x : a * std::expm1(x));
  case UK::ThresholdedRelu: return x > a ? x : x != x ? x : 0;
  case UK::Not: case UK::BitNot: case UK::IsNaN: case UK::IsInf: break;
  }
  // clang-format on
  return x;
}

/// Whether `kind` has a meaning for integers.
bool acceptsInteger(UK kind) {
  return kind == UK::Abs || kind == UK::Neg || kind == UK::Sign || kind == UK::Relu || kind == UK::BitNot ||
         kind == UK::Ceil || kind == UK::Floor || kind == UK::Round;
}
template <typename V> V evaluateInteger(UK kind, V x) {
  using U = std::make_unsigned_t<V>;
  // clang-format off
  switch (kind) {
  case UK::Abs: return x < V(0) ? V(U(0) - U(x)) : x;
  case UK::Neg: return V(U(0) - U(x));
  case UK::Sign: return V(x > V(0)) - V(x < V(0));
  case UK::Relu: return x < V(0) ? V(0) : x;
  case UK::BitNot: return V(~x);
  default: return x;
  }
  // clang-format on
}

Result<HostTensor> predicate(UK kind, const HostTensor &x, bool positive, bool negative) {
  auto result = allocate(DType::Bool, x.shape());
  if (!result)
    return result;
  uint8_t *out = result->mutableBytes();
  if (kind == UK::Not) {
    if (x.dtype() != DType::Bool)
      return unsupportedType("unary not", x.dtype());
    for (int64_t i = 0, e = x.size(); i < e; ++i)
      out[i] = x.bytes()[i] == 0;
    return result;
  }
  return dispatchFloat("unary is_nan/is_inf", x.dtype(), [&](auto element) -> Result<HostTensor> {
    using E = decltype(element);
    const auto *in = x.data<typename E::Storage>();
    for (int64_t i = 0, e = x.size(); i < e; ++i) {
      double v = E::load(in[i]);
      out[i] = kind == UK::IsNaN ? std::isnan(v) : (std::isinf(v) && (v > 0 ? positive : negative));
    }
    return result;
  });
}

/// base^exponent modulo 2^n by squaring.
template <typename V> V powInteger(V base, V exponent) {
  if (exponent < V(0)) {
    if (base == V(1))
      return V(1);
    if (std::is_signed_v<V> && base == V(-1))
      return exponent % V(2) == 0 ? V(1) : V(-1);
    return V(0);
  }
  uint64_t result = 1, factor = uint64_t(base);
  for (uint64_t e = uint64_t(exponent); e; e >>= 1, factor *= factor)
    if (e & 1)
      result *= factor;
  return V(result);
}

template <typename V> V evaluateBinary(BK kind, V a, V b) {
  constexpr bool kIsFloat = std::is_floating_point_v<V>;
  // clang-format off
  switch (kind) {
  case BK::Min: return minOf(a, b);
  case BK::Max: return maxOf(a, b);
  default: break;
  }
  // clang-format on
  if constexpr (kIsFloat) {
    // clang-format off
    switch (kind) {
    case BK::Add: return a + b;
    case BK::Sub: return a - b;
    case BK::Mul: return a * b;
    case BK::Div: return a / b;
    case BK::FMod: return std::fmod(a, b);
    case BK::Mod: {
      double r = std::fmod(a, b);
      return r != 0 && (r < 0) != (b < 0) ? r + b : r == 0 ? std::copysign(0.0, b) : r;
    }
    // clang-format on
    case BK::Pow:
      return std::pow(a, b);
    case BK::PRelu:
      return a < 0 ? a * b : a;
    default:
      return 0;
    }
  } else {
    constexpr int kBits = sizeof(V) * 8;
    uint64_t ua = uint64_t(a), ub = uint64_t(b);
    bool minusOne = std::is_signed_v<V> && b == V(-1);
    bool shiftsOut = b < V(0) || ub >= uint64_t(kBits);
    // clang-format off
    switch (kind) {
    case BK::Add: return V(ua + ub);
    case BK::Sub: return V(ua - ub);
    case BK::Mul: return V(ua * ub);
    case BK::Div: return b == V(0) ? V(0) : minusOne ? V(0 - ua) : V(a / b);
    case BK::FMod: return b == V(0) || minusOne ? V(0) : V(a % b);
    case BK::Mod: {
      V r = b == V(0) || minusOne ? V(0) : V(a % b);
      return r != V(0) && (r < V(0)) != (b < V(0)) ? V(r + b) : r;
    }
    // clang-format on
    case BK::Pow:
      return powInteger(a, b);
    case BK::PRelu:
      return a < V(0) ? V(ua * ub) : a;
    case BK::BitAnd:
      return V(a & b);
    case BK::BitOr:
      return V(a | b);
    case BK::BitXor:
      return V(a ^ b);
    case BK::Shl:
      return shiftsOut ? V(0) : V(ua << ub);
    case BK::Shr:
      return shiftsOut ? (a < V(0) ? V(-1) : V(0)) : V(a >> b);
    default:
      return V(0);
    }
  }
}

template <typename V> bool compare(BK kind, V a, V b) {
  // clang-format off
  switch (kind) {
  case BK::Eq: return a == b;
  case BK::Ne: return a != b;
  case BK::Lt: return a < b;
  case BK::Le: return a <= b;
  case BK::Gt: return a > b;
  default: return a >= b;
  }
  // clang-format on
}
bool evaluateBool(BK kind, bool a, bool b) {
  // clang-format off
  switch (kind) {
  case BK::And: case BK::BitAnd: case BK::Min: case BK::Mul: return a && b;
  case BK::Or: case BK::BitOr: case BK::Max: return a || b;
  default: return a != b;
  }
  // clang-format on
}
bool acceptsBool(BK kind) {
  return isLogical(kind) || isComparison(kind) || kind == BK::BitAnd || kind == BK::BitOr ||
         kind == BK::BitXor || kind == BK::Min || kind == BK::Max || kind == BK::Mul;
}
bool acceptsFloat(BK kind) { return !isLogical(kind) && !(kind >= BK::BitAnd && kind <= BK::Shr); }

/// Pow whose exponent has another type: an integer base with an integer exponent stays exact, all else is
/// double.
template <typename EA, typename EB> typename EA::Value powMixed(typename EA::Value a, typename EB::Value b) {
  using V = typename EA::Value;
  if constexpr (EA::kIsFloat) {
    return std::pow(a, double(b));
  } else if constexpr (EB::kIsInt) {
    if (b < typename EB::Value(0)) { // 1 / a^|b|, truncated
      bool minusOne = std::is_signed_v<V> && a == V(-1);
      return a == V(1) ? V(1) : !minusOne ? V(0) : b % 2 == 0 ? V(1) : V(-1);
    }
    return V(powInteger<uint64_t>(uint64_t(a), uint64_t(b)));
  } else {
    double p = std::trunc(std::pow(double(a), double(b)));
    return !(p > double(EA::lowest()))  ? (p != p ? V(0) : EA::lowest())
           : p >= double(EA::highest()) ? EA::highest()
                                        : V(p);
  }
}

Result<HostTensor> pow(const HostTensor &a, const HostTensor &b, HostTensor result) {
  return dispatchNumeric("binary pow", a.dtype(), [&](auto elementA) {
    using EA = decltype(elementA);
    return dispatchNumeric("binary pow", b.dtype(), [&](auto elementB) -> Result<HostTensor> {
      using EB = decltype(elementB);
      const auto *inA = a.data<typename EA::Storage>();
      const auto *inB = b.data<typename EB::Storage>();
      auto *out = result.mutableData<typename EA::Storage>();
      Odometer<2> at(result.shape(), {broadcastStrides(a.shape(), result.shape()),
                                      broadcastStrides(b.shape(), result.shape())});
      for (int64_t i = 0, e = result.size(); i < e; ++i, at.next())
        out[i] = EA::store(powMixed<EA, EB>(EA::load(inA[at.offset(0)]), EB::load(inB[at.offset(1)])));
      return result;
    });
  });
}

} // namespace

Result<HostTensor> unary(UnaryKind kind, const HostTensor &x, double alpha, double beta) {
  if (isPredicate(kind))
    return predicate(kind, x, alpha != 0, beta != 0);
  auto result = allocate(x.dtype(), x.shape());
  if (!result)
    return result;
  std::string op = "unary " + std::string(name(kind));
  return dispatchNumeric(op.c_str(), x.dtype(), [&](auto element) -> Result<HostTensor> {
    using E = decltype(element);
    const auto *in = x.data<typename E::Storage>();
    auto *out = result->template mutableData<typename E::Storage>();
    if (E::kIsFloat ? kind == UK::BitNot : !acceptsInteger(kind))
      return unsupportedType(op.c_str(), x.dtype());
    for (int64_t i = 0, e = x.size(); i < e; ++i) {
      if constexpr (E::kIsFloat)
        out[i] = E::store(evaluate(kind, E::load(in[i]), alpha, beta));
      else
        out[i] = evaluateInteger(kind, in[i]);
    }
    return result;
  });
}

Result<HostTensor> binary(BinaryKind kind, const HostTensor &a, const HostTensor &b) {
  std::string op = "binary " + std::string(name(kind));
  auto shape = broadcastShapes(a.shape(), b.shape());
  if (!shape)
    return shape.status();
  auto result = allocate(isComparison(kind) ? DType::Bool : a.dtype(), *shape);
  if (!result)
    return result;
  if (kind == BK::Pow)
    return pow(a, b, result.take());
  GPUC_RETURN_IF_ERROR(checkSameType(op.c_str(), a, b));
  return dispatchAny(op.c_str(), a.dtype(), [&](auto element) -> Result<HostTensor> {
    using E = decltype(element);
    if (E::kIsBool ? !acceptsBool(kind) : E::kIsFloat ? !acceptsFloat(kind) : isLogical(kind))
      return unsupportedType(op.c_str(), a.dtype());
    const auto *inA = a.data<typename E::Storage>();
    const auto *inB = b.data<typename E::Storage>();
    auto *out = result->template mutableData<typename E::Storage>();
    uint8_t *outBool = result->mutableBytes();
    Odometer<2> at(*shape, {broadcastStrides(a.shape(), *shape), broadcastStrides(b.shape(), *shape)});
    for (int64_t i = 0, e = result->size(); i < e; ++i, at.next()) {
      auto left = E::load(inA[at.offset(0)]), right = E::load(inB[at.offset(1)]);
      if (isComparison(kind))
        outBool[i] = compare(kind, left, right);
      else if constexpr (E::kIsBool)
        out[i] = evaluateBool(kind, left, right);
      else
        out[i] = E::store(evaluateBinary(kind, left, right));
    }
    return result;
  });
}

namespace {
template <typename T>
void selectElements(const HostTensor &cond, const HostTensor &a, const HostTensor &b, HostTensor &r) {
  const Shape &shape = r.shape();
  Odometer<3> at(shape, {broadcastStrides(cond.shape(), shape), broadcastStrides(a.shape(), shape),
                         broadcastStrides(b.shape(), shape)});
  T *out = r.mutableData<T>();
  for (int64_t i = 0, e = r.size(); i < e; ++i, at.next())
    out[i] = cond.bytes()[at.offset(0)] ? a.data<T>()[at.offset(1)] : b.data<T>()[at.offset(2)];
}
} // namespace

Result<HostTensor> select(const HostTensor &cond, const HostTensor &a, const HostTensor &b) {
  GPUC_RETURN_IF_ERROR(checkSameType("select", a, b));
  if (cond.dtype() != DType::Bool)
    return unsupportedType("select: the condition", cond.dtype());
  if (!isByteSized(a.dtype()))
    return unsupportedType("select", a.dtype());
  auto shape = broadcastShapes(a.shape(), b.shape());
  if (shape)
    shape = broadcastShapes(*shape, cond.shape());
  if (!shape)
    return shape.status();
  auto result = allocate(a.dtype(), *shape);
  if (!result)
    return result;
  // clang-format off
  switch (elementBytes(a.dtype())) {
  case 1: selectElements<uint8_t>(cond, a, b, *result); break;
  case 2: selectElements<uint16_t>(cond, a, b, *result); break;
  case 4: selectElements<uint32_t>(cond, a, b, *result); break;
  default: selectElements<uint64_t>(cond, a, b, *result); break;
  }
  // clang-format on
  return result;
}

} // namespace gpuc::reference

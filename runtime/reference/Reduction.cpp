// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions, arg-reductions and running sums. One pass over x in memory order, one accumulator per result
// element.
#include "Dispatch.h"
#include "gpuc/Reference/Ops.h"

namespace gpuc::reference {
namespace {

using RK = ReduceKind;

/// A reduction as positions: result shape with every axis kept as 1, and the strides that lead x's coordinate
/// there.
struct Reduced {
  Shape kept, final;
  std::vector<int64_t> strides;
  int64_t count = 1; ///< elements that fall into one result
};
Result<Reduced> reducedShape(const char *op, const Shape &shape, const std::vector<int64_t> &axes,
                             bool keepdims) {
  Reduced r;
  r.kept = shape;
  std::vector<bool> gone(shape.size());
  for (int64_t axis : axes) {
    GPUC_RETURN_IF_ERROR(checkAxis(op, axis, int64_t(shape.size())));
    if (gone[axis])
      return invalidArgument(std::string(op) + ": axis " + std::to_string(axis) + " appears twice");
    gone[axis] = true;
    r.count *= shape[axis];
    r.kept[axis] = 1;
  }
  for (size_t d = 0; d < shape.size(); ++d)
    if (!gone[d] || keepdims)
      r.final.push_back(r.kept[d]);
  r.strides = broadcastStrides(r.kept, shape);
  for (size_t d = 0; d < shape.size(); ++d)
    if (gone[d])
      r.strides[d] = 0;
  return r;
}

/// Calls f(result position, element position) for all elements of x.
template <typename F> void forEach(const HostTensor &x, const Reduced &r, F &&f) {
  Odometer<1> at(x.shape(), {r.strides});
  for (int64_t i = 0, e = x.size(); i < e; ++i, at.next())
    f(at.offset(), i);
}

template <typename E> void reduceFloat(RK kind, const HostTensor &x, const Reduced &r, HostTensor &result) {
  const auto *in = x.data<typename E::Storage>();
  double start = kind == RK::Prod ? 1 : kind == RK::Max ? E::lowest() : kind == RK::Min ? E::highest() : 0;
  std::vector<double> acc(result.size(), start), shift(kind == RK::LogSumExp ? acc.size() : 0, E::lowest());
  if (kind == RK::LogSumExp) {
    forEach(x, r, [&](int64_t o, int64_t i) { shift[o] = maxOf(shift[o], E::load(in[i])); });
    for (double &s : shift)
      s = std::isfinite(s) ? s : 0;
  }
  forEach(x, r, [&](int64_t o, int64_t i) {
    double v = E::load(in[i]);
    // clang-format off
    switch (kind) {
    case RK::Max: acc[o] = maxOf(acc[o], v); break;
    case RK::Min: acc[o] = minOf(acc[o], v); break;
    case RK::Prod: acc[o] *= v; break;
    case RK::L1: acc[o] += std::fabs(v); break;
    case RK::L2: case RK::SumSquare: acc[o] += v * v; break;
    case RK::LogSumExp: acc[o] += std::exp(v - shift[o]); break;
    default: acc[o] += v;
    }
    // clang-format on
  });
  auto *out = result.mutableData<typename E::Storage>();
  for (size_t o = 0; o < acc.size(); ++o) {
    double v = acc[o];
    // clang-format off
    switch (kind) {
    case RK::Mean: v /= double(r.count); break;
    case RK::L2: v = std::sqrt(v); break;
    case RK::LogSum: v = std::log(v); break;
    case RK::LogSumExp: v = std::log(v) + shift[o]; break;
    default: break;
    }
    // clang-format on
    out[o] = typename E::Storage(E::store(v));
  }
}

/// A double as an integer, clamped.
template <typename V> V clampTo(double v) {
  if (!(v > double(std::numeric_limits<V>::lowest())))
    return v != v ? V(0) : std::numeric_limits<V>::lowest();
  return v >= double(std::numeric_limits<V>::max()) ? std::numeric_limits<V>::max() : V(v);
}

template <typename E> void reduceInteger(RK kind, const HostTensor &x, const Reduced &r, HostTensor &result) {
  using V = typename E::Value;
  using Wide = std::conditional_t<std::is_signed_v<V>, int64_t, uint64_t>;
  const V *in = x.data<V>();
  V start = kind == RK::Prod ? V(1) : kind == RK::Max ? E::lowest() : kind == RK::Min ? E::highest() : V(0);
  std::vector<uint64_t> acc(result.size(), uint64_t(start));
  bool inDouble = kind == RK::L2 || kind == RK::LogSum || kind == RK::LogSumExp;
  std::vector<double> real(inDouble ? acc.size() : 0);
  forEach(x, r, [&](int64_t o, int64_t i) {
    V v = in[i];
    uint64_t u = uint64_t(v);
    // clang-format off
    switch (kind) {
    case RK::Max: acc[o] = uint64_t(maxOf(V(acc[o]), v)); break;
    case RK::Min: acc[o] = uint64_t(minOf(V(acc[o]), v)); break;
    case RK::Prod: acc[o] *= u; break;
    case RK::L1: acc[o] += v < V(0) ? 0 - u : u; break;
    case RK::SumSquare: acc[o] += u * u; break;
    case RK::L2: real[o] += double(v) * double(v); break;
    case RK::LogSum: real[o] += double(v); break;
    case RK::LogSumExp: real[o] += std::exp(double(v)); break;
    default: acc[o] += u;
    }
    // clang-format on
  });
  V *out = result.mutableData<V>();
  for (size_t o = 0; o < acc.size(); ++o) {
    if (inDouble)
      out[o] = clampTo<V>(kind == RK::L2 ? std::sqrt(real[o]) : std::log(real[o]));
    else if (kind == RK::Mean)
      out[o] = r.count == 0 ? V(0) : V(Wide(acc[o]) / Wide(r.count));
    else
      out[o] = V(acc[o]);
  }
}

Status reduceBool(RK kind, const HostTensor &x, const Reduced &r, HostTensor &result) {
  bool any = kind == RK::Any || kind == RK::Max;
  if (!any && kind != RK::All && kind != RK::Min)
    return unsupportedType(("reduce " + std::string(name(kind))).c_str(), DType::Bool);
  uint8_t *out = result.mutableBytes();
  for (int64_t o = 0, e = result.size(); o < e; ++o)
    out[o] = !any;
  forEach(x, r, [&](int64_t o, int64_t i) {
    out[o] = any ? out[o] | (x.bytes()[i] != 0) : out[o] & (x.bytes()[i] != 0);
  });
  return {};
}

} // namespace

Result<HostTensor> reduce(ReduceKind kind, const HostTensor &x, const std::vector<int64_t> &axes,
                          bool keepdims) {
  auto shape = reducedShape("reduce", x.shape(), axes, keepdims);
  if (!shape)
    return shape.status();
  auto result = allocate(x.dtype(), shape->final);
  if (!result)
    return result;
  std::string op = "reduce " + std::string(name(kind));
  return dispatchAny(op.c_str(), x.dtype(), [&](auto element) -> Result<HostTensor> {
    using E = decltype(element);
    if constexpr (E::kIsBool) {
      GPUC_RETURN_IF_ERROR(reduceBool(kind, x, *shape, *result));
    } else {
      if (kind == RK::Any || kind == RK::All)
        return unsupportedType(op.c_str(), x.dtype());
      if constexpr (E::kIsFloat)
        reduceFloat<E>(kind, x, *shape, *result);
      else
        reduceInteger<E>(kind, x, *shape, *result);
    }
    return result;
  });
}

Result<HostTensor> argReduce(bool isMax, const HostTensor &x, int64_t axis, bool keepdims, bool selectLast) {
  const char *op = isMax ? "arg_max" : "arg_min";
  auto shape = reducedShape(op, x.shape(), {axis}, keepdims);
  if (!shape)
    return shape.status();
  auto result = allocate(DType::I64, shape->final);
  if (!result || result->size() == 0)
    return result;
  if (x.shape()[axis] == 0)
    return invalidArgument(std::string(op) + ": axis " + std::to_string(axis) + " is empty");
  return dispatchAny(op, x.dtype(), [&](auto element) -> Result<HostTensor> {
    using E = decltype(element);
    const auto *in = x.data<typename E::Storage>();
    AxisSplit s(x.shape(), axis);
    for (int64_t lane = 0; lane < s.outer * s.inner; ++lane) {
      int64_t base = lane / s.inner * s.extent * s.inner + lane % s.inner, best = 0;
      for (int64_t i = 1; i < s.extent; ++i) {
        auto v = E::load(in[base + i * s.inner]), w = E::load(in[base + best * s.inner]);
        bool better = isMax ? v > w : v < w, equal = v == w;
        if constexpr (E::kIsFloat) {
          better |= std::isnan(v) && !std::isnan(w);
          equal |= std::isnan(v) && std::isnan(w);
        }
        if (better || (equal && selectLast))
          best = i;
      }
      result->template mutableData<int64_t>()[lane] = best;
    }
    return result;
  });
}

Result<HostTensor> cumSum(const HostTensor &x, int64_t axis, bool exclusive, bool reverse) {
  GPUC_RETURN_IF_ERROR(checkAxis("cum_sum", axis, x.rank()));
  auto result = allocate(x.dtype(), x.shape());
  if (!result)
    return result;
  return dispatchNumeric("cum_sum", x.dtype(), [&](auto element) -> Result<HostTensor> {
    using E = decltype(element);
    using A = typename E::Accumulator;
    const auto *in = x.data<typename E::Storage>();
    auto *out = result->template mutableData<typename E::Storage>();
    AxisSplit s(x.shape(), axis);
    for (int64_t lane = 0; lane < s.outer * s.inner; ++lane) {
      int64_t base = lane / s.inner * s.extent * s.inner + lane % s.inner;
      A sum = 0;
      for (int64_t step = 0; step < s.extent; ++step) {
        int64_t at = base + (reverse ? s.extent - 1 - step : step) * s.inner;
        A before = sum;
        sum += A(E::load(in[at]));
        out[at] = typename E::Storage(E::store(typename E::Value(exclusive ? before : sum)));
      }
    }
    return result;
  });
}

} // namespace gpuc::reference

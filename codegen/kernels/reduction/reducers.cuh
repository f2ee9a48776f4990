// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a reduction accumulates, one struct per kind:
//   Input, State, Output     element in its compute type, accumulator, result in its compute type
//   identity()               the State of nothing
//   fold(State &, x, at)     takes in element x at position `at` of the reduced axis
//   merge(State, State)      joins two disjoint parts; does not depend on which is first
//   shuffle(State, mask)     the State of lane ^ mask
//   finish(State, count)     the result over `count` elements
#pragma once
#include "arch/shuffle.cuh"
#include "common/reduce.cuh"

namespace gpuc {

enum class ReduceMap { None, Abs, Square, Exp };
enum class ReduceFinish { None, Mean, Sqrt, Log };

/// sum, mean, l1, l2, sum_square, log_sum with SumOp; prod, max, min, any, all with their Op. A is the
/// accumulator's type.
template <typename In, typename A, typename Op, ReduceMap kMap, ReduceFinish kFinish> struct ScalarReducer {
  using Input = In;
  using Output = In;
  using State = A;
  GPUC_DEVICE static State identity() { return Op::template identity<A>(); }
  GPUC_DEVICE static void fold(State &s, In x, i64) {
    A v = cast<A>(x);
    if constexpr (kMap == ReduceMap::Abs)
      v = unary_abs(v);
    else if constexpr (kMap == ReduceMap::Square)
      v = binary_mul(v, v);
    else if constexpr (kMap == ReduceMap::Exp)
      v = unary_exp(v);
    s = Op()(s, v);
  }
  GPUC_DEVICE static State merge(State a, State b) { return Op()(a, b); }
  GPUC_DEVICE static State shuffle(State s, u32 mask) { return arch::shflXor(s, mask); }
  GPUC_DEVICE static Output finish(State s, i64 count) {
    if constexpr (kFinish == ReduceFinish::Mean)
      s = kIsFloat<A> ? A(s / A(count)) : binary_div(s, A(count));
    else if constexpr (kFinish == ReduceFinish::Sqrt)
      s = unary_sqrt(s);
    else if constexpr (kFinish == ReduceFinish::Log)
      s = unary_log(s);
    return cast<Output>(s);
  }
};

/// log(sum(exp(x))) in one pass: the sum is kept relative to the largest element so far.
template <typename In> struct LogSumExpReducer {
  static_assert(kIsFloat<In>, "log_sum_exp of integers accumulates with ScalarReducer");
  using Input = In;
  using Output = In;
  struct State {
    In largest, sum; ///< of exp(x - largest)
  };
  GPUC_DEVICE static State identity() { return {lowest<In>(), In(0)}; }
  /// exp(x - largest), 1 where both are the same infinity.
  GPUC_DEVICE static In term(In x, In largest) { return x == largest ? In(1) : unary_exp(x - largest); }
  GPUC_DEVICE static void fold(State &s, In x, i64) { s = merge(s, State{x, In(1)}); }
  GPUC_DEVICE static State merge(State a, State b) {
    In largest = b.largest > a.largest ? b.largest : a.largest == a.largest ? a.largest : b.largest;
    // A NaN element is lost from `largest` here but makes its term, and so the sum, NaN.
    State r{largest, a.sum * term(a.largest, largest) + b.sum * term(b.largest, largest)};
    return r;
  }
  GPUC_DEVICE static State shuffle(State s, u32 mask) {
    return {arch::shflXor(s.largest, mask), arch::shflXor(s.sum, mask)};
  }
  GPUC_DEVICE static Output finish(State s, i64) { return unary_log(s.sum) + s.largest; }
};

/// Position of the largest (kMax) or smallest element; of equal ones the first, or the last. NaN beats every
/// number.
template <typename In, typename Position, bool kMax, bool kLast> struct ArgReducer {
  using Input = In;
  using Output = i64;
  struct State {
    In value;
    Position at; ///< -1: nothing yet
  };
  GPUC_DEVICE static State identity() { return {In(0), Position(-1)}; }
  /// `b` (not empty) replaces `a`.
  GPUC_DEVICE static bool replaces(State a, State b) {
    if (a.at < 0)
      return true;
    bool nanA = a.value != a.value, nanB = b.value != b.value;
    bool better = kMax ? b.value > a.value : b.value < a.value;
    bool equal = a.value == b.value || (nanA && nanB);
    better = better || (nanB && !nanA);
    return better || (equal && (kLast ? b.at > a.at : b.at < a.at));
  }
  GPUC_DEVICE static void fold(State &s, In x, i64 at) {
    State b{x, Position(at)};
    if (replaces(s, b))
      s = b;
  }
  GPUC_DEVICE static State merge(State a, State b) { return b.at >= 0 && replaces(a, b) ? b : a; }
  GPUC_DEVICE static State shuffle(State s, u32 mask) {
    return {arch::shflXor(s.value, mask), arch::shflXor(s.at, mask)};
  }
  GPUC_DEVICE static Output finish(State s, i64) { return i64(s.at); }
};

} // namespace gpuc

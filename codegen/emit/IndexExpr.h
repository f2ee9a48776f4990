// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Symbolic element coordinates: affine sums over variables, quotients and remainders by constants. Knowing
// ranges and multiples of every term, most divisions that reshapes and collapsed loops ask for disappear, and
// it stays visible whether consecutive lanes read consecutive elements.
#pragma once
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <deque>
#include <string>

namespace gpuc::emit {

/// constant + sum of coefficient * atom + lane * (number of the lane). Terms are sorted by atom, without
/// zeros.
struct Index {
  int64_t constant = 0;
  int64_t lane = 0;
  llvm::SmallVector<std::pair<unsigned, int64_t>, 4> terms;
  Index() = default;
  Index(int64_t value) : constant(value) {}
  bool isConstant() const { return terms.empty() && lane == 0; }
  bool operator==(const Index &other) const {
    return constant == other.constant && lane == other.lane && terms == other.terms;
  }
};

/// Inclusive.
struct Range {
  int64_t lo = 0, hi = 0;
};

/// A value that an Index refers to.
struct Atom {
  enum Kind : uint8_t {
    Variable, ///< `text` is a C++ expression
    Div,      ///< operand / divisor, toward minus infinity
    Mod,      ///< operand modulo divisor, never negative
    Refined,  ///< operand, known to lie in `range` where it is used
  };
  Kind kind = Variable;
  std::string text;
  Index operand;
  int64_t divisor = 1;
  Range range;
  int64_t multipleOf = 1; ///< the value is a multiple of this
  bool perLane = false;   ///< may differ between lanes
};

/// Owns atoms, each once.
class IndexContext {
public:
  explicit IndexContext(unsigned lanes) : numLanes(lanes) {}
  unsigned lanes() const { return numLanes; }
  const Atom &atom(unsigned id) const { return atoms[id]; }

  /// A C++ expression in [lo, hi]; the constant when there is only one value.
  Index variable(llvm::StringRef text, Range range, int64_t multipleOf = 1, bool perLane = false);
  Index laneNumber(int64_t coefficient = 1) const;
  Index add(const Index &a, const Index &b);
  Index scale(const Index &a, int64_t factor);
  Index sub(const Index &a, const Index &b) { return add(a, scale(b, -1)); }
  /// Quotient toward minus infinity and non-negative remainder.
  std::pair<Index, Index> divMod(const Index &a, int64_t divisor);
  /// `a` where it is known to lie in [lo, hi], as inside a branch on that.
  Index refine(const Index &a, Range range);
  /// Row-major position of `coords` in `shape`, and back.
  Index linearize(llvm::ArrayRef<Index> coords, llvm::ArrayRef<int64_t> shape);
  llvm::SmallVector<Index> delinearize(Index linear, llvm::ArrayRef<int64_t> shape);
  /// sum of coords[d] * strides[d].
  Index dot(llvm::ArrayRef<Index> coords, llvm::ArrayRef<int64_t> strides);

  Range range(const Index &a) const;
  /// The value is a multiple of this (0: it is 0).
  int64_t granularity(const Index &a) const;
  bool isPerLane(const Index &a) const;
  /// Splits a = big + small with big a multiple of g, small in [0, g) for a g that divides `modulus`, big
  /// without dependence on the lane number where possible. False when there is no such split.
  bool split(const Index &a, int64_t modulus, Index &big, Index &small);
  std::string key(const Index &a) const;

private:
  unsigned intern(Atom atom, const std::string &key);
  Index ofAtom(unsigned id) const;
  Index simplify(Index a);
  Range termRange(std::pair<unsigned, int64_t> term) const;

  unsigned numLanes;
  std::deque<Atom> atoms;
  llvm::StringMap<unsigned> byKey;
};

} // namespace gpuc::emit

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arithmetic and simplification of symbolic coordinates.
#include "IndexExpr.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>
#include <optional>

namespace gpuc::emit {
namespace {

int64_t floorDiv(int64_t a, int64_t b) {
  int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}
int64_t floorMod(int64_t a, int64_t b) { return a - floorDiv(a, b) * b; }

void addTerm(Index &a, unsigned atom, int64_t coefficient) {
  auto at = std::lower_bound(a.terms.begin(), a.terms.end(), atom,
                             [](auto &t, unsigned id) { return t.first < id; });
  if (at != a.terms.end() && at->first == atom) {
    at->second += coefficient;
    if (at->second == 0)
      a.terms.erase(at);
  } else if (coefficient != 0) {
    a.terms.insert(at, {atom, coefficient});
  }
}

} // namespace

unsigned IndexContext::intern(Atom atom, const std::string &key) {
  auto [it, isNew] = byKey.try_emplace(key, unsigned(atoms.size()));
  if (isNew)
    atoms.push_back(std::move(atom));
  return it->second;
}

Index IndexContext::ofAtom(unsigned id) const {
  Index r;
  r.terms.push_back({id, 1});
  return r;
}

Index IndexContext::variable(llvm::StringRef text, Range range, int64_t multipleOf, bool perLane) {
  if (range.hi <= range.lo)
    return Index(range.lo);
  Atom a;
  a.text = text.str();
  a.range = range;
  a.multipleOf = std::max<int64_t>(multipleOf, 1);
  a.perLane = perLane;
  return ofAtom(intern(std::move(a), "v:" + text.str()));
}

Index IndexContext::laneNumber(int64_t coefficient) const {
  Index r;
  r.lane = numLanes > 1 ? coefficient : 0;
  return r;
}

Index IndexContext::add(const Index &a, const Index &b) {
  Index r = a;
  r.constant += b.constant;
  r.lane += b.lane;
  for (auto [atom, coefficient] : b.terms)
    addTerm(r, atom, coefficient);
  return simplify(std::move(r));
}

Index IndexContext::scale(const Index &a, int64_t factor) {
  if (factor == 0)
    return Index(0);
  Index r = a;
  r.constant *= factor;
  r.lane *= factor;
  for (auto &t : r.terms)
    t.second *= factor;
  return r;
}

/// d*k*(X / d) + k*(X mod d) = k*X, and k*a*((X / a) mod b) + k*(X mod a) = k*(X mod ab).
Index IndexContext::simplify(Index a) {
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [low, k] : a.terms) {
      if (atoms[low].kind != Atom::Mod)
        continue;
      int64_t m = atoms[low].divisor;
      Index x = atoms[low].operand;
      for (auto [high, coefficient] : a.terms) {
        const Atom &h = atoms[high];
        if (coefficient != k * m)
          continue;
        if (h.kind == Atom::Div && h.divisor == m && h.operand == x) {
          addTerm(a, high, -coefficient);
          addTerm(a, low, -k);
          a = add(a, scale(x, k));
          changed = true;
          break;
        }
        if (h.kind != Atom::Mod || h.operand.terms.size() != 1 || h.operand.constant != 0 ||
            h.operand.lane != 0 || h.operand.terms[0].second != 1)
          continue;
        const Atom &quotient = atoms[h.operand.terms[0].first];
        if (quotient.kind == Atom::Div && quotient.divisor == m && quotient.operand == x) {
          int64_t product = m * h.divisor;
          addTerm(a, high, -coefficient);
          addTerm(a, low, -k);
          a = add(a, scale(divMod(x, product).second, k));
          changed = true;
          break;
        }
      }
      if (changed)
        break;
    }
  }
  return a;
}

Range IndexContext::termRange(std::pair<unsigned, int64_t> term) const {
  Range r = atoms[term.first].range;
  int64_t a = r.lo * term.second, b = r.hi * term.second;
  return {std::min(a, b), std::max(a, b)};
}

Range IndexContext::range(const Index &a) const {
  int64_t lanes = a.lane * (int64_t(numLanes) - 1);
  Range r{a.constant + std::min<int64_t>(lanes, 0), a.constant + std::max<int64_t>(lanes, 0)};
  for (auto t : a.terms) {
    Range tr = termRange(t);
    r.lo += tr.lo;
    r.hi += tr.hi;
  }
  return r;
}

int64_t IndexContext::granularity(const Index &a) const {
  int64_t g = std::gcd(std::abs(a.constant), std::abs(a.lane));
  for (auto [atom, coefficient] : a.terms)
    g = std::gcd(g, std::abs(coefficient) * atoms[atom].multipleOf);
  return g;
}

bool IndexContext::isPerLane(const Index &a) const {
  return a.lane != 0 || llvm::any_of(a.terms, [&](auto &t) { return atoms[t.first].perLane; });
}

bool IndexContext::split(const Index &a, int64_t modulus, Index &big, Index &small) {
  // Parts in order of granularity; the lane number is a part of its own.
  struct Part {
    int64_t granularity;
    int term; // -1: lane number
  };
  llvm::SmallVector<Part> parts;
  if (a.lane != 0)
    parts.push_back({std::abs(a.lane), -1});
  for (auto [i, t] : llvm::enumerate(a.terms))
    parts.push_back({std::abs(t.second) * atoms[t.first].multipleOf, int(i)});
  llvm::sort(parts, [](const Part &x, const Part &y) {
    return std::pair(x.granularity, x.term) < std::pair(y.granularity, y.term);
  });
  for (size_t count = parts.size(); count > 0; --count) {
    int64_t g = modulus;
    for (const Part &p : llvm::ArrayRef(parts).drop_front(count))
      g = std::gcd(g, p.granularity);
    big = small = Index();
    small.constant = floorMod(a.constant, g);
    big.constant = a.constant - small.constant;
    for (auto [i, p] : llvm::enumerate(parts)) {
      Index &side = i < count ? small : big;
      if (p.term < 0)
        side.lane = a.lane;
      else
        addTerm(side, a.terms[p.term].first, a.terms[p.term].second);
    }
    Range r = range(small);
    if (r.lo >= 0 && r.hi < g)
      return true;
  }
  return false;
}

std::pair<Index, Index> IndexContext::divMod(const Index &a, int64_t divisor) {
  if (divisor == 1)
    return {a, Index(0)};
  Index quotient, rest;
  auto divide = [&](int64_t c, bool floor) -> std::pair<int64_t, int64_t> {
    if (c % divisor == 0)
      return {c / divisor, 0};
    return floor ? std::pair(floorDiv(c, divisor), floorMod(c, divisor)) : std::pair(int64_t(0), c);
  };
  std::tie(quotient.constant, rest.constant) = divide(a.constant, true);
  std::tie(quotient.lane, rest.lane) = divide(a.lane, false);
  for (auto [atom, coefficient] : a.terms) {
    auto [q, r] = divide(coefficient, false);
    addTerm(quotient, atom, q);
    addTerm(rest, atom, r);
  }
  Range r = range(rest);
  if (r.lo < 0) { // moves whole divisors over, so that the rest can be divided as an unsigned number
    int64_t shift = (-r.lo + divisor - 1) / divisor;
    rest.constant += shift * divisor;
    quotient.constant -= shift;
    r = range(rest);
  }
  if (r.lo >= divisor) {
    int64_t shift = r.lo / divisor;
    rest.constant -= shift * divisor;
    quotient.constant += shift;
    r = range(rest);
  }
  if (r.hi < divisor)
    return {simplify(std::move(quotient)), simplify(std::move(rest))};

  Index big, small;
  if (!split(rest, divisor, big, small)) {
    big = rest;
    small = Index();
  }
  // big/divisor with a common factor taken out.
  int64_t g = std::gcd(divisor, std::gcd(std::abs(big.constant), std::abs(big.lane)));
  for (auto &t : big.terms)
    g = std::gcd(g, std::abs(t.second));
  int64_t d = divisor / g;
  big.constant /= g;
  big.lane /= g;
  for (auto &t : big.terms)
    t.second /= g;
  if (d == 1)
    return {add(quotient, big), simplify(std::move(small))};
  Range br = range(big);
  if (br.lo >= 0 && br.hi < d)
    return {simplify(std::move(quotient)), add(scale(big, g), small)};
  bool perLane = isPerLane(big);
  int64_t unit = std::gcd(granularity(big), d);
  std::string operandKey = key(big);
  Atom div, mod;
  div.kind = Atom::Div;
  mod.kind = Atom::Mod;
  div.operand = mod.operand = big;
  div.divisor = mod.divisor = d;
  div.perLane = mod.perLane = perLane;
  div.range = {floorDiv(br.lo, d), floorDiv(br.hi, d)};
  mod.range = {0, d - unit};
  mod.multipleOf = unit;
  unsigned divId = intern(std::move(div), "d:" + operandKey + "/" + std::to_string(d));
  unsigned modId = intern(std::move(mod), "m:" + operandKey + "%" + std::to_string(d));
  return {add(quotient, ofAtom(divId)), add(scale(ofAtom(modId), g), small)};
}

Index IndexContext::refine(const Index &a, Range known) {
  Range r = range(a);
  known.lo = std::max(known.lo, r.lo);
  known.hi = std::min(known.hi, r.hi);
  if (known.lo == r.lo && known.hi == r.hi)
    return a;
  // Keep the dependence on the lane visible if a multiple of a power of two can be refined alone.
  Index big = a, small;
  if (a.lane != 0) {
    bool found = false;
    for (int64_t g = 1; g <= int64_t(numLanes) * std::abs(a.lane); g *= 2) {
      Index b, s;
      if (known.lo % g == 0 && (known.hi + 1) % g == 0 && split(a, g, b, s) && b.lane == 0 && !isPerLane(b)) {
        big = b;
        small = s;
        known.hi = known.hi + 1 - g;
        found = true;
        break;
      }
    }
    if (!found)
      small = Index();
  }
  if (known.hi <= known.lo)
    return add(Index(known.lo), small);
  Atom atom;
  atom.kind = Atom::Refined;
  atom.operand = big;
  atom.range = known;
  atom.multipleOf = std::max<int64_t>(granularity(big), 1);
  atom.perLane = isPerLane(big);
  std::string name = "r:" + key(big) + "[" + std::to_string(known.lo) + "," + std::to_string(known.hi) + "]";
  return add(ofAtom(intern(std::move(atom), name)), small);
}

Index IndexContext::linearize(llvm::ArrayRef<Index> coords, llvm::ArrayRef<int64_t> shape) {
  Index r;
  for (auto [c, extent] : llvm::zip_equal(coords, shape))
    r = add(scale(r, extent), c);
  return r;
}

llvm::SmallVector<Index> IndexContext::delinearize(Index linear, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<Index> coords(shape.size());
  if (llvm::is_contained(shape, 0))
    return coords;
  int64_t total = 1;
  for (int64_t extent : shape)
    total *= extent;
  for (size_t d = shape.size(); d-- > 0;) {
    total /= shape[d];
    if (shape[d] == 1)
      continue;
    if (total == 1) { // the first axis with more than one element holds what is left
      coords[d] = linear;
      break;
    }
    std::tie(linear, coords[d]) = divMod(linear, shape[d]);
  }
  return coords;
}

Index IndexContext::dot(llvm::ArrayRef<Index> coords, llvm::ArrayRef<int64_t> strides) {
  Index r;
  for (auto [c, stride] : llvm::zip_equal(coords, strides))
    r = add(r, scale(c, stride));
  return r;
}

std::string IndexContext::key(const Index &a) const {
  std::string s = std::to_string(a.constant) + "," + std::to_string(a.lane);
  for (auto [atom, coefficient] : a.terms)
    s += ";" + std::to_string(atom) + "*" + std::to_string(coefficient);
  return s;
}

} // namespace gpuc::emit

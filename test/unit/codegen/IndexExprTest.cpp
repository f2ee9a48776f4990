// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Symbolic coordinates: simplifications that kernels rely on, and random expressions against their values.
#include "emit/IndexExpr.h"
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace gpuc::emit;

namespace {

/// The value of an index for given values of the variables "x0", "x1", … and a lane.
int64_t valueOf(const IndexContext &context, const Index &index, llvm::ArrayRef<int64_t> variables,
                int64_t lane) {
  int64_t v = index.constant + index.lane * lane;
  for (auto [id, coefficient] : index.terms) {
    const Atom &a = context.atom(id);
    int64_t own = 0;
    if (a.kind == Atom::Variable) {
      own = variables[size_t(std::stoi(a.text.substr(1)))];
    } else {
      int64_t operand = valueOf(context, a.operand, variables, lane), d = a.divisor;
      EXPECT_GE(operand, 0) << "generated code divides as unsigned";
      own = a.kind == Atom::Div ? operand / d : a.kind == Atom::Mod ? operand % d : operand;
    }
    EXPECT_GE(own, a.range.lo);
    EXPECT_LE(own, a.range.hi);
    EXPECT_EQ(own % a.multipleOf, 0);
    v += coefficient * own;
  }
  return v;
}

TEST(IndexExprTest, ReshapeAndBackIsTheIdentity) {
  IndexContext c(1);
  llvm::SmallVector<int64_t> shape{3, 5, 7}, other{21, 5};
  llvm::SmallVector<Index> coords;
  for (int d = 0; d < 3; ++d)
    coords.push_back(c.variable("x" + std::to_string(d), {0, shape[d] - 1}));
  auto there = c.delinearize(c.linearize(coords, shape), other);
  auto back = c.delinearize(c.linearize(there, other), shape);
  for (int d = 0; d < 3; ++d)
    EXPECT_TRUE(back[d] == coords[d]) << d;
}

TEST(IndexExprTest, CollapsedCoordinatesOfContiguousBuffersAreThePosition) {
  IndexContext c(8);
  Index p = c.add(c.variable("x0", {0, 839}, 8), c.laneNumber());
  auto coords = c.delinearize(p, {3, 5, 7, 8});
  EXPECT_TRUE(c.dot(coords, {280, 56, 8, 1}) == p);
}

TEST(IndexExprTest, LanesInsideAnAxisKeepTheOtherAxesTheSame) {
  IndexContext c(4);
  Index p = c.add(c.variable("x0", {0, 116}, 4), c.laneNumber());
  auto coords = c.delinearize(p, {5, 24});
  EXPECT_FALSE(c.isPerLane(coords[0]));
  EXPECT_EQ(coords[1].lane, 1);
  auto odd = c.delinearize(p, {8, 15});
  EXPECT_TRUE(c.isPerLane(odd[0]));
}

TEST(IndexExprTest, RandomExpressionsKeepTheirValue) {
  std::mt19937 random(1);
  auto pick = [&](int64_t lo, int64_t hi) { return lo + int64_t(random() % uint64_t(hi - lo + 1)); };
  for (int round = 0; round < 2000; ++round) {
    unsigned lanes = 1u << pick(0, 3);
    IndexContext c(lanes);
    struct Case {
      Index index;
      std::function<int64_t(const int64_t *, int64_t)> value;
    };
    std::vector<Case> cases;
    int64_t extents[3], multiples[3];
    for (int d = 0; d < 3; ++d) {
      multiples[d] = d == 0 ? lanes : pick(1, 4);
      extents[d] = pick(1, 12);
      Index v = c.variable("x" + std::to_string(d), {0, (extents[d] - 1) * multiples[d]}, multiples[d]);
      cases.push_back({v, [d](const int64_t *x, int64_t) { return x[d]; }});
    }
    cases.push_back({c.laneNumber(), [](const int64_t *, int64_t lane) { return lane; }});
    for (int step = 0; step < 8; ++step) {
      Case a = cases[size_t(pick(0, int64_t(cases.size()) - 1))],
           b = cases[size_t(pick(0, int64_t(cases.size()) - 1))];
      int64_t k = pick(1, 9), o = pick(0, 20);
      auto [q, r] = c.divMod(c.add(a.index, Index(o)), k);
      cases.push_back({q, [=](const int64_t *x, int64_t l) { return (a.value(x, l) + o) / k; }});
      cases.push_back({r, [=](const int64_t *x, int64_t l) { return (a.value(x, l) + o) % k; }});
      int64_t s = pick(1, 12);
      cases.push_back({c.add(c.scale(a.index, s), b.index),
                       [=](const int64_t *x, int64_t l) { return s * a.value(x, l) + b.value(x, l); }});
    }
    for (int trial = 0; trial < 6; ++trial) {
      int64_t x[3], lane = pick(0, lanes - 1);
      for (int d = 0; d < 3; ++d)
        x[d] = pick(0, extents[d] - 1) * multiples[d];
      for (const Case &one : cases) {
        int64_t expected = one.value(x, lane);
        ASSERT_EQ(valueOf(c, one.index, x, lane), expected) << c.key(one.index);
        Range range = c.range(one.index);
        ASSERT_LE(range.lo, expected);
        ASSERT_GE(range.hi, expected);
      }
    }
  }
}

} // namespace

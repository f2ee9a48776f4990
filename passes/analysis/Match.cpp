// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matchers for polynomials, products and trailing reductions.
#include "Match.h"

using namespace mlir;

namespace gpuc {

static std::optional<Polynomial> multiply(const Polynomial &a, const Polynomial &b) {
  Polynomial r{};
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j) {
      if (a[i] == 0 || b[j] == 0)
        continue;
      if (i + j >= r.size())
        return std::nullopt;
      r[i + j] += a[i] * b[j];
    }
  return r;
}

std::optional<Polynomial> matchPolynomial(Value v, Value x, int depth) {
  if (v == x)
    return Polynomial{0, 1, 0, 0};
  if (auto s = matchScalar(v))
    return Polynomial{*s, 0, 0, 0};
  auto op = v.getDefiningOp<BinaryOp>();
  if (!op || depth > 8)
    return std::nullopt;
  auto a = matchPolynomial(op.getX(), x, depth + 1);
  if (!a)
    return std::nullopt;
  if (op.getKind() == BinaryKind::Pow) {
    auto exponent = getSplat(op.getY()); // of any type
    auto square = exponent && (*exponent == 2 || *exponent == 3) ? multiply(*a, *a) : std::nullopt;
    return square && *exponent == 3 ? multiply(*square, *a) : square;
  }
  auto b = matchPolynomial(op.getY(), x, depth + 1);
  if (!b)
    return std::nullopt;
  Polynomial r{};
  switch (op.getKind()) {
  case BinaryKind::Add:
    for (size_t i = 0; i < r.size(); ++i)
      r[i] = (*a)[i] + (*b)[i];
    return r;
  case BinaryKind::Sub:
    for (size_t i = 0; i < r.size(); ++i)
      r[i] = (*a)[i] - (*b)[i];
    return r;
  case BinaryKind::Mul:
    return multiply(*a, *b);
  case BinaryKind::Div:
    if ((*b)[1] != 0 || (*b)[2] != 0 || (*b)[3] != 0 || (*b)[0] == 0)
      return std::nullopt;
    for (size_t i = 0; i < r.size(); ++i)
      r[i] = (*a)[i] / (*b)[0];
    return r;
  default:
    return std::nullopt;
  }
}

static void flatten(Value v, bool isRoot, Product &product) {
  if (auto s = matchScalar(v)) {
    product.scale *= *s;
    return;
  }
  bool enter = isRoot || v.hasOneUse();
  if (auto mul = matchBinary(v, BinaryKind::Mul); mul && enter) {
    flatten(mul.getX(), false, product);
    flatten(mul.getY(), false, product);
    return;
  }
  if (auto div = matchBinary(v, BinaryKind::Div); div && enter)
    if (auto s = matchScalar(div.getY()); s && *s != 0) {
      product.scale /= *s;
      flatten(div.getX(), false, product);
      return;
    }
  product.factors.push_back(v);
}

Product flattenProduct(Value v) {
  Product product;
  flatten(v, true, product);
  return product;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small matchers that the recognition passes share.
#pragma once
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Ops.h"
#include "gpuc/IR/Types.h"
#include <array>
#include <cmath>
#include <optional>

namespace gpuc {

/// The binary op of this kind that defines `v`, or null.
inline BinaryOp matchBinary(mlir::Value v, BinaryKind kind) {
  auto op = v.getDefiningOp<BinaryOp>();
  return op && op.getKind() == kind ? op : BinaryOp();
}
inline UnaryOp matchUnary(mlir::Value v, UnaryKind kind) {
  auto op = v.getDefiningOp<UnaryOp>();
  return op && op.getKind() == kind ? op : UnaryOp();
}
inline ReduceOp matchReduce(mlir::Value v, ReduceKind kind) {
  auto op = v.getDefiningOp<ReduceOp>();
  return op && op.getKind() == kind ? op : ReduceOp();
}

/// The value of a floating-point constant with equal elements.
inline std::optional<double> matchScalar(mlir::Value v) {
  if (!mlir::isa<mlir::FloatType>(elementTypeOf(v)))
    return std::nullopt;
  return getSplat(v);
}

/// Equal up to the rounding of a constant of this type, and of a few products of such constants. Exporters
/// write some of them with five digits.
inline bool isAbout(double got, double expected, mlir::Type element) {
  double tolerance = element.isBF16() ? 1.6e-2 : element.isF16() ? 2e-3 : 2e-5;
  return std::abs(got - expected) <= tolerance * std::abs(expected);
}

/// An op of a commutative kind with a scalar constant on one side: the other operand and the scalar.
struct ScalarOperand {
  mlir::Value other;
  double scalar;
};
inline std::optional<ScalarOperand> matchWithScalar(mlir::Value v, BinaryKind kind) {
  auto op = matchBinary(v, kind);
  if (!op)
    return std::nullopt;
  if (auto s = matchScalar(op.getY()); s && shapeOf(op.getX()) == shapeOf(v))
    return ScalarOperand{op.getX(), *s};
  bool commutes = kind == BinaryKind::Add || kind == BinaryKind::Mul || kind == BinaryKind::Min ||
                  kind == BinaryKind::Max;
  if (auto s = matchScalar(op.getX()); commutes && s && shapeOf(op.getY()) == shapeOf(v))
    return ScalarOperand{op.getY(), *s};
  return std::nullopt;
}

/// Coefficients of a polynomial in `x`, lowest degree first.
using Polynomial = std::array<double, 4>;
/// `v` as a polynomial of degree up to 3 in `x`, when it is made of additions, subtractions, products,
/// divisions by constants and integer powers.
std::optional<Polynomial> matchPolynomial(mlir::Value v, mlir::Value x, int depth = 0);

/// A product flattened: `scale` times all `factors`. Inner products are entered only where this is their only
/// reader.
struct Product {
  double scale = 1;
  llvm::SmallVector<mlir::Value> factors;
};
Product flattenProduct(mlir::Value v);

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Activations from the forms that exporters write (torch erf-GELU and tanh-GELU, tf2onnx, paddle hard-swish).
#include "analysis/Match.h"
#include "gpuc/Passes/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_RECOGNIZEACTIVATIONS
#include "gpuc/Passes/Passes.h.inc"

namespace {

constexpr double kInvSqrt2 = 0.70710678118654752440;
constexpr double kGeluTanhLinear = 0.79788456080286535588; // sqrt(2/pi)
constexpr double kGeluTanhCubic = 0.044715 * kGeluTanhLinear;

/// clip(v, lo, hi) written as min and max in either order: the clipped value.
Value matchClip(Value v, double lo, double hi) {
  if (auto outer = matchWithScalar(v, BinaryKind::Min); outer && isAbout(outer->scalar, hi, elementTypeOf(v)))
    if (auto inner = matchWithScalar(outer->other, BinaryKind::Max);
        inner && std::abs(inner->scalar - lo) < 1e-6)
      return inner->other;
  if (auto outer = matchWithScalar(v, BinaryKind::Max); outer && std::abs(outer->scalar - lo) < 1e-6)
    if (auto inner = matchWithScalar(outer->other, BinaryKind::Min);
        inner && isAbout(inner->scalar, hi, elementTypeOf(v)))
      return inner->other;
  return {};
}

/// 1 + f(argument) for the given unary f: the argument.
Value matchOnePlus(Value v, UnaryKind kind) {
  auto sum = matchWithScalar(v, BinaryKind::Add);
  if (!sum || sum->scalar != 1)
    return {};
  auto f = matchUnary(sum->other, kind);
  return f ? f.getX() : Value();
}

bool isPolynomial(Value v, Value x, const Polynomial &expected) {
  auto p = matchPolynomial(v, x);
  if (!p)
    return false;
  for (size_t i = 0; i < expected.size(); ++i)
    if (expected[i] == 0 ? (*p)[i] != 0 : !isAbout((*p)[i], expected[i], elementTypeOf(v)))
      return false;
  return true;
}

/// Products of x with a gate of x.
struct GatedProduct : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    BinaryKind kind = op.getKind();
    if (kind != BinaryKind::Mul && kind != BinaryKind::Div)
      return rewriter.notifyMatchFailure(op, "not a product");
    Product product = flattenProduct(op.getZ());
    if (product.factors.size() != 2)
      return rewriter.notifyMatchFailure(op, "needs exactly two factors that are no constants");
    for (int i = 0; i < 2; ++i) {
      Value x = product.factors[i], gate = product.factors[1 - i];
      if (x.getType() != op.getType() || gate.getType() != op.getType())
        continue;
      if (auto found = match(x, gate, product.scale)) {
        rewriter.replaceOpWithNewOp<UnaryOp>(op, *found, x);
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "no known gate");
  }

  static std::optional<UnaryKind> match(Value x, Value gate, double scale) {
    Type element = elementTypeOf(x);
    if (scale == 1) {
      if (auto sigmoid = matchUnary(gate, UnaryKind::Sigmoid); sigmoid && sigmoid.getX() == x)
        return UnaryKind::Silu;
      if (auto hard = matchUnary(gate, UnaryKind::HardSigmoid);
          hard && hard.getX() == x && isAbout(hard.getAlpha().convertToDouble(), 1.0 / 6, element) &&
          hard.getBeta().convertToDouble() == 0.5)
        return UnaryKind::HardSwish;
      if (auto tanh = matchUnary(gate, UnaryKind::Tanh))
        if (auto softplus = matchUnary(tanh.getX(), UnaryKind::Softplus); softplus && softplus.getX() == x)
          return UnaryKind::Mish;
    }
    if (scale == 0.5) {
      if (Value argument = matchOnePlus(gate, UnaryKind::Erf);
          argument && isPolynomial(argument, x, {0, kInvSqrt2, 0, 0}))
        return UnaryKind::Gelu;
      if (Value argument = matchOnePlus(gate, UnaryKind::Tanh);
          argument && isPolynomial(argument, x, {0, kGeluTanhLinear, 0, kGeluTanhCubic}))
        return UnaryKind::GeluTanh;
    }
    if (isAbout(scale, 1.0 / 6, element))
      if (Value clipped = matchClip(gate, 0, 6); clipped && isPolynomial(clipped, x, {3, 1, 0, 0}))
        return UnaryKind::HardSwish;
    return std::nullopt;
  }
};

/// 1 / sqrt(x), log(1 + exp x).
struct ReciprocalSqrt : OpRewritePattern<UnaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UnaryOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() == UnaryKind::Reciprocal)
      if (auto sqrt = matchUnary(op.getX(), UnaryKind::Sqrt)) {
        rewriter.replaceOpWithNewOp<UnaryOp>(op, UnaryKind::Rsqrt, sqrt.getX());
        return success();
      }
    if (op.getKind() == UnaryKind::Log)
      if (Value argument = matchOnePlus(op.getX(), UnaryKind::Exp)) {
        rewriter.replaceOpWithNewOp<UnaryOp>(op, UnaryKind::Softplus, argument);
        return success();
      }
    return rewriter.notifyMatchFailure(op, "neither 1/sqrt nor log(1+exp)");
  }
};
struct OneOverSqrt : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    auto sqrt = matchUnary(op.getY(), UnaryKind::Sqrt);
    if (op.getKind() != BinaryKind::Div || !sqrt || op.getY().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "not a division by a square root");
    auto one = matchScalar(op.getX());
    if (!one || *one != 1)
      return rewriter.notifyMatchFailure(op, "the dividend is not 1");
    rewriter.replaceOpWithNewOp<UnaryOp>(op, UnaryKind::Rsqrt, sqrt.getX());
    return success();
  }
};

struct RecognizeActivations : impl::RecognizeActivationsBase<RecognizeActivations> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<GatedProduct, ReciprocalSqrt, OneOverSqrt>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace gpuc

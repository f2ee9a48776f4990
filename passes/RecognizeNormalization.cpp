// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax, layer norm and RMS norm from the forms that exporters write.
#include "analysis/Match.h"
#include "gpuc/Passes/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_RECOGNIZENORMALIZATION
#include "gpuc/Passes/Passes.h.inc"

namespace {

/// x when v is x*x or pow(x, 2).
Value matchSquare(Value v) {
  if (auto mul = matchBinary(v, BinaryKind::Mul); mul && mul.getX() == mul.getY())
    return mul.getX();
  if (auto pow = matchBinary(v, BinaryKind::Pow))
    if (auto e = matchScalar(pow.getY()); e && *e == 2 && pow.getX().getType() == v.getType())
      return pow.getX();
  return {};
}

/// 1 / sqrt(m + epsilon): m and epsilon. Handles rsqrt and reciprocal of sqrt.
struct InverseRoot {
  Value mean;
  double epsilon;
};
std::optional<InverseRoot> matchInverseRoot(Value v) {
  auto root = matchUnary(v, UnaryKind::Rsqrt);
  if (!root)
    return std::nullopt;
  auto sum = matchWithScalar(root.getX(), BinaryKind::Add);
  if (!sum)
    return std::nullopt;
  return InverseRoot{sum->other, sum->scalar};
}
/// The same below a division: d / sqrt(m + epsilon).
std::optional<InverseRoot> matchRoot(Value v) {
  auto root = matchUnary(v, UnaryKind::Sqrt);
  if (!root)
    return std::nullopt;
  auto sum = matchWithScalar(root.getX(), BinaryKind::Add);
  if (!sum)
    return std::nullopt;
  return InverseRoot{sum->other, sum->scalar};
}

/// x and the first normalised axis when `centered` is x - mean(x) and `variance` is mean((x - mean(x))^2) over the same trailing axes.
struct Centered {
  Value x;
  int64_t axis;
};
Value matchMeanOf(Value v, int64_t &axis) {
  auto mean = matchReduce(v, ReduceKind::Mean);
  if (!mean)
    return {};
  auto first = trailingAxes(mean);
  if (!first)
    return {};
  axis = *first;
  return mean.getX();
}
std::optional<Centered> matchCentered(Value d, Value variance) {
  int64_t axis = 0, varianceAxis = 0;
  auto sub = matchBinary(d, BinaryKind::Sub);
  if (!sub || sub.getX().getType() != d.getType() || matchMeanOf(sub.getY(), axis) != sub.getX())
    return std::nullopt;
  Value squared = matchMeanOf(variance, varianceAxis);
  if (!squared || varianceAxis != axis)
    return std::nullopt;
  Value base = matchSquare(squared);
  // The square may use its own copy of the difference.
  auto again = base ? matchBinary(base, BinaryKind::Sub) : BinaryOp();
  if (!again || again.getX() != sub.getX())
    return std::nullopt;
  int64_t otherAxis = 0;
  if (matchMeanOf(again.getY(), otherAxis) != sub.getX() || otherAxis != axis)
    return std::nullopt;
  return Centered{sub.getX(), axis};
}

/// (x - mean) * rsqrt(var + eps)  or  (x - mean) / sqrt(var + eps); the same without the mean is RMS norm.
struct NormFromQuotient : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    BinaryKind kind = op.getKind();
    Value numerator;
    std::optional<InverseRoot> root;
    if (kind == BinaryKind::Div) {
      numerator = op.getX();
      root = matchRoot(op.getY());
    } else if (kind == BinaryKind::Mul) {
      numerator = op.getX();
      root = matchInverseRoot(op.getY());
      if (!root) {
        numerator = op.getY();
        root = matchInverseRoot(op.getX());
      }
    }
    if (!root || numerator.getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "no division by sqrt(mean + epsilon)");
    auto epsilon = rewriter.getF64FloatAttr(root->epsilon);
    if (auto centered = matchCentered(numerator, root->mean)) {
      rewriter.replaceOpWithNewOp<LayerNormOp>(op, op.getType(), centered->x, Value(), Value(),
                                               rewriter.getI64IntegerAttr(centered->axis), epsilon);
      return success();
    }
    int64_t axis = 0;
    Value squared = matchMeanOf(root->mean, axis);
    if (squared && matchSquare(squared) == numerator) {
      rewriter.replaceOpWithNewOp<RmsNormOp>(op, op.getType(), numerator, Value(), rewriter.getI64IntegerAttr(axis), epsilon);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "the mean is not taken of the squared numerator over trailing axes");
  }
};

/// Keras and tf2onnx: x * s + (beta - mean * s) with s = rsqrt(var + eps) [* gamma].
struct NormFromScaleShift : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != BinaryKind::Add)
      return rewriter.notifyMatchFailure(op, "not a sum");
    for (int side = 0; side < 2; ++side) {
      auto scaled = matchBinary(side ? op.getY() : op.getX(), BinaryKind::Mul);
      auto shift = matchBinary(side ? op.getX() : op.getY(), BinaryKind::Sub);
      if (!scaled || !shift)
        continue;
      auto meanTimes = matchBinary(shift.getY(), BinaryKind::Mul);
      if (!meanTimes)
        continue;
      for (int i = 0; i < 4; ++i) {
        Value x = i & 1 ? scaled.getY() : scaled.getX(), s = i & 1 ? scaled.getX() : scaled.getY();
        Value mean = i & 2 ? meanTimes.getY() : meanTimes.getX(), s2 = i & 2 ? meanTimes.getX() : meanTimes.getY();
        int64_t axis = 0, varianceAxis = 0;
        if (s != s2 || x.getType() != op.getType() || matchMeanOf(mean, axis) != x)
          continue;
        Value gamma;
        auto root = matchInverseRoot(s);
        if (auto product = matchBinary(s, BinaryKind::Mul); !root && product) {
          root = matchInverseRoot(product.getX());
          gamma = product.getY();
          if (!root) {
            root = matchInverseRoot(product.getY());
            gamma = product.getX();
          }
        }
        if (!root)
          continue;
        Value squared = matchMeanOf(root->mean, varianceAxis);
        Value difference = squared ? matchSquare(squared) : Value();
        auto sub = difference ? matchBinary(difference, BinaryKind::Sub) : BinaryOp();
        int64_t again = 0;
        if (varianceAxis != axis || !sub || sub.getX() != x || matchMeanOf(sub.getY(), again) != x || again != axis)
          continue;
        Value y = LayerNormOp::create(rewriter, op.getLoc(), x.getType(), x, Value(), Value(), rewriter.getI64IntegerAttr(axis),
                                      rewriter.getF64FloatAttr(root->epsilon));
        if (gamma)
          y = BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Mul, y, gamma);
        rewriter.replaceOpWithNewOp<BinaryOp>(op, BinaryKind::Add, y, shift.getX());
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "not scale and shift of a normalisation");
  }
};

/// True when a scale or bias varies along the normalised axes only.
bool fitsNormalizedAxes(Value parameter, Value x, int64_t axis) {
  auto shape = shapeOf(parameter);
  int64_t rank = tensorType(x).getRank();
  if (int64_t(shape.size()) > rank || elementTypeOf(parameter) != elementTypeOf(x))
    return false;
  for (size_t i = 0; i < shape.size(); ++i)
    if (rank - int64_t(shape.size()) + int64_t(i) < axis && shape[i] != 1)
      return false;
  return true;
}
/// The parameter with exactly the rank of the normalised axes.
Value trimLeadingOnes(Value parameter, Value x, int64_t axis, OpBuilder &builder) {
  auto shape = shapeOf(parameter);
  int64_t keep = std::min<int64_t>(int64_t(shape.size()), tensorType(x).getRank() - axis);
  if (keep == int64_t(shape.size()))
    return parameter;
  return ReshapeOp::create(builder, parameter.getLoc(), parameter, shape.take_back(keep));
}

/// Takes a multiplication or addition right after a norm in as its scale or bias.
template <typename NormOp> struct AbsorbScaleAndBias : OpRewritePattern<BinaryOp> {
  using OpRewritePattern<BinaryOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    BinaryKind kind = op.getKind();
    if (kind != BinaryKind::Mul && kind != BinaryKind::Add)
      return rewriter.notifyMatchFailure(op, "neither scale nor bias");
    for (int side = 0; side < 2; ++side) {
      auto norm = (side ? op.getY() : op.getX()).template getDefiningOp<NormOp>();
      Value parameter = side ? op.getX() : op.getY();
      if (!norm || !norm.getY().hasOneUse() || norm.getType() != op.getType() ||
          !fitsNormalizedAxes(parameter, norm.getX(), norm.getAxis()))
        continue;
      Value trimmed = parameter;
      if constexpr (std::is_same_v<NormOp, LayerNormOp>) {
        if (kind == BinaryKind::Mul ? bool(norm.getScale() || norm.getBias()) : bool(norm.getBias()))
          continue;
        trimmed = trimLeadingOnes(parameter, norm.getX(), norm.getAxis(), rewriter);
        Value scale = kind == BinaryKind::Mul ? trimmed : norm.getScale();
        Value bias = kind == BinaryKind::Add ? trimmed : norm.getBias();
        rewriter.replaceOpWithNewOp<LayerNormOp>(op, op.getType(), norm.getX(), scale, bias, norm.getAxisAttr(), norm.getEpsilonAttr());
      } else {
        if (kind != BinaryKind::Mul || norm.getScale())
          continue;
        trimmed = trimLeadingOnes(parameter, norm.getX(), norm.getAxis(), rewriter);
        rewriter.replaceOpWithNewOp<RmsNormOp>(op, op.getType(), norm.getX(), trimmed, norm.getAxisAttr(), norm.getEpsilonAttr());
      }
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no norm that this belongs to");
  }
};

/// exp(x - max(x)) / sum(exp(x - max(x))) along one axis.
struct SoftmaxFromExp : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != BinaryKind::Div)
      return rewriter.notifyMatchFailure(op, "not a quotient");
    auto exp = matchUnary(op.getX(), UnaryKind::Exp);
    auto sum = matchReduce(op.getY(), ReduceKind::Sum);
    if (!exp || !sum || sum.getX() != exp.getY() || sum.getAxes().size() != 1 || !sum.getKeepdims())
      return rewriter.notifyMatchFailure(op, "not exp over its own sum along one axis");
    auto sub = matchBinary(exp.getX(), BinaryKind::Sub);
    auto max = sub ? matchReduce(sub.getY(), ReduceKind::Max) : ReduceOp();
    if (!max || max.getX() != sub.getX() || max.getAxes() != sum.getAxes() || !max.getKeepdims())
      return rewriter.notifyMatchFailure(op, "the exponent is not x - max(x) along the same axis");
    rewriter.replaceOpWithNewOp<SoftmaxOp>(op, op.getType(), sub.getX(), rewriter.getI64IntegerAttr(sum.getAxes()[0]),
                                           rewriter.getBoolAttr(false), rewriter.getBoolAttr(false));
    return success();
  }
};

/// select(isnan(softmax), 0, softmax): a row of -inf only gives zeros.
struct SafeSoftmax : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    auto isNaN = matchUnary(op.getCondition(), UnaryKind::IsNaN);
    auto softmax = op.getY().getDefiningOp<SoftmaxOp>();
    auto zero = matchScalar(op.getX());
    if (!isNaN || !softmax || isNaN.getX() != softmax.getY() || softmax.getLog() || !zero || *zero != 0 ||
        op.getType() != softmax.getType())
      return rewriter.notifyMatchFailure(op, "not a softmax whose NaNs become zero");
    rewriter.replaceOpWithNewOp<SoftmaxOp>(op, softmax.getType(), softmax.getX(), softmax.getAxisAttr(),
                                           rewriter.getBoolAttr(false), rewriter.getBoolAttr(true));
    return success();
  }
};

/// reshape(reduce without kept axes) that puts the axes back: reduce with kept axes (tf2onnx, jax2tf).
struct KeepReducedAxes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto reduce = op.getX().getDefiningOp<ReduceOp>();
    if (!reduce || reduce.getKeepdims())
      return rewriter.notifyMatchFailure(op, "not a reshaped reduction");
    llvm::SmallVector<int64_t> kept(shapeOf(reduce.getX()));
    for (int64_t axis : reduce.getAxes())
      kept[axis] = 1;
    if (shapeOf(op.getY()) != llvm::ArrayRef<int64_t>(kept))
      return rewriter.notifyMatchFailure(op, "the reshape does not put the reduced axes back");
    rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), reduce.getKindAttr(), reduce.getX(), reduce.getAxesAttr(),
                                          rewriter.getBoolAttr(true));
    return success();
  }
};

/// max(x, -inf) and min(x, +inf) are x, NaN included.
struct RemoveInfiniteBound : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    for (auto [kind, bound] : {std::pair(BinaryKind::Max, -INFINITY), std::pair(BinaryKind::Min, INFINITY)})
      if (auto bounded = matchWithScalar(op.getZ(), kind); bounded && bounded->scalar == bound) {
        rewriter.replaceOp(op, bounded->other);
        return success();
      }
    return rewriter.notifyMatchFailure(op, "no infinite bound");
  }
};

struct RecognizeNormalization : impl::RecognizeNormalizationBase<RecognizeNormalization> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<KeepReducedAxes, RemoveInfiniteBound, NormFromQuotient, NormFromScaleShift, AbsorbScaleAndBias<LayerNormOp>, AbsorbScaleAndBias<RmsNormOp>,
                 SoftmaxFromExp, SafeSoftmax>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace gpuc

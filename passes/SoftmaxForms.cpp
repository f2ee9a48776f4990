// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax from the forms that exporters write, and reductions in the one form that other patterns expect.
#include "NormalizationForms.h"
#include "analysis/Match.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace gpuc {

namespace {

/// exp(x - max(x)) / sum(exp(x - max(x))) along one axis, also as a product with the reciprocal.
struct SoftmaxFromExp : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    Value numerator = op.getX(), divisor = op.getY();
    if (op.getKind() == BinaryKind::Mul) {
      if (matchUnary(numerator, UnaryKind::Reciprocal))
        std::swap(numerator, divisor);
      auto reciprocal = matchUnary(divisor, UnaryKind::Reciprocal);
      divisor = reciprocal ? reciprocal.getX() : Value();
    } else if (op.getKind() != BinaryKind::Div) {
      divisor = {};
    }
    if (!divisor)
      return rewriter.notifyMatchFailure(op, "not a quotient");
    auto exp = matchUnary(numerator, UnaryKind::Exp);
    auto sum = matchReduce(divisor, ReduceKind::Sum);
    if (!exp || !sum || sum.getX() != exp.getY() || sum.getAxes().size() != 1 || !sum.getKeepdims())
      return rewriter.notifyMatchFailure(op, "not exp over its own sum along one axis");
    auto sub = matchBinary(exp.getX(), BinaryKind::Sub);
    auto max = sub ? matchReduce(sub.getY(), ReduceKind::Max) : ReduceOp();
    if (!max || max.getX() != sub.getX() || max.getAxes() != sum.getAxes() || !max.getKeepdims())
      return rewriter.notifyMatchFailure(op, "the exponent is not x - max(x) along the same axis");
    rewriter.replaceOpWithNewOp<SoftmaxOp>(op, op.getType(), sub.getX(),
                                           rewriter.getI64IntegerAttr(sum.getAxes()[0]),
                                           rewriter.getBoolAttr(false), rewriter.getBoolAttr(false));
    return success();
  }
};

/// select(isnan(softmax), 0, softmax): a row of -inf only gives zeros. (A row with a NaN stays NaN, as in the
/// framework's own safe softmax.)
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

/// A reduction whose result has lost its axes, below at most a few pointwise ops of that shape.
ReduceOp reductionBelow(Value v, int depth = 0) {
  Operation *op = v.getDefiningOp();
  if (auto reduce = dyn_cast_or_null<ReduceOp>(op))
    return reduce.getKeepdims() ? ReduceOp() : reduce;
  if (auto reshape = dyn_cast_or_null<ReshapeOp>(op)) {
    auto reduce = reshape.getX().getDefiningOp<ReduceOp>();
    return reduce && reduce.getKeepdims() ? reduce : ReduceOp();
  }
  if (!isa_and_nonnull<UnaryOp, BinaryOp>(op) || depth > 6)
    return {};
  for (Value operand : op->getOperands())
    if (shapeOf(operand) == shapeOf(v))
      if (auto found = reductionBelow(operand, depth + 1))
        return found;
  return {};
}
llvm::SmallVector<int64_t> keptShape(ReduceOp reduce) {
  llvm::SmallVector<int64_t> kept(shapeOf(reduce.getX()));
  for (int64_t axis : reduce.getAxes())
    kept[axis] = 1;
  return kept;
}

/// reshape(f(reduce without kept axes)) that puts the axes back: f(reduce with kept axes) (tf2onnx, jax2tf).
struct KeepReducedAxes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto reduce = reductionBelow(op.getX());
    if (!reduce || shapeOf(op.getY()) != llvm::ArrayRef<int64_t>(keptShape(reduce)))
      return rewriter.notifyMatchFailure(op, "the reshape does not put reduced axes back");
    if (op.getX() == reduce.getY()) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(reduce); // before every reader
      auto kept = ReduceOp::create(rewriter, reduce.getLoc(), op.getType(), reduce.getKindAttr(),
                                   reduce.getX(), reduce.getAxesAttr(), rewriter.getBoolAttr(true));
      rewriter.replaceOp(op, kept.getY());
      // One reduction serves every reader.
      if (!reduce->use_empty())
        rewriter.replaceOpWithNewOp<ReshapeOp>(reduce, reduce.getType(), kept.getY());
      return success();
    }
    Operation *inner = op.getX().getDefiningOp();
    if (!isa<UnaryOp, BinaryOp>(inner))
      return rewriter.notifyMatchFailure(op, "two reshapes in a row are folded");
    for (Value operand : inner->getOperands())
      if (shapeOf(operand) != shapeOf(op.getX()) && tensorType(operand).getNumElements() != 1)
        return rewriter.notifyMatchFailure(op, "an operand broadcasts along the reduction's axes");
    llvm::SmallVector<Value> operands;
    for (Value operand : inner->getOperands()) {
      if (!operands.empty() && operand == inner->getOperand(0)) // a square stays one
        operands.push_back(operands[0]);
      else if (shapeOf(operand) == shapeOf(op.getX()))
        operands.push_back(ReshapeOp::create(rewriter, op.getLoc(), operand, shapeOf(op.getY())));
      else
        operands.push_back(ReshapeOp::create(rewriter, op.getLoc(), operand, llvm::ArrayRef<int64_t>{}));
    }
    Operation *outer = rewriter.clone(*inner);
    outer->setOperands(operands);
    outer->getResult(0).setType(tensorType(outer->getResult(0)).clone(shapeOf(op.getY())));
    rewriter.replaceOp(op, outer->getResults());
    return success();
  }
};

/// sum(x) * (1/n), sum(x) / n: the mean of n elements.
struct MeanFromSum : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    auto scaled = matchWithScalar(op.getZ(), BinaryKind::Mul);
    bool divides = !scaled;
    if (divides)
      scaled = matchWithScalar(op.getZ(), BinaryKind::Div);
    auto sum = scaled ? matchReduce(scaled->other, ReduceKind::Sum) : ReduceOp();
    if (!sum || tensorType(sum.getY()).getNumElements() == 0)
      return rewriter.notifyMatchFailure(op, "not a scaled sum");
    double n =
        double(tensorType(sum.getX()).getNumElements()) / double(tensorType(sum.getY()).getNumElements());
    double factor = divides ? scaled->scalar : 1 / scaled->scalar;
    if (n == 0 || !isAbout(factor, n, elementTypeOf(op.getZ())))
      return rewriter.notifyMatchFailure(op, "the scale is not one over the number of elements");
    rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(),
                                          ReduceKindAttr::get(getContext(), ReduceKind::Mean), sum.getX(),
                                          sum.getAxesAttr(), sum.getKeepdimsAttr());
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

} // namespace

void populateReductionForms(RewritePatternSet &patterns) {
  patterns.add<KeepReducedAxes, MeanFromSum, RemoveInfiniteBound>(patterns.getContext());
  ReshapeOp::getCanonicalizationPatterns(patterns, patterns.getContext());
}
void populateSoftmaxForms(RewritePatternSet &patterns) {
  patterns.add<SoftmaxFromExp, SafeSoftmax>(patterns.getContext());
}

} // namespace gpuc

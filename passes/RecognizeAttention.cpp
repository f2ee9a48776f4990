// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention from matmul, scale, mask, softmax, matmul: the forms of torch (sdpa, nn.MultiheadAttention), transformers, paddle and qonnx.
#include "analysis/Match.h"
#include "gpuc/IR/OpClasses.h"
#include "gpuc/Passes/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_RECOGNIZEATTENTION
#include "gpuc/Passes/Passes.h.inc"

namespace {

/// Softmax may run in a wider type: casts around it are part of the kernel anyway.
Value skipFloatCast(Value v) {
  auto cast = v.getDefiningOp<CastOp>();
  if (cast && v.hasOneUse() && isa<FloatType>(elementTypeOf(cast.getX())) && isa<FloatType>(elementTypeOf(v)))
    return cast.getX();
  return v;
}

/// Takes a multiplication by a constant out of a chain of views: the chain over the unscaled value.
Value peelScale(Value v, double &scale, OpBuilder &builder) {
  if (auto scaled = matchWithScalar(v, BinaryKind::Mul)) {
    scale *= scaled->scalar;
    return peelScale(scaled->other, scale, builder);
  }
  if (auto scaled = matchWithScalar(v, BinaryKind::Div); scaled && scaled->scalar != 0) {
    scale /= scaled->scalar;
    return peelScale(scaled->other, scale, builder);
  }
  Operation *op = v.getDefiningOp();
  if (!op || !isViewOp(op))
    return v;
  double before = scale;
  Value source = peelScale(op->getOperand(0), scale, builder);
  if (scale == before)
    return v;
  Operation *copy = builder.clone(*op);
  copy->setOperand(0, source);
  return copy->getResult(0);
}

/// Scores taken apart: scale * product + bias.
struct Scores {
  MatmulOp product;
  double scale = 1;
  Value bias;    ///< added to the scaled product
  SelectOp mask; ///< or scores are replaced where a mask says so
};

std::optional<Scores> matchScores(Value v) {
  Scores scores;
  for (int depth = 0; depth < 6; ++depth) {
    v = skipFloatCast(v);
    if (!v.hasOneUse())
      return std::nullopt;
    if (auto product = v.getDefiningOp<MatmulOp>()) {
      scores.product = product;
      return scores;
    }
    if (auto scaled = matchWithScalar(v, BinaryKind::Mul)) {
      scores.scale *= scaled->scalar;
      v = scaled->other;
      continue;
    }
    if (auto scaled = matchWithScalar(v, BinaryKind::Div); scaled && scaled->scalar != 0) {
      scores.scale /= scaled->scalar;
      v = scaled->other;
      continue;
    }
    // A bias is added after every scale, and there is one of it.
    if (scores.bias || scores.mask || scores.scale != 1)
      return std::nullopt;
    if (auto add = matchBinary(v, BinaryKind::Add)) {
      auto leadsToProduct = [](Value side) {
        for (int i = 0; i < 6; ++i) {
          if (side.getDefiningOp<MatmulOp>())
            return true;
          auto next = matchWithScalar(side, BinaryKind::Mul);
          auto div = matchWithScalar(side, BinaryKind::Div);
          if (!next && !div && skipFloatCast(side) == side)
            return false;
          side = next ? next->other : div ? div->other : skipFloatCast(side);
        }
        return false;
      };
      bool left = leadsToProduct(add.getX()) && add.getX().getType() == v.getType();
      bool right = !left && leadsToProduct(add.getY()) && add.getY().getType() == v.getType();
      if (!left && !right)
        return std::nullopt;
      scores.bias = left ? add.getY() : add.getX();
      v = left ? add.getX() : add.getY();
      continue;
    }
    // where(mask, scores, c) and where(mask, c, scores): c is added instead of put; with c far below every score the difference is below rounding.
    if (auto select = v.getDefiningOp<SelectOp>()) {
      auto fillY = matchScalar(select.getY()), fillX = matchScalar(select.getX());
      double fill = fillY ? *fillY : fillX ? *fillX : 0;
      Value kept = fillY ? select.getX() : select.getY();
      if (!(fill <= -1e4) || kept.getType() != v.getType())
        return std::nullopt;
      scores.mask = select;
      v = kept;
      continue;
    }
    return std::nullopt;
  }
  return std::nullopt;
}

/// select(mask, scores, c) as an addend: 0 where the scores stay, c elsewhere.
Value additiveMask(SelectOp select, OpBuilder &builder) {
  auto fillY = matchScalar(select.getY());
  double fill = fillY ? *fillY : *matchScalar(select.getX());
  Type element = elementTypeOf(select.getZ());
  auto constant = [&](double value) -> Value {
    auto type = RankedTensorType::get({}, element);
    return ConstantOp::create(builder, select.getLoc(), DenseElementsAttr::get(type, builder.getFloatAttr(element, value)));
  };
  Value zero = constant(0), low = constant(fill);
  return fillY ? SelectOp::create(builder, select.getLoc(), select.getCondition(), zero, low)
               : SelectOp::create(builder, select.getLoc(), select.getCondition(), low, zero);
}

/// [X, S, D] becomes [X, 1, S, D]; a product of two matrices becomes [1, 1, S, D].
Value toRank4(Value v, OpBuilder &builder) {
  auto shape = shapeOf(v);
  if (shape.size() == 4)
    return v;
  llvm::SmallVector<int64_t> wide;
  if (shape.size() == 3)
    wide = {shape[0], 1, shape[1], shape[2]};
  else if (shape.size() == 2)
    wide = {1, 1, shape[0], shape[1]};
  else {
    int64_t batch = 1;
    for (int64_t d : shape.drop_back(3))
      batch *= d;
    auto last = shape.take_back(3);
    wide = {batch, last[0], last[1], last[2]};
  }
  return ReshapeOp::create(builder, v.getLoc(), v, wide);
}

struct AttentionFromSoftmax : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    Value probabilities = skipFloatCast(op.getX());
    auto softmax = probabilities.getDefiningOp<SoftmaxOp>();
    if (!softmax || softmax.getLog() || !probabilities.hasOneUse())
      return rewriter.notifyMatchFailure(op, "the left side is no softmax of its own");
    int64_t rank = tensorType(softmax.getY()).getRank();
    if (int64_t(softmax.getAxis()) != rank - 1 || rank < 2)
      return rewriter.notifyMatchFailure(op, "the softmax is not along the keys");
    auto scores = matchScores(softmax.getX());
    if (!scores)
      return rewriter.notifyMatchFailure(op, "the scores are no scaled product plus one bias");
    MatmulOp product = scores->product;
    if (!isa<FloatType>(elementTypeOf(product.getX())) || elementTypeOf(op.getY()) != elementTypeOf(product.getX()))
      return rewriter.notifyMatchFailure(op, "types differ");
    // Batch axes must agree without broadcasting.
    auto batch = [&](Value v) { return shapeOf(v).drop_back(2); };
    if (int64_t(shapeOf(product.getX()).size()) != rank || int64_t(shapeOf(product.getY()).size()) != rank ||
        int64_t(shapeOf(op.getY()).size()) != rank || batch(product.getX()) != batch(product.getY()) ||
        batch(op.getY()) != batch(product.getX()))
      return rewriter.notifyMatchFailure(op, "batch axes broadcast");
    if (rank > 4 && (scores->bias || scores->mask))
      return rewriter.notifyMatchFailure(op, "a bias with more than four axes");

    double scale = scores->scale;
    Location loc = op.getLoc();
    Value q = peelScale(product.getX(), scale, rewriter);
    Value kt = peelScale(product.getY(), scale, rewriter);
    llvm::SmallVector<int64_t> swap;
    for (int64_t i = 0; i < rank; ++i)
      swap.push_back(i);
    std::swap(swap[rank - 1], swap[rank - 2]);
    Value k = TransposeOp::create(rewriter, loc, kt, rewriter.getDenseI64ArrayAttr(swap));
    Value bias = scores->mask ? additiveMask(scores->mask, rewriter) : scores->bias;
    if (bias) {
      auto shape = shapeOf(bias);
      llvm::SmallVector<int64_t> wide(shape.begin(), shape.end());
      while (int64_t(wide.size()) < rank)
        wide.insert(wide.begin(), 1);
      if (rank == 3)
        wide.insert(wide.begin() + 1, 1);
      while (wide.size() < 4)
        wide.insert(wide.begin(), 1);
      bias = wide == llvm::SmallVector<int64_t>(shape.begin(), shape.end())
                 ? bias
                 : Value(ReshapeOp::create(rewriter, loc, bias, wide));
      if (elementTypeOf(bias) != elementTypeOf(q))
        bias = CastOp::create(rewriter, loc, bias, elementTypeOf(q));
    }
    Value q4 = toRank4(q, rewriter), k4 = toRank4(k, rewriter), v4 = toRank4(op.getY(), rewriter);
    auto q4Shape = shapeOf(q4), v4Shape = shapeOf(v4);
    auto type = RankedTensorType::get({q4Shape[0], q4Shape[1], q4Shape[2], v4Shape[3]}, elementTypeOf(q));
    OperationState state(loc, AttentionOp::getOperationName());
    state.addOperands({q4, k4, v4});
    if (bias)
      state.addOperands(bias);
    state.addTypes(type);
    state.addAttribute("scale", rewriter.getF64FloatAttr(scale));
    state.addAttribute("zeroMasked", rewriter.getBoolAttr(softmax.getZeroMasked()));
    Value y = rewriter.create(state)->getResult(0);
    if (elementTypeOf(op.getZ()) != elementTypeOf(y))
      y = CastOp::create(rewriter, loc, y, elementTypeOf(op.getZ()));
    if (shapeOf(y) != shapeOf(op.getZ()))
      y = ReshapeOp::create(rewriter, loc, y, shapeOf(op.getZ()));
    rewriter.replaceOp(op, y);
    return success();
  }
};

struct RecognizeAttention : impl::RecognizeAttentionBase<RecognizeAttention> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<AttentionFromSoftmax>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace gpuc

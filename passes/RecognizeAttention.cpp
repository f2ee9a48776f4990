// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention from matmul, scale, mask, softmax, matmul: the forms of torch (sdpa, nn.MultiheadAttention),
// transformers, paddle and qonnx.
#include "analysis/Match.h"
#include "gpuc/IR/OpClasses.h"
#include "gpuc/Passes/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include <numeric>

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

/// A reshape that leaves the last two axes alone: the same matrices, counted in another way.
bool regroupsBatch(ReshapeOp op) {
  auto from = shapeOf(op.getX()), to = shapeOf(op.getY());
  return from.size() >= 2 && to.size() >= 2 && from.take_back(2) == to.take_back(2);
}
bool swapsLastTwo(TransposeOp op) {
  auto perm = op.getPerm();
  int64_t rank = int64_t(perm.size());
  for (int64_t i = 0; i < rank; ++i)
    if (perm[i] != (i < rank - 2 ? i : 2 * rank - 3 - i))
      return false;
  return rank >= 2;
}

/// Scores taken apart: cap(scale * product) + bias, or what a mask leaves of it.
struct Scores {
  MatmulOp product;
  bool swapped = false; ///< the scores are the product's transpose
  double scale = 1;
  double softcap = 0;
  Value bias;    ///< added to the scaled product
  SelectOp mask; ///< or scores are replaced where a mask says so
  const char *refusal = nullptr;
};

/// A chain of scales and casts that ends in a product.
bool leadsToProduct(Value side) {
  for (int i = 0; i < 8; ++i) {
    Operation *op = side.getDefiningOp();
    if (!op || isa<MatmulOp>(op))
      return op != nullptr;
    auto mul = matchWithScalar(side, BinaryKind::Mul), div = matchWithScalar(side, BinaryKind::Div);
    if (mul || div)
      side = mul ? mul->other : div->other;
    else if (isa<CastOp, ReshapeOp, TransposeOp>(op) || matchUnary(side, UnaryKind::Tanh))
      side = op->getOperand(0);
    else
      return false;
  }
  return false;
}

Scores matchScores(Value v) {
  Scores scores;
  bool viewed = false;
  auto refuse = [&](const char *why) {
    scores.refusal = why;
    return scores;
  };
  for (int depth = 0; depth < 12; ++depth) {
    v = skipFloatCast(v);
    if (!v.hasOneUse())
      return refuse("the scores have another reader");
    if (auto product = v.getDefiningOp<MatmulOp>()) {
      scores.product = product;
      return scores;
    }
    if (auto reshape = v.getDefiningOp<ReshapeOp>(); reshape && regroupsBatch(reshape)) {
      viewed = true;
      v = reshape.getX();
      continue;
    }
    if (auto transpose = v.getDefiningOp<TransposeOp>(); transpose && swapsLastTwo(transpose)) {
      viewed = true;
      scores.swapped = !scores.swapped;
      v = transpose.getX();
      continue;
    }
    if (auto scaled = matchWithScalar(v, BinaryKind::Mul)) {
      auto tanh = matchUnary(scaled->other, UnaryKind::Tanh);
      if (tanh && scaled->scalar > 0 && scores.scale == 1 && scores.softcap == 0) {
        if (!scaled->other.hasOneUse())
          return refuse("the scores have another reader");
        scores.softcap = scores.scale = scaled->scalar; // c tanh(u), and u * c is the score before the cap
        v = tanh.getX();
        continue;
      }
      scores.scale *= scaled->scalar;
      v = scaled->other;
      continue;
    }
    if (auto scaled = matchWithScalar(v, BinaryKind::Div); scaled && scaled->scalar != 0) {
      scores.scale /= scaled->scalar;
      v = scaled->other;
      continue;
    }
    // A bias is added after every scale, there is one of it, and it has the softmax's axes.
    if (scores.bias || scores.mask || scores.scale != 1 || scores.softcap != 0 || viewed)
      return refuse("the scores are no scaled product plus one bias");
    if (auto add = matchBinary(v, BinaryKind::Add)) {
      bool left = leadsToProduct(add.getX()) && add.getX().getType() == v.getType();
      bool right = !left && leadsToProduct(add.getY()) && add.getY().getType() == v.getType();
      if (!left && !right)
        return refuse("no side of the sum is a scaled product of its shape");
      scores.bias = left ? add.getY() : add.getX();
      v = left ? add.getX() : add.getY();
      continue;
    }
    if (auto select = v.getDefiningOp<SelectOp>()) {
      auto fillY = matchScalar(select.getY()), fillX = matchScalar(select.getX());
      double fill = fillY ? *fillY : fillX ? *fillX : 0;
      Value kept = fillY ? select.getX() : select.getY();
      if (!(fill <= -1e4) || kept.getType() != v.getType())
        return refuse("the mask does not put a very negative number");
      scores.mask = select;
      v = kept;
      continue;
    }
    return refuse("the scores are no scaled product plus one bias");
  }
  return refuse("too many steps between product and softmax");
}

/// select(mask, scores, c) as a bias. c = -inf hides keys: a boolean mask. A finite c far below every score
/// gives a fully masked row equal weights; so does adding a number that swallows every score, in f32 whatever
/// type the scores have.
Value maskBias(SelectOp select, OpBuilder &builder) {
  Location loc = select.getLoc();
  auto fillY = matchScalar(select.getY());
  bool keepsWhereTrue = fillY.has_value();
  double fill = keepsWhereTrue ? *fillY : *matchScalar(select.getX());
  if (std::isinf(fill))
    return keepsWhereTrue ? select.getCondition()
                          : Value(UnaryOp::create(builder, loc, UnaryKind::Not, select.getCondition()));
  constexpr double kSwallows = -1e37;
  Type wide = elementTypeOf(select.getZ()).isF64() ? builder.getF64Type() : Type(builder.getF32Type());
  auto constant = [&](double value) -> Value {
    auto type = RankedTensorType::get({}, wide);
    return ConstantOp::create(builder, loc, DenseElementsAttr::get(type, builder.getFloatAttr(wide, value)));
  };
  Value zero = constant(0), low = constant(kSwallows);
  return keepsWhereTrue ? SelectOp::create(builder, loc, select.getCondition(), zero, low)
                        : SelectOp::create(builder, loc, select.getCondition(), low, zero);
}

Value swapLastTwo(Value v, OpBuilder &builder) {
  llvm::SmallVector<int64_t> perm(tensorType(v).getRank());
  std::iota(perm.begin(), perm.end(), 0);
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return TransposeOp::create(builder, v.getLoc(), v, builder.getDenseI64ArrayAttr(perm));
}

Value reshapeTo(Value v, llvm::ArrayRef<int64_t> shape, OpBuilder &builder) {
  return shapeOf(v) == shape ? v : Value(ReshapeOp::create(builder, v.getLoc(), v, shape));
}

/// The two batch axes of attention for the batch axes of a softmax: [X] becomes [X, 1]; more than two are
/// flattened into the first.
std::array<int64_t, 2> batchAxes(llvm::ArrayRef<int64_t> batch) {
  if (batch.empty())
    return {1, 1};
  if (batch.size() == 1)
    return {batch[0], 1};
  int64_t outer = 1;
  for (int64_t d : batch.drop_back())
    outer *= d;
  return {outer, batch.back()};
}

struct AttentionFromSoftmax : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    Value probabilities = skipFloatCast(op.getX());
    while (auto reshape = probabilities.getDefiningOp<ReshapeOp>()) {
      if (!reshape->hasOneUse() || !regroupsBatch(reshape))
        return rewriter.notifyMatchFailure(op, "the left side is no softmax of its own");
      probabilities = skipFloatCast(reshape.getX());
    }
    auto softmax = probabilities.getDefiningOp<SoftmaxOp>();
    if (!softmax || softmax.getLog() || !probabilities.hasOneUse())
      return rewriter.notifyMatchFailure(op, "the left side is no softmax of its own");
    auto scoreShape = shapeOf(softmax.getY());
    int64_t rank = int64_t(scoreShape.size());
    if (rank < 2 || int64_t(softmax.getAxis()) != rank - 1)
      return rewriter.notifyMatchFailure(op, "the softmax is not along the keys");
    Scores scores = matchScores(softmax.getX());
    if (scores.refusal)
      return rewriter.notifyMatchFailure(op, scores.refusal);
    MatmulOp product = scores.product;
    Type element = elementTypeOf(product.getX());
    if (!isa<FloatType>(element) || elementTypeOf(op.getY()) != element)
      return rewriter.notifyMatchFailure(op, "types differ");
    auto batch = [](Value v) { return shapeOf(v).drop_back(2); };
    if (batch(product.getX()) != batch(product.getY()) || batch(op.getX()) != batch(op.getY()))
      return rewriter.notifyMatchFailure(op, "batch axes broadcast");
    if (rank > 4 && (scores.bias || scores.mask))
      return rewriter.notifyMatchFailure(op, "a bias with more than four axes");
    if (tensorType(softmax.getY()).getNumElements() == 0)
      return rewriter.notifyMatchFailure(op, "nothing to attend to");

    double scale = scores.scale;
    Location loc = op.getLoc();
    Value left = peelScale(product.getX(), scale, rewriter),
          right = peelScale(product.getY(), scale, rewriter);
    Value q = scores.swapped ? swapLastTwo(right, rewriter) : left;
    Value k = scores.swapped ? left : swapLastTwo(right, rewriter);
    auto [outer, heads] = batchAxes(scoreShape.drop_back(2));
    auto toRank4 = [&, outer = outer, heads = heads](Value v) {
      auto matrix = shapeOf(v).take_back(2);
      return reshapeTo(v, {outer, heads, matrix[0], matrix[1]}, rewriter);
    };
    Value bias = scores.mask ? maskBias(scores.mask, rewriter) : scores.bias;
    if (bias) {
      llvm::SmallVector<int64_t> wide(rank - shapeOf(bias).size(), 1);
      llvm::append_range(wide, shapeOf(bias));
      if (rank == 3)
        wide.insert(wide.begin() + 1, 1);
      wide.insert(wide.begin(), 4 - wide.size(), 1);
      bias = reshapeTo(bias, wide, rewriter);
    }
    Value q4 = toRank4(q), k4 = toRank4(k), v4 = toRank4(op.getY());
    auto type = RankedTensorType::get({outer, heads, shapeOf(q4)[2], shapeOf(v4)[3]}, element);
    OperationState state(loc, AttentionOp::getOperationName());
    state.addOperands({q4, k4, v4});
    if (bias)
      state.addOperands(bias);
    state.addTypes(type);
    state.addAttribute("scale", rewriter.getF64FloatAttr(scale));
    state.addAttribute("softcap", rewriter.getF64FloatAttr(scores.softcap));
    state.addAttribute("zeroMasked", rewriter.getBoolAttr(softmax.getZeroMasked()));
    rewriter.replaceOp(op, reshapeTo(rewriter.create(state)->getResult(0), shapeOf(op.getZ()), rewriter));
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

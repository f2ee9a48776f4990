// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Squeeze-and-excitation blocks: global mean, two small 1x1 convolutions, a gate on the channels.
#include "analysis/Match.h"
#include "gpuc/IR/Build.h"
#include "gpuc/Passes/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_RECOGNIZESQUEEZEEXCITE
#include "gpuc/Passes/Passes.h.inc"

namespace {

constexpr int64_t kMostHidden = 4096;

/// A 1x1 convolution of a [N, C, 1, …] tensor with constant weights and bias, read once.
ConvOp matchLayer(Value v) {
  auto conv = v.getDefiningOp<ConvOp>();
  if (!conv || !v.hasOneUse() || conv.getGroup() != 1 || !getConstant(conv.getW()) ||
      (conv.getBias() && !getConstant(conv.getBias())))
    return {};
  auto isOne = [](int64_t n) { return n == 1; };
  auto isZero = [](int64_t n) { return n == 0; };
  bool plain = llvm::all_of(shapeOf(conv.getW()).drop_front(2), isOne) &&
               llvm::all_of(shapeOf(conv.getX()).drop_front(2), isOne) &&
               llvm::all_of(conv.getStrides(), isOne) && llvm::all_of(conv.getLow(), isZero) &&
               llvm::all_of(conv.getHigh(), isZero);
  return plain ? conv : ConvOp();
}

/// A function of a kind that `allowed` accepts, read once.
UnaryOp matchFunction(Value v, bool (*allowed)(UnaryKind)) {
  auto unary = v.getDefiningOp<UnaryOp>();
  return unary && v.hasOneUse() && allowed(unary.getKind()) ? unary : UnaryOp();
}

/// The mean over all spatial axes, which keeps them as axes of one element.
bool isGlobalMean(Value v, Value x) {
  if (auto reshape = v.getDefiningOp<ReshapeOp>()) // a mean without kept axes
    v = reshape.getX();
  auto mean = matchReduce(v, ReduceKind::Mean);
  if (!mean || mean.getX() != x || !v.hasOneUse())
    return false;
  auto axes = mean.getAxes();
  if (axes.size() + 2 != shapeOf(x).size())
    return false;
  for (auto [i, axis] : llvm::enumerate(axes))
    if (axis != int64_t(i) + 2)
      return false;
  return true;
}

struct SqueezeExcite : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != BinaryKind::Mul)
      return rewriter.notifyMatchFailure(op, "not a product");
    for (auto [x, scale] : {std::pair(op.getX(), op.getY()), std::pair(op.getY(), op.getX())})
      if (succeeded(rewrite(op, x, scale, rewriter)))
        return success();
    return rewriter.notifyMatchFailure(op, "no factor is a gate on the channels of the other");
  }

  static LogicalResult rewrite(BinaryOp op, Value x, Value scale, PatternRewriter &rewriter) {
    if (x.getType() != op.getType() || shapeOf(x).size() < 3 || elementTypeOf(x).isF64() ||
        tensorType(x).getNumElements() == 0)
      return failure();
    auto gate = matchFunction(scale, SqueezeExciteOp::isGate);
    ConvOp second = gate ? matchLayer(gate.getX()) : ConvOp();
    auto act = second ? matchFunction(second.getX(), SqueezeExciteOp::isAct) : UnaryOp();
    ConvOp first = act ? matchLayer(act.getX()) : ConvOp();
    if (!first || !isGlobalMean(first.getX(), x) || shapeOf(scale)[1] != shapeOf(x)[1] ||
        shapeOf(first.getW())[0] > kMostHidden)
      return failure();
    Location loc = rewriter.getFusedLoc({first.getLoc(), second.getLoc(), op.getLoc()});
    auto matrix = [&](Value w) -> Value {
      auto shape = shapeOf(w);
      return ReshapeOp::create(rewriter, loc, RankedTensorType::get(shape.take_front(2), elementTypeOf(w)), w)
          .getY();
    };
    auto bias = [&](ConvOp conv) -> Value {
      if (conv.getBias())
        return conv.getBias();
      auto type = RankedTensorType::get({shapeOf(conv.getW())[0]}, elementTypeOf(x));
      return ConstantOp::create(rewriter, loc, cast<ElementsAttr>(rewriter.getZeroAttr(type))).getY();
    };
    auto context = rewriter.getContext();
    rewriter.replaceOpWithNewOp<SqueezeExciteOp>(op, op.getType(), UnaryKindAttr::get(context, act.getKind()),
                                                 x, matrix(first.getW()), bias(first), matrix(second.getW()),
                                                 bias(second), UnaryKindAttr::get(context, gate.getKind()),
                                                 gate.getAlpha(), gate.getBeta());
    return success();
  }
};

struct RecognizeSqueezeExcite : impl::RecognizeSqueezeExciteBase<RecognizeSqueezeExcite> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SqueezeExcite>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace gpuc

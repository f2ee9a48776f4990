// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scales, shifts and pads with constants go into the convolution or product before or after them.
#include "analysis/Match.h"
#include "gpuc/IR/Evaluate.h"
#include "gpuc/Passes/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_SIMPLIFYGRAPH
#include "gpuc/Passes/Passes.h.inc"

namespace {

bool isConstant(Value v) { return getConstant(v) != nullptr; }

/// `parameter` broadcast against a value varies along `axis` only (extent `channels` or 1 there, 1 elsewhere) and does not expand it.
bool variesAlongOnly(Value parameter, Value value, int64_t axis) {
  auto shape = shapeOf(parameter), full = shapeOf(value);
  if (shape.size() > full.size())
    return false;
  size_t lead = full.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    bool isAxis = int64_t(lead + i) == axis;
    if (isAxis ? (shape[i] != 1 && shape[i] != full[axis]) : shape[i] != 1)
      return false;
  }
  return true;
}

/// The parameter as [channels], repeated when it is one number.
Value asVector(Value parameter, int64_t channels, OpBuilder &builder) {
  Location loc = parameter.getLoc();
  int64_t count = tensorType(parameter).getNumElements();
  Value v = ReshapeOp::create(builder, loc, parameter, llvm::ArrayRef<int64_t>{count});
  return count == channels ? v : Value(ExpandOp::create(builder, loc, v, llvm::ArrayRef<int64_t>{channels}));
}

/// The other operand of a binary op with a constant, when the value comes first (or the op commutes).
struct WithConstant {
  Value value, constant;
};
std::optional<WithConstant> matchWithConstant(BinaryOp op) {
  BinaryKind kind = op.getKind();
  if (isConstant(op.getY()) && op.getX().getType() == op.getType())
    return WithConstant{op.getX(), op.getY()};
  bool commutes = kind == BinaryKind::Add || kind == BinaryKind::Mul;
  if (commutes && isConstant(op.getX()) && op.getY().getType() == op.getType())
    return WithConstant{op.getY(), op.getX()};
  return std::nullopt;
}

/// Weight with its output channels scaled. `axis` is the channel axis of the weight; grouped transposed convolutions are refused by the caller.
Value scaleWeight(Value w, Value scale, int64_t axis, OpBuilder &builder) {
  llvm::SmallVector<int64_t> shape(tensorType(w).getRank(), 1);
  shape[axis] = tensorType(scale).getNumElements();
  Value s = ReshapeOp::create(builder, scale.getLoc(), scale, shape);
  return BinaryOp::create(builder, w.getLoc(), BinaryKind::Mul, w, s);
}

/// conv(x, w, b) * s, / s, + t, - t with constants per output channel.
template <typename ConvT> struct FoldIntoConvolution : OpRewritePattern<BinaryOp> {
  using OpRewritePattern<BinaryOp>::OpRewritePattern;
  static constexpr bool kTransposed = std::is_same_v<ConvT, ConvTransposeOp>;

  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    BinaryKind kind = op.getKind();
    bool scales = kind == BinaryKind::Mul || kind == BinaryKind::Div;
    bool shifts = kind == BinaryKind::Add || kind == BinaryKind::Sub;
    if (!scales && !shifts)
      return rewriter.notifyMatchFailure(op, "neither scale nor shift");
    auto sides = matchWithConstant(op);
    if (!sides)
      return rewriter.notifyMatchFailure(op, "no constant operand");
    auto conv = sides->value.getDefiningOp<ConvT>();
    if (!conv || !conv.getY().hasOneUse())
      return rewriter.notifyMatchFailure(op, "not the only reader of a convolution");
    if (!variesAlongOnly(sides->constant, conv.getY(), 1))
      return rewriter.notifyMatchFailure(op, "the constant varies along another axis than the channels");
    if (conv.getBias() && !isConstant(conv.getBias()))
      return rewriter.notifyMatchFailure(op, "the bias is no constant");
    if (scales && (!isConstant(conv.getW()) || (kTransposed && conv.getGroup() != 1)))
      return rewriter.notifyMatchFailure(op, "the weight can't be scaled");
    int64_t channels = shapeOf(conv.getY())[1];
    Value c = asVector(sides->constant, channels, rewriter);
    Value w = conv.getW(), bias = conv.getBias();
    if (scales) {
      if (kind == BinaryKind::Div)
        c = UnaryOp::create(rewriter, op.getLoc(), UnaryKind::Reciprocal, c);
      w = scaleWeight(w, c, kTransposed ? 1 : 0, rewriter);
      if (bias)
        bias = BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Mul, bias, c);
    } else {
      if (kind == BinaryKind::Sub)
        c = UnaryOp::create(rewriter, op.getLoc(), UnaryKind::Neg, c);
      bias = bias ? Value(BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Add, bias, c)) : c;
    }
    OperationState state(rewriter.getFusedLoc({conv.getLoc(), op.getLoc()}), ConvT::getOperationName());
    state.addOperands({conv.getX(), w});
    if (bias)
      state.addOperands(bias);
    state.addTypes(conv.getType());
    state.addAttributes(conv->getAttrs());
    rewriter.replaceOp(op, rewriter.create(state)->getResults());
    return success();
  }
};

/// matmul(x, W) * s with a constant per column, or one number.
struct FoldScaleIntoMatmul : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    if (op.getKind() != BinaryKind::Mul)
      return rewriter.notifyMatchFailure(op, "not a multiplication");
    auto sides = matchWithConstant(op);
    auto product = sides ? sides->value.getDefiningOp<MatmulOp>() : MatmulOp();
    if (!product || !product.getZ().hasOneUse() || !isConstant(product.getY()) || !isa<FloatType>(elementTypeOf(op.getZ())))
      return rewriter.notifyMatchFailure(op, "not the only reader of a product with a constant matrix");
    int64_t rank = tensorType(op.getZ()).getRank();
    if (!variesAlongOnly(sides->constant, product.getZ(), rank - 1))
      return rewriter.notifyMatchFailure(op, "the constant varies along another axis than the columns");
    int64_t columns = shapeOf(product.getY()).back();
    Value c = asVector(sides->constant, columns, rewriter);
    Value w = scaleWeight(product.getY(), c, tensorType(product.getY()).getRank() - 1, rewriter);
    auto scaled = MatmulOp::create(rewriter, rewriter.getFusedLoc({product.getLoc(), op.getLoc()}), product.getX(), w);
    scaled->setAttrs(product->getAttrs());
    rewriter.replaceOp(op, scaled.getZ());
    return success();
  }
};

/// conv(pad(x, 0)): the pads become the convolution's own.
struct FoldPadIntoConvolution : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getX().getDefiningOp<PadOp>();
    if (!pad || pad.getMode() != PadMode::Constant)
      return rewriter.notifyMatchFailure(op, "no constant pad before it");
    if (pad.getValue()) {
      auto value = getSplat(pad.getValue());
      if (!value || *value != 0)
        return rewriter.notifyMatchFailure(op, "the pad value is not zero");
    }
    auto low = pad.getLow(), high = pad.getHigh();
    if (low[0] || high[0] || low[1] || high[1] || llvm::any_of(low, [](int64_t p) { return p < 0; }) ||
        llvm::any_of(high, [](int64_t p) { return p < 0; }))
      return rewriter.notifyMatchFailure(op, "the pad crops or touches batch or channels");
    llvm::SmallVector<int64_t> newLow(op.getLow()), newHigh(op.getHigh());
    for (size_t i = 0; i < newLow.size(); ++i) {
      newLow[i] += low[i + 2];
      newHigh[i] += high[i + 2];
    }
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(pad.getX());
      op.setLow(newLow);
      op.setHigh(newHigh);
    });
    return success();
  }
};

struct SimplifyGraph : impl::SimplifyGraphBase<SimplifyGraph> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldIntoConvolution<ConvOp>, FoldIntoConvolution<ConvTransposeOp>, FoldScaleIntoMatmul, FoldPadIntoConvolution>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace gpuc

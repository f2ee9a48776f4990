// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scales, shifts and pads with constants go into the convolution or product before or after them; joined
// slices of one tensor become one slice.
#include "analysis/ConstantMath.h"
#include "analysis/Match.h"
#include "gpuc/Passes/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_SIMPLIFYGRAPH
#include "gpuc/Passes/Passes.h.inc"

namespace {

bool isConstant(Value v) { return getConstant(v) != nullptr; }

/// `parameter` broadcast against a value varies along `axis` only (extent `channels` or 1 there, 1 elsewhere)
/// and does not expand it.
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

/// Weight with its output channels scaled. `axis` is the channel axis of the weight; grouped transposed
/// convolutions are refused by the caller.
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
    auto constant = [&](OpBuilder &b) {
      Value c = asVector(sides->constant, channels, b);
      if (kind == BinaryKind::Div)
        return Value(UnaryOp::create(b, op.getLoc(), UnaryKind::Reciprocal, c));
      return kind == BinaryKind::Sub ? Value(UnaryOp::create(b, op.getLoc(), UnaryKind::Neg, c)) : c;
    };
    ElementsAttr newW, newBias;
    if (scales)
      newW = evaluateConstants(op.getContext(), [&](OpBuilder &b) {
        return scaleWeight(conv.getW(), constant(b), kTransposed ? 1 : 0, b);
      });
    if (shifts || conv.getBias())
      newBias = evaluateConstants(op.getContext(), [&](OpBuilder &b) -> Value {
        if (!conv.getBias())
          return constant(b);
        return BinaryOp::create(b, op.getLoc(), scales ? BinaryKind::Mul : BinaryKind::Add, conv.getBias(),
                                constant(b));
      });
    // 0 * inf is no 0, and a 16-bit weight may overflow.
    if ((scales && (!newW || !allFinite(newW))) ||
        ((shifts || conv.getBias()) && (!newBias || !allFinite(newBias))))
      return rewriter.notifyMatchFailure(op, "the folded constants would not be finite");
    Value w = newW ? ConstantOp::create(rewriter, conv.getW().getLoc(), newW).getY() : conv.getW();
    Value bias = newBias ? ConstantOp::create(rewriter, op.getLoc(), newBias).getY() : Value();
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
    if (!product || !product.getZ().hasOneUse() || !isConstant(product.getY()) ||
        !isa<FloatType>(elementTypeOf(op.getZ())))
      return rewriter.notifyMatchFailure(op, "not the only reader of a product with a constant matrix");
    int64_t rank = tensorType(op.getZ()).getRank();
    if (!variesAlongOnly(sides->constant, product.getZ(), rank - 1))
      return rewriter.notifyMatchFailure(op, "the constant varies along another axis than the columns");
    int64_t columns = shapeOf(product.getY()).back();
    ElementsAttr scaledW = evaluateConstants(op.getContext(), [&](OpBuilder &b) {
      return scaleWeight(product.getY(), asVector(sides->constant, columns, b),
                         tensorType(product.getY()).getRank() - 1, b);
    });
    if (!scaledW || !allFinite(scaledW))
      return rewriter.notifyMatchFailure(op, "the scaled matrix would not be finite");
    Value w = ConstantOp::create(rewriter, product.getY().getLoc(), scaledW);
    auto scaled =
        MatmulOp::create(rewriter, rewriter.getFusedLoc({product.getLoc(), op.getLoc()}), product.getX(), w);
    scaled->setAttrs(product->getAttrs());
    rewriter.replaceOp(op, scaled.getZ());
    return success();
  }
};

/// Adds zeros around spatial axes: neither crops nor touches batch or channels.
bool isZeroPadOfSpatialAxes(PadOp pad) {
  if (pad.getMode() != PadMode::Constant || tensorType(pad.getX()).getRank() < 3)
    return false;
  auto value = getSplat(pad.getValue());
  auto low = pad.getLow(), high = pad.getHigh();
  auto isNegative = [](int64_t p) { return p < 0; };
  return value && *value == 0 && !low[0] && !high[0] && !low[1] && !high[1] &&
         llvm::none_of(low, isNegative) && llvm::none_of(high, isNegative);
}

/// conv(pad(x, 0)): the pads become the convolution's own.
struct FoldPadIntoConvolution : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    auto pad = op.getX().getDefiningOp<PadOp>();
    if (!pad || !isZeroPadOfSpatialAxes(pad))
      return rewriter.notifyMatchFailure(op, "no pad with zeros of spatial axes before it");
    auto low = pad.getLow(), high = pad.getHigh();
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

/// The first element a window sees, and every window must see one cell of the data: with larger pads some
/// would not.
bool everyWindowHoldsData(llvm::ArrayRef<int64_t> x, llvm::ArrayRef<int64_t> y,
                          llvm::ArrayRef<int64_t> kernel, llvm::ArrayRef<int64_t> strides,
                          llvm::ArrayRef<int64_t> dilations, llvm::ArrayRef<int64_t> low) {
  for (size_t i = 0; i < kernel.size(); ++i)
    for (int64_t o = 0; o < y[i + 2]; ++o) {
      bool any = false;
      for (int64_t k = 0; k < kernel[i] && !any; ++k) {
        int64_t at = o * strides[i] - low[i] + k * dilations[i];
        any = at >= 0 && at < x[i + 2];
      }
      if (!any)
        return false;
    }
  return true;
}

/// Nothing in `v` is negative: zeros beside it never win against NaN or a cell of it.
bool isNonNegative(Value v) {
  auto unary = v.getDefiningOp<UnaryOp>();
  return unary && (unary.getKind() == UnaryKind::Relu || unary.getKind() == UnaryKind::Sigmoid ||
                   unary.getKind() == UnaryKind::Abs);
}

/// pool(pad(x, 0)): an average that counts its pads, or a maximum over what is not negative.
template <typename PoolT> struct FoldPadIntoPool : OpRewritePattern<PoolT> {
  using OpRewritePattern<PoolT>::OpRewritePattern;
  LogicalResult matchAndRewrite(PoolT op, PatternRewriter &rewriter) const override {
    auto pad = op.getX().template getDefiningOp<PadOp>();
    if (!pad || !isZeroPadOfSpatialAxes(pad))
      return rewriter.notifyMatchFailure(op, "no pad with zeros of spatial axes before it");
    auto isZero = [](int64_t p) { return p == 0; };
    if constexpr (std::is_same_v<PoolT, AvgPoolOp>) {
      // Without own pads every cell of the padded data counts; with some, they must count already.
      if (!op.getCountIncludePad() &&
          !(llvm::all_of(op.getLow(), isZero) && llvm::all_of(op.getHigh(), isZero)))
        return rewriter.notifyMatchFailure(op, "its own pads do not count");
    } else {
      if (!isNonNegative(pad.getX()))
        return rewriter.notifyMatchFailure(op, "zeros could win against negative data");
      if (op.getIndices())
        return rewriter.notifyMatchFailure(op, "indices count the padded data");
    }
    llvm::SmallVector<int64_t> low(op.getLow()), high(op.getHigh());
    for (size_t i = 0; i < low.size(); ++i) {
      low[i] += pad.getLow()[i + 2];
      high[i] += pad.getHigh()[i + 2];
    }
    if (!everyWindowHoldsData(shapeOf(pad.getX()), shapeOf(op.getY()), op.getKernel(), op.getStrides(),
                              op.getDilations(), low))
      return rewriter.notifyMatchFailure(op, "a window would hold pads only");
    rewriter.modifyOpInPlace(op, [&] {
      op.getXMutable().assign(pad.getX());
      op.setLow(low);
      op.setHigh(high);
      if constexpr (std::is_same_v<PoolT, AvgPoolOp>)
        op.setCountIncludePad(true);
    });
    return success();
  }
};

/// concat(x[0:2], x[2:5], y) is concat(x[0:5], y): what a split leaves that is joined again.
struct JoinAdjacentSlices : OpRewritePattern<ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatOp op, PatternRewriter &rewriter) const override {
    int64_t axis = op.getAxis();
    for (unsigned i = 0; i + 1 < op.getInputs().size(); ++i) {
      auto a = op.getInputs()[i].getDefiningOp<SliceOp>(), b = op.getInputs()[i + 1].getDefiningOp<SliceOp>();
      if (!a || !b || a.getX() != b.getX() || a.getSteps() != b.getSteps())
        continue;
      llvm::SmallVector<int64_t> next(a.getStarts()), sizes(shapeOf(a.getY()));
      next[axis] += sizes[axis] * a.getSteps()[axis];
      if (llvm::ArrayRef<int64_t>(next) != b.getStarts())
        continue;
      sizes[axis] += shapeOf(b.getY())[axis];
      Value both = SliceOp::create(rewriter, a.getLoc(), a.getX(), a.getStarts(), a.getSteps(), sizes);
      llvm::SmallVector<Value> inputs(op.getInputs());
      inputs[i] = both;
      inputs.erase(inputs.begin() + i + 1);
      rewriter.replaceOpWithNewOp<ConcatOp>(op, op.getType(), inputs, op.getAxisAttr(), UnitAttr());
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no neighbours are adjacent slices of one tensor");
  }
};

/// The shape of `c`, which broadcasts to `to`, seen from `from`, a reshape away; nothing when an axis on one
/// side is part of a varying and a constant axis on the other.
std::optional<llvm::SmallVector<int64_t>>
shapeThroughReshape(llvm::ArrayRef<int64_t> c, llvm::ArrayRef<int64_t> to, llvm::ArrayRef<int64_t> from) {
  llvm::SmallVector<int64_t> wide(to.size() - c.size(), 1), result(from.size(), 1);
  wide.append(c.begin(), c.end());
  for (size_t t = 0, f = 0; t < to.size() || f < from.size();) {
    // The smallest groups [t, tEnd) and [f, fEnd) with the same number of elements.
    size_t tEnd = t, fEnd = f;
    int64_t tCount = 1, fCount = 1;
    do {
      if (tEnd < to.size() && (tCount <= fCount || fEnd == from.size()))
        tCount *= to[tEnd++];
      else
        fCount *= from[fEnd++];
    } while (tCount != fCount && (tEnd < to.size() || fEnd < from.size()));
    auto group = llvm::ArrayRef<int64_t>(wide).slice(t, tEnd - t);
    bool constant = llvm::all_of(group, [](int64_t d) { return d == 1; });
    if (!constant) {
      if (group != to.slice(t, tEnd - t))
        return std::nullopt;
      std::copy(from.begin() + f, from.begin() + fEnd, result.begin() + f);
    }
    t = tEnd;
    f = fEnd;
  }
  return result;
}

/// reshape(product) + c: the constant goes below the reshape, where the product can take it in.
struct MoveConstantBelowReshape : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    BinaryKind kind = op.getKind();
    if (kind != BinaryKind::Add && kind != BinaryKind::Sub && kind != BinaryKind::Mul &&
        kind != BinaryKind::Div)
      return rewriter.notifyMatchFailure(op, "neither scale nor shift");
    auto sides = matchWithConstant(op);
    auto reshape = sides ? sides->value.getDefiningOp<ReshapeOp>() : ReshapeOp();
    if (!reshape || !reshape.getY().hasOneUse() || tensorType(reshape.getY()).getNumElements() == 0)
      return rewriter.notifyMatchFailure(op, "not the only reader of a reshape");
    Value inner = reshape.getX();
    for (auto below = inner.getDefiningOp<BinaryOp>(); below && inner.hasOneUse();
         below = inner.getDefiningOp<BinaryOp>()) {
      auto next = matchWithConstant(below);
      if (!next)
        break;
      inner = next->value;
    }
    if (!reshape.getX().hasOneUse() ||
        !isa_and_nonnull<MatmulOp, ConvOp, ConvTransposeOp>(inner.getDefiningOp()))
      return rewriter.notifyMatchFailure(op, "the reshape is not of a product");
    auto shape =
        shapeThroughReshape(shapeOf(sides->constant), shapeOf(reshape.getY()), shapeOf(reshape.getX()));
    if (!shape)
      return rewriter.notifyMatchFailure(op, "the constant varies along part of an axis of the product");
    Value c = tensorType(sides->constant).getRank() == 0
                  ? sides->constant
                  : Value(ReshapeOp::create(rewriter, op.getLoc(), sides->constant, *shape));
    Value moved = BinaryOp::create(rewriter, op.getLoc(), kind, reshape.getX(), c);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), moved);
    return success();
  }
};

/// A convolution whose windows tile the image (kernel = stride, no pads) is a product of patches: the
/// embedding of vision transformers.
struct PatchesIntoProduct : OpRewritePattern<ConvOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConvOp op, PatternRewriter &rewriter) const override {
    auto x = shapeOf(op.getX()), w = shapeOf(op.getW()), y = shapeOf(op.getY());
    auto zero = [](llvm::ArrayRef<int64_t> pads) {
      return llvm::all_of(pads, [](int64_t p) { return p == 0; });
    };
    if (op.getGroup() != 1 || !getConstant(op.getW()) || !zero(op.getLow()) || !zero(op.getHigh()))
      return rewriter.notifyMatchFailure(op, "groups, pads or a computed weight");
    int64_t window = 1;
    for (size_t i = 2; i < x.size(); ++i) {
      if (op.getStrides()[i - 2] != w[i] || op.getDilations()[i - 2] != 1 || x[i] != y[i] * w[i])
        return rewriter.notifyMatchFailure(op, "the windows do not tile the image");
      window *= w[i];
    }
    if (window < 16)
      return rewriter.notifyMatchFailure(op, "small windows are read well as a convolution");
    Location loc = op.getLoc();
    // [N, C, P, k, Q, k] -> [N, P, Q, C, k, k] -> [N, P*Q, C*k*k]
    llvm::SmallVector<int64_t> split{x[0], x[1]}, perm{0};
    int64_t patches = 1, spatial = int64_t(x.size()) - 2;
    for (int64_t i = 0; i < spatial; ++i) {
      split.push_back(y[i + 2]);
      split.push_back(w[i + 2]);
      perm.push_back(2 + 2 * i);
      patches *= y[i + 2];
    }
    perm.push_back(1);
    for (int64_t i = 0; i < spatial; ++i)
      perm.push_back(3 + 2 * i);
    int64_t depth = x[1] * window, channels = w[0];
    Value patch = ReshapeOp::create(rewriter, loc, op.getX(), split);
    patch = TransposeOp::create(rewriter, loc, patch, rewriter.getDenseI64ArrayAttr(perm));
    patch = ReshapeOp::create(rewriter, loc, patch, llvm::ArrayRef<int64_t>{x[0], patches, depth});
    Value weight = ReshapeOp::create(rewriter, loc, op.getW(), llvm::ArrayRef<int64_t>{channels, depth});
    weight = TransposeOp::create(rewriter, loc, weight, rewriter.getDenseI64ArrayAttr({1, 0}));
    auto product = MatmulOp::create(rewriter, loc, patch, weight);
    if (op.getTf32())
      product.setTf32(true);
    Value z = product.getZ();
    if (op.getBias())
      z = BinaryOp::create(rewriter, loc, BinaryKind::Add, z, op.getBias());
    z = TransposeOp::create(rewriter, loc, z, rewriter.getDenseI64ArrayAttr({0, 2, 1}));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), z);
    return success();
  }
};

/// onehot(i) * W takes row i of W, and zeros where i is no row: cast(i == [0 … K-1]) times a finite matrix
/// (jax2tf, tf2onnx).
struct GatherFromOneHot : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    Value w = op.getY();
    auto cast = op.getX().getDefiningOp<CastOp>();
    auto eq = cast ? matchBinary(cast.getX(), BinaryKind::Eq) : BinaryOp();
    if (!eq || !isConstant(w) || tensorType(w).getRank() != 2 || !isa<FloatType>(elementTypeOf(w)) ||
        !allFinite(getConstant(w)))
      return rewriter.notifyMatchFailure(op, "no one-hot rows times a finite constant matrix");
    int64_t rows = shapeOf(w)[0], columns = shapeOf(w)[1];
    Value index = isConstant(eq.getY()) ? eq.getX() : eq.getY(),
          classes = isConstant(eq.getY()) ? eq.getY() : eq.getX();
    auto values = getInts(classes);
    if (!values || shapeOf(classes).empty() || shapeOf(classes).back() != rows ||
        int64_t(values->size()) != rows)
      return rewriter.notifyMatchFailure(op, "the classes do not lie along the last axis");
    for (int64_t i = 0; i < rows; ++i)
      if ((*values)[i] != i)
        return rewriter.notifyMatchFailure(op, "the classes are not 0, 1, …");
    auto lead = shapeOf(op.getZ()).drop_back();
    if (!elementTypeOf(index).isSignlessInteger(32) && !elementTypeOf(index).isSignlessInteger(64))
      return rewriter.notifyMatchFailure(op, "indices are i32 or i64");
    if (shapeOf(index).empty() || shapeOf(index).back() != 1 || shapeOf(index).drop_back() != lead)
      return rewriter.notifyMatchFailure(op, "the indices broadcast");
    Location loc = op.getLoc();
    // One more row of zeros; the sum that this stands for never gives -0.
    ElementsAttr table = evaluateConstants(getContext(), [&](OpBuilder &b) -> Value {
      auto zeros = RankedTensorType::get({1, columns}, elementTypeOf(w));
      Value zero =
          ConstantOp::create(b, loc, DenseElementsAttr::get(zeros, b.getFloatAttr(elementTypeOf(w), 0.0)));
      Value positive = BinaryOp::create(b, loc, BinaryKind::Add, w, zero);
      return ConcatOp::create(b, loc, tensorType(w).clone({rows + 1, columns}), ValueRange{positive, zero}, 0,
                              false);
    });
    if (!table)
      return rewriter.notifyMatchFailure(op, "the table can't be built");
    auto number = [&](int64_t v) -> Value {
      auto type = RankedTensorType::get({}, elementTypeOf(index));
      return ConstantOp::create(
          rewriter, loc, DenseElementsAttr::get(type, rewriter.getIntegerAttr(elementTypeOf(index), v)));
    };
    Value i = ReshapeOp::create(rewriter, loc, index, lead);
    Value inside = BinaryOp::create(rewriter, loc, BinaryKind::And,
                                    BinaryOp::create(rewriter, loc, BinaryKind::Ge, i, number(0)),
                                    BinaryOp::create(rewriter, loc, BinaryKind::Lt, i, number(rows)));
    Value row = SelectOp::create(rewriter, loc, inside, i, number(rows));
    rewriter.replaceOpWithNewOp<GatherOp>(op, op.getType(), ConstantOp::create(rewriter, loc, table), row,
                                          rewriter.getI64IntegerAttr(0));
    return success();
  }
};

struct SimplifyGraph : impl::SimplifyGraphBase<SimplifyGraph> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldIntoConvolution<ConvOp>, FoldIntoConvolution<ConvTransposeOp>, FoldScaleIntoMatmul,
                 FoldPadIntoConvolution, FoldPadIntoPool<AvgPoolOp>, FoldPadIntoPool<MaxPoolOp>,
                 JoinAdjacentSlices, MoveConstantBelowReshape, PatchesIntoProduct, GatherFromOneHot>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace gpuc

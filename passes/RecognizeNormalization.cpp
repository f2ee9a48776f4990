// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Layer norm and RMS norm from the forms that exporters write (torch, tf2onnx, Keras, jax2tf).
#include "NormalizationForms.h"
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
    if (auto e = getSplat(pow.getY()); e && *e == 2 && pow.getX().getType() == v.getType())
      return pow.getX();
  return {};
}

/// sqrt(m + epsilon), or its reciprocal: m and epsilon.
struct Root {
  Value mean;
  double epsilon;
};
std::optional<Root> matchRoot(Value v, UnaryKind kind) {
  auto root = matchUnary(v, kind);
  auto sum = root ? matchWithScalar(root.getX(), BinaryKind::Add) : std::nullopt;
  return sum ? std::optional(Root{sum->other, sum->scalar}) : std::nullopt;
}

/// x and the axes when `v` is mean(x) with kept axes.
struct Mean {
  Value x;
  llvm::ArrayRef<int64_t> axes;
};
std::optional<Mean> matchMean(Value v) {
  auto mean = matchReduce(v, ReduceKind::Mean);
  if (!mean || !mean.getKeepdims() || mean.getAxes().empty())
    return std::nullopt;
  return Mean{mean.getX(), mean.getAxes()};
}
bool isMeanOf(Value v, Value x, llvm::ArrayRef<int64_t> axes) {
  auto mean = matchMean(v);
  return mean && mean->x == x && mean->axes == axes;
}
/// x - mean(x): x and the axes.
std::optional<Mean> matchCentered(Value v) {
  auto sub = matchBinary(v, BinaryKind::Sub);
  auto mean = sub ? matchMean(sub.getY()) : std::nullopt;
  if (!mean || mean->x != sub.getX() || sub.getX().getType() != v.getType())
    return std::nullopt;
  return mean;
}

/// The variance of x: mean((x - mean(x))^2), or mean(x^2) - mean(x)^2 (jax), which may be kept from going
/// below 0.
bool isVarianceOf(Value v, Value x, llvm::ArrayRef<int64_t> axes) {
  if (auto squares = matchMean(v)) {
    Value difference = squares->axes == axes ? matchSquare(squares->x) : Value();
    auto centered = difference ? matchCentered(difference) : std::nullopt;
    return centered && centered->x == x && centered->axes == axes;
  }
  if (auto positive = matchWithScalar(v, BinaryKind::Max); positive && positive->scalar == 0)
    v = positive->other;
  auto sub = matchBinary(v, BinaryKind::Sub);
  if (!sub)
    return false;
  auto squares = matchMean(sub.getX());
  Value mean = matchSquare(sub.getY());
  return squares && squares->axes == axes && matchSquare(squares->x) == x && mean && isMeanOf(mean, x, axes);
}

/// Norms work on trailing axes. One other axis is moved to the end and back; for several that are not
/// trailing: nothing.
struct TrailingForm {
  llvm::SmallVector<int64_t> perm; ///< empty when the axes are the trailing ones already
  int64_t axis;                    ///< the first normalised one
};
std::optional<TrailingForm> trailingForm(Value x, llvm::ArrayRef<int64_t> axes) {
  int64_t rank = tensorType(x).getRank(), first = rank - int64_t(axes.size());
  bool trailing = true;
  for (size_t i = 0; i < axes.size(); ++i)
    trailing &= axes[i] == first + int64_t(i);
  if (trailing)
    return TrailingForm{{}, first};
  if (axes.size() != 1)
    return std::nullopt;
  TrailingForm form{{}, rank - 1};
  for (int64_t i = 0; i < rank; ++i)
    if (i != axes[0])
      form.perm.push_back(i);
  form.perm.push_back(axes[0]);
  return form;
}
Value transposed(Value v, llvm::ArrayRef<int64_t> perm, OpBuilder &builder) {
  return perm.empty()
             ? v
             : Value(TransposeOp::create(builder, v.getLoc(), v, builder.getDenseI64ArrayAttr(perm)));
}
llvm::SmallVector<int64_t> inverse(llvm::ArrayRef<int64_t> perm) {
  llvm::SmallVector<int64_t> result(perm.size());
  for (size_t i = 0; i < perm.size(); ++i)
    result[perm[i]] = int64_t(i);
  return result;
}

/// A layer norm (or RMS norm) of x without scale and bias, in x's own order of axes.
Value makeNorm(bool centered, Value x, const TrailingForm &form, double epsilon, Location loc,
               OpBuilder &builder) {
  Value moved = transposed(x, form.perm, builder), y;
  auto axis = builder.getI64IntegerAttr(form.axis);
  auto eps = builder.getF64FloatAttr(epsilon);
  if (centered)
    y = LayerNormOp::create(builder, loc, moved.getType(), moved, Value(), Value(), axis, eps);
  else
    y = RmsNormOp::create(builder, loc, moved.getType(), moved, Value(), axis, eps);
  return transposed(y, inverse(form.perm), builder);
}

/// (x - mean) * rsqrt(var + eps) [* gamma]  or  (x - mean) / sqrt(var + eps); the same without the mean is
/// RMS norm.
struct NormFromQuotient : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    llvm::SmallVector<Value> factors;
    std::optional<Root> root;
    double scale = 1;
    if (op.getKind() == BinaryKind::Div) {
      root = matchRoot(op.getY(), UnaryKind::Sqrt);
      factors.push_back(op.getX());
    } else if (op.getKind() == BinaryKind::Mul) {
      Product product = flattenProduct(op.getZ());
      scale = product.scale;
      for (Value factor : product.factors)
        if (auto found = root ? std::nullopt : matchRoot(factor, UnaryKind::Rsqrt))
          root = found;
        else
          factors.push_back(factor);
    }
    if (!root)
      return rewriter.notifyMatchFailure(op, "no division by sqrt(mean + epsilon)");
    for (unsigned i = 0; i < factors.size(); ++i) {
      Value numerator = factors[i];
      if (numerator.getType() != op.getType())
        continue;
      auto centered = matchCentered(numerator);
      bool isLayerNorm = centered && isVarianceOf(root->mean, centered->x, centered->axes);
      auto squares = matchMean(root->mean);
      bool isRmsNorm = !isLayerNorm && squares && matchSquare(squares->x) == numerator;
      if (!isLayerNorm && !isRmsNorm)
        continue;
      Value x = isLayerNorm ? centered->x : numerator;
      auto form = trailingForm(x, isLayerNorm ? centered->axes : squares->axes);
      if (!form)
        return rewriter.notifyMatchFailure(op, "the axes are neither one nor the trailing ones");
      Value y = makeNorm(isLayerNorm, x, *form, root->epsilon, op.getLoc(), rewriter);
      for (unsigned j = 0; j < factors.size(); ++j)
        if (j != i)
          y = BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Mul, y, factors[j]);
      if (scale != 1) {
        auto type = RankedTensorType::get({}, elementTypeOf(y));
        auto attr = DenseElementsAttr::get(type, rewriter.getFloatAttr(elementTypeOf(y), scale));
        y = BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Mul, y,
                             ConstantOp::create(rewriter, op.getLoc(), attr));
      }
      rewriter.replaceOp(op, y);
      return success();
    }
    return rewriter.notifyMatchFailure(op,
                                       "the root is not taken of the variance or mean square of a factor");
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
      auto meanTimes = shift ? matchBinary(shift.getY(), BinaryKind::Mul) : BinaryOp();
      if (!scaled || !meanTimes)
        continue;
      for (int i = 0; i < 4; ++i) {
        Value x = i & 1 ? scaled.getY() : scaled.getX(), s = i & 1 ? scaled.getX() : scaled.getY();
        Value mean = i & 2 ? meanTimes.getY() : meanTimes.getX(),
              s2 = i & 2 ? meanTimes.getX() : meanTimes.getY();
        auto m = s == s2 && x.getType() == op.getType() ? matchMean(mean) : std::nullopt;
        if (!m || m->x != x)
          continue;
        Value gamma;
        auto root = matchRoot(s, UnaryKind::Rsqrt);
        if (auto product = matchBinary(s, BinaryKind::Mul); !root && product) {
          root = matchRoot(product.getX(), UnaryKind::Rsqrt);
          gamma = root ? product.getY() : product.getX();
          if (!root)
            root = matchRoot(product.getY(), UnaryKind::Rsqrt);
        }
        auto form = trailingForm(x, m->axes);
        if (!root || !form || !isVarianceOf(root->mean, x, m->axes))
          continue;
        Value y = makeNorm(true, x, *form, root->epsilon, op.getLoc(), rewriter);
        if (gamma)
          y = BinaryOp::create(rewriter, op.getLoc(), BinaryKind::Mul, y, gamma);
        rewriter.replaceOpWithNewOp<BinaryOp>(op, BinaryKind::Add, y, shift.getX());
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "not scale and shift of a normalisation");
  }
};

/// True when a scale or bias, whose axes are moved by `perm` as x's were, varies along the normalised axes
/// only.
bool fitsNormalizedAxes(Value parameter, Value x, int64_t axis, llvm::ArrayRef<int64_t> perm) {
  int64_t rank = tensorType(x).getRank();
  llvm::SmallVector<int64_t> shape(rank - std::min<int64_t>(rank, shapeOf(parameter).size()), 1);
  llvm::append_range(shape, shapeOf(parameter));
  if (int64_t(shape.size()) > rank || elementTypeOf(parameter) != elementTypeOf(x))
    return false;
  for (int64_t i = 0; i < axis; ++i)
    if (shape[perm.empty() ? i : perm[i]] != 1)
      return false;
  return true;
}
/// The parameter with the rank of the normalised axes at most.
Value alongNormalizedAxes(Value parameter, Value x, int64_t axis, llvm::ArrayRef<int64_t> perm,
                          OpBuilder &builder) {
  auto reshaped = [&](llvm::ArrayRef<int64_t> shape) {
    if (shape != shapeOf(parameter))
      parameter = ReshapeOp::create(builder, parameter.getLoc(), parameter, shape);
  };
  int64_t rank = tensorType(x).getRank();
  if (!perm.empty()) {
    llvm::SmallVector<int64_t> wide(rank - shapeOf(parameter).size(), 1);
    llvm::append_range(wide, shapeOf(parameter));
    reshaped(wide);
    parameter = transposed(parameter, perm, builder);
  }
  reshaped(shapeOf(parameter).take_back(std::min<int64_t>(shapeOf(parameter).size(), rank - axis)));
  return parameter;
}

/// Takes a multiplication or addition right after a norm in as its scale or bias.
template <typename NormOp> struct AbsorbScaleAndBias : OpRewritePattern<BinaryOp> {
  using OpRewritePattern<BinaryOp>::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    BinaryKind kind = op.getKind();
    if (kind != BinaryKind::Mul && kind != BinaryKind::Add)
      return rewriter.notifyMatchFailure(op, "neither scale nor bias");
    for (int side = 0; side < 2; ++side) {
      Value normal = side ? op.getY() : op.getX(), parameter = side ? op.getX() : op.getY();
      if (!normal.hasOneUse() || normal.getType() != op.getType())
        continue;
      // The norm of another axis than the last one lies between transposes.
      auto back = normal.template getDefiningOp<TransposeOp>();
      auto norm = (back ? back.getX() : normal).template getDefiningOp<NormOp>();
      if (!norm || !norm.getY().hasOneUse())
        continue;
      llvm::SmallVector<int64_t> perm;
      if (back)
        perm = inverse(back.getPerm());
      if (!fitsNormalizedAxes(parameter, norm.getX(), norm.getAxis(), perm))
        continue;
      Value scale = norm.getScale(), bias;
      if constexpr (std::is_same_v<NormOp, LayerNormOp>)
        bias = norm.getBias();
      bool taken = kind == BinaryKind::Mul ? scale || bias : bias || std::is_same_v<NormOp, RmsNormOp>;
      if (taken)
        continue;
      (kind == BinaryKind::Mul ? scale : bias) =
          alongNormalizedAxes(parameter, norm.getX(), norm.getAxis(), perm, rewriter);
      Value y;
      if constexpr (std::is_same_v<NormOp, LayerNormOp>)
        y = LayerNormOp::create(rewriter, op.getLoc(), norm.getType(), norm.getX(), scale, bias,
                                norm.getAxisAttr(), norm.getEpsilonAttr());
      else
        y = RmsNormOp::create(rewriter, op.getLoc(), norm.getType(), norm.getX(), scale, norm.getAxisAttr(),
                              norm.getEpsilonAttr());
      rewriter.replaceOp(op, back ? transposed(y, back.getPerm(), rewriter) : y);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no norm that this belongs to");
  }
};

struct RecognizeNormalization : impl::RecognizeNormalizationBase<RecognizeNormalization> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateReductionForms(patterns);
    populateSoftmaxForms(patterns);
    patterns.add<NormFromQuotient, NormFromScaleShift, AbsorbScaleAndBias<LayerNormOp>,
                 AbsorbScaleAndBias<RmsNormOp>>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace gpuc

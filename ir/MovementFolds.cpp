// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders and canonicalization patterns of movement ops.
#include "Folds.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Ops.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Support/CheckedMath.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace gpuc {

static bool allEqual(ArrayRef<int64_t> values, int64_t to) {
  return llvm::all_of(values, [&](int64_t v) { return v == to; });
}

//===--- transpose
//------------------------------------------------------------------------------------------------===//

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  bool identity = true;
  for (auto [i, axis] : llvm::enumerate(getPerm()))
    identity &= int64_t(i) == axis;
  if (identity)
    return getX();
  return foldSmallConstant(*this, adaptor.getOperands());
}

namespace {
struct TransposeOfTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<TransposeOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> perm;
    for (int64_t axis : op.getPerm())
      perm.push_back(inner.getPerm()[axis]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, inner.getX(), rewriter.getDenseI64ArrayAttr(perm));
    return success();
  }
};
} // namespace

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &results, MLIRContext *context) {
  results.add<TransposeOfTranspose>(context);
}

//===--- reshape, expand
//------------------------------------------------------------------------------------------===//

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  // A constant keeps its bytes whatever its size.
  auto type = cast<RankedTensorType>(getType());
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX()))
    return dense.reshape(type);
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(adaptor.getX()))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  return {};
}

namespace {
struct ReshapeOfReshape : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<ReshapeOp>();
    if (!inner)
      return failure();
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, inner.getX(), shapeOf(op.getY()));
    return success();
  }
};
} // namespace

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &results, MLIRContext *context) {
  results.add<ReshapeOfReshape>(context);
}

OpFoldResult ExpandOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  if (auto inner = getX().getDefiningOp<ExpandOp>()) {
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return foldSmallConstant(*this, adaptor.getOperands());
}

//===--- slice
//----------------------------------------------------------------------------------------------------===//

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  bool whole = getX().getType() == getType();
  // Every element is there; along axes of extent 0 and 1 the step does not matter.
  for (auto [step, extent] : llvm::zip(getSteps(), shapeOf(getY())))
    whole &= step == 1 || extent <= 1;
  if (whole)
    return getX();
  return foldSmallConstant(*this, adaptor.getOperands());
}

namespace {
struct SliceOfSlice : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<SliceOp>();
    if (!inner)
      return failure();
    SmallVector<int64_t> starts, steps;
    for (auto [i, size] : llvm::enumerate(shapeOf(op.getY()))) {
      int64_t start = 0, step = 1;
      if (size > 0)
        start =
            inner.getStarts()[i] + op.getStarts()[i] * inner.getSteps()[i]; // a position in the innermost x
      if (size > 1)
        step = op.getSteps()[i] * inner.getSteps()[i]; // the distance of two such positions
      starts.push_back(start);
      steps.push_back(step);
    }
    rewriter.replaceOpWithNewOp<SliceOp>(op, inner.getX(), starts, steps, shapeOf(op.getY()));
    return success();
  }
};
} // namespace

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &results, MLIRContext *context) {
  results.add<SliceOfSlice>(context);
}

//===--- concat, pad, tile, trilu, resize
//-------------------------------------------------------------------------===//

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  // One operand that is not empty, if any.
  Value only = getInputs().front();
  unsigned full = 0;
  for (Value input : getInputs()) {
    if (shapeOf(input)[getAxis()] == 0)
      continue;
    only = input;
    ++full;
  }
  if (full <= 1 && only.getType() == getType())
    return only;
  return foldSmallConstant(*this, adaptor.getOperands());
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  if (allEqual(getLow(), 0) && allEqual(getHigh(), 0))
    return getX();
  return foldSmallConstant(*this, adaptor.getOperands());
}

OpFoldResult TileOp::fold(FoldAdaptor adaptor) {
  if (allEqual(getRepeats(), 1))
    return getX();
  return foldSmallConstant(*this, adaptor.getOperands());
}

OpFoldResult TriluOp::fold(FoldAdaptor adaptor) { return foldSmallConstant(*this, adaptor.getOperands()); }

OpFoldResult ResizeOp::fold(FoldAdaptor adaptor) {
  bool unscaled = getX().getType() == getType() && getCoordinate() != CoordinateMode::TfCropAndResize;
  for (double scale : getScales())
    unscaled &= scale == 1.0;
  if (unscaled)
    return getX();
  return foldSmallConstant(*this, adaptor.getOperands());
}

} // namespace gpuc

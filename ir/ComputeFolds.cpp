// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders of indexing, reducing, normalising and contracting ops: mostly the evaluation of small constants.
#include "Folds.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Evaluate.h"
#include "gpuc/IR/Ops.h"
#include "gpuc/IR/Types.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace gpuc {

// Results up to this size are folded by `fold`, from operands up to this size each.
constexpr int64_t kFoldResultBytes = 64 << 10;
constexpr int64_t kFoldOperandBytes = 1 << 20;

OpFoldResult foldSmallConstant(Operation *op, ArrayRef<Attribute> operands) {
  for (auto [attribute, operand] : llvm::zip(operands, op->getOperands())) {
    if (!attribute)
      return {};
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    auto dtype = type && type.hasStaticShape() ? toDType(type.getElementType()) : std::nullopt;
    if (!dtype || byteSize(*dtype, type.getNumElements()) > kFoldOperandBytes)
      return {};
  }
  SmallVector<Attribute> results;
  if (op->getNumOperands() == 0 || op->getNumResults() != 1 ||
      failed(foldToConstants(op, kFoldResultBytes, results)))
    return {};
  return results.front();
}

#define GPUC_FOLD_CONSTANTS(Op)                                                                              \
  OpFoldResult Op::fold(FoldAdaptor adaptor) { return foldSmallConstant(*this, adaptor.getOperands()); }
GPUC_FOLD_CONSTANTS(GatherOp)
GPUC_FOLD_CONSTANTS(GatherElementsOp)
GPUC_FOLD_CONSTANTS(GatherNdOp)
GPUC_FOLD_CONSTANTS(ScatterElementsOp)
GPUC_FOLD_CONSTANTS(ArgReduceOp)
GPUC_FOLD_CONSTANTS(CumSumOp)
GPUC_FOLD_CONSTANTS(SoftmaxOp)
GPUC_FOLD_CONSTANTS(LayerNormOp)
GPUC_FOLD_CONSTANTS(RmsNormOp)
GPUC_FOLD_CONSTANTS(GroupNormOp)
GPUC_FOLD_CONSTANTS(LrnOp)
GPUC_FOLD_CONSTANTS(MatmulOp)
GPUC_FOLD_CONSTANTS(AttentionOp)
GPUC_FOLD_CONSTANTS(ConvOp)
GPUC_FOLD_CONSTANTS(ConvTransposeOp)
GPUC_FOLD_CONSTANTS(AvgPoolOp)
GPUC_FOLD_CONSTANTS(ScatterNdOp)
#undef GPUC_FOLD_CONSTANTS

OpFoldResult ReduceOp::fold(FoldAdaptor adaptor) {
  // Over no axis, the kinds without an element-wise part do nothing.
  switch (getKind()) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
  case ReduceKind::Max:
  case ReduceKind::Min:
  case ReduceKind::Prod:
  case ReduceKind::Any:
  case ReduceKind::All:
    if (getAxes().empty())
      return getX();
    break;
  default:
    break;
  }
  return foldSmallConstant(*this, adaptor.getOperands());
}

namespace {

/// One constant index takes one slice: gather(x, c) is reshape(slice(x)).
struct GatherOfOne : OpRewritePattern<GatherOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GatherOp op, PatternRewriter &rewriter) const override {
    auto index = getInts(op.getIndices());
    if (!index || index->size() != 1)
      return failure();
    ArrayRef<int64_t> shape = shapeOf(op.getData());
    int64_t axis = op.getAxis(), at = index->front();
    if (at < 0)
      at += shape[axis];
    if (at < 0 || at >= shape[axis])
      return failure();
    SmallVector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1), sizes(shape);
    starts[axis] = at;
    sizes[axis] = 1;
    Value slice = SliceOp::create(rewriter, op.getLoc(), op.getData(), starts, steps, sizes);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, slice, shapeOf(op.getY()));
    return success();
  }
};

} // namespace

void GatherOp::getCanonicalizationPatterns(RewritePatternSet &results, MLIRContext *context) {
  results.add<GatherOfOne>(context);
}

} // namespace gpuc

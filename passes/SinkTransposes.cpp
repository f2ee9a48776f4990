// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves views of leading axes from before a product with one matrix to after it. The product then sees its
// rows as they lie in memory (one large product instead of many small ones), and the view after it costs
// nothing.
#include "analysis/Match.h"
#include "gpuc/Passes/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_SINKTRANSPOSES
#include "gpuc/Passes/Passes.h.inc"

namespace {

struct SinkTransposeBelowProduct : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getX().getDefiningOp<TransposeOp>();
    if (!transpose || tensorType(op.getY()).getRank() != 2)
      return rewriter.notifyMatchFailure(op, "no transposed left side times one matrix");
    auto perm = transpose.getPerm();
    int64_t rank = int64_t(perm.size());
    if (rank < 3 || perm.back() != rank - 1)
      return rewriter.notifyMatchFailure(op, "the transpose moves the summed axis");
    auto product = MatmulOp::create(rewriter, op.getLoc(), transpose.getX(), op.getY());
    if (op.getTf32())
      product.setTf32(true);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), product.getZ(), transpose.getPermAttr());
    return success();
  }
};

/// Rows of a product that were merged by a reshape of a transposed value stay separate axes:
/// matmul(reshape(t)) becomes reshape(matmul(t')), so that the transpose can move too.
struct KeepRowsApart : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    auto merge = op.getX().getDefiningOp<ReshapeOp>();
    if (!merge || tensorType(op.getX()).getRank() != 2 || tensorType(op.getY()).getRank() != 2)
      return rewriter.notifyMatchFailure(op, "no reshaped matrix times a matrix");
    if (!merge.getX().getDefiningOp<TransposeOp>())
      return rewriter.notifyMatchFailure(op, "nothing is transposed");
    auto from = shapeOf(merge.getX());
    int64_t depth = shapeOf(op.getX())[1], product = 1;
    size_t lead = from.size();
    while (lead > 0 && product < depth)
      product *= from[--lead];
    if (product != depth || lead < 2)
      return rewriter.notifyMatchFailure(op, "the reshape does not merge whole leading axes into rows");
    llvm::SmallVector<int64_t> rows(from.take_front(lead));
    rows.push_back(depth);
    Value x = ReshapeOp::create(rewriter, merge.getLoc(), merge.getX(), rows);
    auto result = MatmulOp::create(rewriter, op.getLoc(), x, op.getY());
    if (op.getTf32())
      result.setTf32(true);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), result.getZ());
    return success();
  }
};

/// reshape(transpose(t)) that merges trailing axes only: the order of the leading axes is a transpose of its
/// own, after the reshape.
struct SplitLeadingTranspose : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getX().getDefiningOp<TransposeOp>();
    auto to = shapeOf(op.getY());
    if (!transpose || to.size() < 3 || !op.getY().hasOneUse() ||
        !isa<MatmulOp>(*op.getY().getUsers().begin()))
      return rewriter.notifyMatchFailure(op, "no transposed left side of a product");
    auto perm = transpose.getPerm();
    auto from = shapeOf(op.getX());
    size_t lead = to.size() - 1;
    if (perm.size() <= to.size() || from.take_front(lead) != to.take_front(lead))
      return rewriter.notifyMatchFailure(op, "the reshape does more than merge trailing axes");
    llvm::SmallVector<int64_t> sorted(perm.take_front(lead));
    llvm::sort(sorted);
    if (llvm::ArrayRef<int64_t>(sorted) == perm.take_front(lead))
      return rewriter.notifyMatchFailure(op, "the leading axes are in order");
    llvm::SmallVector<int64_t> inner(sorted), rows, outer;
    inner.append(perm.begin() + lead, perm.end());
    for (int64_t axis : sorted)
      rows.push_back(shapeOf(transpose.getX())[axis]);
    rows.push_back(to.back());
    for (int64_t axis : perm.take_front(lead))
      outer.push_back(llvm::find(sorted, axis) - sorted.begin());
    outer.push_back(int64_t(lead));
    Value x = TransposeOp::create(rewriter, transpose.getLoc(), transpose.getX(),
                                  rewriter.getDenseI64ArrayAttr(inner));
    x = ReshapeOp::create(rewriter, op.getLoc(), x, rows);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), x, rewriter.getDenseI64ArrayAttr(outer));
    return success();
  }
};

/// The view keeps the last axis as it is.
bool keepsLastAxis(Operation *view) {
  auto from = shapeOf(view->getOperand(0)), to = shapeOf(view->getResult(0));
  if (auto transpose = dyn_cast<TransposeOp>(view))
    return transpose.getPerm().size() > 1 &&
           transpose.getPerm().back() == int64_t(transpose.getPerm().size()) - 1;
  return isa<ReshapeOp>(view) && !from.empty() && !to.empty() && from.back() == to.back() && from.back() > 1;
}

/// A view that only this op reads, over a product or what was computed from one.
Operation *viewOfProduct(Value v) {
  Operation *view = v.getDefiningOp();
  if (!view || !v.hasOneUse() || !isa<TransposeOp, ReshapeOp>(view) || !keepsLastAxis(view))
    return nullptr;
  Value source = view->getOperand(0);
  return source.hasOneUse() && source.getDefiningOp<MatmulOp>() ? view
         : source.hasOneUse() && isa_and_nonnull<BinaryOp, UnaryOp>(source.getDefiningOp()) &&
                 source.getDefiningOp()->hasAttr("gpuc.of_product")
             ? view
             : nullptr;
}

/// bias + view(product) becomes view(bias + product): the product keeps its plain epilogue, the view moves on
/// to the reader.
struct SinkViewBelowBias : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(BinaryOp op, PatternRewriter &rewriter) const override {
    for (bool left : {true, false}) {
      Value viewed = left ? op.getX() : op.getY(), other = left ? op.getY() : op.getX();
      if (viewed.getType() != op.getType() || !getConstant(other))
        continue;
      Operation *view = viewOfProduct(viewed);
      if (!view)
        continue;
      int64_t last = shapeOf(viewed).back(), count = tensorType(other).getNumElements();
      bool vector = count == last && !shapeOf(other).empty() && shapeOf(other).back() == last;
      if (!(vector || count == 1))
        continue;
      llvm::SmallVector<int64_t> flat;
      if (vector)
        flat.push_back(last);
      Value constant = shapeOf(other) == llvm::ArrayRef<int64_t>(flat)
                           ? other
                           : Value(ReshapeOp::create(rewriter, op.getLoc(), other, flat));
      Value source = view->getOperand(0);
      auto sum = left ? BinaryOp::create(rewriter, op.getLoc(), op.getKind(), source, constant)
                      : BinaryOp::create(rewriter, op.getLoc(), op.getKind(), constant, source);
      replaceWithView(op, view, sum, rewriter);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no view of a product with a constant along its last axis");
  }

  static void replaceWithView(Operation *op, Operation *view, Operation *computed,
                              PatternRewriter &rewriter) {
    computed->setAttr("gpuc.of_product", rewriter.getUnitAttr());
    Operation *copy = rewriter.clone(*view);
    copy->setOperand(0, computed->getResult(0));
    copy->getResult(0).setType(op->getResult(0).getType());
    rewriter.replaceOp(op, copy->getResults());
  }
};

struct SinkViewBelowUnary : OpRewritePattern<UnaryOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(UnaryOp op, PatternRewriter &rewriter) const override {
    Operation *view = op.getY().getType() == op.getX().getType() ? viewOfProduct(op.getX()) : nullptr;
    if (!view)
      return rewriter.notifyMatchFailure(op, "no view of a product");
    Operation *computed = rewriter.clone(*op);
    computed->setOperand(0, view->getOperand(0));
    computed->getResult(0).setType(view->getOperand(0).getType());
    SinkViewBelowBias::replaceWithView(op, view, computed, rewriter);
    return success();
  }
};

struct SinkTransposes : impl::SinkTransposesBase<SinkTransposes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkTransposeBelowProduct, KeepRowsApart, SplitLeadingTranspose, SinkViewBelowBias,
                 SinkViewBelowUnary>(&getContext());
    TransposeOp::getCanonicalizationPatterns(patterns, &getContext());
    ReshapeOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation().walk([](Operation *op) { op->removeAttr("gpuc.of_product"); });
  }
};

} // namespace
} // namespace gpuc

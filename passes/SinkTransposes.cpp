// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Moves transposes of leading axes from before a product with one matrix to after it. The product then sees its rows as they
// lie in memory (one large product instead of many small ones), and the view after it costs nothing.
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

struct SinkTransposes : impl::SinkTransposesBase<SinkTransposes> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkTransposeBelowProduct>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
} // namespace gpuc

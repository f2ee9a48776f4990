// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classes of core ops.
#include "gpuc/IR/OpClasses.h"
#include "gpuc/IR/Ops.h"

using namespace mlir;

namespace gpuc {

bool isRootOp(Operation *op) {
  return isa<MatmulOp, AttentionOp, SqueezeExciteOp, ConvOp, ConvTransposeOp, MaxPoolOp, AvgPoolOp, ReduceOp,
             ArgReduceOp, CumSumOp, TopKOp, SoftmaxOp, LayerNormOp, RmsNormOp, GroupNormOp, LrnOp,
             ScatterNdOp, ScatterElementsOp>(op);
}

bool isPointwiseOp(Operation *op) { return isa<UnaryOp, BinaryOp, SelectOp, CastOp>(op); }

bool isViewOp(Operation *op) { return isa<TransposeOp, ReshapeOp, SliceOp, ExpandOp>(op); }

bool isMovementOp(Operation *op) {
  if (auto resize = dyn_cast<ResizeOp>(op))
    return resize.getMode() == ResizeMode::Nearest;
  return isViewOp(op) || isa<ConcatOp, PadOp, TileOp, TriluOp, GatherOp, GatherElementsOp, GatherNdOp>(op);
}

} // namespace gpuc

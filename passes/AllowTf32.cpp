// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Marks f32 contractions as free to use tf32 tensor cores.
#include "gpuc/IR/Ops.h"
#include "gpuc/Passes/Passes.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_ALLOWTF32
#include "gpuc/Passes/Passes.h.inc"

namespace {

struct AllowTf32 : impl::AllowTf32Base<AllowTf32> {
  void runOnOperation() override {
    getOperation().walk([this](Operation *op) {
      if (!isa<MatmulOp, ConvOp, ConvTransposeOp, AttentionOp>(op))
        return;
      if (cast<RankedTensorType>(op->getOperand(0).getType()).getElementType().isF32())
        op->setAttr("tf32", UnitAttr::get(&getContext()));
    });
  }
};

} // namespace
} // namespace gpuc

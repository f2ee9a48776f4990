// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Marks f16 products and convolutions as free to sum up a stretch of their depth in f16 (--fp16-accumulate).
#include "gpuc/IR/Ops.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Passes/Passes.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_ALLOWF16ACCUMULATION
#include "gpuc/Passes/Passes.h.inc"

namespace {

struct AllowF16Accumulation : impl::AllowF16AccumulationBase<AllowF16Accumulation> {
  void runOnOperation() override {
    getOperation().walk([this](Operation *op) {
      if (isa<MatmulOp, ConvOp>(op) && elementTypeOf(op->getOperand(0)).isF16())
        op->setAttr("f16_accumulate", UnitAttr::get(&getContext()));
    });
  }
};

} // namespace
} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates constant ops with the reference executor.
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Evaluate.h"
#include "gpuc/IR/OpClasses.h"
#include "gpuc/IR/Ops.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Passes/Passes.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "gpuc/Passes/Passes.h.inc"

namespace {

/// Bytes of the largest constant that is rearranged while compiling.
constexpr int64_t kLargestCopiedWeight = int64_t(256) << 20;

int64_t bytesOf(Value v) { return byteSize(dtypeOf(v), tensorType(v).getNumElements()); }

struct FoldConstants : impl::FoldConstantsBase<FoldConstants> {
  using Base::Base;

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    Block &block = getOperation().getBody().front();
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (isa<ConstantOp>(op) || op.getNumResults() == 0 || op.getNumOperands() == 0)
        continue;
      int64_t operandBytes = 0, resultBytes = 0;
      bool constant = true;
      for (Value operand : op.getOperands()) {
        constant &= getConstant(operand) != nullptr;
        if (constant)
          operandBytes += bytesOf(operand);
      }
      if (!constant)
        continue;
      for (Value result : op.getResults())
        resultBytes += bytesOf(result);
      // A view of a very large weight stays a view: readers follow its strides, and the copy would cost
      // seconds.
      if (isViewOp(&op) && operandBytes > kLargestCopiedWeight)
        continue;
      // A weight may be transposed or scaled whatever its size; a constant must not grow beyond the cap.
      int64_t cap = std::max<int64_t>(maxBytes, 2 * operandBytes);
      llvm::SmallVector<Attribute> values;
      if (resultBytes > cap || failed(foldToConstants(&op, cap, values)))
        continue;
      OpBuilder builder(&op);
      for (auto [result, value] : llvm::zip(op.getResults(), values))
        result.replaceAllUsesWith(ConstantOp::create(builder, op.getLoc(), cast<ElementsAttr>(value)).getY());
      op.erase();
    }
    for (Operation &op : llvm::make_early_inc_range(block))
      if (isa<ConstantOp>(op) && op.use_empty())
        op.erase();
  }
};

} // namespace
} // namespace gpuc

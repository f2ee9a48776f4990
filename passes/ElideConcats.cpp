// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Concatenations that cost nothing: producers write into the result's storage.
#include "gpuc/IR/OpClasses.h"
#include "gpuc/IR/Storage.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Passes/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_ELIDECONCATS
#include "gpuc/Passes/Passes.h.inc"

namespace {

/// Vector stores of the producers need this alignment of their part.
constexpr int64_t kPartAlignment = 16;

struct ElideConcats : impl::ElideConcatsBase<ElideConcats> {
  void runOnOperation() override {
    for (auto concat : llvm::to_vector(getOperation().getOps<ConcatOp>()))
      if (!elide(concat))
        makeKernel(concat);
  }

  bool elide(ConcatOp concat) {
    auto strides = storageStrides(concat.getY());
    int64_t axis = concat.getAxis(), offset = 0;
    int64_t bits = bitWidth(dtypeOf(concat.getY()));
    llvm::SmallPtrSet<Operation *, 8> seen;
    for (Value input : concat.getInputs()) {
      auto kernel = input.getDefiningOp<KernelOp>();
      if (!kernel || offset * strides[axis] * bits / 8 % kPartAlignment != 0)
        return false;
      // One part of one concat, read row by row wherever it is read; the reader's strides follow automatically.
      unsigned owners = 0;
      for (OpOperand &use : input.getUses()) {
        owners += isa<ConcatOp>(use.getOwner());
        if (!isa<ConcatOp, KernelOp>(use.getOwner()))
          return false;
        if (auto reader = dyn_cast<KernelOp>(use.getOwner()); reader && !canFollow(reader, use.getOperandNumber(), strides))
          return false;
      }
      if (owners != 1)
        return false;
      offset += shapeOf(input)[axis];
    }
    for (Value input : concat.getInputs())
      input.getDefiningOp<KernelOp>().setStorageStrides(cast<OpResult>(input).getResultNumber(), strides);
    concat.setElided(true);
    concat->setAttr(kStorageAttr, DenseI64ArrayAttr::get(&getContext(), strides));
    return true;
  }

  /// Readers with a prologue take any strides; of the others only those that read the part without a reshape in between are sure to.
  static bool canFollow(KernelOp reader, unsigned operand, llvm::ArrayRef<int64_t>) {
    Operation *root = reader.getRoot();
    if (!root)
      return true;
    for (Operation *user : reader.getBody().getArgument(operand).getUsers())
      if (isa<ReshapeOp>(user))
        return false;
    return true;
  }

  void makeKernel(ConcatOp concat) {
    OpBuilder builder(concat);
    Location loc = concat.getLoc();
    OperationState state(loc, KernelOp::getOperationName());
    Block *body = new Block;
    state.addRegion()->push_back(body);
    IRMapping mapping;
    for (Value input : concat.getInputs()) {
      if (mapping.contains(input))
        continue;
      state.addOperands(input);
      mapping.map(input, body->addArgument(input.getType(), loc));
    }
    OpBuilder inner(builder.getContext());
    inner.setInsertionPointToEnd(body);
    Operation *copy = inner.clone(*concat, mapping);
    copy->removeAttr(kStorageAttr);
    YieldOp::create(inner, loc, copy->getResults());
    state.addTypes(concat.getType());
    state.addAttribute("family", builder.getStringAttr("pointwise"));
    auto kernel = cast<KernelOp>(builder.create(state));
    if (auto strides = concat->getAttrOfType<DenseI64ArrayAttr>(kStorageAttr))
      kernel.setStorageStrides(0, strides.asArrayRef());
    concat.getY().replaceAllUsesWith(kernel.getResult(0));
    remark::missed(loc, remark::RemarkOpts::name("ConcatCopy").category("fusion"))
        << "this concatenation copies: a part is not aligned, not a kernel's result or has another owner";
    concat.erase();
  }
};

} // namespace
} // namespace gpuc

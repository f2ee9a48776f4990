// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Concatenations that cost nothing: producers write into the result's storage.
#include "analysis/ReaderStrides.h"
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

struct ElideConcats : impl::ElideConcatsBase<ElideConcats> {
  void runOnOperation() override {
    for (auto concat : llvm::to_vector(getOperation().getOps<ConcatOp>()))
      if (!elide(concat))
        makeKernel(concat);
  }

  bool elide(ConcatOp concat) {
    auto strides = storageStrides(concat.getY());
    auto readByKernels = [](Value v) {
      return llvm::all_of(v.getUsers(), [](Operation *user) { return isa<KernelOp>(user); });
    };
    if (bitWidth(dtypeOf(concat.getY())) < 8 || tensorType(concat.getY()).getNumElements() == 0 ||
        !partsAreAligned(concat, strides) || !readByKernels(concat.getY()))
      return false;
    for (Value input : concat.getInputs()) {
      if (!input.getDefiningOp<KernelOp>())
        return false;
      // One part of one concatenation, not returned; its other readers follow the strides it gets.
      unsigned owners = 0;
      for (OpOperand &use : input.getUses()) {
        auto reader = dyn_cast<KernelOp>(use.getOwner());
        owners += isa<ConcatOp>(use.getOwner());
        if (reader ? !canFollow(reader, use.getOperandNumber(), strides) : !isa<ConcatOp>(use.getOwner()))
          return false;
      }
      if (owners != 1)
        return false;
    }
    for (Value input : concat.getInputs())
      input.getDefiningOp<KernelOp>().setStorageStrides(cast<OpResult>(input).getResultNumber(), strides);
    concat.setElided(true);
    concat->setAttr(kStorageAttr, DenseI64ArrayAttr::get(&getContext(), strides));
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

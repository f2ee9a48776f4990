// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The invariant of each phase.
#include "gpuc/IR/Storage.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Passes/Memory.h"
#include "gpuc/Passes/Passes.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_VERIFYPHASE
#include "gpuc/Passes/Passes.h.inc"

namespace {

struct VerifyPhase : impl::VerifyPhaseBase<VerifyPhase> {
  using Base::Base;

  void runOnOperation() override {
    bool valid = llvm::StringSwitch<bool>(phase).Cases({"import", "graph", "kernels", "memory"}, true).Default(false);
    if (!valid) {
      getOperation().emitError() << "unknown phase '" << phase << "', expected import, graph, kernels or memory";
      return signalPassFailure();
    }
    bool kernels = phase == "kernels" || phase == "memory";
    for (Operation &op : getOperation().getBody().front()) {
      if (failed(kernels ? checkKernelProgram(&op) : checkGraph(&op)))
        return signalPassFailure();
    }
    if (phase == "memory" && (failed(checkOffsets())))
      return signalPassFailure();
  }

  LogicalResult checkGraph(Operation *op) {
    if (isa<KernelOp, YieldOp>(op))
      return op->emitError() << "phase '" << phase << "' must not hold kernels yet";
    if (!isa<func::ReturnOp>(op) && op->getName().getDialectNamespace() != "gpuc")
      return op->emitError() << "phase '" << phase << "' holds an op that is no core op";
    return success();
  }

  LogicalResult checkKernelProgram(Operation *op) {
    if (isa<KernelOp, ConstantOp, func::ReturnOp>(op))
      return success();
    if (auto concat = dyn_cast<ConcatOp>(op))
      return concat.getElided() ? success() : LogicalResult(op->emitError("a concatenation outside kernels must be elided"));
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      return isRowMajor(reshape.getX())
                 ? success()
                 : LogicalResult(op->emitError("a reshape outside kernels must be an alias of row-major data"));
    return op->emitError() << "phase '" << phase << "' must hold kernels only";
  }

  LogicalResult checkOffsets() {
    auto arena = getOperation()->getAttrOfType<IntegerAttr>(kArenaBytesAttr);
    if (!arena)
      return getOperation().emitError("phase 'memory' needs the size of the arena");
    for (auto kernel : getOperation().getOps<KernelOp>()) {
      auto offsets = kernel.getOffsets();
      if (!offsets || offsets->size() != kernel.getNumResults())
        return kernel.emitError("phase 'memory' needs one arena offset per result");
      for (auto [offset, result] : llvm::zip(*offsets, kernel.getResults())) {
        int64_t bytes = byteSize(dtypeOf(result), storageExtent(shapeOf(result), storageStrides(result)));
        if (offset != kReturnedOffset && (offset < 0 || offset + bytes > arena.getInt()))
          return kernel.emitError() << "a result at offset " << offset << " with " << bytes
                                    << " bytes does not fit the arena of " << arena.getInt();
      }
    }
    return success();
  }
};

} // namespace
} // namespace gpuc

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
    bool valid =
        llvm::StringSwitch<bool>(phase).Cases({"import", "graph", "kernels", "memory"}, true).Default(false);
    if (!valid) {
      getOperation().emitError() << "unknown phase '" << phase
                                 << "', expected import, graph, kernels or memory";
      return signalPassFailure();
    }
    if (getOperation().isExternal())
      return;
    bool kernels = phase == "kernels" || phase == "memory";
    for (Type type : getOperation().getArgumentTypes())
      if (auto tensor = dyn_cast<RankedTensorType>(type); !tensor || !tensor.hasStaticShape()) {
        getOperation().emitError() << "phase '" << phase << "' needs static shapes, got argument type "
                                   << type;
        return signalPassFailure();
      }
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
    if (auto concat = dyn_cast<ConcatOp>(op)) {
      if (!concat.getElided())
        return op->emitError("a concatenation outside kernels must be elided");
      if (!llvm::all_of(concat->getUsers(), [](Operation *user) { return isa<KernelOp>(user); }))
        return op->emitError("only kernels may read an elided concatenation");
      if (!llvm::all_of(concat.getInputs(),
                        [](Value part) { return part.getDefiningOp<KernelOp>() && !isReturned(part); }))
        return op->emitError(
            "parts of an elided concatenation must be results of kernels that are not returned");
      return success();
    }
    if (auto reshape = dyn_cast<ReshapeOp>(op))
      return isRowMajor(reshape.getX())
                 ? success()
                 : LogicalResult(
                       op->emitError("a reshape outside kernels must be an alias of row-major data"));
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
        if (offset == kReturnedOffset && !isReturned(result))
          return kernel.emitError("a result without an arena offset must be returned");
        if (offset != kReturnedOffset && isReturned(result))
          return kernel.emitError("a returned result must lie in the caller's buffer, not in the arena");
      }
    }
    return checkOverlaps();
  }

  /// The function returns the value or a reshape of it.
  static bool isReturned(Value value) {
    return llvm::any_of(value.getUsers(), [](Operation *user) {
      return isa<func::ReturnOp>(user) || (isa<ReshapeOp>(user) && isReturned(user->getResult(0)));
    });
  }

  struct Interval {
    KernelOp kernel;
    Value value;
    ConcatOp owner;     ///< the elided concatenation that the value is a part of
    int64_t begin, end; ///< bytes of the arena
    int first, last;    ///< program positions
  };

  /// The position of the last read, through concatenations and aliases.
  int lastRead(Value value, const llvm::DenseMap<Operation *, int> &position) {
    int last = -1;
    for (Operation *user : value.getUsers()) {
      last = std::max(last, position.lookup(user));
      if (isa<ConcatOp, ReshapeOp>(user))
        last = std::max(last, lastRead(user->getResult(0), position));
    }
    return last;
  }

  /// Values alive at one time lie apart, unless they are parts of one concatenation or one is written over
  /// the other element by element.
  LogicalResult checkOverlaps() {
    llvm::DenseMap<Operation *, int> position;
    int at = 0;
    for (Operation &op : getOperation().getBody().front())
      position[&op] = at++;
    std::vector<Interval> intervals;
    for (auto kernel : getOperation().getOps<KernelOp>())
      for (auto [offset, result] : llvm::zip(*kernel.getOffsets(), kernel.getResults())) {
        int64_t bytes = byteSize(dtypeOf(result), storageExtent(shapeOf(result), storageStrides(result)));
        if (offset == kReturnedOffset || bytes == 0)
          continue;
        Interval v{kernel, result, {}, offset, offset + bytes, position[kernel], 0};
        v.last = std::max(v.first, lastRead(result, position));
        for (Operation *user : result.getUsers())
          if (auto concat = dyn_cast<ConcatOp>(user))
            v.owner = concat;
        intervals.push_back(v);
      }
    for (auto [i, a] : llvm::enumerate(intervals))
      for (Interval &b : llvm::MutableArrayRef(intervals).drop_front(i + 1)) {
        bool apart = a.end <= b.begin || b.end <= a.begin || a.last < b.first || b.last < a.first;
        if (apart || (a.owner && a.owner == b.owner) || isInPlace(a, b))
          continue;
        return b.kernel.emitError() << "a result at offset " << b.begin
                                    << " lies in memory of another value that is still alive";
      }
    return success();
  }

  /// `b` overwrites its operand `a`, or the concatenation that `a` is part of, which nobody reads later.
  static bool isInPlace(Interval &a, Interval &b) {
    if (b.first != a.last || b.kernel.getRoot())
      return false;
    return llvm::any_of(b.kernel.getInputs(), [&](Value input) {
      bool same = input == a.value || (a.owner && input == a.owner.getY());
      return same && input.getType() == b.value.getType() && storageStrides(input) == storageStrides(b.value);
    });
  }
};

} // namespace
} // namespace gpuc

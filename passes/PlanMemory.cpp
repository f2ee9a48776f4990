// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arena offsets: greedy by size, first fit at the lowest free offset, over lifetimes in program order
// (Pisarchyk & Lee 2020, "greedy by size"). In-place pointwise kernels and parts of elided concatenations
// share a block.
#include "analysis/Liveness.h"
#include "gpuc/IR/Storage.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Passes/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_PLANMEMORY
#include "gpuc/Passes/Passes.h.inc"

namespace {

struct PlanMemory : impl::PlanMemoryBase<PlanMemory> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    func::FuncOp function = getOperation();
    BufferLiveness liveness(function);
    std::vector<BufferBlock> &blocks = liveness.blocks();

    llvm::SmallVector<unsigned> order;
    for (unsigned i = 0; i < blocks.size(); ++i)
      if (!blocks[i].returned)
        order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](unsigned a, unsigned b) { return blocks[a].bytes > blocks[b].bytes; });

    llvm::SmallVector<unsigned> placed;
    int64_t arena = 0;
    for (unsigned i : order) {
      BufferBlock &block = blocks[i];
      // Blocks that are alive at the same time, lowest first; take the first gap that is large enough.
      llvm::SmallVector<std::pair<int64_t, int64_t>> busy;
      for (unsigned p : placed)
        if (blocks[p].first <= block.last && block.first <= blocks[p].last)
          busy.push_back({blocks[p].offset, blocks[p].offset + blocks[p].bytes});
      llvm::sort(busy);
      int64_t offset = 0;
      for (auto [begin, end] : busy) {
        if (offset + block.bytes <= begin)
          break;
        offset = std::max(offset, end);
      }
      block.offset = offset;
      arena = std::max(arena, offset + block.bytes);
      placed.push_back(i);
    }

    OpBuilder builder(&getContext());
    for (auto kernel : function.getOps<KernelOp>()) {
      llvm::SmallVector<int64_t> offsets;
      for (Value result : kernel.getResults())
        offsets.push_back(liveness.arenaOffset(result));
      kernel.setOffsetsAttr(builder.getDenseI64ArrayAttr(offsets));
    }
    function->setAttr(kArenaBytesAttr, builder.getI64IntegerAttr(arena));
    function->setAttr(kArenaLowerBoundAttr, builder.getI64IntegerAttr(liveness.lowerBound()));
  }
};

} // namespace
} // namespace gpuc

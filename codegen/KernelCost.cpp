// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "KernelCost.h"
#include "gpuc/IR/Types.h"
#include <algorithm>

using namespace mlir;

namespace gpuc {

static uint64_t elements(Value v) { return uint64_t(tensorType(v).getNumElements()); }
static uint64_t bytesOf(Value v) { return uint64_t(byteSize(dtypeOf(v), tensorType(v).getNumElements())); }

static uint64_t flopsOf(Operation *op) {
  if (auto matmul = dyn_cast<MatmulOp>(op))
    return 2 * elements(matmul.getZ()) * uint64_t(shapeOf(matmul.getX()).back());
  if (auto conv = dyn_cast<ConvOp>(op)) {
    uint64_t filters = uint64_t(std::max<int64_t>(shapeOf(conv.getW())[0], 1));
    return 2 * elements(conv.getY()) * (elements(conv.getW()) / filters);
  }
  if (auto conv = dyn_cast<ConvTransposeOp>(op)) {
    uint64_t channels = uint64_t(std::max<int64_t>(shapeOf(conv.getW())[0], 1));
    return 2 * elements(conv.getX()) * (elements(conv.getW()) / channels);
  }
  if (auto attention = dyn_cast<AttentionOp>(op)) {
    auto q = shapeOf(attention.getQ()), v = shapeOf(attention.getV());
    uint64_t scores = uint64_t(q[0] * q[1] * q[2] * v[2]);
    uint64_t flops = 2 * scores * uint64_t(q[3] + v[3]);
    return attention.getCausal() ? flops / 2 : flops; // about half of the square lies above the diagonal
  }
  return 0;
}

/// Bytes of an operand that its users in the kernel ask for.
static uint64_t bytesRead(Value argument) {
  uint64_t all = bytesOf(argument), read = 0;
  for (OpOperand &use : argument.getUses()) {
    bool picks = isa<SliceOp>(use.getOwner()) ||
                 (isa<GatherOp, GatherElementsOp, GatherNdOp>(use.getOwner()) && use.getOperandNumber() == 0);
    read = std::max(read, picks ? std::min(all, bytesOf(use.getOwner()->getResult(0))) : all);
  }
  return read;
}

StepCost costOf(KernelOp kernel) {
  StepCost cost;
  for (Operation &op : kernel.getBody().front())
    cost.flops += flopsOf(&op);
  for (BlockArgument argument : kernel.getBody().front().getArguments())
    cost.bytes += bytesRead(argument);
  for (Value result : kernel.getResults())
    cost.bytes += bytesOf(result);
  return cost;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// If with a condition that is known when compiling: the chosen branch is imported in place. The other branch
// may be invalid for the actual shapes and is not looked at.
#include "Emit.h"
#include "Families.h"
#include "gpuc/IR/Constants.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace gpuc::frontend {

static LogicalResult ifOp(NodeContext &ctx) {
  FailureOr<Value> condition = ctx.input(0);
  if (failed(condition))
    return failure();
  if (!elementTypeOf(*condition).isInteger(1) || tensorType(*condition).getNumElements() != 1)
    return ctx.error("input 0 (cond) must be one bool, got shape " + shapeText(shapeOf(*condition)));
  std::optional<Ints> value = getInts(*condition);
  if (!value)
    return ctx.error("input 0 (cond) must be known when compiling");
  StringRef branch = (*value)[0] ? "then_branch" : "else_branch";
  FailureOr<SmallVector<Value>> results = ctx.importSubgraph(branch);
  if (failed(results))
    return failure();
  if (results->size() != ctx.numOutputs())
    return ctx.error("attribute '" + branch + "' has " + Twine(results->size()) + " outputs, the node has " +
                     Twine(ctx.numOutputs()));
  for (auto [i, result] : llvm::enumerate(*results))
    if (ctx.outputUsed(i) && failed(ctx.setOutput(i, result)))
      return failure();
  return success();
}

void registerControlFlowOps(OpRegistry &r) {
  r.add("", "If", {1, 11, 13, 16, 19, 21, 23, 24, 25}, ifOp, {0}, "condition known when compiling");
}

} // namespace gpuc::frontend

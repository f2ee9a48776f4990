// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part of tryCreate that does not depend on the op.
#include "gpuc/IR/Build.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace gpuc::detail {

static thread_local BuildScope *innermost = nullptr;

BuildScope::BuildScope() : outer(innermost) { innermost = this; }
BuildScope::~BuildScope() { innermost = outer; }
BuildScope *BuildScope::current() { return innermost; }

LogicalResult checkBuildable(const OperationState &state) {
  if (!state.name.isRegistered())
    return emitError(state.location) << "op '" << state.name
                                     << "' is not registered: the gpuc dialect is not loaded";
  for (auto [i, operand] : llvm::enumerate(state.operands))
    if (!operand)
      return emitError(state.location) << "operand " << i << " of '" << state.name << "' is null";
  return success();
}

Operation *createVerified(OpBuilder &builder, OperationState &state) {
  // Not inserted before it verifies, so that a failure leaves no trace and no listener sees it.
  Operation *op = Operation::create(state);
  if (failed(verify(op, /*verifyRecursively=*/true))) {
    op->destroy();
    return nullptr;
  }
  builder.insert(op);
  return op;
}

} // namespace gpuc::detail

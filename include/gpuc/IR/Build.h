// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Building ops from untrusted shapes and attributes. The generated builders of an op whose result types are
// inferred end the program when the inference fails (`OpT::create`, `builder.create<OpT>`); so everything
// that builds ops from a model (the frontend's NodeContext::create, and passes that derive shapes) goes
// through `tryCreate`, which emits a diagnostic at the location instead.
#pragma once
#include "mlir/IR/Builders.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Support/LLVM.h"

namespace gpuc {
namespace detail {

/// While one is alive on this thread, builders that can not give a result type record that here (having
/// emitted the error) and go on with a placeholder type, instead of ending the program. Scopes nest.
class BuildScope {
public:
  BuildScope();
  ~BuildScope();
  BuildScope(const BuildScope &) = delete;
  BuildScope &operator=(const BuildScope &) = delete;
  static BuildScope *current();
  void fail() { hasFailed = true; }
  bool failed() const { return hasFailed; }

private:
  BuildScope *outer;
  bool hasFailed = false;
};

/// Null, with an error at the location, when the op is not registered or an operand is null.
mlir::LogicalResult checkBuildable(const mlir::OperationState &state);
/// Inserts the op and verifies it; null when the verifier emitted an error (the op is erased again).
mlir::Operation *createVerified(mlir::OpBuilder &builder, mlir::OperationState &state);

} // namespace detail

/// As `OpT::create(builder, loc, args...)`, with any of its builders, but never ends the program: when types
/// can not be inferred or the op does not verify, an error has been emitted at `loc` and nothing was
/// inserted.
///
///   auto y = gpuc::tryCreate<gpuc::MatmulOp>(builder, loc, a, b);
///   if (failed(y))
///     return failure();
template <typename OpT, typename... Args>
mlir::FailureOr<OpT> tryCreate(mlir::OpBuilder &builder, mlir::Location loc, Args &&...args) {
  mlir::OperationState state(loc, OpT::getOperationName());
  {
    detail::BuildScope scope;
    OpT::build(builder, state, std::forward<Args>(args)...);
    if (scope.failed())
      return mlir::failure();
  }
  if (mlir::failed(detail::checkBuildable(state)))
    return mlir::failure();
  mlir::Operation *op = detail::createVerified(builder, state);
  if (!op)
    return mlir::failure();
  return mlir::cast<OpT>(op);
}

} // namespace gpuc

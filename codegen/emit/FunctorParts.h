// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What writing functors and finding their lanes have in common.
#pragma once
#include "ExprEmitterImpl.h"
#include "gpuc/Codegen/Functor.h"

namespace gpuc {

/// Coordinates of `value`'s axes from the collapsed coordinates g0, g1, … of the groups.
ExprEmitter::Impl::Coords groupCoords(ExprEmitter::Impl &e, mlir::Value value, const FunctorShape &shape);
/// Follows the root's result through pointwise ops and bijective views, recording coordinates of every value
/// it reaches.
void mapForward(ExprEmitter::Impl &e, KernelOp kernel);

} // namespace gpuc

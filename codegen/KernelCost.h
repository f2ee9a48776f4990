// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel op must at least do: the numbers that rooflines are made of.
#pragma once
#include "gpuc/IR/Ops.h"
#include "gpuc/Plan/Plan.h"

namespace gpuc {

/// Multiply-adds of its contractions (times two); its operands, of which gathers and slices read only what
/// they yield, and its results.
StepCost costOf(KernelOp kernel);

} // namespace gpuc

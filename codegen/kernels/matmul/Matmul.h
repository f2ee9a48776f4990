// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of its kernels a library could compute.
#pragma once
#include "gpuc/Codegen/Family.h"
#include "gpuc/Plan/MatmulProblem.h"
#include "gpuc/Target/Target.h"
#include <optional>

namespace gpuc {

/// A kernel that is exactly one library matrix product.
struct LibraryMatmul {
  MatmulProblem problem;
  unsigned a = 0, b = 0;            ///< operands of the kernel op
  int64_t offsetA = 0, offsetB = 0; ///< elements
  std::optional<unsigned> bias, c; ///< operands; c has the result's shape and storage, problem.beta is 1 then
};

/// What a library needs to compute the kernel: plain leading dimensions, at most one batch stride per
/// operand, and an epilogue of bias, added tensor of the result's shape, relu or gelu_tanh in the order of
/// MatmulEpilogue. Nothing when the kernel is more than that. f16, bf16, f32 (tf32 when the op allows it),
/// f64.
std::optional<LibraryMatmul> libraryMatmul(KernelOp kernel);

/// The family has a body with the target's fastest tensor-core instructions that can compute the kernel.
bool hasWarpgroupBody(KernelOp kernel, const Target &target);

} // namespace gpuc

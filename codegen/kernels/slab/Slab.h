// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products with few rows on sm_90a (slab.cuh): variants, their cost, their unit. Operands and outputs are
// those of ../wgmma, whose entry points reach these variants too.
#pragma once
#include "../wgmma/Wgmma.h"

namespace gpuc {

/// As WgmmaVariants with `slab` set: blockA is 64 rows, splits are the blocks of a cluster.
llvm::ArrayRef<WgmmaVariant> slabVariants();
/// `splits` blocks hold the depth, and all of the launch run at once.
bool allowsSlab(const WgmmaVariant &variant, const WgmmaProblem &problem, int splits, const Target &target);
/// Adds the legal ones to the choices.
void addSlabChoices(std::vector<ProductChoice> &list, const WgmmaProblem &problem, const Target &target);
/// Dynamic shared memory of SlabProduct::Shared.
int64_t slabSharedBytes(const WgmmaVariant &variant, const WgmmaProblem &problem, int splits);
EmittedKernel emitSlab(KernelOp kernel, const WgmmaUnit &unit, const WgmmaVariant &variant,
                       const WgmmaProblem &problem, DType dtype, llvm::StringRef element, int splits);

} // namespace gpuc

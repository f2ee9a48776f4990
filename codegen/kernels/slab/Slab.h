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
/// Places for the rows' k-tiles of a block, and the groups in which its k-tiles arrive (slab.cuh). No slots:
/// they do not fit.
struct SlabPlan {
  int64_t steps = 0, slots = 0, groups = 0;
  int64_t sharedBytes = 0; ///< of SlabProduct::Shared, at least
};
SlabPlan planSlab(const WgmmaVariant &variant, const WgmmaProblem &problem, int splits, const Target &target);
EmittedKernel emitSlab(KernelOp kernel, const WgmmaUnit &unit, const WgmmaVariant &variant,
                       const WgmmaProblem &problem, DType dtype, llvm::StringRef element, int splits,
                       const Target &target);

} // namespace gpuc

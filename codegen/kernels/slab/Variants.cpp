// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variants for products with few rows, what they need and what they cost.
#include "Slab.h"
#include "llvm/Support/MathExtras.h"

namespace gpuc {

static constexpr int kRows = 64;

// clang-format off
static constexpr WgmmaVariant kSlabVariants[] = {
    // name         A   B  stages consumers ping-pong swapped staging blocks/SM step
    {"slab_64x96", 64, 96, 0, 2, false, false, 0, 1, 0, true},
    {"slab_64x72", 64, 72, 0, 2, false, false, 0, 1, 0, true},
    {"slab_64x64", 64, 64, 0, 2, false, false, 0, 1, 0, true},
    {"slab_64x48", 64, 48, 0, 2, false, false, 0, 1, 0, true},
    {"slab_64x32", 64, 32, 0, 2, false, false, 0, 1, 0, true},
};
// clang-format on

llvm::ArrayRef<WgmmaVariant> slabVariants() { return kSlabVariants; }

static int64_t tilesOf(const WgmmaVariant &v, const WgmmaProblem &p) {
  return int64_t(llvm::divideCeil(p.rows, kRows)) * int64_t(llvm::divideCeil(p.cols, v.blockB)) * p.batch;
}

SlabPlan planSlab(const WgmmaVariant &v, const WgmmaProblem &p, int splits, const Target &t) {
  constexpr int64_t kRowBytes = kRows * 128, kTogether = 4; // k-tiles that a warpgroup multiplies at a time
  constexpr int64_t kLeastSlots = 8;                        // fewer do not cover the way from the L2 cache
  SlabPlan plan;
  plan.steps = int64_t(llvm::divideCeil(p.steps, splits));
  int64_t stride = v.blockB + (40 - v.blockB % 32) % 32, partial = 2 * kRows * stride * 4;
  int64_t fixed =
      (splits > 1 ? kRows * v.blockB * 4 : 16) + (p.rowState ? kRows * 16 : 16); // sums of others, row state
  auto bytes = [&](int64_t slots, int64_t groups) {
    return std::max(slots * kRowBytes + plan.steps * v.blockB * 128, partial) + fixed + groups * 16 + 32;
  };
  plan.slots = plan.steps;
  plan.groups = std::min<int64_t>(plan.steps, kTogether);
  if (bytes(plan.slots, plan.groups) > t.maxSharedPerBlock) {
    plan.groups = int64_t(llvm::alignTo(llvm::divideCeil(plan.steps, kTogether), 2));
    while (plan.slots >= kLeastSlots && bytes(plan.slots, plan.groups) > t.maxSharedPerBlock)
      --plan.slots;
    if (plan.slots < kLeastSlots)
      return {};
  }
  plan.sharedBytes = bytes(plan.slots, plan.groups);
  return plan;
}

bool allowsSlab(const WgmmaVariant &v, const WgmmaProblem &p, int splits, const Target &t) {
  if (!p.constantCols || p.transposedRows || p.transposedCols || p.before > 0)
    return false;
  if (p.momentColumns && v.blockB % p.momentColumns != 0)
    return false;
  if (splits != 1 && splits != 2 && splits != 4 && splits != 8)
    return false;
  int64_t steps = int64_t(llvm::divideCeil(p.steps, splits));
  if (steps * (splits - 1) >= p.steps) // the last block would have nothing
    return false;
  // Clusters lie within a group of SMs: of an H200's 132, clusters of four find room on 120.
  int64_t slots = splits <= 2 ? t.numSMs : int64_t(t.numSMs) * 10 / 11 / splits * splits;
  return planSlab(v, p, splits, t).slots > 0 && tilesOf(v, p) * splits <= slots;
}

/// Microseconds that the kernel costs in a chain of dependent launches. Coefficients are a least-squares fit
/// to 240 measurements of `gpuc tune` in six networks at batch 1 (H200; README.md): differences between the
/// candidates of a problem, so the constant, which compares with ../wgmma, stands apart. Blocks cost most:
/// those of this kernel keep the next one's from their SMs, and with that its weights.
static double estimate(const WgmmaVariant &v, const WgmmaProblem &p, int splits, const Target &t) {
  SlabPlan plan = planSlab(v, p, splits, t);
  double width = double(v.blockB) / 64, kilobytes = double(plan.slots) * kRows * 128 / 1024;
  double activations =
      std::min(1.0, std::max(0.0, (kilobytes - 24) / 74));       // those that are waited for at once
  double recycled = double(plan.steps) / double(plan.slots) - 1; // rounds that wait for a place
  double blocks = double(tilesOf(v, p) * splits) / double(t.numSMs);
  double reduction = splits == 1 ? 0 : 0.68 * width - (splits == 2 ? 0.27 : splits == 4 ? 0.49 : 0.74);
  double epilogue = 0.02 * p.epilogueInstructions + (p.held ? 0.3 : 0);
  double kernel = -1.2 + 0.029 * double(plan.steps) * width + 1.29 * activations + 0.42 * recycled +
                  reduction + 3.13 * blocks + 1.39 * width + epilogue;
  // The fit knows no least time; what is below it keeps its order.
  constexpr double kLeast = 1.5;
  return kernel > kLeast ? kernel : kLeast + 0.1 * (kernel - kLeast);
}

void addSlabChoices(std::vector<ProductChoice> &list, const WgmmaProblem &p, const Target &t) {
  for (const WgmmaVariant &v : kSlabVariants)
    for (int splits : {1, 2, 4, 8})
      if (allowsSlab(v, p, splits, t))
        list.push_back({v.name, splits, estimate(v, p, splits, t)});
}

} // namespace gpuc

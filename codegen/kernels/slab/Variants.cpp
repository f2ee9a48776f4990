// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Variants for products with few rows, what they need and what they cost.
#include "Slab.h"
#include "llvm/Support/MathExtras.h"

namespace gpuc {

static constexpr int kRows = 64;

// clang-format off
static constexpr WgmmaVariant kSlabVariants[] = {
    // name         A   B  stages consumers ping-pong swapped staging blocks/SM step
    {"slab_64x64", 64, 64, 0, 2, false, false, 0, 1, 0.065, true},
    {"slab_64x32", 64, 32, 0, 2, false, false, 0, 1, 0.045, true},
};
// clang-format on

llvm::ArrayRef<WgmmaVariant> slabVariants() { return kSlabVariants; }

static int64_t tilesOf(const WgmmaVariant &v, const WgmmaProblem &p) {
  return int64_t(llvm::divideCeil(p.rows, kRows)) * int64_t(llvm::divideCeil(p.cols, v.blockB)) * p.batch;
}

int64_t slabSharedBytes(const WgmmaVariant &v, const WgmmaProblem &p, int splits) {
  int64_t steps = int64_t(llvm::divideCeil(p.steps, splits));
  int64_t slab = steps * (kRows + v.blockB) * 128, partial = int64_t(2) * kRows * (v.blockB + 8) * 4;
  int64_t incoming = splits > 1 ? int64_t(kRows) * v.blockB * 4 : 16;
  return std::max(slab, partial) + incoming + 64;
}

bool allowsSlab(const WgmmaVariant &v, const WgmmaProblem &p, int splits, const Target &t) {
  if (!p.constantCols || p.transposedRows || p.transposedCols || p.before > 0)
    return false;
  if (p.moments && v.blockB != 64) // a tile is one part of a row's moments
    return false;
  if (splits != 1 && splits != 2 && splits != 4 && splits != 8)
    return false;
  int64_t steps = int64_t(llvm::divideCeil(p.steps, splits));
  if (steps * (splits - 1) >= p.steps) // the last block would have nothing
    return false;
  // Clusters lie within a group of SMs: of an H200's 132, clusters of four find room on 120.
  int64_t slots = splits <= 2 ? t.numSMs : int64_t(t.numSMs) * 10 / 11 / splits * splits;
  return slabSharedBytes(v, p, splits) <= t.maxSharedPerBlock && tilesOf(v, p) * splits <= slots;
}

/// Microseconds between this kernel's start and its successor's, in a chain of dependent launches.
static double estimate(const WgmmaVariant &v, const WgmmaProblem &p, int splits) {
  double steps = double(llvm::divideCeil(p.steps, splits));
  double kilobytes = steps * kRows * 128 / 1024;
  double boundary = 0.45, start = 0.6; // until the first instruction; until its barrier ends
  double activations = 0.6 + 0.4 * std::min(1.0, std::max(0.0, kilobytes - 24) / 74);
  double reduction = splits > 1 ? 1.1 : 0.2;
  double epilogue = 0.35 + 0.02 * p.epilogueInstructions + (p.held ? 0.3 : 0);
  double kernel = boundary + start + activations + steps * v.step + reduction + epilogue;
  return std::max(kernel, 1.5 + p.bytes / 3.9e6);
}

void addSlabChoices(std::vector<ProductChoice> &list, const WgmmaProblem &p, const Target &t) {
  for (const WgmmaVariant &v : kSlabVariants)
    for (int splits : {1, 2, 4, 8})
      if (allowsSlab(v, p, splits, t))
        list.push_back({v.name, splits, estimate(v, p, splits)});
}

} // namespace gpuc

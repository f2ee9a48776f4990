// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of variants and the cost model that chooses among them.
#include "../slab/Slab.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace gpuc {

// clang-format off
// Microseconds per k-tile: H200 at the clock it keeps under load (README.md).
static constexpr WgmmaVariant kWgmmaVariants[] = {
    // name                    A    B  stages consumers ping-pong swapped staging blocks/SM step
    {"wgmma_128x128_pp",      128, 128, 5, 2, true,  false, 4, 1, 0.37},
    {"wgmma_64x256_pp",        64, 256, 4, 2, true,  false, 4, 1, 0.42},
    {"wgmma_64x128_pp",        64, 128, 7, 2, true,  false, 2, 1, 0.18},
    {"wgmma_128x192",         128, 192, 4, 2, false, false, 3, 1, 0.54},
    {"wgmma_192x128",         192, 128, 4, 3, false, false, 2, 1, 0.54},
    {"wgmma_192x192",         192, 192, 4, 3, false, false, 1, 1, 0.79},
    {"wgmma_128x256",         128, 256, 4, 2, false, false, 2, 1, 0.74},
    {"wgmma_64x64_x2",         64,  64, 6, 1, false, false, 1, 2, 0.09},
    {"wgmma_64x128_x2",        64, 128, 4, 1, false, false, 1, 2, 0.16},
    {"wgmma_64x192_pp_swap",   64, 192, 5, 2, true,  true,  3, 1, 0.30},
    {"wgmma_64x256_pp_swap",   64, 256, 4, 2, true,  true,  4, 1, 0.42},
    {"wgmma_128x128_pp_swap", 128, 128, 5, 2, true,  true,  4, 1, 0.37},
    {"wgmma_128x192_swap",    128, 192, 4, 2, false, true,  3, 1, 0.54},
    {"wgmma_64x64_x2_swap",    64,  64, 6, 1, false, true,  1, 2, 0.09},
    {"wgmma_64x128_x2_swap",   64, 128, 4, 1, false, true,  1, 2, 0.16},
};
// clang-format on

llvm::ArrayRef<WgmmaVariant> wgmmaVariants() { return kWgmmaVariants; }

const WgmmaVariant *findWgmmaVariant(llvm::StringRef name) {
  for (llvm::ArrayRef<WgmmaVariant> table : {wgmmaVariants(), slabVariants()})
    for (const WgmmaVariant &v : table)
      if (v.name == name)
        return &v;
  return nullptr;
}

int64_t WgmmaVariant::sharedBytes(int resultBytes) const {
  int64_t ring = int64_t(stages) * (blockA + blockB) * 128;
  int64_t store =
      consumers * (resultBytes ? buffers(resultBytes) * int64_t(4096) * resultBytes : int64_t(10240));
  int64_t barriers = 16 * stages + 16 + int64_t(8) * consumers * std::max(staging, 1);
  return int64_t(llvm::alignTo(ring + store + barriers, 16));
}

bool allowsWgmma(const WgmmaVariant &v, const WgmmaProblem &p, int splits, const Target &t) {
  if (v.slab)
    return allowsSlab(v, p, splits, t);
  if (splits != 1 || v.sharedBytes(p.staged ? p.resultBytes : 0) > t.maxSharedPerBlock)
    return false;
  if (p.rowState && (!p.staged || v.swapped))
    return false;
  if (p.momentColumns &&
      (p.momentColumns != 32 || p.cols % 64 != 0)) // StagedStore: whole blocks, halves of them
    return false;
  if (v.swapped && !p.swappable)
    return false;
  // Only B may be contiguous along its rows.
  if (v.swapped ? p.transposedCols : p.transposedRows)
    return false;
  return true;
}

double epilogueMicroseconds(double elements, int instructions) { return 0.042e-6 * elements * instructions; }

/// Blocks of an SM and ping-pong warpgroups share its tensor cores: tiles of one SM follow each other.
static double estimate(const WgmmaVariant &v, const WgmmaProblem &p, const Target &t) {
  int64_t rowsA = v.swapped ? p.cols : p.rows, rowsB = v.swapped ? p.rows : p.cols;
  int64_t tiles =
      int64_t(llvm::divideCeil(rowsA, v.blockA)) * int64_t(llvm::divideCeil(rowsB, v.blockB)) * p.batch;
  double steps = double(p.steps) * (p.run == 1 ? std::max(0.5, double(p.tail) / 4) : 1.0);
  double perSM = double(llvm::divideCeil(tiles, t.numSMs));
  // From L2 to shared memory, terabytes per second.
  constexpr double kLoads = 13, kWindowLoads = 12, kDram = 3.9;
  double loads =
      double(tiles) * steps * (v.blockA + v.blockB) * 128 / ((p.window ? kWindowLoads : kLoads) * 1e6);
  double busy = std::max(perSM * steps * v.step, loads);
  // What lies outside the result is left out: rows of a warp, blocks of 64 columns.
  double elements = double(std::min<int64_t>(v.blockA, int64_t(llvm::alignTo(rowsA, 16)))) *
                    double(std::min<int64_t>(v.blockB, int64_t(llvm::alignTo(rowsB, 64))));
  int instructions = p.epilogueInstructions + (p.staged ? 0 : 8);
  double arithmetic = epilogueMicroseconds(perSM * elements * t.numSMs, instructions);
  // Stores, and waiting for what is held: under another warpgroup's main loop, but for the last tile.
  double exposed = elements / 16384 * (p.held ? 1.3 : 0.8) * (v.pingPong || v.blocksPerSM > 1 ? 1.0 : perSM);
  constexpr double kLatency = 3.1; // launch, first k-tiles
  double kernel = kLatency + busy + arithmetic + exposed, dram = 2.5 + p.bytes / (kDram * 1e6);
  // The two overlap but for a part.
  return p.before + std::max(kernel, dram) + 0.15 * std::min(kernel, dram);
}

std::vector<ProductChoice> rankProducts(const TileProblem &tiles, const std::optional<WgmmaProblem> &p,
                                        const Target &t, unsigned limit) {
  std::vector<ProductChoice> list;
  for (const TileChoice &tile : rankTiles(tiles, t, limit)) {
    if (p && p->rowState)
      break;
    double us = tile.microseconds;
    // The tiles' model ranks tiles: it leaves out the epilogue and is a tenth too low on this architecture.
    if (p)
      us = us * 1.1 + epilogueMicroseconds(double(p->rows) * double(p->cols) * double(p->batch),
                                           p->epilogueInstructions + 4);
    list.push_back({tile.variant->name, tile.splits, us});
  }
  if (p && t.hasWgmma && t.hasTma) {
    addSlabChoices(list, *p, t);
    for (const WgmmaVariant &v : kWgmmaVariants)
      if (allowsWgmma(v, *p, 1, t))
        list.push_back({v.name, 1, estimate(v, *p, t)});
  }
  std::stable_sort(list.begin(), list.end(), [](const ProductChoice &a, const ProductChoice &b) {
    return a.microseconds < b.microseconds;
  });
  if (list.size() > limit)
    list.resize(limit);
  return list;
}

} // namespace gpuc

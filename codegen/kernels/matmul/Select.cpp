// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cost model that chooses among the tile variants. Its constants are fitted to published measurements of
// sm_80 and sm_90 (README.md); it ranks, it does not predict.
#include "Tiles.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

namespace gpuc {

/// Multiply-adds per second of the whole chip, times two.
static double peakFlops(const TileProblem &p, const Target &t) {
  double simt = t.fp32Tflops * 1e12;
  switch (p.math) {
  case TileMath::Mma16:
    return t.fp16Tflops * 1e12 * (p.sumsStepsInF16(t) ? 2 : 1) *
           (t.hasWgmma ? 0.60 : 0.85); // mma.sync reaches three fifths of wgmma's rate
  case TileMath::MmaTf32:
    return t.fp16Tflops * 0.5e12 * (t.hasWgmma ? 0.60 : 0.85);
  case TileMath::Simt:
    break;
  }
  if (p.dtype == DType::F64)
    return t.minor == 0 && t.major < 10 ? simt * 0.4 : simt / 64; // data-centre parts have half-rate f64
  return isInt(p.dtype) ? simt * (sumBytes(p.dtype) == 8 ? 0.1 : 0.35) : simt * 0.75;
}

/// Registers of a thread of an MmaTile: sums, two sets of fragments, row states, addresses and loop
/// variables.
static int mmaRegisters(const TileVariant &v, const TileProblem &p, const Target &t) {
  int threads = v.threads(), sums = v.blockM * v.blockN / (v.warpsM * v.warpsN * 32);
  if (p.sumsStepsInF16(t))
    sums += sums / 2;
  int fragments = 2 * (v.blockM / v.warpsM / 16 * 4 + v.blockN / v.warpsN / 8 * 2);
  int perChunk = 16 / int(bitWidth(p.dtype) / 8);
  auto slots = [&](int rows) { return int(llvm::divideCeil(rows * v.blockK / perChunk, threads)); };
  return sums + fragments + slots(v.blockM) * p.rowRegistersA + slots(v.blockN) * p.rowRegistersB + 32;
}

static bool isLegal(const TileVariant &v, const TileProblem &p, const Target &t) {
  if (v.math != p.math)
    return false;
  int bytes = p.math == TileMath::Simt ? sumBytes(p.dtype) : int(bitWidth(p.dtype) / 8);
  if (v.sharedBytes(bytes) > t.maxSharedPerBlock)
    return false;
  if (v.math != TileMath::Simt && mmaRegisters(v, p, t) > std::min(244, 65536 / v.threads()))
    return false;
  if (p.math == TileMath::MmaTf32 && ((p.rowLinesA && v.blockM < 32) || (p.rowLinesB && v.blockN < 32)))
    return false;
  if (p.math == TileMath::Simt && bytes == 8 && (v.warpsM > 4 || v.warpsN > 4))
    return false; // 64 sums of 8 bytes do not fit in registers
  return tileCount(v, p) * 32 < (int64_t(1) << 31);
}

double dramMicroseconds(const TileProblem &p, const Target &t) {
  return p.bytes / (t.memoryGBps * 0.85e9) * 1e6;
}

/// Estimated microseconds of a variant.
static double estimate(const TileVariant &v, const TileProblem &p, int splits, const Target &t) {
  int bytes = p.math == TileMath::Simt ? sumBytes(p.dtype) : int(bitWidth(p.dtype) / 8);
  int64_t shared = v.sharedBytes(bytes) + 1024;
  int threads = v.threads();
  int registers = v.math == TileMath::Simt ? std::min(255, 48 + v.blockM * v.blockN / threads * bytes / 4)
                                           : mmaRegisters(v, p, t);
  int64_t resident = std::max<int64_t>(
      1, std::min<int64_t>({t.sharedPerSM / shared, 1536 / threads, 65536 / (int64_t(registers) * threads)}));
  int64_t blocks = tileCount(v, p) * splits;
  int64_t perSM = llvm::divideCeil(blocks, t.numSMs);
  int64_t together = std::min(resident, perSM);
  double waves = double(llvm::divideCeil(perSM, together));
  double steps = double(llvm::divideCeil(llvm::divideCeil(p.depth, v.blockK), splits));

  // Fragment traffic limits small warp tiles: multiply-adds per element read from shared memory.
  bool simt = v.math == TileMath::Simt;
  double warpM = simt ? v.warpsM * 4.0 : double(v.blockM) / v.warpsM;
  double warpN = simt ? v.warpsN * 4.0 : double(v.blockN) / v.warpsN;
  double reuse = warpM * warpN / (warpM + warpN);
  double efficiency = std::min(1.0, simt ? reuse / 16.0 : std::sqrt(reuse / 32.0));
  if (resident == 1)
    efficiency *= 0.88; // nobody fills the gaps at barriers
  double math = 2.0 * v.blockM * v.blockN * v.blockK / (peakFlops(p, t) / t.numSMs * efficiency) * 1e6;
  double elementBytes = bitWidth(p.dtype) / 8.0;
  double load = double(v.blockM + v.blockN) * v.blockK * elementBytes / 95e9 * 1e6; // L2 to one SM: 95 GB/s
  // One block alone: a barrier and dependent instructions.
  double latency =
      simt ? 0.03 + 0.02 * v.blockK / 16 : 0.03 + 0.0225 * v.blockK / (32 / elementBytes) / v.warpsK;
  // Operands that come from DRAM: k-tiles on the way to a block must cover the way.
  constexpr double kDramLatency = 1.1;
  bool fromDram = p.bytes > double(t.l2Bytes);
  if (fromDram)
    latency = std::max(latency, kDramLatency / (v.stages - 1));
  double work = steps * std::max(double(perSM) * std::max(math, load), waves * latency);
  double time = 2.2 + waves * 1.4 + work;
  double memory = 2.2 + dramMicroseconds(p, t);
  // From DRAM: more on the way than just enough hides what comes late.
  time = std::max(time, memory) + (fromDram ? 0.15 * std::min(time, memory) : 0);
  if (splits > 1) {
    double partial = 2.0 * splits * double(p.rows) * p.cols * p.batch * sumBytes(p.dtype);
    time += 2.5 + partial / (t.memoryGBps * 1.2e9) * 1e6;
  }
  return time;
}

std::vector<TileChoice> rankTiles(const TileProblem &problem, const Target &t, unsigned limit) {
  TileProblem p = problem; // an empty product chooses as the smallest one
  p.rows = std::max<int64_t>(p.rows, 1);
  p.cols = std::max<int64_t>(p.cols, 1);
  p.batch = std::max<int64_t>(p.batch, 1);
  std::vector<TileChoice> choices;
  for (const TileVariant &v : tileVariants()) {
    if (!isLegal(v, p, t))
      continue;
    int64_t steps = llvm::divideCeil(p.depth, v.blockK);
    for (int splits : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32}) {
      if (splits > 1) {
        if (steps / splits < 2 || tileCount(v, p) >= t.numSMs)
          break;
        int64_t each = llvm::divideCeil(steps, splits);
        if (int64_t(llvm::divideCeil(steps, each)) != splits)
          continue; // the last slice would be empty
      }
      choices.push_back({&v, splits, estimate(v, p, splits, t)});
    }
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const TileChoice &a, const TileChoice &b) { return a.microseconds < b.microseconds; });
  if (choices.size() > limit)
    choices.resize(limit);
  return choices;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of tile variants and their text in units.
#include "Tiles.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

namespace gpuc {

// clang-format off
static constexpr TileVariant kTileVariants[] = {
    // name                math               M    N    K  stages warps M N K
    {"mma_128x256x32",     TileMath::Mma16,   128, 256, 32, 4, 2, 4, 1},
    {"mma_256x128x32",     TileMath::Mma16,   256, 128, 32, 4, 4, 2, 1},
    {"mma_128x128x32",     TileMath::Mma16,   128, 128, 32, 4, 2, 4, 1},
    {"mma_128x128x32_w4",  TileMath::Mma16,   128, 128, 32, 4, 2, 2, 1},
    {"mma_128x64x64",      TileMath::Mma16,   128,  64, 64, 3, 2, 2, 1},
    {"mma_64x128x64",      TileMath::Mma16,    64, 128, 64, 3, 2, 2, 1},
    {"mma_64x64x64",       TileMath::Mma16,    64,  64, 64, 4, 2, 2, 1},
    {"mma_64x64x128_k2",   TileMath::Mma16,    64,  64,128, 3, 2, 2, 2},
    {"mma_64x32x64",       TileMath::Mma16,    64,  32, 64, 4, 2, 2, 1},
    {"mma_64x32x128_k2",   TileMath::Mma16,    64,  32,128, 4, 2, 2, 2},
    {"mma_32x64x64",       TileMath::Mma16,    32,  64, 64, 4, 2, 2, 1},
    {"mma_32x64x128_k2",   TileMath::Mma16,    32,  64,128, 4, 2, 2, 2},
    {"mma_32x32x64",       TileMath::Mma16,    32,  32, 64, 4, 2, 2, 1},
    {"mma_32x32x128_k2",   TileMath::Mma16,    32,  32,128, 4, 2, 2, 2},
    {"mma_32x32x256_k4",   TileMath::Mma16,    32,  32,256, 3, 2, 2, 4},
    {"mma_16x64x64",       TileMath::Mma16,    16,  64, 64, 4, 1, 4, 1},
    {"mma_16x64x128_k2",   TileMath::Mma16,    16,  64,128, 4, 1, 4, 2},
    {"mma_64x16x64",       TileMath::Mma16,    64,  16, 64, 4, 4, 1, 1},
    {"mma_64x16x128_k2",   TileMath::Mma16,    64,  16,128, 4, 4, 1, 2},
    {"tf32_128x128x16",    TileMath::MmaTf32, 128, 128, 16, 4, 2, 4},
    {"tf32_128x64x32",     TileMath::MmaTf32, 128,  64, 32, 3, 2, 2},
    {"tf32_64x128x32",     TileMath::MmaTf32,  64, 128, 32, 3, 2, 2},
    {"tf32_64x64x32",      TileMath::MmaTf32,  64,  64, 32, 4, 2, 2},
    {"tf32_64x32x32",      TileMath::MmaTf32,  64,  32, 32, 4, 2, 2},
    {"tf32_32x64x32",      TileMath::MmaTf32,  32,  64, 32, 4, 2, 2},
    {"tf32_32x32x32",      TileMath::MmaTf32,  32,  32, 32, 4, 2, 2},
    {"tf32_16x64x32",      TileMath::MmaTf32,  16,  64, 32, 4, 1, 4},
    // name                math               M    N    K  buffers thread
    {"simt_128x128x8",     TileMath::Simt,    128, 128,  8, 2, 8, 8},
    {"simt_128x64x8",      TileMath::Simt,    128,  64,  8, 2, 8, 4},
    {"simt_64x128x8",      TileMath::Simt,     64, 128,  8, 2, 4, 8},
    {"simt_64x64x16",      TileMath::Simt,     64,  64, 16, 2, 4, 4},
    {"simt_64x32x16",      TileMath::Simt,     64,  32, 16, 2, 4, 4},
    {"simt_32x64x16",      TileMath::Simt,     32,  64, 16, 2, 4, 4},
    {"simt_32x32x16",      TileMath::Simt,     32,  32, 16, 2, 4, 4},
    {"simt_16x64x16",      TileMath::Simt,     16,  64, 16, 2, 4, 4},
};
// clang-format on

llvm::ArrayRef<TileVariant> tileVariants() { return kTileVariants; }

const TileVariant *findTileVariant(llvm::StringRef name) {
  for (const TileVariant &v : kTileVariants)
    if (v.name == name)
      return &v;
  return nullptr;
}

int TileVariant::threads() const {
  return math == TileMath::Simt ? blockM / warpsM * (blockN / warpsN) : warpsM * warpsN * warpsK * 32;
}

int64_t TileVariant::sharedBytes(int elementBytes) const {
  if (math == TileMath::Simt)
    return int64_t(2) * blockK * (blockM + 4 + blockN + 4) * elementBytes;
  int64_t ring = int64_t(stages) * blockK * (blockM + blockN) * elementBytes;
  int64_t slab = int64_t(warpsM) * warpsN * 16 * (blockN / warpsN + 4) * 4;
  int64_t parts = warpsK > 1 ? int64_t(warpsK - 1) * blockM * blockN * 4 : 0;
  return std::max({ring, slab, parts});
}

TileMath tileMath(DType dtype, bool tf32) {
  if (dtype == DType::F16 || dtype == DType::BF16)
    return TileMath::Mma16;
  return dtype == DType::F32 && tf32 ? TileMath::MmaTf32 : TileMath::Simt;
}

int sumBytes(DType dtype) { return bitWidth(dtype) == 64 ? 8 : 4; }

int64_t tileCount(const TileVariant &v, const TileProblem &p) {
  return llvm::divideCeil(p.rows, v.blockM) * llvm::divideCeil(p.cols, v.blockN) * p.batch;
}

std::string tileConfigText(const TileVariant &v, const TileProblem &p, int splits, const Target &t) {
  std::string text = "struct Config {\n";
  text += llvm::formatv("  static constexpr i32 kM = {0}, kN = {1}, kK = {2}, kBatch = {3}, kSplits = {4};\n",
                        p.rows, p.cols, p.depth, p.batch, splits);
  text += llvm::formatv("  static constexpr int kBlockM = {0}, kBlockN = {1}, kBlockK = {2};\n", v.blockM,
                        v.blockN, v.blockK);
  if (v.math == TileMath::Simt) {
    text += llvm::formatv("  static constexpr int kThreadM = {0}, kThreadN = {1};\n", v.warpsM, v.warpsN);
  } else {
    llvm::StringRef kind = v.math == TileMath::MmaTf32 ? "MmaTf32F32"
                           : p.dtype == DType::BF16    ? "MmaBf16F32"
                           : p.sumsStepsInF16(t)       ? "MmaF16F16"
                                                       : "MmaF16F32";
    text +=
        llvm::formatv("  static constexpr int kStages = {0}, kWarpsM = {1}, kWarpsN = {2}, kWarpsK = {3};\n",
                      v.stages, v.warpsM, v.warpsN, v.warpsK);
    text += llvm::formatv("  using Mma = arch::{0};\n", kind);
  }
  return text + "};\n";
}

} // namespace gpuc

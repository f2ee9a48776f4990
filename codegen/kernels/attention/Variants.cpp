// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tiles of attention without warpgroup instructions: rows of queries by keys, in order of preference.
#include "Attention.h"

namespace gpuc::attention {

static constexpr Variant kVariants[] = {
    //  name            mma    blockM  blockN  warpsN
    {"mma16x128w4", true, 16, 128, 4}, {"mma16x64w4", true, 16, 64, 4}, {"mma128x64", true, 128, 64},
    {"mma64x64", true, 64, 64},        {"mma64x32", true, 64, 32},      {"mma32x32", true, 32, 32},
    {"mma16x64", true, 16, 64},        {"mma16x32", true, 16, 32},      {"mma16x16", true, 16, 16},
    {"simt64x64", false, 64, 64},      {"simt32x32", false, 32, 32},    {"simt16x64", false, 16, 64},
    {"simt16x32", false, 16, 32},
};

llvm::ArrayRef<Variant> variants() { return kVariants; }

const Variant *findVariant(llvm::StringRef name) {
  for (const Variant &v : kVariants)
    if (v.name == name)
      return &v;
  return nullptr;
}

int64_t mmaSharedBytes(const Problem &p, const Variant &v) {
  int64_t bytes = p.dtype == DType::F32 ? 4 : 2, pad = p.dtype == DType::F32 ? 4 : 8;
  int64_t d = paddedTo16(p.depth) + pad, e = paddedTo16(p.columns) + pad;
  int64_t ring = (v.blockM * d + 2 * v.blockN * (d + e)) * bytes;
  return std::max(ring, v.blockM / 16 * v.warpsN * (16 * ((paddedTo16(p.columns) + 4) * 4 + 8) + 4));
}

SimtShape simtShape(const Problem &p, const Variant &v) {
  bool isDouble = p.dtype == DType::F64;
  int64_t bytes = isDouble ? 8 : 4, pad = 16 / bytes;
  SimtShape s;
  s.rowsM = v.blockM / 16;
  s.colsN = v.blockN / 16;
  s.chunkD = isDouble ? 16 : 32;
  s.colsE = isDouble ? 2 : 4;
  s.chunkE = isDouble ? 64 : p.columns <= 64 ? 64 : 128;
  s.sharedBytes = (s.chunkD * (v.blockM + pad) + s.chunkD * (v.blockN + pad) + v.blockN * (v.blockM + pad) +
                   v.blockN * s.chunkE) *
                  bytes;
  return s;
}

} // namespace gpuc::attention

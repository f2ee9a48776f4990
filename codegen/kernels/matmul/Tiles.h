// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tile variants of mma_tile.cuh and simt_tile.cuh, and the choice among them for a product. Shared by the
// families matmul and convolution: both are (rows x depth) by (depth x cols), batched.
#pragma once
#include "gpuc/Support/DType.h"
#include "gpuc/Target/Target.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace gpuc {

/// How a product is computed.
enum class TileMath : uint8_t {
  Mma16,   ///< f16, bf16 on tensor cores
  MmaTf32, ///< f32 rounded to tf32 on tensor cores
  Simt,    ///< everything else
};

/// One row of the table. For Simt, warpsM and warpsN are the rows and columns of a thread, and there are two
/// buffers.
struct TileVariant {
  llvm::StringRef name;
  TileMath math;
  int blockM, blockN, blockK, stages, warpsM, warpsN, warpsK = 1;

  int threads() const;
  /// Dynamic shared memory in bytes for elements of `elementBytes` (Simt: of the sum's type).
  int64_t sharedBytes(int elementBytes) const;
};

/// All variants; Variants.cpp has the table.
llvm::ArrayRef<TileVariant> tileVariants();
const TileVariant *findTileVariant(llvm::StringRef name);
/// How products of this type are computed; `tf32` allows rounding f32 operands.
TileMath tileMath(DType dtype, bool tf32);
/// Bytes of the type that Simt sums are kept in.
int sumBytes(DType dtype);

/// What the choice depends on.
struct TileProblem {
  DType dtype = DType::F32;
  TileMath math = TileMath::Simt;
  int64_t rows = 0, cols = 0, depth = 0, batch = 1;
  double bytes = 0;                          ///< read and written once: operands, result, epilogue operands
  int rowRegistersA = 3, rowRegistersB = 3;  ///< that a Source keeps for each chunk of a thread
  bool rowLinesA = false, rowLinesB = false; ///< tiles of the operand have lines along the rows
  bool f16Accumulate = false;                ///< sums of a step of the depth may be f16
  /// Whether they are: where tensor cores gain by it.
  bool sumsStepsInF16(const Target &t) const {
    return f16Accumulate && math == TileMath::Mma16 && dtype == DType::F16 && t.hasHalfRateF32Sums;
  }
};

struct TileChoice {
  const TileVariant *variant = nullptr;
  int splits = 1;          ///< slices of the depth, added by a second launch when above 1
  double microseconds = 0; ///< estimate
};

/// Legal variants, cheapest first under an analytic model, at most `limit`; deterministic.
std::vector<TileChoice> rankTiles(const TileProblem &problem, const Target &target, unsigned limit);

/// Microseconds that the problem's bytes take from and to DRAM.
double dramMicroseconds(const TileProblem &problem, const Target &target);

/// Tiles of one batch element and of all, and the steps of the depth.
int64_t tileCount(const TileVariant &variant, const TileProblem &problem);

/// "struct Config { … };" of a unit.
std::string tileConfigText(const TileVariant &variant, const TileProblem &problem, int splits,
                           const Target &target);

} // namespace gpuc

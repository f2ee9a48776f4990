// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What selection and emission of attention share: operands as strided views, and the tile variants.
#pragma once
#include "emit/RootUnit.h"
#include <optional>

namespace gpuc::attention {

/// q, k, v or the bias as a view of a buffer; strides in elements, per axis of [B, H or G, S or T, D or E or
/// T].
struct Operand {
  unsigned index = 0; ///< operand of the kernel op
  int64_t offset = 0;
  int64_t strides[4] = {0, 0, 0, 0};
  int64_t access = 1;    ///< elements per copy
  int64_t alignment = 1; ///< of the buffer, in bytes
};

struct Problem {
  AttentionOp op;
  DType dtype = DType::F32;
  int64_t batch = 1, heads = 1, keyHeads = 1, queries = 0, keys = 0, depth = 0,
          columns = 0; ///< B H G S T D E
  Operand q, k, v;
  std::optional<Operand> bias;
  unsigned lanes = 1;
  int64_t repeat() const { return keyHeads ? heads / keyHeads : 1; }
  int64_t rows() const { return queries * repeat(); } ///< query rows that share a key head
  bool isEmpty() const { return batch * heads * queries * columns == 0; }
};
mlir::FailureOr<Problem> analyze(KernelOp kernel);

/// One way to run without warpgroup instructions; `mma` tiles hold D and E whole, the others pass them in
/// chunks.
struct Variant {
  llvm::StringLiteral name;
  bool mma;
  int64_t blockM, blockN;
  int64_t warpsN = 1; ///< warps that share the keys of a tile
  int64_t threads() const { return mma ? blockM * 2 * warpsN : 256; }
};
llvm::ArrayRef<Variant> variants();
const Variant *findVariant(llvm::StringRef name);

/// Numbers of the SIMT body that follow from the type and the variant.
struct SimtShape {
  int64_t rowsM, colsN, chunkD, chunkE, colsE, sharedBytes;
};
SimtShape simtShape(const Problem &p, const Variant &v);
/// Dynamic shared memory of an mma variant in bytes.
int64_t mmaSharedBytes(const Problem &p, const Variant &v);
/// D and E rounded up to whole instructions.
inline int64_t paddedTo16(int64_t n) { return std::max<int64_t>(16, (n + 15) / 16 * 16); }

/// One way to run on warpgroup tensor cores: the numbers of flash_wgmma.cuh.
struct WarpgroupTile {
  int64_t groups = 1, blockN = 64, stages = 1;
  bool producer = false;   ///< a producer warpgroup, overlapped products and, of two groups, turns
  bool persistent = false; ///< one block per multiprocessor takes several tiles of queries
  int64_t blockM() const { return groups * 64; }
  int64_t threads() const { return groups * 128 + (producer ? 128 : 0); }
};
inline constexpr llvm::StringLiteral kWarpgroupVariant = "wgmma";
/// The tile in the kernel's `config`.
WarpgroupTile warpgroupTile(KernelOp kernel);
/// Whether TMA can read the operands and the accumulators fit.
bool takesWarpgroups(const Problem &p, const Target &target);
/// Tiles worth considering, the one with the least estimated time first; at most `limit`. Empty when none
/// fits.
struct RankedTile {
  WarpgroupTile tile;
  double microseconds;
};
llvm::SmallVector<RankedTile> rankWarpgroupTiles(const Problem &p, const Target &target, size_t limit);
/// Blocks of a multiprocessor at a time; 0 if not even one fits.
int64_t blocksPerSM(const Problem &p, const WarpgroupTile &tile, const Target &target);
/// What setmaxnreg gives a consumer's thread.
inline int64_t registersOfConsumer(const WarpgroupTile &tile) { return tile.groups == 2 ? 232 : 160; }
/// Dynamic shared memory of a tile in bytes.
int64_t sharedBytes(const Problem &p, const WarpgroupTile &tile);
/// Rows [0, rows) of 64 columns of an operand as TMA reads them; axes that repeat have one coordinate.
TensorMapLayout tensorMap(const Problem &p, const Operand &operand, llvm::ArrayRef<int64_t> extents,
                          int64_t rows);

/// Configurations that can run the kernel, the best by estimate first; at most `limit`.
mlir::FailureOr<std::vector<mlir::DictionaryAttr>> candidates(KernelOp kernel, const Target &target,
                                                              size_t limit);
mlir::LogicalResult select(KernelOp kernel, const Target &target);

} // namespace gpuc::attention

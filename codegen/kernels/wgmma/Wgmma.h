// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products on the warpgroup tensor cores of sm_90a (product.cuh): the table of variants, the choice among
// them, and the parts of units that the families matmul and convolution share.
#pragma once
#include "../matmul/Operands.h"
#include <algorithm>

namespace gpuc {

/// One row of the table. blockA is the side of A (64 rows per instruction), blockB B's.
struct WgmmaVariant {
  llvm::StringRef name;
  int blockA, blockB, stages, consumers;
  bool pingPong, swapped; ///< swapped: A is the operand of the result's columns
  int staging;            ///< 64 x 64 blocks of 16-bit results per warpgroup
  int blocksPerSM;
  double step;       ///< microseconds per k-tile of 128 bytes, measured under load; not of ../slab
  bool slab = false; ///< of ../slab

  int threads() const { return consumers * 128 + 128; }
  /// Blocks that run at once.
  int64_t slots(const Target &target) const { return int64_t(target.numSMs) * blocksPerSM; }
  /// Staging blocks for results of 2 or 4 bytes: as many as `staging` blocks of 2 bytes, at least one.
  int buffers(int resultBytes) const { return std::max(1, staging * 2 / std::max(resultBytes, 2)); }
  /// Bytes of WgmmaProduct::Shared, at least. `resultBytes` of StagedStore's elements, 0 for SlabStore.
  int64_t sharedBytes(int resultBytes) const;
};
llvm::ArrayRef<WgmmaVariant> wgmmaVariants();
/// Of this folder or of ../slab.
const WgmmaVariant *findWgmmaVariant(llvm::StringRef name);

/// What the choice depends on: rows and columns of the result, k-tiles, how the result is stored.
struct WgmmaProblem {
  int64_t rows = 0, cols = 0, batch = 1;
  int64_t steps = 0;         ///< k-tiles
  int64_t run = 0, tail = 4; ///< kRun and kTail of schedule.cuh
  bool staged = false;       ///< by StagedStore, else by SlabStore
  int resultBytes = 2;       ///< of an element, if staged
  bool swappable = false;    ///< by StagedStore in swapped variants
  bool held = false;         ///< another matrix of the result's shape is read
  bool window = false;       ///< an operand is read through a filter's window: more traffic per byte
  bool rowState = false;     ///< the kernel has row statistics or moments (docs/adr/0006)
  int64_t momentColumns = 0; ///< of a pair of moments, if the kernel yields them
  bool constantCols = false; ///< the operand of the columns is a weight
  bool transposedRows = false,
       transposedCols = false;  ///< that operand is read through 64-row groups: only as B
  double bytes = 0;             ///< as TileProblem
  double before = 0;            ///< microseconds of launches that prepare an operand
  int epilogueInstructions = 3; ///< per element
};

/// What `instructions` per element of the result cost all SMs together.
double epilogueMicroseconds(double elements, int instructions);
/// A variant of either table.
struct ProductChoice {
  llvm::StringRef variant;
  int splits = 1;
  double microseconds = 0;
};
/// Legal variants of both tables, cheapest first, at most `limit`. `warpgroup` is the problem as the variants
/// of this folder see it, if they can compute it.
std::vector<ProductChoice> rankProducts(const TileProblem &tiles,
                                        const std::optional<WgmmaProblem> &warpgroup, const Target &target,
                                        unsigned limit);
/// Legal for the problem; `splits` is 1 but for the variants of ../slab.
bool allowsWgmma(const WgmmaVariant &variant, const WgmmaProblem &problem, int splits, const Target &target);

/// An operand that is brought by tensor maps. `source` is its Source's type, whose declaration is `text`; the
/// map lacks the tile's rows, which `setRows` puts in.
struct WgmmaOperand {
  std::string text, source;
  EmittedArg arg;
  std::optional<PackingKernel> packing;
  bool depthContiguous = true;
  int rowDimension = 1; ///< of the map's box
  void setRows(int rows);
};

/// A strided matrix as an operand. Constants that are not row by row are packed (`packedIndex`: which Packed
/// argument that is); nothing when a tensor map can't describe it.
struct WgmmaMatrix {
  DenseOperand operand;
  bool packed = false;
  bool transposed = false; ///< rows are contiguous
};
std::optional<WgmmaMatrix> wgmmaMatrix(const DenseOperand &operand, llvm::ArrayRef<int64_t> batchExtents,
                                       DType dtype);
WgmmaOperand wgmmaOperand(KernelOp kernel, llvm::StringRef family, llvm::StringRef name,
                          const WgmmaMatrix &matrix, llvm::ArrayRef<int64_t> batchExtents, DType dtype,
                          llvm::StringRef element, const WgmmaVariant &variant, bool sideA,
                          unsigned packedIndex);

/// The parts of a unit that differ between families.
struct WgmmaUnit {
  llvm::StringRef family;
  llvm::SmallVector<llvm::StringRef> includes;         ///< besides product.cuh
  std::string declarations;                            ///< before Config; the operands' are added
  const WgmmaOperand *rows = nullptr, *cols = nullptr; ///< operand of the result's rows, of its columns
  std::string output;                                  ///< epilogue and "struct Output"
  llvm::SmallVector<std::string> parameters;           ///< after the operands' maps
  std::vector<EmittedArg> args;
  std::string makeOutput; ///< statements that declare `output`
};
/// How a result is stored in blocks (StagedStore): the epilogue's values and the maps of the result and of
/// what is held with it.
struct WgmmaStaged {
  EmittedValues values;
  TensorMapLayout result;
  std::optional<TensorMapLayout> held;
  /// Text of "struct ResultLayout" and "struct HeldLayout".
  std::string layouts;
};
/// The groups of `shape` are the batch axes one by one (`batchExtents`), then rows and columns in the order
/// that `rowGroup` and `colGroup` say. Lanes run along the columns, or along the rows when `swapped`. Nothing
/// unless the result, of 16 bits or f32, lies row-major.
std::optional<WgmmaStaged> stageResult(KernelOp kernel, mlir::Value root, FunctorShape shape,
                                       unsigned rowGroup, unsigned colGroup, bool swapped,
                                       const WgmmaProblem &problem, llvm::ArrayRef<int64_t> batchExtents);
/// "struct Output" of StagedStore. `members` and `before` are a family's own members and statements ahead of
/// the epilogue, which may change `sums`; `coordinates` are the epilogue's, from z, row and col.
std::string pairOutputText(const WgmmaProblem &problem, const WgmmaVariant &variant,
                           const WgmmaStaged &staged, llvm::StringRef members, llvm::StringRef before,
                           llvm::StringRef coordinates);
/// Members of "struct Output" that pass the row state of its member `epilogue` on: kRows, Row and, if true,
/// loadRow and row; kMoments and, if true, kMomentColumns and storeMoments(row, part, sum, squares).
std::string rowStateMembers(const EmittedFunctor &epilogue);
/// Issue slots that an element of the epilogue takes, about.
int epilogueInstructions(KernelOp kernel);
/// Adds the maps' parameters and arguments to a unit; the expression of its BlockMaps.
std::string addBlockMaps(WgmmaUnit &unit, const WgmmaStaged &staged);

/// The unit and its launch.
EmittedKernel emitWgmma(KernelOp kernel, const WgmmaUnit &unit, const WgmmaVariant &variant,
                        const WgmmaProblem &problem, DType dtype, llvm::StringRef element,
                        const Target &target);
/// The arguments of a unit's launch (its operands' maps, A's first, then the unit's own) and what it packs.
void addArguments(EmittedKernel &launch, const WgmmaUnit &unit, bool swapped);
/// The coordinate along a batch axis of batch element z, as an expression.
std::string batchCoordinate(llvm::ArrayRef<int64_t> batchExtents, size_t axis);
/// "struct NAME { kBatchAxes, batch() }": the coordinates of the batch axes of a map that has those with a
/// non-zero stride.
std::string batchAxesText(llvm::ArrayRef<int64_t> batchExtents, llvm::ArrayRef<int64_t> strides);

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands of contractions as strided matrices, and what the families matmul and convolution both need to
// write units.
#pragma once
#include "Tiles.h"
#include "gpuc/Codegen/Functor.h"
#include <optional>
#include <string>

namespace gpuc {

/// A root's operand as a strided view over a buffer of the kernel.
struct OperandView {
  unsigned index = 0;                 ///< operand of the kernel op
  int64_t offset = 0;                 ///< elements
  llvm::SmallVector<int64_t> strides; ///< elements, per axis of the value
  bool constant = false;              ///< the operand is a gpuc.constant
};
std::optional<OperandView> viewOperand(KernelOp kernel, mlir::Value value);
/// `pointer` shifted by the view's offset, as an expression.
std::string shiftedPointer(llvm::StringRef pointer, const OperandView &view);

/// The largest power of two, at most `limit`, that divides every number (0 is divided by all).
int64_t commonPowerOfTwo(llvm::ArrayRef<int64_t> numbers, int64_t limit);

/// A matrix (rows x depth) of a batched product: DenseSource's Operand.
struct DenseOperand {
  OperandView view;
  int64_t rows = 0, depth = 0, rowStride = 0, depthStride = 0;
  llvm::SmallVector<int64_t> batchStrides;
  int64_t access = 1; ///< elements per global access

  bool depthContiguous() const { return access == 1 || depthStride == 1; }
  /// Sets `access` to what strides and offsets allow, at most `limit` elements.
  void chooseAccess(int64_t limit);
  /// Accesses below `bytes` become element-wise.
  void requireAccessBytes(int64_t bytes, int64_t elementBytes) {
    if (access * elementBytes < bytes)
      access = 1;
  }
  /// "struct NAME { … };" for a tile of `blockRows` x `blockDepth` (1: any).
  std::string text(llvm::StringRef name, llvm::StringRef elementType, llvm::ArrayRef<int64_t> batchExtents,
                   int64_t blockRows, int64_t blockDepth) const;
};

/// The part of a unit before its configuration: banner, includes, namespace.
std::string unitHead(KernelOp kernel, llvm::StringRef family, llvm::StringRef variant,
                     llvm::ArrayRef<llvm::StringRef> includes);
/// "extern "C" __global__ …{" with the given parameters (a minimum of one block per SM in `threads` stops
/// ptxas from spilling for the sake of occupancy), which are joined with commas where they are not empty.
std::string unitEntry(llvm::StringRef threads, llvm::ArrayRef<std::string> parameters);
/// End of the entry and of the unit.
std::string unitEnd();

/// Bytes that the kernel reads and writes at least: every operand and result once.
double kernelBytes(KernelOp kernel);

/// The second launch of a split product: adds `splits` slices of `items` = batch*rows*cols sums and runs the
/// epilogue. `declarations` holds Config, the epilogue's text and "struct Output"; `makeOutput` are the
/// entry's statements that declare `output`.
EmittedKernel emitSplitReduction(KernelOp kernel, llvm::StringRef family,
                                 llvm::ArrayRef<llvm::StringRef> includes, const std::string &declarations,
                                 llvm::ArrayRef<std::string> parameters, llvm::ArrayRef<EmittedArg> args,
                                 const std::string &makeOutput, const TileProblem &problem, int splits,
                                 unsigned lanes);

inline EmittedArg operandArg(unsigned index) {
  EmittedArg arg;
  arg.kind = EmittedArg::Kind::Operand;
  arg.index = index;
  return arg;
}
inline EmittedArg packedArg(unsigned index) {
  EmittedArg arg;
  arg.kind = EmittedArg::Kind::Packed;
  arg.index = index;
  return arg;
}
inline EmittedArg scratchArg(int64_t bytes) {
  EmittedArg arg;
  arg.kind = EmittedArg::Kind::Scratch;
  arg.bytes = bytes;
  return arg;
}

/// Threads of a block of a packing kernel.
inline constexpr int kPackingThreads = 256;
/// The kernel that makes `elements` elements of `elementBytes` of packed memory from operand `index`, one per
/// thread; `text` is its unit, whose entry takes (const T *w, T *packed).
PackingKernel packingKernel(std::string text, unsigned index, int64_t elements, int64_t elementBytes,
                            std::string key);

} // namespace gpuc

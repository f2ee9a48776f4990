// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lifetimes of the buffers of a kernel program. A block is memory that one or several values share: parts of
// an elided concatenation, aliases, and a pointwise kernel's result with the operand it overwrites.
#pragma once
#include "gpuc/IR/Ops.h"
#include "gpuc/Passes/Memory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace gpuc {

/// Every block starts at a multiple of this many bytes.
inline constexpr int64_t kBlockAlignment = 256;

struct BufferBlock {
  int64_t bytes = 0;       ///< rounded up to kBlockAlignment
  int first = 0, last = 0; ///< program positions of the first write and the last read
  int64_t offset = 0;      ///< in the arena, once planned
  bool returned = false;   ///< lives in a buffer of the caller
};

class BufferLiveness {
public:
  explicit BufferLiveness(mlir::func::FuncOp function);
  std::vector<BufferBlock> &blocks() { return blockList; }
  /// Arena offset of a kernel result in bytes, kReturnedOffset when it lives in the caller's buffer.
  int64_t arenaOffset(mlir::Value value) const;
  /// The largest number of bytes alive at one time: no plan can be smaller.
  int64_t lowerBound() const;

private:
  struct Place {
    unsigned block;
    int64_t offset; ///< bytes from the block's start
  };
  bool tryInPlace(KernelOp kernel, unsigned result, int at);
  std::vector<BufferBlock> blockList;
  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Value, int> lastRead;
};

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the scalar code of a kernel region's values at a coordinate. Movement ops rewrite the coordinate,
// pointwise ops write an expression, block arguments become loads through the operand's storage strides. Used
// for pointwise kernels, for the prologues of reductions and norms, and for every epilogue.
#pragma once
#include "gpuc/IR/Ops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gpuc {

/// An integer coordinate of a value: `base` (an expression that is the same for all lanes) plus `lane` times
/// the lane number. A coordinate that depends on the lane in another way has `perLane` set and `base`
/// mentions the variable `lane`. Coordinates always lie inside the value; the emitter uses that.
struct Coord {
  std::string base = "0"; ///< a variable, an integer literal or any C++ expression of the index type
  int64_t lane = 0;       ///< coefficient of the lane number
  bool perLane = false;
  int64_t multipleOf = 1;  ///< what `base` is known to be a multiple of; vector accesses need it
  bool isConstant() const; ///< an integer literal, the same in all lanes
};

/// Element strides of the buffer behind a block argument (or a result), and the C++ type of its elements.
struct BufferAccess {
  std::string pointer;                ///< C++ expression of the base pointer
  std::string elementType;            ///< "f16", "i64", "bool8", "f8e5m2", "u4", …
  llvm::SmallVector<int64_t> strides; ///< per axis of the tensor, in elements
  unsigned elementBits = 32;          ///< below 8: packed, `pointer` is a pointer to bytes
  int64_t alignment = 16;             ///< bytes that the base pointer is aligned to (a power of two)
  bool readOnlyConstant = false; ///< a weight: may be read before griddepWait and through the read-only cache
};

class ExprEmitter {
public:
  /// `lanes` values are computed at once; 1 for scalar code. `indexType` is "i32" or "i64".
  ExprEmitter(KernelOp kernel, unsigned lanes, llvm::StringRef indexType);

  /// The buffer access that loads of a block argument use (set for every argument before emission).
  void setAccess(mlir::BlockArgument argument, BufferAccess access);
  /// Declares that `value` at the coordinates of the current point is already in a C++ variable: `name[lane]`
  /// when lanes > 1, else `name`; in the compute type. The root's result is bound this way in epilogues.
  void bind(mlir::Value value, llvm::StringRef name);

  /// Emits what is needed to have `value` at `coords` (one per axis of the value) and returns a C++
  /// expression of it in the compute type, valid inside the lane loop. Loads are hoisted: `hoisted()` must be
  /// printed before the lane loop that holds `laneBody()`.
  std::string emit(mlir::Value value, llvm::ArrayRef<Coord> coords);
  std::string hoisted() const;  ///< statements executed once per point
  std::string laneBody() const; ///< statements executed per lane, `lane` being the lane number
  /// Constant tables that the statements use: definitions at namespace scope, before the function.
  std::string tables() const;
  /// True when something could not be emitted (a diagnostic has been reported); the texts are then useless.
  bool failed() const;

  /// The symbolic state, for the families that plan accesses themselves (codegen/emit/ExprEmitterImpl.h).
  struct Impl;
  Impl &internals() { return *impl; }

private:
  std::shared_ptr<Impl> impl;
};

/// C++ name of a storage type in units ("f16", "bool8" for bool, "i32", …) and of the type that computes it
/// ("float", …).
std::string storageTypeName(mlir::Type elementType);
std::string computeTypeName(mlir::Type elementType);
/// What a pointer to elements points to: the storage type, or bytes that several elements share.
std::string memoryTypeName(mlir::Type elementType);

/// If `value` (in a kernel region) is a chain of views over a block argument that is expressible with
/// strides: the argument, an element offset and one stride per axis of `value`, in terms of the argument's
/// buffer strides. Matmul, convolution and attention read their operands through this; FormKernels asks
/// traceStridedView (IR/StridedView.h), which this is built on, before it pulls views into a kernel.
struct ArgumentView {
  mlir::BlockArgument argument;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;
};
std::optional<ArgumentView> analyzeStridedView(mlir::Value value, llvm::ArrayRef<int64_t> argumentStrides);

} // namespace gpuc

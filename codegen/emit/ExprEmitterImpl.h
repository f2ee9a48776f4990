// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of ExprEmitter. Statements are straight-line code in two lists, hoisted (the same for all lanes)
// and per lane; a read that is only legal under a condition is guarded by it, so both sides of a
// concatenation can be written down.
#pragma once
#include "IndexExpr.h"
#include "gpuc/Codegen/ExprEmitter.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Types.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace gpuc {

/// A type that is stored but not computed with.
inline bool isStorageType(mlir::Type elementType) { return !isComputeType(*toDType(elementType)); }
/// Several elements share a byte.
inline bool isPacked(mlir::Type elementType) { return bitWidth(*toDType(elementType)) < 8; }
/// The computing type's value of an element in its storage type, and back.
std::string decodeText(mlir::Type elementType, const std::string &stored);
std::string encodeText(mlir::Type elementType, const std::string &value);
/// A literal of a compute or storage type, exact. `bits` holds the element as it is stored (row-major
/// constants).
std::string literalFromBytes(mlir::Type elementType, const char *element);
/// `value` as a literal of the compute type of `elementType`.
std::string realLiteral(mlir::Type elementType, double value);
/// "5" or "5LL": fits both index types.
std::string intLiteral(int64_t value);

struct ExprEmitter::Impl {
  /// A C++ expression in the compute type (side-effect free and short: a variable or a literal).
  struct Scalar {
    std::string text;
    bool perLane = false;
  };
  /// A condition on coordinates.
  struct Condition {
    enum Known : uint8_t { Never, Always, Depends } known = Always;
    Scalar value;
  };
  struct Bound {
    std::string name;
    std::string key; ///< coordinates it is valid at; empty: not checked
  };
  struct Load {
    mlir::BlockArgument argument;
    emit::Index offset;
    bool guarded;
  };
  using Coords = llvm::SmallVector<emit::Index, 6>;

  Impl(KernelOp kernel, unsigned lanes, llvm::StringRef indexType)
      : kernel(kernel), context(lanes), indexType(indexType.str()) {}

  KernelOp kernel;
  emit::IndexContext context;
  std::string indexType;
  std::string hoisted, laneBody, tables;
  /// Vector loads go to members of a variable `loads`, filled ahead: `loadMembers` declares them,
  /// `loadStatements` fills them, after what is hoisted. Guarded ones stay where they are.
  bool splitLoads = false;
  std::string loadMembers, loadStatements;
  std::string tablePrefix = "kTable"; ///< names of constant tables start with it
  bool failed = false;
  bool raw = false;   ///< values are in their storage type: nothing but movement is being emitted
  bool quiet = false; ///< failures are not reported: the emission is only tried
  llvm::DenseMap<mlir::Value, BufferAccess> accesses;
  llvm::DenseMap<mlir::Value, Bound> bound;
  /// Loads of an argument at an offset (key) that a variable already holds, in the storage type.
  llvm::StringMap<std::string> boundLoads;
  /// Coordinates that were derived forward from the root, and the operand they came from.
  llvm::DenseMap<mlir::Value, Coords> forward;
  llvm::DenseMap<mlir::Value, mlir::Value> forwardSource;
  std::vector<Load> loads; ///< every distinct load, in order of emission

  Scalar emit(mlir::Value value, llvm::ArrayRef<emit::Index> coords);
  /// The C++ expression of a coordinate.
  std::string print(const emit::Index &index);
  emit::Index coordinate(const Coord &c, int64_t extent);
  std::string load(mlir::BlockArgument argument, const BufferAccess &access, const emit::Index &offset,
                   bool &perLane);
  /// Offset of an element in a buffer.
  emit::Index offset(const BufferAccess &access, llvm::ArrayRef<emit::Index> coords) {
    return context.dot(coords, access.strides);
  }
  std::string loadKey(mlir::BlockArgument argument, const emit::Index &offset) {
    return std::to_string(argument.getArgNumber()) + "@" + context.key(offset);
  }
  /// `value` at `coords` in the storage type: what a store writes.
  Scalar emitStored(mlir::Value value, llvm::ArrayRef<emit::Index> coords);
  /// Elements per vector access of a buffer at `base` (the lane-independent part of an offset whose lanes are
  /// consecutive). Of a packed buffer: 1 when the lanes do not fill whole bytes.
  int64_t vectorWidth(const BufferAccess &access, const emit::Index &base);
  /// Stores the storage-typed elements `array[0…lanes)` at `offset`: returns the statement that follows the
  /// lane loop, or appends one to `laneStores` (which run inside it) and returns nothing. With one lane,
  /// `array` is the element itself.
  std::string storeStatement(const BufferAccess &access, const emit::Index &offset, const std::string &array,
                             std::string &laneStores);
  /// Coordinates in an operand of a broadcasting op.
  Coords broadcast(llvm::ArrayRef<emit::Index> coords, llvm::ArrayRef<int64_t> shape);
  /// C++ type of emitted values: the compute type, or the storage type while `raw`.
  std::string valueTypeName(mlir::Type elementType) {
    return raw ? storageTypeName(elementType) : computeTypeName(elementType);
  }
  /// A new variable holding `expression` of type `type`.
  Scalar define(llvm::StringRef type, const std::string &expression, bool perLane,
                llvm::StringRef prefix = "v");
  void fail(mlir::Operation *op, const llvm::Twine &why);

  // EmitMovement.cpp
  bool emitMovement(mlir::Operation *op, llvm::ArrayRef<emit::Index> coords, Scalar &result);
  Scalar emitConcat(ConcatOp op, llvm::ArrayRef<emit::Index> coords);
  Scalar emitPad(PadOp op, llvm::ArrayRef<emit::Index> coords);
  Scalar emitTrilu(TriluOp op, llvm::ArrayRef<emit::Index> coords);
  Scalar emitGather(GatherOp op, llvm::ArrayRef<emit::Index> coords);
  Scalar emitGatherElements(GatherElementsOp op, llvm::ArrayRef<emit::Index> coords);
  Scalar emitGatherNd(GatherNdOp op, llvm::ArrayRef<emit::Index> coords);
  /// An element of an index tensor as a coordinate in [0, extent): negative ones count from the end, wrong
  /// ones are clamped.
  emit::Index indexValue(mlir::Value indices, llvm::ArrayRef<emit::Index> coords, int64_t extent);
  Condition inRange(const emit::Index &index, int64_t lo, int64_t hi);
  Condition both(const Condition &a, const Condition &b);
  /// Emits under a guard.
  Scalar emitGuarded(mlir::Value value, llvm::ArrayRef<emit::Index> coords, const Condition &guard);
  Scalar choose(mlir::Type elementType, const Condition &condition, const Scalar &yes, const Scalar &no);
  // EmitResize.cpp
  Scalar emitResize(ResizeOp op, llvm::ArrayRef<emit::Index> coords);
  Scalar emitResizeLoops(ResizeOp op, llvm::function_ref<size_t(std::string &, std::string &)> open,
                         Coords &inner, const Condition &inside, const std::string &sumType);
  /// A constant table at namespace scope; its name.
  std::string table(llvm::StringRef elementType, llvm::ArrayRef<std::string> values);

private:
  std::string atomText(unsigned id);
  Scalar emitOp(mlir::Operation *op, mlir::Value value, llvm::ArrayRef<emit::Index> coords);
  Scalar emitConstant(ConstantOp op, llvm::ArrayRef<emit::Index> coords);
  Scalar emitRowStatistics(RowStatisticsOp op, mlir::Value value, llvm::ArrayRef<emit::Index> coords);
  Scalar emitCast(CastOp op, llvm::ArrayRef<emit::Index> coords);
  /// The value is moved, not computed: it can be emitted `raw`.
  bool isMoved(mlir::Value value);
  Scalar operand(mlir::Value value, mlir::Value operandValue, llvm::ArrayRef<emit::Index> coords);

  llvm::DenseMap<unsigned, std::string> atomTexts;
  llvm::StringMap<Scalar> memo;
  llvm::StringMap<std::string> tableNames;
  llvm::StringMap<Scalar> conditions;    ///< by text
  llvm::StringMap<Scalar> rowStatistics; ///< variables, by op and row
  llvm::DenseMap<mlir::Value, BufferAccess> constantAccesses;
  std::vector<Scalar> guards;
  std::string guardKey;
  unsigned counter = 0;
};

/// Coordinates in the operand of an op that only renames coordinates (transpose, reshape, expand, slice,
/// tile); false for others.
bool mapThroughView(mlir::Operation *op, emit::IndexContext &context, llvm::ArrayRef<emit::Index> coords,
                    llvm::SmallVectorImpl<emit::Index> &operandCoords);

} // namespace gpuc

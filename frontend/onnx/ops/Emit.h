// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the operator handlers share: builders of core ops that check what a model can get wrong before an op
// with an inferred type is created, and that pass null on. A null value means that an error was emitted
// already, so a handler may chain builders and look at the last value only; `out` turns null into failure.
#pragma once
#include "gpuc/Frontend/NodeContext.h"
#include "gpuc/Frontend/OpRegistry.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Support/HostTensor.h"

namespace gpuc::frontend {

using Ints = llvm::SmallVector<int64_t>;

/// Tensors with more elements than this are refused: they are a mistake or an attack.
constexpr int64_t kMaxElements = int64_t(1) << 40;
/// Window sizes, strides, pads and the like beyond this are refused.
constexpr int64_t kMaxWindow = int64_t(1) << 24;

class Emit {
public:
  explicit Emit(NodeContext &context) : ctx(context) {}
  NodeContext &ctx;

  // --- in and out -----------------------------------------------------------------------------------------
  /// Null: an error was emitted. Storage types (fp8, int4, …) are refused unless allowed.
  mlir::Value in(unsigned i, bool allowStorageType = false);
  mlir::Value optional(unsigned i); ///< null: absent (check `failed`) or an error
  bool failed = false;              ///< set by `optional` on an error
  mlir::LogicalResult out(unsigned i, mlir::Value v);
  mlir::LogicalResult out(mlir::Value v) { return out(0, v); }
  mlir::Value fail(const llvm::Twine &message); ///< emits and gives null
  /// All inputs, at least `least` of them, of one element type unless `mixed`; empty on an error.
  llvm::SmallVector<mlir::Value> allInputs(unsigned least = 1, bool mixed = false);
  bool floatOnly(mlir::Value v,
                 const llvm::Twine &what = "input 0"); ///< emits and gives false for other types
  /// The floating-point compute type that a `TensorProto.DataType` attribute names; null after an error.
  mlir::Type floatTypeAttr(llvm::StringRef name, std::optional<int64_t> dflt = std::nullopt);
  bool sameType(mlir::Value a, mlir::Value b, const llvm::Twine &what);

  // --- checks ---------------------------------------------------------------------------------------------
  bool sizeOk(llvm::ArrayRef<int64_t> shape); ///< non-negative extents whose product is sane
  std::optional<Ints> broadcast(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);
  bool broadcastsTo(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to); ///< silent
  /// Axes in [0, rank), distinct, sorted; nothing on an error.
  std::optional<Ints> axes(llvm::ArrayRef<int64_t> list, int64_t rank, llvm::StringRef what,
                           bool sorted = true);

  // --- pointwise ------------------------------------------------------------------------------------------
  mlir::Value unary(UnaryKind kind, mlir::Value x, double alpha = 0, double beta = 0);
  mlir::Value binary(BinaryKind kind, mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, mlir::Value b) { return binary(BinaryKind::Add, a, b); }
  mlir::Value sub(mlir::Value a, mlir::Value b) { return binary(BinaryKind::Sub, a, b); }
  mlir::Value mul(mlir::Value a, mlir::Value b) { return binary(BinaryKind::Mul, a, b); }
  mlir::Value div(mlir::Value a, mlir::Value b) { return binary(BinaryKind::Div, a, b); }
  /// Before opset 7 operand b broadcasts only when attribute 'broadcast' says so, from axis 'axis' on.
  mlir::Value legacyBinary(BinaryKind kind, mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y);
  mlir::Value cast(mlir::Value x, mlir::Type elementType);
  mlir::Value scalar(double value, mlir::Value like); ///< rank 0, of the element type of `like`

  // --- movement -------------------------------------------------------------------------------------------
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape); ///< refuses another element count
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> perm);
  mlir::Value expand(mlir::Value x, llvm::ArrayRef<int64_t> shape);
  mlir::Value slice(mlir::Value x, int64_t axis, int64_t start, int64_t size, int64_t step = 1);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> xs, int64_t axis);
  mlir::Value pad(mlir::Value x, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high,
                  mlir::Value value);
  mlir::Value unsqueeze(mlir::Value x, int64_t axis);
  mlir::Value constant(const HostTensor &tensor);
  mlir::Value iota(int64_t count); ///< i64, 0 … count-1

  // --- the rest -------------------------------------------------------------------------------------------
  mlir::Value reduce(ReduceKind kind, mlir::Value x, llvm::ArrayRef<int64_t> axes, bool keepdims);
  mlir::Value matmul(mlir::Value x, mlir::Value y); ///< ranks at least 2
  mlir::Value softmax(mlir::Value x, int64_t axis, bool log = false, bool zeroMasked = false);
  mlir::FloatAttr f64(double v) { return ctx.builder().getF64FloatAttr(v); }
  mlir::MLIRContext *mlirContext() { return ctx.builder().getContext(); }
};

/// "2x3x5" for messages.
std::string shapeText(llvm::ArrayRef<int64_t> shape);

} // namespace gpuc::frontend

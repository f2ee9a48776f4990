// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a handler of one ONNX operator sees: typed access to inputs and attributes that diagnoses by itself,
// and builders for core ops that fold constants at once. Every accessor that fails has already emitted an
// error naming node, operator, since-version, operand or attribute, expected and got; the handler just
// returns failure().
#pragma once
#include "gpuc/Frontend/OpBuilding.h"
#include "gpuc/IR/Ops.h"
#include "gpuc/Support/DType.h"
#include "gpuc/Support/OpKinds.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace onnx {
class AttributeProto;
class NodeProto;
} // namespace onnx

namespace gpuc::frontend {

class GraphImporter;

class NodeContext {
public:
  NodeContext(GraphImporter &importer, const onnx::NodeProto &node, int since, mlir::Location loc);

  // --- identity -------------------------------------------------------------------------------------------
  int since() const { return sinceVersion; } ///< since-version of the handler in use
  int opset() const;                         ///< opset of the node's domain that the model imports
  llvm::StringRef opType() const;
  mlir::Location loc() const { return location; }
  mlir::OpBuilder &builder();

  // --- inputs ---------------------------------------------------------------------------------------------
  unsigned numInputs() const; ///< as written, trailing absent ones included
  unsigned numOutputs() const;
  bool hasInput(unsigned i) const;   ///< false when past the end or named ''
  bool outputUsed(unsigned i) const; ///< false when past the end or named ''
  /// Required input; its type is a static tensor. Storage types (fp8, int4, …) are refused unless allowed.
  mlir::FailureOr<mlir::Value> input(unsigned i, bool allowStorageType = false);
  /// Null when absent.
  mlir::FailureOr<mlir::Value> optionalInput(unsigned i);
  /// Required input whose value must be known when compiling, as integers (i32 or i64 tensor, any rank,
  /// flattened).
  mlir::FailureOr<llvm::SmallVector<int64_t>> intsInput(unsigned i);
  /// As intsInput, nothing when absent.
  mlir::FailureOr<std::optional<llvm::SmallVector<int64_t>>> optionalIntsInput(unsigned i);
  /// Required constant floats (f16, bf16, f32, f64), flattened.
  mlir::FailureOr<llvm::SmallVector<double>> floatsInput(unsigned i);
  mlir::FailureOr<std::optional<llvm::SmallVector<double>>> optionalFloatsInput(unsigned i);

  /// Required input whose value must be known when compiling, of any type.
  mlir::FailureOr<mlir::ElementsAttr> constantInput(unsigned i);

  // --- attributes -----------------------------------------------------------------------------------------
  bool hasAttr(llvm::StringRef name) const;
  mlir::FailureOr<int64_t> intAttr(llvm::StringRef name, std::optional<int64_t> dflt = std::nullopt);
  mlir::FailureOr<double> floatAttr(llvm::StringRef name, std::optional<double> dflt = std::nullopt);
  mlir::FailureOr<std::string> stringAttr(llvm::StringRef name,
                                          std::optional<llvm::StringRef> dflt = std::nullopt);
  mlir::FailureOr<llvm::SmallVector<int64_t>>
  intsAttr(llvm::StringRef name, std::optional<llvm::ArrayRef<int64_t>> dflt = std::nullopt);
  mlir::FailureOr<llvm::SmallVector<double>>
  floatsAttr(llvm::StringRef name, std::optional<llvm::ArrayRef<double>> dflt = std::nullopt);
  /// A string attribute that must be one of `allowed`.
  mlir::FailureOr<std::string> choiceAttr(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> allowed,
                                          llvm::StringRef dflt);
  /// Maps a possibly negative axis into [0, rank); `what` names it in the message ("attribute 'axis'", "input
  /// 1").
  mlir::FailureOr<int64_t> normalizeAxis(int64_t axis, int64_t rank, llvm::StringRef what);

  /// A tensor attribute (`TENSOR`, or `SPARSE_TENSOR` made dense), large ones without a copy.
  mlir::FailureOr<mlir::ElementsAttr> tensorAttr(llvm::StringRef name);
  /// An attribute that holds a TensorProto::DataType number (Cast's `to`), as an element type that gpuc
  /// knows.
  mlir::FailureOr<mlir::Type> elementTypeAttr(llvm::StringRef name,
                                              std::optional<int64_t> dflt = std::nullopt);

  // --- subgraphs ------------------------------------------------------------------------------------------
  /// Imports the graph attribute `name` at this place, its names in a scope of their own; the graph's formal
  /// inputs are bound to `arguments`. Returns its output values. Only for graphs that are certain to run once
  /// (If with a known condition). Problems inside have been reported against the inner nodes.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> importSubgraph(llvm::StringRef name,
                                                                 llvm::ArrayRef<mlir::Value> arguments = {});

  // --- building -------------------------------------------------------------------------------------------
  /// Creates a core op at the node's location and folds it when its operands are constants.
  /// Usage: `mlir::Value y = ctx.create<gpuc::BinaryOp>(BinaryKind::Add, a, b);` Arguments are those of an
  /// ODS builder; kinds and doubles are converted. Result types are inferred and the op's verifier has run: a
  /// null value means that an error was emitted. A null required operand gives a null result without another
  /// error.
  template <typename OpT, typename... Args> mlir::Value create(Args &&...args) {
    mlir::OperationState state(location, OpT::getOperationName());
    if (!detail::fillState<OpT>(builder(), state, std::forward<Args>(args)...))
      return {};
    llvm::SmallVector<mlir::Value> values = finish(state);
    return values.empty() ? mlir::Value() : values.front();
  }
  /// Several results; empty when an error was emitted.
  template <typename OpT, typename... Args> llvm::SmallVector<mlir::Value> createMulti(Args &&...args) {
    mlir::OperationState state(location, OpT::getOperationName());
    if (!detail::fillState<OpT>(builder(), state, std::forward<Args>(args)...))
      return {};
    return finish(state);
  }
  mlir::Value constant(mlir::ElementsAttr value);
  /// Scalar (rank 0) constant of an element type.
  mlir::Value scalar(double value, mlir::Type elementType);
  mlir::Value intsConstant(llvm::ArrayRef<int64_t> values, llvm::ArrayRef<int64_t> shape);
  mlir::Value cast(mlir::Value x, mlir::Type elementType); ///< no-op when the type is already right
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<int64_t> shape);

  // --- results --------------------------------------------------------------------------------------------
  /// Binds output i. An output that is not used may be left unset.
  mlir::LogicalResult setOutput(unsigned i, mlir::Value value);
  /// Emits "node 'name' (Op-13): message" and returns failure.
  mlir::LogicalResult error(const llvm::Twine &message);

  GraphImporter &importer() { return graph; }
  const onnx::NodeProto &proto() const { return node; }

private:
  const onnx::AttributeProto *findAttr(llvm::StringRef name) const;
  /// The attribute when it has the wanted type; null when absent and a default exists; failure with a
  /// diagnostic.
  mlir::FailureOr<const onnx::AttributeProto *> attr(llvm::StringRef name, int type, bool required);
  llvm::SmallVector<mlir::Value> finish(mlir::OperationState &state);
  GraphImporter &graph;
  const onnx::NodeProto &node;
  int sinceVersion;
  mlir::Location location;
};

} // namespace gpuc::frontend

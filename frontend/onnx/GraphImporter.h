// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Imports one model: scopes of names, function calls, subgraphs, initialisers, and the list of everything
// that could not be imported. Operators are the handlers' business (ops/), values and attributes
// NodeContext's.
#pragma once
#include "ModelIndex.h"
#include "Signature.h"
#include "TensorDecoder.h"
#include "gpuc/Frontend/Importer.h"
#include "gpuc/Frontend/OpRegistry.h"
#include "mlir/IR/Builders.h"
#include <set>

namespace gpuc::frontend {

/// What a name stands for.
struct Binding {
  enum Kind {
    Bound,       ///< `value`
    Initialiser, ///< `tensor` or `sparse`, not used so far
    Absent,      ///< an optional argument that a function was called without
    Poisoned,    ///< its node was reported; users are skipped silently
    NotMade,     ///< its node imported, but this output is not supported
  };
  Kind kind = Bound;
  mlir::Value value;
  const onnx::TensorProto *tensor = nullptr;
  const onnx::SparseTensorProto *sparse = nullptr;
  std::string why; ///< of NotMade
};

/// The main graph, or one call of a function: operator sets and attribute arguments.
struct Frame {
  const onnx::FunctionProto *function = nullptr;
  const Frame *caller = nullptr;
  unsigned depth = 0;
  std::string path; ///< names of the call nodes, '/' between them
  OpsetMap opsets;
  llvm::StringMap<const onnx::AttributeProto *> attributes;
};

/// The names of one graph or function body.
struct Scope {
  Scope(const Frame &frame, Scope *parent) : frame(frame), parent(parent) {}
  const Frame &frame;
  Scope *parent; ///< what a subgraph captures from; null for the main graph and functions
  unsigned depth = 0;
  llvm::StringMap<Binding> names;
  Binding *find(llvm::StringRef name);
};

class GraphImporter {
public:
  /// `collectOnly`: blockers are recorded, not emitted as diagnostics.
  GraphImporter(std::shared_ptr<Model> model, ModelIndex index, const OpRegistry &registry,
                const ImportOptions &options, bool collectOnly, mlir::MLIRContext *context);

  /// Null when anything was reported.
  mlir::OwningOpRef<mlir::ModuleOp> run();
  const std::vector<Blocker> &blockers() const { return found; }

  // --- for NodeContext and handlers -----------------------------------------------------------------------
  mlir::OpBuilder &getBuilder() { return builder; }
  TensorDecoder &tensors() { return decoder; }
  int64_t opsetOf(llvm::StringRef domain) const;
  /// The value of a name in the scope of the node being imported; null when the name is absent or unknown,
  /// with the reason in `why` when it can't be had.
  mlir::Value lookup(llvm::StringRef name, std::string &why);
  bool isPresent(llvm::StringRef name) const;
  mlir::LogicalResult setResult(unsigned i, mlir::Value value);
  /// Records (and emits, unless collecting) that a node can't be imported.
  void report(const onnx::NodeProto &node, int since, mlir::Location loc, llvm::StringRef message);
  /// Imports a graph whose nodes may capture names of the current node's scope, and returns its outputs.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>> importSubgraph(const onnx::GraphProto &graph,
                                                                 llvm::ArrayRef<mlir::Value> arguments = {});
  /// A gpuc.constant at the current place.
  mlir::Value makeConstant(mlir::ElementsAttr value, mlir::Location loc);
  /// Whether a result may be folded at import; counts it against the model's budgets when it may. `work`
  /// estimates the scalar operations; small integer results have a budget of their own, because shapes depend
  /// on them.
  bool takeFoldingBudget(int64_t bytes, int64_t work, bool smallInteger);

private:
  /// The node whose handler runs.
  struct Current {
    Scope *scope = nullptr;
    llvm::SmallVector<mlir::Value> results;
    bool innerPoison = false; ///< a subgraph of it was not imported, and that was reported
  };

  void warnAboutOpset();
  void reportUnknownOperators(const NodeList &mainNodes);
  void structural(const std::string &message);
  void bindInitialisers(const onnx::GraphProto &graph, Scope &scope);
  mlir::LogicalResult importNodes(const NodeList &nodes, Scope &scope);
  void importNode(const onnx::NodeProto &node, Scope &scope);
  void importCall(const onnx::FunctionProto &function, const onnx::NodeProto &node, Scope &scope);
  void callHandler(const OpEntry &entry, const onnx::NodeProto &node, Scope &scope);
  std::string whyUnsupported(const onnx::NodeProto &node, int64_t opset) const;
  const onnx::NodeProto &resolveAttributes(const onnx::NodeProto &node, const Frame &frame);
  void poisonOutputs(const onnx::NodeProto &node, Scope &scope);
  bool inputsUsable(const onnx::NodeProto &node, Scope &scope);
  mlir::Value materialise(Binding &binding, llvm::StringRef name, std::string &why);
  mlir::Location locationOf(const onnx::NodeProto &node, const Frame &frame);
  mlir::LogicalResult collectOutputs(Scope &scope, llvm::SmallVectorImpl<mlir::Value> &values);
  void checkDeclaredOutputs(llvm::ArrayRef<mlir::Value> values);

  std::shared_ptr<Model> model;
  ModelIndex index;
  const OpRegistry &registry;
  const ImportOptions &options;
  bool collectOnly;
  mlir::MLIRContext *context;
  mlir::OpBuilder builder;
  TensorDecoder decoder;
  std::vector<Blocker> found;
  std::set<std::string> reported;
  Current current;
  int64_t importedNodes = 0, resolvedBytes = 0, foldedBytes = 0, foldedIntegerBytes = 0, foldedWork = 0;
  bool giveUp = false;
};

} // namespace gpuc::frontend

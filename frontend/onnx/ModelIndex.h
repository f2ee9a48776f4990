// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What import and analysis look up in a model: operator sets, functions, and the order of nodes.
#pragma once
#include "ModelReader.h"
#include "gpuc/Support/Status.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <string>
#include <vector>

namespace gpuc::frontend {

/// Domain ("" for ai.onnx) → version.
using OpsetMap = std::map<std::string, int64_t>;
using NodeList = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

/// Calls of functions and subgraphs nested deeper than this are refused.
constexpr unsigned kMaxDepth = 64;

struct ModelIndex {
  OpsetMap opsets;
  llvm::StringMap<const onnx::FunctionProto *> functions; ///< by functionKey

  /// An error names contradictory operator sets and functions defined twice.
  static Result<ModelIndex> build(const onnx::ModelProto &model);
  /// The model-local function that a node calls; it hides an operator of the same name. Null for none.
  const onnx::FunctionProto *findFunction(const onnx::NodeProto &node) const;
  /// Operator sets inside a function: its own, else the model's.
  OpsetMap opsetsOf(const onnx::FunctionProto &function) const;
  /// The version of a node's domain; 1 for a domain other than ai.onnx that is not imported, as ORT does.
  static int64_t opsetOf(const OpsetMap &opsets, llvm::StringRef domain);
};

/// Names that a subgraph takes from around it.
void collectFreeNames(const onnx::GraphProto &graph, llvm::StringSet<> &names);

/// "node 'name' (Op)", or by its first output when it has no name.
std::string nodeLabel(const onnx::NodeProto &node, int version = 0, llvm::StringRef path = "");

/// Indices of `nodes` in an order in which every value is made before it is used, which is the given order
/// whenever that is right. An error names values that are defined twice or never, or nodes that wait for each
/// other. `definedHere` says whether a name is an input or initialiser of the same graph, `definedAround`
/// also looks at what encloses it.
Result<std::vector<int>> orderNodes(const NodeList &nodes,
                                    llvm::function_ref<bool(llvm::StringRef)> definedHere,
                                    llvm::function_ref<bool(llvm::StringRef)> definedAround);

} // namespace gpuc::frontend

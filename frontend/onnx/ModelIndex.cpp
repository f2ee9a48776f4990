// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operator sets, functions and node order of a model.
#include "ModelIndex.h"
#include "Text.h"
#include "llvm/ADT/SmallVector.h"
#include <queue>

namespace gpuc::frontend {
namespace {

std::string functionKey(llvm::StringRef domain, llvm::StringRef name, llvm::StringRef overload) {
  std::string key = canonicalDomain(domain).str();
  key += '\0';
  key += name.str();
  key += '\0';
  key += overload.str();
  return key;
}

template <typename Imports> Status readOpsets(const Imports &imports, OpsetMap &opsets) {
  OpsetMap own;
  for (const auto &import : imports) {
    std::string domain = canonicalDomain(import.domain()).str();
    auto [at, isNew] = own.emplace(domain, import.version());
    if (!isNew && at->second != import.version())
      return dataLoss("operator set " + quoted(domain.empty() ? "ai.onnx" : domain) +
                      " is imported twice, as " + std::to_string(at->second) + " and " +
                      std::to_string(import.version()));
    if (import.version() < 1)
      return dataLoss("operator set version " + std::to_string(import.version()) + " does not exist");
  }
  for (auto &[domain, version] : own)
    opsets[domain] = version;
  return {};
}

template <typename F> void forEachSubgraph(const onnx::NodeProto &node, F f) {
  for (const auto &attribute : node.attribute()) {
    if (attribute.has_g())
      f(attribute.g());
    for (const auto &g : attribute.graphs())
      f(g);
  }
}

/// Everything that a node reads: its inputs, and what its subgraphs capture.
llvm::SmallVector<llvm::StringRef> usesOf(const onnx::NodeProto &node, llvm::StringSet<> &captured) {
  llvm::SmallVector<llvm::StringRef> uses;
  for (const std::string &name : node.input())
    if (!name.empty())
      uses.push_back(name);
  captured.clear();
  forEachSubgraph(node, [&](const onnx::GraphProto &g) { collectFreeNames(g, captured); });
  for (const auto &name : captured)
    uses.push_back(name.getKey());
  return uses;
}

} // namespace

Result<ModelIndex> ModelIndex::build(const onnx::ModelProto &model) {
  ModelIndex index;
  GPUC_RETURN_IF_ERROR(readOpsets(model.opset_import(), index.opsets));
  if (model.ir_version() < 3)
    index.opsets.emplace("", 1);
  for (const auto &function : model.functions()) {
    auto key = functionKey(function.domain(), function.name(), function.overload());
    if (!index.functions.try_emplace(key, &function).second)
      return dataLoss("function " + quoted(function.name()) + " of domain " + quoted(function.domain()) +
                      " is defined twice");
    OpsetMap ignored;
    GPUC_RETURN_IF_ERROR(readOpsets(function.opset_import(), ignored));
  }
  return index;
}

const onnx::FunctionProto *ModelIndex::findFunction(const onnx::NodeProto &node) const {
  if (functions.empty())
    return nullptr;
  return functions.lookup(functionKey(node.domain(), node.op_type(), node.overload()));
}

OpsetMap ModelIndex::opsetsOf(const onnx::FunctionProto &function) const {
  OpsetMap result = opsets;
  for (const auto &import : function.opset_import())
    result[canonicalDomain(import.domain()).str()] = import.version();
  return result;
}

int64_t ModelIndex::opsetOf(const OpsetMap &opsets, llvm::StringRef domain) {
  auto found = opsets.find(domain.str());
  if (found != opsets.end())
    return found->second;
  return domain.empty() ? 0 : 1;
}

void collectFreeNames(const onnx::GraphProto &graph, llvm::StringSet<> &names) {
  llvm::StringSet<> defined, used;
  for (const auto &input : graph.input())
    defined.insert(input.name());
  for (const auto &tensor : graph.initializer())
    defined.insert(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    defined.insert(tensor.values().name());
  for (const auto &node : graph.node()) {
    for (const std::string &output : node.output())
      defined.insert(output);
    for (const std::string &input : node.input())
      used.insert(input);
    forEachSubgraph(node, [&](const onnx::GraphProto &g) { collectFreeNames(g, used); });
  }
  for (const auto &output : graph.output())
    used.insert(output.name());
  for (const auto &name : used)
    if (!name.getKey().empty() && !defined.contains(name.getKey()))
      names.insert(name.getKey());
}

std::string nodeLabel(const onnx::NodeProto &node, int version, llvm::StringRef path) {
  std::string label = "node ";
  if (!node.name().empty()) {
    label += quoted(path.empty() ? node.name() : path.str() + "/" + node.name());
  } else {
    label +=
        "with output " + quoted(node.output_size() ? llvm::StringRef(node.output(0)) : llvm::StringRef());
    if (!path.empty())
      label += " in " + quoted(path);
  }
  label += " (" + escaped(node.op_type());
  if (version)
    label += "-" + std::to_string(version);
  return label + ")";
}

Result<std::vector<int>> orderNodes(const NodeList &nodes,
                                    llvm::function_ref<bool(llvm::StringRef)> definedHere,
                                    llvm::function_ref<bool(llvm::StringRef)> definedAround) {
  llvm::StringMap<int> producer;
  for (int i = 0; i < nodes.size(); ++i)
    for (const std::string &output : nodes[i].output()) {
      if (output.empty())
        continue;
      auto [at, isNew] = producer.try_emplace(output, i);
      if (!isNew)
        return dataLoss("value " + quoted(output) + " is defined twice, by " + nodeLabel(nodes[at->second]) +
                        " and " + nodeLabel(nodes[i]));
      if (definedHere(output))
        return dataLoss("value " + quoted(output) + " is defined twice, as an input or initialiser and by " +
                        nodeLabel(nodes[i]));
    }

  std::vector<std::vector<int>> users(static_cast<size_t>(nodes.size()));
  std::vector<int> waiting(static_cast<size_t>(nodes.size()), 0);
  llvm::StringSet<> captured;
  bool sorted = true;
  for (int i = 0; i < nodes.size(); ++i)
    for (llvm::StringRef name : usesOf(nodes[i], captured)) {
      auto made = producer.find(name);
      if (made != producer.end()) {
        users[size_t(made->second)].push_back(i);
        ++waiting[size_t(i)];
        sorted &= made->second < i;
      } else if (!definedAround(name)) {
        return dataLoss(nodeLabel(nodes[i]) + ": input " + quoted(name) +
                        " is neither an output of a node, nor an input, nor an initialiser");
      }
    }

  std::vector<int> order;
  order.reserve(size_t(nodes.size()));
  std::priority_queue<int, std::vector<int>, std::greater<int>> ready;
  for (int i = 0; i < nodes.size(); ++i) {
    if (sorted)
      order.push_back(i);
    else if (waiting[size_t(i)] == 0)
      ready.push(i);
  }
  while (!ready.empty()) {
    int i = ready.top();
    ready.pop();
    order.push_back(i);
    for (int user : users[size_t(i)])
      if (--waiting[size_t(user)] == 0)
        ready.push(user);
  }
  if (int(order.size()) == nodes.size())
    return order;
  std::string message = "the graph has a cycle through";
  int named = 0;
  for (int i = 0; i < nodes.size() && named < 5; ++i)
    if (waiting[size_t(i)] > 0)
      message += (named++ ? ", " : " ") + nodeLabel(nodes[i]);
  return dataLoss(message);
}

} // namespace gpuc::frontend

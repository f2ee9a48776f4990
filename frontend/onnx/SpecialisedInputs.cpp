// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The backward walk of SpecialisedInputs.h. Functions are analysed once per set of needed outputs, so that
// nested calls cost no more than the model's size.
#include "SpecialisedInputs.h"
#include "Text.h"

namespace gpuc::frontend {
namespace {

/// Value name → label of the node that needs it.
using Needs = llvm::StringMap<std::string>;

class Analysis {
public:
  Analysis(const ModelIndex &index, const OpRegistry &registry) : index(index), registry(registry) {}

  /// Adds to `needs` (the needed outputs on entry) every name that `nodes` need, including those around them.
  void walk(const NodeList &nodes, const OpsetMap &opsets, Needs &needs) {
    auto anywhere = [](llvm::StringRef) { return true; };
    auto nowhere = [](llvm::StringRef) { return false; };
    auto order = orderNodes(nodes, nowhere, anywhere);
    if (!order)
      return; // import says what is wrong
    for (auto i = order->rbegin(); i != order->rend() && ++visited <= kMaxVisits; ++i)
      visit(nodes[*i], opsets, needs);
  }

private:
  struct FunctionNeeds {
    std::vector<std::string> inputs; ///< label per formal input, empty when not needed
  };

  void need(const onnx::NodeProto &node, int i, const std::string &why, Needs &needs) {
    if (i < node.input_size() && !node.input(i).empty())
      needs.try_emplace(node.input(i), why);
  }

  void visit(const onnx::NodeProto &node, const OpsetMap &opsets, Needs &needs) {
    llvm::StringRef domain = canonicalDomain(node.domain());
    std::string why;
    for (const std::string &output : node.output())
      if (why.empty() && !output.empty())
        why = needs.lookup(output);
    if (const onnx::FunctionProto *function = index.findFunction(node)) {
      const FunctionNeeds &inner = analyse(*function, node, needs);
      for (size_t i = 0; i < inner.inputs.size(); ++i)
        if (!inner.inputs[i].empty())
          need(node, int(i), inner.inputs[i], needs);
      return;
    }
    if (domain.empty() && (node.op_type() == "Shape" || node.op_type() == "Size"))
      return;
    int opset = int(std::min<int64_t>(ModelIndex::opsetOf(opsets, domain), INT_MAX));
    if (const OpEntry *entry = registry.find(domain, node.op_type(), opset))
      for (unsigned i : entry->constantInputs)
        need(node, int(std::min<unsigned>(i, INT_MAX)), nodeLabel(node, entry->since), needs);
    if (!why.empty())
      for (int i = 0; i < node.input_size(); ++i)
        need(node, i, why, needs);
    for (const auto &attribute : node.attribute()) {
      if (attribute.has_g())
        visitSubgraph(attribute.g(), node, opsets, needs);
      for (const auto &graph : attribute.graphs())
        visitSubgraph(graph, node, opsets, needs);
    }
  }

  void visitSubgraph(const onnx::GraphProto &graph, const onnx::NodeProto &node, const OpsetMap &opsets,
                     Needs &needs) {
    Needs inner;
    for (int i = 0; i < std::min(graph.output_size(), node.output_size()); ++i) {
      auto found = needs.find(node.output(i));
      if (found != needs.end())
        inner.try_emplace(graph.output(i).name(), found->second);
    }
    walk(graph.node(), opsets, inner);
    llvm::StringSet<> free;
    collectFreeNames(graph, free);
    for (const auto &entry : inner)
      if (free.contains(entry.getKey()))
        needs.try_emplace(entry.getKey(), entry.getValue());
  }

  const FunctionNeeds &analyse(const onnx::FunctionProto &function, const onnx::NodeProto &call,
                               const Needs &needs) {
    std::string mask(size_t(function.output_size()), '0');
    Needs inner;
    for (int i = 0; i < std::min(function.output_size(), call.output_size()); ++i) {
      auto found = needs.find(call.output(i));
      if (call.output(i).empty() || found == needs.end())
        continue;
      mask[size_t(i)] = '1';
      inner.try_emplace(function.output(i), found->second);
    }
    // A function that is being analysed calls itself: nothing is known, and import refuses it.
    auto [at, isNew] = memo.try_emplace({&function, mask});
    if (!isNew || depth >= kMaxDepth)
      return at->second;
    ++depth;
    walk(function.node(), index.opsetsOf(function), inner);
    --depth;
    FunctionNeeds &result = memo[{&function, mask}];
    for (const std::string &input : function.input())
      result.inputs.push_back(inner.lookup(input));
    return result;
  }

  const ModelIndex &index;
  const OpRegistry &registry;
  std::map<std::pair<const onnx::FunctionProto *, std::string>, FunctionNeeds> memo;
  unsigned depth = 0;
  /// Functions analysed for many sets of outputs: an end for models made to take forever. Import has a lower
  /// limit.
  static constexpr int64_t kMaxVisits = 2000000;
  int64_t visited = 0;
};

} // namespace

std::map<std::string, std::string>
findSpecialisedInputs(const onnx::ModelProto &model, const ModelIndex &index, const OpRegistry &registry) {
  Needs needs;
  Analysis(index, registry).walk(model.graph().node(), index.opsets, needs);
  llvm::StringSet<> initialisers;
  for (const auto &tensor : model.graph().initializer())
    initialisers.insert(tensor.name());
  for (const auto &tensor : model.graph().sparse_initializer())
    initialisers.insert(tensor.values().name());
  std::map<std::string, std::string> result;
  for (const auto &input : model.graph().input()) {
    auto found = needs.find(input.name());
    if (found != needs.end() && !initialisers.contains(input.name()))
      result.emplace(input.name(), found->second);
  }
  return result;
}

} // namespace gpuc::frontend

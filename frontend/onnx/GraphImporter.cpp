// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of nodes, function calls and subgraphs. ModuleImporter.cpp has what happens around the node list.
#include "GraphImporter.h"
#include "Text.h"
#include "gpuc/Frontend/NodeContext.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Ops.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace gpuc::frontend {
namespace {

/// Ends for models made to take forever: nodes after expansion of functions, bytes of nodes copied to replace
/// attribute references, and reported nodes.
constexpr int64_t kMaxImportedNodes = 300000, kMaxResolvedBytes = int64_t(1) << 28;
constexpr size_t kMaxBlockers = 1000;
/// All results folded at import together; later ones stay operations, which passes may still fold.
constexpr int64_t kMaxFoldedBytes = int64_t(1) << 29, kMaxFoldedWork = int64_t(1) << 32;

bool refersToAttribute(const onnx::NodeProto &node) {
  return llvm::any_of(node.attribute(), [](const auto &a) { return !a.ref_attr_name().empty(); });
}

bool hasGraph(const onnx::AttributeProto &attribute) {
  return attribute.has_g() || attribute.graphs_size() > 0;
}

} // namespace

Binding *Scope::find(llvm::StringRef name) {
  for (Scope *scope = this; scope; scope = scope->parent) {
    auto found = scope->names.find(name);
    if (found != scope->names.end())
      return &found->second;
  }
  return nullptr;
}

// --- reporting --------------------------------------------------------------------------------------------

void GraphImporter::report(const onnx::NodeProto &node, int since, Location loc, llvm::StringRef message) {
  // Handlers put model text into messages; control characters of it must not reach a terminal.
  std::string clean;
  for (char c : message)
    clean += (unsigned char)c < 0x20 || c == 0x7f ? '?' : c;
  const Frame *frame = current.scope ? &current.scope->frame : nullptr;
  llvm::StringRef path = frame ? llvm::StringRef(frame->path) : llvm::StringRef();
  std::string label = nodeLabel(node, since, path);
  if (!reported.insert(label + clean).second || giveUp)
    return;
  std::string name = node.name().empty() && node.output_size() ? node.output(0) : node.name();
  llvm::StringRef domain = canonicalDomain(node.domain());
  found.push_back({path.empty() ? name : (path + "/" + name).str(), node.op_type(), domain.str(),
                   frame ? ModelIndex::opsetOf(frame->opsets, domain) : 0, clean});
  if (!collectOnly)
    emitError(loc) << label << ": " << clean;
  if (found.size() >= kMaxBlockers)
    structural("too many problems, the rest is not listed");
}

void GraphImporter::structural(const std::string &message) {
  if (giveUp)
    return;
  giveUp = true;
  found.push_back({"", "", "", 0, message});
  if (!collectOnly)
    emitError(UnknownLoc::get(context)) << message;
}

/// The node's name over that of its first output; the output's alone when the node has none.
Location GraphImporter::locationOf(const onnx::NodeProto &node, const Frame &frame) {
  auto named = [&](const std::string &name) { return NameLoc::get(StringAttr::get(context, name)); };
  std::optional<NameLoc> output;
  for (const std::string &name : node.output())
    if (!name.empty() && !output)
      output = named(name);
  if (!node.name().empty()) {
    auto name = StringAttr::get(context, frame.path.empty() ? node.name() : frame.path + "/" + node.name());
    return output ? NameLoc::get(name, *output) : NameLoc::get(name);
  }
  return output ? *output : named(node.op_type().empty() ? "node" : node.op_type());
}

// --- values -----------------------------------------------------------------------------------------------

int64_t GraphImporter::opsetOf(llvm::StringRef domain) const {
  return current.scope ? ModelIndex::opsetOf(current.scope->frame.opsets, canonicalDomain(domain)) : 0;
}

bool GraphImporter::takeFoldingBudget(int64_t bytes, int64_t work, bool smallInteger) {
  int64_t &used = smallInteger ? foldedIntegerBytes : foldedBytes;
  if (bytes > kMaxFoldedBytes - used || work > kMaxFoldedWork - foldedWork)
    return false;
  used += bytes;
  foldedWork += work;
  return true;
}

Value GraphImporter::makeConstant(ElementsAttr value, Location loc) {
  OperationState state(loc, ConstantOp::getOperationName());
  ConstantOp::build(builder, state, Type(value.getType()), value);
  return builder.create(state)->getResult(0);
}

Value GraphImporter::materialise(Binding &binding, llvm::StringRef name, std::string &why) {
  switch (binding.kind) {
  case Binding::Bound:
    return binding.value;
  case Binding::Initialiser: {
    auto value =
        binding.tensor ? decoder.decode(*binding.tensor, name) : decoder.decode(*binding.sparse, name);
    if (!value) {
      why = "initialiser " + quoted(name) + " " + value.status().message();
      return {};
    }
    binding.value = makeConstant(*value, NameLoc::get(StringAttr::get(context, name)));
    binding.kind = Binding::Bound;
    return binding.value;
  }
  case Binding::NotMade:
    why = binding.why;
    return {};
  case Binding::Absent:
  case Binding::Poisoned:
    return {};
  }
  return {};
}

bool GraphImporter::isPresent(llvm::StringRef name) const {
  if (name.empty() || !current.scope)
    return false;
  Binding *binding = current.scope->find(name);
  return binding && binding->kind != Binding::Absent;
}

Value GraphImporter::lookup(llvm::StringRef name, std::string &why) {
  Binding *binding = name.empty() || !current.scope ? nullptr : current.scope->find(name);
  return binding ? materialise(*binding, name, why) : Value();
}

LogicalResult GraphImporter::setResult(unsigned i, Value value) {
  if (!value)
    return failure();
  if (i >= current.results.size())
    return success(); // an optional output that the node doesn't list
  current.results[i] = value;
  return success();
}

void GraphImporter::poisonOutputs(const onnx::NodeProto &node, Scope &scope) {
  for (const std::string &output : node.output())
    if (!output.empty()) {
      Binding &binding = scope.names[output];
      binding = Binding();
      binding.kind = Binding::Poisoned;
    }
}

/// False when an input comes from a node that was reported (silently) or from an output that isn't supported.
bool GraphImporter::inputsUsable(const onnx::NodeProto &node, Scope &scope) {
  for (const std::string &name : node.input()) {
    Binding *binding = name.empty() ? nullptr : scope.find(name);
    if (!name.empty() && !binding) {
      report(node, 0, locationOf(node, scope.frame), "input " + quoted(name) + " is not defined");
      return false;
    }
    if (binding && binding->kind == Binding::NotMade)
      report(node, 0, locationOf(node, scope.frame), binding->why);
    if (binding && (binding->kind == Binding::Poisoned || binding->kind == Binding::NotMade))
      return false;
  }
  return true;
}

// --- nodes ------------------------------------------------------------------------------------------------

LogicalResult GraphImporter::importNodes(const NodeList &nodes, Scope &scope) {
  auto here = [&](llvm::StringRef name) { return scope.names.contains(name); };
  auto around = [&](llvm::StringRef name) { return scope.find(name) != nullptr; };
  auto order = orderNodes(nodes, here, around);
  if (!order) {
    structural((scope.frame.path.empty() ? "" : "in " + quoted(scope.frame.path) + ": ") +
               order.status().message());
    return failure();
  }
  for (int i : *order) {
    if (giveUp)
      return failure();
    importNode(nodes[i], scope);
  }
  return success(!giveUp);
}

void GraphImporter::importNode(const onnx::NodeProto &written, Scope &scope) {
  if (++importedNodes > kMaxImportedNodes)
    return structural("the model has more than " + std::to_string(kMaxImportedNodes) +
                      " nodes after its functions are expanded, which is not supported");
  Current outer = std::move(current);
  current = Current();
  current.scope = &scope;
  llvm::scope_exit restore([&] { current = std::move(outer); });

  size_t before = found.size();
  const onnx::NodeProto &node = scope.frame.function ? resolveAttributes(written, scope.frame) : written;
  if (found.size() != before || giveUp)
    return poisonOutputs(node, scope);
  const onnx::FunctionProto *function = index.findFunction(node);
  llvm::StringRef domain = canonicalDomain(node.domain());
  int64_t opset = ModelIndex::opsetOf(scope.frame.opsets, domain);
  const OpEntry *entry =
      function ? nullptr : registry.find(domain, node.op_type(), int(std::min<int64_t>(opset, INT_MAX)));
  // An unknown operator is reported also where an earlier failure left it without inputs.
  if (!function && !entry)
    report(node, 0, locationOf(node, scope.frame), whyUnsupported(node, opset));
  if ((!function && !entry) || !inputsUsable(node, scope))
    return poisonOutputs(node, scope);
  if (function)
    return importCall(*function, node, scope);
  callHandler(*entry, node, scope);
}

std::string GraphImporter::whyUnsupported(const onnx::NodeProto &node, int64_t opset) const {
  llvm::StringRef domain = canonicalDomain(node.domain());
  if (registry.knows(domain, node.op_type())) {
    if (domain.empty() && opset == 0)
      return "the model imports no operator set of ai.onnx";
    int oldest = 0;
    for (const OpEntry *entry : registry.entries())
      if (entry->domain == domain && entry->op == node.op_type() && (!oldest || entry->since < oldest))
        oldest = entry->since;
    return "needs opset " + std::to_string(oldest) + " or newer, the model imports " + std::to_string(opset);
  }
  bool domainKnown = domain.empty();
  for (const OpEntry *entry : registry.entries())
    domainKnown |= entry->domain == domain;
  return domainKnown ? "the operator is not supported" : "domain " + quoted(domain) + " is not supported";
}

void GraphImporter::callHandler(const OpEntry &entry, const onnx::NodeProto &node, Scope &scope) {
  Location loc = locationOf(node, scope.frame);
  current.results.assign(size_t(node.output_size()), Value());
  size_t before = found.size();
  NodeContext nodeContext(*this, node, entry.since, loc);
  LogicalResult imported = entry.handler(nodeContext);
  if (failed(imported) && found.size() == before && !current.innerPoison && !giveUp)
    report(node, entry.since, loc, "could not be imported (no reason was given, which is a bug of gpuc)");
  if (failed(imported) || found.size() != before)
    return poisonOutputs(node, scope);
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty())
      continue;
    Binding &binding = scope.names[node.output(i)];
    binding = Binding();
    binding.value = current.results[size_t(i)];
    if (binding.value)
      continue;
    binding.kind = Binding::NotMade;
    binding.why = "output " + std::to_string(i) + " (" + quoted(node.output(i)) + ") of " +
                  nodeLabel(node, entry.since, scope.frame.path) + " is not supported";
  }
}

// --- functions and subgraphs ------------------------------------------------------------------------------

const onnx::NodeProto &GraphImporter::resolveAttributes(const onnx::NodeProto &node, const Frame &frame) {
  if (!refersToAttribute(node))
    return node;
  int64_t bytes = int64_t(node.ByteSizeLong());
  for (const auto &attribute : node.attribute())
    if (const auto *argument = frame.attributes.lookup(attribute.ref_attr_name()))
      bytes += int64_t(argument->ByteSizeLong());
  resolvedBytes += bytes;
  if (resolvedBytes > kMaxResolvedBytes) {
    structural("the attributes of the model's functions take more than " + std::to_string(kMaxResolvedBytes) +
               " bytes after expansion, which is not supported");
    return node;
  }
  onnx::NodeProto &resolved = model->resolvedNodes.emplace_back(node);
  resolved.clear_attribute();
  for (const auto &attribute : node.attribute()) {
    if (attribute.ref_attr_name().empty()) {
      *resolved.add_attribute() = attribute;
      continue;
    }
    const onnx::AttributeProto *argument = frame.attributes.lookup(attribute.ref_attr_name());
    if (!argument)
      continue; // not given and without a default: absent
    if (hasGraph(*argument)) {
      report(node, 0, locationOf(node, frame),
             "attribute " + quoted(attribute.name()) +
                 " is a graph that a function takes as an argument, which is "
                 "not supported");
      continue;
    }
    onnx::AttributeProto *copy = resolved.add_attribute();
    *copy = *argument;
    copy->set_name(attribute.name());
    copy->clear_ref_attr_name();
  }
  return resolved;
}

void GraphImporter::importCall(const onnx::FunctionProto &function, const onnx::NodeProto &node,
                               Scope &scope) {
  Location loc = locationOf(node, scope.frame);
  auto refuse = [&](const std::string &why) {
    report(node, 0, loc, why);
    poisonOutputs(node, scope);
  };
  for (const Frame *f = &scope.frame; f; f = f->caller)
    if (f->function == &function)
      return refuse("function " + quoted(function.name()) + " calls itself");
  unsigned depth = std::max(scope.frame.depth, scope.depth) + 1;
  if (depth > kMaxDepth)
    return refuse("functions and subgraphs are nested deeper than " + std::to_string(kMaxDepth) + " levels");
  if (node.input_size() > function.input_size() || node.output_size() > function.output_size())
    return refuse("function " + quoted(function.name()) + " expected at most " +
                  std::to_string(function.input_size()) + " inputs and " +
                  std::to_string(function.output_size()) + " outputs, got " +
                  std::to_string(node.input_size()) + " and " + std::to_string(node.output_size()));

  Frame frame;
  frame.function = &function;
  frame.caller = &scope.frame;
  frame.depth = depth;
  std::string callName = node.name().empty() ? function.name() : node.name();
  frame.path = scope.frame.path.empty() ? callName : scope.frame.path + "/" + callName;
  if (frame.path.size() > 4096)
    frame.path.resize(4096);
  frame.opsets = index.opsetsOf(function);
  for (const auto &attribute : function.attribute_proto())
    frame.attributes[attribute.name()] = &attribute;
  for (const auto &attribute : node.attribute())
    frame.attributes[attribute.name()] = &attribute;

  Scope body(frame, nullptr);
  body.depth = depth;
  for (int i = 0; i < function.input_size(); ++i) {
    if (function.input(i).empty() || body.names.contains(function.input(i)))
      return refuse("function " + quoted(function.name()) +
                    " has an input without a name or two of the same name");
    Binding &formal = body.names[function.input(i)];
    formal.kind = Binding::Absent;
    Binding *actual = i < node.input_size() && !node.input(i).empty() ? scope.find(node.input(i)) : nullptr;
    if (!actual)
      continue;
    std::string why;
    Value value = materialise(*actual, node.input(i), why);
    if (!value && actual->kind != Binding::Absent)
      return refuse(why);
    if (value) {
      formal.kind = Binding::Bound;
      formal.value = value;
    }
  }
  if (failed(importNodes(function.node(), body)))
    return poisonOutputs(node, scope);
  for (int i = 0; i < node.output_size(); ++i) {
    if (node.output(i).empty())
      continue;
    Binding *made = body.find(function.output(i));
    Binding &binding = scope.names[node.output(i)];
    binding = Binding();
    if (made) {
      binding = *made;
      continue;
    }
    binding.kind = Binding::NotMade;
    binding.why =
        "function " + quoted(function.name()) + " does not make its output " + quoted(function.output(i));
  }
}

FailureOr<llvm::SmallVector<Value>> GraphImporter::importSubgraph(const onnx::GraphProto &graph,
                                                                  llvm::ArrayRef<Value> arguments) {
  Scope *around = current.scope;
  if (!around || giveUp)
    return failure();
  current.innerPoison = true; // until the graph is imported completely
  Scope scope(around->frame, around);
  scope.depth = std::max(around->depth, around->frame.depth) + 1;
  if (scope.depth > kMaxDepth) {
    structural("functions and subgraphs are nested deeper than " + std::to_string(kMaxDepth) + " levels");
    return failure();
  }
  if (size_t(graph.input_size()) != arguments.size()) {
    structural("a subgraph expected " + std::to_string(graph.input_size()) + " inputs, got " +
               std::to_string(arguments.size()));
    return failure();
  }
  for (size_t i = 0; i < arguments.size(); ++i)
    scope.names[graph.input(int(i)).name()].value = arguments[i];
  bindInitialisers(graph, scope);
  if (failed(importNodes(graph.node(), scope)))
    return failure();
  llvm::SmallVector<Value> values;
  for (const auto &output : graph.output()) {
    std::string why;
    Binding *binding = scope.find(output.name());
    Value value = binding ? materialise(*binding, output.name(), why) : Value();
    if (!value) {
      if (!binding || binding->kind != Binding::Poisoned)
        structural("subgraph output " + quoted(output.name()) + " is not made" + (why.empty() ? "" : ": ") +
                   why);
      return failure();
    }
    values.push_back(value);
  }
  current.innerPoison = false;
  return values;
}

} // namespace gpuc::frontend

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Import of a whole model: the function `main`, its arguments, initialisers, outputs and attributes.
#include "GraphImporter.h"
#include "Text.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Ops.h"
#include "gpuc/IR/Types.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace gpuc::frontend {

GraphImporter::GraphImporter(std::shared_ptr<Model> model, ModelIndex index, const OpRegistry &registry,
                             const ImportOptions &options, bool collectOnly, MLIRContext *context)
    : model(model), index(std::move(index)), registry(registry), options(options), collectOnly(collectOnly),
      context(context), builder(context), decoder(model, context) {
  context->getOrLoadDialect<GpucDialect>();
  context->getOrLoadDialect<func::FuncDialect>();
}

void GraphImporter::bindInitialisers(const onnx::GraphProto &graph, Scope &scope) {
  auto bind = [&](const std::string &name) -> Binding * {
    if (name.empty()) {
      structural("an initialiser has no name");
      return nullptr;
    }
    auto [at, isNew] = scope.names.try_emplace(name);
    // An argument of the same name overrides the default.
    if (!isNew && at->second.kind == Binding::Initialiser)
      structural("initialiser " + quoted(name) + " is defined twice");
    return isNew ? &at->second : nullptr;
  };
  for (const auto &tensor : graph.initializer())
    if (Binding *binding = bind(tensor.name())) {
      binding->kind = Binding::Initialiser;
      binding->tensor = &tensor;
    }
  for (const auto &sparse : graph.sparse_initializer())
    if (Binding *binding = bind(sparse.values().name())) {
      binding->kind = Binding::Initialiser;
      binding->sparse = &sparse;
    }
}

LogicalResult GraphImporter::collectOutputs(Scope &scope, llvm::SmallVectorImpl<Value> &values) {
  const onnx::GraphProto &graph = model->proto.graph();
  if (graph.output_size() == 0)
    structural("the model has no outputs");
  for (const auto &output : graph.output()) {
    std::string why;
    Binding *binding = scope.find(output.name());
    Value value = binding ? materialise(*binding, output.name(), why) : Value();
    if (!value && (!binding || binding->kind != Binding::Poisoned))
      structural("output " + quoted(output.name()) +
                 (why.empty() ? " is neither made by a node, nor an input, nor an initialiser" : ": " + why));
    values.push_back(value);
  }
  return success(found.empty());
}

/// Exporters write wrong output shapes; what the graph computes is right, so this only warns.
void GraphImporter::checkDeclaredOutputs(llvm::ArrayRef<Value> values) {
  if (!options.warn)
    return;
  const onnx::GraphProto &graph = model->proto.graph();
  for (int i = 0; i < graph.output_size(); ++i) {
    if (!graph.output(i).type().has_tensor_type())
      continue;
    const auto &declared = graph.output(i).type().tensor_type();
    auto type = tensorType(values[size_t(i)]);
    auto label = "output " + quoted(graph.output(i).name());
    auto dtype = dtypeFromOnnx(declared.elem_type());
    if (dtype && *dtype != dtypeOf(values[size_t(i)]))
      options.warn(label + ": declared with element type " + std::string(name(*dtype)) +
                   ", but computed as " + std::string(name(dtypeOf(values[size_t(i)]))));
    if (!declared.has_shape())
      continue;
    bool agrees = declared.shape().dim_size() == type.getRank();
    Shape shape(type.getShape().begin(), type.getShape().end());
    std::string text;
    for (int d = 0; d < declared.shape().dim_size(); ++d) {
      const auto &dim = declared.shape().dim(d);
      bool fixed = dim.has_dim_value() && dim.dim_value() >= 0;
      agrees = agrees && (!fixed || dim.dim_value() == shape[size_t(d)]);
      text += (d ? "x" : "") + (fixed ? std::to_string(dim.dim_value()) : "?");
    }
    if (!agrees)
      options.warn(label + ": declared with shape " + (text.empty() ? "scalar" : text) +
                   ", but the graph computes " + toString(shape));
  }
}

/// Handlers say from which opset on they hold, so an opset out of range is no error by itself.
void GraphImporter::warnAboutOpset() {
  auto opset = index.opsets.find("");
  if (!options.warn || opset == index.opsets.end())
    return;
  std::string text = "the model uses opset " + std::to_string(opset->second);
  if (opset->second > kNewestOpset)
    options.warn(text + ", newer than " + std::to_string(kNewestOpset) + "; operators are read as of opset " +
                 std::to_string(kNewestOpset));
  if (opset->second < kOldestOpset)
    options.warn(text + ", older than " + std::to_string(kOldestOpset) +
                 "; only operators that did not change since then can be imported");
}

/// Without types of the inputs nothing can be imported, but some of what can't be imported anyway is known.
void GraphImporter::reportUnknownOperators(const NodeList &mainNodes) {
  std::set<const onnx::FunctionProto *> visited;
  std::vector<std::pair<const NodeList *, Frame>> pending(1);
  pending[0].first = &mainNodes;
  pending[0].second.opsets = index.opsets;
  while (!pending.empty()) {
    auto [nodes, frame] = std::move(pending.back());
    pending.pop_back();
    Scope scope(frame, nullptr);
    current.scope = &scope;
    for (const auto &node : *nodes) {
      if (const onnx::FunctionProto *function = index.findFunction(node)) {
        if (!visited.insert(function).second)
          continue;
        Frame inner;
        inner.path = function->name();
        inner.opsets = index.opsetsOf(*function);
        pending.emplace_back(&function->node(), std::move(inner));
        continue;
      }
      llvm::StringRef domain = canonicalDomain(node.domain());
      int64_t opset = ModelIndex::opsetOf(frame.opsets, domain);
      if (!registry.find(domain, node.op_type(), int(std::min<int64_t>(opset, INT_MAX))))
        report(node, 0, locationOf(node, frame), whyUnsupported(node, opset));
    }
    current.scope = nullptr;
  }
}

OwningOpRef<ModuleOp> GraphImporter::run() {
  const onnx::GraphProto &graph = model->proto.graph();
  std::vector<SignatureProblem> problems;
  std::vector<ResolvedInput> inputs = resolveInputs(model->proto, index, registry, options, problems);
  for (const SignatureProblem &problem : problems) {
    found.push_back({problem.input, "", "", 0, problem.message});
    if (!collectOnly)
      emitError(UnknownLoc::get(context)) << problem.message;
  }
  warnAboutOpset();
  if (!problems.empty()) {
    reportUnknownOperators(graph.node());
    return nullptr;
  }

  Location loc = NameLoc::get(StringAttr::get(context, graph.name().empty() ? "graph" : graph.name()));
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  llvm::SmallVector<Type> types;
  for (const ResolvedInput &input : inputs)
    types.push_back(RankedTensorType::get(input.shape, toMlirType(input.dtype, context)));
  builder.setInsertionPointToEnd(module->getBody());
  auto function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType(types, {}));
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToStart(body);

  Frame frame;
  frame.opsets = index.opsets;
  Scope scope(frame, nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) {
    Binding &binding = scope.names[inputs[i].name];
    binding.value = body->getArgument(unsigned(i));
    function.setArgAttr(unsigned(i), "gpuc.name", builder.getStringAttr(inputs[i].name));
    if (!inputs[i].value)
      continue;
    ElementsAttr value = toElementsAttr(*inputs[i].value, context);
    function.setArgAttr(unsigned(i), "gpuc.value", value);
    binding.value = makeConstant(value, NameLoc::get(builder.getStringAttr(inputs[i].name)));
  }
  bindInitialisers(graph, scope);
  llvm::SmallVector<Value> outputs;
  if (giveUp || failed(importNodes(graph.node(), scope)) || failed(collectOutputs(scope, outputs)))
    return nullptr;
  checkDeclaredOutputs(outputs);

  func::ReturnOp::create(builder, loc, outputs);
  function.setType(builder.getFunctionType(types, ValueRange(outputs).getTypes()));
  for (int i = 0; i < graph.output_size(); ++i)
    function.setResultAttr(unsigned(i), "gpuc.name", builder.getStringAttr(graph.output(i).name()));
  // Constants of folded shape arithmetic.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isa<ConstantOp>(op) && op.use_empty())
      op.erase();
  if (failed(verify(*module))) {
    structural("the imported module is not valid, which is a bug of gpuc");
    return nullptr;
  }
  return module;
}

} // namespace gpuc::frontend

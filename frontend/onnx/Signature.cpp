// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and resolving a model's signature.
#include "Signature.h"
#include "SpecialisedInputs.h"
#include "TensorDecoder.h"
#include "Text.h"
#include "gpuc/Support/CheckedMath.h"
#include "llvm/ADT/StringExtras.h"

namespace gpuc::frontend {
namespace {

/// A rank that no model has; more is a mistake or an attack.
constexpr int kMaxRank = 64;

llvm::StringSet<> initialiserNames(const onnx::GraphProto &graph) {
  llvm::StringSet<> names;
  for (const auto &tensor : graph.initializer())
    names.insert(tensor.name());
  for (const auto &tensor : graph.sparse_initializer())
    names.insert(tensor.values().name());
  return names;
}

std::string typeName(const onnx::TypeProto &type) {
  switch (type.value_case()) {
  case onnx::TypeProto::kTensorType:
    if (auto dtype = dtypeFromOnnx(type.tensor_type().elem_type()))
      return std::string(name(*dtype));
    return llvm::StringRef(onnxTypeName(type.tensor_type().elem_type())).lower();
  case onnx::TypeProto::kSequenceType:
    return "sequence";
  case onnx::TypeProto::kMapType:
    return "map";
  case onnx::TypeProto::kOptionalType:
    return "optional";
  case onnx::TypeProto::kSparseTensorType:
    return "sparse tensor";
  default:
    return "unknown";
  }
}

ValueInfo describe(const onnx::ValueInfoProto &value) {
  ValueInfo info;
  info.name = value.name();
  info.dtype = typeName(value.type());
  info.shapeKnown = value.type().has_tensor_type() && value.type().tensor_type().has_shape();
  if (!info.shapeKnown)
    return info;
  for (const auto &dim : value.type().tensor_type().shape().dim()) {
    bool fixed = dim.has_dim_value() && dim.dim_value() >= 0;
    info.shape.push_back(fixed ? dim.dim_value() : -1);
    // Paddle's exporter calls every unknown dimension '?'; these are not equal to each other.
    info.dimNames.push_back(dim.has_dim_param() && dim.dim_param() != "?" ? dim.dim_param() : "");
  }
  return info;
}

std::string dimLabel(const ValueInfo &info, size_t d) {
  std::string label = "dimension " + std::to_string(d);
  if (!info.dimNames[d].empty())
    label += " (" + quoted(info.dimNames[d]) + ")";
  return label;
}

/// Resolves extents of all inputs together, because named dimensions are shared.
class ShapeResolver {
public:
  ShapeResolver(const ImportOptions &options, std::vector<SignatureProblem> &problems)
      : options(options), problems(problems) {}

  /// The caller's shape, merged with the model's; unknown extents stay -1.
  void addInput(const ValueInfo &info, const HostTensor *value) {
    Entry entry{info, {}};
    auto shape = options.shapes.find(info.name);
    const Shape *given = shape != options.shapes.end() ? &shape->second : value ? &value->shape() : nullptr;
    if (!given && !info.shapeKnown) {
      problem(info, "the model does not declare its shape; give it with the input shapes");
    } else if (given && info.shapeKnown && given->size() != info.shape.size()) {
      problem(info, "expected rank " + std::to_string(info.shape.size()) + " as declared, got shape " +
                        toString(*given));
    } else if (given) {
      entry.shape = *given;
      if (!info.shapeKnown)
        entry.info.dimNames.assign(given->size(), "");
      checkGiven(entry, *given);
    } else {
      entry.shape = info.shape;
    }
    entries.push_back(std::move(entry));
  }

  /// Fills named and leading dimensions and reports what is still missing. Shapes are in the order of
  /// addInput.
  std::vector<Shape> resolve() {
    for (Entry &entry : entries)
      fillNamed(entry);
    for (Entry &entry : entries)
      if (!entry.shape.empty() && entry.shape[0] < 0 && entry.shape.size() == entry.info.dimNames.size()) {
        fillNamed(entry);
        if (entry.shape[0] >= 0)
          continue;
        entry.shape[0] = 1;
        if (!entry.info.dimNames[0].empty())
          named.emplace(entry.info.dimNames[0], Named{1, entry.info.name});
        if (options.warn)
          options.warn("input " + quoted(entry.info.name) + ": " + dimLabel(entry.info, 0) + " taken as 1");
      }
    std::string missing;
    std::vector<Shape> shapes;
    for (Entry &entry : entries) {
      fillNamed(entry);
      for (size_t d = 0; d < entry.shape.size(); ++d)
        if (entry.shape[d] < 0)
          missing += (missing.empty() ? "" : ", ") + quoted(entry.info.name) + " " + dimLabel(entry.info, d);
      shapes.push_back(entry.shape);
    }
    if (!missing.empty())
      problems.push_back(
          {"", "input shapes are not complete: " + missing + "; give the shapes of these inputs"});
    return shapes;
  }

private:
  struct Entry {
    ValueInfo info;
    Shape shape;
  };
  struct Named {
    int64_t extent;
    std::string input;
  };

  void problem(const ValueInfo &info, const std::string &text) {
    problems.push_back({info.name, "input " + quoted(info.name) + ": " + text});
  }

  void checkGiven(Entry &entry, const Shape &given) {
    for (size_t d = 0; d < given.size(); ++d) {
      if (given[d] < 0)
        return problem(entry.info, "expected non-negative extents, got shape " + toString(given));
      int64_t declared = entry.info.shapeKnown ? entry.info.shape[d] : -1;
      if (declared >= 0 && declared != given[d] && options.warn)
        options.warn("input " + quoted(entry.info.name) + ": dimension " + std::to_string(d) +
                     " is declared as " + std::to_string(declared) + " and taken as " +
                     std::to_string(given[d]));
      const std::string &symbol = entry.info.dimNames[d];
      if (symbol.empty())
        continue;
      auto [at, isNew] = named.emplace(symbol, Named{given[d], entry.info.name});
      if (!isNew && at->second.extent != given[d])
        problem(entry.info, dimLabel(entry.info, d) + " expected " + std::to_string(at->second.extent) +
                                " as in input " + quoted(at->second.input) + ", got " +
                                std::to_string(given[d]));
    }
  }

  void fillNamed(Entry &entry) {
    for (size_t d = 0; d < entry.shape.size() && d < entry.info.dimNames.size(); ++d) {
      auto found = named.find(entry.info.dimNames[d]);
      if (entry.shape[d] < 0 && found != named.end())
        entry.shape[d] = found->second.extent;
    }
  }

  const ImportOptions &options;
  std::vector<SignatureProblem> &problems;
  std::vector<Entry> entries;
  std::map<std::string, Named> named;
};

/// Names in the options that the model doesn't have, and inputs declared twice.
void checkNames(const onnx::GraphProto &graph, const ImportOptions &options,
                std::vector<SignatureProblem> &problems) {
  llvm::StringSet<> names;
  std::string all;
  for (const auto &input : graph.input()) {
    if (input.name().empty())
      problems.push_back({"", "an input of the model has no name"});
    else if (!names.insert(input.name()).second)
      problems.push_back({input.name(), "input " + quoted(input.name()) + " is declared twice"});
    if (names.size() <= 20)
      all += (all.empty() ? "" : ", ") + quoted(input.name());
  }
  auto check = [&](const std::string &name, const char *what) {
    if (!names.contains(name))
      problems.push_back({name, std::string(what) + " given for " + quoted(name) +
                                    ", which is no input of the model; expected one of " + all});
  };
  for (auto &[name, shape] : options.shapes)
    check(name, "a shape is");
  for (auto &[name, value] : options.values)
    check(name, "a value is");
}

} // namespace

ModelSignature describeSignature(const onnx::ModelProto &model, const ModelIndex &index,
                                 const OpRegistry &registry) {
  ModelSignature signature;
  llvm::StringSet<> initialisers = initialiserNames(model.graph());
  for (const auto &input : model.graph().input())
    if (!initialisers.contains(input.name()))
      signature.inputs.push_back(describe(input));
  for (const auto &output : model.graph().output())
    signature.outputs.push_back(describe(output));
  auto specialised = findSpecialisedInputs(model, index, registry);
  for (const ValueInfo &input : signature.inputs)
    if (specialised.count(input.name))
      signature.specialisedInputs.push_back(input.name);
  signature.irVersion = model.ir_version();
  signature.nodeCount = model.graph().node_size();
  signature.opsets = index.opsets;
  signature.producer = model.producer_name();
  if (!model.producer_version().empty())
    signature.producer += " " + model.producer_version();
  return signature;
}

std::vector<ResolvedInput> resolveInputs(const onnx::ModelProto &model, const ModelIndex &index,
                                         const OpRegistry &registry, const ImportOptions &options,
                                         std::vector<SignatureProblem> &problems) {
  checkNames(model.graph(), options, problems);
  llvm::StringSet<> initialisers = initialiserNames(model.graph());
  auto specialised = findSpecialisedInputs(model, index, registry);
  std::vector<ResolvedInput> result;
  ShapeResolver shapes(options, problems);
  for (const auto &input : model.graph().input()) {
    auto problem = [&](const std::string &text) {
      problems.push_back({input.name(), "input " + quoted(input.name()) + ": " + text});
    };
    auto value = options.values.find(input.name());
    bool hasValue = value != options.values.end(), isDefault = initialisers.contains(input.name());
    if (isDefault && !hasValue && !options.shapes.count(input.name()))
      continue;
    if (!input.type().has_tensor_type()) {
      problem("expected a tensor, got type " + typeName(input.type()));
      continue;
    }
    auto dtype = dtypeFromOnnx(input.type().tensor_type().elem_type());
    if (!dtype) {
      problem(dtype.status().message());
      continue;
    }
    ValueInfo info = describe(input);
    if (info.shape.size() > kMaxRank) {
      problem("rank " + std::to_string(info.shape.size()) + " is not supported, at most " +
              std::to_string(kMaxRank));
      continue;
    }
    auto needed = specialised.find(input.name());
    if (needed != specialised.end() && !hasValue)
      problem("its value must be known when compiling, because it decides a shape or a choice in " +
              needed->second + "; give a value for it");
    if (hasValue && value->second.dtype() != *dtype)
      problem("expected a value of type " + std::string(name(*dtype)) + ", got " +
              std::string(name(value->second.dtype())));
    bool bake = hasValue && (isDefault || needed != specialised.end());
    auto given = options.shapes.find(input.name());
    if (bake && given != options.shapes.end() && given->second != value->second.shape())
      problem("its shape is given as " + toString(given->second) + ", but its value has shape " +
              toString(value->second.shape()));
    shapes.addInput(info, hasValue ? &value->second : nullptr);
    result.push_back({input.name(), *dtype, {}, bake ? &value->second : nullptr});
  }
  std::vector<Shape> resolved = shapes.resolve();
  for (size_t i = 0; i < result.size(); ++i) {
    result[i].shape = resolved[i];
    auto count = checkedProduct(resolved[i]);
    bool complete = llvm::all_of(resolved[i], [](int64_t d) { return d >= 0; });
    if (complete && (!count || !checkedMul(*count, 64)))
      problems.push_back({result[i].name, "input " + quoted(result[i].name) + ": shape " +
                                              toString(resolved[i]) + " is too large"});
  }
  return result;
}

} // namespace gpuc::frontend

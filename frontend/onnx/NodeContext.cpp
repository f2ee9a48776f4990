// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Inputs, attributes and results of one node; every failing accessor diagnoses. Building is in
// NodeBuilding.cpp.
#include "gpuc/Frontend/NodeContext.h"
#include "GraphImporter.h"
#include "Text.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Types.h"

using namespace mlir;
using onnx::AttributeProto;

namespace gpuc::frontend {
namespace {

std::string inputLabel(const onnx::NodeProto &node, unsigned i) {
  std::string label = "input " + std::to_string(i);
  if (int(i) < node.input_size() && !node.input(int(i)).empty())
    label += " (" + quoted(node.input(int(i))) + ")";
  return label;
}

/// The type of an attribute written before the discriminator existed, from the field in use.
AttributeProto::AttributeType typeOf(const AttributeProto &a) {
  if (a.type() != AttributeProto::UNDEFINED)
    return a.type();
  if (a.has_f())
    return AttributeProto::FLOAT;
  if (a.has_i())
    return AttributeProto::INT;
  if (a.has_s())
    return AttributeProto::STRING;
  if (a.has_t())
    return AttributeProto::TENSOR;
  if (a.has_g())
    return AttributeProto::GRAPH;
  if (a.floats_size())
    return AttributeProto::FLOATS;
  if (a.ints_size())
    return AttributeProto::INTS;
  if (a.strings_size())
    return AttributeProto::STRINGS;
  return AttributeProto::UNDEFINED;
}

std::string typeName(int type) {
  return AttributeProto::AttributeType_IsValid(type)
             ? AttributeProto::AttributeType_Name(AttributeProto::AttributeType(type))
             : "type " + std::to_string(type);
}

/// The field that holds a value of the type is there (single values; lists may be empty).
bool hasPayload(const AttributeProto &a, int type) {
  switch (type) {
  case AttributeProto::TENSOR:
    return a.has_t();
  case AttributeProto::SPARSE_TENSOR:
    return a.has_sparse_tensor();
  case AttributeProto::GRAPH:
    return a.has_g();
  default:
    return true; // a missing number or string is its default, 0 or ''
  }
}

} // namespace

NodeContext::NodeContext(GraphImporter &importer, const onnx::NodeProto &node, int since, Location loc)
    : graph(importer), node(node), sinceVersion(since), location(loc) {}

// --- identity ---------------------------------------------------------------------------------------------

int NodeContext::opset() const { return int(std::min<int64_t>(graph.opsetOf(node.domain()), INT_MAX)); }
llvm::StringRef NodeContext::opType() const { return node.op_type(); }
OpBuilder &NodeContext::builder() { return graph.getBuilder(); }

LogicalResult NodeContext::error(const llvm::Twine &message) {
  graph.report(node, sinceVersion, location, message.str());
  return failure();
}

// --- inputs -----------------------------------------------------------------------------------------------

unsigned NodeContext::numInputs() const { return unsigned(node.input_size()); }
unsigned NodeContext::numOutputs() const { return unsigned(node.output_size()); }
bool NodeContext::hasInput(unsigned i) const {
  return i < numInputs() && graph.isPresent(node.input(int(i)));
}
bool NodeContext::outputUsed(unsigned i) const { return i < numOutputs() && !node.output(int(i)).empty(); }

FailureOr<Value> NodeContext::input(unsigned i, bool allowStorageType) {
  if (!hasInput(i))
    return error("input " + llvm::Twine(i) + " is required");
  std::string why;
  Value value = graph.lookup(node.input(int(i)), why);
  if (!value)
    return error(why.empty() ? inputLabel(node, i) + " is not available" : why);
  if (!allowStorageType && !isComputeType(dtypeOf(value)))
    return error(inputLabel(node, i) + " has element type " + llvm::StringRef(name(dtypeOf(value))) +
                 ", which this operator does not take");
  return value;
}

FailureOr<Value> NodeContext::optionalInput(unsigned i) {
  if (!hasInput(i))
    return Value();
  return input(i);
}

FailureOr<ElementsAttr> NodeContext::constantInput(unsigned i) {
  FailureOr<Value> value = input(i, /*allowStorageType=*/true);
  if (failed(value))
    return failure();
  if (ElementsAttr constant = getConstant(*value))
    return constant;
  return error(inputLabel(node, i) +
               " must be known when compiling, but is computed from values that are not");
}

FailureOr<llvm::SmallVector<int64_t>> NodeContext::intsInput(unsigned i) {
  FailureOr<Value> value = input(i);
  if (failed(value))
    return failure();
  if (!isInt(dtypeOf(*value)) && dtypeOf(*value) != DType::Bool)
    return error(inputLabel(node, i) + " expected integers, got " + llvm::StringRef(name(dtypeOf(*value))));
  if (failed(constantInput(i)))
    return failure();
  auto ints = getInts(*value);
  if (!ints)
    return error(inputLabel(node, i) + " could not be read as integers");
  return llvm::SmallVector<int64_t>(ints->begin(), ints->end());
}

FailureOr<std::optional<llvm::SmallVector<int64_t>>> NodeContext::optionalIntsInput(unsigned i) {
  if (!hasInput(i))
    return std::optional<llvm::SmallVector<int64_t>>();
  FailureOr<llvm::SmallVector<int64_t>> ints = intsInput(i);
  if (failed(ints))
    return failure();
  return std::optional<llvm::SmallVector<int64_t>>(std::move(*ints));
}

FailureOr<llvm::SmallVector<double>> NodeContext::floatsInput(unsigned i) {
  FailureOr<ElementsAttr> constant = constantInput(i);
  if (failed(constant))
    return failure();
  HostTensor tensor = toHostTensor(*constant);
  llvm::SmallVector<double> values;
  values.reserve(size_t(tensor.size()));
  for (int64_t k = 0; k < tensor.size(); ++k) {
    switch (tensor.dtype()) {
    case DType::F16:
      values.push_back(halfToFloat(tensor.data<uint16_t>()[k]));
      break;
    case DType::BF16:
      values.push_back(bfloatToFloat(tensor.data<uint16_t>()[k]));
      break;
    case DType::F32:
      values.push_back(tensor.data<float>()[k]);
      break;
    case DType::F64:
      values.push_back(tensor.data<double>()[k]);
      break;
    default:
      return error(inputLabel(node, i) + " expected floating-point numbers, got " +
                   llvm::StringRef(name(tensor.dtype())));
    }
  }
  return values;
}

FailureOr<std::optional<llvm::SmallVector<double>>> NodeContext::optionalFloatsInput(unsigned i) {
  if (!hasInput(i))
    return std::optional<llvm::SmallVector<double>>();
  FailureOr<llvm::SmallVector<double>> values = floatsInput(i);
  if (failed(values))
    return failure();
  return std::optional<llvm::SmallVector<double>>(std::move(*values));
}

// --- attributes -------------------------------------------------------------------------------------------

const AttributeProto *NodeContext::findAttr(llvm::StringRef name) const {
  for (const AttributeProto &a : node.attribute())
    if (name == llvm::StringRef(a.name()))
      return &a;
  return nullptr;
}

bool NodeContext::hasAttr(llvm::StringRef name) const { return findAttr(name) != nullptr; }

FailureOr<const AttributeProto *> NodeContext::attr(llvm::StringRef name, int type, bool required) {
  const AttributeProto *a = findAttr(name);
  if (!a) {
    if (required)
      return error("attribute '" + name + "' is required");
    return static_cast<const AttributeProto *>(nullptr);
  }
  int got = typeOf(*a);
  bool isList =
      type == AttributeProto::INTS || type == AttributeProto::FLOATS || type == AttributeProto::STRINGS;
  if (got != type && !(got == AttributeProto::UNDEFINED && isList))
    return error("attribute '" + name + "' expected type " + typeName(type) + ", got " + typeName(got));
  if (!hasPayload(*a, type))
    return error("attribute '" + name + "' has no value");
  return a;
}

FailureOr<int64_t> NodeContext::intAttr(llvm::StringRef name, std::optional<int64_t> dflt) {
  auto a = attr(name, AttributeProto::INT, !dflt);
  if (failed(a))
    return failure();
  return *a ? int64_t((*a)->i()) : *dflt;
}

FailureOr<double> NodeContext::floatAttr(llvm::StringRef name, std::optional<double> dflt) {
  auto a = attr(name, AttributeProto::FLOAT, !dflt);
  if (failed(a))
    return failure();
  return *a ? double((*a)->f()) : *dflt;
}

FailureOr<std::string> NodeContext::stringAttr(llvm::StringRef name, std::optional<llvm::StringRef> dflt) {
  auto a = attr(name, AttributeProto::STRING, !dflt);
  if (failed(a))
    return failure();
  return *a ? (*a)->s() : dflt->str();
}

FailureOr<llvm::SmallVector<int64_t>> NodeContext::intsAttr(llvm::StringRef name,
                                                            std::optional<llvm::ArrayRef<int64_t>> dflt) {
  auto a = attr(name, AttributeProto::INTS, !dflt);
  if (failed(a))
    return failure();
  if (!*a)
    return llvm::SmallVector<int64_t>(*dflt);
  return llvm::SmallVector<int64_t>((*a)->ints().begin(), (*a)->ints().end());
}

FailureOr<llvm::SmallVector<double>> NodeContext::floatsAttr(llvm::StringRef name,
                                                             std::optional<llvm::ArrayRef<double>> dflt) {
  auto a = attr(name, AttributeProto::FLOATS, !dflt);
  if (failed(a))
    return failure();
  if (!*a)
    return llvm::SmallVector<double>(*dflt);
  return llvm::SmallVector<double>((*a)->floats().begin(), (*a)->floats().end());
}

FailureOr<std::string> NodeContext::choiceAttr(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> allowed,
                                               llvm::StringRef dflt) {
  FailureOr<std::string> value = stringAttr(name, dflt);
  if (failed(value) || llvm::is_contained(allowed, llvm::StringRef(*value)))
    return value;
  std::string list;
  for (llvm::StringRef choice : allowed)
    list += (list.empty() ? "'" : ", '") + choice.str() + "'";
  return error("attribute '" + name + "' expected one of " + list + ", got " + quoted(*value));
}

FailureOr<int64_t> NodeContext::normalizeAxis(int64_t axis, int64_t rank, llvm::StringRef what) {
  if (axis >= -rank && axis < rank)
    return axis < 0 ? axis + rank : axis;
  return error(what + " expected an axis in [" + llvm::Twine(-rank) + ", " + llvm::Twine(rank - 1) +
               "], got " + llvm::Twine(axis));
}

FailureOr<ElementsAttr> NodeContext::tensorAttr(llvm::StringRef name) {
  const AttributeProto *found = findAttr(name);
  bool sparse = found && typeOf(*found) == AttributeProto::SPARSE_TENSOR;
  auto a = attr(name, sparse ? AttributeProto::SPARSE_TENSOR : AttributeProto::TENSOR, /*required=*/true);
  if (failed(a))
    return failure();
  llvm::StringRef blob = numOutputs() ? llvm::StringRef(node.output(0)) : name;
  auto value =
      sparse ? graph.tensors().decode((*a)->sparse_tensor(), blob) : graph.tensors().decode((*a)->t(), blob);
  if (!value)
    return error("attribute '" + name + "': tensor " + value.status().message());
  return *value;
}

FailureOr<Type> NodeContext::elementTypeAttr(llvm::StringRef name, std::optional<int64_t> dflt) {
  FailureOr<int64_t> number = intAttr(name, dflt);
  if (failed(number))
    return failure();
  auto dtype = dtypeFromOnnx(*number);
  if (!dtype)
    return error("attribute '" + name + "': " + dtype.status().message());
  return toMlirType(*dtype, builder().getContext());
}

FailureOr<llvm::SmallVector<Value>> NodeContext::importSubgraph(llvm::StringRef name,
                                                                llvm::ArrayRef<Value> arguments) {
  auto a = attr(name, AttributeProto::GRAPH, /*required=*/true);
  if (failed(a))
    return failure();
  return graph.importSubgraph((*a)->g(), arguments);
}

// --- results ----------------------------------------------------------------------------------------------

LogicalResult NodeContext::setOutput(unsigned i, Value value) { return graph.setResult(i, value); }

} // namespace gpuc::frontend

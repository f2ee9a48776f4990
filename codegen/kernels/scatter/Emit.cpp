// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selects and writes the units of scatter_nd and scatter_elements: a copy of data, then the updates.
#include "Families.h"
#include "emit/RootUnit.h"

using namespace mlir;

namespace gpuc {
namespace {

struct Scatter {
  Value data, indices, updates, result;
  ScatterReduction reduction = ScatterReduction::None;
  int64_t axis = -1; ///< scatter_elements
};

FailureOr<Scatter> analyzeScatter(KernelOp kernel) {
  Scatter s;
  auto read = [&](auto op) {
    s.data = op.getData();
    s.indices = op.getIndices();
    s.updates = op.getUpdates();
    s.result = op.getY();
    s.reduction = op.getReduction();
  };
  if (auto op = dyn_cast_or_null<ScatterNdOp>(kernel.getRoot())) {
    read(op);
  } else if (auto op = dyn_cast_or_null<ScatterElementsOp>(kernel.getRoot())) {
    read(op);
    s.axis = op.getAxis();
  } else {
    return kernel.emitError("a scatter kernel needs scatter_nd or scatter_elements as its root");
  }
  auto yields = kernel.getYield()->getOperands();
  if (yields.size() != 1 || yields[0] != s.result)
    return kernel.emitError("a scatter kernel yields the scatter's result");
  return s;
}

/// Axes that all vectors of a copy see as one, with the fastest axis of the result last.
SmallVector<unsigned> copyOrder(KernelOp kernel, Value result) {
  SmallVector<unsigned> order;
  for (unsigned d = 0; d < shapeOf(result).size(); ++d)
    order.push_back(d);
  auto strides = kernel.getStorageStrides(0);
  auto shape = shapeOf(result);
  llvm::sort(order, [&](unsigned a, unsigned b) {
    bool realA = shape[a] > 1, realB = shape[b] > 1;
    if (realA != realB)
      return realB;
    return strides[a] != strides[b] ? strides[a] > strides[b] : a < b;
  });
  return order;
}

FunctorShape flatShape(Value value, StringRef name, StringRef index) {
  FunctorShape shape;
  shape.name = name.str();
  SmallVector<unsigned> all;
  for (unsigned d = 0; d < shapeOf(value).size(); ++d)
    all.push_back(d);
  shape.groups = {all};
  shape.indexType = index.str();
  return shape;
}

FailureOr<EmittedKernel> emitCopy(KernelOp kernel, const Scatter &s) {
  unsigned lanes = unsigned(configInt(kernel, "lanes", 1));
  int64_t threads = configInt(kernel, "threads", 256), items = tensorType(s.data).getNumElements() / lanes;
  FunctorShape shape;
  shape.groups = {copyOrder(kernel, s.result)};
  shape.lanes = lanes;
  shape.indexType = indexTypeFor(kernel);
  shape.name = "Prologue";
  auto prologue = emitPrologue(kernel, s.data, shape);
  shape.name = "Epilogue";
  auto epilogue = emitEpilogue(kernel, {s.result}, shape);
  if (failed(prologue) || failed(epilogue))
    return failure();
  RootUnit unit(kernel, "scatter", "copy", "scatter/scatter.cuh");
  unit.define(llvm::formatv(
      "struct Config {{\n  using Acc = {0};\n  using Index = {1};\n  static constexpr i64 kItems = {2};\n"
      "  static constexpr int kLanes = {3};\n};\n",
      computeTypeName(elementTypeOf(s.data)), shape.indexType, items, lanes));
  unit.add(*prologue);
  unit.add(*epilogue);
  return unit.finish(llvm::formatv("copyItem<Config>({0}, {1}, i64(blockIdx.x) * {2} + threadIdx.x);\n",
                                   prologue->construct, epilogue->construct, threads),
                     ceilDiv(items, threads), threads, 0);
}

/// Statements that turn `item` (an element of updates) into `offset` (in the result), or return.
std::string locateText(KernelOp kernel, const Scatter &s) {
  auto data = shapeOf(s.data), updates = shapeOf(s.updates), indices = shapeOf(s.indices);
  auto strides = kernel.getStorageStrides(0);
  std::string index = storageTypeName(elementTypeOf(s.indices));
  std::string text = "i64 offset = 0, at;\n" + index + " index[1];\n";
  auto digit = [&](ArrayRef<int64_t> shape, size_t d) {
    int64_t inner = 1;
    for (size_t i = d + 1; i < shape.size(); ++i)
      inner *= shape[i];
    return llvm::formatv("item / {0} % {1}", inner, shape[d]).str();
  };
  auto lookUp = [&](const std::string &position, size_t axis) {
    text += llvm::formatv("indices.load(index, Index({0}));\nif (!resolveIndex(index[0], {1}, at))\n  "
                          "return;\noffset += at * {2};\n",
                          position, data[axis], strides[axis])
                .str();
  };
  if (s.axis >= 0) {
    lookUp("item", size_t(s.axis));
    for (size_t d = 0; d < data.size(); ++d)
      if (int64_t(d) != s.axis && updates[d] > 1)
        text += llvm::formatv("offset += {0} * {1};\n", digit(updates, d), strides[d]).str();
    return text;
  }
  int64_t depth = indices.back(), run = 1;
  for (size_t d = size_t(depth); d < data.size(); ++d)
    run *= data[d];
  for (int64_t j = 0; j < depth; ++j)
    lookUp(llvm::formatv("item / {0} * {1} + {2}", run, depth, j).str(), size_t(j));
  size_t lead = indices.size() - 1;
  for (size_t d = size_t(depth); d < data.size(); ++d)
    if (data[d] > 1)
      text +=
          llvm::formatv("offset += {0} * {1};\n", digit(updates, lead + d - size_t(depth)), strides[d]).str();
  return depth == 0 ? text + "(void)index, (void)at;\n" : text;
}

std::string operationName(const Scatter &s) {
  bool isBool = elementTypeOf(s.data).isInteger(1); // sums of bools are "any", products "all"
  switch (s.reduction) {
  case ScatterReduction::None:
    return "None";
  case ScatterReduction::Add:
    return isBool ? "Max" : "Add";
  case ScatterReduction::Mul:
    return isBool ? "Min" : "Mul";
  case ScatterReduction::Min:
    return "Min";
  case ScatterReduction::Max:
    return "Max";
  }
  return "None";
}

FailureOr<EmittedKernel> emitUpdates(KernelOp kernel, const Scatter &s) {
  int64_t threads = configInt(kernel, "threads", 256), items = tensorType(s.updates).getNumElements();
  std::string index = indexTypeFor(kernel);
  auto indices = emitPrologue(kernel, s.indices, flatShape(s.indices, "Indices", index));
  auto updates = emitPrologue(kernel, s.updates, flatShape(s.updates, "Updates", index));
  if (failed(indices) || failed(updates))
    return failure();
  RootUnit unit(kernel, "scatter", "updates", "scatter/scatter.cuh");
  unit.define("using Index = " + index + ";\n");
  unit.add(*indices);
  unit.add(*updates);
  Type type = elementTypeOf(s.data);
  unit.add(storageTypeName(type) + " *out", EmittedArg::Kind::Result, 0);
  std::string body =
      llvm::formatv("i64 item = i64(blockIdx.x) * {0} + threadIdx.x;\nif (item >= {1})\n  return;\n"
                    "Indices indices = {2};\nUpdates updates = {3};\n{4}{5} update[1];\n"
                    "updates.load(update, Index(item));\n"
                    "scatterTo<ScatterOp::{6}>(out + offset, cast<Acc<{7}>>(update[0]));\n",
                    threads, items, indices->construct, updates->construct, locateText(kernel, s),
                    computeTypeName(type), operationName(s), storageTypeName(type));
  return unit.finish(body, ceilDiv(items, threads), threads, 0);
}

class ScatterFamily final : public KernelFamily {
public:
  StringRef name() const override { return "scatter"; }

  LogicalResult select(KernelOp kernel, const Target &) const override {
    auto s = analyzeScatter(kernel);
    if (failed(s))
      return failure();
    unsigned lanes = 1;
    auto order = copyOrder(kernel, s->result);
    if (!order.empty() && tensorType(s->data).getNumElements() > 0)
      lanes = std::min(maxLanes(kernel, s->data, order.back()), maxLanes(kernel, s->result, order.back()));
    setConfig(kernel, "atomic", {{"lanes", lanes}, {"threads", 256}});
    return success();
  }

  FailureOr<std::vector<EmittedKernel>> emit(KernelOp kernel, const Target &) const override {
    auto s = analyzeScatter(kernel);
    if (failed(s))
      return failure();
    std::vector<EmittedKernel> result;
    if (tensorType(s->data).getNumElements() == 0)
      return result;
    auto copy = emitCopy(kernel, *s);
    if (failed(copy))
      return failure();
    result.push_back(std::move(*copy));
    if (tensorType(s->updates).getNumElements() == 0)
      return result;
    auto updates = emitUpdates(kernel, *s);
    if (failed(updates))
      return failure();
    result.push_back(std::move(*updates));
    return result;
  }
};

} // namespace

const KernelFamily &scatterFamily() {
  static const ScatterFamily family;
  return family;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the units of pooling.
#include "Families.h"
#include "Pooling.h"

using namespace mlir;

namespace gpuc {
namespace pooling {
namespace {

/// "GPUC_DEVICE static constexpr Index NAME(int d) …": one number per spatial axis.
std::string perAxis(StringRef name, ArrayRef<int64_t> numbers) {
  std::string value;
  for (size_t d = 0; d + 1 < numbers.size(); ++d)
    value += llvm::formatv("d == {0} ? {1} : ", d, numbers[d]).str();
  return llvm::formatv("  GPUC_DEVICE static constexpr Index {0}(int {1}) {{ return {2}{3}; }\n", name,
                       numbers.size() > 1 ? "d" : "", value, numbers.back());
}

std::string configText(const Problem &p, unsigned lanes, StringRef index, int64_t items) {
  auto shape = shapeOf(p.x);
  std::string s = llvm::formatv(
      "struct Config {{\n  using Acc = {0};\n  using Index = {1};\n"
      "  static constexpr int kRank = {2}, kLanes = {3}, kLoadLanes = {4};\n"
      "  static constexpr bool kChannelLanes = {5};\n  static constexpr i64 kItems = {6}, kChannels = {7};\n",
      computeTypeName(elementTypeOf(p.x)), index, p.spatialRank(), lanes, p.channelsFastest ? lanes : 1,
      boolText(p.channelsFastest), items, shape[1]);
  return s + perAxis("extent", shape.drop_front(2)) + perAxis("kernel", p.kernel) +
         perAxis("stride", p.strides) + perAxis("low", p.low) + perAxis("high", p.high) +
         perAxis("dilation", p.dilations) + "};\n";
}

/// Statements that take `item` apart, and what they declare.
std::string coordsText(const Problem &p, unsigned lanes) {
  auto shape = shapeOf(p.y);
  SmallVector<std::pair<std::string, int64_t>> digits; // slowest first
  digits.push_back({"n", shape[0]});
  auto channel = std::pair<std::string, int64_t>("c", p.channelsFastest ? shape[1] / lanes : shape[1]);
  if (!p.channelsFastest)
    digits.push_back(channel);
  for (unsigned d = 2; d < shape.size(); ++d) {
    bool hasLanes = !p.channelsFastest && d + 1 == shape.size();
    digits.push_back({"at[" + std::to_string(d - 2) + "]", hasLanes ? shape[d] / lanes : shape[d]});
  }
  if (p.channelsFastest)
    digits.push_back(channel);
  std::string s, laneDigit = p.channelsFastest ? "c" : "at[" + std::to_string(shape.size() - 3) + "]";
  for (size_t i = digits.size(); i-- > 0;) {
    std::string times = digits[i].first == laneDigit && lanes > 1 ? " * " + std::to_string(lanes) : "";
    if (i > 0)
      s += llvm::formatv("    {0} = item % {1}{2};\n    item /= {1};\n", digits[i].first, digits[i].second,
                         times)
               .str();
    else
      s += "    " + digits[i].first + " = item" + times + ";\n";
  }
  return s;
}

std::string unitStruct(const Problem &p, unsigned lanes) {
  std::string at;
  for (unsigned d = 0; d < p.spatialRank(); ++d)
    at += ", at[" + std::to_string(d) + "]";
  std::string acc = computeTypeName(elementTypeOf(p.x)),
              array = "const Index (&at)[" + std::to_string(p.spatialRank()) + "]";
  std::string positions = p.indices ? llvm::formatv(", const i64 (&positions)[{0}]", lanes).str() : "";
  return llvm::formatv(
      "struct Unit {{\n  Prologue prologue;\n  Epilogue epilogue;\n"
      "  GPUC_DEVICE void coordsOf(Index item, Index &n, Index &c, Index (&at)[{0}]) const {{\n{1}  }\n"
      "  GPUC_DEVICE void load({2} (&x)[{3}], Index n, Index c, {4}) const {{\n    prologue.load(x, n, "
      "c{5});\n  }\n"
      "  GPUC_DEVICE void store(const {2} (&y)[{6}]{7}, Index n, Index c, {4}) const {{\n"
      "    epilogue.store(y{8}, n, c{5});\n  }\n};\n",
      p.spatialRank(), coordsText(p, lanes), acc, p.channelsFastest ? lanes : 1, array, at, lanes, positions,
      p.indices ? ", positions" : "");
}

class PoolingFamily final : public KernelFamily {
public:
  StringRef name() const override { return "pooling"; }
  LogicalResult select(KernelOp kernel, const Target &target) const override {
    return pooling::select(kernel, target);
  }
  FailureOr<std::vector<EmittedKernel>> emit(KernelOp kernel, const Target &) const override {
    auto p = analyze(kernel);
    if (failed(p))
      return failure();
    int64_t results = tensorType(p->y).getNumElements();
    if (results == 0)
      return std::vector<EmittedKernel>();
    unsigned lanes = unsigned(configInt(kernel, "lanes", 1));
    int64_t threads = configInt(kernel, "threads", 128);
    FunctorShape shape;
    for (unsigned d = 0; d < shapeOf(p->x).size(); ++d)
      shape.groups.push_back({d});
    shape.laneGroup = p->channelsFastest ? 1 : unsigned(shape.groups.size()) - 1;
    shape.indexType = windowIndexType(kernel, *p);
    shape.name = "Prologue";
    shape.lanes = p->channelsFastest ? lanes : 1;
    auto prologue = emitPrologue(kernel, p->x, shape);
    shape.name = "Epilogue";
    shape.lanes = lanes;
    SmallVector<Value> roots{p->y};
    if (p->indices)
      roots.push_back(p->indices);
    auto epilogue = emitEpilogue(kernel, roots, shape);
    if (failed(prologue) || failed(epilogue))
      return failure();
    RootUnit unit(kernel, name(), configString(kernel, "variant"), "pooling/pooling.cuh");
    unit.define("using Index = " + shape.indexType + ";\n");
    unit.define(configText(*p, lanes, shape.indexType, results / lanes));
    unit.add(*prologue);
    unit.add(*epilogue);
    unit.define(unitStruct(*p, lanes));
    std::string op = p->isMax ? llvm::formatv("MaxPoolOp<Config, {0}, {1}>", boolText(bool(p->indices)),
                                              boolText(p->columnMajor))
                                    .str()
                              : llvm::formatv("AvgPoolOp<Config, {0}>", boolText(p->countPadding)).str();
    std::string body =
        llvm::formatv("poolItem<Config, {0}, {1}>(Unit{{{2}, {3}}, i64(blockIdx.x) * {4} + threadIdx.x);\n",
                      op, boolText(bool(p->indices)), prologue->construct, epilogue->construct, threads);
    std::vector<EmittedKernel> emitted;
    emitted.push_back(unit.finish(body, ceilDiv(results / lanes, threads), threads, 0));
    return emitted;
  }

private:
  /// i32 unless buffers or the windows' positions are too large for it.
  static std::string windowIndexType(KernelOp kernel, const Problem &p) {
    int64_t farthest = 0;
    auto x = shapeOf(p.x), y = shapeOf(p.y);
    for (unsigned d = 0; d < p.spatialRank(); ++d)
      farthest = std::max({farthest, y[d + 2] * p.strides[d] + p.kernel[d] * p.dilations[d] + p.low[d],
                           x[d + 2] + p.high[d] + p.dilations[d] + p.low[d] + p.strides[d]});
    return farthest >= (int64_t(1) << 30) ? "i64" : indexTypeFor(kernel);
  }
};

} // namespace
} // namespace pooling

const KernelFamily &poolingFamily() {
  static const pooling::PoolingFamily family;
  return family;
}

} // namespace gpuc

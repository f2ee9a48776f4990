// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selects and writes the units of running sums.
#include "Families.h"
#include "emit/RootUnit.h"

using namespace mlir;

namespace gpuc {
namespace {

struct Scan {
  CumSumOp op;
  SmallVector<unsigned> outer, inner, others; ///< inner: the axes that are faster than the scanned one
  int64_t columnLanes = 1, rowLanes = 1;
};

FailureOr<Scan> analyzeScan(KernelOp kernel) {
  Scan s;
  s.op = dyn_cast_or_null<CumSumOp>(kernel.getRoot());
  if (!s.op)
    return kernel.emitError("a scan kernel needs cumsum as its root");
  auto shape = shapeOf(s.op.getX());
  auto strides = likelyStrides(kernel, s.op.getX());
  unsigned axis = unsigned(s.op.getAxis());
  for (unsigned d = 0; d < shape.size(); ++d)
    if (d != axis) {
      s.others.push_back(d);
      (shape[d] > 1 && strides[d] != 0 && strides[d] < strides[axis] ? s.inner : s.outer).push_back(d);
    }
  llvm::sort(s.inner, [&](unsigned a, unsigned b) {
    return strides[a] != strides[b] ? strides[a] > strides[b] : a < b;
  });
  if (tensorType(s.op.getX()).getNumElements() == 0)
    return s;
  auto lanes = [&](unsigned d) {
    return int64_t(std::min(maxLanes(kernel, s.op.getX(), d), maxLanes(kernel, s.op.getY(), d)));
  };
  s.rowLanes = lanes(axis);
  s.columnLanes = s.inner.empty() ? 1 : lanes(s.inner.back());
  return s;
}

class ScanFamily final : public KernelFamily {
public:
  StringRef name() const override { return "scan"; }

  LogicalResult select(KernelOp kernel, const Target &target) const override {
    auto s = analyzeScan(kernel);
    if (failed(s))
      return failure();
    auto shape = shapeOf(s->op.getX());
    int64_t columns = extentOf(shape, s->others), length = shape[s->op.getAxis()];
    // Columns walk alone: they must be many, or short.
    if (!s->inner.empty() && (columns >= int64_t(target.numSMs) * 32 || length <= 64)) {
      int64_t lanes = s->columnLanes;
      while (lanes > 1 && columns / lanes < int64_t(target.numSMs) * 128)
        lanes /= 2;
      setConfig(kernel, "columns", {{"lanes", lanes}, {"threads", 128}});
    } else {
      int64_t threads = std::clamp<int64_t>(powerOfTwoAbove(ceilDiv(length, s->rowLanes)), 32, 512);
      setConfig(kernel, "rows", {{"lanes", s->rowLanes}, {"threads", threads}});
    }
    return success();
  }

  FailureOr<std::vector<EmittedKernel>> emit(KernelOp kernel, const Target &) const override {
    auto s = analyzeScan(kernel);
    if (failed(s))
      return failure();
    std::vector<EmittedKernel> result;
    if (tensorType(s->op.getX()).getNumElements() == 0)
      return result;
    auto shape = shapeOf(s->op.getX());
    unsigned axis = unsigned(s->op.getAxis());
    bool columns = configString(kernel, "variant") == "columns";
    int64_t lanes = configInt(kernel, "lanes", 1), threads = configInt(kernel, "threads", 128);
    FunctorShape functor;
    functor.indexType = indexTypeFor(kernel);
    functor.lanes = unsigned(lanes);
    if (columns)
      functor.groups = {s->outer, {axis}, s->inner};
    else
      functor.groups = {s->others, {axis}};
    functor.laneGroup = unsigned(functor.groups.size()) - 1;
    functor.name = "Prologue";
    auto prologue = emitPrologue(kernel, s->op.getX(), functor);
    functor.name = "Epilogue";
    auto epilogue = emitEpilogue(kernel, {s->op.getY()}, functor);
    if (failed(prologue) || failed(epilogue))
      return failure();
    RootUnit unit(kernel, name(), configString(kernel, "variant"), "scan/scan.cuh");
    Type type = elementTypeOf(s->op.getX());
    int64_t outer = extentOf(shape, s->outer), inner = extentOf(shape, s->inner),
            rows = extentOf(shape, s->others);
    unit.define(llvm::formatv("struct Config {{\n  using Acc = {0};\n  using Index = {1};\n"
                              "  static constexpr bool kExclusive = {2}, kReverse = {3};\n"
                              "  static constexpr int kLanes = {4}, kThreads = {5};\n",
                              computeTypeName(type), functor.indexType, boolText(s->op.getExclusive()),
                              boolText(s->op.getReverse()), lanes, threads));
    unit.define(columns
                    ? llvm::formatv("  static constexpr i64 kOuter = {0}, kAxis = {1}, kInner = {2};\n};\n",
                                    outer, shape[axis], inner)
                          .str()
                    : llvm::formatv("  static constexpr i64 kCols = {0};\n};\n", shape[axis]).str());
    unit.add(*prologue);
    unit.add(*epilogue);
    int64_t bytes = std::max<int64_t>(4, type.getIntOrFloatBitWidth() / 8);
    if (columns)
      result.push_back(
          unit.finish(llvm::formatv("scanColumns<Config>({0}, {1}, i64(blockIdx.x) * {2} + threadIdx.x);\n",
                                    prologue->construct, epilogue->construct, threads),
                      ceilDiv(outer * inner / lanes, threads), threads, 0));
    else
      result.push_back(unit.finish(
          llvm::formatv(
              "GPUC_SMEM(ScanShared<Config>, shared);\nscanRow<Config>(shared, {0}, {1}, {2}(blockIdx.x));\n",
              prologue->construct, epilogue->construct, functor.indexType),
          rows, threads, threads / 32 * bytes));
    return result;
  }
};

} // namespace

const KernelFamily &scanFamily() {
  static const ScanFamily family;
  return family;
}

} // namespace gpuc

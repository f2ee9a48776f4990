// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selects and writes the units of top-k: one launch for rows that fit a block's shared memory, else sorted
// runs and merges.
#include "Families.h"
#include "emit/RootUnit.h"

using namespace mlir;

namespace gpuc {
namespace {

/// Most items of a block that sorts a whole row, and of one that sorts a run.
constexpr int64_t kMaxRowBytes = 64 * 1024, kRunBytes = 32 * 1024;

struct TopK {
  TopKOp op;
  int64_t rows = 1, cols = 1, k = 0, itemBytes = 8;
  SmallVector<unsigned> others;
};

FailureOr<TopK> analyzeTopK(KernelOp kernel) {
  TopK t;
  t.op = dyn_cast_or_null<TopKOp>(kernel.getRoot());
  if (!t.op)
    return kernel.emitError("a sort kernel needs topk as its root");
  auto shape = shapeOf(t.op.getX());
  for (unsigned d = 0; d < shape.size(); ++d)
    if (d != t.op.getAxis()) {
      t.others.push_back(d);
      t.rows *= shape[d];
    }
  t.cols = shape[t.op.getAxis()];
  t.k = t.op.getK();
  t.itemBytes = elementTypeOf(t.op.getX()).getIntOrFloatBitWidth() == 64 ? 16 : 8;
  if (t.cols >= (int64_t(1) << 31))
    return kernel.emitError("topk takes axes below 2^31, got ") << t.cols;
  return t;
}

class SortFamily final : public KernelFamily {
public:
  StringRef name() const override { return "sort"; }

  LogicalResult select(KernelOp kernel, const Target &) const override {
    auto t = analyzeTopK(kernel);
    if (failed(t))
      return failure();
    int64_t chunk = std::max<int64_t>(2, powerOfTwoAbove(t->cols));
    bool oneBlock = chunk * t->itemBytes <= kMaxRowBytes;
    if (!oneBlock)
      chunk = kRunBytes / t->itemBytes;
    int64_t threads = std::clamp<int64_t>(chunk / 2, 32, oneBlock && chunk > 2048 ? 1024 : 512);
    setConfig(kernel, oneBlock ? "row" : "runs", {{"chunk", chunk}, {"threads", threads}});
    return success();
  }

  FailureOr<std::vector<EmittedKernel>> emit(KernelOp kernel, const Target &) const override {
    auto t = analyzeTopK(kernel);
    if (failed(t))
      return failure();
    std::vector<EmittedKernel> result;
    if (t->rows * t->k == 0)
      return result;
    if (configString(kernel, "variant") == "row") {
      auto unit = begin(kernel, *t, true);
      if (failed(unit))
        return failure();
      result.push_back(unit->unit.finish("GPUC_SMEM(SortShared<Config>, shared);\nsortRow<Config>(shared, " +
                                             unit->source + ", " + unit->sink + ", Index(blockIdx.x));\n",
                                         t->rows, configInt(kernel, "threads"),
                                         configInt(kernel, "chunk") * t->itemBytes));
      return result;
    }
    return emitRuns(kernel, *t);
  }

private:
  struct Begun {
    RootUnit unit;
    std::string source, sink;
  };
  static FailureOr<Begun> begin(KernelOp kernel, TopK t, bool stores) {
    FunctorShape shape;
    shape.groups = {t.others, {unsigned(t.op.getAxis())}};
    shape.laneGroup = 1;
    shape.indexType = indexTypeFor(kernel);
    shape.name = "Prologue";
    auto prologue = emitPrologue(kernel, t.op.getX(), shape);
    shape.name = "Epilogue";
    auto epilogue = emitEpilogue(kernel, {t.op.getValues(), t.op.getIndices()}, shape);
    if (failed(prologue) || failed(epilogue))
      return failure();
    Begun b{RootUnit(kernel, "sort", configString(kernel, "variant"), "sort/sort.cuh"), prologue->construct,
            epilogue->construct};
    b.unit.define(
        llvm::formatv("using Index = {0};\nstruct Config {{\n  using Value = {1};\n  using Index = {0};\n"
                      "  static constexpr i64 kRows = {2}, kCols = {3}, kK = {4};\n  static constexpr bool "
                      "kLargest = {5};\n"
                      "  static constexpr int kChunk = {6}, kThreads = {7};\n};\n",
                      shape.indexType, computeTypeName(elementTypeOf(t.op.getX())), t.rows, t.cols, t.k,
                      boolText(t.op.getLargest()), configInt(kernel, "chunk"), configInt(kernel, "threads")));
    b.unit.add(*prologue);
    if (stores)
      b.unit.add(*epilogue);
    return b;
  }

  static FailureOr<std::vector<EmittedKernel>> emitRuns(KernelOp kernel, TopK t) {
    constexpr int64_t kMergeThreads = 256;
    std::vector<EmittedKernel> result;
    int64_t chunk = configInt(kernel, "chunk"), runs = ceilDiv(t.cols, chunk), run = std::min(chunk, t.k);
    // Two buffers, used in turn.
    int64_t half = t.rows * runs * run;
    for (int64_t r = runs, length = run; r > 1;) {
      r = (r + 1) / 2;
      length = std::min(2 * length, t.k);
      half = std::max(half, t.rows * r * length);
    }
    int64_t bytes = 2 * half * t.itemBytes;
    std::string item = "SortItem<Config::Value>", parameter = item + " *scratch";
    auto first = begin(kernel, t, false);
    if (failed(first))
      return failure();
    first->unit.add(parameter, EmittedArg::Kind::Scratch, 0, bytes);
    result.push_back(first->unit.finish("GPUC_SMEM(SortShared<Config>, shared);\nsortRun<Config>(shared, " +
                                            first->source + ", scratch, i64(blockIdx.x));\n",
                                        t.rows * runs, configInt(kernel, "threads"), chunk * t.itemBytes));
    for (int step = 0; runs > 1; ++step) {
      int64_t out = std::min(2 * run, t.k);
      bool last = (runs + 1) / 2 == 1;
      auto merge = begin(kernel, t, last);
      if (failed(merge))
        return failure();
      merge->unit.add(parameter, EmittedArg::Kind::Scratch, 0, bytes);
      std::string from = "scratch", to = llvm::formatv("scratch + {0}", half);
      if (step % 2)
        std::swap(from, to);
      merge->unit.define(last ? ""
                              : "struct NoSink {\n  template <typename V> GPUC_DEVICE void store(const V &, "
                                "const i64 (&)[1], Index, Index) const {}\n};\n");
      std::string body = llvm::formatv(
          "mergeRuns<Config, {0}, {1}, {2}, {3}>({4}, {5}, {6}, {7}, i64(blockIdx.x) * {8} + threadIdx.x);\n",
          runs, run, out, boolText(last), from, to, merge->source, last ? merge->sink : "NoSink{}",
          kMergeThreads);
      result.push_back(
          merge->unit.finish(body, ceilDiv(t.rows * runs * run, kMergeThreads), kMergeThreads, 0));
      runs = (runs + 1) / 2;
      run = out;
    }
    return result;
  }
};

} // namespace

const KernelFamily &sortFamily() {
  static const SortFamily family;
  return family;
}

} // namespace gpuc

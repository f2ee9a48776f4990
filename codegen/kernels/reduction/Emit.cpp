// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes reduction units: one launch, or two when the reduced axis is split over blocks.
#include "Families.h"
#include "Reduction.h"
#include "emit/ExprEmitterImpl.h"
#include "emit/UnitText.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace gpuc {
namespace reduction {
LogicalResult select(KernelOp kernel, const Target &target);

static int64_t bytesOf(const std::string &type) {
  if (type == "double" || type == "i64" || type == "u64")
    return 8;
  if (type == "float" || type == "i32" || type == "u32")
    return 4;
  return type == "i16" || type == "u16" ? 2 : 1;
}

FailureOr<Reducer> reducerOf(const Problem &p) {
  Type element = elementTypeOf(p.x);
  std::string in = computeTypeName(element);
  bool isFloat = isa<FloatType>(element), isBool = element.isInteger(1);
  if (auto arg = dyn_cast<ArgReduceOp>(p.root)) {
    bool wide = p.count > INT32_MAX;
    int64_t position = wide ? 8 : 4, unit = std::max(position, bytesOf(in));
    return Reducer{"ArgReducer<" + in + ", " + (wide ? "i64" : "i32") + ", " +
                       (arg.getIsMax() ? "true" : "false") + ", " + (arg.getSelectLast() ? "true" : "false") +
                       ">",
                   2 * unit};
  }
  auto kind = cast<ReduceOp>(p.root).getKind();
  if (kind == ReduceKind::LogSumExp && isFloat)
    return Reducer{"LogSumExpReducer<" + in + ">", 2 * bytesOf(in)};
  std::string accumulator = in, op = "SumOp", map = "None", finish = "None";
  std::string wide = isFloat ? in : "double";
  switch (kind) {
  case ReduceKind::Sum:
    break;
  case ReduceKind::Mean:
    finish = "Mean";
    if (!isFloat)
      accumulator = cast<IntegerType>(element).isUnsigned() ? "u64" : "i64";
    break;
  case ReduceKind::Max:
    op = "MaxOp";
    break;
  case ReduceKind::Min:
    op = "MinOp";
    break;
  case ReduceKind::Prod:
    op = "ProdOp";
    break;
  case ReduceKind::L1:
    map = "Abs";
    break;
  case ReduceKind::L2:
    map = "Square";
    finish = "Sqrt";
    accumulator = wide;
    break;
  case ReduceKind::SumSquare:
    map = "Square";
    break;
  case ReduceKind::LogSum:
    finish = "Log";
    accumulator = wide;
    break;
  case ReduceKind::LogSumExp:
    map = "Exp";
    finish = "Log";
    accumulator = wide;
    break;
  case ReduceKind::Any:
    op = "AnyOp";
    break;
  case ReduceKind::All:
    op = "AllOp";
    break;
  }
  bool boolKind = kind == ReduceKind::Any || kind == ReduceKind::All || kind == ReduceKind::Max ||
                  kind == ReduceKind::Min;
  if (isBool && !boolKind) {
    p.root->emitError("reduction '") << llvm::StringRef(name(kind).data(), name(kind).size())
                                     << "' has no meaning for bool";
    return failure();
  }
  return Reducer{"ScalarReducer<" + in + ", " + accumulator + ", " + op + ", ReduceMap::" + map +
                     ", ReduceFinish::" + finish + ">",
                 bytesOf(accumulator)};
}

namespace {

struct Launch {
  int64_t threads, group, lanes, unroll, splits;
};

std::string configText(const Problem &p, const Launch &launch) {
  auto number = [](int64_t v) { return intLiteral(v); };
  return "struct Config {\n  using Index = " + p.indexType + ";\n  static constexpr " + p.indexType +
         " kOuter = " + number(p.outerExtent) + ", kCount = " + number(p.count) +
         ", kInner = " + number(p.innerExtent) +
         ";\n  static constexpr int kThreads = " + number(launch.threads) +
         ", kGroup = " + number(launch.group) + ", kLanes = " + number(launch.lanes) +
         ", kUnroll = " + number(launch.unroll) + ", kSplits = " + number(launch.splits) + ";\n};\n";
}

std::string headText(KernelOp kernel, StringRef variant, const Reducer &reducer) {
  return unitBanner(kernel, "reduction", variant) +
         "#include \"reduction/reduction.cuh\"\nusing namespace gpuc;\n\nusing Op = " + reducer.type + ";\n";
}

EmittedArg scratchArg(int64_t bytes) {
  EmittedArg arg;
  arg.kind = EmittedArg::Kind::Scratch;
  arg.bytes = bytes;
  return arg;
}

EmittedKernel combineKernel(KernelOp kernel, const Problem &p, const Launch &first, const Reducer &reducer,
                            const EmittedFunctor &epilogue, const EmittedArg &scratch) {
  int64_t results = p.outerExtent * p.innerExtent;
  Launch launch = first;
  launch.threads = 256;
  // Neighbouring threads read neighbouring results; several share one only when there are few.
  launch.group =
      results >= 4096 ? 1 : std::min<int64_t>(32, int64_t(llvm::PowerOf2Ceil(uint64_t(first.splits))));
  EmittedKernel k;
  k.block.x = uint32_t(launch.threads);
  k.grid.x = uint32_t(llvm::divideCeil(results, launch.threads / launch.group));
  k.sharedBytes = uint32_t(reducer.stateBytes);
  k.args = {scratch};
  k.args.insert(k.args.end(), epilogue.args.begin(), epilogue.args.end());
  EntryText entry;
  entry.threads = unsigned(launch.threads);
  entry.parameters = joinNonEmpty({"const Op::State *partial", epilogue.parameters});
  entry.body = "GPUC_SMEM(Shared, shared);\ncombineTile<Config, Op>(" + epilogue.construct +
               ", partial, shared, " + p.indexType + "(blockIdx.x));\n";
  k.text = headText(kernel, "combine", reducer) + configText(p, launch) + epilogue.text +
           "using Shared = RowShared<Op, 1>;\n\n" + entryText(entry);
  return k;
}

class ReductionFamily : public KernelFamily {
public:
  StringRef name() const override { return "reduction"; }
  LogicalResult select(KernelOp kernel, const Target &target) const override {
    return reduction::select(kernel, target);
  }
  FailureOr<std::vector<EmittedKernel>> emit(KernelOp kernel, const Target &) const override {
    auto problem = analyze(kernel);
    if (failed(problem))
      return failure();
    const Problem &p = *problem;
    auto reducer = reducerOf(p);
    if (failed(reducer))
      return failure();
    std::string variant = configString(kernel, "variant", "row");
    bool column = variant == kColumn.name;
    Launch launch{configInt(kernel, "threads", 256), configInt(kernel, "group", 32),
                  configInt(kernel, "lanes", 1), configInt(kernel, "unroll", 1),
                  configInt(kernel, "splits", 1)};
    auto prologue = emitPrologue(kernel, p.x, prologueShape(p, column ? 2 : 1, unsigned(launch.lanes)));
    auto epilogue = emitEpilogue(kernel, {p.root->getResult(0)}, epilogueShape(p));
    if (failed(prologue) || failed(epilogue))
      return failure();
    bool split = launch.splits > 1;
    int64_t results = p.outerExtent * p.innerExtent;
    EmittedArg scratch = scratchArg(launch.splits * results * reducer->stateBytes);

    EmittedKernel k;
    k.block.x = uint32_t(launch.threads);
    k.grid.y = uint32_t(launch.splits);
    std::string shared;
    if (column) {
      k.grid.x = uint32_t(p.outerExtent * llvm::divideCeil(p.innerExtent, launch.group * launch.lanes));
      k.sharedBytes = uint32_t(launch.threads * launch.lanes * reducer->stateBytes);
      shared = "ColumnShared<Op, " + std::to_string(launch.threads / launch.group) + ", " +
               std::to_string(launch.group * launch.lanes) + ">";
    } else {
      int64_t warps = std::max<int64_t>(1, launch.group / 32);
      k.grid.x = uint32_t(llvm::divideCeil(p.outerExtent, launch.threads / launch.group));
      k.sharedBytes = uint32_t(warps * reducer->stateBytes);
      shared = "RowShared<Op, " + std::to_string(warps) + ">";
    }
    EntryText entry;
    entry.threads = unsigned(launch.threads);
    entry.parameters =
        joinNonEmpty({prologue->parameters, split ? "Op::State *partial" : epilogue->parameters});
    entry.body = "GPUC_SMEM(Shared, shared);\n" + std::string(column ? "columnTile" : "rowTile") +
                 "<Config, Op>(" + prologue->construct + ", " +
                 (split ? "NoEpilogue{}" : epilogue->construct) + ", " +
                 (split ? "partial" : "static_cast<Op::State *>(nullptr)") + ", shared, " + p.indexType +
                 "(blockIdx.x), int(blockIdx.y));\n";
    k.args = prologue->args;
    if (split)
      k.args.push_back(scratch);
    else
      k.args.insert(k.args.end(), epilogue->args.begin(), epilogue->args.end());
    k.text = headText(kernel, variant, *reducer) + configText(p, launch) + prologue->text +
             (split ? "" : epilogue->text) + "using Shared = " + shared + ";\n\n" + entryText(entry);
    std::vector<EmittedKernel> kernels{k};
    if (split)
      kernels.push_back(combineKernel(kernel, p, launch, *reducer, *epilogue, scratch));
    return kernels;
  }
};

} // namespace
} // namespace reduction

const KernelFamily &reductionFamily() {
  static const reduction::ReductionFamily family;
  return family;
}

} // namespace gpuc

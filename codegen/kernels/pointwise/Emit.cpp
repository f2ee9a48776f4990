// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes pointwise units: every kernel without a root op, movement kernels included.
#include "Families.h"
#include "Pointwise.h"
#include "emit/UnitText.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace gpuc {
namespace pointwise {
LogicalResult select(KernelOp kernel, const Target &target);
namespace {
using emit::Index;
using Coords = ExprEmitter::Impl::Coords;

/// The pointer members of a body, which are also the kernel's parameters.
struct Pointers {
  std::string members, parameters, names;
  std::vector<EmittedArg> args;
  SmallVector<BlockArgument> arguments;

  explicit Pointers(KernelOp kernel) {
    SmallVector<Value> yields(kernel.getYield()->getOperands());
    arguments = reachedArguments(yields, {});
    for (BlockArgument argument : arguments)
      add("const " + memoryTypeName(elementTypeOf(argument)) + " *",
          "in" + std::to_string(argument.getArgNumber()), EmittedArg::Kind::Operand, argument.getArgNumber());
    // Nobody else writes a result, and no element is read after it was written: the compiler may move loads
    // over stores.
    for (auto [i, result] : llvm::enumerate(kernel.getResults()))
      add(memoryTypeName(elementTypeOf(result)) + " *", "out" + std::to_string(i), EmittedArg::Kind::Result,
          unsigned(i));
  }
  void add(const std::string &type, const std::string &name, EmittedArg::Kind kind, unsigned index) {
    members += "  " + type + name + ";\n";
    parameters += (parameters.empty() ? "" : ", ") + type + name;
    names += (names.empty() ? "" : ", ") + name;
    EmittedArg arg;
    arg.kind = kind;
    arg.index = index;
    args.push_back(arg);
  }
};

std::string valuesText(KernelOp kernel, unsigned lanes) {
  std::string s = "  struct Values {\n";
  for (auto [i, result] : llvm::enumerate(kernel.getResults()))
    s += "    " + storageTypeName(elementTypeOf(result)) + " r" + std::to_string(i) + "[" +
         std::to_string(lanes) + "];\n";
  return s + "  };\n";
}

void setAccesses(ExprEmitter &emitter, KernelOp kernel, const Pointers &pointers) {
  for (BlockArgument argument : pointers.arguments)
    emitter.setAccess(argument,
                      argumentAccess(kernel, argument, "in" + std::to_string(argument.getArgNumber())));
}

/// Statements that compute all results at `coords` into `v`.
FailureOr<std::string> computeText(KernelOp kernel, ExprEmitter::Impl &e, const Coords &coords) {
  unsigned lanes = e.context.lanes();
  std::string assignments, at = lanes > 1 ? "[lane]" : "[0]";
  for (auto [i, yielded] : llvm::enumerate(kernel.getYield()->getOperands()))
    assignments += "v.r" + std::to_string(i) + at + " = " + e.emitStored(yielded, coords).text + ";\n";
  if (e.failed)
    return failure();
  return indentLines(e.hoisted, 4) + laneLoopText(lanes, e.laneBody + assignments, 4);
}

/// Statements that store `v` at `coords`.
std::string storeText(KernelOp kernel, ExprEmitter::Impl &e, const Coords &coords) {
  std::string after, inLoop;
  for (unsigned i = 0; i < kernel->getNumResults(); ++i) {
    BufferAccess access = resultAccess(kernel, i, "out" + std::to_string(i));
    std::string array = "v.r" + std::to_string(i) + (e.context.lanes() == 1 ? "[0]" : "");
    after += e.storeStatement(access, e.offset(access, coords), array, inLoop);
  }
  return indentLines(e.hoisted, 4) +
         laneLoopText(e.context.lanes(), inLoop.empty() ? "" : e.laneBody + inLoop, 4) +
         indentLines(after, 4);
}

Index linearPosition(ExprEmitter::Impl &e, const Walk &walk) {
  int64_t lanes = e.context.lanes();
  return e.context.add(e.context.variable("p", {0, std::max<int64_t>(walk.total - lanes, 0)}, lanes),
                       e.context.laneNumber());
}

FailureOr<std::string> linearBody(KernelOp kernel, const Walk &walk, const Pointers &pointers, unsigned lanes,
                                  StringRef name, std::string &tables) {
  ExprEmitter emitter(kernel, lanes, walk.indexType), storing(kernel, lanes, walk.indexType);
  setAccesses(emitter, kernel, pointers);
  auto &e = emitter.internals();
  auto compute = computeText(kernel, e, coordsOfPosition(e, walk, linearPosition(e, walk)));
  if (failed(compute))
    return failure();
  auto &st = storing.internals();
  std::string store = storeText(kernel, st, coordsOfPosition(st, walk, linearPosition(st, walk)));
  if (tables.empty())
    tables = e.tables;
  return "struct " + name.str() + " {\n" + valuesText(kernel, lanes) + pointers.members +
         "  GPUC_DEVICE void compute(Values &v, " + walk.indexType + " p) const {\n" + *compute + "  }\n" +
         "  GPUC_DEVICE void store(const Values &v, " + walk.indexType + " p) const {\n" + store +
         "  }\n};\n";
}

FailureOr<EmittedKernel> emitLinear(KernelOp kernel, const Walk &walk, const Pointers &pointers) {
  unsigned lanes = unsigned(configInt(kernel, "lanes", 1)),
           threads = unsigned(configInt(kernel, "threads", 256)),
           unroll = unsigned(configInt(kernel, "unroll", 1));
  std::string tables, single;
  auto body = linearBody(kernel, walk, pointers, lanes, "Body", tables);
  if (failed(body))
    return failure();
  bool tail = walk.total % lanes != 0;
  if (tail) {
    auto text = linearBody(kernel, walk, pointers, 1, "Single", tables);
    if (failed(text))
      return failure();
    single = *text;
  }
  EmittedKernel result;
  result.args = pointers.args;
  result.block.x = threads;
  int64_t tile = int64_t(threads) * lanes * unroll;
  result.grid.x = uint32_t((walk.total + tile - 1) / tile);
  std::string construct = "Body{" + pointers.names + "}";
  EntryText entry;
  entry.threads = threads;
  entry.parameters = pointers.parameters;
  entry.body = "pointwiseTile<Config>(" + construct + ", " +
               (tail ? "Single{" + pointers.names + "}" : construct) + ", " + walk.indexType +
               "(blockIdx.x));\n";
  result.text = unitBanner(kernel, "pointwise", "linear") +
                "#include \"pointwise/pointwise.cuh\"\nusing namespace gpuc;\n\n" + tables +
                "struct Config {\n  using Index = " + walk.indexType +
                ";\n  static constexpr i64 kTotal = " + intLiteral(std::max<int64_t>(walk.total, 1)) +
                ";\n  static constexpr int kThreads = " + std::to_string(threads) +
                ", kLanes = " + std::to_string(lanes) + ", kUnroll = " + std::to_string(unroll) + ";\n};\n" +
                *body + single + "\n" + entryText(entry);
  return result;
}

FailureOr<EmittedKernel> emitTurning(KernelOp kernel, const Walk &walk, const Pointers &pointers) {
  unsigned lanes = unsigned(configInt(kernel, "lanes", 1)),
           threads = unsigned(configInt(kernel, "threads", 256));
  unsigned last = unsigned(walk.groups.size()) - 1, turned = unsigned(walk.turnedGroup);
  int64_t extentA = groupExtent(walk, turned), extentB = groupExtent(walk, last), batches = 1, widest = 1;
  for (const Walk::Turned &load : walk.turned)
    widest = std::max<int64_t>(widest, elementTypeOf(load.argument).getIntOrFloatBitWidth() / 8);
  int64_t tile = widest <= 2 ? 64 : 32;
  SmallVector<int64_t> batchShape;
  for (unsigned g = 0; g < walk.groups.size(); ++g)
    if (g != turned && g != last) {
      batchShape.push_back(groupExtent(walk, g));
      batches *= batchShape.back();
    }
  // Coordinates at (batch, a, b), lanes along one of the two groups.
  auto coordsAt = [&](ExprEmitter::Impl &e, unsigned laneGroup) {
    auto batch = e.context.delinearize(e.context.variable("batch", {0, batches - 1}), batchShape);
    SmallVector<Index> positions;
    unsigned next = 0;
    for (unsigned g = 0; g < walk.groups.size(); ++g) {
      if (g != turned && g != last) {
        positions.push_back(batch[next++]);
        continue;
      }
      int64_t own = g == laneGroup ? lanes : 1;
      Index at = e.context.variable(g == turned ? "a" : "b", {0, groupExtent(walk, g) - own}, own);
      positions.push_back(g == laneGroup ? e.context.add(at, e.context.laneNumber()) : at);
    }
    return coordsOfGroups(e, walk, positions);
  };

  ExprEmitter fetching(kernel, lanes, walk.indexType), computing(kernel, lanes, walk.indexType),
      storing(kernel, lanes, walk.indexType);
  auto &f = fetching.internals();
  auto &e = computing.internals();
  auto &st = storing.internals();
  setAccesses(computing, kernel, pointers);
  Coords fetchCoords = coordsAt(f, turned), coords = coordsAt(e, last);
  std::string shared = "struct Shared {\n", fetched = "  struct Fetched {\n", loads, copies,
              lane = lanes > 1 ? " + lane" : "";
  int64_t sharedBytes = 0;
  for (unsigned t = 0; t < walk.turned.size(); ++t) {
    const Walk::Turned &load = walk.turned[t];
    auto offsetAt = [&](ExprEmitter::Impl &x, const Coords &at) {
      return x.context.add(x.context.dot(at, load.strides), Index(load.constant));
    };
    std::string name = "t" + std::to_string(t), type = storageTypeName(elementTypeOf(load.argument));
    BufferAccess access =
        argumentAccess(kernel, load.argument, "in" + std::to_string(load.argument.getArgNumber()));
    bool perLane = false;
    std::string element = f.load(load.argument, access, offsetAt(f, fetchCoords), perLane);
    shared += "  " + type + " " + name + "[" + std::to_string(tile) + "][" + std::to_string(tile + 1) +
              "]; // (B, A), padded against bank conflicts\n";
    fetched += "    " + type + " " + name + "[" + std::to_string(lanes) + "];\n";
    std::string kept = "fetched." + name + (lanes > 1 ? "[lane]" : "[0]");
    loads += kept + " = " + element + ";\n";
    copies += "shared." + name + "[j][i" + lane + "] = " + kept + ";\n";
    e.boundLoads[e.loadKey(load.argument, offsetAt(e, coords))] = "shared." + name + "[j" + lane + "][i]";
    int64_t bytes = std::max(1u, elementTypeOf(load.argument).getIntOrFloatBitWidth() / 8);
    sharedBytes = (sharedBytes + bytes - 1) / bytes * bytes + tile * (tile + 1) * bytes;
  }
  shared += "};\n";
  fetched += "  };\n";
  std::string fetch = indentLines(f.hoisted, 4) + laneLoopText(lanes, f.laneBody + loads, 4);
  auto compute = computeText(kernel, e, coords);
  if (failed(compute))
    return failure();
  std::string store = storeText(kernel, st, coordsAt(st, last));

  std::string I = walk.indexType, abc = I + " batch, " + I + " a, " + I + " b";
  std::string body =
      "struct Body {\n" + valuesText(kernel, lanes) + fetched + pointers.members +
      "  GPUC_DEVICE void fetch(Fetched &fetched, " + abc + ") const {\n" + fetch + "  }\n" +
      "  GPUC_DEVICE void keep(Shared &shared, const Fetched &fetched, int i, int j) const {\n" +
      laneLoopText(lanes, copies, 4) + "  }\n" +
      "  GPUC_DEVICE void compute(Values &v, const Shared &shared, " + abc + ", int i, int j) const {\n" +
      *compute + "  }\n" + "  GPUC_DEVICE void store(const Values &v, " + abc + ") const {\n" + store +
      "  }\n};\n";
  EmittedKernel result;
  result.args = pointers.args;
  result.block.x = threads;
  result.grid.x = uint32_t(batches * llvm::divideCeil(extentA, tile) * llvm::divideCeil(extentB, tile));
  result.sharedBytes = uint32_t((sharedBytes + 15) / 16 * 16);
  EntryText entry;
  entry.threads = threads;
  entry.parameters = pointers.parameters;
  entry.body = "GPUC_SMEM(Shared, shared);\nturningTile<Config>(Body{" + pointers.names + "}, shared, " + I +
               "(blockIdx.x));\n";
  result.text = unitBanner(kernel, "pointwise", "turning") +
                "#include \"pointwise/pointwise.cuh\"\nusing namespace gpuc;\n\n" + e.tables +
                "struct Config {\n  using Index = " + I + ";\n  static constexpr " + I +
                " kExtentA = " + intLiteral(extentA) + ", kExtentB = " + intLiteral(extentB) +
                ";\n  static constexpr int kTile = " + std::to_string(tile) +
                ", kThreads = " + std::to_string(threads) + ", kLanes = " + std::to_string(lanes) +
                ";\n};\n" + shared + body + "\n" + entryText(entry);
  return result;
}

class PointwiseFamily : public KernelFamily {
public:
  StringRef name() const override { return "pointwise"; }
  LogicalResult select(KernelOp kernel, const Target &target) const override {
    return pointwise::select(kernel, target);
  }
  FailureOr<std::vector<EmittedKernel>> emit(KernelOp kernel, const Target &) const override {
    auto walk = analyzeWalk(kernel);
    if (failed(walk))
      return failure();
    Pointers pointers(kernel);
    bool turning =
        configString(kernel, "variant") == kTurning.name && walk->turnedGroup >= 0 && walk->total > 0;
    auto emitted = turning ? emitTurning(kernel, *walk, pointers) : emitLinear(kernel, *walk, pointers);
    if (failed(emitted))
      return failure();
    return std::vector<EmittedKernel>{*emitted};
  }
};

} // namespace
} // namespace pointwise

const KernelFamily &pointwiseFamily() {
  static const pointwise::PointwiseFamily family;
  return family;
}

} // namespace gpuc

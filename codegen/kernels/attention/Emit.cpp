// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the units of fused attention.
#include "Attention.h"
#include "Families.h"
#include "emit/ExprEmitterImpl.h"

using namespace mlir;

namespace gpuc {
namespace attention {
namespace {

/// "struct NAME": a View of tile_load.cuh. `repeat` heads of the operand follow each other in its rows.
std::string operandText(StringRef name, const Operand &operand, StringRef type, int64_t extent,
                        int64_t repeat) {
  const int64_t *s = operand.strides;
  std::string row = repeat == 1
                        ? llvm::formatv("i64(r) * {0}", s[2]).str()
                        : llvm::formatv("i64(r / {0}) * {1} + i64(r % {0}) * {2}", repeat, s[2], s[1]).str();
  bool rowsFastest = extent > 1 && s[3] != 1 && (repeat == 1 ? s[2] : std::min(s[1], s[2])) == 1;
  return llvm::formatv(
      "struct {0} {{\n  using T = {1};\n  static constexpr i64 kOffset = {2}, kBatch = {3}, kHead = {4}, "
      "kDepthStride = {5};\n  static constexpr i32 kExtent = {6};\n  static constexpr int kAccess = {7};\n"
      "  static constexpr bool kRowsFastest = {8};\n"
      "  GPUC_DEVICE static i64 rowOffset(i32 r) {{ return {9}; }\n};\n",
      name, type, operand.offset, s[0], s[1], s[3], extent, operand.access, boolText(rowsFastest), row);
}

std::string biasText(const Problem &p, Type elementType) {
  if (!p.bias)
    return "struct Bias {\n  static constexpr BiasKind kKind = BiasKind::None;\n  static constexpr bool "
           "kPaired = "
           "false;\n  GPUC_DEVICE int row(i32, i32, i32) const { return 0; }\n  GPUC_DEVICE int at(int, i32) "
           "const { "
           "return 0; }\n};\n";
  std::string type = storageTypeName(elementType);
  const int64_t *s = p.bias->strides;
  // Two keys in one access.
  bool paired = s[3] == 1 && p.keys % 2 == 0 && p.bias->offset % 2 == 0 && s[0] % 2 == 0 && s[1] % 2 == 0 &&
                s[2] % 2 == 0 &&
                p.bias->alignment >= int64_t(2) * std::max(1u, elementType.getIntOrFloatBitWidth() / 8);
  std::string text = llvm::formatv(
      "struct Bias {{\n  const {0} *in;\n  static constexpr BiasKind kKind = BiasKind::{1};\n"
      "  static constexpr bool kPaired = {7};\n"
      "  GPUC_DEVICE const {0} *row(i32 b, i32 h, i32 s) const {{\n    (void)b, (void)h, (void)s;\n"
      "    return in + ({2} + i64(b) * {3} + i64(h) * {4} + i64(s) * {5});\n  }\n"
      "  GPUC_DEVICE {0} at(const {0} *row, i32 t) const {{ (void)t; return row[i64(t) * {6}]; }\n",
      type, elementType.isInteger(1) ? "Mask" : "Added", p.bias->offset, s[0], s[1], s[2], s[3],
      boolText(paired));
  if (paired)
    text += llvm::formatv(
        "  GPUC_DEVICE Vec<{0}, 2> pairAt(const {0} *row, i32 t) const {{ return ldVec<2>(row + t); }\n",
        type);
  return text + "};\n";
}

/// A double as a C++ literal, exact.
std::string doubleText(double v) {
  char text[64];
  snprintf(text, sizeof text, "%a", v);
  return text;
}

/// What every template needs to know; `keyHeads` and `repeat` say how rows are numbered.
std::string problemText(const Problem &p, unsigned lanes, int64_t keyHeads, int64_t repeat) {
  AttentionOp op = p.op;
  // Clamped so that additions stay in range; beyond these every query sees all or no keys.
  int64_t offset = std::clamp<int64_t>(op.getCausalOffset(), -p.queries - 1, p.keys);
  std::string s =
      llvm::formatv("struct Config {{\n  using T = {0};\n  using Acc = {1};\n"
                    "  static constexpr i32 kKeyHeads = {2}, kRepeat = {3}, kQueries = {4}, kKeys = {5};\n",
                    storageTypeName(elementTypeOf(op.getQ())), computeTypeName(elementTypeOf(op.getQ())),
                    keyHeads, repeat, p.queries, p.keys);
  s += llvm::formatv("  static constexpr double kScale = {0}, kSoftcap = {1};\n",
                     doubleText(op.getScale().convertToDouble()),
                     doubleText(std::max(0.0, op.getSoftcap().convertToDouble())));
  s += llvm::formatv("  static constexpr bool kCausal = {0}, kZeroMasked = {1};\n  static constexpr i32 "
                     "kCausalOffset = {2};\n",
                     boolText(op.getCausal()), boolText(op.getZeroMasked()), offset);
  return s + llvm::formatv(
                 "  static constexpr int kLanes = {0};\n  static constexpr i32 kBatch = {1}, kColumns = "
                 "{2};\n",
                 lanes, p.batch, p.columns)
                 .str();
}

std::string configText(const Problem &p, const Variant &v, unsigned lanes, int64_t splits) {
  std::string s = problemText(p, lanes, p.keyHeads, p.repeat());
  s += llvm::formatv("  static constexpr int kBlockM = {0}, kBlockN = {1}, kWarpsN = {2};\n"
                     "  static constexpr i32 kSplits = {3}, kSplitTiles = {4};\n",
                     v.blockM, v.blockN, v.warpsN, splits,
                     ceilDiv(ceilDiv(std::max<int64_t>(p.keys, 1), v.blockN), splits));
  if (v.mma)
    return s + llvm::formatv(
                   "  using Fragments = {0};\n  static constexpr int kWidthD = {1}, kWidthE = {2};\n};\n",
                   p.dtype == DType::F32
                       ? "FragmentsTf32"
                       : "Fragments16<" + storageTypeName(elementTypeOf(AttentionOp(p.op).getQ())) + ">",
                   paddedTo16(p.depth), paddedTo16(p.columns))
                   .str();
  SimtShape shape = simtShape(p, v);
  return s + llvm::formatv("  static constexpr int kRowsM = {0}, kColsN = {1}, kChunkD = {2}, kChunkE = {3}, "
                           "kColsE = {4};\n};\n",
                           shape.rowsM, shape.colsN, shape.chunkD, shape.chunkE, shape.colsE)
                 .str();
}

/// On warpgroup tensor cores.
EmittedKernel emitWarpgroups(KernelOp kernel, const Problem &p, const EmittedFunctor &epilogue,
                             unsigned lanes, const Target &target) {
  WarpgroupTile tile = warpgroupTile(kernel);
  int64_t keyBlocks = ceilDiv(p.keys, tile.blockN),
          tiles = ceilDiv(p.queries, tile.blockM()) * p.batch * p.heads;
  RootUnit unit(kernel, "attention", kWarpgroupVariant, "attention/flash_wgmma.cuh");
  std::string type = storageTypeName(elementTypeOf(AttentionOp(p.op).getQ()));
  unit.define(operandText("Query", p.q, type, p.depth, 1) + operandText("Key", p.k, type, p.depth, 1) +
              operandText("Value", p.v, type, p.columns, 1));
  unit.define(biasText(p, p.bias ? elementTypeOf(AttentionOp(p.op).getBias()) : Type()));
  std::string config = problemText(p, lanes, p.heads, 1);
  config += llvm::formatv(
      "  static constexpr i32 kShare = {0};\n  static constexpr int kBlockM = {1}, kBlockN = {2}, "
      "kDepth = {3}, kGroups = {4}, kStages = {5}, kRegisters = {6};\n",
      p.repeat(), tile.blockM(), tile.blockN, p.depth, tile.groups, tile.stages,
      tile.producer ? registersOfConsumer(tile) : 0);
  config += llvm::formatv(
      "  static constexpr bool kProducer = {0}, kOverlap = {0}, kTurns = {1}, kRefill = {2}, kPersistent = "
      "{3};\n  static constexpr i32 kTiles = {4};\n};\n",
      boolText(tile.producer), boolText(tile.producer && tile.groups == 2),
      boolText(keyBlocks > tile.stages || tile.persistent), boolText(tile.persistent), tiles);
  unit.define(config);
  unit.addMap("mapQ", p.q.index, tensorMap(p, p.q, {p.batch, p.heads, p.queries, p.depth}, 64));
  unit.addMap("mapK", p.k.index, tensorMap(p, p.k, {p.batch, p.keyHeads, p.keys, p.depth}, tile.blockN));
  unit.addMap("mapV", p.v.index, tensorMap(p, p.v, {p.batch, p.keyHeads, p.keys, p.columns}, tile.blockN));
  std::string operands = "&mapQ, &mapK, &mapV, nullptr, nullptr, nullptr";
  if (p.bias || AttentionOp(p.op).getCausal()) { // hidden keys: hidden_keys.cuh
    operands = "&mapQ, &mapK, &mapV, q, k, v";
    unit.add("const " + type + " *q", EmittedArg::Kind::Operand, p.q.index);
    unit.add("const " + type + " *k", EmittedArg::Kind::Operand, p.k.index);
    unit.add("const " + type + " *v", EmittedArg::Kind::Operand, p.v.index);
  }
  if (p.bias)
    unit.add("const " + storageTypeName(elementTypeOf(AttentionOp(p.op).getBias())) + " *bias",
             EmittedArg::Kind::Operand, p.bias->index);
  unit.add(epilogue);
  EntryText entry;
  entry.minBlocks = unsigned(std::max<int64_t>(1, blocksPerSM(p, tile, target)));
  entry.beforeWait = "GPUC_SMEM(FlashWgmmaShared<Config>, shared);\nflashSetUp(shared);\n";
  std::string body = llvm::formatv(
      "FlashOperands<Config, Query, Key, Value> operands{{{0}};\nflashWgmma(shared, operands, Bias{{{1}}, "
      "{2});\n",
      operands, p.bias ? "bias" : "", epilogue.construct);
  return unit.finish(body, tile.persistent ? std::min<int64_t>(tiles, target.numSMs) : tiles, tile.threads(),
                     sharedBytes(p, tile), entry);
}

class AttentionFamily final : public KernelFamily {
public:
  StringRef name() const override { return "attention"; }
  LogicalResult select(KernelOp kernel, const Target &target) const override {
    return attention::select(kernel, target);
  }
  std::vector<DictionaryAttr> candidates(KernelOp kernel, const Target &target,
                                         unsigned limit) const override {
    auto configs = attention::candidates(kernel, target, limit);
    return failed(configs) ? std::vector<DictionaryAttr>() : *configs;
  }
  unsigned tuningVersion() const override { return 2; }
  FailureOr<std::vector<EmittedKernel>> emit(KernelOp kernel, const Target &target) const override {
    auto p = analyze(kernel);
    if (failed(p))
      return failure();
    if (p->isEmpty())
      return std::vector<EmittedKernel>();
    bool warpgroups = configString(kernel, "variant") == kWarpgroupVariant;
    const Variant *v = findVariant(configString(kernel, "variant"));
    if (!v && !warpgroups)
      return kernel.emitError("unknown attention variant '") << configString(kernel, "variant") << "'";
    SimtShape simt = warpgroups ? SimtShape() : simtShape(*p, *v);
    unsigned lanes = warpgroups || v->mma ? p->lanes : std::min<unsigned>(p->lanes, unsigned(simt.colsE));
    FunctorShape shape;
    shape.groups = {{0}, {1}, {2}, {3}};
    shape.laneGroup = 3;
    shape.lanes = lanes;
    shape.indexType = indexTypeFor(kernel);
    auto epilogue = emitEpilogue(kernel, {p->op.getY()}, shape);
    if (failed(epilogue))
      return failure();
    if (warpgroups)
      return std::vector<EmittedKernel>{emitWarpgroups(kernel, *p, *epilogue, lanes, target)};

    int64_t splits = configInt(kernel, "splits", 1);
    std::string type = storageTypeName(elementTypeOf(p->op.getQ())),
                acc = computeTypeName(elementTypeOf(p->op.getQ()));
    // Unscaled sums and two numbers of state per row, for every slice.
    int64_t scratchBytes =
        splits * p->batch * p->heads * p->queries * (p->columns + 2) * (acc == "double" ? 8 : 4);
    RootUnit unit(kernel, name(), v->name, "attention/attention.cuh");
    unit.define(operandText("Query", p->q, type, p->depth, p->repeat()));
    unit.define(operandText("Key", p->k, type, p->depth, 1));
    unit.define(operandText("Value", p->v, type, p->columns, 1));
    unit.define(biasText(*p, p->bias ? elementTypeOf(p->op.getBias()) : Type()));
    unit.define(configText(*p, *v, lanes, splits));
    unit.add("const " + type + " *q", EmittedArg::Kind::Operand, p->q.index);
    unit.add("const " + type + " *k", EmittedArg::Kind::Operand, p->k.index);
    unit.add("const " + type + " *v", EmittedArg::Kind::Operand, p->v.index);
    if (p->bias)
      unit.add("const " + storageTypeName(elementTypeOf(p->op.getBias())) + " *bias",
               EmittedArg::Kind::Operand, p->bias->index);
    if (splits > 1)
      unit.add(acc + " *sums", EmittedArg::Kind::Scratch, 0, scratchBytes);
    else
      unit.add(*epilogue);

    // Blocks: rows of a key head slowest, then slices of the keys, then chunks of the columns.
    int64_t chunks = v->mma ? 1 : ceilDiv(p->columns, simt.chunkE), threads = v->threads();
    int64_t blocks = ceilDiv(p->rows(), v->blockM) * p->batch * p->keyHeads * splits * chunks;
    std::string body = llvm::formatv("GPUC_SMEM({0}Shared<Config>, shared);\nu32 block = blockIdx.x;\n",
                                     v->mma ? "FlashMma" : "FlashSimt");
    std::string split = "0", output = epilogue->construct, last;
    if (chunks > 1)
      body += llvm::formatv("i32 firstE = i32(block % {0}) * {1};\nblock /= {0};\n", chunks, simt.chunkE);
    if (!v->mma)
      last = chunks > 1 ? ", firstE" : ", 0";
    if (splits > 1) {
      body += llvm::formatv("i32 split = i32(block % {0});\nblock /= {0};\n", splits);
      split = "split";
      output = "PartialOutput<Config>{sums, split}";
    }
    body += llvm::formatv("{0}<Config, Query, Key, Value>(shared, q, k, v, Bias{{{1}}, {2}, "
                          "attentionCoord<Config>(block), {3}{4});\n",
                          v->mma ? "flashMma" : "flashSimt", p->bias ? "bias" : "", output, split, last);
    std::vector<EmittedKernel> result;
    EntryText entry;
    entry.minBlocks = v->mma;
    result.push_back(
        unit.finish(body, blocks, threads, v->mma ? mmaSharedBytes(*p, *v) : simt.sharedBytes, entry));
    if (splits > 1) {
      constexpr int64_t kJoinThreads = 128;
      RootUnit join(kernel, name(), "join of slices", "attention/attention.cuh");
      join.define(configText(*p, *v, lanes, splits));
      join.add(acc + " *sums", EmittedArg::Kind::Scratch, 0, scratchBytes);
      join.add(*epilogue);
      int64_t items = p->batch * p->heads * p->queries * p->columns / lanes;
      result.push_back(
          join.finish(llvm::formatv("joinSlices<Config>(sums, {0}, i64(blockIdx.x) * {1} + threadIdx.x);\n",
                                    epilogue->construct, kJoinThreads),
                      ceilDiv(items, kJoinThreads), kJoinThreads, 0));
    }
    return result;
  }
};

} // namespace
} // namespace attention

const KernelFamily &attentionFamily() {
  static const attention::AttentionFamily family;
  return family;
}

} // namespace gpuc

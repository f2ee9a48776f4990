// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The family "matmul": chooses between the tile variants and the two gemv bodies, and writes units.
#include "../../emit/RowState.h"
#include "Families.h"
#include "WgmmaMatmul.h"
#include "gpuc/IR/Types.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace gpuc {
namespace {

constexpr llvm::StringLiteral kGemvDepth = "gemv_depth", kGemvColumns = "gemv_columns";
constexpr int64_t kGemvRows = 8;

/// Numbers of a chosen variant, as stored in `config`.
struct MatmulConfig {
  std::string variant;
  int splits = 1;              ///< tiles
  int columns = 1, slices = 1; ///< gemv
};

DictionaryAttr toAttribute(const MatmulConfig &c, MLIRContext *context) {
  Builder b(context);
  NamedAttrList list;
  list.append("variant", b.getStringAttr(c.variant));
  if (StringRef(c.variant).starts_with("gemv")) {
    list.append("columns", b.getI64IntegerAttr(c.columns));
    list.append("slices", b.getI64IntegerAttr(c.slices));
  } else {
    list.append("splits", b.getI64IntegerAttr(c.splits));
  }
  return list.getDictionary(context);
}

FailureOr<MatmulConfig> readConfig(KernelOp kernel) {
  auto config = kernel.getConfig();
  auto variant = config ? config->getAs<StringAttr>("variant") : StringAttr();
  if (!variant)
    return kernel.emitError("the kernel has no variant; run select first");
  auto number = [&](StringRef name) {
    auto attr = config->getAs<IntegerAttr>(name);
    return attr ? int(attr.getInt()) : 1;
  };
  return MatmulConfig{variant.getValue().str(), number("splits"), number("columns"), number("slices")};
}

/// A gemv body for a product with few rows; nothing when the tiles do better.
std::optional<MatmulConfig> chooseGemv(const MatmulAnalysis &m, const Target &target) {
  const TileProblem &p = m.problem;
  if (p.rows > kGemvRows)
    return std::nullopt;
  MatmulConfig c;
  if (m.b.depthContiguous()) {
    int64_t access = std::min(m.a.depthContiguous() ? m.a.access : 1, m.b.access);
    if (p.depth < 16 * access)
      return std::nullopt;
    c.variant = kGemvDepth.str();
    c.slices = p.depth >= 256 * access && p.cols * p.batch < 16 * target.numSMs ? 4
               : p.depth >= 128 * access                                        ? 2
                                                                                : 1;
    c.columns = 8 / c.slices;
    return c;
  }
  c.variant = kGemvColumns.str();
  int64_t accesses = llvm::divideCeil(p.cols, m.b.access);
  c.columns = 32;
  while (c.columns > 4 && int64_t(llvm::divideCeil(accesses, c.columns)) * p.batch < target.numSMs)
    c.columns /= 2;
  c.slices = (m.problem.depth >= 1024 ? 512 : 256) / c.columns;
  while (c.slices > 1 && c.slices / 2 >= p.depth && c.columns * c.slices > 32)
    c.slices /= 2;
  return c;
}

/// Estimate of a gemv_depth launch.
double gemvMicroseconds(const TileProblem &p, const MatmulConfig &c, const Target &t) {
  constexpr double kL2 = 46e9; // bytes per second into one SM: 8 rows of 802816 on an H200
  double blocks = double(llvm::divideCeil(p.cols, c.columns)) * double(p.batch);
  double vectors = blocks * double(p.rows) * double(p.depth) * double(bitWidth(p.dtype)) / 8;
  return 2.2 + std::max(dramMicroseconds(p, t), vectors / (kL2 * t.numSMs) * 1e6);
}

struct MatmulFamily final : KernelFamily {
  StringRef name() const override { return "matmul"; }

  LogicalResult select(KernelOp kernel, const Target &target) const override {
    auto m = analyzeMatmul(kernel);
    if (failed(m))
      return failure();
    MatmulConfig config;
    auto choices = rankVariants(kernel, *m, target, 1);
    if (auto gemv = gemvChoice(kernel, *m, choices, target)) {
      config = *gemv;
    } else {
      if (choices.empty())
        return kernel.emitError("no matmul variant takes ")
               << m->problem.batch << " x " << m->problem.rows << " x " << m->problem.cols << " x "
               << m->problem.depth << " of " << elementTypeOf(m->root.getX());
      config.variant = choices.front().variant.str();
      config.splits = choices.front().splits;
    }
    kernel.setConfigAttr(toAttribute(config, kernel.getContext()));
    return success();
  }

  std::vector<DictionaryAttr> candidates(KernelOp kernel, const Target &target,
                                         unsigned limit) const override {
    auto m = analyzeMatmul(kernel);
    if (failed(m) || m->isEmpty())
      return {};
    std::vector<DictionaryAttr> list;
    auto choices = rankVariants(kernel, *m, target, limit);
    auto gemv = hasRowState(kernel) ? std::nullopt : chooseGemv(*m, target);
    if (gemv && gemvChoice(kernel, *m, choices, target))
      list.push_back(toAttribute(*gemv, kernel.getContext()));
    for (const ProductChoice &choice : choices)
      if (list.size() < limit)
        list.push_back(toAttribute({choice.variant.str(), choice.splits, 1, 1}, kernel.getContext()));
    if (gemv && list.size() < limit && !llvm::is_contained(list, toAttribute(*gemv, kernel.getContext())))
      list.push_back(toAttribute(*gemv, kernel.getContext()));
    return list;
  }

  int64_t momentColumns(KernelOp kernel, const Target &target) const override {
    auto m = analyzeMatmul(kernel);
    auto config = readConfig(kernel);
    if (failed(m) || failed(config) || !findWgmmaVariant(config->variant))
      return 0;
    auto w = analyzeWgmmaMatmul(kernel, *m, target);
    if (!w || !keepsRowState(*m))
      return 0;
    auto plain = rankProducts(m->problem, w->problem, target, 1);
    // What the norm's own kernel takes in a graph, where it finds its operand in the L2 cache, against what
    // row state adds to a product: waiting for it, and instructions for every element. Both fitted to models
    // on an H200; the product that writes the operand and the one that reads the result may lose a half each.
    double elements = double(m->problem.rows) * double(m->problem.cols);
    double normBytes = double(m->problem.rows * std::min(m->problem.cols, m->problem.depth)) *
                       double(bitWidth(m->problem.dtype)) / 4; // read and written
    double norm = 2.4 + normBytes / 7e6, added = 0.7 + epilogueMicroseconds(elements, 4);
    // Readers of wider parts have fewer to add up; some tiles have narrow ones only.
    w->problem.rowState = true;
    for (int64_t columns : {32, 16}) {
      w->problem.momentColumns = columns;
      auto folded = rankProducts(m->problem, w->problem, target, 1);
      if (!folded.empty() && folded.front().microseconds + added <= plain.front().microseconds + norm / 2)
        return columns;
    }
    return 0;
  }

  FailureOr<std::vector<EmittedKernel>> emit(KernelOp kernel, const Target &target) const override {
    auto m = analyzeMatmul(kernel);
    auto config = readConfig(kernel);
    if (failed(m) || failed(config))
      return failure();
    if (m->isEmpty())
      return std::vector<EmittedKernel>();
    if (StringRef(config->variant).starts_with("gemv"))
      return emitGemv(kernel, *m, *config);
    if (const WgmmaVariant *large = findWgmmaVariant(config->variant))
      return emitWgmmaMatmul(kernel, *m, *large, config->splits, target);
    const TileVariant *variant = findTileVariant(config->variant);
    if (!variant || variant->math != m->problem.math)
      return kernel.emitError("unknown matmul variant '") << config->variant << "'";
    return emitTiles(kernel, *m, *variant, config->splits, target);
  }

private:
  static std::vector<ProductChoice> rankVariants(KernelOp kernel, const MatmulAnalysis &m,
                                                 const Target &target, unsigned limit) {
    auto w = analyzeWgmmaMatmul(kernel, m, target);
    if (!w && hasRowState(kernel))
      return {};
    return rankProducts(m.problem, w ? std::optional(w->problem) : std::nullopt, target, limit);
  }
  /// Matrix times vectors has bodies of its own, better than any tile but those of ../slab, which ask for the
  /// weights before the launch ahead has ended, and those of several vectors of great depth: there each block
  /// reads all vectors again for its few columns.
  static std::optional<MatmulConfig> gemvChoice(KernelOp kernel, const MatmulAnalysis &m,
                                                const std::vector<ProductChoice> &tiles,
                                                const Target &target) {
    if (hasRowState(kernel) || (!tiles.empty() && tiles.front().variant.starts_with("slab_")))
      return std::nullopt;
    auto gemv = chooseGemv(m, target);
    if (gemv && gemv->variant == kGemvDepth && !tiles.empty() &&
        tiles.front().microseconds < gemvMicroseconds(m.problem, *gemv, target))
      return std::nullopt;
    return gemv;
  }
  FailureOr<std::vector<EmittedKernel>> emitTiles(KernelOp kernel, MatmulAnalysis m,
                                                  const TileVariant &variant, int splits,
                                                  const Target &target) const {
    if (hasRowState(kernel))
      return kernel.emitError("matmul variant '") << variant.name << "' takes no row statistics or moments";
    bool simt = m.problem.math == TileMath::Simt;
    unsigned lanes = simt ? std::min(m.lanes, 4u) : m.lanes;
    m.epilogue.lanes = lanes;
    auto epilogue = emitEpilogue(kernel, {m.root.getZ()}, m.epilogue);
    if (failed(epilogue))
      return failure();
    std::string element = storageTypeName(elementTypeOf(m.root.getX()));
    std::string configText = tileConfigText(variant, m.problem, splits, target);
    std::string output = matmulOutputText(m, *epilogue, lanes);
    std::string sumType = simt ? "Sum<Element>" : "float";
    std::string makeOutput =
        llvm::formatv("  Epilogue epilogue = {0};\n  Output output{{epilogue};\n", epilogue->construct);

    EmittedKernel first;
    std::string text = unitHead(kernel, name(), variant.name, {"matmul/matmul.cuh"});
    text += m.a.text("OperandA", element, m.batchExtents, variant.blockM, variant.blockK);
    text += m.b.text("OperandB", element, m.batchExtents, variant.blockN, variant.blockK);
    text += configText;
    text += splits == 1 ? output : llvm::formatv("using Element = {0};\n", element).str();
    text += "using SourceA = DenseSource<OperandA>;\nusing SourceB = DenseSource<OperandB>;\n";
    text += llvm::formatv("using Tile = {0}<Config, SourceA, SourceB>;\n", simt ? "SimtTile" : "MmaTile");
    llvm::SmallVector<std::string> parameters{"const " + element + " *a", "const " + element + " *b"};
    parameters.push_back(splits == 1 ? epilogue->parameters : sumType + " *partial");
    text += unitEntry("Tile::kThreads, 1", parameters);
    text += "  GPUC_SMEM(Tile::Shared, shared);\n  TileCoord coord = tileCoord<Config>(blockIdx.x);\n";
    text +=
        splits == 1
            ? makeOutput
            : llvm::formatv("  PartialOutput<Config, {0}> output{{partial, coord.split};\n", sumType).str();
    text += "  runTile<Tile>(shared, SourceA(a, coord.z), SourceB(b, coord.z), output, coord);\n";
    first.text = text + unitEnd();
    first.grid.x = uint32_t(tileCount(variant, m.problem) * splits);
    first.block.x = uint32_t(variant.threads());
    first.sharedBytes =
        uint32_t(variant.sharedBytes(simt ? sumBytes(m.problem.dtype) : int(bitWidth(m.problem.dtype) / 8)));
    first.args = {operandArg(m.a.view.index), operandArg(m.b.view.index)};
    if (splits == 1) {
      first.args.insert(first.args.end(), epilogue->args.begin(), epilogue->args.end());
      return std::vector<EmittedKernel>{std::move(first)};
    }
    first.args.push_back(
        scratchArg(m.problem.rows * m.problem.cols * m.problem.batch * splits * sumBytes(m.problem.dtype)));
    EmittedKernel second =
        emitSplitReduction(kernel, name(), {"matmul/matmul.cuh"}, configText + output, {epilogue->parameters},
                           epilogue->args, makeOutput, m.problem, splits, lanes);
    return std::vector<EmittedKernel>{std::move(first), std::move(second)};
  }

  FailureOr<std::vector<EmittedKernel>> emitGemv(KernelOp kernel, MatmulAnalysis m,
                                                 const MatmulConfig &c) const {
    bool alongDepth = c.variant == kGemvDepth;
    if (alongDepth) {
      int64_t access = std::min(m.a.depthContiguous() ? m.a.access : 1, m.b.access);
      m.a.access = m.b.access = access;
    } else {
      m.a.access = 1;
    }
    m.epilogue.lanes = 1;
    auto epilogue = emitEpilogue(kernel, {m.root.getZ()}, m.epilogue);
    if (failed(epilogue))
      return failure();
    std::string element = storageTypeName(elementTypeOf(m.root.getX()));
    int64_t blockN = alongDepth ? c.columns : c.columns * m.b.access;
    int64_t threads = int64_t(c.columns) * c.slices * (alongDepth ? 32 : 1);
    int64_t blocks = llvm::divideCeil(m.problem.cols, blockN);

    EmittedKernel out;
    std::string text = unitHead(kernel, name(), c.variant, {"matmul/matmul.cuh"});
    text += m.a.text("OperandA", element, m.batchExtents, m.a.rows, 1 << 20);
    text += m.b.text("OperandB", element, m.batchExtents, 1 << 20, 1 << 20);
    text +=
        llvm::formatv("struct Config {{\n  static constexpr i32 kM = {0}, kN = {1}, kK = {2}, kBatch = {3};\n"
                      "  static constexpr int kColumns = {4}, kSlices = {5};\n};\n",
                      m.problem.rows, m.problem.cols, m.problem.depth, m.problem.batch, c.columns, c.slices);
    text += matmulOutputText(m, *epilogue, 1);
    text += "using SourceA = DenseSource<OperandA>;\nusing SourceB = DenseSource<OperandB>;\n";
    text += llvm::formatv("using Body = {0}<Config, SourceA, SourceB>;\n",
                          alongDepth ? "GemvAlongDepth" : "GemvAlongColumns");
    text += unitEntry("Body::kThreads, 1",
                      {"const " + element + " *a", "const " + element + " *b", epilogue->parameters});
    text += "  GPUC_SMEM(Body::Shared, shared);\n";
    text += llvm::formatv("  constexpr u32 kBlocks = {0}; // of one batch element\n", blocks);
    text += "  i32 z = i32(blockIdx.x / kBlocks), firstCol = i32(blockIdx.x % kBlocks) * Body::kBlockN;\n";
    text += llvm::formatv("  Epilogue epilogue = {0};\n  Output output{{epilogue};\n", epilogue->construct);
    text += "  runGemv<Body, Config>(shared, SourceA(a, z), SourceB(b, z), output, z, firstCol);\n";
    out.text = text + unitEnd();
    out.grid.x = uint32_t(blocks * m.problem.batch);
    out.block.x = uint32_t(threads);
    int64_t sums = alongDepth ? int64_t(c.columns) * c.slices * m.problem.rows : c.slices * blockN;
    out.sharedBytes = uint32_t(sums * sumBytes(m.problem.dtype));
    out.args = {operandArg(m.a.view.index), operandArg(m.b.view.index)};
    out.args.insert(out.args.end(), epilogue->args.begin(), epilogue->args.end());
    return std::vector<EmittedKernel>{std::move(out)};
  }
};

} // namespace

/// The declarations that both launches share: element type, epilogue, Output.
std::string matmulOutputText(const MatmulAnalysis &m, const EmittedFunctor &epilogue, unsigned lanes) {
  MatmulOp root = m.root;
  Type element = elementTypeOf(root.getX());
  std::string order = m.swapped ? "col, row" : "row, col";
  std::string s = llvm::formatv("using Element = {0};\n", storageTypeName(element));
  s += epilogue.text;
  s += llvm::formatv("struct Output {{\n  using Acc = {0};\n  static constexpr int kLanes = {1};\n",
                     computeTypeName(element), lanes);
  s += "  const Epilogue &epilogue;\n  template <int L>\n"
       "  GPUC_DEVICE void store(const Acc (&values)[L], i32 z, i32 row, i32 col) const {\n";
  s += llvm::formatv("    epilogue.store(values, {0}{1});\n  }\n};\n", m.batchExtents.empty() ? "" : "z, ",
                     order);
  return s;
}

const KernelFamily &matmulFamily() {
  static const MatmulFamily family;
  return family;
}

} // namespace gpuc

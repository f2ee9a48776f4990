// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the units of softmax, layer, RMS and group norm, and LRN.
#include "Families.h"
#include "Normalization.h"
#include "emit/ExprEmitterImpl.h"

using namespace mlir;

namespace gpuc {
namespace normalization {
namespace {

/// What all forms need: both functors, the names of types, and how a template's coordinates become the
/// functors'.
struct Parts {
  EmittedFunctor prologue, epilogue;
  std::string acc, index;
  int64_t accBytes = 4;
};

FunctorShape functorShape(const Problem &p, llvm::StringRef name, unsigned lanes, llvm::StringRef index) {
  FunctorShape shape;
  shape.name = name.str();
  shape.groups = p.axes;
  shape.laneGroup = p.laneGroup;
  shape.lanes = lanes;
  shape.indexType = index.str();
  return shape;
}

FailureOr<Parts> makeParts(KernelOp kernel, const Problem &p, unsigned lanes) {
  Parts parts;
  parts.index = indexTypeFor(kernel);
  parts.acc = computeTypeName(elementTypeOf(p.x));
  parts.accBytes = elementTypeOf(p.x).isF64() ? 8 : 4;
  auto prologue = emitPrologue(kernel, p.x, functorShape(p, "Prologue", lanes, parts.index));
  auto epilogue =
      emitEpilogue(kernel, {p.root->getResult(0)}, functorShape(p, "Epilogue", lanes, parts.index));
  if (failed(prologue) || failed(epilogue))
    return failure();
  parts.prologue = *prologue;
  parts.epilogue = *epilogue;
  return parts;
}

/// Statements that turn (row, col) of a group norm into the functors' coordinates (n, channel, position).
std::string groupCoordinates(const Problem &p) {
  int64_t perGroup = p.axis / p.groups;
  std::string divisor = std::to_string(p.channelsFastest ? perGroup : p.inner);
  std::string quotient = "col / " + divisor, rest = "col % " + divisor;
  return llvm::formatv("    Index n = row / {0}, channel = row % {0} * {1} + {2}, position = {3};\n",
                       p.groups, perGroup, p.channelsFastest ? rest : quotient,
                       p.channelsFastest ? quotient : rest);
}

/// The statement that declares the channel of (row, col) of a group norm.
std::string channelText(const Problem &p) {
  int64_t perGroup = p.axis / p.groups;
  return llvm::formatv("    Index channel = row % {0} * {1} + col {2} {3};\n", p.groups, perGroup,
                       p.channelsFastest ? "%" : "/", p.channelsFastest ? perGroup : p.inner);
}

/// "struct Source" (or "struct Sink") of rows: the functor at (row, col).
std::string rowAccessText(const Problem &p, unsigned lanes, bool isSource) {
  std::string before = p.isGroupNorm ? groupCoordinates(p) : "",
              coords = p.isGroupNorm ? "n, channel, position" : "row, col";
  StringRef functor = isSource ? "prologue" : "epilogue", name = isSource ? "load" : "store",
            value = isSource ? "x" : "y";
  return llvm::formatv(
      "struct {0} {{\n  {1} {2};\n  GPUC_DEVICE void {3}({4} (&{5})[{6}], Index row, Index col) const {{\n{7}"
      "    {2}.{3}({5}, {8});\n  }\n};\n",
      isSource ? "Source" : "Sink", isSource ? "Prologue" : "Epilogue", functor, name,
      isSource ? "Real" : "const Real", value, lanes, before, coords);
}

/// A parameter (scale or bias) of the affine part: its functor and the statements that load Acc `name`[lanes]
/// at (row, col).
struct Parameter {
  EmittedFunctor functor;
  std::string load;
};

/// Scale or bias of a layer or RMS norm, which broadcasts to x's trailing axes.
FailureOr<Parameter> trailingParameter(KernelOp kernel, const Problem &p, Value value, StringRef name,
                                       unsigned lanes, StringRef index) {
  FunctorShape shape;
  shape.name = name == "scale" ? "Scale" : "Bias";
  shape.indexType = index.str();
  auto own = shapeOf(value), full = shapeOf(p.x);
  const auto &cols = p.axes[1];
  Parameter result;
  if (tensorType(value).getNumElements() == p.cols) { // no broadcast
    SmallVector<unsigned> all;
    for (unsigned d = 0; d < own.size(); ++d)
      all.push_back(d);
    shape.groups = {all};
    shape.lanes = lanes;
    result.load = llvm::formatv("    Real {0}[{1}];\n    {0}Of.load({0}, col);\n", name, lanes);
  } else {
    std::string coords;
    for (unsigned d = 0; d < own.size(); ++d) {
      shape.groups.push_back({d});
      unsigned axis = d + unsigned(full.size() - own.size());
      std::string digit = "0";
      if (own[d] != 1) {
        int64_t inner = 1;
        for (unsigned c : cols)
          inner *= c > axis ? full[c] : 1;
        digit = llvm::formatv("(col + l) / {0} % {1}", inner, full[axis]);
      }
      coords += (d ? ", " : "") + digit;
    }
    if (own.empty()) {
      shape.groups = {{}};
      coords = "0";
    }
    result.load = llvm::formatv(
        "    Real {0}[{1}];\n#pragma unroll\n    for (int l = 0; l < {1}; ++l) {{\n      Real one[1];\n"
        "      {0}Of.load(one, {2});\n      {0}[l] = one[0];\n    }\n",
        name, lanes, coords);
  }
  auto functor = emitPrologue(kernel, value, shape);
  if (failed(functor))
    return failure();
  result.functor = *functor;
  return result;
}

/// Scale or bias of a group norm: one number per channel.
FailureOr<Parameter> channelParameter(KernelOp kernel, const Problem &p, Value value, StringRef name,
                                      unsigned lanes, StringRef index) {
  FunctorShape shape;
  shape.name = name == "scale" ? "Scale" : "Bias";
  shape.indexType = index.str();
  shape.groups = {{0}};
  shape.lanes = p.channelsFastest ? lanes : 1;
  auto functor = emitPrologue(kernel, value, shape);
  if (failed(functor))
    return failure();
  Parameter result;
  result.functor = *functor;
  if (p.channelsFastest)
    result.load = llvm::formatv("    Real {0}[{1}];\n    {0}Of.load({0}, channel);\n", name, lanes);
  else
    result.load =
        llvm::formatv("    Real {0}[{1}], {0}One[1];\n    {0}Of.load({0}One, channel);\n#pragma unroll\n"
                      "    for (int l = 0; l < {1}; ++l)\n      {0}[l] = {0}One[0];\n",
                      name, lanes);
  return result;
}

/// "struct Affine" and how to make it.
FailureOr<std::string> defineAffine(KernelOp kernel, const Problem &p, unsigned lanes, StringRef index,
                                    RootUnit &unit) {
  std::string members, loads, formula = "y[l]", construct;
  for (auto [value, name] : {std::pair(p.scale, StringRef("scale")), std::pair(p.bias, StringRef("bias"))}) {
    if (!value)
      continue;
    auto parameter = p.isGroupNorm ? channelParameter(kernel, p, value, name, lanes, index)
                                   : trailingParameter(kernel, p, value, name, lanes, index);
    if (failed(parameter))
      return failure();
    unit.add(parameter->functor);
    members += llvm::formatv("  {0} {1}Of;\n", name == "scale" ? "Scale" : "Bias", name);
    loads += parameter->load;
    formula += name == "scale" ? " * scale[l]" : " + bias[l]";
    construct += (construct.empty() ? "" : ", ") + parameter->functor.construct;
  }
  std::string body;
  if (!loads.empty())
    body = (p.isGroupNorm ? channelText(p) : "") + loads +
           llvm::formatv("#pragma unroll\n    for (int l = 0; l < {0}; ++l)\n      y[l] = {1};\n", lanes,
                         formula)
               .str();
  unit.define(llvm::formatv(
      "struct Affine {{\n{0}  GPUC_DEVICE void apply(Real (&y)[{1}], Index row, Index col) const {{\n{2}"
      "  }\n};\n",
      members, lanes, body));
  return "Affine{" + construct + "}";
}

std::string softmaxType(SoftmaxOp op) {
  return "SoftmaxOp<" + boolText(op.getLog()) + ", " + boolText(op.getZeroMasked()) + ">";
}

/// A unit of rows with everything up to Source.
RootUnit beginRows(KernelOp kernel, const Problem &p, const Parts &parts, int64_t chunks) {
  unsigned lanes = unsigned(configInt(kernel, "lanes", 1));
  RootUnit unit(kernel, "normalization", configString(kernel, "variant"), "normalization/normalization.cuh");
  unit.define(llvm::formatv("using Index = {0};\nusing Real = {1};\n", parts.index, parts.acc));
  unit.define(llvm::formatv(
      "struct Config {{\n  using Acc = {0};\n  using Index = {1};\n"
      "  static constexpr Index kRows = {2}, kCols = {3};\n"
      "  static constexpr int kTeam = {4}, kTeams = {5}, kVectors = {6}, kLanes = {7}, kChunks = {8};\n};\n",
      parts.acc, parts.index, p.rows, p.cols, configInt(kernel, "team", 32), configInt(kernel, "teams", 1),
      configInt(kernel, "vectors"), lanes, chunks));
  unit.add(parts.prologue);
  unit.define(rowAccessText(p, lanes, true));
  return unit;
}

FailureOr<std::vector<EmittedKernel>> emitRows(KernelOp kernel, const Problem &p) {
  unsigned lanes = unsigned(configInt(kernel, "lanes", 1));
  int64_t team = configInt(kernel, "team", 32), teams = configInt(kernel, "teams", 1);
  bool isSplit = configString(kernel, "variant") == "split";
  int64_t chunks = isSplit ? ceilDiv(p.cols, team * lanes * configInt(kernel, "vectors", 1)) : 1;
  int64_t sharedBytes = team > 32 ? team / 32 * 8 : 8;
  auto parts = makeParts(kernel, p, lanes);
  if (failed(parts))
    return failure();
  std::string centre = boolText(!isa<RmsNormOp>(p.root)), moments = "Moments<" + parts->acc + "> *moments";
  std::string begin = llvm::formatv("GPUC_SMEM(RowTeam<Config>::Shared, shared);\nSource source{{{0}};\n",
                                    parts->prologue.construct);
  int64_t momentsBytes = p.rows * chunks * 2 * parts->accBytes;
  std::vector<EmittedKernel> result;
  if (isSplit) {
    RootUnit first = beginRows(kernel, p, *parts, chunks);
    first.add(moments, EmittedArg::Kind::Scratch, 0, momentsBytes);
    result.push_back(first.finish(
        begin +
            llvm::formatv("partialMoments<Config, {0}>(shared, source, moments, i64(blockIdx.x));\n", centre)
                .str(),
        p.rows * chunks, team, sharedBytes));
  }
  RootUnit unit = beginRows(kernel, p, *parts, chunks);
  unit.add(parts->epilogue);
  unit.define(rowAccessText(p, lanes, false));
  std::string body = begin + llvm::formatv("Sink sink{{{0}};\n", parts->epilogue.construct).str();
  if (auto softmax = dyn_cast<SoftmaxOp>(p.root)) {
    body += softmaxType(softmax) + " op;\n";
  } else {
    auto affine = defineAffine(kernel, p, lanes, parts->index, unit);
    if (failed(affine))
      return failure();
    body += "Affine affine = " + *affine + ";\n";
    std::string epsilon = realLiteral(elementTypeOf(p.x), p.epsilon);
    if (isSplit) {
      unit.add("const " + moments, EmittedArg::Kind::Scratch, 0, momentsBytes);
      body += llvm::formatv(
          "applyMoments<Config, {0}>(shared, source, affine, sink, moments, {1}, i64(blockIdx.x));\n", centre,
          epsilon);
    } else {
      body += llvm::formatv("MomentsOp<{0}, Affine, Real> op{{affine, {1}};\n", centre, epsilon);
    }
  }
  if (!isSplit)
    body += "normalizeRows<Config>(shared, source, op, sink, Index(blockIdx.x));\n";
  result.push_back(
      unit.finish(body, isSplit ? p.rows * chunks : ceilDiv(p.rows, teams), team * teams, sharedBytes));
  return result;
}

FailureOr<EmittedKernel> emitColumns(KernelOp kernel, const Problem &p) {
  unsigned lanes = unsigned(configInt(kernel, "lanes", 1));
  int64_t width = configInt(kernel, "width", 32), slices = configInt(kernel, "slices", 1);
  auto parts = makeParts(kernel, p, lanes);
  if (failed(parts))
    return failure();
  RootUnit unit(kernel, "normalization", configString(kernel, "variant"), "normalization/normalization.cuh");
  unit.define(llvm::formatv("struct Config {{\n  using Acc = {0};\n  using Index = {1};\n"
                            "  static constexpr Index kOuter = {2}, kAxis = {3}, kInner = {4};\n"
                            "  static constexpr int kThreadsInner = {5}, kSlices = {6}, kLanes = {7};\n};\n",
                            parts->acc, parts->index, p.outer, p.axis, p.inner, width, slices, lanes));
  unit.add(parts->prologue);
  unit.add(parts->epilogue);
  std::string body = llvm::formatv(
      "GPUC_SMEM(SoftmaxColumnShared<Config>, shared);\nsoftmaxColumns<Config, {0}>(shared, {1}, {2}, "
      "{3}(blockIdx.x));\n",
      softmaxType(cast<SoftmaxOp>(p.root)), parts->prologue.construct, parts->epilogue.construct,
      parts->index);
  int64_t tiles = ceilDiv(p.inner, width * lanes);
  return unit.finish(body, p.outer * tiles, width * slices, 2 * width * slices * lanes * parts->accBytes);
}

FailureOr<EmittedKernel> emitWindow(KernelOp kernel, const Problem &p) {
  auto op = cast<LrnOp>(p.root);
  unsigned lanes = unsigned(configInt(kernel, "lanes", 1));
  int64_t threads = configInt(kernel, "threads", 128);
  auto parts = makeParts(kernel, p, lanes);
  if (failed(parts))
    return failure();
  RootUnit unit(kernel, "normalization", configString(kernel, "variant"), "normalization/normalization.cuh");
  // A window wider than both sides of the channels is the whole axis.
  int64_t size = std::min<int64_t>(op.getSize(), 2 * p.axis + 1);
  unit.define(llvm::formatv(
      "struct Config {{\n  using Acc = {0};\n  using Index = {1};\n"
      "  static constexpr Index kBatch = {2}, kChannels = {3}, kSpatial = {4}, kSize = {5};\n"
      "  static constexpr int kLanes = {6};\n  static constexpr bool kChannelsFastest = {7};\n};\n",
      parts->acc, parts->index, p.outer, p.axis, p.inner, size, lanes, boolText(p.channelsFastest)));
  unit.add(parts->prologue);
  unit.add(parts->epilogue);
  Type type = elementTypeOf(p.x);
  std::string body =
      llvm::formatv("localResponse<Config>({0}, {1}, {2}, {3}, {4}, i64(blockIdx.x) * {5} + threadIdx.x);\n",
                    parts->prologue.construct, parts->epilogue.construct,
                    realLiteral(type, op.getAlpha().convertToDouble() / double(op.getSize())),
                    realLiteral(type, op.getBeta().convertToDouble()),
                    realLiteral(type, op.getBias().convertToDouble()), threads);
  return unit.finish(body, ceilDiv(p.outer * p.axis * p.inner / lanes, threads), threads, 0);
}

class NormalizationFamily final : public KernelFamily {
public:
  StringRef name() const override { return "normalization"; }
  LogicalResult select(KernelOp kernel, const Target &target) const override {
    return normalization::select(kernel, target);
  }
  FailureOr<std::vector<EmittedKernel>> emit(KernelOp kernel, const Target &) const override {
    auto p = analyze(kernel);
    if (failed(p))
      return failure();
    if (tensorType(p->x).getNumElements() == 0)
      return std::vector<EmittedKernel>();
    if (p->form == Form::Rows)
      return emitRows(kernel, *p);
    auto emitted = p->form == Form::Columns ? emitColumns(kernel, *p) : emitWindow(kernel, *p);
    if (failed(emitted))
      return failure();
    return std::vector<EmittedKernel>{std::move(*emitted)};
  }
};

} // namespace
} // namespace normalization

const KernelFamily &normalizationFamily() {
  static const normalization::NormalizationFamily family;
  return family;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The family "squeeze_excite": choice of the cluster and units.
#include "Families.h"
#include "emit/ExprEmitterImpl.h"
#include "emit/RootUnit.h"

using namespace mlir;

namespace gpuc {
namespace {

constexpr int64_t kThreads = 256, kMostRanks = 8, kFewestChannels = 8;

struct Problem {
  SqueezeExciteOp op;
  FunctorShape shape; ///< (image, pixel, channel), lanes along the channels
  bool channelsFastest = false;
  int64_t images = 0, channels = 0, pixels = 0, hidden = 0;
  unsigned lanes = 1;
};

FailureOr<Problem> analyze(KernelOp kernel) {
  Problem p;
  p.op = dyn_cast_or_null<SqueezeExciteOp>(kernel.getRoot());
  if (!p.op)
    return kernel.emitError("a squeeze_excite kernel needs squeeze_excite as its root");
  auto shape = shapeOf(p.op.getX());
  p.images = shape[0];
  p.channels = shape[1];
  p.hidden = shapeOf(p.op.getW1())[0];
  p.pixels = 1;
  SmallVector<unsigned> spatial;
  for (unsigned d = 2; d < shape.size(); ++d) {
    p.pixels *= shape[d];
    spatial.push_back(d);
  }
  p.shape.groups = {{0}, spatial, {1}};
  p.shape.laneGroup = 2;
  auto strides = likelyStrides(kernel, p.op.getX());
  p.channelsFastest = true;
  for (unsigned d : spatial)
    p.channelsFastest &= shape[d] == 1 || strides[d] > strides[1];
  if (p.channelsFastest && tensorType(p.op.getX()).getNumElements() > 0)
    p.lanes = std::min(maxLanes(kernel, p.op.getX(), 1), maxLanes(kernel, p.op.getY(), 1));
  return p;
}

/// The operand of the kernel behind weights or a bias, which lie row-major.
FailureOr<unsigned> plainOperand(KernelOp kernel, Value v) {
  auto traced = traceStridedView(v, [&](Value base) -> SmallVector<int64_t> {
    auto argument = dyn_cast<BlockArgument>(base);
    return argument ? argumentStrides(kernel, argument) : rowMajorStrides(shapeOf(base));
  });
  auto argument = traced ? dyn_cast<BlockArgument>(traced->base) : BlockArgument();
  bool rowMajor = argument && traced->offset == 0;
  auto wanted = rowMajorStrides(shapeOf(v));
  for (auto [d, extent] : llvm::enumerate(shapeOf(v)))
    rowMajor = rowMajor && (extent == 1 || traced->strides[d] == wanted[d]);
  if (!rowMajor)
    return kernel.emitError("weights of squeeze_excite must lie row-major");
  return argument.getArgNumber();
}

class SqueezeExciteFamily final : public KernelFamily {
public:
  StringRef name() const override { return "squeeze_excite"; }

  /// As many ranks as keep every SM busy once, and have channels for all.
  LogicalResult select(KernelOp kernel, const Target &target) const override {
    auto p = analyze(kernel);
    if (failed(p))
      return failure();
    int64_t ranks = target.hasClusters ? kMostRanks : 1;
    while (ranks > 1 && (p->channels < ranks * kFewestChannels || p->images * ranks > 2 * target.numSMs))
      ranks /= 2;
    setConfig(kernel, ranks > 1 ? "cluster" : "block", {{"ranks", ranks}});
    return success();
  }

  FailureOr<std::vector<EmittedKernel>> emit(KernelOp kernel, const Target &) const override {
    auto p = analyze(kernel);
    if (failed(p))
      return failure();
    if (tensorType(p->op.getX()).getNumElements() == 0)
      return std::vector<EmittedKernel>();
    int64_t ranks = configInt(kernel, "ranks", 1);
    FunctorShape shape = p->shape;
    shape.lanes = p->lanes;
    shape.name = "Prologue";
    auto prologue = emitPrologue(kernel, p->op.getX(), shape);
    shape.name = "Epilogue";
    auto epilogue = emitEpilogue(kernel, {p->op.getY()}, shape);
    if (failed(prologue) || failed(epilogue))
      return failure();
    std::string acc = computeTypeName(elementTypeOf(p->op.getX()));
    std::string weight = storageTypeName(elementTypeOf(p->op.getW1()));
    int64_t step = std::max<int64_t>(p->lanes, 4);
    int64_t slice = ceilDiv(ceilDiv(p->channels, ranks), step) * step;
    int64_t hiddenSlice = ceilDiv(ceilDiv(std::max<int64_t>(p->hidden, 1), ranks), 4) * 4;

    RootUnit unit(kernel, name(), configString(kernel, "variant"), "squeeze_excite/squeeze_excite.cuh");
    if (ranks > 1)
      unit.include("squeeze_excite/exchange.cuh");
    unit.define(llvm::formatv("struct Config {{\n  using Acc = {0};\n  using Weight = {1};\n"
                              "  static constexpr int kChannels = {2}, kPixels = {3}, kHidden = {4}, kRanks "
                              "= {5}, kThreads = {6};\n"
                              "  static constexpr int kLanes = {7}, kSlice = {8}, kHiddenSlice = {9};\n"
                              "  static constexpr bool kChannelsFastest = {10};\n};\n",
                              acc, weight, p->channels, p->pixels, p->hidden, ranks, kThreads, p->lanes,
                              slice, hiddenSlice, boolText(p->channelsFastest)));
    unit.add(*prologue);
    unit.add(*epilogue);
    auto function = [&](StringRef name, UnaryKind kind, std::string parameters) {
      return llvm::formatv("  GPUC_DEVICE static float {0}(float v) {{ return unary_{1}(v{2}); }\n", name,
                           gpuc::name(kind), parameters)
          .str();
    };
    UnaryKind gate = p->op.getGate();
    std::string gateParameters;
    if (gate == UnaryKind::HardSigmoid)
      gateParameters =
          ", " + realLiteral(Float32Type::get(kernel.getContext()), p->op.getAlpha().convertToDouble()) +
          ", " + realLiteral(Float32Type::get(kernel.getContext()), p->op.getBeta().convertToDouble());
    unit.define(llvm::formatv(
                    "struct Unit {{\n  Prologue prologue;\n  Epilogue epilogue;\n"
                    "  GPUC_DEVICE void load({0} (&x)[{1}], i32 n, i32 pixel, i32 channel) const {{ "
                    "prologue.load(x, n, "
                    "pixel, channel); }\n"
                    "  GPUC_DEVICE void store(const {0} (&y)[{1}], i32 n, i32 pixel, i32 channel) const {{\n"
                    "    epilogue.store(y, n, pixel, channel);\n  }\n",
                    acc, p->lanes)
                    .str() +
                function("act", p->op.getAct(), "") + function("gate", gate, gateParameters) + "};\n");
    unit.define(llvm::formatv("using Body = SqueezeExcite<Config, Unit, {0}<Config>>;\n",
                              ranks > 1 ? "ClusterExchange" : "LoneBlock"));
    std::pair<const char *, Value> weights[] = {
        {"w1", p->op.getW1()}, {"b1", p->op.getB1()}, {"w2", p->op.getW2()}, {"b2", p->op.getB2()}};
    for (auto [name, value] : weights) {
      auto index = plainOperand(kernel, value);
      if (failed(index))
        return failure();
      unit.add("const " + weight + " *" + name, EmittedArg::Kind::Operand, *index);
    }
    EntryText entry;
    entry.beforeWait = "GPUC_SMEM(Body::Shared, shared);\nBody::prepare(shared);\n";
    std::string body = llvm::formatv("Body::run(shared, Unit{{{0}, {1}}, w1, b1, w2, b2);\n",
                                     prologue->construct, epilogue->construct);
    int64_t runThreads =
        p->channelsFastest ? std::min(slice / p->lanes, kThreads) : std::min(slice / p->lanes, kThreads / 32);
    int64_t pixelThreads = kThreads / runThreads;
    int64_t floats = ranks * slice + ranks * hiddenSlice + slice + pixelThreads * slice;
    int64_t shared = ceilDiv(floats * 4, 16) * 16 + 32;
    std::vector<EmittedKernel> emitted;
    emitted.push_back(unit.finish(body, p->images * ranks, kThreads, shared, entry));
    emitted.back().cluster = uint32_t(ranks);
    return emitted;
  }
};

} // namespace

const KernelFamily &squeeze_exciteFamily() {
  static const SqueezeExciteFamily family;
  return family;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The family "convolution": implicit GEMM over matmul's tiles, and depthwise.
#include "Depthwise.h"
#include "Families.h"
#include "Narrow.h"
#include "emit/UnitText.h"
#include "gpuc/IR/Types.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace gpuc {

constexpr llvm::StringLiteral kDepthwise = "depthwise";

FunctorShape convEpilogueShape(KernelOp kernel, size_t spatial, bool pixelLanes, unsigned lanes) {
  FunctorShape shape;
  llvm::SmallVector<unsigned> pixel{0};
  for (size_t d = 0; d < spatial; ++d)
    pixel.push_back(unsigned(d + 2));
  shape.groups = {pixel, {1}};
  shape.laneGroup = pixelLanes ? 0 : 1;
  shape.lanes = lanes;
  shape.indexType = indexTypeFor(kernel);
  return shape;
}

/// The kernel that fills FilterSource's layout from w.
PackingKernel packFilters(KernelOp kernel, const ConvAnalysis &c, const std::string &element, bool tf32) {
  ConvAnalysis g = c; // the layout does not depend on x: equal weights are packed once
  g.access = 1;
  g.images = 1;
  g.imageStride = g.channelStride = 0;
  g.x.constant = false;
  for (size_t d = 0; d < g.xExtent.size(); ++d)
    g.xExtent[d] = g.yExtent[d] = g.xStride[d] = 1;
  std::string geometry = g.geometryText(element);
  std::string text = unitHead(kernel, "convolution", "pack", {"convolution/geometry.cuh"}) + geometry;
  text += unitEntry(std::to_string(kPackingThreads), {"const " + element + " *w", element + " *packed"});
  text +=
      llvm::formatv("  packFilter<Geometry, {0}>({1}, packed, i64(blockIdx.x) * blockDim.x + threadIdx.x);\n",
                    boolText(tf32), shiftedPointer("w", c.w));
  return packingKernel(text + unitEnd(), c.w.index, c.packedElements(), bitWidth(c.dtype) / 8,
                       llvm::formatv("conv filter{0} +{1}\n{2}", tf32 ? " tf32" : "", c.w.offset, geometry));
}

namespace {

using Roles = ConvRoles;

/// Vectors of channels need groups of whole vectors; pixels of a transposed convolution's phase are no
/// neighbours.
Roles chooseRoles(const ConvAnalysis &c, unsigned limit) {
  unsigned channel = std::min(c.lanesChannel, limit);
  while (channel > 1 && c.groupOutputs % channel != 0)
    channel /= 2;
  unsigned pixel = c.transposed ? 1 : std::min(c.lanesPixel, limit);
  if (pixel > channel)
    return {false, pixel};
  return {true, channel};
}

TileProblem tileProblem(KernelOp kernel, const ConvAnalysis &c, const Roles &roles) {
  TileProblem p;
  p.dtype = c.dtype;
  p.math = tileMath(c.dtype, c.root->hasAttr("tf32"));
  p.f16Accumulate = c.root->hasAttr("f16_accumulate");
  p.rows = roles.pixelRows ? c.pixels() : c.groupOutputs;
  p.cols = roles.pixelRows ? c.groupOutputs : c.pixels();
  p.depth = c.depth();
  p.batch = c.phases() * c.groups;
  p.bytes = kernelBytes(kernel);
  constexpr int kElementWise = 8; // values on their way to shared memory, and addresses
  int pixel = 3 + int(c.xExtent.size()) + (c.access == 1 ? kElementWise : 0),
      filter = c.w.constant ? 2 : 2 + kElementWise;
  p.rowRegistersA = roles.pixelRows ? pixel : filter;
  p.rowRegistersB = roles.pixelRows ? filter : pixel;
  return p;
}

unsigned laneLimit(const ConvAnalysis &c) {
  return tileMath(c.dtype, c.root->hasAttr("tf32")) == TileMath::Simt ? 4 : 8;
}

/// Depthwise weights as [tap][channel].
PackingKernel packDepthwise(KernelOp kernel, const ConvAnalysis &c, const std::string &element) {
  std::string wTap = "0";
  int64_t taps = c.taps(), inner = 1;
  for (size_t d = c.kernel.size(); d-- > 0; inner *= c.kernel[d])
    wTap += llvm::formatv(" + tap / {0} % {1} * i64({2})", inner, c.kernel[d], c.wStride[d]).str();
  int64_t outputs = c.groups * c.groupOutputs;
  std::string text = unitHead(kernel, "convolution", "pack", {"common/types.cuh"});
  text += unitEntry(std::to_string(kPackingThreads), {"const " + element + " *w", element + " *packed"});
  std::string body =
      llvm::formatv("  i64 item = i64(blockIdx.x) * blockDim.x + threadIdx.x;\n"
                    "  i32 channel = i32(item % {0}), tap = i32(item / {0});\n"
                    "  if (tap < {1})\n    packed[item] = w[{2} + channel * i64({3}) + {4}];\n",
                    outputs, taps, c.w.offset, c.filterStride, wTap);
  return packingKernel(text + body + unitEnd(), c.w.index, outputs * taps, bitWidth(c.dtype) / 8,
                       "depthwise filter\n" + element + "\n" + body);
}

struct ConvolutionFamily final : KernelFamily {
  StringRef name() const override { return "convolution"; }

  LogicalResult select(KernelOp kernel, const Target &target) const override {
    auto c = analyzeConvolution(kernel);
    if (failed(c))
      return failure();
    Builder b(kernel.getContext());
    NamedAttrList list;
    if (c->isDepthwise()) {
      list = toAttributes(rankDepthwise(*c).front(), b);
    } else {
      auto choices = rankVariants(kernel, *c, target, 1);
      if (choices.empty()) {
        TileProblem problem = tileProblem(kernel, *c, chooseRoles(*c, laneLimit(*c)));
        return kernel.emitError("no convolution variant takes ")
               << problem.batch << " x " << problem.rows << " x " << problem.cols << " x " << problem.depth;
      }
      list = toAttributes(choices.front(), b);
    }
    kernel.setConfigAttr(list.getDictionary(kernel.getContext()));
    return success();
  }

  std::vector<DictionaryAttr> candidates(KernelOp kernel, const Target &target,
                                         unsigned limit) const override {
    auto c = analyzeConvolution(kernel);
    if (failed(c) || c->isEmpty())
      return {};
    Builder b(kernel.getContext());
    std::vector<DictionaryAttr> list;
    if (c->isDepthwise()) {
      for (const DepthwiseShape &shape : rankDepthwise(*c))
        if (list.size() < limit)
          list.push_back(toAttributes(shape, b).getDictionary(kernel.getContext()));
      return list;
    }
    for (const ProductChoice &choice : rankVariants(kernel, *c, target, limit))
      list.push_back(toAttributes(choice, b).getDictionary(kernel.getContext()));
    return list;
  }

  FailureOr<std::vector<EmittedKernel>> emit(KernelOp kernel, const Target &target) const override {
    auto c = analyzeConvolution(kernel);
    if (failed(c))
      return failure();
    auto config = kernel.getConfig();
    auto name = config ? config->getAs<StringAttr>("variant") : StringAttr();
    if (!name)
      return kernel.emitError("the kernel has no variant; run select first");
    if (c->isEmpty())
      return std::vector<EmittedKernel>();
    if (name.getValue() == kDepthwise)
      return emitDepthwise(kernel, *c);
    if (name.getValue() == kNarrow) {
      auto narrow = narrowShape(*c, chooseRoles(*c, laneLimit(*c)));
      if (!narrow)
        return kernel.emitError("convolution variant 'narrow' does not take this convolution");
      return emitNarrow(kernel, *c, *narrow, target);
    }
    auto splitsAttr = config->getAs<IntegerAttr>("splits");
    int splits = splitsAttr ? int(splitsAttr.getInt()) : 1;
    if (const WgmmaVariant *large = findWgmmaVariant(name.getValue()))
      return emitWgmmaConv(kernel, *c, chooseRoles(*c, laneLimit(*c)), *large, splits, target);
    const TileVariant *variant = findTileVariant(name.getValue());
    if (!variant)
      return kernel.emitError("unknown convolution variant '") << name.getValue() << "'";
    return emitTiles(kernel, *c, *variant, splits, target);
  }

private:
  static std::vector<ProductChoice> rankVariants(KernelOp kernel, const ConvAnalysis &c, const Target &target,
                                                 unsigned limit) {
    Roles roles = chooseRoles(c, laneLimit(c));
    TileProblem problem = tileProblem(kernel, c, roles);
    auto choices = rankProducts(problem, analyzeWgmmaConv(kernel, c, roles, target), target, limit);
    if (auto narrow = narrowShape(c, roles)) {
      ProductChoice choice{kNarrow, 1, narrowMicroseconds(*narrow, problem.bytes, target)};
      auto at = llvm::find_if(choices,
                              [&](const ProductChoice &o) { return o.microseconds > choice.microseconds; });
      choices.insert(at, choice);
      if (choices.size() > limit)
        choices.resize(limit);
    }
    return choices;
  }
  static NamedAttrList toAttributes(const ProductChoice &choice, Builder &b) {
    NamedAttrList list;
    list.append("variant", b.getStringAttr(choice.variant));
    list.append("splits", b.getI64IntegerAttr(choice.splits));
    return list;
  }
  static NamedAttrList toAttributes(const DepthwiseShape &shape, Builder &b) {
    NamedAttrList list;
    list.append("variant", b.getStringAttr(kDepthwise));
    list.append("strip", b.getI64IntegerAttr(shape.strip));
    list.append("channels", b.getI64IntegerAttr(shape.channels));
    list.append("threads", b.getI64IntegerAttr(shape.threads));
    return list;
  }
  static std::string outputText(const ConvAnalysis &c, const EmittedFunctor &epilogue, const Roles &roles) {
    return epilogue.text + llvm::formatv("using Output = ConvOutput<Geometry, Epilogue, {0}, {1}, {2}>;\n",
                                         roles.lanes, roles.pixelRows ? "true" : "false",
                                         c.bias ? "true" : "false")
                               .str();
  }
  static std::string makeOutput(const ConvAnalysis &c, const EmittedFunctor &epilogue) {
    return llvm::formatv("  Epilogue epilogue = {0};\n  Output output{{{1}, epilogue};\n", epilogue.construct,
                         c.bias ? shiftedPointer("bias", *c.bias) : "nullptr");
  }

  FailureOr<std::vector<EmittedKernel>> emitTiles(KernelOp kernel, const ConvAnalysis &c,
                                                  const TileVariant &variant, int splits,
                                                  const Target &target) const {
    Roles roles = chooseRoles(c, laneLimit(c));
    if (roles.pixelRows && roles.lanes > 1 && c.bias && c.bias->offset % roles.lanes != 0)
      roles.lanes = 1; // the bias could not be loaded in vectors
    TileProblem problem = tileProblem(kernel, c, roles);
    bool simt = problem.math == TileMath::Simt;
    auto epilogue = emitEpilogue(kernel, {c.root->getResult(0)},
                                 convEpilogueShape(kernel, c.xExtent.size(), !roles.pixelRows, roles.lanes));
    if (failed(epilogue))
      return failure();
    std::string element = storageTypeName(*elementType(c));
    std::string declarations = llvm::formatv("using Element = {0};\n", element);
    declarations += c.geometryText(element) + tileConfigText(variant, problem, splits, target);
    std::string output = outputText(c, *epilogue, roles);
    bool packed = c.w.constant;
    std::string sum = simt ? "Sum<Element>" : "float";
    std::string biasParameter = c.bias ? "const " + element + " *bias" : std::string();

    EmittedKernel first;
    std::string text = unitHead(kernel, name(), variant.name, {"convolution/convolution.cuh"});
    text += declarations + (splits == 1 ? output : std::string());
    text += "using Pixels = PixelSource<Geometry>;\n";
    text += !packed ? "using Filters = WeightSource<Geometry>;\n"
            : simt  ? llvm::formatv("using Filters = FilterSource<Geometry, {0}>;\n",
                                    std::min<int64_t>(4, 128 / bitWidth(c.dtype)))
                          .str()
                    : "using Filters = FilterSource<Geometry>;\n";
    text += llvm::formatv("using Tile = {0}<Config, {1}>;\n", simt ? "SimtTile" : "MmaTile",
                          roles.pixelRows ? "Pixels, Filters" : "Filters, Pixels");
    llvm::SmallVector<std::string> parameters{"const " + element + " *x", "const " + element + " *w"};
    if (splits == 1) {
      parameters.push_back(biasParameter);
      parameters.push_back(epilogue->parameters);
    } else {
      parameters.push_back(sum + " *partial");
    }
    text += unitEntry("Tile::kThreads, 1", parameters);
    text += "  GPUC_SMEM(Tile::Shared, shared);\n  TileCoord coord = tileCoord<Config>(blockIdx.x);\n"
            "  Phase<Geometry> phase(coord.z);\n";
    text += splits == 1
                ? makeOutput(c, *epilogue)
                : llvm::formatv("  PartialOutput<Config, {0}> output{{partial, coord.split};\n", sum).str();
    text += llvm::formatv("  Pixels pixels({0}, phase);\n", shiftedPointer("x", c.x));
    text += packed ? "  Filters filters(w, coord.z);\n"
                   : llvm::formatv("  Filters filters({0}, phase);\n", shiftedPointer("w", c.w)).str();
    text += llvm::formatv("  runTile<Tile>(shared, {0}, output, coord);\n",
                          roles.pixelRows ? "pixels, filters" : "filters, pixels");
    first.text = text + unitEnd();
    first.grid.x = uint32_t(tileCount(variant, problem) * splits);
    first.block.x = uint32_t(variant.threads());
    first.sharedBytes = uint32_t(variant.sharedBytes(simt ? sumBytes(c.dtype) : int(bitWidth(c.dtype) / 8)));
    first.args = {operandArg(c.x.index), packed ? packedArg(0) : operandArg(c.w.index)};
    if (packed)
      first.packing.push_back(packFilters(kernel, c, element, false));
    llvm::SmallVector<EmittedArg> outputArgs;
    if (c.bias)
      outputArgs.push_back(operandArg(c.bias->index));
    outputArgs.append(epilogue->args.begin(), epilogue->args.end());
    if (splits == 1) {
      first.args.insert(first.args.end(), outputArgs.begin(), outputArgs.end());
      return std::vector<EmittedKernel>{std::move(first)};
    }
    first.args.push_back(
        scratchArg(problem.rows * problem.cols * problem.batch * splits * sumBytes(c.dtype)));
    EmittedKernel second =
        emitSplitReduction(kernel, name(), {"convolution/convolution.cuh"}, declarations + output,
                           {biasParameter, epilogue->parameters}, outputArgs, makeOutput(c, *epilogue),
                           problem, splits, roles.lanes);
    return std::vector<EmittedKernel>{std::move(first), std::move(second)};
  }

  FailureOr<std::vector<EmittedKernel>> emitDepthwise(KernelOp kernel, ConvAnalysis c) const {
    int64_t outputs = c.groups * c.groupOutputs;
    auto config = kernel.getConfig();
    auto number = [&](StringRef key) {
      auto value = config->getAs<IntegerAttr>(key);
      return value ? value.getInt() : 0;
    };
    DepthwiseShape shape{number("strip"), number("channels"), number("threads")};
    if (!llvm::is_contained(depthwiseShapes(c), shape))
      shape = rankDepthwise(c).front();
    int64_t channels = shape.channels, strip = shape.strip;
    bool packed = depthwiseUnitStride(c), vectors = channels > 1;
    bool pixelLanes = !vectors && c.lanesPixel > 1;
    unsigned lanes = pixelLanes                              ? unsigned(strip)
                     : vectors && c.lanesChannel >= channels ? unsigned(channels)
                                                             : 1;
    auto epilogue = emitEpilogue(kernel, {c.root->getResult(0)},
                                 convEpilogueShape(kernel, c.xExtent.size(), pixelLanes, lanes));
    if (failed(epilogue))
      return failure();
    c.access = 1;
    std::string element = storageTypeName(*elementType(c));
    EmittedKernel out;
    std::string text = unitHead(kernel, name(), kDepthwise, {"convolution/depthwise.cuh"});
    text += c.geometryText(element);
    // Weights as stored: the taps of a channel lie row-major iff the strides say so; else they are packed.
    int64_t inner = 1;
    bool dense = true;
    for (size_t d = c.kernel.size(); d-- > 0; inner *= c.kernel[d])
      dense &= c.kernel[d] == 1 || c.wStride[d] == inner * tapStrideOf(c);
    if (!packed && !dense) {
      if (!c.w.constant)
        return kernel.emitError("depthwise weights that are computed must lie row-major");
      packed = true;
    }
    int64_t tapStride = packed ? outputs : tapStrideOf(c);
    bool constant = c.w.constant && (!c.bias || c.bias->constant);
    text +=
        llvm::formatv("struct Config {{\n  static constexpr int kStrip = {0}, kChannels = {1};\n"
                      "  static constexpr bool kPixelLanes = {2}, kBias = {3}, kConstant = {4}, "
                      "kWhole = {5};\n"
                      "  static constexpr i64 kFilterStride = {6}, kTapStride = {7};\n};\n",
                      strip, channels, boolText(pixelLanes), boolText(c.bias.has_value()), boolText(constant),
                      boolText(depthwiseWhole(c, shape)), packed ? 1 : c.filterStride, tapStride);
    ConvAnalysis unbiased = c; // the sums start with the bias
    unbiased.bias.reset();
    text += outputText(unbiased, *epilogue, {!pixelLanes, lanes});
    text += "using Body = Depthwise<Geometry, Config>;\n";
    text += unitEntry(std::to_string(shape.threads),
                      {"const " + element + " *x", "const " + element + " *w",
                       c.bias ? "const " + element + " *bias" : std::string(), epilogue->parameters});
    text += makeOutput(unbiased, *epilogue);
    text += llvm::formatv("  runDepthwise<Body, {0}>({1}, {2}, {3}, output);\n", element,
                          shiftedPointer("x", c.x), packed ? "w" : shiftedPointer("w", c.w),
                          c.bias ? shiftedPointer("bias", *c.bias) : "nullptr");
    out.text = text + unitEnd();
    out.grid.x = uint32_t(llvm::divideCeil(depthwiseItems(c, shape), shape.threads));
    out.block.x = uint32_t(shape.threads);
    out.args = {operandArg(c.x.index), packed ? packedArg(0) : operandArg(c.w.index)};
    if (packed)
      out.packing.push_back(packDepthwise(kernel, c, element));
    if (c.bias)
      out.args.push_back(operandArg(c.bias->index));
    out.args.insert(out.args.end(), epilogue->args.begin(), epilogue->args.end());
    return std::vector<EmittedKernel>{std::move(out)};
  }

  static int64_t tapStrideOf(const ConvAnalysis &c) {
    int64_t inner = 1;
    for (size_t d = c.kernel.size(); d-- > 0; inner *= c.kernel[d])
      if (c.kernel[d] > 1)
        return c.wStride[d] / inner;
    return 1;
  }
  static std::optional<Type> elementType(const ConvAnalysis &c) {
    return elementTypeOf(c.root->getOperand(0));
  }
};

} // namespace

const KernelFamily &convolutionFamily() {
  static const ConvolutionFamily family;
  return family;
}

} // namespace gpuc

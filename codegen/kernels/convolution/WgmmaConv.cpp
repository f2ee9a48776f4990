// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolution kernels as problems and units of ../wgmma. Filters of one tap that meet every pixel are plain
// products; others walk a window over the image (PixelTaps); stride 2 over few channels first makes blocks of
// pixels (space_to_depth.cuh) and walks over those.
#include "WgmmaConv.h"
#include "../slab/Slab.h"
#include "SpaceToDepth.h"
#include "emit/UnitText.h"
#include "gpuc/IR/Types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace gpuc {

namespace {

/// A two-dimensional window; one spatial axis is a row of height 1. Index 0 is x, the fastest.
struct Window {
  int64_t extent[2] = {1, 1}, pixels[2] = {1, 1}, taps[2] = {1, 1}, stride[2] = {1, 1}, low[2] = {0, 0},
          dilation[2] = {1, 1}, step[2] = {0, 0}; ///< step: of x in memory, elements
  bool isPointwise() const {                      // every pixel meets the cell at its own position
    for (int d = 0; d < 2; ++d)
      if (taps[d] != 1 || stride[d] != 1 || low[d] != 0 || pixels[d] != extent[d])
        return false;
    return true;
  }
};

std::optional<Window> windowOf(const ConvAnalysis &c) {
  size_t spatial = c.xExtent.size();
  if (spatial == 0 || spatial > 2)
    return std::nullopt;
  Window w;
  for (size_t d = 0; d < spatial; ++d) {
    size_t axis = spatial - 1 - d;
    w.extent[d] = c.xExtent[axis];
    w.pixels[d] = c.yExtent[axis];
    w.taps[d] = c.kernel[axis];
    w.stride[d] = c.stride[axis];
    w.low[d] = c.low[axis];
    w.dilation[d] = c.dilation[axis];
    w.step[d] = c.xStride[axis];
  }
  return w;
}

int64_t elementsOfStep(DType dtype) { return 1024 / bitWidth(dtype); }

/// The map of x for a window; nothing when the hardware can't walk it (cuTensorMapEncodeIm2col's limits).
std::optional<TensorMapLayout> windowMap(const ConvAnalysis &c, const Window &w) {
  constexpr int64_t kAlignment = 16, kCorner = 128, kGreatestTap = 255, kGreatestStride = 8;
  int64_t bytes = bitWidth(c.dtype) / 8;
  if (c.channelStride != 1 || c.x.offset * bytes % kAlignment != 0)
    return std::nullopt;
  TensorMapLayout map;
  map.dtype = c.dtype;
  map.rank = 4;
  map.im2col = true;
  map.swizzle = TensorMapLayout::Swizzle::B128;
  map.byteOffset = uint64_t(c.x.offset * bytes);
  map.channelsPerPixel = uint32_t(elementsOfStep(c.dtype));
  int64_t dims[4] = {c.groupChannels, w.extent[0], w.extent[1], c.images};
  int64_t strides[3] = {w.step[0], w.step[1], c.imageStride};
  int64_t dense = c.groupChannels;
  for (int d = 0; d < 4; ++d) {
    map.dims[size_t(d)] = uint64_t(dims[d]);
    if (d == 0)
      continue;
    int64_t stride = dims[d] == 1 ? dense : strides[d - 1]; // an axis of one has no stride of its own
    if (stride <= 0 || stride * bytes % kAlignment != 0)
      return std::nullopt;
    map.strides[size_t(d - 1)] = uint64_t(stride * bytes);
    dense = stride * dims[d];
  }
  for (size_t d = 0; d < 2; ++d) {
    // The walk covers exactly the pixels of the result.
    int64_t upper = (w.pixels[d] - 1) * w.stride[d] - w.low[d] - (w.extent[d] - 1);
    if (w.low[d] > kCorner || w.low[d] < 0 || upper < -kCorner || upper >= kCorner ||
        (w.taps[d] - 1) * w.dilation[d] > kGreatestTap || w.stride[d] > kGreatestStride)
      return std::nullopt;
    map.lower[d] = int32_t(-w.low[d]);
    map.upper[d] = int32_t(upper);
    map.elementStrides[d + 1] = uint32_t(w.stride[d]);
  }
  return map;
}

/// x as a matrix of pixels, for a pointwise window whose pixels have one stride.
std::optional<DenseOperand> pixelMatrix(const ConvAnalysis &c, const Window &w) {
  if (!w.isPointwise() || c.channelStride != 1)
    return std::nullopt;
  int64_t step = 0, count = 1;
  int64_t extents[3] = {w.extent[0], w.extent[1], c.images},
          strides[3] = {w.step[0], w.step[1], c.imageStride};
  for (int d = 0; d < 3; ++d) {
    if (extents[d] == 1)
      continue;
    if (count == 1)
      step = strides[d];
    else if (strides[d] != step * count)
      return std::nullopt;
    count *= extents[d];
  }
  DenseOperand o;
  o.view = c.x;
  o.rows = count;
  o.depth = c.groupChannels;
  o.rowStride = count == 1 ? c.groupChannels : step;
  o.depthStride = 1;
  return wgmmaMatrix(o, {}, c.dtype) ? std::optional(o) : std::nullopt;
}

std::optional<WgmmaStaged> stage(KernelOp kernel, const ConvAnalysis &c, const WgmmaProblem &p,
                                 bool swapped) {
  FunctorShape shape = convEpilogueShape(kernel, c.xExtent.size(), false, 2);
  return stageResult(kernel, c.root->getResult(0), shape, 0, 1, swapped, p, {});
}

/// "struct Window" of PixelTaps and FilterTaps.
std::string windowText(const Window &w, int64_t channelSteps, int64_t elements) {
  std::string s = "struct Window {\n";
  s += llvm::formatv(
      "  static constexpr i32 kPixelsX = {0}, kPixelsY = {1}, kStrideX = {2}, kStrideY = {3};\n", w.pixels[0],
      w.pixels[1], w.stride[0], w.stride[1]);
  s += llvm::formatv(
      "  static constexpr i32 kLowX = {0}, kLowY = {1}, kDilationX = {2}, kDilationY = {3}, kTapsX = {4};\n",
      w.low[0], w.low[1], w.dilation[0], w.dilation[1], w.taps[0]);
  s += llvm::formatv("  static constexpr i32 kChannelSteps = {0}, kElements = {1};\n};\n", channelSteps,
                     elements);
  return s;
}

/// How the convolution is brought to tensor maps.
struct Form {
  Window window;
  std::optional<DenseOperand> matrix; ///< pixels are rows of a matrix
  std::optional<SpaceToDepth> blocks; ///< of 2x2 pixels, made by a launch of its own
  std::optional<TensorMapLayout> map; ///< of a window over x, or over the blocks
  int64_t taps = 1, channels = 0;     ///< of the filters as rows (tap, channel)
};
std::optional<Form> formOf(const ConvAnalysis &c) {
  auto window = windowOf(c);
  if (!window)
    return std::nullopt;
  Form f{*window, pixelMatrix(c, *window), std::nullopt, std::nullopt, c.taps(), c.groupChannels};
  if (f.matrix)
    return f;
  if (c.groupChannels * bitWidth(c.dtype) % 128 == 0 && (f.map = windowMap(c, *window)))
    return f;
  f.blocks = spaceToDepth(c);
  if (!f.blocks || f.blocks->elements() >= (int64_t(1) << 31))
    return std::nullopt;
  f.map = f.blocks->map(c.dtype, c);
  f.taps = f.blocks->taps[1];
  f.channels = f.blocks->rowElements();
  Window overBlocks;
  for (int d = 0; d < 2; ++d)
    overBlocks.pixels[d] = f.window.pixels[d];
  overBlocks.taps[1] = f.taps;
  f.window = overBlocks;
  return f;
}

WgmmaOperand pixelOperand(KernelOp kernel, const ConvAnalysis &c, const Form &form,
                          const WgmmaVariant &variant, bool sideA, StringRef element) {
  if (form.matrix)
    return wgmmaOperand(kernel, "convolution", "Pixels", *wgmmaMatrix(*form.matrix, {}, c.dtype), {}, c.dtype,
                        element, variant, sideA, 0);
  WgmmaOperand out;
  out.arg = form.blocks ? scratchArg(form.blocks->elements() * int64_t(bitWidth(c.dtype) / 8))
                        : operandArg(c.x.index);
  out.arg.map = form.map;
  out.setRows(sideA ? variant.blockA : variant.blockB);
  out.source = "PixelTaps<Window>";
  return out;
}

/// The packed filters, [O][tap][C].
WgmmaOperand filterOperand(KernelOp kernel, const ConvAnalysis &c, const Form &form,
                           const WgmmaVariant &variant, bool sideA, const std::string &element) {
  int64_t bytes = bitWidth(c.dtype) / 8, elements = elementsOfStep(c.dtype);
  WgmmaOperand out;
  if (form.matrix) {
    DenseOperand o;
    o.view.constant = true;
    o.rows = c.groupOutputs;
    o.depth = c.groupChannels;
    o.rowStride = c.packedDepth();
    o.depthStride = 1;
    out = wgmmaOperand(kernel, "convolution", "Filters", *wgmmaMatrix(o, {}, c.dtype), {}, c.dtype, element,
                       variant, sideA, 0);
  } else {
    int64_t rowElements = form.blocks ? form.taps * form.channels : c.packedDepth();
    TensorMapLayout map;
    map.dtype = c.dtype;
    map.rank = 3;
    map.swizzle = TensorMapLayout::Swizzle::B128;
    map.dims = {uint64_t(form.channels), uint64_t(form.taps), uint64_t(c.groupOutputs)};
    map.strides = {uint64_t(form.channels * bytes), uint64_t(rowElements * bytes)};
    map.box = {uint32_t(elements), 1, 1};
    out.arg.map = map;
    out.rowDimension = 2;
    out.setRows(sideA ? variant.blockA : variant.blockB);
    out.source = "FilterTaps<Window>";
  }
  TensorMapLayout map = *out.arg.map;
  out.arg = packedArg(0);
  out.arg.map = map;
  out.packing = form.blocks ? packBlockFilters(kernel, c, *form.blocks, element)
                            : packFilters(kernel, c, element, /*tf32=*/c.dtype == DType::F32);
  return out;
}

} // namespace

std::optional<WgmmaProblem> analyzeWgmmaConv(KernelOp kernel, const ConvAnalysis &c, const ConvRoles &roles,
                                             const Target &target) {
  bool tf32 = c.dtype == DType::F32 && c.root->hasAttr("tf32");
  if (!target.hasWgmma || !target.hasTma || c.isEmpty() || c.transposed || c.groups != 1 || !c.w.constant ||
      (c.dtype != DType::F16 && c.dtype != DType::BF16 && !tf32))
    return std::nullopt;
  auto form = formOf(c);
  if (!form)
    return std::nullopt;
  int64_t elements = elementsOfStep(c.dtype);
  WgmmaProblem p;
  p.rows = roles.pixelRows ? c.pixels() : c.groupOutputs;
  p.cols = roles.pixelRows ? c.groupOutputs : c.pixels();
  int64_t channelSteps = int64_t(llvm::divideCeil(form->channels, elements));
  p.steps = form->taps * channelSteps;
  p.run = channelSteps;
  p.tail = int64_t(llvm::divideCeil(form->channels - (channelSteps - 1) * elements, elements / 4));
  p.constantCols = roles.pixelRows;
  p.window = !form->matrix;
  if (form->blocks) // a launch, and its traffic
    p.before = 2.0 + double(form->blocks->elements()) * bitWidth(c.dtype) / 8 * 1.75 / 3e6;
  p.bytes = kernelBytes(kernel);
  p.epilogueInstructions = epilogueInstructions(kernel) + (c.bias ? 1 : 0);
  if (auto staged = roles.pixelRows ? stage(kernel, c, p, false) : std::nullopt) {
    p.staged = true;
    p.held = staged->held.has_value();
    p.resultBytes = int(bitWidth(staged->result.dtype) / 8);
    p.swappable = stage(kernel, c, p, true).has_value();
  }
  return p;
}

FailureOr<std::vector<EmittedKernel>> emitWgmmaConv(KernelOp kernel, const ConvAnalysis &c, ConvRoles roles,
                                                    const WgmmaVariant &variant, int splits,
                                                    const Target &target) {
  auto p = analyzeWgmmaConv(kernel, c, roles, target);
  if (!p || !allowsWgmma(variant, *p, splits, target))
    return kernel.emitError("convolution variant '") << variant.name << "' does not take this convolution";
  std::string element = storageTypeName(elementTypeOf(c.root->getOperand(0)));
  bool pixelsA = roles.pixelRows != variant.swapped;
  WgmmaUnit unit;
  unit.family = "convolution";
  Form form = *formOf(c);
  WgmmaOperand pixels = pixelOperand(kernel, c, form, variant, pixelsA, element),
               filters = filterOperand(kernel, c, form, variant, !pixelsA, element);
  if (!form.matrix) {
    int64_t elements = elementsOfStep(c.dtype);
    unit.declarations = windowText(form.window, int64_t(llvm::divideCeil(form.channels, elements)), elements);
  }
  unit.rows = roles.pixelRows ? &pixels : &filters;
  unit.cols = roles.pixelRows ? &filters : &pixels;
  std::string bias = c.bias ? shiftedPointer("bias", *c.bias) : "nullptr";
  auto addBiasParameter = [&] {
    if (!c.bias)
      return;
    unit.parameters.push_back("const " + element + " *bias");
    unit.args.push_back(operandArg(c.bias->index));
  };
  if (p->staged && !variant.slab) {
    auto staged = stage(kernel, c, *p, variant.swapped);
    if (!staged)
      return failure();
    std::string maps = addBlockMaps(unit, *staged);
    addBiasParameter();
    const EmittedFunctor &f = staged->values.functor;
    unit.parameters.push_back(f.parameters);
    unit.args.insert(unit.args.end(), f.args.begin(), f.args.end());
    std::string members, before;
    if (c.bias) {
      members = "  const " + element + " *bias;\n";
      before = llvm::formatv("    addBias<{0}, {1}>(sums, bias, col);\n",
                             variant.swapped           ? "BiasPair::One"
                             : c.bias->offset % 2 == 0 ? "BiasPair::Vector"
                                                       : "BiasPair::Two",
                             c.bias->constant ? "true" : "false");
    }
    unit.output =
        f.text + staged->layouts + pairOutputText(*p, variant, *staged, members, before, "row, col");
    unit.makeOutput = llvm::formatv("  Epilogue epilogue = {0};\n  Output output{{{1}epilogue, {2}};\n",
                                    f.construct, c.bias ? bias + ", " : "", maps);
  } else {
    if (roles.pixelRows && roles.lanes > 1 && c.bias && c.bias->offset % roles.lanes != 0)
      roles.lanes = 1; // the bias could not be loaded in vectors
    FunctorShape shape = convEpilogueShape(kernel, c.xExtent.size(), !roles.pixelRows, roles.lanes);
    shape.preload = variant.slab;
    auto epilogue = emitEpilogue(kernel, {c.root->getResult(0)}, shape);
    if (failed(epilogue))
      return failure();
    unit.includes = {"convolution/convolution.cuh"};
    unit.declarations += c.geometryText(element);
    addBiasParameter();
    unit.parameters.push_back(epilogue->parameters);
    unit.args.insert(unit.args.end(), epilogue->args.begin(), epilogue->args.end());
    unit.output =
        epilogue->text + llvm::formatv("using Output = {0}<Geometry, Epilogue, {1}, {2}, {3}{4}>;\n",
                                       variant.slab ? "ConvSlabOutput" : "ConvOutput", roles.lanes,
                                       boolText(roles.pixelRows), boolText(c.bias.has_value()),
                                       !variant.slab        ? ""
                                       : epilogue->hasLoads ? ", true"
                                                            : ", false")
                             .str();
    unit.makeOutput = llvm::formatv("  Epilogue epilogue = {0};\n  Output output{{{1}, epilogue};\n",
                                    epilogue->construct, bias);
  }
  std::vector<EmittedKernel> launches;
  if (form.blocks) {
    EmittedArg to = pixels.arg;
    to.map.reset();
    launches.push_back(emitSpaceToDepth(kernel, c, *form.blocks, element, to));
  }
  launches.push_back(variant.slab ? emitSlab(kernel, unit, variant, *p, c.dtype, element, splits, target)
                                  : emitWgmma(kernel, unit, variant, *p, c.dtype, element, target));
  return launches;
}

} // namespace gpuc

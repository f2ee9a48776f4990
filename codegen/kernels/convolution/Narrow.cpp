// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Selection and emission of narrow.cuh.
#include "Narrow.h"
#include "emit/UnitText.h"
#include "gpuc/IR/Types.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace gpuc {

constexpr int64_t kThreads = 256, kVector = 8; ///< elements of a load
/// Registers for weights, and for the sums of 16 pixels: more leave too few warps to cover the way to memory.
constexpr int64_t kMostWeights = 80, kMostSums = 64;

std::optional<NarrowShape> narrowShape(const ConvAnalysis &c, const ConvRoles &roles) {
  if ((c.dtype != DType::F16 && c.dtype != DType::BF16) || c.transposed || c.groups != 1 || c.isEmpty() ||
      c.taps() != 1 || !c.w.constant || c.depthStride != 1 || c.channelStride != 1 || !roles.pixelRows ||
      c.pixels() >= (int64_t(1) << 30))
    return std::nullopt;
  NarrowShape shape;
  shape.columns = c.groupOutputs;
  // Pixels are equally spaced, and the result's are x's.
  shape.rowStride = c.xStride.back();
  int64_t inner = 1;
  for (size_t d = c.xExtent.size(); d-- > 0; inner *= c.xExtent[d]) {
    if (c.stride[d] != 1 || c.low[d] != 0 || c.xExtent[d] != c.yExtent[d] ||
        (c.xExtent[d] != 1 && c.xStride[d] != shape.rowStride * inner))
      return std::nullopt;
  }
  if (c.images > 1 && c.imageStride != shape.rowStride * inner)
    return std::nullopt;
  for (int64_t number : {c.groupChannels, c.filterStride, shape.rowStride, c.x.offset, c.w.offset})
    if (number % kVector != 0)
      return std::nullopt;
  // Runs of 8 columns unless they pad many: 40 are 3 runs of 4 in each of 4 lanes, or 2 of 8.
  auto padded = [&](unsigned lanes) { return int64_t(llvm::alignTo(c.groupOutputs, 4 * lanes)); };
  shape.lanes = padded(8) * 4 > padded(4) * 5 ? 4 : 8;
  if (roles.lanes < shape.lanes)
    shape.lanes = roles.lanes;
  if (shape.lanes < 4 || c.groupOutputs % shape.lanes != 0 || (c.bias && c.bias->offset % shape.lanes != 0))
    return std::nullopt;
  int64_t depthBlocks = int64_t(llvm::divideCeil(c.groupChannels, 32)), columns = padded(shape.lanes);
  int64_t weights = depthBlocks * columns / 2, sums = columns / 2;
  if (weights > kMostWeights || sums > kMostSums)
    return std::nullopt;
  shape.tiles = std::max<int64_t>(1, 4 / depthBlocks);
  int64_t registers = weights + sums + columns / 4 + shape.tiles * depthBlocks * 8 + 40;
  shape.blocksPerSM = registers <= 64 ? 4 : registers <= 80 ? 3 : registers <= 128 ? 2 : 1;
  return shape;
}

double narrowMicroseconds(const NarrowShape &shape, double bytes, const Target &target) {
  // Measured for up to 32 columns (README.md). More are only estimated, on the safe side.
  double share = shape.columns <= 32 ? 0.9 : 0.6;
  return 2.5 + bytes / (share * target.memoryGBps * 1e3);
}

FailureOr<std::vector<EmittedKernel>> emitNarrow(KernelOp kernel, const ConvAnalysis &c,
                                                 const NarrowShape &shape, const Target &target) {
  auto epilogue =
      emitEpilogue(kernel, {c.root->getResult(0)},
                   convEpilogueShape(kernel, c.xExtent.size(), /*pixelLanes=*/false, shape.lanes));
  if (failed(epilogue))
    return failure();
  std::string element = storageTypeName(elementTypeOf(c.root->getOperand(0)));
  ConvAnalysis geometry = c;
  geometry.access = 1;
  EmittedKernel out;
  std::string text = unitHead(kernel, "convolution", kNarrow, {"convolution/narrow.cuh"});
  text += geometry.geometryText(element);
  text += llvm::formatv(
      "struct Config {{\n  using T = {0};\n  static constexpr i64 kRows = {1};\n"
      "  static constexpr int kDepth = {2}, kCols = {3}, kRowStride = {4}, kFilterStride = {5};\n"
      "  static constexpr int kLanes = {6}, kTiles = {7}, kThreads = {8};\n"
      "  static constexpr bool kBias = {9}, kConstant = {10};\n};\n",
      element, c.pixels(), c.groupChannels, c.groupOutputs, shape.rowStride, c.filterStride, shape.lanes,
      shape.tiles, kThreads, boolText(c.bias.has_value()), boolText(!c.bias || c.bias->constant));
  text += epilogue->text; // without the bias: the sums start with it
  text += llvm::formatv("using Output = ConvOutput<Geometry, Epilogue, {0}, true, false>;\n", shape.lanes);
  text += unitEntry(std::to_string(kThreads) + ", " + std::to_string(shape.blocksPerSM),
                    {"const " + element + " *x", "const " + element + " *w",
                     c.bias ? "const " + element + " *bias" : std::string(), epilogue->parameters});
  text += llvm::formatv("  Epilogue epilogue = {0};\n  Output output{{nullptr, epilogue};\n"
                        "  NarrowProduct<Config>::run({1}, {2}, {3}, output);\n",
                        epilogue->construct, shiftedPointer("x", c.x), shiftedPointer("w", c.w),
                        c.bias ? shiftedPointer("bias", *c.bias) : "nullptr");
  out.text = text + unitEnd();
  int64_t rowsOfBlock = kThreads / 32 * 16 * shape.tiles;
  out.grid.x = uint32_t(std::min<int64_t>(int64_t(llvm::divideCeil(c.pixels(), rowsOfBlock)),
                                          int64_t(target.numSMs) * shape.blocksPerSM));
  out.block.x = uint32_t(kThreads);
  out.args = {operandArg(c.x.index), operandArg(c.w.index)};
  if (c.bias)
    out.args.push_back(operandArg(c.bias->index));
  out.args.insert(out.args.end(), epilogue->args.begin(), epilogue->args.end());
  return std::vector<EmittedKernel>{std::move(out)};
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers and units of space_to_depth.cuh.
#include "SpaceToDepth.h"
#include "gpuc/IR/Types.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace gpuc {

constexpr int kThreads = 256;

std::optional<SpaceToDepth> spaceToDepth(const ConvAnalysis &c) {
  constexpr int64_t kMostChannels = 4, kMostTaps = 8;
  if (c.xExtent.size() != 2 || c.transposed || c.groups != 1 || c.groupChannels > kMostChannels ||
      !c.w.constant)
    return std::nullopt;
  SpaceToDepth s;
  s.images = c.images;
  for (int d = 0; d < 2; ++d) {
    size_t axis = size_t(1 - d);
    if (c.stride[axis] != 2 || c.dilation[axis] != 1 || c.low[axis] < 0)
      return std::nullopt;
    int64_t before = int64_t(llvm::divideCeil(c.low[axis], 2)); // blocks of padding
    s.first[d] = -2 * before;
    s.skip[d] = 2 * before - c.low[axis];
    s.taps[d] = (s.skip[d] + c.kernel[axis] - 1) / 2 + 1;
    s.blocks[d] = c.yExtent[axis] + s.taps[d] - 1;
    if (s.taps[d] > kMostTaps)
      return std::nullopt;
  }
  return s;
}

TensorMapLayout SpaceToDepth::map(DType dtype, const ConvAnalysis &c) const {
  uint64_t bytes = bitWidth(dtype) / 8, block = kChannels * bytes;
  TensorMapLayout map;
  map.dtype = dtype;
  map.rank = 4;
  map.im2col = true;
  map.swizzle = TensorMapLayout::Swizzle::B128;
  map.channelsPerPixel = uint32_t(128 / bytes);
  map.dims = {uint64_t(rowElements()), uint64_t(c.yExtent[1]), uint64_t(blocks[1]), uint64_t(images)};
  map.strides = {block, block * uint64_t(blocks[0]), block * uint64_t(blocks[0] * blocks[1])};
  map.upper[1] = int32_t(1 - taps[1]);
  return map;
}

static std::string blocksText(const ConvAnalysis &c, const SpaceToDepth &s, StringRef element,
                              bool ofFilter) {
  std::string text = llvm::formatv("struct Blocks {{\n  using T = {0};\n", element);
  auto line = [&](StringRef type, ArrayRef<std::pair<StringRef, int64_t>> values) {
    std::string list;
    for (auto [name, value] : values)
      list += (list.empty() ? "" : ", ") + (name + " = " + std::to_string(value)).str();
    text += llvm::formatv("  static constexpr {0} {1};\n", type, list);
  };
  line("i32", {{"kChannels", c.groupChannels}, {"kTapsX", s.taps[0]}, {"kTapsY", s.taps[1]}});
  if (ofFilter) {
    line("i32", {{"kFilterX", c.kernel[1]},
                 {"kFilterY", c.kernel[0]},
                 {"kOutputs", c.groupOutputs},
                 {"kSkipX", s.skip[0]},
                 {"kSkipY", s.skip[1]}});
    line("i64", {{"kFilterStride", c.filterStride},
                 {"kDepthStride", c.depthStride},
                 {"kTapStepX", c.wStride[1]},
                 {"kTapStepY", c.wStride[0]}});
  } else {
    line("i32", {{"kImages", s.images},
                 {"kBlocksX", s.blocks[0]},
                 {"kBlocksY", s.blocks[1]},
                 {"kFirstX", s.first[0]},
                 {"kFirstY", s.first[1]},
                 {"kWidth", c.xExtent[1]},
                 {"kHeight", c.xExtent[0]}});
    line("i64", {{"kImageStride", c.imageStride},
                 {"kChannelStride", c.channelStride},
                 {"kStepX", c.xStride[1]},
                 {"kStepY", c.xStride[0]}});
  }
  return text + "};\n";
}

EmittedKernel emitSpaceToDepth(KernelOp kernel, const ConvAnalysis &c, const SpaceToDepth &s,
                               const std::string &element, const EmittedArg &to) {
  EmittedKernel out;
  out.text = unitHead(kernel, "convolution", "space to depth", {"convolution/space_to_depth.cuh"}) +
             blocksText(c, s, element, false) +
             unitEntry(std::to_string(kThreads), {"const " + element + " *x", element + " *blocks"}) +
             "  arch::griddepWait();\n  arch::griddepLaunch();\n" +
             llvm::formatv("  writeBlock<Blocks>({0}, blocks, blockIdx.x * blockDim.x + threadIdx.x);\n",
                           shiftedPointer("x", c.x))
                 .str() +
             unitEnd();
  out.grid.x = uint32_t(llvm::divideCeil(s.elements() / SpaceToDepth::kChannels, kThreads));
  out.block.x = kThreads;
  out.args = {operandArg(c.x.index), to};
  return out;
}

PackingKernel packBlockFilters(KernelOp kernel, const ConvAnalysis &c, const SpaceToDepth &s,
                               const std::string &element) {
  std::string blocks = blocksText(c, s, element, true);
  std::string text =
      unitHead(kernel, "convolution", "pack", {"convolution/space_to_depth.cuh"}) + blocks +
      unitEntry(std::to_string(kPackingThreads), {"const " + element + " *w", element + " *packed"}) +
      llvm::formatv("  packBlockFilter<Blocks>({0}, packed, i64(blockIdx.x) * blockDim.x + threadIdx.x);\n",
                    shiftedPointer("w", c.w))
          .str() +
      unitEnd();
  return packingKernel(text, c.w.index, c.groupOutputs * s.taps[1] * s.rowElements(), bitWidth(c.dtype) / 8,
                       llvm::formatv("block filter +{0}\n{1}", c.w.offset, blocks));
}

} // namespace gpuc

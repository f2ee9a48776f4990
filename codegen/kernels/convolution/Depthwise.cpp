// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How depthwise convolutions are cut into threads. Big pieces save loads, small ones fill the machine: a
// small image is bound by how long one thread takes, not by bandwidth.
#include "Depthwise.h"
#include "gpuc/IR/Types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace gpuc {

/// Threads of a launch that keep the memory of a large GPU busy.
constexpr int64_t kFullItems = 64 * 1024;
/// Registers for cells, weights and sums of a thread that requests everything at once.
constexpr int64_t kWholeRegisters = 100;
/// Cells of such a thread: each has a predicate, and ptxas spills for more.
constexpr int64_t kWholeCells = 48;

/// Cells of a line of the window under a strip.
static int64_t stripCells(const ConvAnalysis &c, int64_t strip) {
  return std::min(strip * c.kernel.back(),
                  (strip - 1) * c.stride.back() + (c.kernel.back() - 1) * c.dilation.back() + 1);
}

bool depthwiseUnitStride(const ConvAnalysis &c) {
  return c.channelStride == 1 && c.groupOutputs == 1 && c.w.constant;
}

int64_t depthwiseItems(const ConvAnalysis &c, const DepthwiseShape &shape) {
  int64_t last = c.yExtent.back();
  return c.pixels() / last * int64_t(llvm::divideCeil(last, shape.strip)) *
         (c.groups * c.groupOutputs / shape.channels);
}

bool depthwiseWhole(const ConvAnalysis &c, const DepthwiseShape &shape) {
  int64_t cells = c.taps() / c.kernel.back() * stripCells(c, shape.strip);
  int64_t words = int64_t(llvm::divideCeil(shape.channels * bitWidth(c.dtype), 32));
  return cells <= kWholeCells && words * (cells + c.taps()) + shape.strip * shape.channels <= kWholeRegisters;
}

std::vector<DepthwiseShape> depthwiseShapes(const ConvAnalysis &c) {
  // 16 bytes of channels per thread when x, y and w allow it, else a strip of pixels of one channel.
  int64_t outputs = c.groups * c.groupOutputs, channels = 1, last = c.yExtent.back();
  if (depthwiseUnitStride(c)) {
    llvm::SmallVector<int64_t> numbers(c.xStride.begin(), c.xStride.end());
    numbers.append({outputs, c.x.offset, c.bias ? c.bias->offset : 0});
    if (c.images > 1)
      numbers.push_back(c.imageStride);
    channels = commonPowerOfTwo(numbers, 128 / bitWidth(c.dtype));
    if (c.kernel.back() > 5)
      channels = std::min<int64_t>(channels, 4); // weights of a line of taps stay in registers
  }
  constexpr int64_t kThreads = 256;
  if (channels == 1) {
    int64_t strip = c.lanesPixel > 1 ? std::min<int64_t>(c.lanesPixel, 4) : last >= 4 ? 4 : last >= 2 ? 2 : 1;
    return {{strip, 1, kThreads}};
  }
  std::vector<DepthwiseShape> shapes;
  int64_t least = std::min<int64_t>(channels, std::max<int64_t>(2, 32 / bitWidth(c.dtype)));
  for (int64_t vector = channels; vector >= least; vector /= 2)
    for (int64_t strip : {4, 2, 1})
      for (int64_t threads : {256, 128, 64})
        if (strip == 1 || strip < 2 * last)
          shapes.push_back({strip, vector, threads});
  return shapes;
}

std::vector<DepthwiseShape> rankDepthwise(const ConvAnalysis &c) {
  std::vector<DepthwiseShape> shapes = depthwiseShapes(c);
  auto small = [&](const DepthwiseShape &shape) {
    double lines = double(c.taps() / c.kernel.back());
    double items = double(depthwiseItems(c, shape));
    bool whole = depthwiseWhole(c, shape);
    double waits = whole ? 1 : lines; // round trips to memory of a thread
    double words = double(shape.channels * bitWidth(c.dtype)) / 32;
    // Instructions of a thread: addresses and predicates of its cells, conversions and products.
    double cells = lines * double(stripCells(c, shape.strip)), taps = double(c.taps());
    double work = 60 + 3 * (cells + taps) + 2 * words * (cells + taps) +
                  double(shape.channels * shape.strip) * (taps + 6);
    // Work runs on all of the machine or on the threads there are; a trip takes 1000 instructions' time of
    // one thread.
    double busy = std::max(items * work / double(kFullItems), work);
    double idle = 1000 * waits * std::max(1.0, items / (4 * double(kFullItems)));
    double blocks = items / double(shape.threads); // SMs without a block, or a few warps, do nothing
    double spread = blocks < 132 ? 0.3 * work * (132 - blocks) / 132 : 0;
    return busy + idle + spread + 0.02 * double(256 - shape.threads);
  };
  // Where the widest pieces fill the machine they are best, in blocks of 128 (README.md).
  auto large = [](const DepthwiseShape &shape) {
    return -1000.0 * double(shape.channels * shape.strip) + std::abs(double(shape.threads) - 128);
  };
  bool isLarge = depthwiseItems(c, shapes.front()) >= kFullItems; // the widest comes first
  llvm::stable_sort(shapes, [&](const DepthwiseShape &a, const DepthwiseShape &b) {
    return isLarge ? large(a) < large(b) : small(a) < small(b);
  });
  return shapes;
}

} // namespace gpuc

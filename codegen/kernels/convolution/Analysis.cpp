// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From conv and conv_transpose ops to the numbers that geometry.cuh wants.
#include "Analysis.h"
#include "gpuc/IR/Types.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;

namespace gpuc {

static int64_t tapStep(const ConvAnalysis &c, size_t d) {
  return c.transposed ? c.stride[d] / std::gcd(c.stride[d], c.dilation[d]) : 1;
}
int64_t ConvAnalysis::taps() const {
  int64_t n = 1;
  for (size_t d = 0; d < kernel.size(); ++d)
    n *= int64_t(llvm::divideCeil(kernel[d], tapStep(*this, d)));
  return n;
}
int64_t ConvAnalysis::phases() const {
  int64_t n = 1;
  if (transposed)
    for (int64_t s : stride)
      n *= s;
  return n;
}
int64_t ConvAnalysis::pixels() const {
  int64_t n = images;
  for (size_t d = 0; d < yExtent.size(); ++d)
    n *= transposed ? int64_t(llvm::divideCeil(yExtent[d], stride[d])) : yExtent[d];
  return n;
}
int64_t ConvAnalysis::packedDepth() const { return int64_t(llvm::alignTo(depth(), 128 / bitWidth(dtype))); }
bool ConvAnalysis::isEmpty() const { return pixels() == 0 || groupOutputs == 0; }

std::string ConvAnalysis::geometryText(llvm::StringRef elementType) const {
  auto flag = [](bool b) { return b ? "true" : "false"; };
  std::string s = llvm::formatv("struct Geometry {{\n  using T = {0};\n", elementType);
  s += llvm::formatv(
      "  static constexpr i32 kSpatial = {0}, kBatch = {1}, kGroups = {2}, kGroupChannels = {3}, "
      "kGroupOutputs = {4};\n",
      xExtent.size(), images, groups, groupChannels, groupOutputs);
  s += llvm::formatv(
      "  static constexpr int kAccess = {0};\n  static constexpr bool kTransposed = {1}, kXConstant = {2};\n",
      access, flag(transposed), flag(x.constant));
  s += llvm::formatv("  static constexpr i64 kImageStride = {0}, kChannelStride = {1};\n", imageStride,
                     channelStride);
  s += llvm::formatv("  static constexpr i64 kFilterStride = {0}, kDepthStride = {1}, kWGroupStride = {2};\n",
                     filterStride, depthStride, wGroupStride);
  auto table = [&](llvm::StringRef type, llvm::StringRef name, llvm::ArrayRef<int64_t> values) {
    std::string choice = std::to_string(values.back());
    for (size_t d = values.size() - 1; d-- > 0;)
      choice = llvm::formatv("d == {0} ? {1} : {2}", d, values[d], choice);
    s += llvm::formatv("  GPUC_DEVICE static constexpr {0} {1}({2}) {{ return {3}; }\n", type, name,
                       values.size() > 1 ? "int d" : "int", choice);
  };
  table("i64", "xStride", xStride);
  table("i64", "wStride", wStride);
  table("i32", "xExtent", xExtent);
  table("i32", "yExtent", yExtent);
  table("i32", "kernel", kernel);
  table("i32", "stride", stride);
  table("i32", "low", low);
  table("i32", "dilation", dilation);
  return s + "};\n";
}

FailureOr<ConvAnalysis> analyzeConvolution(KernelOp kernel) {
  ConvAnalysis c;
  c.root = kernel.getRoot();
  Value x, w, bias, y;
  auto read = [&](auto op) {
    x = op.getX();
    w = op.getW();
    bias = op.getBias();
    y = op.getY();
    c.stride.assign(op.getStrides().begin(), op.getStrides().end());
    c.low.assign(op.getLow().begin(), op.getLow().end());
    c.dilation.assign(op.getDilations().begin(), op.getDilations().end());
    c.groups = op.getGroup();
  };
  if (auto conv = dyn_cast_or_null<ConvOp>(c.root)) {
    read(conv);
  } else if (auto transpose = dyn_cast_or_null<ConvTransposeOp>(c.root)) {
    read(transpose);
    c.transposed = true;
  } else {
    return kernel.emitError("a convolution kernel needs a conv or conv_transpose as its root");
  }
  auto xView = viewOperand(kernel, x), wView = viewOperand(kernel, w);
  if (!xView || !wView)
    return kernel.emitError("operand ")
           << (xView ? "w" : "x") << " of the convolution is no strided view of a buffer";
  c.x = *xView;
  c.w = *wView;
  c.dtype = dtypeOf(x);
  if (bias) {
    c.bias = viewOperand(kernel, bias);
    if (!c.bias || (c.bias->strides[0] != 1 && shapeOf(bias)[0] > 1))
      return kernel.emitError("the bias of the convolution must lie densely in a buffer");
  }
  auto xShape = shapeOf(x), wShape = shapeOf(w), yShape = shapeOf(y);
  c.images = xShape[0];
  c.groupChannels = xShape[1] / c.groups;
  c.groupOutputs = yShape[1] / c.groups;
  c.xExtent.assign(xShape.begin() + 2, xShape.end());
  c.yExtent.assign(yShape.begin() + 2, yShape.end());
  c.kernel.assign(wShape.begin() + 2, wShape.end());
  c.imageStride = c.x.strides[0];
  c.channelStride = c.x.strides[1];
  c.xStride.assign(c.x.strides.begin() + 2, c.x.strides.end());
  c.wStride.assign(c.w.strides.begin() + 2, c.w.strides.end());
  // w is [O, C/g, K…], transposed [C, O/g, K…]; axes of extent 1 may have any stride.
  c.filterStride = c.w.strides[c.transposed ? 1 : 0];
  c.depthStride = c.w.strides[c.transposed ? 0 : 1];
  c.wGroupStride = c.transposed ? c.groupChannels * c.depthStride : c.groupOutputs * c.filterStride;
  if (c.groupChannels == 0) { // no products: one channel of a tensor without cells
    c.groupChannels = 1;
    for (int64_t &extent : c.xExtent)
      extent = 0;
  }
  for (size_t d = 0; d < c.kernel.size(); ++d)
    if (c.kernel[d] == 0)
      return kernel.emitError("convolution kernels must not be empty, axis ") << d << " is";
  if (std::max({c.pixels() * c.phases(), c.depth(), c.groupOutputs * c.groups}) >= (int64_t(1) << 30))
    return kernel.emitError("convolution extents must stay below 2^30, got ")
           << c.pixels() << " pixels, depth " << c.depth() << ", " << c.groupOutputs * c.groups
           << " channels";

  int64_t elementBytes = bitWidth(c.dtype) / 8;
  bool simt = c.dtype == DType::F64 || (c.dtype == DType::F32 && !c.root->hasAttr("tf32"));
  if (xShape[1] == 1)
    c.channelStride = 1;
  if (c.channelStride == 1) {
    llvm::SmallVector<int64_t> numbers(c.xStride.begin(), c.xStride.end());
    numbers.append({c.groupChannels, c.x.offset});
    if (c.images > 1)
      numbers.push_back(c.imageStride);
    c.access = commonPowerOfTwo(numbers, simt ? std::min<int64_t>(4, 16 / elementBytes) : 16 / elementBytes);
    if (c.access * elementBytes < 4)
      c.access = 1;
  }
  c.lanesChannel = maxLanes(kernel, y, 1);
  c.lanesPixel = maxLanes(kernel, y, unsigned(yShape.size() - 1));
  return c;
}

} // namespace gpuc

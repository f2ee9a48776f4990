// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sliding windows of convolutions and pools.
#include "Window.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;

namespace gpuc::frontend {

/// An attribute with one number per spatial axis in [least, kMaxWindow].
static std::optional<Ints> readPerAxis(Emit &e, StringRef name, size_t count, int64_t dflt, int64_t least) {
  Ints defaults(count, dflt);
  FailureOr<Ints> list = e.ctx.intsAttr(name, ArrayRef<int64_t>(defaults));
  if (failed(list))
    return std::nullopt;
  if (list->size() != count) {
    e.fail("attribute '" + name + "' must hold " + Twine(count) + " numbers, got " + Twine(list->size()));
    return std::nullopt;
  }
  for (int64_t v : *list) {
    if (v < least || v > kMaxWindow) {
      e.fail("attribute '" + name + "' holds " + Twine(v) + ", expected " + Twine(least) + " to " +
             Twine(kMaxWindow));
      return std::nullopt;
    }
  }
  return *list;
}

std::optional<Window> readWindowAttributes(Emit &e, size_t rank, ArrayRef<int64_t> kernel) {
  if (kernel.size() != rank) {
    e.fail("the kernel has " + Twine(kernel.size()) + " axes, the input " + Twine(rank) + " spatial axes");
    return std::nullopt;
  }
  for (int64_t k : kernel) {
    if (k < 1 || k > kMaxWindow) {
      e.fail("the kernel " + shapeText(kernel) + " has an extent that is not positive or too large");
      return std::nullopt;
    }
  }
  std::optional<Ints> strides = readPerAxis(e, "strides", rank, 1, 1);
  std::optional<Ints> dilations = strides ? readPerAxis(e, "dilations", rank, 1, 1) : std::nullopt;
  std::optional<Ints> pads = dilations ? readPerAxis(e, "pads", 2 * rank, 0, 0) : std::nullopt;
  if (!pads)
    return std::nullopt;
  Window w;
  w.kernel = Ints(kernel);
  w.strides = *strides;
  w.dilations = *dilations;
  w.low.assign(pads->begin(), pads->begin() + rank);
  w.high.assign(pads->begin() + rank, pads->end());
  for (size_t i = 0; i < rank; ++i) {
    if (w.reach(i) > kMaxWindow) {
      e.fail("a window of " + Twine(w.reach(i)) + " cells is too large");
      return std::nullopt;
    }
  }
  return w;
}

std::optional<Ints> readKernelShape(Emit &e, ArrayRef<int64_t> fromWeights) {
  FailureOr<Ints> kernel = fromWeights.empty() ? e.ctx.intsAttr("kernel_shape")
                                               : e.ctx.intsAttr("kernel_shape", std::optional(fromWeights));
  if (failed(kernel))
    return std::nullopt;
  if (!fromWeights.empty() && ArrayRef<int64_t>(*kernel) != fromWeights) {
    e.fail("attribute 'kernel_shape' is " + shapeText(*kernel) + ", the weights have " +
           shapeText(fromWeights));
    return std::nullopt;
  }
  return *kernel;
}

std::optional<std::string> readAutoPad(Emit &e) {
  FailureOr<std::string> mode =
      e.ctx.choiceAttr("auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"}, "NOTSET");
  return failed(mode) ? std::nullopt : std::optional<std::string>(*mode);
}

bool resolveWindow(Emit &e, Window &w, ArrayRef<int64_t> extents, bool ceilMode) {
  std::optional<std::string> mode = readAutoPad(e);
  if (!mode)
    return false;
  for (auto [i, in] : llvm::enumerate(extents)) {
    int64_t stride = w.strides[i], reach = w.reach(i);
    if (*mode == "VALID")
      w.low[i] = w.high[i] = 0;
    if (mode->substr(0, 4) == "SAME") {
      // The dilated kernel counts; the odd cell goes to the end for UPPER, to the beginning for LOWER.
      int64_t out = (in + stride - 1) / stride;
      int64_t total = std::max<int64_t>((out - 1) * stride + reach - in, 0);
      w.low[i] = *mode == "SAME_UPPER" ? total / 2 : total - total / 2;
      w.high[i] = total - w.low[i];
    }
    int64_t span = in + w.low[i] + w.high[i] - reach;
    if (span < 0 || (in == 0 && *mode != "NOTSET")) {
      e.fail("a window of " + Twine(reach) + " cells does not fit into spatial axis " + Twine(i) +
             " of extent " + Twine(in) + " with its pads");
      return false;
    }
    int64_t out = span / stride + 1;
    // Windows that would start in the padding at the end are ignored.
    if (ceilMode && *mode == "NOTSET" && span % stride && out * stride < in + w.low[i])
      ++out;
    w.out.push_back(out);
  }
  return true;
}

bool everyWindowHits(Emit &e, const Window &w, ArrayRef<int64_t> extents) {
  for (auto [i, in] : llvm::enumerate(extents)) {
    int64_t last = (w.out[i] - 1) * w.strides[i] - w.low[i];
    bool ok = last < in;
    // A window that starts inside the tensor holds its first cell; look at those that start before it.
    for (int64_t start = -w.low[i]; ok && start < 0 && start <= last; start += w.strides[i]) {
      int64_t tap = (-start + w.dilations[i] - 1) / w.dilations[i];
      ok = tap < w.kernel[i] && start + tap * w.dilations[i] < in;
    }
    if (!ok) {
      e.fail("a window along spatial axis " + Twine(i) + " holds nothing but padding");
      return false;
    }
  }
  return true;
}

} // namespace gpuc::frontend

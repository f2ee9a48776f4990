// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shapes of products, attention, convolutions and pools.
#include "gpuc/IR/ShapeRules.h"
#include "gpuc/Support/CheckedMath.h"
#include "llvm/ADT/Twine.h"
#include <numeric>

namespace gpuc::shapes {

static Status error(llvm::StringRef label, const llvm::Twine &message) {
  return invalidArgument((label + ": " + message).str());
}

Result<Shape> matmulShape(Extents x, Extents y) {
  if (x.size() < 2 || y.size() < 2)
    return error("matmul_c1", "expected rank at least 2 on both sides, got " + llvm::Twine(x.size()) +
                                  " and " + llvm::Twine(y.size()));
  int64_t inner = x.back(), rows = y[y.size() - 2];
  if (inner != rows)
    return error("matmul_c2",
                 "inner extents differ: x has " + llvm::Twine(inner) + ", y has " + llvm::Twine(rows));
  auto batch = broadcastShape("matmul_c3", {x.drop_back(2), y.drop_back(2)});
  if (!batch.ok())
    return batch.status();
  Shape result = batch.take();
  result.push_back(x[x.size() - 2]);
  result.push_back(y.back());
  return result;
}

Result<Shape> attentionShape(Extents q, Extents k, Extents v, const Extents *bias) {
  if (q.size() != 4 || k.size() != 4 || v.size() != 4)
    return error("attention_c1", "expected q, k and v of rank 4, got " + llvm::Twine(q.size()) + ", " +
                                     llvm::Twine(k.size()) + " and " + llvm::Twine(v.size()));
  auto differ = [&](const char *what, int64_t a, int64_t b) {
    return error("attention_c2", llvm::Twine(what) + " differ: " + llvm::Twine(a) + " and " + llvm::Twine(b));
  };
  if (q[0] != k[0])
    return differ("batch extents of q and k", q[0], k[0]);
  if (k[0] != v[0])
    return differ("batch extents of k and v", k[0], v[0]);
  if (q[3] != k[3])
    return differ("head widths of q and k", q[3], k[3]);
  if (k[2] != v[2])
    return differ("lengths of k and v", k[2], v[2]);
  if (k[1] != v[1])
    return differ("heads of k and v", k[1], v[1]);
  if (k[1] == 0 || q[1] % k[1] != 0)
    return error("attention_c3", "the heads of q must be a multiple of those of k and v, got " +
                                     llvm::Twine(q[1]) + " and " + llvm::Twine(k[1]));
  Shape scores = {q[0], q[1], q[2], k[2]};
  if (bias)
    GPUC_RETURN_IF_ERROR(checkBroadcastTo("attention_c4", "bias", *bias, scores));
  return Shape{q[0], q[1], q[2], v[3]};
}

/// One entry in `list` per spatial axis, each at least `least`.
static Status checkList(llvm::StringRef label, llvm::StringRef what, Extents list, size_t spatial,
                        int64_t least) {
  if (list.size() != spatial)
    return error(label, "expected one entry in " + what + " per spatial axis (" + llvm::Twine(spatial) +
                            "), got " + llvm::Twine(list.size()));
  for (int64_t entry : list)
    if (entry < least)
      return error(label,
                   "entries of " + what + " must be at least " + llvm::Twine(least) + ", got " + text(list));
  return {};
}

/// dilation * (kernel - 1) + 1: cells from the first tap of a window to its last.
static std::optional<int64_t> reach(int64_t kernel, int64_t dilation) {
  auto span = checkedMul(dilation, kernel - 1);
  return span ? checkedAdd(*span, 1) : std::nullopt;
}

static Status checkConvRanks(llvm::StringRef label, Extents x, Extents w) {
  if (x.size() < 3 || x.size() != w.size())
    return error(label, "expected x and w of one rank, at least 3, got " + llvm::Twine(x.size()) + " and " +
                            llvm::Twine(w.size()));
  return {};
}

static Status checkBias(llvm::StringRef label, const Extents *bias, int64_t channels) {
  if (!bias || (bias->size() == 1 && (*bias)[0] == channels))
    return {};
  return error(label,
               "bias has the wrong shape: expected [" + llvm::Twine(channels) + "], got " + text(*bias));
}

Result<Shape> convShape(Extents x, Extents w, const Extents *bias, const Window &window, int64_t group) {
  GPUC_RETURN_IF_ERROR(checkConvRanks("conv_c1", x, w));
  int64_t channels = x[1], outputs = w[0];
  if (group < 1 || channels % group != 0 || outputs % group != 0)
    return error("conv_c2", "group must be positive and divide the channels of x and w, got " +
                                llvm::Twine(group) + " for " + llvm::Twine(channels) + " and " +
                                llvm::Twine(outputs));
  if (w[1] != channels / group)
    return error("conv_c2", "w has the wrong number of input channels: expected " +
                                llvm::Twine(channels / group) + ", got " + llvm::Twine(w[1]));
  GPUC_RETURN_IF_ERROR(checkBias("conv_c2", bias, outputs));
  size_t spatial = x.size() - 2;
  GPUC_RETURN_IF_ERROR(checkList("conv_c3", "strides", window.strides, spatial, 1));
  GPUC_RETURN_IF_ERROR(checkList("conv_c3", "dilations", window.dilations, spatial, 1));
  GPUC_RETURN_IF_ERROR(checkList("conv_c3", "low", window.low, spatial, 0));
  GPUC_RETURN_IF_ERROR(checkList("conv_c3", "high", window.high, spatial, 0));
  GPUC_RETURN_IF_ERROR(checkList("conv_c3", "w's spatial extents", w.drop_front(2), spatial, 1));
  Shape result = {x[0], outputs};
  for (size_t i = 0; i < spatial; ++i) {
    auto span = reach(w[2 + i], window.dilations[i]);
    auto padded = checkedAdd(x[2 + i], window.low[i]);
    padded = padded ? checkedAdd(*padded, window.high[i]) : padded;
    if (!span || !padded || *span > *padded)
      return error("conv_c3", "the window does not fit at spatial axis " + llvm::Twine(i) + ": it covers " +
                                  (span ? std::to_string(*span) : "too many") + " cells of " +
                                  (padded ? std::to_string(*padded) : "too many"));
    result.push_back((*padded - *span) / window.strides[i] + 1);
  }
  return result;
}

Status checkConvTranspose(Extents x, Extents w, const Extents *bias, const Window &window, int64_t group,
                          Extents y) {
  GPUC_RETURN_IF_ERROR(checkConvRanks("conv_transpose_c1", x, w));
  if (y.size() != x.size())
    return error("conv_transpose_c1", "the result has the wrong rank: expected " + llvm::Twine(x.size()) +
                                          ", got " + llvm::Twine(y.size()));
  if (group < 1 || x[1] % group != 0)
    return error("conv_transpose_c2", "group must be positive and divide the " + llvm::Twine(x[1]) +
                                          " channels of x, got " + llvm::Twine(group));
  if (w[0] != x[1])
    return error("conv_transpose_c2", "w has the wrong number of input channels: expected " +
                                          llvm::Twine(x[1]) + ", got " + llvm::Twine(w[0]));
  auto outputs = checkedMul(w[1], group);
  if (!outputs || y[1] != *outputs || y[0] != x[0])
    return error("conv_transpose_c2", "the result has the wrong batch or channels: expected " +
                                          llvm::Twine(x[0]) + " and " +
                                          (outputs ? std::to_string(*outputs) : "too many") + ", got " +
                                          llvm::Twine(y[0]) + " and " + llvm::Twine(y[1]));
  GPUC_RETURN_IF_ERROR(checkBias("conv_transpose_c2", bias, *outputs));
  size_t spatial = x.size() - 2;
  GPUC_RETURN_IF_ERROR(checkList("conv_transpose_c3", "strides", window.strides, spatial, 1));
  GPUC_RETURN_IF_ERROR(checkList("conv_transpose_c3", "dilations", window.dilations, spatial, 1));
  GPUC_RETURN_IF_ERROR(checkList("conv_transpose_c3", "low", window.low, spatial, INT64_MIN));
  for (size_t i = 0; i < spatial; ++i) {
    // The position of the last term must be a number that emitted code can compute.
    auto last = checkedMul(x[2 + i], window.strides[i]);
    auto span = reach(w[2 + i], window.dilations[i]);
    auto sum = last && span ? checkedAdd(*last, *span) : std::nullopt;
    int64_t end;
    if (!sum || __builtin_sub_overflow(*sum, window.low[i], &end))
      return error("conv_transpose_c3",
                   "positions along spatial axis " + llvm::Twine(i) + " do not fit in 64 bits");
  }
  return {};
}

/// The number of a window of one axis that holds no cell of x, or -1. All arithmetic has been checked to fit.
static Result<int64_t> findEmptyWindow(llvm::StringRef label, int64_t extent, int64_t windows, int64_t kernel,
                                       int64_t stride, int64_t low, int64_t dilation) {
  auto isEmpty = [&](int64_t window) {
    int64_t start = window * stride - low;
    int64_t tap = start >= 0 ? 0 : (-start + dilation - 1) / dilation;
    return tap >= kernel || start + tap * dilation >= extent;
  };
  if (isEmpty(windows - 1))
    return windows - 1;
  if (isEmpty(0))
    return 0;
  // Windows that start at a cell are full if the last one is. One that starts before can step over a short
  // axis; where it lands repeats after dilation / gcd windows.
  if (dilation <= extent)
    return -1;
  int64_t before = std::min(windows, (low + stride - 1) / stride);
  before = std::min(before, dilation / std::gcd(dilation, stride));
  if (before > (int64_t(1) << 24))
    return error(label, "too many windows start in the padding: " + llvm::Twine(before));
  for (int64_t window = 0; window < before; ++window)
    if (isEmpty(window))
      return window;
  return -1;
}

Status checkPool(llvm::StringRef label, Extents x, const Window &window, Extents y) {
  if (x.size() < 3 || y.size() != x.size())
    return error(label, "expected x and the result of one rank, at least 3, got " + llvm::Twine(x.size()) +
                            " and " + llvm::Twine(y.size()));
  if (y[0] != x[0] || y[1] != x[1])
    return error(label, "batch and channels differ: x has " + text(x.take_front(2)) + ", the result has " +
                            text(y.take_front(2)));
  size_t spatial = x.size() - 2;
  GPUC_RETURN_IF_ERROR(checkList(label, "kernel", window.kernel, spatial, 1));
  GPUC_RETURN_IF_ERROR(checkList(label, "strides", window.strides, spatial, 1));
  GPUC_RETURN_IF_ERROR(checkList(label, "low", window.low, spatial, 0));
  GPUC_RETURN_IF_ERROR(checkList(label, "high", window.high, spatial, 0));
  GPUC_RETURN_IF_ERROR(checkList(label, "dilations", window.dilations, spatial, 1));
  for (size_t i = 0; i < spatial; ++i) {
    if (y[2 + i] == 0)
      continue;
    // Twice the last position, so that the sums below fit as well.
    auto last = checkedMul(y[2 + i], window.strides[i]);
    auto span = reach(window.kernel[i], window.dilations[i]);
    auto sum = last && span ? checkedAdd(*last, *span) : std::nullopt;
    sum = sum ? checkedAdd(*sum, window.low[i]) : sum;
    sum = sum ? checkedAdd(*sum, window.high[i]) : sum;
    sum = sum ? checkedAdd(*sum, window.dilations[i]) : sum;
    if (!sum || !checkedMul(*sum, 2))
      return error(label, "positions along spatial axis " + llvm::Twine(i) + " do not fit in 64 bits");
    auto empty = findEmptyWindow(label, x[2 + i], y[2 + i], window.kernel[i], window.strides[i],
                                 window.low[i], window.dilations[i]);
    if (!empty.ok())
      return empty.status();
    if (*empty >= 0)
      return error(label, "window " + llvm::Twine(*empty) + " of spatial axis " + llvm::Twine(i) +
                              " holds no cell of x, whose extent is " + llvm::Twine(x[2 + i]));
  }
  return {};
}

} // namespace gpuc::shapes

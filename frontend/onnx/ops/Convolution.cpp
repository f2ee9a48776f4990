// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conv and ConvTranspose of any number of spatial axes.
#include "Families.h"
#include "Window.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;

namespace gpuc::frontend {

/// Ranks, types, group and channel counts of both operators. `outputChannels` is set.
static bool checkOperands(Emit &e, Value x, Value w, Value bias, int64_t group, bool transposed,
                          int64_t &outputChannels) {
  ArrayRef<int64_t> xs = shapeOf(x), ws = shapeOf(w);
  if (xs.size() < 3 || ws.size() != xs.size()) {
    e.fail("input 0 of shape " + shapeText(xs) + " and weights of shape " + shapeText(ws) +
           " must have one rank, 3 or more");
    return false;
  }
  if (!e.floatOnly(x) || !e.sameType(x, w, "input 1 (W)") || (bias && !e.sameType(x, bias, "input 2 (B)")))
    return false;
  int64_t channels = xs[1];
  outputChannels = transposed ? ws[1] : ws[0];
  bool ok = group >= 1 && group <= kMaxWindow && ws[1] <= kMaxElements / std::max<int64_t>(group, 1);
  if (ok && transposed) {
    outputChannels = ws[1] * group;
    ok = channels == ws[0] && channels % group == 0;
  } else if (ok) {
    ok = channels == ws[1] * group && ws[0] % group == 0;
  }
  if (!ok) {
    e.fail(Twine(group) + " groups, input 0 of shape " + shapeText(xs) + " and weights of shape " +
           shapeText(ws) + " do not agree");
    return false;
  }
  if (bias && shapeOf(bias) != ArrayRef<int64_t>({outputChannels})) {
    e.fail("input 2 (B) must have shape " + Twine(outputChannels) + ", got " + shapeText(shapeOf(bias)));
    return false;
  }
  return true;
}

static LogicalResult conv(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0), w = e.in(1), bias = e.optional(2);
  FailureOr<int64_t> group = ctx.intAttr("group", 1);
  int64_t channels = 0;
  if (!x || !w || e.failed || failed(group) || !checkOperands(e, x, w, bias, *group, false, channels))
    return failure();
  ArrayRef<int64_t> extents = shapeOf(x).drop_front(2);
  std::optional<Ints> kernel = readKernelShape(e, shapeOf(w).drop_front(2));
  std::optional<Window> window = kernel ? readWindowAttributes(e, extents.size(), *kernel) : std::nullopt;
  if (!window || !resolveWindow(e, *window, extents, /*ceilMode=*/false))
    return failure();
  Ints shape{shapeOf(x)[0], channels};
  shape.append(window->out);
  if (!e.sizeOk(shape))
    return failure();
  return e.out(ctx.create<ConvOp>(x, w, bias, ArrayRef<int64_t>(window->strides),
                                  ArrayRef<int64_t>(window->low), ArrayRef<int64_t>(window->high),
                                  ArrayRef<int64_t>(window->dilations), uint64_t(*group)));
}

// Without output_shape: stride*(in-1) + output_padding + reach - pads, or in*stride for SAME. With it, or
// with SAME, the pads follow from the size: SAME_UPPER rounds the beginning down, the other modes the end.
// output_padding adds ordinary cells at the end.
static LogicalResult convTranspose(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0), w = e.in(1), bias = e.optional(2);
  FailureOr<int64_t> group = ctx.intAttr("group", 1);
  int64_t channels = 0;
  if (!x || !w || e.failed || failed(group) || !checkOperands(e, x, w, bias, *group, true, channels))
    return failure();
  ArrayRef<int64_t> extents = shapeOf(x).drop_front(2);
  size_t rank = extents.size();
  std::optional<Ints> kernel = readKernelShape(e, shapeOf(w).drop_front(2));
  std::optional<Window> window = kernel ? readWindowAttributes(e, rank, *kernel) : std::nullopt;
  std::optional<std::string> mode = window ? readAutoPad(e) : std::nullopt;
  Ints zeros(rank, 0);
  FailureOr<Ints> extra = ctx.intsAttr("output_padding", ArrayRef<int64_t>(zeros));
  FailureOr<Ints> given = ctx.intsAttr("output_shape", ArrayRef<int64_t>());
  if (!mode || failed(extra) || failed(given))
    return failure();
  if (extra->size() != rank || llvm::any_of(*extra, [](int64_t v) { return v < 0 || v > kMaxWindow; }))
    return ctx.error("attribute 'output_padding' must hold " + Twine(rank) + " non-negative numbers");
  ArrayRef<int64_t> wanted = *given; // some exporters write the whole shape
  if (wanted.size() == rank + 2)
    wanted = wanted.drop_front(2);
  if (!wanted.empty() && wanted.size() != rank)
    return ctx.error("attribute 'output_shape' must hold " + Twine(rank) + " numbers, got " +
                     Twine(given->size()));
  bool same = mode->substr(0, 4) == "SAME";
  Ints shape{shapeOf(x)[0], channels};
  for (size_t i = 0; i < rank; ++i) {
    if (extents[i] > int64_t(1) << 36)
      return ctx.error("the input of shape " + shapeText(shapeOf(x)) + " is too large");
    int64_t full = window->strides[i] * (extents[i] - 1) + (*extra)[i] + window->reach(i);
    if (*mode == "VALID")
      window->low[i] = window->high[i] = 0;
    int64_t out = full - window->low[i] - window->high[i];
    if (same || !wanted.empty()) {
      out = wanted.empty() ? extents[i] * window->strides[i] : wanted[i];
      if (out < 0 || out > kMaxElements)
        return ctx.error("attribute 'output_shape' holds " + Twine(out));
      int64_t total = std::max<int64_t>(full - out, 0);
      window->low[i] = *mode == "SAME_UPPER" ? total / 2 : total - total / 2;
    }
    if (extents[i] == 0 && !same && wanted.empty())
      out = std::max<int64_t>(out, 0);
    shape.push_back(out);
  }
  if (!e.sizeOk(shape))
    return failure();
  Type type = RankedTensorType::get(shape, elementTypeOf(x));
  return e.out(ctx.create<ConvTransposeOp>(type, x, w, bias, ArrayRef<int64_t>(window->strides),
                                           ArrayRef<int64_t>(window->low),
                                           ArrayRef<int64_t>(window->dilations), uint64_t(*group)));
}

void registerConvolutionOps(OpRegistry &r) {
  r.add("", "Conv", {1, 11, 22}, conv);
  r.add("", "ConvTranspose", {1, 11, 22}, convTranspose);
}

} // namespace gpuc::frontend

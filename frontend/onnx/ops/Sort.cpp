// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TopK. Ties: the lower index first, for the largest and the smallest. Unsorted results are given sorted.
#include "Emit.h"
#include "Families.h"

using namespace mlir;

namespace gpuc::frontend {

static LogicalResult topKOf(NodeContext &ctx, int64_t k, bool largest) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<int64_t> axisAttr = ctx.intAttr("axis", -1);
  if (!x || failed(axisAttr))
    return failure();
  FailureOr<int64_t> axis = ctx.normalizeAxis(*axisAttr, tensorType(x).getRank(), "attribute 'axis'");
  if (failed(axis))
    return failure();
  if (k < 0 || k > shapeOf(x)[*axis])
    return ctx.error("k is " + Twine(k) + ", axis " + Twine(*axis) + " has " + Twine(shapeOf(x)[*axis]) +
                     " elements");
  SmallVector<Value> results = ctx.createMulti<TopKOp>(x, uint64_t(k), uint64_t(*axis), largest);
  if (results.size() != 2)
    return failure();
  return success(succeeded(e.out(0, results[0])) && (!ctx.outputUsed(1) || succeeded(e.out(1, results[1]))));
}

// Version 1 has k as an attribute.
static LogicalResult topKAttr(NodeContext &ctx) {
  FailureOr<int64_t> k = ctx.intAttr("k");
  return failed(k) ? failure() : topKOf(ctx, *k, /*largest=*/true);
}
static LogicalResult topK(NodeContext &ctx) {
  FailureOr<Ints> k = ctx.intsInput(1);
  FailureOr<int64_t> largest = ctx.intAttr("largest", 1);
  if (failed(k) || failed(largest))
    return failure();
  if (k->size() != 1)
    return ctx.error("input 1 (K) must hold one number, got " + Twine(k->size()));
  return topKOf(ctx, (*k)[0], *largest != 0);
}

void registerSortOps(OpRegistry &r) {
  r.add("", "TopK", {1}, topKAttr);
  r.add("", "TopK", {10, 11, 24}, topK, {1});
}

} // namespace gpuc::frontend

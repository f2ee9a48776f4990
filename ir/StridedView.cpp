// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composition of views into offset and strides.
#include "gpuc/IR/StridedView.h"
#include "gpuc/IR/Types.h"

using namespace mlir;

namespace gpuc {

/// Strides of `to` over a buffer whose `from` has `strides`; nothing when an axis of the result would cross a gap. Axes of extent 1 carry no
/// information and get stride 0. (The rule numpy uses for reshapes without a copy.)
static std::optional<llvm::SmallVector<int64_t>>
reshapeStrides(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> to) {
  llvm::SmallVector<int64_t> result(to.size(), 0);
  for (int64_t extent : from)
    if (extent == 0)
      return rowMajorStrides(to);
  llvm::SmallVector<int64_t> oldShape, oldStrides;
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) {
      oldShape.push_back(from[i]);
      oldStrides.push_back(strides[i]);
    }
  size_t o = 0, n = 0;
  while (o < oldShape.size()) {
    while (n < to.size() && to[n] == 1)
      ++n;
    // A group [o, oEnd) of old axes covers the same elements as [n, nEnd) of new ones.
    size_t oEnd = o + 1, nEnd = n + 1;
    int64_t oldCount = oldShape[o], newCount = to[n];
    while (oldCount != newCount) {
      if (oldCount < newCount)
        oldCount *= oldShape[oEnd++];
      else
        newCount *= to[nEnd++];
    }
    for (size_t i = o; i + 1 < oEnd; ++i)
      if (oldStrides[i] != oldStrides[i + 1] * oldShape[i + 1])
        return std::nullopt;
    int64_t stride = oldStrides[oEnd - 1];
    for (size_t i = nEnd; i-- > n;) {
      result[i] = to[i] == 1 ? 0 : stride;
      stride *= to[i];
    }
    o = oEnd;
    n = nEnd;
  }
  return result;
}

std::optional<StridedView>
traceStridedView(Value value, llvm::function_ref<llvm::SmallVector<int64_t>(Value)> baseStrides) {
  Operation *op = value.getDefiningOp();
  if (!op || !isa<TransposeOp, ReshapeOp, SliceOp, ExpandOp>(op))
    return StridedView{value, 0, baseStrides(value)};
  auto view = traceStridedView(op->getOperand(0), baseStrides);
  if (!view)
    return std::nullopt;
  auto from = shapeOf(op->getOperand(0)), to = shapeOf(value);
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    llvm::SmallVector<int64_t> strides;
    for (int64_t axis : transpose.getPerm())
      strides.push_back(view->strides[axis]);
    view->strides = strides;
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    for (size_t i = 0; i < to.size(); ++i) {
      if (to[i] > 0)
        view->offset += slice.getStarts()[i] * view->strides[i];
      view->strides[i] *= slice.getSteps()[i];
    }
  } else if (isa<ExpandOp>(op)) {
    llvm::SmallVector<int64_t> strides(to.size(), 0);
    size_t lead = to.size() - from.size();
    for (size_t i = 0; i < from.size(); ++i)
      strides[lead + i] = from[i] == to[lead + i] ? view->strides[i] : 0;
    view->strides = strides;
  } else {
    auto strides = reshapeStrides(from, view->strides, to);
    if (!strides)
      return std::nullopt;
    view->strides = *strides;
  }
  return view;
}

Value stripViews(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<TransposeOp, ReshapeOp, SliceOp, ExpandOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

Value stripBijectiveViews(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<TransposeOp, ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

} // namespace gpuc

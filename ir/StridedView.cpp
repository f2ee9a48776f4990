// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Composition of views into offset and strides.
#include "gpuc/IR/StridedView.h"
#include "gpuc/IR/Types.h"

using namespace mlir;

namespace gpuc {

namespace {

/// Part of an axis: `extent` positions, `stride` elements apart. An axis is a list of parts, outermost first,
/// so that a reshape may merge axes that don't follow each other in memory and a later one may split them
/// again (sequence-first attention does both).
struct Part {
  int64_t extent, stride;
};
using Axis = llvm::SmallVector<Part, 2>;

/// A chain of views over `base`.
struct Chain {
  Value base;
  int64_t offset = 0;
  llvm::SmallVector<Axis> axes;
};

/// The axis as one part; nothing when its parts don't follow each other.
std::optional<Part> merged(const Axis &axis) {
  Part whole{1, 0};
  for (const Part &part : llvm::reverse(axis)) {
    if (part.extent == 1)
      continue;
    if (whole.extent == 1)
      whole = part;
    else if (part.stride == whole.stride * whole.extent)
      whole.extent *= part.extent;
    else
      return std::nullopt;
  }
  return whole;
}

/// Deals the parts out to axes of other extents; nothing when a part would have to be split unevenly.
std::optional<llvm::SmallVector<Axis>> regroup(llvm::ArrayRef<Axis> axes, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<Part> parts; // innermost first
  for (const Axis &axis : llvm::reverse(axes))
    for (const Part &part : llvm::reverse(axis))
      if (part.extent != 1)
        parts.push_back(part);
  llvm::SmallVector<Axis> result(shape.size());
  size_t next = 0;
  for (size_t i = shape.size(); i-- > 0;) {
    int64_t left = shape[i];
    while (left > 1) {
      Part &part = parts[next];
      int64_t taken = std::min(part.extent, left);
      if (part.extent % taken || left % taken)
        return std::nullopt;
      result[i].insert(result[i].begin(), Part{taken, part.stride});
      left /= taken;
      if (taken == part.extent)
        ++next;
      else
        part = {part.extent / taken, part.stride * taken};
    }
  }
  return result;
}

std::optional<Chain> traceChain(Value value,
                                llvm::function_ref<llvm::SmallVector<int64_t>(Value)> baseStrides) {
  Operation *op = value.getDefiningOp();
  auto to = shapeOf(value);
  if (!op || !isa<TransposeOp, ReshapeOp, SliceOp, ExpandOp>(op)) {
    Chain chain{value, 0, {}};
    for (auto [extent, stride] : llvm::zip(to, baseStrides(value)))
      chain.axes.push_back({Part{extent, stride}});
    return chain;
  }
  auto chain = traceChain(op->getOperand(0), baseStrides);
  if (!chain)
    return std::nullopt;
  auto from = shapeOf(op->getOperand(0));
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    llvm::SmallVector<Axis> axes;
    for (int64_t axis : transpose.getPerm())
      axes.push_back(chain->axes[axis]);
    chain->axes = axes;
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    for (size_t i = 0; i < to.size(); ++i) {
      int64_t start = slice.getStarts()[i], step = slice.getSteps()[i];
      if (start == 0 && step == 1 && to[i] == from[i])
        continue;
      auto part = merged(chain->axes[i]);
      if (!part)
        return std::nullopt;
      if (to[i] > 0)
        chain->offset += start * part->stride;
      chain->axes[i] = {Part{to[i], part->stride * step}};
    }
  } else if (isa<ExpandOp>(op)) {
    llvm::SmallVector<Axis> axes;
    size_t lead = to.size() - from.size();
    for (size_t i = 0; i < to.size(); ++i)
      axes.push_back(i >= lead && from[i - lead] == to[i] ? chain->axes[i - lead] : Axis{Part{to[i], 0}});
    chain->axes = axes;
  } else if (llvm::is_contained(to, 0)) {
    chain->axes.clear();
    for (int64_t extent : to)
      chain->axes.push_back({Part{extent, 0}});
  } else {
    auto axes = regroup(chain->axes, to);
    if (!axes)
      return std::nullopt;
    chain->axes = *axes;
  }
  return chain;
}

} // namespace

std::optional<StridedView>
traceStridedView(Value value, llvm::function_ref<llvm::SmallVector<int64_t>(Value)> baseStrides) {
  auto chain = traceChain(value, baseStrides);
  if (!chain)
    return std::nullopt;
  StridedView view{chain->base, chain->offset, {}};
  for (const Axis &axis : chain->axes) {
    auto part = merged(axis);
    if (!part)
      return std::nullopt;
    view.strides.push_back(part->stride);
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

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Analysis of normalisations and choice of the variant: rows in a warp's or a block's registers, streamed
// rows, columns.
#include "Normalization.h"

using namespace mlir;

namespace gpuc::normalization {
namespace {

/// Softmax: rows when the axis is the fastest one of extent above 1, else columns whose fast axes are those
/// below the axis.
void analyzeSoftmax(KernelOp kernel, SoftmaxOp op, Problem &p) {
  auto shape = shapeOf(p.x);
  auto strides = likelyStrides(kernel, p.x);
  unsigned axis = unsigned(op.getAxis());
  SmallVector<unsigned> outer, inner;
  for (unsigned d = 0; d < shape.size(); ++d)
    if (d != axis)
      (shape[d] > 1 && shape[axis] > 1 && strides[d] != 0 && strides[d] < strides[axis] ? inner : outer)
          .push_back(d);
  llvm::sort(inner, [&](unsigned a, unsigned b) {
    return strides[a] != strides[b] ? strides[a] > strides[b] : a < b;
  });
  if (inner.empty()) {
    p.rows = extentOf(shape, outer);
    p.cols = shape[axis];
    p.axes = {outer, {axis}};
    p.laneGroup = 1;
    return;
  }
  p.form = Form::Columns;
  p.outer = extentOf(shape, outer);
  p.axis = shape[axis];
  p.inner = extentOf(shape, inner);
  p.axes = {outer, {axis}, inner};
  p.laneGroup = 2;
}

void analyzeTrailing(int64_t axis, Problem &p) {
  auto shape = shapeOf(p.x);
  p.axes.resize(2);
  for (unsigned d = 0; d < shape.size(); ++d) {
    p.axes[d >= axis].push_back(d);
    (d >= axis ? p.cols : p.rows) *= shape[d];
  }
  p.laneGroup = 1;
}

/// Group norm and LRN: batch, channels, spatial axes.
void analyzeChannels(KernelOp kernel, Problem &p) {
  auto shape = shapeOf(p.x);
  auto strides = likelyStrides(kernel, p.x);
  p.axes = {{0}, {1}, {}};
  p.outer = shape[0];
  p.axis = shape[1];
  for (unsigned d = 2; d < shape.size(); ++d) {
    p.axes[2].push_back(d);
    p.inner *= shape[d];
  }
  p.channelsFastest = shape[1] > 1 && p.inner > 1;
  for (unsigned d = 2; d < shape.size(); ++d)
    p.channelsFastest &= shape[d] == 1 || strides[d] > strides[1];
  if (p.inner == 1)
    p.channelsFastest = true;
  p.laneGroup = p.channelsFastest ? 1 : 2;
}

} // namespace

FailureOr<Problem> analyze(KernelOp kernel) {
  Problem p;
  p.root = kernel.getRoot();
  if (auto op = dyn_cast_or_null<SoftmaxOp>(p.root)) {
    p.x = op.getX();
    analyzeSoftmax(kernel, op, p);
  } else if (auto op = dyn_cast_or_null<LayerNormOp>(p.root)) {
    p.x = op.getX();
    p.scale = op.getScale();
    p.bias = op.getBias();
    p.epsilon = op.getEpsilon().convertToDouble();
    analyzeTrailing(op.getAxis(), p);
  } else if (auto op = dyn_cast_or_null<RmsNormOp>(p.root)) {
    p.x = op.getX();
    p.scale = op.getScale();
    p.epsilon = op.getEpsilon().convertToDouble();
    analyzeTrailing(op.getAxis(), p);
  } else if (auto op = dyn_cast_or_null<GroupNormOp>(p.root)) {
    p.x = op.getX();
    p.scale = op.getScale();
    p.bias = op.getBias();
    p.epsilon = op.getEpsilon().convertToDouble();
    p.isGroupNorm = true;
    p.groups = op.getGroups();
    analyzeChannels(kernel, p);
    p.rows = p.outer * p.groups;
    p.cols = p.axis / p.groups * p.inner;
  } else if (auto op = dyn_cast_or_null<LrnOp>(p.root)) {
    p.x = op.getX();
    p.form = Form::Window;
    analyzeChannels(kernel, p);
    if (p.channelsFastest) { // the window runs along the channels: lanes would overlap
      p.laneGroup = 2;
      return p;
    }
  } else {
    return kernel.emitError(
        "a normalization kernel needs softmax, layer_norm, rms_norm, group_norm or lrn as its root");
  }
  const auto &laneAxes = p.axes[p.laneGroup];
  if (!laneAxes.empty() && tensorType(p.x).getNumElements() > 0)
    p.lanes = std::min(maxLanes(kernel, p.x, laneAxes.back()),
                       maxLanes(kernel, p.root->getResult(0), laneAxes.back()));
  if (p.isGroupNorm && p.channelsFastest)
    while (p.axis / p.groups % p.lanes != 0)
      p.lanes /= 2;
  return p;
}

static void selectRows(KernelOp kernel, const Problem &p, const Target &target) {
  int64_t accesses = ceilDiv(p.cols, p.lanes);
  // Few long rows: several blocks per row. Softmax has no such form.
  constexpr int64_t kTeam = 256, kPerThread = 16, kMinCols = 4 * kTeam * kPerThread;
  if (!isa<SoftmaxOp>(p.root) && p.cols >= kMinCols && p.rows < 2 * target.numSMs) {
    int64_t vectors = std::max<int64_t>(1, kPerThread / p.lanes / (elementTypeOf(p.x).isF64() ? 2 : 1));
    setConfig(kernel, "split", {{"team", kTeam}, {"teams", 1}, {"vectors", vectors}, {"lanes", p.lanes}});
    return;
  }
  for (const RowVariant &v : rowVariants()) {
    bool streamed = v.perThread == 0;
    int64_t vectors = ceilDiv(accesses, v.team);
    // A double takes two registers.
    int64_t registers = vectors * p.lanes * (elementTypeOf(p.x).isF64() ? 2 : 1);
    if (!streamed && registers > v.perThread)
      continue;
    // Few long rows: spread each over more threads, a warp's registers fill slowly.
    bool few = p.rows < 2 * target.numSMs;
    if (v.team == 32 && few && vectors * p.lanes > 8)
      continue;
    int64_t team = std::min<int64_t>(v.team, powerOfTwoAbove(std::max<int64_t>(accesses, 1)));
    int64_t teams = team > 32 ? 1 : 32 / team;
    while (team <= 32 && teams * team < 128 && ceilDiv(p.rows, teams) > 4 * target.numSMs)
      teams *= 2;
    setConfig(kernel, v.name,
              {{"team", team},
               {"teams", teams},
               {"vectors", streamed ? 0 : ceilDiv(accesses, team)},
               {"lanes", p.lanes}});
    return;
  }
}

static void selectColumns(KernelOp kernel, const Problem &p, const Target &target) {
  int64_t vectors = p.inner / p.lanes, width = std::min<int64_t>(powerOfTwoAbove(vectors), 32),
          slices = 256 / width;
  while (slices > 1 && slices / 2 >= p.axis && slices / 2 * width >= 32)
    slices /= 2;
  while (slices > 1 && slices * width > 64 && slices * 4 > p.axis &&
         p.outer * ceilDiv(vectors, width) > 8 * target.numSMs)
    slices /= 2;
  setConfig(kernel, "columns", {{"width", width}, {"slices", slices}, {"lanes", p.lanes}});
}

LogicalResult select(KernelOp kernel, const Target &target) {
  auto p = analyze(kernel);
  if (failed(p))
    return failure();
  switch (p->form) {
  case Form::Rows:
    selectRows(kernel, *p, target);
    break;
  case Form::Columns:
    selectColumns(kernel, *p, target);
    break;
  case Form::Window:
    setConfig(kernel, "window", {{"threads", 128}, {"lanes", p->lanes}});
    break;
  }
  return success();
}

} // namespace gpuc::normalization

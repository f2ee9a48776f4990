// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Analysis of pooling kernels: which axis the lanes run along, and how many.
#include "Pooling.h"

using namespace mlir;

namespace gpuc::pooling {

template <typename Op> static void readWindow(Op op, Problem &p) {
  p.root = op;
  p.x = op.getX();
  p.y = op.getY();
  p.kernel = op.getKernel();
  p.strides = op.getStrides();
  p.low = op.getLow();
  p.high = op.getHigh();
  p.dilations = op.getDilations();
}

FailureOr<Problem> analyze(KernelOp kernel) {
  Problem p;
  if (auto op = dyn_cast_or_null<MaxPoolOp>(kernel.getRoot())) {
    readWindow(op, p);
    p.indices = op.getIndices();
    p.columnMajor = op.getColumnMajor();
  } else if (auto op = dyn_cast_or_null<AvgPoolOp>(kernel.getRoot())) {
    readWindow(op, p);
    p.isMax = false;
    p.countPadding = op.getCountIncludePad();
  } else {
    return kernel.emitError("a pooling kernel needs max_pool or avg_pool as its root");
  }
  auto shape = shapeOf(p.x);
  auto strides = likelyStrides(kernel, p.x);
  p.channelsFastest = shape[1] > 1;
  for (unsigned d = 2; d < shape.size(); ++d)
    p.channelsFastest &= shape[d] == 1 || strides[d] > strides[1];
  if (tensorType(p.y).getNumElements() == 0)
    return p;
  if (p.channelsFastest)
    p.lanes = std::min(maxLanes(kernel, p.x, 1), maxLanes(kernel, p.y, 1));
  else
    p.lanes = std::min(maxLanes(kernel, p.y, unsigned(shape.size()) - 1), 4u);
  if (p.indices)
    p.lanes = std::min(p.lanes, 4u);
  return p;
}

LogicalResult select(KernelOp kernel, const Target &target) {
  auto p = analyze(kernel);
  if (failed(p))
    return failure();
  // Along the width, several windows per thread only pay when there are threads enough without.
  unsigned lanes = p->lanes;
  while (lanes > 1 && tensorType(p->y).getNumElements() / lanes < int64_t(target.numSMs) * 512)
    lanes /= 2;
  setConfig(kernel, p->channelsFastest ? "channels" : "width", {{"lanes", lanes}, {"threads", 128}});
  return success();
}

} // namespace gpuc::pooling

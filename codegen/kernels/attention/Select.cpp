// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Analysis of attention kernels and the choice of the tile.
#include "Attention.h"
#include "gpuc/IR/StridedView.h"

using namespace mlir;

namespace gpuc::attention {
namespace {

FailureOr<Operand> viewOf(KernelOp kernel, Value value, StringRef name) {
  auto view = traceStridedView(value, [&](Value base) -> SmallVector<int64_t> {
    auto argument = dyn_cast<BlockArgument>(base);
    return argument ? argumentStrides(kernel, argument) : rowMajorStrides(shapeOf(base));
  });
  auto argument = view ? dyn_cast<BlockArgument>(view->base) : BlockArgument();
  if (!argument)
    return kernel.emitError("operand ") << name << " of the attention is no strided view of a buffer";
  Operand operand;
  operand.index = argument.getArgNumber();
  operand.offset = view->offset;
  auto shape = shapeOf(value);
  for (size_t i = 0; i < shape.size(); ++i)
    operand.strides[4 - shape.size() + i] = shape[i] == 1 ? 0 : view->strides[i];
  return operand;
}

/// The widest copies along the depth that alignment allows: elements.
void chooseAccess(KernelOp kernel, Operand &operand, int64_t depth, int64_t bytes) {
  BlockArgument argument = kernel.getBody().getArgument(operand.index);
  int64_t alignment = argumentAccess(kernel, argument, "").alignment;
  if (depth > 1 && operand.strides[3] != 1)
    return;
  for (int64_t access = 16 / bytes; access > 1 && access * bytes >= 4; access /= 2) {
    bool fits = access * bytes <= alignment && operand.offset % access == 0 && depth % access == 0;
    for (int i = 0; i < 3; ++i)
      fits &= operand.strides[i] % access == 0;
    if (fits) {
      operand.access = access;
      return;
    }
  }
}

} // namespace

FailureOr<Problem> analyze(KernelOp kernel) {
  Problem p;
  p.op = dyn_cast_or_null<AttentionOp>(kernel.getRoot());
  if (!p.op)
    return kernel.emitError("an attention kernel needs an attention as its root");
  auto q = shapeOf(p.op.getQ()), k = shapeOf(p.op.getK()), v = shapeOf(p.op.getV());
  p.dtype = dtypeOf(p.op.getQ());
  p.batch = q[0], p.heads = q[1], p.queries = q[2], p.depth = q[3];
  p.keyHeads = k[1], p.keys = k[2], p.columns = v[3];
  auto viewQ = viewOf(kernel, p.op.getQ(), "q"), viewK = viewOf(kernel, p.op.getK(), "k"),
       viewV = viewOf(kernel, p.op.getV(), "v");
  if (failed(viewQ) || failed(viewK) || failed(viewV))
    return failure();
  p.q = *viewQ, p.k = *viewK, p.v = *viewV;
  if (p.op.getBias()) {
    auto bias = viewOf(kernel, p.op.getBias(), "bias");
    if (failed(bias))
      return failure();
    p.bias = *bias;
  }
  if (p.isEmpty())
    return p;
  constexpr int64_t kLimit = int64_t(1) << 30;
  if (p.rows() >= kLimit || p.keys >= kLimit || p.depth >= kLimit || p.columns >= kLimit ||
      p.batch * p.keyHeads >= kLimit)
    return kernel.emitError("attention extents must stay below 2^30, got ")
           << p.batch << " x " << p.heads << " x " << p.queries << " x " << p.keys;
  int64_t bytes = bitWidth(p.dtype) / 8;
  chooseAccess(kernel, p.q, p.depth, bytes);
  chooseAccess(kernel, p.k, p.depth, bytes);
  chooseAccess(kernel, p.v, p.columns, bytes);
  p.lanes = maxLanes(kernel, p.op.getY(), 3);
  return p;
}

LogicalResult select(KernelOp kernel, const Target &target) {
  auto p = analyze(kernel);
  if (failed(p))
    return failure();
  constexpr int64_t kMaxWidth = 256; // accumulators of wider rows do not fit the registers
  bool half = p->dtype == DType::F16 || p->dtype == DType::BF16;
  bool mma = (half || (p->dtype == DType::F32 && p->op.getTf32())) && paddedTo16(p->depth) <= kMaxWidth &&
             paddedTo16(p->columns) <= kMaxWidth;
  bool isDouble = p->dtype == DType::F64;
  int64_t rows = p->rows(), heads = p->batch * p->keyHeads;
  for (const Variant &v : variants()) {
    if (v.mma != mma)
      continue;
    if (mma) {
      if (mmaSharedBytes(*p, v) > target.maxSharedPerBlock)
        continue;
      // Rows past the end are wasted work: no larger block than needed, and the largest only when it still
      // fills the GPU.
      if (v.blockM > 16 && rows <= v.blockM / 2)
        continue;
      // Wide accumulators leave registers for few scores.
      if (v.blockN > 32 && paddedTo16(p->columns) > (half ? 128 : 64))
        continue;
      if (v.blockM == 128 && (paddedTo16(p->columns) > 128 || ceilDiv(rows, 128) * heads < 2 * target.numSMs))
        continue;
      if (v.blockN > 16 && p->keys <= v.blockN / 2 && v.blockM == 16)
        continue;
    } else {
      if (isDouble != (v.blockN == 32))
        continue;
      if (v.blockM > 16 && rows <= 16)
        continue;
    }
    // Few blocks and many keys: slices of at least 256 keys, until every multiprocessor has two blocks.
    int64_t blocks = ceilDiv(rows, v.blockM) * heads, splits = 1;
    if (blocks > 0 && blocks < target.numSMs)
      splits = std::max<int64_t>(1, std::min(p->keys / 256, ceilDiv(2 * target.numSMs, blocks)));
    setConfig(kernel, v.name, {{"splits", splits}});
    return success();
  }
  return kernel.emitError("no attention variant takes ")
         << p->rows() << " rows, " << p->keys << " keys, depths " << p->depth << " and " << p->columns;
}

} // namespace gpuc::attention

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a matmul kernel to strided matrices: batch axes folded into rows, roles swapped for column-major
// results.
#include "Analysis.h"
#include "gpuc/IR/Types.h"
#include <algorithm>

using namespace mlir;

namespace gpuc {

/// Strides of a value's batch axes, aligned to `rank` result axes; 0 where it broadcasts.
static llvm::SmallVector<int64_t> batchStrides(Value value, const OperandView &view, size_t batchRank) {
  auto shape = shapeOf(value);
  llvm::SmallVector<int64_t> result(batchRank, 0);
  size_t own = shape.size() - 2;
  for (size_t i = 0; i < own; ++i)
    result[batchRank - own + i] = shape[i] == 1 ? 0 : view.strides[i];
  return result;
}

FailureOr<MatmulAnalysis> analyzeMatmul(KernelOp kernel) {
  MatmulAnalysis m;
  m.root = dyn_cast_or_null<MatmulOp>(kernel.getRoot());
  if (!m.root)
    return kernel.emitError("a matmul kernel needs a matmul as its root");
  auto x = viewOperand(kernel, m.root.getX()), y = viewOperand(kernel, m.root.getY());
  if (!x || !y)
    return kernel.emitError("operand ") << (x ? "y" : "x") << " of the matmul is no strided view of a buffer";

  auto shape = shapeOf(m.root.getZ());
  size_t batchRank = shape.size() - 2, rank = shape.size();
  int64_t rowsM = shape[rank - 2], colsN = shape[rank - 1], depth = shapeOf(m.root.getX()).back();
  auto xBatch = batchStrides(m.root.getX(), *x, batchRank),
       yBatch = batchStrides(m.root.getY(), *y, batchRank);
  int64_t xRow = x->strides[x->strides.size() - 2], xDepth = x->strides.back();
  int64_t yDepth = y->strides[y->strides.size() - 2], yCol = y->strides.back();

  // Batch axes that y does not have are rows, if x's rows continue over them.
  llvm::SmallVector<unsigned> rowAxes{unsigned(rank - 2)};
  while (batchRank > 0) {
    size_t axis = batchRank - 1;
    bool single = shape[axis] == 1;
    if (!single && (yBatch[axis] != 0 || (rowsM > 1 && xBatch[axis] != xRow * rowsM)))
      break;
    if (!single && rowsM == 1)
      xRow = xBatch[axis];
    rowsM *= shape[axis];
    rowAxes.insert(rowAxes.begin(), unsigned(axis));
    --batchRank;
  }
  llvm::SmallVector<unsigned> batchAxes;
  int64_t batch = 1;
  for (size_t i = 0; i < batchRank; ++i) {
    batchAxes.push_back(unsigned(i));
    m.batchExtents.push_back(shape[i]);
    batch *= shape[i];
  }
  xBatch.resize(batchRank);
  yBatch.resize(batchRank);
  if (std::max({rowsM, colsN, depth, batch}) >= (int64_t(1) << 30))
    return kernel.emitError("matmul extents must stay below 2^30, got ")
           << batch << " x " << rowsM << " x " << colsN << " x " << depth;

  m.a = DenseOperand{*x, rowsM, depth, xRow, xDepth, xBatch};
  m.b = DenseOperand{*y, colsN, depth, yCol, yDepth, yBatch};
  unsigned lanesN = maxLanes(kernel, m.root.getZ(), unsigned(rank - 1));
  unsigned lanesM =
      rank >= 2 && rowAxes.size() == 1 ? maxLanes(kernel, m.root.getZ(), unsigned(rank - 2)) : 1;
  m.swapped = lanesN == 1 && lanesM > 1;
  if (m.swapped)
    std::swap(m.a, m.b);
  m.lanes = m.swapped ? lanesM : lanesN;

  m.problem.dtype = dtypeOf(m.root.getX());
  m.problem.math = tileMath(m.problem.dtype, m.root.getTf32());
  m.problem.f16Accumulate = m.root.getF16Accumulate();
  m.problem.rows = m.a.rows;
  m.problem.cols = m.b.rows;
  m.problem.depth = depth;
  m.problem.batch = batch;
  m.problem.bytes = kernelBytes(kernel);
  int64_t elementBytes = bitWidth(m.problem.dtype) / 8;
  int64_t limit =
      m.problem.math == TileMath::Simt ? std::min<int64_t>(4, 16 / elementBytes) : 16 / elementBytes;
  for (DenseOperand *operand : {&m.a, &m.b}) {
    operand->chooseAccess(limit);
    if (m.problem.math != TileMath::Simt)
      operand->requireAccessBytes(4, elementBytes);
  }
  if (m.a.access == 1)
    m.problem.rowRegistersA += 8; // values on their way to shared memory, and addresses
  if (m.b.access == 1)
    m.problem.rowRegistersB += 8;
  m.problem.rowLinesA = !m.a.depthContiguous();
  m.problem.rowLinesB = !m.b.depthContiguous();

  if (!batchAxes.empty())
    m.epilogue.groups.push_back(batchAxes);
  m.epilogue.groups.push_back(rowAxes);
  m.epilogue.groups.push_back({unsigned(rank - 1)});
  m.epilogue.laneGroup = unsigned(m.epilogue.groups.size()) - (m.swapped ? 2 : 1);
  m.epilogue.indexType = indexTypeFor(kernel);
  return m;
}

} // namespace gpuc

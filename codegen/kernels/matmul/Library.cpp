// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Recognises kernels that are one library matrix product (Matmul.h).
#include "Analysis.h"
#include "Matmul.h"
#include "gpuc/IR/Types.h"

using namespace mlir;

namespace gpuc {

/// A row-major matrix or its transpose: leading dimension and whether it is stored transposed. A vector's
/// stride may be anything.
static bool describeMatrix(int64_t rows, int64_t cols, int64_t rowStride, int64_t colStride, int64_t &leading,
                           bool &transposed) {
  if (colStride == 1 || cols == 1) {
    transposed = false;
    leading = rows == 1 ? cols : rowStride;
    if (leading >= cols && (cols == 1 ? leading >= 1 : true))
      return true;
  }
  if (rowStride == 1 || rows == 1) {
    transposed = true;
    leading = cols == 1 ? rows : colStride;
    return leading >= rows;
  }
  return false;
}

/// The only user of a value; null when there are several.
static Operation *onlyUser(Value v) { return v.hasOneUse() ? *v.getUsers().begin() : nullptr; }

/// Follows the epilogue from the product to the yield.
static bool describeEpilogue(KernelOp kernel, Value product, LibraryMatmul &out) {
  auto shape = shapeOf(product);
  auto resultStrides = kernel.getStorageStrides(0);
  bool bias = false, relu = false, gelu = false;
  Value v = product;
  for (Operation *user = onlyUser(v); user != kernel.getYield(); user = onlyUser(v)) {
    if (!user || relu || gelu)
      return false;
    if (auto unary = dyn_cast<UnaryOp>(user)) {
      relu = unary.getKind() == UnaryKind::Relu;
      gelu = unary.getKind() == UnaryKind::GeluTanh;
      if (!relu && !gelu)
        return false;
    } else if (auto add = dyn_cast<BinaryOp>(user); add && add.getKind() == BinaryKind::Add) {
      Value other = add.getX() == v ? add.getY() : add.getX();
      auto argument = dyn_cast<BlockArgument>(other);
      if (!argument)
        return false;
      auto otherShape = shapeOf(other);
      auto strides = argumentStrides(kernel, argument);
      bool isVector = tensorType(other).getNumElements() == shape.back() && !otherShape.empty() &&
                      otherShape.back() == shape.back() && (strides.back() == 1 || shape.back() == 1);
      if (isVector && !bias) {
        bias = true;
        out.bias = argument.getArgNumber();
      } else if (otherShape == shape && ArrayRef<int64_t>(strides) == ArrayRef<int64_t>(resultStrides) &&
                 !out.c) {
        out.c = argument.getArgNumber();
      } else {
        return false;
      }
    } else {
      return false;
    }
    v = user->getResult(0);
  }
  if (gelu)
    out.problem.epilogue = bias ? MatmulEpilogue::BiasGeluTanh : MatmulEpilogue::GeluTanh;
  else if (relu)
    out.problem.epilogue = bias ? MatmulEpilogue::BiasRelu : MatmulEpilogue::Relu;
  else
    out.problem.epilogue = bias ? MatmulEpilogue::Bias : MatmulEpilogue::None;
  out.problem.beta = out.c ? 1 : 0;
  return true;
}

std::optional<LibraryMatmul> libraryMatmul(KernelOp kernel) {
  auto root = dyn_cast_or_null<MatmulOp>(kernel.getRoot());
  if (!root || kernel.getNumResults() != 1)
    return std::nullopt;
  ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
  auto m = analyzeMatmul(kernel);
  if (failed(m) || m->isEmpty() || m->problem.depth == 0 || !isFloat(m->problem.dtype) ||
      m->batchExtents.size() > 1)
    return std::nullopt;
  LibraryMatmul out;
  if (!describeEpilogue(kernel, root.getZ(), out))
    return std::nullopt;
  // Undo the swap: the library stores row-major results only.
  const DenseOperand &a = m->swapped ? m->b : m->a, &b = m->swapped ? m->a : m->b;
  MatmulProblem &p = out.problem;
  p.m = a.rows;
  p.n = b.rows;
  p.k = a.depth;
  p.batch = m->problem.batch;
  p.dtypeA = p.dtypeB = p.dtypeD = m->problem.dtype;
  p.compute = p.dtypeD == DType::F64                 ? MatmulCompute::F64
              : m->problem.math == TileMath::MmaTf32 ? MatmulCompute::TF32
                                                     : MatmulCompute::F32;
  if (!describeMatrix(p.m, p.k, a.rowStride, a.depthStride, p.lda, p.transposeA) ||
      !describeMatrix(p.k, p.n, b.depthStride, b.rowStride, p.ldb, p.transposeB))
    return std::nullopt;
  auto strides = kernel.getStorageStrides(0);
  auto shape = shapeOf(kernel.getResult(0));
  if (shape != shapeOf(root.getZ()))
    return std::nullopt;
  size_t rank = shape.size();
  p.ldd = p.m == 1 ? p.n : strides[rank - 2];
  if ((p.n > 1 && strides[rank - 1] != 1) || p.ldd < p.n)
    return std::nullopt;
  // Batch axes that became rows must continue the rows of the result.
  int64_t rows = shape[rank - 2];
  for (size_t axis = rank - 2; axis-- > m->batchExtents.size();) {
    if (shape[axis] > 1 && rows == 1)
      p.ldd = strides[axis];
    else if (shape[axis] > 1 && strides[axis] != p.ldd * rows)
      return std::nullopt;
    rows *= shape[axis];
  }
  if (!m->batchExtents.empty()) {
    p.strideA = a.batchStrides[0];
    p.strideB = b.batchStrides[0];
    p.strideD = strides[0];
  }
  p.ldc = p.ldd;
  p.strideC = p.strideD;
  out.a = a.view.index;
  out.b = b.view.index;
  out.offsetA = a.view.offset;
  out.offsetB = b.view.offset;
  return out;
}

} // namespace gpuc

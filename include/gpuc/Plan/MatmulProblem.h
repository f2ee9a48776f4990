// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A matrix product left to a library (cuBLASLt on cuda, plain loops on sim). A plan stores the problem; the
// algorithm is chosen when the plan is loaded, because the library's heuristics need the device.
#pragma once
#include "gpuc/Support/DType.h"
#include <cstdint>

namespace gpuc {

/// What is applied to alpha·op(A)·op(B) + beta·C (+ bias) before it is rounded to D.
enum class MatmulEpilogue : uint8_t { None = 0, Bias, Relu, BiasRelu, GeluTanh, BiasGeluTanh };
constexpr unsigned kNumMatmulEpilogues = 6;
/// Precision of products and sums.
enum class MatmulCompute : uint8_t { F32 = 0, TF32, F64 };
constexpr unsigned kNumMatmulComputes = 3;

constexpr bool hasBias(MatmulEpilogue e) {
  return e == MatmulEpilogue::Bias || e == MatmulEpilogue::BiasRelu || e == MatmulEpilogue::BiasGeluTanh;
}

/// D[i] = epilogue(alpha · op(A[i]) · op(B[i]) + beta · C[i] + bias) for i < batch. All matrices are
/// row-major: D and C are m×n, op(A) is m×k, op(B) is k×n. A leading dimension is the distance between rows
/// of the matrix as stored (A is stored k×m when transposeA), a batch stride is the distance between
/// matrices; both in elements. The bias has n elements of type dtypeD, added to every row. C has D's type and
/// may be D itself.
struct MatmulProblem {
  int64_t m = 0, n = 0, k = 0, batch = 1;
  int64_t lda = 0, ldb = 0, ldc = 0, ldd = 0;
  int64_t strideA = 0, strideB = 0, strideC = 0, strideD = 0;
  bool transposeA = false, transposeB = false;
  DType dtypeA = DType::F16, dtypeB = DType::F16, dtypeD = DType::F16; ///< F16, BF16, F32 or F64
  MatmulCompute compute = MatmulCompute::F32;
  MatmulEpilogue epilogue = MatmulEpilogue::None;
  double alpha = 1, beta = 0;
};

} // namespace gpuc

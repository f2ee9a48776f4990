// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Library matmuls on a device whose memory is the host's (sim). Sums in float for 16-bit and f32 operands, as
// the library does, and in double for f64.
#include "StepList.h"
#include <cmath>
#include <vector>

namespace gpuc {

template <typename Acc> static Acc load(const uint8_t *base, DType type, int64_t index) {
  switch (type) {
  case DType::F16:
    return Acc(halfToFloat(reinterpret_cast<const uint16_t *>(base)[index]));
  case DType::BF16:
    return Acc(bfloatToFloat(reinterpret_cast<const uint16_t *>(base)[index]));
  case DType::F32:
    return Acc(reinterpret_cast<const float *>(base)[index]);
  default:
    return Acc(reinterpret_cast<const double *>(base)[index]);
  }
}

template <typename Acc> static void store(uint8_t *base, DType type, int64_t index, Acc value) {
  switch (type) {
  case DType::F16:
    reinterpret_cast<uint16_t *>(base)[index] = doubleToHalf(double(value));
    break;
  case DType::BF16:
    reinterpret_cast<uint16_t *>(base)[index] = doubleToBFloat(double(value));
    break;
  case DType::F32:
    reinterpret_cast<float *>(base)[index] = float(value);
    break;
  default:
    reinterpret_cast<double *>(base)[index] = double(value);
    break;
  }
}

template <typename Acc> static Acc applyEpilogue(MatmulEpilogue epilogue, Acc x) {
  switch (epilogue) {
  case MatmulEpilogue::Relu:
  case MatmulEpilogue::BiasRelu:
    return x < 0 ? Acc(0) : x;
  case MatmulEpilogue::GeluTanh:
  case MatmulEpilogue::BiasGeluTanh:
    return x / 2 * (1 + std::tanh(Acc(0.7978845608028654) * (x + Acc(0.044715) * x * x * x)));
  default:
    return x;
  }
}

template <typename Acc> static void run(const MatmulProblem &q, const MatmulOperands &o) {
  auto at = [](DevicePtr p) { return reinterpret_cast<uint8_t *>(p); };
  // A row of sums at a time, so that B is read along its rows.
  std::vector<Acc> sums(size_t(q.n), Acc(0));
  for (int64_t batch = 0; batch < q.batch; ++batch) {
    for (int64_t i = 0; i < q.m; ++i) {
      sums.assign(size_t(q.n), Acc(0));
      for (int64_t k = 0; k < q.k; ++k) {
        Acc a =
            load<Acc>(at(o.a), q.dtypeA, batch * q.strideA + (q.transposeA ? k * q.lda + i : i * q.lda + k));
        for (int64_t j = 0; j < q.n; ++j)
          sums[size_t(j)] +=
              a * load<Acc>(at(o.b), q.dtypeB,
                            batch * q.strideB + (q.transposeB ? j * q.ldb + k : k * q.ldb + j));
      }
      for (int64_t j = 0; j < q.n; ++j) {
        Acc x = Acc(q.alpha) * sums[size_t(j)];
        if (o.c)
          x += Acc(q.beta) * load<Acc>(at(o.c), q.dtypeD, batch * q.strideC + i * q.ldc + j);
        if (o.bias)
          x += load<Acc>(at(o.bias), q.dtypeD, j);
        store(at(o.d), q.dtypeD, batch * q.strideD + i * q.ldd + j, applyEpilogue(q.epilogue, x));
      }
    }
  }
}

void hostMatmul(const MatmulProblem &problem, const MatmulOperands &operands) {
  if (problem.compute == MatmulCompute::F64)
    run<double>(problem, operands);
  else
    run<float>(problem, operands);
}

} // namespace gpuc

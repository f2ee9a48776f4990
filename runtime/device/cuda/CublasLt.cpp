// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cuBLASLt is column-major, plans are row-major: a row-major matrix is the transpose of the column-major one
// with the same bytes, so Dᵀ = op(B)ᵀ·op(A)ᵀ is computed, with the operands exchanged. This also puts the
// bias, one value per column of D, along the rows where the library wants it. Declarations after cublasLt.h
// of CUDA 12 and 13.
#include "CublasLt.h"
#include "gpuc/Runtime/DynamicLibrary.h"
#include <cstring>
#include <mutex>

namespace gpuc::cuda {

namespace {
using Handle = void *;
using Desc = void *;
using Layout = void *;
using Preference = void *;
using LtStatus = int;

struct Algorithm {
  uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algo;
  size_t workspaceSize;
  LtStatus state;
  float wavesCount;
  int reserved[4];
};

enum { kDescTransA = 3, kDescTransB = 4, kDescEpilogue = 7, kDescBiasPointer = 8 };
enum { kLayoutBatchCount = 5, kLayoutBatchStride = 6 };
enum { kPreferenceMaxWorkspace = 1 };
enum { kEpilogueDefault = 1, kEpilogueRelu = 2, kEpilogueBias = 4, kEpilogueGelu = 32 };
enum { kCompute32F = 68, kCompute32FFastTF32 = 77, kCompute64F = 70 };
enum { kReal32F = 0, kReal64F = 1, kReal16F = 2, kReal16BF = 14 };

struct Functions {
  LtStatus (*create)(Handle *);
  LtStatus (*destroy)(Handle);
  LtStatus (*descCreate)(Desc *, int computeType, int scaleType);
  LtStatus (*descDestroy)(Desc);
  LtStatus (*descSet)(Desc, int attribute, const void *, size_t);
  LtStatus (*layoutCreate)(Layout *, int type, uint64_t rows, uint64_t cols, int64_t ld);
  LtStatus (*layoutDestroy)(Layout);
  LtStatus (*layoutSet)(Layout, int attribute, const void *, size_t);
  LtStatus (*preferenceCreate)(Preference *);
  LtStatus (*preferenceDestroy)(Preference);
  LtStatus (*preferenceSet)(Preference, int attribute, const void *, size_t);
  LtStatus (*heuristic)(Handle, Desc, Layout a, Layout b, Layout c, Layout d, Preference, int requested,
                        HeuristicResult *, int *found);
  LtStatus (*matmul)(Handle, Desc, const void *alpha, const void *a, Layout, const void *b, Layout,
                     const void *beta, const void *c, Layout, void *d, Layout, const Algorithm *,
                     void *workspace, size_t, void *stream);
  const char *(*statusString)(LtStatus);
  size_t (*version)();
};

class Prepared : public PreparedMatmul {
public:
  explicit Prepared(const Functions &f) : f(f) {}
  ~Prepared() override {
    if (desc)
      f.descDestroy(desc);
    for (Layout l : {a, b, c, d})
      if (l)
        f.layoutDestroy(l);
  }
  const Functions &f;
  MatmulProblem problem;
  Desc desc = nullptr;
  Layout a = nullptr, b = nullptr, c = nullptr, d = nullptr;
  std::vector<HeuristicResult> proposals;
  size_t chosen = 0; ///< index of a proposal
  std::mutex mutex;  ///< the bias address is part of `desc`
};

class CublasLtLibrary : public CublasLt {
public:
  ~CublasLtLibrary() override {
    if (handle)
      f.destroy(handle);
  }
  Status open(const std::vector<std::string> &dirs);
  Result<std::shared_ptr<PreparedMatmul>> prepare(const MatmulProblem &problem,
                                                  size_t workspaceBytes) override;
  std::vector<std::string> algorithms(const PreparedMatmul &prepared) const override;
  void choose(PreparedMatmul &prepared, size_t algorithm) override {
    static_cast<Prepared &>(prepared).chosen = algorithm;
  }
  size_t version() const override { return f.version(); }
  Status run(PreparedMatmul &prepared, const MatmulOperands &operands, StreamHandle stream) override;

private:
  Status check(LtStatus s, const char *what) {
    if (s == 0)
      return {};
    return {StatusCode::DeviceError, std::string(what) + ": " + f.statusString(s)};
  }
  Result<Layout> layout(DType type, int64_t rows, int64_t cols, int64_t ld, int64_t batch, int64_t stride);
  Functions f = {};
  Handle handle = nullptr;
};
} // namespace

static int cudaType(DType type) {
  switch (type) {
  case DType::F16:
    return kReal16F;
  case DType::BF16:
    return kReal16BF;
  case DType::F64:
    return kReal64F;
  default:
    return kReal32F;
  }
}

Status CublasLtLibrary::open(const std::vector<std::string> &dirs) {
  auto library =
      DynamicLibrary::open({"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"}, dirs,
                           usualCudaLibraryDirs(), "cuBLASLt, which this plan needs",
                           "install the CUDA toolkit or 'pip install nvidia-cublas', or compile the model "
                           "without library kernels");
  if (!library)
    return library.status();
  const DynamicLibrary &l = *library;
  bool complete = l.load(f.create, "cublasLtCreate") && l.load(f.destroy, "cublasLtDestroy") &&
                  l.load(f.descCreate, "cublasLtMatmulDescCreate") &&
                  l.load(f.descDestroy, "cublasLtMatmulDescDestroy") &&
                  l.load(f.descSet, "cublasLtMatmulDescSetAttribute") &&
                  l.load(f.layoutCreate, "cublasLtMatrixLayoutCreate") &&
                  l.load(f.layoutDestroy, "cublasLtMatrixLayoutDestroy") &&
                  l.load(f.layoutSet, "cublasLtMatrixLayoutSetAttribute") &&
                  l.load(f.preferenceCreate, "cublasLtMatmulPreferenceCreate") &&
                  l.load(f.preferenceDestroy, "cublasLtMatmulPreferenceDestroy") &&
                  l.load(f.preferenceSet, "cublasLtMatmulPreferenceSetAttribute") &&
                  l.load(f.heuristic, "cublasLtMatmulAlgoGetHeuristic") &&
                  l.load(f.matmul, "cublasLtMatmul") && l.load(f.statusString, "cublasLtGetStatusString") &&
                  l.load(f.version, "cublasLtGetVersion");
  if (!complete)
    return notFound("cuBLASLt in '" + l.path() +
                    "' lacks functions that gpuc needs; install version 12 or 13");
  return check(f.create(&handle), "cannot initialise cuBLASLt");
}

Result<Layout> CublasLtLibrary::layout(DType type, int64_t rows, int64_t cols, int64_t ld, int64_t batch,
                                       int64_t stride) {
  Layout l = nullptr;
  GPUC_RETURN_IF_ERROR(check(f.layoutCreate(&l, cudaType(type), uint64_t(rows), uint64_t(cols), ld),
                             "cannot describe a matrix to cuBLASLt"));
  if (batch == 1)
    return l;
  int32_t count = int32_t(batch);
  LtStatus s = f.layoutSet(l, kLayoutBatchCount, &count, sizeof(count));
  if (s == 0)
    s = f.layoutSet(l, kLayoutBatchStride, &stride, sizeof(stride));
  if (s != 0) {
    f.layoutDestroy(l);
    return check(s, "cannot describe a batch to cuBLASLt");
  }
  return l;
}

Result<std::shared_ptr<PreparedMatmul>> CublasLtLibrary::prepare(const MatmulProblem &q,
                                                                 size_t workspaceBytes) {
  if (q.batch > INT32_MAX)
    return unsupported("cuBLASLt takes at most 2147483647 products in a batch, got " +
                       std::to_string(q.batch));
  auto p = std::make_shared<Prepared>(f);
  p->problem = q;
  int compute = q.compute == MatmulCompute::F64    ? kCompute64F
                : q.compute == MatmulCompute::TF32 ? kCompute32FFastTF32
                                                   : kCompute32F;
  GPUC_RETURN_IF_ERROR(check(f.descCreate(&p->desc, compute, compute == kCompute64F ? kReal64F : kReal32F),
                             "cannot describe a product to cuBLASLt"));
  int32_t epilogue = hasBias(q.epilogue) ? kEpilogueBias : 0;
  if (q.epilogue == MatmulEpilogue::Relu || q.epilogue == MatmulEpilogue::BiasRelu)
    epilogue |= kEpilogueRelu;
  if (q.epilogue == MatmulEpilogue::GeluTanh || q.epilogue == MatmulEpilogue::BiasGeluTanh)
    epilogue |= kEpilogueGelu;
  if (epilogue == 0)
    epilogue = kEpilogueDefault;
  // Exchanged: the library's A is our B.
  int32_t transA = q.transposeB, transB = q.transposeA;
  const void *noBias = nullptr;
  for (auto &[attribute, value, size] : {std::tuple<int, const void *, size_t>{kDescTransA, &transA, 4},
                                         {kDescTransB, &transB, 4},
                                         {kDescEpilogue, &epilogue, 4},
                                         {kDescBiasPointer, &noBias, 8}})
    GPUC_RETURN_IF_ERROR(
        check(f.descSet(p->desc, attribute, value, size), "cannot describe a product to cuBLASLt"));
  // Column-major extents of the stored matrices: row length first.
  struct Operand {
    Layout &layout;
    DType type;
    int64_t rows, cols, ld, stride;
  } operands[] = {
      {p->a, q.dtypeB, q.transposeB ? q.k : q.n, q.transposeB ? q.n : q.k, q.ldb, q.strideB},
      {p->b, q.dtypeA, q.transposeA ? q.m : q.k, q.transposeA ? q.k : q.m, q.lda, q.strideA},
      {p->c, q.dtypeD, q.n, q.m, q.beta != 0 ? q.ldc : q.ldd, q.beta != 0 ? q.strideC : q.strideD},
      {p->d, q.dtypeD, q.n, q.m, q.ldd, q.strideD},
  };
  for (Operand &o : operands) {
    auto l = layout(o.type, o.rows, o.cols, o.ld, q.batch, o.stride);
    if (!l)
      return l.status();
    o.layout = *l;
  }
  Preference preference = nullptr;
  GPUC_RETURN_IF_ERROR(check(f.preferenceCreate(&preference), "cannot ask cuBLASLt for algorithms"));
  uint64_t limit = workspaceBytes;
  f.preferenceSet(preference, kPreferenceMaxWorkspace, &limit, sizeof(limit));
  constexpr int kRequested = 8;
  HeuristicResult found[kRequested] = {};
  int count = 0;
  LtStatus s = f.heuristic(handle, p->desc, p->a, p->b, p->c, p->d, preference, kRequested, found, &count);
  f.preferenceDestroy(preference);
  for (int i = 0; s == 0 && i < count; ++i)
    if (found[i].state == 0 && found[i].workspaceSize <= workspaceBytes)
      p->proposals.push_back(found[i]);
  if (!p->proposals.empty())
    return std::shared_ptr<PreparedMatmul>(std::move(p));
  return unsupported("cuBLASLt has no algorithm for " + std::to_string(q.batch) + " products of " +
                     std::to_string(q.m) + "x" + std::to_string(q.n) + "x" + std::to_string(q.k) + " in " +
                     std::string(name(q.dtypeA)) +
                     (s ? std::string(" (") + f.statusString(s) + ")" : std::string()) +
                     "; compile the model without library kernels");
}

std::vector<std::string> CublasLtLibrary::algorithms(const PreparedMatmul &prepared) const {
  std::vector<std::string> words;
  for (const HeuristicResult &r : static_cast<const Prepared &>(prepared).proposals) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string word;
    for (uint64_t part : r.algo.data)
      for (int shift = 60; shift >= 0; shift -= 4)
        word += kDigits[(part >> shift) & 15];
    words.push_back(std::move(word));
  }
  return words;
}

Status CublasLtLibrary::run(PreparedMatmul &prepared, const MatmulOperands &o, StreamHandle stream) {
  auto &p = static_cast<Prepared &>(prepared);
  const MatmulProblem &q = p.problem;
  std::lock_guard<std::mutex> lock(p.mutex);
  auto at = [](DevicePtr address) { return reinterpret_cast<void *>(address); };
  if (o.bias) {
    const void *bias = at(o.bias);
    GPUC_RETURN_IF_ERROR(
        check(f.descSet(p.desc, kDescBiasPointer, &bias, sizeof(bias)), "cannot set the bias"));
  }
  float alpha = float(q.alpha), beta = float(q.beta);
  bool wide = q.compute == MatmulCompute::F64;
  const void *alphaAt = wide ? static_cast<const void *>(&q.alpha) : &alpha;
  const void *betaAt = wide ? static_cast<const void *>(&q.beta) : &beta;
  const HeuristicResult &proposal = p.proposals[p.chosen];
  return check(f.matmul(handle, p.desc, alphaAt, at(o.b), p.a, at(o.a), p.b, betaAt, at(o.c ? o.c : o.d), p.c,
                        at(o.d), p.d, &proposal.algo, at(o.workspace), proposal.workspaceSize, stream),
               "cuBLASLt failed");
}

Result<std::unique_ptr<CublasLt>> CublasLt::create(const std::vector<std::string> &libraryDirs) {
  auto library = std::make_unique<CublasLtLibrary>();
  GPUC_RETURN_IF_ERROR(library->open(libraryDirs));
  return std::unique_ptr<CublasLt>(std::move(library));
}

} // namespace gpuc::cuda

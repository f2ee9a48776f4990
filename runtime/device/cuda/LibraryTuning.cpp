// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures with random operands in memory of its own, all algorithms in turn, several rounds: the clock of
// the GPU rises while it works, and no algorithm must profit from being the last.
#include "LibraryTuning.h"
#include "gpuc/Support/File.h"
#include "gpuc/Support/Hash.h"
#include <algorithm>
#include <cstring>
#include <limits>

namespace gpuc::cuda {

static constexpr double kNever = std::numeric_limits<double>::infinity();
static constexpr std::string_view kHeader = "gpuc cuBLASLt algorithm 1\n";

size_t fastest(const std::vector<double> &microseconds) {
  size_t best = 0;
  for (size_t i = 1; i < microseconds.size(); ++i)
    if (microseconds[i] < microseconds[best] * 0.98)
      best = i;
  return best;
}

std::string choiceKey(const MatmulProblem &q, size_t workspaceBytes, const std::string &machine) {
  std::string text = machine;
  for (int64_t v : {q.m,
                    q.n,
                    q.k,
                    q.batch,
                    q.lda,
                    q.ldb,
                    q.ldc,
                    q.ldd,
                    q.strideA,
                    q.strideB,
                    q.strideC,
                    q.strideD,
                    int64_t(q.transposeA),
                    int64_t(q.transposeB),
                    int64_t(q.dtypeA),
                    int64_t(q.dtypeB),
                    int64_t(q.dtypeD),
                    int64_t(q.compute),
                    int64_t(q.epilogue),
                    int64_t(q.beta != 0),
                    int64_t(workspaceBytes)})
    text += " " + std::to_string(v);
  return toHex(sha256(text.data(), text.size()));
}

static std::string fileOf(const std::string &dir, const std::string &key) {
  return joinPath(dir, key + ".txt");
}

std::string findChoice(const std::string &dir, const std::string &key) {
  auto text = dir.empty() ? Result<std::string>(notFound("no folder")) : readFile(fileOf(dir, key), 4096);
  if (!text || text->compare(0, kHeader.size(), kHeader) != 0)
    return "";
  return text->substr(kHeader.size());
}

void storeChoice(const std::string &dir, const std::string &key, const std::string &algorithm) {
  if (!dir.empty() && createDirectories(dir).ok())
    (void)writeFileAtomically(fileOf(dir, key), std::vector<std::string_view>{kHeader, algorithm});
}

namespace {
/// Operands of a measurement. Gives everything back.
class Bench {
public:
  explicit Bench(Device &device) : device(device) {}
  ~Bench() {
    if (stream)
      (void)device.synchronize(stream);
    for (DevicePtr p : memory)
      device.deallocate(p);
    for (EventHandle e : events)
      device.destroyEvent(e);
    if (stream)
      device.destroyStream(stream);
  }
  Status open(const MatmulProblem &q, size_t workspaceBytes);
  /// Microseconds of one product, of `repeats` in a row; infinite when it does not run.
  double time(CublasLt &library, PreparedMatmul &prepared, int repeats);

private:
  Result<DevicePtr> matrix(int64_t rows, int64_t cols, int64_t ld, int64_t batch, int64_t stride, DType type);
  Device &device;
  StreamHandle stream = nullptr;
  EventHandle events[2] = {};
  std::vector<DevicePtr> memory;
  MatmulOperands operands;
};
} // namespace

/// Numbers from -1 to 1, not all bits of which are alike: power, and with it the clock, depends on them.
static std::vector<uint8_t> randomNumbers(DType type, size_t bytes) {
  std::vector<uint8_t> data(bytes);
  size_t size = bitWidth(type) / 8;
  uint32_t state = 1;
  for (size_t at = 0; at + size <= bytes; at += size) {
    state = state * 1664525u + 1013904223u;
    double v = double(state >> 8) * 0x1p-23 - 1;
    float f = float(v);
    uint16_t h = type == DType::F16 ? floatToHalf(f) : floatToBFloat(f);
    const void *from = size == 2   ? static_cast<const void *>(&h)
                       : size == 4 ? static_cast<const void *>(&f)
                                   : &v;
    std::memcpy(&data[at], from, size);
  }
  return data;
}

Result<DevicePtr> Bench::matrix(int64_t rows, int64_t cols, int64_t ld, int64_t batch, int64_t stride,
                                DType type) {
  // The plan's validation has found that these extents fit into a buffer.
  size_t bytes = size_t((rows - 1) * ld + (batch - 1) * stride + cols) * (bitWidth(type) / 8);
  auto p = device.allocate(bytes);
  if (!p)
    return p;
  memory.push_back(*p);
  std::vector<uint8_t> data = randomNumbers(type, std::min<size_t>(bytes, size_t(1) << 20));
  GPUC_RETURN_IF_ERROR(device.copyToDevice(*p, data.data(), data.size(), stream));
  for (size_t done = data.size(); done < bytes;) { // doubling what is there
    size_t more = std::min(done, bytes - done);
    GPUC_RETURN_IF_ERROR(device.copyOnDevice(*p + done, *p, more, stream));
    done += more;
  }
  GPUC_RETURN_IF_ERROR(device.synchronize(stream)); // `data` goes
  return p;
}

Status Bench::open(const MatmulProblem &q, size_t workspaceBytes) {
  auto made = device.createStream();
  if (!made)
    return made.status();
  stream = *made;
  for (EventHandle &e : events) {
    auto event = device.createEvent();
    if (!event)
      return event.status();
    e = *event;
  }
  auto put = [](DevicePtr &out, Result<DevicePtr> made) {
    out = made ? *made : 0;
    return made.status();
  };
  int64_t rowsA = q.transposeA ? q.k : q.m, colsA = q.transposeA ? q.m : q.k;
  int64_t rowsB = q.transposeB ? q.n : q.k, colsB = q.transposeB ? q.k : q.n;
  GPUC_RETURN_IF_ERROR(put(operands.a, matrix(rowsA, colsA, q.lda, q.batch, q.strideA, q.dtypeA)));
  GPUC_RETURN_IF_ERROR(put(operands.b, matrix(rowsB, colsB, q.ldb, q.batch, q.strideB, q.dtypeB)));
  GPUC_RETURN_IF_ERROR(put(operands.d, matrix(q.m, q.n, q.ldd, q.batch, q.strideD, q.dtypeD)));
  if (q.beta != 0)
    GPUC_RETURN_IF_ERROR(put(operands.c, matrix(q.m, q.n, q.ldc, q.batch, q.strideC, q.dtypeD)));
  if (hasBias(q.epilogue))
    GPUC_RETURN_IF_ERROR(put(operands.bias, matrix(1, q.n, q.n, 1, 0, q.dtypeD)));
  if (workspaceBytes) {
    auto p = device.allocate(workspaceBytes);
    if (!p)
      return p.status();
    memory.push_back(*p);
    operands.workspace = *p;
  }
  return {};
}

double Bench::time(CublasLt &library, PreparedMatmul &prepared, int repeats) {
  if (!device.recordEvent(events[0], stream).ok())
    return kNever;
  for (int i = 0; i < repeats; ++i)
    if (!library.run(prepared, operands, stream).ok())
      return kNever;
  if (!device.recordEvent(events[1], stream).ok())
    return kNever;
  auto ms = device.elapsedMs(events[0], events[1]);
  return ms ? *ms * 1000 / repeats : kNever;
}

void LibraryTuner::tune(Device &device, CublasLt &library, PreparedMatmul &prepared,
                        const MatmulProblem &problem, size_t workspaceBytes) {
  double flops = 2.0 * double(problem.m) * double(problem.n) * double(problem.k) * double(problem.batch);
  std::vector<std::string> algorithms = library.algorithms(prepared);
  if (flops < kTunedFlops || algorithms.size() < 2)
    return;
  std::string key = choiceKey(problem, workspaceBytes, machine);
  auto [at, isNew] = known.try_emplace(key);
  if (isNew)
    at->second = findChoice(dir, key);
  auto stored = std::find(algorithms.begin(), algorithms.end(), at->second);
  if (stored != algorithms.end())
    return library.choose(prepared, size_t(stored - algorithms.begin()));
  Bench bench(device);
  if (!bench.open(problem, workspaceBytes).ok()) {
    known.erase(at);
    return;
  }
  constexpr int kRounds = 5;
  std::vector<double> best(algorithms.size(), kNever);
  int repeats = 1;
  for (int round = 0; round <= kRounds; ++round) // round 0 loads the kernels
    for (size_t i = 0; i < algorithms.size(); ++i) {
      library.choose(prepared, i);
      double us = bench.time(library, prepared, repeats);
      if (round > 0)
        best[i] = std::min(best[i], us);
      if (round == 1 && i == 0 && us < kNever) // from now on about 100 us at a time
        repeats = std::clamp(int(100 / std::max(us, 1.0)), 1, 10);
    }
  size_t choice = fastest(best);
  library.choose(prepared, choice);
  at->second = algorithms[choice];
  if (best[choice] < kNever)
    storeChoice(dir, key, at->second);
}

} // namespace gpuc::cuda

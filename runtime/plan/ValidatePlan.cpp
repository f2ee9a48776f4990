// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a plan must fulfil beyond being well-formed, so that the runtime can use indices, offsets and sizes
// without looking again. What a kernel does with its pointers cannot be checked here.
#include "FileLayout.h"
#include "gpuc/Plan/Plan.h"
#include "gpuc/Support/CheckedMath.h"
#include <set>

namespace gpuc {

namespace {
constexpr uint64_t kMaxBytes = uint64_t(1) << 48;
constexpr uint32_t kMaxSharedBytes = 227 * 1024;
constexpr uint32_t kMaxCluster = 8; // what every GPU with clusters can do
constexpr size_t kMaxParameterBytes = 32764;
constexpr size_t kMaxNameBytes = 1 << 16;
constexpr size_t kMaxRank = 64;

std::string quoted(std::string_view s) { return "'" + std::string(s.substr(0, 200)) + "'"; }

bool isIdentifier(std::string_view s) {
  if (s.empty() || s.size() > 1000 || (s[0] >= '0' && s[0] <= '9'))
    return false;
  for (char c : s)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
      return false;
  return true;
}

bool isArch(std::string_view s) {
  if (s.size() < 5 || s.size() > 7 || s.substr(0, 3) != "sm_")
    return false;
  char last = s.back();
  std::string_view digits = s.substr(3, s.size() - 3 - (last == 'a' || last == 'f'));
  for (char c : digits)
    if (c < '0' || c > '9')
      return false;
  return digits.size() >= 2;
}

/// A relative path that stays below its folder: devices may write units and headers to files.
bool isSafePath(std::string_view s) {
  if (s.empty() || s.size() > 200)
    return false;
  size_t begin = 0;
  for (size_t i = 0; i <= s.size(); ++i) {
    if (i == s.size() || s[i] == '/') {
      std::string_view part = s.substr(begin, i - begin);
      if (part.empty() || part[0] == '.')
        return false;
      begin = i + 1;
      continue;
    }
    char c = s[i];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
          c == '.' || c == '-' || c == '+'))
      return false;
  }
  return true;
}

class Validator {
public:
  Validator(const Plan &plan, StatusCode code) : plan(plan), code(code) {}
  Status run();

private:
  Status fail(const std::string &what) { return {code, "invalid plan: " + where + what}; }
  Status tensors(const std::vector<PlanTensor> &list, const char *kind, std::set<std::string_view> &names);
  Status texts();
  Status program(const PlanProgram &p);
  Status step(const PlanProgram &p, const LaunchStep &s, bool load);
  Status step(const PlanProgram &p, const CopyStep &s, bool load);
  Status step(const PlanProgram &p, const FillStep &s, bool load);
  Status step(const PlanProgram &p, const MatmulStep &s, bool load);
  Status tensorMap(const PlanProgram &p, const TensorMapArg &arg, bool load);
  /// The `bytes` from `ref` on must lie inside its space.
  Status range(const PlanProgram &p, const BufferRef &ref, uint64_t bytes, bool load, bool written,
               const char *what);
  Status matrix(const PlanProgram &p, const BufferRef &ref, int64_t rows, int64_t cols, int64_t ld,
                int64_t batch, int64_t stride, DType type, bool load, bool written, const char *what);

  const Plan &plan;
  StatusCode code;
  std::string where;
};
} // namespace

Status Validator::tensors(const std::vector<PlanTensor> &list, const char *kind,
                          std::set<std::string_view> &names) {
  for (size_t i = 0; i < list.size(); ++i) {
    const PlanTensor &t = list[i];
    where = std::string(kind) + " " + std::to_string(i) + ": ";
    if (t.name.empty() || t.name.size() > kMaxNameBytes || t.name.find('\0') != std::string::npos)
      return fail("the name is empty, too long or contains a NUL character");
    if (!names.insert(t.name).second)
      return fail("the name " + quoted(t.name) + " is used twice");
    if (unsigned(t.dtype) >= kNumDTypes)
      return fail("unknown element type " + std::to_string(unsigned(t.dtype)));
    auto count = t.shape.size() <= kMaxRank ? checkedProduct(t.shape) : std::nullopt;
    if (!count || uint64_t(*count) > kMaxBytes / 8)
      return fail("shape of " + quoted(t.name) + " is negative or too large");
    if (t.specialisedTo && t.specialisedTo->size() != uint64_t(t.sizeInBytes()))
      return fail("specialised value of " + quoted(t.name) + " has " +
                  std::to_string(t.specialisedTo->size()) + " bytes, expected " +
                  std::to_string(t.sizeInBytes()));
  }
  return {};
}

Status Validator::texts() {
  std::set<std::string_view> paths;
  for (const PlanHeader &h : plan.headers) {
    where = "header " + quoted(h.path) + ": ";
    if (!isSafePath(h.path))
      return fail("expected a relative path of letters, digits and '._-+/'");
    if (!paths.insert(h.path).second)
      return fail("the path is used twice");
  }
  for (const PlanUnit &u : plan.units) {
    where = "unit " + quoted(u.name) + ": ";
    if (!isSafePath(u.name))
      return fail("expected a file name of letters, digits and '._-+/'");
  }
  std::set<std::pair<uint32_t, std::string_view>> cubins;
  for (size_t i = 0; i < plan.cubins.size(); ++i) {
    const PlanCubin &c = plan.cubins[i];
    where = "cubin " + std::to_string(i) + ": ";
    if (c.unit >= plan.units.size())
      return fail("unit " + std::to_string(c.unit) + " of " + std::to_string(plan.units.size()));
    if (!isArch(c.arch))
      return fail("architecture " + quoted(c.arch) + ", expected a name like 'sm_90a'");
    if (c.data.empty())
      return fail("it is empty");
    if (!cubins.insert({c.unit, c.arch}).second)
      return fail("unit " + std::to_string(c.unit) + " has two cubins for " + quoted(c.arch));
  }
  return {};
}

Status Validator::range(const PlanProgram &p, const BufferRef &ref, uint64_t bytes, bool load, bool written,
                        const char *what) {
  uint64_t size = 0;
  size_t count = 1;
  bool allowed = true, writable = true;
  switch (ref.space) {
  case MemorySpace::Arena:
    size = p.arenaBytes;
    allowed = !load;
    break;
  case MemorySpace::Constant:
    count = plan.constants.size();
    size = ref.index < count ? plan.constants[ref.index].data.size() : 0;
    writable = false;
    break;
  case MemorySpace::Packed:
    size = p.packedBytes;
    writable = load;
    break;
  case MemorySpace::Input:
    count = plan.inputs.size();
    size = ref.index < count ? uint64_t(plan.inputs[ref.index].sizeInBytes()) : 0;
    allowed = !load;
    writable = false;
    break;
  case MemorySpace::Output:
    count = plan.outputs.size();
    size = ref.index < count ? uint64_t(plan.outputs[ref.index].sizeInBytes()) : 0;
    allowed = !load;
    break;
  default:
    return fail(std::string(what) + " is in unknown memory space " + std::to_string(unsigned(ref.space)));
  }
  if (!allowed)
    return fail(std::string(what) + " of a load step must be a constant or packed memory");
  if (written && !writable)
    return fail(std::string(what) + " is written but lies in read-only memory");
  if (ref.index >= count)
    return fail(std::string(what) + " has index " + std::to_string(ref.index) + " of " +
                std::to_string(count));
  if (ref.offset > size || bytes > size - ref.offset)
    return fail(std::string(what) + " covers bytes [" + std::to_string(ref.offset) + ", +" +
                std::to_string(bytes) + ") of a buffer of " + std::to_string(size));
  return {};
}

Status Validator::tensorMap(const PlanProgram &p, const TensorMapArg &arg, bool load) {
  Status valid = validateTensorMap(arg.layout);
  if (!valid.ok())
    return fail(valid.message());
  if (arg.base.offset % 16)
    return fail("a tensor map's buffer is not aligned to 16 bytes");
  auto bytes = tensorMapExtent(arg.layout);
  if (!bytes)
    return fail("a tensor map is too large");
  return range(p, arg.base, *bytes, load, false, "a tensor map");
}

Status Validator::step(const PlanProgram &p, const LaunchStep &s, bool load) {
  if (s.kernel >= p.kernels.size())
    return fail("kernel " + std::to_string(s.kernel) + " of " + std::to_string(p.kernels.size()));
  if (s.grid[0] > 0x7fffffffu || s.grid[1] > 65535 || s.grid[2] > 65535)
    return fail("grid is larger than 2147483647 x 65535 x 65535 blocks");
  if (s.block[0] == 0 || s.block[1] == 0 || s.block[2] == 0 || s.block[0] > 1024 || s.block[1] > 1024 ||
      s.block[2] > 64 || s.block[0] * s.block[1] * s.block[2] > 1024)
    return fail("block has no threads or more than 1024 of them");
  if (s.cluster < 1 || s.cluster > kMaxCluster || s.grid[0] % s.cluster)
    return fail("clusters of " + std::to_string(s.cluster) + " blocks in a grid of " +
                std::to_string(s.grid[0]) + ", expected a divisor from 1 to " + std::to_string(kMaxCluster));
  if (s.sharedBytes > kMaxSharedBytes)
    return fail(std::to_string(s.sharedBytes) + " bytes of shared memory, expected at most " +
                std::to_string(kMaxSharedBytes));
  size_t parameterBytes = 0;
  for (const KernelArg &arg : s.args) {
    if (auto *map = std::get_if<TensorMapArg>(&arg)) {
      parameterBytes = planfile::alignUp(parameterBytes, kTensorMapAlignment) + kTensorMapBytes;
      GPUC_RETURN_IF_ERROR(tensorMap(p, *map, load));
      continue;
    }
    bool narrow = std::holds_alternative<int32_t>(arg) || std::holds_alternative<float>(arg);
    parameterBytes = narrow ? parameterBytes + 4 : planfile::alignUp(parameterBytes, 8) + 8;
    if (auto *ref = std::get_if<BufferRef>(&arg))
      GPUC_RETURN_IF_ERROR(range(p, *ref, 0, load, false, "an argument"));
  }
  if (parameterBytes > kMaxParameterBytes)
    return fail(std::to_string(parameterBytes) + " bytes of arguments, expected at most " +
                std::to_string(kMaxParameterBytes));
  return {};
}

Status Validator::step(const PlanProgram &p, const CopyStep &s, bool load) {
  GPUC_RETURN_IF_ERROR(range(p, s.src, s.bytes, load, false, "the source"));
  return range(p, s.dst, s.bytes, load, true, "the destination");
}

Status Validator::step(const PlanProgram &p, const FillStep &s, bool load) {
  return range(p, s.dst, s.bytes, load, true, "the destination");
}

Status Validator::matrix(const PlanProgram &p, const BufferRef &ref, int64_t rows, int64_t cols, int64_t ld,
                         int64_t batch, int64_t stride, DType type, bool load, bool written,
                         const char *what) {
  if (rows < 0 || cols < 0 || batch < 0 || stride < 0 || ld < cols)
    return fail(std::string(what) + " has a negative extent or a leading dimension below its row length");
  if (rows == 0 || cols == 0 || batch == 0)
    return range(p, ref, 0, load, written, what);
  auto body = checkedMul(rows - 1, ld);
  auto jump = checkedMul(batch - 1, stride);
  auto sum = body && jump ? checkedAdd(*body, *jump) : std::nullopt;
  auto last = sum ? checkedAdd(*sum, cols) : std::nullopt;
  auto bytes = last ? checkedMul(*last, bitWidth(type) / 8) : std::nullopt;
  if (!bytes)
    return fail(std::string(what) + " is too large");
  return range(p, ref, uint64_t(*bytes), load, written, what);
}

Status Validator::step(const PlanProgram &p, const MatmulStep &s, bool load) {
  const MatmulProblem &q = s.problem;
  auto isMatmulType = [](DType t) { return t >= DType::F16 && t <= DType::F64; };
  if (!isMatmulType(q.dtypeA) || !isMatmulType(q.dtypeB) || !isMatmulType(q.dtypeD))
    return fail("matmul operands must be f16, bf16, f32 or f64");
  if (unsigned(q.compute) >= kNumMatmulComputes || unsigned(q.epilogue) >= kNumMatmulEpilogues)
    return fail("unknown matmul compute type or epilogue");
  if (q.m < 0 || q.n < 0 || q.k < 0 || q.batch < 0)
    return fail("matmul extent is negative");
  if (s.c.has_value() != (q.beta != 0) || s.bias.has_value() != hasBias(q.epilogue))
    return fail("matmul has an operand C without beta or a bias without its epilogue, or lacks one");
  int64_t rowsA = q.transposeA ? q.k : q.m, colsA = q.transposeA ? q.m : q.k;
  int64_t rowsB = q.transposeB ? q.n : q.k, colsB = q.transposeB ? q.k : q.n;
  GPUC_RETURN_IF_ERROR(
      matrix(p, s.a, rowsA, colsA, q.lda, q.batch, q.strideA, q.dtypeA, load, false, "matmul A"));
  GPUC_RETURN_IF_ERROR(
      matrix(p, s.b, rowsB, colsB, q.ldb, q.batch, q.strideB, q.dtypeB, load, false, "matmul B"));
  GPUC_RETURN_IF_ERROR(matrix(p, s.d, q.m, q.n, q.ldd, q.batch, q.strideD, q.dtypeD, load, true, "matmul D"));
  if (s.c)
    GPUC_RETURN_IF_ERROR(
        matrix(p, *s.c, q.m, q.n, q.ldc, q.batch, q.strideC, q.dtypeD, load, false, "matmul C"));
  if (s.bias)
    GPUC_RETURN_IF_ERROR(matrix(p, *s.bias, 1, q.n, q.n, 1, 0, q.dtypeD, load, false, "matmul bias"));
  if (s.workspaceBytes == 0)
    return {};
  if (s.workspace.offset % kPlanAlignment)
    return fail("matmul workspace is not aligned to " + std::to_string(kPlanAlignment) + " bytes");
  return range(p, s.workspace, s.workspaceBytes, load, true, "matmul workspace");
}

Status Validator::program(const PlanProgram &p) {
  const std::string base = where;
  if (p.arenaBytes > kMaxBytes || p.packedBytes > kMaxBytes)
    return fail("arena or packed memory is larger than 2^48 bytes");
  std::set<std::pair<std::string_view, uint32_t>> entries;
  for (const PlanKernel &k : p.kernels) {
    if (k.unit >= plan.units.size())
      return fail("kernel " + quoted(k.entry) + " is in unit " + std::to_string(k.unit) + " of " +
                  std::to_string(plan.units.size()));
    if (!isIdentifier(k.entry))
      return fail("kernel entry " + quoted(k.entry) + " is no identifier");
    auto same = entries.lower_bound({k.entry, 0});
    if (same != entries.end() && same->first == k.entry && same->second != k.unit)
      return fail("kernel entry " + quoted(k.entry) + " is defined by two units");
    entries.insert({k.entry, k.unit});
  }
  for (bool load : {true, false}) {
    const std::vector<PlanStep> &steps = load ? p.loadSteps : p.runSteps;
    for (size_t i = 0; i < steps.size(); ++i) {
      const std::string &label = std::visit([](auto &s) -> const std::string & { return s.label; }, steps[i]);
      where = base + (load ? "load step " : "run step ") + std::to_string(i) + " (" + quoted(label) + "): ";
      GPUC_RETURN_IF_ERROR(std::visit([&](auto &s) { return step(p, s, load); }, steps[i]));
    }
  }
  return {};
}

Status Validator::run() {
  std::set<std::string_view> inputNames, outputNames;
  GPUC_RETURN_IF_ERROR(tensors(plan.inputs, "input", inputNames));
  GPUC_RETURN_IF_ERROR(tensors(plan.outputs, "output", outputNames));
  for (const PlanTensor &t : plan.outputs)
    if (t.specialisedTo)
      return fail("output " + quoted(t.name) + " is specialised, which only an input can be");
  where.clear();
  uint64_t total = 0;
  for (const PlanConstant &c : plan.constants) {
    total += c.data.size();
    if (c.data.size() > kMaxBytes || total > kMaxBytes)
      return fail("constants are larger than 2^48 bytes");
  }
  GPUC_RETURN_IF_ERROR(texts());
  std::set<std::string_view> archs;
  for (size_t i = 0; i < plan.programs.size(); ++i) {
    where = "program " + std::to_string(i) + ": ";
    if (plan.programs[i].archs.empty())
      return fail("it is for no architecture");
    for (const std::string &arch : plan.programs[i].archs) {
      if (!isArch(arch))
        return fail("architecture " + quoted(arch) + ", expected a name like 'sm_90a'");
      if (!archs.insert(arch).second)
        return fail("architecture " + quoted(arch) + " is in two programs");
    }
    GPUC_RETURN_IF_ERROR(program(plan.programs[i]));
  }
  return {};
}

Status validatePlan(const Plan &plan, StatusCode code) { return Validator(plan, code).run(); }

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiled model in memory: plain structs that the compiler fills and writes to a file, and that the
// runtime reads from one. The file format is docs/plan-format.md. A Plan is immutable once written or loaded;
// copying one shares the bytes of constants and cubins.
#pragma once
#include "gpuc/Plan/MatmulProblem.h"
#include "gpuc/Plan/TensorMap.h"
#include "gpuc/Support/DType.h"
#include "gpuc/Support/HostTensor.h"
#include "gpuc/Support/SharedBytes.h"
#include "gpuc/Support/Status.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

namespace gpuc {

/// Version of the file format; a loader reads exactly this one.
constexpr uint32_t kPlanFormatVersion = 3;
/// Alignment in bytes of constants, and of the start of arena and packed memory.
constexpr uint64_t kPlanAlignment = 256;

/// An input or an output of the model. Dense, row-major.
struct PlanTensor {
  std::string name;
  DType dtype = DType::F32;
  Shape shape;
  /// Only for inputs: the value that the program was specialised for. The program may not even read the
  /// input; a run with another value in host memory is refused.
  std::optional<SharedBytes> specialisedTo;
  int64_t sizeInBytes() const { return byteSize(dtype, numElements(shape)); }
};

/// Weights or tables in device memory, the same for every target.
struct PlanConstant {
  std::string name; ///< initialiser or node that it comes from, for people
  SharedBytes data;
};

/// A text that units include by `path` ("common/types.cuh").
struct PlanHeader {
  std::string path;
  std::string text;
};

/// One CUDA C++ translation unit. Entries are unique within a program: two units of a program never define
/// kernels of the same name.
struct PlanUnit {
  std::string name; ///< file-name-like, for messages
  std::string text;
};

/// A unit compiled for one architecture.
struct PlanCubin {
  uint32_t unit = 0; ///< index into Plan::units
  std::string arch;  ///< "sm_90a"
  SharedBytes data;
};

/// Where an operand lies. Byte offset from the start of:
enum class MemorySpace : uint8_t {
  Arena = 0, ///< the context's arena (index 0)
  Constant,  ///< Plan::constants[index]
  Packed,    ///< memory that the load program fills, once per loaded plan (index 0)
  Input,     ///< Plan::inputs[index]
  Output,    ///< Plan::outputs[index]
};
constexpr unsigned kNumMemorySpaces = 5;

struct BufferRef {
  MemorySpace space = MemorySpace::Arena;
  uint32_t index = 0;
  uint64_t offset = 0;
};

/// A tensor map over the buffer, passed by value as 128 bytes at a 64-byte boundary.
struct TensorMapArg {
  BufferRef base; ///< what `layout.byteOffset` counts from; 16-byte aligned
  TensorMapLayout layout;
};

/// A kernel parameter: an address, a scalar or a tensor map passed by value. int32_t etc. give the
/// parameter's C type.
using KernelArg = std::variant<BufferRef, int32_t, int64_t, float, double, TensorMapArg>;

/// A `__global__` function of a program.
struct PlanKernel {
  uint32_t unit = 0; ///< index into Plan::units
  std::string entry; ///< extern "C" name
};

/// What a step must at least do, whatever its kernel: numbers for people, nothing depends on them. Of several
/// launches for one kernel op the first has all of it. 0 = unknown.
struct StepCost {
  uint64_t flops = 0; ///< of products, convolutions and attention; a multiply-add is two
  uint64_t bytes = 0; ///< every operand read once, every result written once
};

/// One kernel launch. A grid with a zero extent is legal and does nothing.
struct LaunchStep {
  uint32_t kernel = 0; ///< index into PlanProgram::kernels
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::array<uint32_t, 3> block = {1, 1, 1};
  uint32_t sharedBytes = 0;           ///< dynamic shared memory
  bool programmaticDependent = false; ///< the kernel waits (griddepcontrol.wait) before it reads or writes
  uint32_t cluster = 1; ///< blocks, neighbours along x, that run at once and share memory; divides grid[0]
  std::vector<KernelArg> args;
  std::string label; ///< the ONNX nodes it computes, for people
  StepCost cost;
};

/// Device-to-device copy; the ranges do not overlap.
struct CopyStep {
  BufferRef dst, src;
  uint64_t bytes = 0;
  std::string label;
};

/// Sets every byte.
struct FillStep {
  BufferRef dst;
  uint8_t value = 0;
  uint64_t bytes = 0;
  std::string label;
};

/// Library matrix product.
struct MatmulStep {
  MatmulProblem problem;
  BufferRef a, b, d;
  std::optional<BufferRef> c;    ///< present exactly when problem.beta != 0
  std::optional<BufferRef> bias; ///< present exactly when hasBias(problem.epilogue)
  BufferRef workspace;           ///< in the arena (or packed memory in a load program), 256-byte aligned
  uint64_t workspaceBytes = 0;
  std::string label;
  StepCost cost;
};

using PlanStep = std::variant<LaunchStep, CopyStep, FillStep, MatmulStep>;

/// Of any step; a copy reads and writes, a fill writes.
StepCost costOf(const PlanStep &step);

/// Numbers for people; nothing depends on them. 0 = unknown.
struct PlanStatistics {
  uint64_t arenaLowerBound = 0; ///< bytes live at once at the worst moment
  uint64_t flops = 0;           ///< per run, as StepCost counts them
  uint64_t bytesMoved = 0;      ///< read and written by all steps of a run
};

/// What runs on a group of architectures.
struct PlanProgram {
  std::vector<std::string> archs; ///< "sm_80", …; every architecture is in one program at most
  uint64_t arenaBytes = 0;        ///< memory of one context
  uint64_t packedBytes = 0;       ///< memory that the load steps fill
  std::vector<PlanKernel> kernels;
  std::vector<PlanStep> loadSteps; ///< run once; refer to Constant and Packed only
  std::vector<PlanStep> runSteps;  ///< refer to anything, in order
  PlanStatistics statistics;
};

struct Plan {
  std::string producer;     ///< "gpuc 0.1.0"
  std::string modelName;    ///< file name or graph name, for people
  std::string buildOptions; ///< command line words that decided the code, for people
  std::vector<PlanTensor> inputs, outputs;
  std::vector<PlanConstant> constants;
  std::vector<PlanHeader> headers; ///< includes of all units
  std::vector<PlanUnit> units;     ///< deduplicated by content (PlanUnitTable)
  std::vector<PlanCubin> cubins;
  std::vector<PlanProgram> programs;

  /// The program whose `archs` has exactly this name, else the one for the newest older architecture without
  /// an "a" suffix (such code runs on later ones, after compilation from source), else null.
  const PlanProgram *programFor(std::string_view arch) const;
  /// Compiled code of a unit, or null.
  const PlanCubin *findCubin(uint32_t unit, std::string_view arch) const;
  uint64_t constantBytes() const; ///< device memory for all constants, padding included
};

/// Checks everything that can be checked without running: indices, ranges, alignments, name uniqueness,
/// launch limits, matmul extents. Errors have the given code: DataLoss for a plan read from a file.
Status validatePlan(const Plan &plan, StatusCode code = StatusCode::Internal);

/// Writes the plan to memory or, through a temporary file, to `path`. The same plan gives the same bytes.
/// Errors: Internal when validatePlan refuses it, IoError (nothing is left behind).
Result<std::vector<uint8_t>> serializePlan(const Plan &plan);
Status writePlan(const Plan &plan, const std::string &path);

struct LoadPlanOptions {
  /// Compare every section with its SHA-256. Without it the plan is still checked for consistency, so a
  /// corrupt file cannot make the loader misbehave, but wrong weights go unnoticed.
  bool verifyHash = true;
};
/// Reads a plan. Constants and cubins stay in the mapped file or in `bytes`.
/// Errors: NotFound, IoError, DataLoss (truncated, corrupt, not a plan, another version).
Result<Plan> loadPlan(const std::string &path, const LoadPlanOptions &options = {});
Result<Plan> loadPlan(SharedBytes bytes, const LoadPlanOptions &options = {});

/// True when the bytes start like a plan file, whatever its version; what `gpuc run` uses to tell it from
/// ONNX.
bool looksLikePlan(const void *data, size_t size);

/// Adds units to a plan so that equal texts are stored once.
class PlanUnitTable {
public:
  explicit PlanUnitTable(Plan &plan) : plan(plan) {}
  /// Index of a unit with this text; `name` is used when it is new.
  uint32_t add(std::string name, std::string text);

private:
  Plan &plan;
  std::unordered_map<std::string, uint32_t> byText;
};

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From an ONNX file to a plan: the phases in order, with dumps, stop points and messages. The command line,
// the Python module and the tests use this; it prints nothing itself.
#pragma once
#include "gpuc/Frontend/ModelInfo.h"
#include "gpuc/Passes/Precision.h"
#include "gpuc/Plan/Plan.h"
#include "gpuc/Support/Status.h"
#include "gpuc/Target/Target.h"
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gpuc {

/// Where a compilation can stop. Each phase ends in IR that VerifyPhase accepts; `Plan` is the end.
enum class Phase { Import, Graph, Kernels, Memory, Plan };
std::string_view name(Phase phase);
std::optional<Phase> parsePhase(std::string_view name);

struct CompileOptions {
  std::map<std::string, Shape> shapes;      ///< by input name
  std::map<std::string, HostTensor> values; ///< of inputs whose values decide shapes
  std::vector<const Target *> targets;      ///< one program each; at least one
  Precision precision = Precision::TF32;
  /// With F16: tensor cores may sum up to 64 products in f16 before they are added to f32 sums, where that is
  /// faster (GeForce).
  bool f16Accumulate = false;
  Phase stopAfter = Phase::Plan;
  std::string dumpDir;       ///< writes NN-phase.mlir and the units; empty for none
  bool compileCubins = true; ///< false: only sources; the runtime (or sim) compiles them
  bool keepPtx = false;
  bool allowLibrary = true; ///< products may be left to cuBLASLt; false: the plan needs only the driver
  std::vector<std::string> tuningDatabases; ///< files of measured choices of variants, looked up in order
  bool shippedTuning = true;                ///< look into the databases that come with gpuc last
  bool strictTuning = false;                ///< fail when a kernel with a choice is in no database
  unsigned threads = 0;                     ///< 0 = all of the machine
  std::string cacheDir;                     ///< of compiled units; empty = the user's cache, "-" = none
  std::vector<std::string> libraryDirs;     ///< searched for NVRTC first
  std::string buildOptions;                 ///< recorded in the plan
  std::function<void(const std::string &)> warn;
  std::function<void(const std::string &)> remark; ///< optimisation remarks; null = not collected
  /// Called as work proceeds: what is done, how many of how many.
  std::function<void(const std::string &, size_t, size_t)> progress;
};

struct Compiled {
  Plan plan;                    ///< empty unless the compilation went to its end
  std::string ir;               ///< text of the last phase that ran
  std::vector<std::string> ptx; ///< one per unit and target with keepPtx, in the order of the plan's cubins
  double importSeconds = 0, passesSeconds = 0, emitSeconds = 0, nvrtcSeconds = 0;
};

/// Compiles a file. Errors: the diagnostics of the first phase that failed, one per line.
Result<Compiled> compileModel(const std::string &path, const CompileOptions &options);
/// The same for bytes of a ModelProto; `name` stands for the file in messages and the plan.
Result<Compiled> compileModelBytes(const void *data, size_t size, const std::string &name,
                                   const CompileOptions &options);

/// The model's signature without compiling it.
Result<frontend::ModelSignature> modelSignature(const std::string &path);
/// Everything that keeps the model from being compiled; empty when nothing does.
Result<std::vector<frontend::Blocker>> modelBlockers(const std::string &path, const CompileOptions &options);

/// One row of the table of ONNX operators that can be imported.
struct OnnxOperator {
  std::string domain, op;  ///< domain "ai.onnx" for the default one
  int since = 0;           ///< first opset of these semantics
  std::string restriction; ///< what is not supported; empty for none
};
std::vector<OnnxOperator> onnxOperators();

/// Runs a model with the reference executor on the host, without kernels.
class ReferenceModel {
public:
  virtual ~ReferenceModel() = default;
  static Result<std::unique_ptr<ReferenceModel>> load(const std::string &path, const CompileOptions &options);
  static Result<std::unique_ptr<ReferenceModel>> loadBytes(const void *data, size_t size,
                                                           const CompileOptions &options);
  virtual const std::vector<PlanTensor> &inputs() const = 0;
  virtual const std::vector<PlanTensor> &outputs() const = 0;
  virtual Result<std::vector<HostTensor>> run(const std::vector<HostTensor> &inputs) = 0;
};

} // namespace gpuc

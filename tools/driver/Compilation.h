// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One compilation, phase by phase: what compileModel does once and the tuner does many times from the memory
// phase on.
#pragma once
#include "Session.h"
#include "gpuc/Codegen/PlanBuilder.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <chrono>
#include <map>
#include <memory>

namespace gpuc {

class Compilation {
public:
  using Clock = std::chrono::steady_clock;
  /// `options` must outlive the compilation.
  Compilation(const CompileOptions &options, std::string modelName);

  mlir::MLIRContext &context() { return state->session.context(); }
  /// Runs the passes up to the memory phase or to options.stopAfter, whichever comes first. `start` is when
  /// the import began.
  Status runPasses(mlir::OwningOpRef<mlir::ModuleOp> imported, Clock::time_point start);
  /// Chooses variants for every target and emits. May be called again with other choices. Dumps are written
  /// by the first call only.
  Result<Plan> emitPlan(const TuningSources &tuning);
  /// Adds the cubins of several plans, those that are not known yet compiled in parallel; nothing without
  /// options.compileCubins.
  Status compileCubins(const std::vector<Plan *> &plans);
  /// The measured choices that the options name; the compilation owns them. Errors: those of
  /// TuningDatabase::load.
  Result<TuningSources> loadTuning();
  /// Everything but the plan: text of the last phase, PTX, times.
  Compiled result;

  /// A copy of the program past the memory phase. Where the target's kernels can take normalisations in, it
  /// is made anew with them folded. Null after an error.
  mlir::OwningOpRef<mlir::ModuleOp> programOf(const Target &target);

private:
  mlir::OwningOpRef<mlir::ModuleOp> foldedProgramOf(const Target &target);
  /// What a compilation keeps alive: constants of the plan point into it.
  struct State {
    explicit State(const CompileOptions &options) : session(options.warn, options.remark) {}
    Session session;
    mlir::OwningOpRef<mlir::ModuleOp> module;
    /// A copy from before the memory phase, for targets that fold normalisations.
    mlir::OwningOpRef<mlir::ModuleOp> kernels;
    /// Programs with folded normalisations, by architecture; null where nothing was folded.
    std::map<std::string, mlir::OwningOpRef<mlir::ModuleOp>, std::less<>> folded;
  };
  void progress(const std::string &what, size_t done, size_t total) const;
  Status finishPhase(Phase phase);
  Status emitPrograms(Plan &plan, const TuningSources &tuning);

  const CompileOptions &options;
  std::string modelName;
  std::shared_ptr<State> state;
  std::vector<std::unique_ptr<TuningDatabase>> databases;
  std::map<std::pair<std::string, std::string>, SharedBytes> cubins; ///< by (text of the unit, architecture)
  bool dumped = false;
};

/// The last part of a path.
std::string baseName(const std::string &path);

} // namespace gpuc

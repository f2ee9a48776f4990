// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Compilation.h"
#include "gpuc/Codegen/PlanBuilder.h"
#include "gpuc/Passes/Passes.h"
#include "gpuc/Runtime/Nvrtc.h"
#include "gpuc/Support/File.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace gpuc {

static double secondsSince(Compilation::Clock::time_point start) {
  return std::chrono::duration<double>(Compilation::Clock::now() - start).count();
}

/// Large constants are elided: dumps are for reading.
static std::string printModule(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(16);
  flags.elideLargeResourceString(0);
  module.print(os, flags);
  return text;
}

std::string baseName(const std::string &path) {
  size_t slash = path.find_last_of('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

Compilation::Compilation(const CompileOptions &options, std::string modelName)
    : options(options), modelName(std::move(modelName)), state(std::make_shared<State>(options)) {}

void Compilation::progress(const std::string &what, size_t done, size_t total) const {
  if (options.progress)
    options.progress(what, done, total);
}

Result<TuningSources> Compilation::loadTuning() {
  TuningSources sources;
  for (const std::string &path : options.tuningDatabases) {
    auto database = TuningDatabase::load(path);
    if (!database)
      return database.status();
    databases.push_back(std::make_unique<TuningDatabase>(database.take()));
    sources.databases.push_back(databases.back().get());
  }
  if (options.shippedTuning)
    sources.databases.push_back(&TuningDatabase::shipped());
  sources.strict = options.strictTuning;
  return sources;
}

Status Compilation::runPasses(OwningOpRef<ModuleOp> imported, Clock::time_point start) {
  if (!imported)
    return state->session.error("the model could not be imported");
  state->module = std::move(imported);
  result.importSeconds = secondsSince(start);
  GPUC_RETURN_IF_ERROR(finishPhase(Phase::Import));
  if (options.stopAfter == Phase::Import)
    return {};
  PipelineOptions pipeline;
  pipeline.precision = options.precision;
  pipeline.f16Accumulate = options.f16Accumulate;
  auto passesStart = Clock::now();
  for (auto [phase, build] :
       {std::pair(Phase::Graph, &buildGraphPipeline), std::pair(Phase::Kernels, &buildKernelsPipeline),
        std::pair(Phase::Memory, &buildMemoryPipeline)}) {
    progress("phase " + std::string(name(phase)), 0, 1);
    PassManager pm(&context());
    build(pm, pipeline);
    if (failed(pm.run(*state->module)))
      return state->session.error("phase '" + std::string(name(phase)) + "' failed");
    GPUC_RETURN_IF_ERROR(finishPhase(phase));
    if (options.stopAfter == phase)
      return {};
    if (phase == Phase::Kernels &&
        llvm::any_of(options.targets, [](const Target *target) { return target->hasWgmma; }))
      state->kernels = state->module->clone();
  }
  result.passesSeconds = secondsSince(passesStart);
  return {};
}

Status Compilation::finishPhase(Phase phase) {
  bool last = phase == options.stopAfter;
  if (options.dumpDir.empty() && !last)
    return {};
  std::string text = printModule(*state->module);
  if (!options.dumpDir.empty()) {
    GPUC_RETURN_IF_ERROR(createDirectories(options.dumpDir));
    std::string file = std::to_string(int(phase)) + "-" + std::string(name(phase)) + ".mlir";
    GPUC_RETURN_IF_ERROR(writeFileAtomically(joinPath(options.dumpDir, file), text));
  }
  if (last)
    result.ir = std::move(text);
  return {};
}

Result<Plan> Compilation::emitPlan(const TuningSources &tuning) {
  Plan plan;
  auto start = Clock::now();
  GPUC_RETURN_IF_ERROR(emitPrograms(plan, tuning));
  result.emitSeconds = secondsSince(start);
  dumped = true;
  return plan;
}

OwningOpRef<ModuleOp> Compilation::programOf(const Target &target) {
  OwningOpRef<ModuleOp> program = foldedProgramOf(target);
  // What a target has no use for must not make its kernels other problems than those that were tuned.
  if (program && options.f16Accumulate && !target.hasHalfRateF32Sums)
    program->walk([](Operation *op) { op->removeAttr("f16_accumulate"); });
  return program;
}

OwningOpRef<ModuleOp> Compilation::foldedProgramOf(const Target &target) {
  if (!target.hasWgmma || !state->kernels)
    return state->module->clone();
  auto [known, fresh] = state->folded.try_emplace(std::string(target.arch));
  if (fresh) {
    OwningOpRef<ModuleOp> copy = state->kernels->clone();
    if (markRowState(copy->lookupSymbol<func::FuncOp>("main"), target)) {
      PassManager pm(&context());
      pm.addNestedPass<func::FuncOp>(createFoldNormalization());
      PipelineOptions pipeline;
      pipeline.precision = options.precision;
      buildMemoryPipeline(pm, pipeline);
      if (failed(pm.run(*copy)))
        return nullptr;
      if (selectsRowState(copy->lookupSymbol<func::FuncOp>("main"), target))
        known->second = std::move(copy);
    }
  }
  return known->second ? known->second->clone() : state->module->clone();
}

Status Compilation::emitPrograms(Plan &plan, const TuningSources &tuning) {
  plan.producer = "gpuc " GPUC_VERSION;
  plan.modelName = modelName;
  plan.buildOptions = options.buildOptions;
  PlanBuilderOptions builderOptions;
  builderOptions.allowLibrary = options.allowLibrary;
  PlanBuilder builder(plan, state, builderOptions);
  auto function = state->module->lookupSymbol<func::FuncOp>("main");
  if (failed(builder.setSignature(function)))
    return state->session.error("the signature could not be written");
  bool dump = !options.dumpDir.empty() && !dumped;
  for (size_t i = 0; i < options.targets.size(); ++i) {
    const Target &target = *options.targets[i];
    progress("emitting for " + std::string(target.arch), i, options.targets.size());
    OwningOpRef<ModuleOp> copy = programOf(target);
    if (!copy)
      return state->session.error("the program for " + std::string(target.arch) + " could not be made");
    auto program = copy->lookupSymbol<func::FuncOp>("main");
    if (failed(selectVariants(program, target, options.allowLibrary, tuning)) ||
        failed(builder.addProgram(program, target, {std::string(target.arch)})))
      return state->session.error("emission for " + std::string(target.arch) + " failed");
    if (i == 0 && dump)
      GPUC_RETURN_IF_ERROR(
          writeFileAtomically(joinPath(options.dumpDir, "4-variants.mlir"), printModule(*copy)));
  }
  if (dump)
    for (const PlanUnit &unit : plan.units)
      GPUC_RETURN_IF_ERROR(writeFileAtomically(joinPath(options.dumpDir, unit.name), unit.text));
  return {};
}

/// The units of a plan that its programs launch, with the architecture.
static std::vector<std::pair<uint32_t, std::string>> neededCubins(const Plan &plan) {
  std::vector<std::pair<uint32_t, std::string>> needed;
  for (const PlanProgram &program : plan.programs)
    for (const std::string &arch : program.archs) {
      std::vector<bool> seen(plan.units.size());
      for (const PlanKernel &kernel : program.kernels)
        if (!seen[kernel.unit]) {
          seen[kernel.unit] = true;
          needed.push_back({kernel.unit, arch});
        }
    }
  return needed;
}

Status Compilation::compileCubins(const std::vector<Plan *> &plans) {
  if (!options.compileCubins)
    return {};
  auto start = Clock::now();
  std::vector<UnitSource> units; // stays in place: jobs point into it
  std::vector<std::string> archs;
  size_t most = 0;
  for (const Plan *plan : plans)
    most += neededCubins(*plan).size();
  units.reserve(most);
  for (const Plan *plan : plans)
    for (const auto &[unit, arch] : neededCubins(*plan))
      if (cubins.try_emplace({plan->units[unit].text, arch}).second) {
        units.push_back({plan->units[unit].name, plan->units[unit].text});
        archs.push_back(arch);
      }
  if (!units.empty()) {
    auto nvrtc = Nvrtc::open(options.libraryDirs);
    if (!nvrtc)
      return nvrtc.status();
    std::vector<SourceFile> headers;
    for (const PlanHeader &header : plans[0]->headers)
      headers.push_back({header.path, header.text});
    std::vector<Nvrtc::Job> jobs;
    for (size_t i = 0; i < units.size(); ++i)
      jobs.push_back({&units[i], archs[i]});
    NvrtcOptions nvrtcOptions;
    nvrtcOptions.keepPtx = options.keepPtx;
    if (options.cacheDir != "-")
      nvrtcOptions.cacheDir =
          options.cacheDir.empty() ? joinPath(cacheDirectory(), "nvrtc") : options.cacheDir;
    progress("compiling " + std::to_string(jobs.size()) + " kernels", 0, jobs.size());
    auto compiled = (*nvrtc)->compileUnits(jobs, headers, nvrtcOptions, options.threads);
    for (size_t i = 0; i < compiled.size(); ++i) {
      if (!compiled[i])
        return Status(StatusCode::Internal, "kernel '" + units[i].name + "' does not compile for " +
                                                archs[i] + ": " + compiled[i].status().message());
      for (const KernelResources &kernel : compiled[i]->kernels)
        if (int bytes = kernel.spillStoreBytes + kernel.spillLoadBytes; bytes > 0 && options.remark)
          options.remark("kernel '" + units[i].name + "' spills registers on " + archs[i] + ": " +
                         std::to_string(bytes) + " bytes");
      cubins[{units[i].text, archs[i]}] = SharedBytes(std::move(compiled[i]->cubin));
      if (options.keepPtx)
        result.ptx.push_back(std::move(compiled[i]->ptx));
    }
  }
  for (Plan *plan : plans)
    for (const auto &[unit, arch] : neededCubins(*plan))
      plan->cubins.push_back({unit, arch, cubins[{plan->units[unit].text, arch}]});
  result.nvrtcSeconds = secondsSince(start);
  return {};
}

} // namespace gpuc

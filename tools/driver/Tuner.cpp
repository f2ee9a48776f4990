// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpuc/Driver/Tuner.h"
#include "Compilation.h"
#include "gpuc/Codegen/PlanBuilder.h"
#include "gpuc/Frontend/Importer.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;

namespace gpuc {

namespace {

/// A candidate must make the whole chain faster than the cost model's choice by this share: less is noise.
constexpr double kLeastGain = 0.001;

struct Problem {
  TuningKey key;
  TunedProblem facts;
  std::vector<TuningEntry> entries; ///< one for each of facts.configs
  double microseconds = 0;          ///< of all its kernels
};

class Tuner {
public:
  Tuner(const TuneOptions &options, TuningBench &bench, Compilation &compilation, TuningDatabase database)
      : options(options), bench(bench), compilation(compilation), database(std::move(database)) {}

  Result<Tuned> run() {
    // Starts from the cost model, whatever was known before.
    auto first = plans(nullptr);
    if (!first)
      return first.status();
    GPUC_RETURN_IF_ERROR(collect((*first)[0]));
    Tuned tuned;
    size_t count = options.problems ? std::min<size_t>(options.problems, problems.size()) : problems.size();
    for (size_t i = 0; i < count; ++i) {
      GPUC_RETURN_IF_ERROR(tune(problems[i]));
      database.set(problems[i].key, chosen[problems[i].key]);
      tuned.problems.push_back(problems[i].facts);
      if (options.report)
        options.report(problems[i].facts, i + 1, count, database.text());
    }
    auto last = plans(nullptr);
    if (!last)
      return last.status();
    auto times = bench.race({(*first)[0], (*last)[0]});
    if (!times)
      return times.status();
    tuned.firstMicroseconds = (*times)[0];
    tuned.tunedMicroseconds = (*times)[1];
    tuned.database = database.text();
    return tuned;
  }

private:
  /// One plan with the choices so far for each candidate of a problem; without a problem, one plan.
  Result<std::vector<std::shared_ptr<const Plan>>> plans(const Problem *problem) {
    TuningDatabase known;
    for (const auto &[key, entry] : chosen)
      known.set(key, entry);
    std::vector<std::shared_ptr<Plan>> built;
    for (size_t i = 0; i < (problem ? problem->entries.size() : 1); ++i) {
      TuningDatabase trial;
      if (problem)
        trial.set(problem->key, problem->entries[i]);
      TuningSources sources;
      sources.databases = {&trial, &known};
      auto plan = compilation.emitPlan(sources);
      if (!plan)
        return plan.status();
      built.push_back(std::make_shared<Plan>(plan.take()));
    }
    std::vector<Plan *> pointers;
    for (const auto &plan : built)
      pointers.push_back(plan.get());
    GPUC_RETURN_IF_ERROR(compilation.compileCubins(pointers));
    return std::vector<std::shared_ptr<const Plan>>(built.begin(), built.end());
  }

  /// The distinct problems with a choice, hottest first.
  Status collect(const std::shared_ptr<const Plan> &plan) {
    const Target &target = *options.compile.targets[0];
    OwningOpRef<ModuleOp> copy = compilation.programOf(target);
    if (!copy)
      return {StatusCode::Internal, "the program could not be made"};
    auto function = copy->lookupSymbol<func::FuncOp>("main");
    if (failed(selectVariants(function, target, options.compile.allowLibrary)))
      return {StatusCode::Internal, "variants could not be chosen"};
    auto profile = bench.profile(plan);
    if (!profile)
      return profile.status();
    std::map<std::string, double> timeOf; // by ONNX nodes: kernels have no other name in a plan
    const auto &steps = plan->programs[0].runSteps;
    for (size_t i = 0; i < steps.size() && i < profile->size(); ++i)
      std::visit([&](const auto &step) { timeOf[step.label] += (*profile)[i]; }, steps[i]);
    std::map<TuningKey, size_t> known;
    for (auto kernel : function.getOps<KernelOp>()) {
      if (!hasChoice(kernel, target, options.compile.allowLibrary))
        continue;
      TuningKey key = tuningKey(kernel, target);
      auto [at, fresh] = known.try_emplace(key, problems.size());
      if (fresh)
        problems.push_back(describe(kernel, key, target));
      Problem &problem = problems[at->second];
      ++problem.facts.kernels;
      problem.microseconds += timeOf[onnxNodes(kernel.getLoc())];
    }
    std::stable_sort(problems.begin(), problems.end(),
                     [](const Problem &a, const Problem &b) { return a.microseconds > b.microseconds; });
    return {};
  }

  Problem describe(KernelOp kernel, const TuningKey &key, const Target &target) {
    Problem problem;
    problem.key = key;
    problem.facts.about = describeProblem(kernel);
    auto add = [&](std::string config, bool library) {
      for (const TuningEntry &e : problem.entries)
        if (e.library == library && e.config == config)
          return;
      TuningEntry entry;
      entry.about = problem.facts.about;
      entry.config = std::move(config);
      entry.library = library;
      problem.facts.configs.push_back(library ? "library" : entry.config);
      problem.entries.push_back(std::move(entry));
    };
    bool competes = options.compile.allowLibrary && libraryCompetes(kernel, target);
    if (competes && prefersLibrary(kernel, target))
      add("", true);
    if (auto config = kernel.getConfig())
      add(toText(*config), false);
    for (DictionaryAttr candidate :
         findFamily(kernel.getFamily())->candidates(kernel, target, options.candidates))
      if (problem.entries.size() < options.candidates)
        add(toText(candidate), false);
    if (competes)
      add("", true);
    return problem;
  }

  Status tune(Problem &problem) {
    auto contestants = plans(&problem);
    if (!contestants)
      return contestants.status();
    auto times = bench.race(*contestants);
    if (!times)
      return times.status();
    TunedProblem &facts = problem.facts;
    unsigned best = 0;
    for (unsigned i = 1; i < times->size(); ++i)
      if ((*times)[i] < (*times)[best])
        best = i;
    if ((*times)[best] > (*times)[0] * (1 - kLeastGain))
      best = 0;
    facts.best = best;
    // The chain differs by this problem's kernels only.
    double alone = problem.microseconds / facts.kernels;
    for (double time : *times)
      facts.microseconds.push_back(std::max(0.0, alone + (time - (*times)[0]) / facts.kernels));
    TuningEntry entry = problem.entries[best];
    entry.microseconds = facts.microseconds[best];
    entry.firstMicroseconds = facts.microseconds[0];
    entry.candidates = unsigned(problem.entries.size());
    entry.measured = options.measured;
    chosen[problem.key] = std::move(entry);
    return {};
  }

  const TuneOptions &options;
  TuningBench &bench;
  Compilation &compilation;
  TuningDatabase database;
  std::vector<Problem> problems;
  std::map<TuningKey, TuningEntry> chosen;
};

} // namespace

Result<Tuned> tuneModel(const std::string &path, const TuneOptions &options, TuningBench &bench,
                        const std::string &database) {
  if (options.compile.targets.size() != 1)
    return invalidArgument("tuning is for one target at a time");
  auto known = TuningDatabase::parse(database, "the database to write");
  if (!known)
    return known.status();
  auto start = Compilation::Clock::now();
  Compilation compilation(options.compile, baseName(path));
  GPUC_RETURN_IF_ERROR(compilation.runPasses(
      frontend::importModel(path, importOptions(options.compile), compilation.context()), start));
  return Tuner(options, bench, compilation, known.take()).run();
}

} // namespace gpuc

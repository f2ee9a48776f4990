// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gpuc run: executes a model or a plan and shows what came out.
#include "Commands.h"
#include "ModelSource.h"
#include "Tensors.h"
#include "gpuc/Runtime/Runtime.h"
#include "gpuc/Support/Compare.h"
#include "gpuc/Support/File.h"
#include "gpuc/Support/Npy.h"
#include <algorithm>
#include <cstdio>
#include <memory>

namespace gpuc::cli {
namespace {

struct RunCommand {
  std::string model, device = "auto", outputDir;
  std::vector<std::string> inputs, expected;
  uint64_t seed = 0;
  double rtol = 1e-3, atol = 1e-5;
  bool noLibraryTuning = false;
  unsigned repeats = 1;
  bool checks = false, poison = false;
  BuildArguments build;
  Verbosity verbosity;

  struct Outcome {
    std::vector<PlanTensor> inputs, outputs;
    std::vector<HostTensor> given, results;
    std::string ranOn;
  };

  Result<Outcome> onReference(const std::map<std::string, HostTensor> &given) {
    auto isPlan = isPlanFile(model);
    if (!isPlan)
      return isPlan.status();
    if (*isPlan)
      return invalidArgument("--device=reference runs ONNX models, and '" + model +
                             "' is a plan; give the model it was compiled from");
    if ((build.fp16 || build.bf16) && !verbosity.quiet)
      warn("--device=reference computes in the model's own types: --fp16 and --bf16 are ignored");
    auto options = compileOptions(build, given, verbosity);
    if (!options)
      return options.status();
    auto loaded = ReferenceModel::load(model, *options);
    if (!loaded)
      return loaded.status();
    Outcome outcome;
    outcome.inputs = (*loaded)->inputs();
    outcome.outputs = (*loaded)->outputs();
    auto complete = completeInputs(outcome.inputs, given, seed);
    if (!complete)
      return complete.status();
    outcome.given = complete.take();
    auto results = (*loaded)->run(outcome.given);
    if (!results)
      return results.status();
    outcome.results = results.take();
    outcome.ranOn = "reference (plain loops on the CPU)";
    return outcome;
  }

  Result<Outcome> onDevice(const std::map<std::string, HostTensor> &given) {
    DeviceOptions deviceOptions;
    deviceOptions.simFullChecks = checks;
    if (!build.cacheDir.empty() && build.cacheDir != "-")
      deviceOptions.cacheDir = build.cacheDir;
    auto opened = openDevice(device, deviceOptions);
    if (!opened)
      return opened.status();
    std::shared_ptr<Device> target = opened.take();
    auto plan = planFor(model, *target, build, given, verbosity);
    if (!plan)
      return plan.status();
    Outcome outcome;
    outcome.inputs = (*plan)->inputs;
    outcome.outputs = (*plan)->outputs;
    auto complete = completeInputs(outcome.inputs, given, seed);
    if (!complete)
      return complete.status();
    outcome.given = complete.take();
    LoadOptions loadOptions;
    loadOptions.tuneLibrary = !noLibraryTuning;
    auto loaded = LoadedPlan::create(*plan, target, loadOptions);
    if (!loaded)
      return loaded.status();
    ContextOptions contextOptions;
    contextOptions.poison = poison || target->isSim();
    auto context = Context::create(*loaded, contextOptions);
    if (!context)
      return context.status();
    for (unsigned i = 0; i < repeats; ++i) {
      auto results = (*context)->run(outcome.given);
      if (!results)
        return results.status();
      for (size_t o = 0; i > 0 && o < results->size(); ++o)
        if (!std::equal((*results)[o].bytes(), (*results)[o].bytes() + (*results)[o].sizeInBytes(),
                        outcome.results[o].bytes()))
          return Status(StatusCode::FailedPrecondition,
                        "run " + std::to_string(i + 1) + " gave output '" + outcome.outputs[o].name +
                            "' other values than the runs before: " +
                            difference((*results)[o], outcome.results[o], {0, 0}));
      outcome.results = results.take();
    }
    outcome.ranOn = target->description();
    return outcome;
  }

  int run() {
    auto given = readTensors(inputs, "--input");
    if (!given)
      return fail(given.status());
    auto wanted = readTensors(expected, "--expect");
    if (!wanted)
      return fail(wanted.status());
    auto outcome = device == "reference" ? onReference(*given) : onDevice(*given);
    if (!outcome)
      return fail(outcome.status());
    if (!verbosity.quiet)
      report(*outcome, *given);
    if (!outputDir.empty()) {
      Status status = createDirectories(outputDir);
      for (size_t i = 0; status.ok() && i < outcome->results.size(); ++i)
        status = writeNpy(joinPath(outputDir, safeFileName(outcome->outputs[i].name) + ".npy"),
                          outcome->results[i]);
      if (!status.ok())
        return fail(status);
    }
    return compare(*outcome, *wanted);
  }

  void report(const Outcome &outcome, const std::map<std::string, HostTensor> &given) {
    std::printf("device: %s\n", outcome.ranOn.c_str());
    for (size_t i = 0; i < outcome.inputs.size(); ++i)
      std::printf("input  %s: %s%s\n", outcome.inputs[i].name.c_str(), describe(outcome.given[i]).c_str(),
                  given.count(outcome.inputs[i].name) ? ""
                  : outcome.inputs[i].specialisedTo   ? " (fixed in the plan)"
                                                      : " (random)");
    for (size_t i = 0; i < outcome.outputs.size(); ++i) {
      std::printf("output %s: %s\n", outcome.outputs[i].name.c_str(), describe(outcome.results[i]).c_str());
      for (const std::string &line : topFive(outcome.results[i]))
        std::printf("%s\n", line.c_str());
    }
  }

  int compare(const Outcome &outcome, const std::map<std::string, HostTensor> &wanted) {
    int code = 0;
    for (const auto &[name, tensor] : wanted) {
      size_t i = 0;
      while (i < outcome.outputs.size() && outcome.outputs[i].name != name)
        ++i;
      if (i == outcome.outputs.size()) {
        code = fail(invalidArgument("--expect: the model has no output '" + name + "'"));
        continue;
      }
      std::string text = difference(outcome.results[i], tensor, {rtol, atol});
      if (!text.empty())
        code =
            fail(Status(StatusCode::FailedPrecondition, "output '" + name + "' is not as expected: " + text));
      else if (!verbosity.quiet)
        std::printf("output %s is as expected (rtol %g, atol %g)\n", name.c_str(), rtol, atol);
    }
    return code;
  }
};

} // namespace

void addRun(CLI::App &app, Action &action) {
  auto command = std::make_shared<RunCommand>();
  CLI::App *sub = app.add_subcommand("run", "run a model or a plan once");
  sub->add_option("model", command->model, "ONNX file or plan")->required()->type_name("MODEL");
  sub->add_option("--device", command->device, "auto, cuda[:N], sim[:ARCH] or reference")
      ->type_name("DEVICE");
  sub->add_option("--input", command->inputs,
                  "input from a file, name:file.npy or name:file.pb; random when not given")
      ->type_name("NAME:FILE");
  sub->add_option("--seed", command->seed, "seed of random inputs")->type_name("N");
  sub->add_option("--repeat", command->repeats, "number of runs, whose outputs must be the same bytes")
      ->check(CLI::Range(1u, 1000000u))
      ->type_name("N");
  sub->add_option("--output-dir", command->outputDir, "write every output as NAME.npy")->type_name("DIR");
  sub->add_option("--expect", command->expected, "compare an output, name:file.npy or name:file.pb")
      ->type_name("NAME:FILE");
  sub->add_option("--rtol", command->rtol, "relative tolerance of --expect")->type_name("X");
  sub->add_option("--atol", command->atol, "absolute tolerance of --expect")->type_name("X");
  sub->add_flag("--poison", command->poison,
                "fill activations and outputs with NaN before each run (sim always does)");
  sub->add_flag("--check-races", command->checks, "sim only: full checks (races, exact bounds); slow");
  sub->add_flag("--no-library-tuning", command->noLibraryTuning,
                "take cuBLASLt's first proposal for every product instead of measuring some");
  command->build.add(*sub, false);
  command->verbosity.add(*sub);
  sub->footer("Examples:\n"
              "  gpuc run resnet50.onnx                               # random input, best device\n"
              "  gpuc run resnet50.gpuc --input=x:cat.npy --output-dir=out\n"
              "  gpuc run m.onnx --device=sim --input=x:in.pb --expect=y:out.pb --rtol=1e-3");
  sub->callback([command, &action] { action = [command] { return command->run(); }; });
}

} // namespace gpuc::cli

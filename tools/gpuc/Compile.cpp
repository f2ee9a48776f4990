// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gpuc compile: a model into a plan, or a look at one of its phases.
#include "Commands.h"
#include "ModelSource.h"
#include "Progress.h"
#include "Tensors.h"
#include "gpuc/Runtime/DeviceRegistry.h"
#include "gpuc/Support/File.h"
#include <cstdio>
#include <memory>

namespace gpuc::cli {
namespace {

struct CompileCommand {
  std::string model, output, compileTo, dumpPhases, emit;
  std::vector<std::string> values;
  BuildArguments build;
  Verbosity verbosity;

  /// What --emit and --compile-to ask for: the last phase.
  Result<Phase> lastPhase() const {
    Phase phase = Phase::Plan;
    for (const std::string &word :
         {compileTo, emit == "cuda" || emit == "ptx" ? std::string("plan") : emit}) {
      if (word.empty())
        continue;
      auto parsed = parsePhase(word);
      if (!parsed)
        return invalidArgument("unknown phase '" + word +
                               "', expected import, graph, kernels, memory or plan");
      phase = std::min(phase, *parsed);
    }
    return phase;
  }

  Result<std::vector<const Target *>> targetList() const {
    std::string words;
    for (const std::string &t : build.targets) {
      if (t == "native") {
        for (const DeviceInfo &device : listDevices())
          if (device.usable && device.spec.rfind("cuda", 0) == 0)
            words += (words.empty() ? "" : ",") + device.arch;
        if (words.empty())
          return notFound("--target=native: this machine has no usable GPU; name the target instead, for "
                          "instance --target=h200");
        continue;
      }
      words += (words.empty() ? "" : ",") + t;
    }
    return parseTargets(words.empty() ? "all" : words);
  }

  int run() {
    auto phase = lastPhase();
    if (!phase)
      return fail(phase.status());
    bool toStdout = !emit.empty();
    if (*phase == Phase::Plan && output.empty() && !toStdout)
      return fail(invalidArgument("nothing to write: give -o FILE.gpuc, --emit=… or --compile-to=…"));
    auto targets = targetList();
    if (!targets)
      return fail(targets.status());
    auto given = readTensors(values, "--input");
    if (!given)
      return fail(given.status());
    auto options = compileOptions(build, *given, verbosity);
    if (!options)
      return fail(options.status());
    options->targets = *targets;
    options->stopAfter = *phase;
    options->dumpDir = dumpPhases;
    options->keepPtx = emit == "ptx";
    options->compileCubins = emit != "cuda" || !output.empty();
    auto progress = std::make_unique<Progress>(!verbosity.quiet);
    options->progress = [&](const std::string &what, size_t done, size_t total) {
      progress->show(what, done, total);
    };
    auto compiled = compileModel(model, *options);
    progress.reset();
    if (!compiled)
      return fail(compiled.status());
    if (emit == "cuda")
      for (const PlanUnit &unit : compiled->plan.units)
        std::printf("// ---- %s ----\n%s\n", unit.name.c_str(), unit.text.c_str());
    else if (emit == "ptx")
      for (size_t i = 0; i < compiled->ptx.size(); ++i) {
        const PlanCubin &cubin = compiled->plan.cubins[i];
        std::printf("// ---- %s %s ----\n%s\n", compiled->plan.units[cubin.unit].name.c_str(),
                    cubin.arch.c_str(), compiled->ptx[i].c_str());
      }
    else if (*phase != Phase::Plan)
      std::fputs(compiled->ir.c_str(), stdout);
    if (*phase != Phase::Plan || output.empty())
      return 0;
    Status written = writePlan(compiled->plan, output);
    if (!written.ok())
      return fail(written);
    if (verbosity.verbose)
      std::fprintf(stderr, "gpuc: import %.2f s, passes %.2f s, emission %.2f s, NVRTC %.2f s\n",
                   compiled->importSeconds, compiled->passesSeconds, compiled->emitSeconds,
                   compiled->nvrtcSeconds);
    if (!verbosity.quiet) {
      const Plan &plan = compiled->plan;
      std::string archs;
      for (const PlanProgram &program : plan.programs)
        for (const std::string &arch : program.archs)
          archs += (archs.empty() ? "" : " ") + arch;
      std::fprintf(
          stderr, "%s: %zu launches, %zu kernels, %.1f MB of weights, %.1f MB of activations, for %s\n",
          output.c_str(), plan.programs.front().runSteps.size(), plan.programs.front().kernels.size(),
          double(plan.constantBytes()) / 1e6, double(plan.programs.front().arenaBytes) / 1e6, archs.c_str());
    }
    return 0;
  }
};

} // namespace

void addCompile(CLI::App &app, Action &action) {
  auto command = std::make_shared<CompileCommand>();
  CLI::App *sub = app.add_subcommand("compile", "compile an ONNX model into a plan");
  sub->add_option("model", command->model, "ONNX file")->required()->type_name("MODEL.onnx");
  sub->add_option("-o,--output", command->output, "plan to write")->type_name("FILE.gpuc");
  command->build.add(*sub, true);
  sub->add_option("--input", command->values,
                  "value of an input that decides shapes, name:file.npy or name:file.pb")
      ->type_name("NAME:FILE");
  sub->add_option("--compile-to", command->compileTo,
                  "stop after a phase: import, graph, kernels, memory, plan")
      ->type_name("PHASE");
  sub->add_option("--dump-phases", command->dumpPhases,
                  "write the IR after each phase and every unit into a folder")
      ->type_name("DIR");
  sub->add_option("--emit", command->emit, "print to standard output")
      ->check(CLI::IsMember({"import", "graph", "kernels", "memory", "cuda", "ptx"}));
  command->verbosity.add(*sub);
  sub->footer("Examples:\n"
              "  gpuc compile resnet50.onnx -o resnet50.gpuc --target=h200 --fp16\n"
              "  gpuc compile det.onnx -o det.gpuc --target=rtx4090,rtx5090 --shapes=x:1x3x640x640\n"
              "  gpuc compile model.onnx --emit=kernels            # the fused kernels as MLIR\n"
              "  gpuc compile model.onnx --emit=cuda --target=a100 # the CUDA C++ it runs");
  sub->callback([command, &action] { action = [command] { return command->run(); }; });
}

} // namespace gpuc::cli

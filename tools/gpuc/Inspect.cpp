// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gpuc inspect: what a model or a plan holds, without running it.
#include "Commands.h"
#include "ModelSource.h"
#include "gpuc/Support/File.h"
#include <cstdio>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpuc::cli {
namespace {

struct InspectCommand {
  std::string file;
  bool sources = false, json = false;

  static std::string type(DType dtype, const Shape &shape) {
    return std::string(name(dtype)) + "[" + toString(shape) + "]";
  }

  int inspectModel() {
    auto signature = modelSignature(file);
    if (!signature)
      return fail(signature.status());
    std::printf("model %s: IR version %lld, %lld nodes%s%s\n", file.c_str(), (long long)signature->irVersion,
                (long long)signature->nodeCount, signature->producer.empty() ? "" : ", made by ",
                signature->producer.c_str());
    for (const auto &[domain, version] : signature->opsets)
      std::printf("opset  %s %lld\n", domain.empty() ? "ai.onnx" : domain.c_str(), (long long)version);
    auto print = [&](const char *what, const std::vector<frontend::ValueInfo> &values) {
      for (const frontend::ValueInfo &v : values) {
        std::string shape;
        for (size_t i = 0; i < v.shape.size(); ++i) {
          std::string extent = v.shape[i] >= 0                                   ? std::to_string(v.shape[i])
                               : i < v.dimNames.size() && !v.dimNames[i].empty() ? v.dimNames[i]
                                                                                 : "?";
          shape += (i ? "x" : "") + extent;
        }
        std::printf("%s %s: %s[%s]\n", what, v.name.c_str(), v.dtype.c_str(),
                    v.shapeKnown ? (v.shape.empty() ? "scalar" : shape.c_str()) : "shape not declared");
      }
    };
    print("input ", signature->inputs);
    print("output", signature->outputs);
    for (const std::string &input : signature->specialisedInputs)
      std::printf("note   the value of input '%s' decides shapes: give it with --input\n", input.c_str());
    return 0;
  }

  static nlohmann::json tensors(const std::vector<PlanTensor> &list) {
    nlohmann::json out = nlohmann::json::array();
    for (const PlanTensor &t : list)
      out.push_back({{"name", t.name}, {"type", name(t.dtype)}, {"shape", t.shape}});
    return out;
  }

  static nlohmann::json describe(const PlanProgram &program, const PlanStep &step) {
    StepCost cost = costOf(step);
    nlohmann::json out = {{"flops", cost.flops}, {"bytes", cost.bytes}};
    std::visit([&](const auto &s) { out["nodes"] = s.label; }, step);
    if (auto launch = std::get_if<LaunchStep>(&step)) {
      out["kind"] = "launch";
      out["kernel"] = program.kernels[launch->kernel].entry;
      out["grid"] = launch->grid;
      out["block"] = launch->block;
      out["sharedBytes"] = launch->sharedBytes;
      out["cluster"] = launch->cluster;
    } else if (auto matmul = std::get_if<MatmulStep>(&step)) {
      out["kind"] = "library";
      out["problem"] = {matmul->problem.batch, matmul->problem.m, matmul->problem.n, matmul->problem.k};
    } else {
      out["kind"] = std::holds_alternative<CopyStep>(step) ? "copy" : "fill";
    }
    return out;
  }

  static int printJson(const Plan &plan) {
    nlohmann::json out = {{"producer", plan.producer},          {"model", plan.modelName},
                          {"buildOptions", plan.buildOptions},  {"inputs", tensors(plan.inputs)},
                          {"outputs", tensors(plan.outputs)},   {"constantBytes", plan.constantBytes()},
                          {"programs", nlohmann::json::array()}};
    for (const PlanProgram &program : plan.programs) {
      nlohmann::json steps = nlohmann::json::array();
      for (const PlanStep &step : program.runSteps)
        steps.push_back(describe(program, step));
      out["programs"].push_back({{"archs", program.archs},
                                 {"arenaBytes", program.arenaBytes},
                                 {"arenaLowerBound", program.statistics.arenaLowerBound},
                                 {"packedBytes", program.packedBytes},
                                 {"loadSteps", program.loadSteps.size()},
                                 {"flops", program.statistics.flops},
                                 {"bytes", program.statistics.bytesMoved},
                                 {"steps", std::move(steps)}});
    }
    std::printf("%s\n", out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return 0;
  }

  int inspectPlan() {
    auto plan = loadPlan(file);
    if (!plan)
      return fail(plan.status());
    if (json)
      return printJson(*plan);
    std::printf("plan %s: %s, model %s%s%s\n", file.c_str(), plan->producer.c_str(), plan->modelName.c_str(),
                plan->buildOptions.empty() ? "" : ", built with ", plan->buildOptions.c_str());
    for (const PlanTensor &t : plan->inputs)
      std::printf("input  %s: %s%s\n", t.name.c_str(), type(t.dtype, t.shape).c_str(),
                  t.specialisedTo ? " (value fixed)" : "");
    for (const PlanTensor &t : plan->outputs)
      std::printf("output %s: %s\n", t.name.c_str(), type(t.dtype, t.shape).c_str());
    std::printf("weights: %.2f MB in %zu constants, stored once for all targets\n",
                double(plan->constantBytes()) / 1e6, plan->constants.size());
    for (const PlanProgram &program : plan->programs) {
      std::string archs;
      for (const std::string &arch : program.archs)
        archs += (archs.empty() ? "" : " ") + arch;
      uint64_t cubinBytes = 0;
      for (const PlanCubin &cubin : plan->cubins)
        for (const std::string &arch : program.archs)
          cubinBytes += cubin.arch == arch ? cubin.data.size() : 0;
      double bound = double(program.statistics.arenaLowerBound);
      std::printf("\ntarget %s: %zu launches of %zu kernels, %zu at load; arena %.2f MB (lower bound %.2f "
                  "MB), packed weights %.2f MB, binaries %.2f MB\n",
                  archs.c_str(), program.runSteps.size(), program.kernels.size(), program.loadSteps.size(),
                  double(program.arenaBytes) / 1e6, bound / 1e6, double(program.packedBytes) / 1e6,
                  double(cubinBytes) / 1e6);
      size_t number = 0;
      for (const PlanStep &step : program.runSteps)
        printStep(*plan, program, step, number++);
    }
    if (sources)
      for (const PlanUnit &unit : plan->units)
        std::printf("\n// ---- %s ----\n%s", unit.name.c_str(), unit.text.c_str());
    return 0;
  }

  static void printLaunch(const PlanProgram &program, const LaunchStep &launch, size_t number) {
    std::string cluster = launch.cluster > 1 ? " cluster " + std::to_string(launch.cluster) : "";
    std::printf("  %4zu %-40s grid %ux%ux%u block %ux%ux%u%s shared %u  %s\n", number,
                program.kernels[launch.kernel].entry.c_str(), launch.grid[0], launch.grid[1], launch.grid[2],
                launch.block[0], launch.block[1], launch.block[2], cluster.c_str(), launch.sharedBytes,
                launch.label.c_str());
    for (size_t i = 0; i < launch.args.size(); ++i)
      if (auto map = std::get_if<TensorMapArg>(&launch.args[i]))
        std::printf("       argument %zu: tensor map %s\n", i, toString(map->layout).c_str());
  }

  static void printStep(const Plan &plan, const PlanProgram &program, const PlanStep &step, size_t number) {
    if (auto launch = std::get_if<LaunchStep>(&step))
      printLaunch(program, *launch, number);
    else if (auto copy = std::get_if<CopyStep>(&step))
      std::printf("  %4zu copy %llu bytes  %s\n", number, (unsigned long long)copy->bytes,
                  copy->label.c_str());
    else if (auto fill = std::get_if<FillStep>(&step))
      std::printf("  %4zu fill %llu bytes  %s\n", number, (unsigned long long)fill->bytes,
                  fill->label.c_str());
    else if (auto matmul = std::get_if<MatmulStep>(&step))
      std::printf("  %4zu cuBLASLt %lldx%lldx%lld batch %lld  %s\n", number, (long long)matmul->problem.m,
                  (long long)matmul->problem.n, (long long)matmul->problem.k,
                  (long long)matmul->problem.batch, matmul->label.c_str());
  }

  int run() {
    auto isPlan = isPlanFile(file);
    if (!isPlan)
      return fail(isPlan.status());
    if (json && !*isPlan)
      return fail(invalidArgument("--json describes plans, and '" + file + "' is a model; compile it first"));
    return *isPlan ? inspectPlan() : inspectModel();
  }
};

} // namespace

void addInspect(CLI::App &app, Action &action) {
  auto command = std::make_shared<InspectCommand>();
  CLI::App *sub = app.add_subcommand("inspect", "show signature, kernels, targets, memory and sizes");
  sub->add_option("file", command->file, "ONNX file or plan")->required()->type_name("FILE");
  sub->add_flag("--sources", command->sources, "print the CUDA C++ units of a plan");
  sub->add_flag("--json", command->json,
                "print a plan's signature and steps as JSON, each step with the work it must do at least");
  sub->footer("Examples:\n  gpuc inspect resnet50.onnx\n  gpuc inspect resnet50.gpuc");
  sub->callback([command, &action] { action = [command] { return command->run(); }; });
}

} // namespace gpuc::cli

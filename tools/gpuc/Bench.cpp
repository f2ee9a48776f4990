// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gpuc bench: how fast a model or plan runs, in trtexec's words.
#include "Commands.h"
#include "DeviceTensors.h"
#include "ModelSource.h"
#include "Tensors.h"
#include "gpuc/Runtime/Runtime.h"
#include "gpuc/Support/File.h"
#include "gpuc/Target/Target.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

namespace gpuc::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// Times of one query in milliseconds.
struct Query {
  double h2d = 0, compute = 0, d2h = 0, enqueue = 0;
  double latency() const { return h2d + compute + d2h; }
};

struct Summary {
  double min = 0, max = 0, mean = 0, median = 0;
  std::vector<double> percentiles; ///< of the percents asked for, in their order
};

Summary summarize(std::vector<double> times, const std::vector<double> &percents) {
  Summary s;
  if (times.empty())
    return s;
  std::sort(times.begin(), times.end());
  auto percentile = [&](double p) {
    return times[std::min(times.size() - 1, size_t(std::ceil(p * double(times.size()))) - (p > 0 ? 1 : 0))];
  };
  s.min = times.front();
  s.max = times.back();
  s.mean = std::accumulate(times.begin(), times.end(), 0.0) / double(times.size());
  s.median = percentile(0.5);
  for (double p : percents)
    s.percentiles.push_back(percentile(p / 100));
  return s;
}

void printSummary(const char *what, const Summary &s, const std::vector<double> &percents) {
  std::printf("%s: min = %.4f ms, max = %.4f ms, mean = %.4f ms, median = %.4f ms", what, s.min, s.max,
              s.mean, s.median);
  for (size_t i = 0; i < s.percentiles.size(); ++i)
    std::printf(", percentile(%g%%) = %.4f ms", percents[i], s.percentiles[i]);
  std::printf("\n");
}

struct BenchCommand {
  std::string model, device = "auto", exportTimes;
  std::vector<std::string> inputs;
  std::vector<double> percents = {90, 99};
  unsigned iterations = 10;
  double warmUpMs = 200, durationSeconds = 3;
  uint64_t seed = 0;
  bool noLibraryTuning = false;
  bool noCudaGraph = false, noDataTransfers = false, dumpProfile = false, dumpGraphProfile = false;
  BuildArguments build;
  Verbosity verbosity;

  Status measure(Device &device, const PlanProgram &program, Context &context, const Plan &plan,
                 const std::vector<HostTensor> &values, std::vector<Query> &queries, double &wallSeconds) {
    DeviceTensors tensors(device);
    GPUC_RETURN_IF_ERROR(tensors.allocate(values, plan));
    std::vector<HostTensor> results = DeviceTensors::emptyResults(plan);
    auto stream = device.createStream();
    if (!stream)
      return stream.status();
    std::vector<EventHandle> events(4);
    for (EventHandle &e : events) {
      auto made = device.createEvent();
      if (!made)
        return made.status();
      e = *made;
    }
    GPUC_RETURN_IF_ERROR(tensors.upload(values, *stream));
    auto query = [&](Query &q) -> Status {
      auto start = Clock::now();
      GPUC_RETURN_IF_ERROR(device.recordEvent(events[0], *stream));
      if (!noDataTransfers)
        GPUC_RETURN_IF_ERROR(tensors.upload(values, *stream));
      GPUC_RETURN_IF_ERROR(device.recordEvent(events[1], *stream));
      GPUC_RETURN_IF_ERROR(context.run(tensors.inputs, tensors.outputs, *stream));
      GPUC_RETURN_IF_ERROR(device.recordEvent(events[2], *stream));
      if (!noDataTransfers)
        GPUC_RETURN_IF_ERROR(tensors.download(results, *stream));
      GPUC_RETURN_IF_ERROR(device.recordEvent(events[3], *stream));
      q.enqueue = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
      GPUC_RETURN_IF_ERROR(device.synchronize(*stream));
      double *parts[] = {&q.h2d, &q.compute, &q.d2h};
      for (int i = 0; i < 3; ++i) {
        auto ms = device.elapsedMs(events[size_t(i)], events[size_t(i) + 1]);
        if (!ms)
          return ms.status();
        *parts[i] = *ms;
      }
      return {};
    };
    Status status;
    Query ignored;
    auto warm = Clock::now();
    do
      status = query(ignored);
    while (status.ok() && std::chrono::duration<double, std::milli>(Clock::now() - warm).count() < warmUpMs);
    auto start = Clock::now();
    while (status.ok() && (queries.size() < iterations ||
                           std::chrono::duration<double>(Clock::now() - start).count() < durationSeconds)) {
      queries.emplace_back();
      status = query(queries.back());
    }
    wallSeconds = std::chrono::duration<double>(Clock::now() - start).count();
    if (status.ok() && dumpProfile)
      status = profile(device, program, context.profile(tensors.inputs, tensors.outputs, *stream),
                       "each step is timed alone, so launch gaps are included");
    if (status.ok() && dumpGraphProfile)
      status = profile(device, program, context.profileInGraph(tensors.inputs, tensors.outputs, *stream),
                       "each step's time is what the CUDA graph saves without it");
    for (EventHandle e : events)
      device.destroyEvent(e);
    device.destroyStream(*stream);
    return status;
  }

  static double floorMicroseconds(const StepCost &cost, const Target &target) {
    return std::max(double(cost.flops) / target.fp16Tflops, double(cost.bytes) / target.memoryGBps * 1e3) *
           1e-6;
  }

  static Status profile(Device &device, const PlanProgram &program,
                        const Result<std::vector<StepTime>> &steps, const char *how) {
    if (!steps)
      return steps.status();
    double total = 0;
    for (const StepTime &s : *steps)
      total += s.microseconds;
    const Target *target = findArch(device.arch());
    double floors = 0;
    std::printf("\n%10s %6s %10s  %-44s %s\n", "time us", "%", "floor us", "kernel", "ONNX nodes");
    for (size_t i = 0; i < steps->size(); ++i) {
      const StepTime &s = (*steps)[i];
      double floor = target ? floorMicroseconds(costOf(program.runSteps[i]), *target) : 0;
      floors += floor;
      std::printf("%10.2f %6.2f %10.2f  %-44s %s\n", s.microseconds,
                  total > 0 ? 100 * s.microseconds / total : 0, floor, s.name.c_str(), s.label.c_str());
    }
    std::printf("%10.2f total, %.2f of floors; %s. The floor is "
                "the longer of flops over the tensor cores' peak and bytes over the memory's.\n",
                total, floors, how);
    return {};
  }

  int run() {
    auto given = readTensors(inputs, "--loadInputs");
    if (!given)
      return fail(given.status());
    DeviceOptions deviceOptions;
    auto opened = openDevice(device, deviceOptions);
    if (!opened)
      return fail(opened.status());
    std::shared_ptr<Device> target = opened.take();
    auto plan = planFor(model, *target, build, *given, verbosity);
    if (!plan)
      return fail(plan.status());
    auto values = completeInputs((*plan)->inputs, *given, seed);
    if (!values)
      return fail(values.status());
    LoadOptions loadOptions;
    loadOptions.tuneLibrary = !noLibraryTuning;
    auto loaded = LoadedPlan::create(*plan, target, loadOptions);
    if (!loaded)
      return fail(loaded.status());
    ContextOptions options;
    options.useGraph = !noCudaGraph;
    options.stageHostData = false;
    auto context = Context::create(*loaded, options);
    if (!context)
      return fail(context.status());
    std::vector<Query> queries;
    double wall = 0;
    Status status = measure(*target, (*loaded)->program(), **context, **plan, *values, queries, wall);
    if (!status.ok())
      return fail(status);
    MemoryNeed need = (*loaded)->memory();
    std::printf("Device: %s\n", target->description().c_str());
    std::printf("Memory: %.1f MB weights, %.1f MB packed weights, %.1f MB activations\n",
                double(need.constants) / 1e6, double(need.packed) / 1e6, double(need.arena) / 1e6);
    std::printf("CUDA graph: %s; data transfers: %s\n", (*context)->usedGraph() ? "on" : "off",
                noDataTransfers ? "excluded" : "included");
    std::printf("Throughput: %.3f qps (%zu queries in %.3f s)\n", double(queries.size()) / wall,
                queries.size(), wall);
    auto column = [&](auto get) {
      std::vector<double> times;
      for (const Query &q : queries)
        times.push_back(get(q));
      return summarize(times, percents);
    };
    printSummary("Latency", column([](const Query &q) { return q.latency(); }), percents);
    printSummary("Enqueue Time", column([](const Query &q) { return q.enqueue; }), percents);
    if (!noDataTransfers) {
      printSummary("H2D Latency", column([](const Query &q) { return q.h2d; }), percents);
      printSummary("D2H Latency", column([](const Query &q) { return q.d2h; }), percents);
    }
    printSummary("GPU Compute Time", column([](const Query &q) { return q.compute; }), percents);
    double compute = 0;
    for (const Query &q : queries)
      compute += q.compute;
    std::printf("Total Host Walltime: %.3f s\nTotal GPU Compute Time: %.3f s\n", wall, compute / 1e3);
    if (!exportTimes.empty()) {
      nlohmann::json rows = nlohmann::json::array();
      for (const Query &q : queries)
        rows.push_back({{"latencyMs", q.latency()},
                        {"enqueueMs", q.enqueue},
                        {"h2dMs", q.h2d},
                        {"computeMs", q.compute},
                        {"d2hMs", q.d2h}});
      Status written = writeFileAtomically(exportTimes, rows.dump(1) + "\n");
      if (!written.ok())
        return fail(written);
    }
    return 0;
  }
};

} // namespace

void addBench(CLI::App &app, Action &action) {
  auto command = std::make_shared<BenchCommand>();
  CLI::App *sub = app.add_subcommand("bench", "measure latency and throughput of a model or a plan");
  sub->add_option("model", command->model, "ONNX file or plan")->required()->type_name("MODEL");
  sub->add_option("--device", command->device, "auto, cuda[:N] or sim[:ARCH]")->type_name("DEVICE");
  sub->add_option("--loadInputs,--input", command->inputs,
                  "input from a file, name:file.npy or name:file.pb; random when not given")
      ->delimiter(',')
      ->type_name("NAME:FILE");
  sub->add_option("--iterations", command->iterations, "least number of queries")->type_name("N");
  sub->add_option("--warmUp", command->warmUpMs, "milliseconds before measuring")->type_name("MS");
  sub->add_option("--duration", command->durationSeconds, "least seconds of measuring")->type_name("S");
  sub->add_option("--seed", command->seed, "seed of random inputs")->type_name("N");
  sub->add_option("--percentile", command->percents, "percentiles to report, 0 to 100")
      ->delimiter(',')
      ->check(CLI::Range(0.0, 100.0))
      ->type_name("P,…");
  sub->add_option("--exportTimes", command->exportTimes, "write every query's times as JSON")
      ->type_name("FILE");
  sub->add_flag("--noCudaGraph", command->noCudaGraph, "launch kernel by kernel");
  sub->add_flag("--noDataTransfers", command->noDataTransfers, "leave copies between host and device out");
  sub->add_flag("--dumpProfile", command->dumpProfile,
                "time of every kernel, the least it could take, and its ONNX nodes");
  sub->add_flag(
      "--dumpGraphProfile", command->dumpGraphProfile,
      "as --dumpProfile, with what each kernel costs inside the CUDA graph: its time less there without it");
  sub->add_flag("--no-library-tuning", command->noLibraryTuning,
                "take cuBLASLt's first proposal for every product instead of measuring some");
  command->build.add(*sub, false);
  command->verbosity.add(*sub);
  sub->footer("Examples:\n"
              "  gpuc bench resnet50.onnx --fp16 --shapes=x:32x3x224x224\n"
              "  gpuc bench resnet50.gpuc --dumpProfile --noDataTransfers");
  sub->callback([command, &action] { action = [command] { return command->run(); }; });
}

} // namespace gpuc::cli

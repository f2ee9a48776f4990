// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gpuc tune: measures kernel variants inside a model and writes the best ones into a tuning database.
#include "Commands.h"
#include "DeviceTensors.h"
#include "ModelSource.h"
#include "Progress.h"
#include "Tensors.h"
#include "gpuc/Driver/Tuner.h"
#include "gpuc/Runtime/Runtime.h"
#include "gpuc/Support/Compare.h"
#include "gpuc/Support/File.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <limits>
#include <memory>

namespace gpuc::cli {
namespace {

constexpr unsigned kReplays = 20, kRounds = 11; ///< a burst between two events, how many of each
constexpr double kMostError = 2e-2;             ///< of a candidate's output against the first one's

/// A plan on the device with inputs and outputs.
struct Runner {
  std::shared_ptr<Device> device;
  DeviceTensors tensors;
  std::unique_ptr<Context> context; ///< goes before the memory that it runs on
  explicit Runner(std::shared_ptr<Device> device) : device(std::move(device)), tensors(*this->device) {}

  Status open(std::shared_ptr<const Plan> plan, const std::vector<HostTensor> &values, StreamHandle stream) {
    auto loaded = LoadedPlan::create(plan, device);
    if (!loaded)
      return loaded.status();
    ContextOptions options;
    options.stageHostData = false;
    auto made = Context::create(*loaded, options);
    if (!made)
      return made.status();
    context = made.take();
    GPUC_RETURN_IF_ERROR(tensors.allocate(values, *plan));
    GPUC_RETURN_IF_ERROR(tensors.upload(values, stream));
    for (const TensorBinding &output : tensors.outputs)
      GPUC_RETURN_IF_ERROR(device->fill(output.device, 0xff, size_t(output.bytes), stream));
    return device->synchronize(stream);
  }

  Status run(StreamHandle stream) { return context->run(tensors.inputs, tensors.outputs, stream); }

  Result<std::vector<HostTensor>> results(const Plan &plan, StreamHandle stream) {
    std::vector<HostTensor> out = DeviceTensors::emptyResults(plan);
    GPUC_RETURN_IF_ERROR(tensors.download(out, stream));
    GPUC_RETURN_IF_ERROR(device->synchronize(stream));
    return out;
  }
};

class DeviceBench : public TuningBench {
public:
  DeviceBench(std::shared_ptr<Device> device, std::map<std::string, HostTensor> given, uint64_t seed)
      : device(std::move(device)), given(std::move(given)), seed(seed) {}
  ~DeviceBench() override {
    for (EventHandle e : events)
      device->destroyEvent(e);
    if (stream)
      device->destroyStream(stream);
  }

  Result<std::vector<double>> profile(std::shared_ptr<const Plan> plan) override {
    GPUC_RETURN_IF_ERROR(initialise(*plan));
    Runner runner(device);
    GPUC_RETURN_IF_ERROR(runner.open(plan, values, stream));
    GPUC_RETURN_IF_ERROR(runner.run(stream));
    std::vector<std::vector<double>> times;
    for (int repeat = 0; repeat < 5; ++repeat) {
      auto steps = runner.context->profile(runner.tensors.inputs, runner.tensors.outputs, stream);
      if (!steps)
        return steps.status();
      times.resize(steps->size());
      for (size_t i = 0; i < steps->size(); ++i)
        times[i].push_back((*steps)[i].microseconds);
    }
    std::vector<double> medians;
    for (std::vector<double> &t : times)
      medians.push_back(median(t));
    return medians;
  }

  Result<std::vector<double>> race(const std::vector<std::shared_ptr<const Plan>> &plans) override {
    GPUC_RETURN_IF_ERROR(initialise(*plans[0]));
    std::vector<std::unique_ptr<Runner>> runners;
    std::vector<HostTensor> expected;
    std::vector<bool> works(plans.size(), true);
    for (size_t i = 0; i < plans.size(); ++i) {
      runners.push_back(std::make_unique<Runner>(device));
      Status status = prepare(*runners[i], plans[i], i == 0, expected);
      if (!status.ok() && (i == 0 || status.code() == StatusCode::OutOfMemory))
        return status;
      works[i] = status.ok();
    }
    std::vector<std::vector<double>> times(plans.size());
    for (unsigned round = 0; round < kRounds + 2; ++round)
      for (size_t turn = 0; turn < plans.size(); ++turn) {
        size_t i = (turn + round) % plans.size();
        if (!works[i])
          continue;
        auto microseconds = burst(*runners[i]);
        if (!microseconds)
          return microseconds.status();
        if (round >= 2)
          times[i].push_back(*microseconds);
      }
    std::vector<double> medians;
    for (std::vector<double> &t : times)
      medians.push_back(t.empty() ? std::numeric_limits<double>::infinity() : median(t));
    return medians;
  }

private:
  static double median(std::vector<double> &values) {
    std::nth_element(values.begin(), values.begin() + ptrdiff_t(values.size() / 2), values.end());
    return values[values.size() / 2];
  }

  Status initialise(const Plan &plan) {
    if (stream)
      return {};
    auto made = device->createStream();
    if (!made)
      return made.status();
    stream = *made;
    for (EventHandle &e : events) {
      auto event = device->createEvent();
      if (!event)
        return event.status();
      e = *event;
    }
    auto complete = completeInputs(plan.inputs, given, seed);
    if (!complete)
      return complete.status();
    values = complete.take();
    return {};
  }

  /// Loads, runs until the graph is there, and compares with the first plan's outputs.
  Status prepare(Runner &runner, std::shared_ptr<const Plan> plan, bool isFirst,
                 std::vector<HostTensor> &expected) {
    GPUC_RETURN_IF_ERROR(runner.open(plan, values, stream));
    for (int i = 0; i < 3; ++i)
      GPUC_RETURN_IF_ERROR(runner.run(stream));
    auto got = runner.results(*plan, stream);
    if (!got)
      return got.status();
    if (isFirst) {
      expected = got.take();
      return {};
    }
    for (size_t i = 0; i < expected.size(); ++i)
      if (!close((*got)[i], expected[i]))
        return {StatusCode::Internal, "another result"};
    return {};
  }

  /// Relative L2 error of up to a few million elements, spread evenly.
  static bool close(const HostTensor &got, const HostTensor &want) {
    int64_t step = std::max<int64_t>(1, want.size() / (4 << 20));
    double error = 0, norm = 0;
    for (int64_t i = 0; i < want.size(); i += step) {
      double a = elementAt(got, i), b = elementAt(want, i);
      if (a == b || (std::isnan(a) && std::isnan(b)))
        a = b = std::isfinite(b) ? b : 0;
      error += (a - b) * (a - b);
      norm += b * b;
    }
    return error <= kMostError * kMostError * norm;
  }

  Result<double> burst(Runner &runner) {
    GPUC_RETURN_IF_ERROR(runner.run(stream));
    GPUC_RETURN_IF_ERROR(device->recordEvent(events[0], stream));
    for (unsigned i = 0; i < kReplays; ++i)
      GPUC_RETURN_IF_ERROR(runner.run(stream));
    GPUC_RETURN_IF_ERROR(device->recordEvent(events[1], stream));
    GPUC_RETURN_IF_ERROR(device->synchronize(stream));
    auto ms = device->elapsedMs(events[0], events[1]);
    if (!ms)
      return ms.status();
    return *ms * 1000 / kReplays;
  }

  std::shared_ptr<Device> device;
  std::map<std::string, HostTensor> given;
  uint64_t seed;
  StreamHandle stream = nullptr;
  EventHandle events[2] = {};
  std::vector<HostTensor> values;
};

struct TuneCommand {
  std::string model, database, device = "cuda";
  std::vector<std::string> values;
  unsigned candidates = 8, problems = 0;
  uint64_t seed = 0;
  BuildArguments build;
  Verbosity verbosity;

  static std::string today() {
    std::time_t now = std::time(nullptr);
    char text[16];
    std::strftime(text, sizeof text, "%Y-%m-%d", std::gmtime(&now));
    return text;
  }

  static std::string shortened(const std::string &text, size_t most) {
    return text.size() <= most ? text : text.substr(0, most - 3) + "...";
  }

  void print(const TunedProblem &p, size_t done, size_t total) const {
    std::printf("%3zu/%zu  %9.2f us -> %9.2f us  %2u x %s\n", done, total, p.microseconds[0],
                p.microseconds[p.best], p.kernels, shortened(p.about, 150).c_str());
    if (p.best != 0)
      std::printf("          %s instead of %s\n", p.configs[p.best].c_str(), p.configs[0].c_str());
    for (size_t i = 0; verbosity.verbose && i < p.configs.size(); ++i)
      std::printf("          %9.2f us  %s\n", p.microseconds[i], p.configs[i].c_str());
    std::fflush(stdout);
  }

  int run() {
    auto given = readTensors(values, "--input");
    if (!given)
      return fail(given.status());
    auto opened = openDevice(device);
    if (!opened)
      return fail(opened.status());
    std::shared_ptr<Device> gpu = opened.take();
    if (gpu->isSim())
      return fail(invalidArgument("gpuc tune measures, and the simulator's times say nothing about a GPU; "
                                  "run it where one is"));
    const Target *target = findArch(gpu->arch());
    if (!target)
      return fail(unsupported("'" + gpu->description() + "' has architecture " + gpu->arch() +
                              ", which gpuc has no target for"));
    auto compile = compileOptions(build, *given, verbosity);
    if (!compile)
      return fail(compile.status());
    std::string text;
    if (auto known = readFile(database))
      text = *known;
    else if (known.status().code() != StatusCode::NotFound)
      return fail(known.status());
    TuneOptions options;
    options.compile = *compile;
    options.compile.targets = {target};
    options.candidates = std::max(2u, candidates);
    options.problems = problems;
    options.measured = gpu->description() + ", " + today();
    Status written;
    options.report = [&](const TunedProblem &problem, size_t done, size_t total, const std::string &text) {
      if (!verbosity.quiet)
        print(problem, done, total);
      if (written.ok()) // an interrupted run leaves what it has found
        written = writeFileAtomically(database, text);
    };
    DeviceBench bench(gpu, *given, seed);
    auto tuned = tuneModel(model, options, bench, text);
    if (!tuned)
      return fail(tuned.status());
    if (written.ok())
      written = writeFileAtomically(database, tuned->database);
    if (!written.ok())
      return fail(written);
    size_t good = 0;
    for (const TunedProblem &p : tuned->problems)
      good += p.microseconds[0] <= 1.1 * p.microseconds[p.best];
    std::printf("%zu problems; the cost model's choice is within 10 %% of the best of %zu\n",
                tuned->problems.size(), good);
    std::printf("one run: %.2f us -> %.2f us; written to %s\n", tuned->firstMicroseconds,
                tuned->tunedMicroseconds, database.c_str());
    return 0;
  }
};

} // namespace

void addTune(CLI::App &app, Action &action) {
  auto command = std::make_shared<TuneCommand>();
  CLI::App *sub = app.add_subcommand("tune", "measure kernel variants inside a model and keep the best");
  sub->add_option("model", command->model, "ONNX file")->required()->type_name("MODEL.onnx");
  sub->add_option("-o,--output", command->database, "tuning database to write; entries in it are kept")
      ->required()
      ->type_name("FILE.jsonl");
  sub->add_option("--device", command->device, "cuda[:N]")->type_name("DEVICE");
  sub->add_option("--candidates", command->candidates, "variants measured for each problem")->type_name("N");
  sub->add_option("--problems", command->problems, "only the hottest so many problems; 0 = all")
      ->type_name("N");
  sub->add_option("--input", command->values,
                  "input from a file, name:file.npy or name:file.pb; random when not given")
      ->delimiter(',')
      ->type_name("NAME:FILE");
  sub->add_option("--seed", command->seed, "seed of random inputs")->type_name("N");
  command->build.add(*sub, false);
  command->verbosity.add(*sub);
  sub->footer("Examples:\n"
              "  gpuc tune resnet50.onnx --fp16 -o tuned.jsonl\n"
              "  gpuc compile resnet50.onnx --fp16 --tuning-database=tuned.jsonl -o resnet50.gpuc");
  sub->callback([command, &action] { action = [command] { return command->run(); }; });
}

} // namespace gpuc::cli

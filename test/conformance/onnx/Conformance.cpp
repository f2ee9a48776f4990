// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs ONNX's official backend cases (a model with inputs and expected outputs each) through gpuc, on the
// reference executor or a device. Every case must pass, be outside the registry (an operator that gpuc does
// not import), or stand in the list of known failures with a reason; a listed case that passes is a failure
// too, so the list can only shrink.
#include "gpuc/Driver/Compiler.h"
#include "gpuc/Frontend/TensorFile.h"
#include "gpuc/Runtime/DeviceRegistry.h"
#include "gpuc/Runtime/Runtime.h"
#include "gpuc/Support/Compare.h"
#include "gpuc/Support/File.h"
#include "gpuc/Target/Target.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <sstream>

using namespace gpuc;
namespace fs = std::filesystem;

namespace {

struct Case {
  std::string name; ///< "node/test_add"
  fs::path folder;
  std::map<std::string, HostTensor> inputs;
  std::vector<HostTensor> expected;
  std::optional<Compiled> compiled;
  std::string failure; ///< why it failed; empty while it has not
  bool notSupported = false;
};

std::map<std::string, std::string> readKnownFailures(const std::string &path, const std::string &device) {
  std::map<std::string, std::string> known;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#')
      continue;
    std::istringstream words(line);
    std::string caseName, devices, reason;
    words >> caseName >> devices;
    std::getline(words, reason);
    if (devices == "all" || devices == device)
      known[caseName] = reason;
  }
  return known;
}

class Runner {
public:
  std::string data, deviceName = "reference", knownFailures, filter;
  std::vector<std::string> folders = {"node", "simple", "pytorch-converted", "pytorch-operator"};
  bool verbose = false, poison = true;

  int run() {
    for (const OnnxOperator &o : onnxOperators())
      registry.insert({o.domain, o.op});
    collect();
    if (cases.empty()) {
      std::fprintf(stderr, "no cases under '%s'\n", data.c_str());
      return 2;
    }
    for (Case &c : cases)
      load(c);
    if (deviceName == "reference") {
      for (Case &c : cases)
        if (open(c))
          runOnReference(c);
    } else if (!runOnDevice()) {
      return 2;
    }
    return report();
  }

private:
  static bool open(const Case &c) { return c.failure.empty() && !c.notSupported; }

  void collect() {
    for (const std::string &folder : folders) {
      std::error_code ignored;
      std::vector<fs::path> found;
      for (const auto &entry : fs::directory_iterator(fs::path(data) / folder, ignored))
        if (fs::exists(entry.path() / "model.onnx"))
          found.push_back(entry.path());
      std::sort(found.begin(), found.end());
      for (const fs::path &path : found) {
        std::string caseName = folder + "/" + path.filename().string();
        if (filter.empty() || caseName.find(filter) != std::string::npos)
          cases.push_back({caseName, path, {}, {}, {}, "", false});
      }
    }
  }

  std::string modelPath(const Case &c) const { return (c.folder / "model.onnx").string(); }

  CompileOptions optionsFor(const Case &c) const {
    CompileOptions options;
    options.values = c.inputs;
    for (const auto &[name, tensor] : c.inputs)
      options.shapes[name] = tensor.shape();
    options.precision = Precision::F32;
    options.compileCubins = false;
    return options;
  }

  void load(Case &c) {
    auto blockers = modelBlockers(modelPath(c), {});
    auto signature = modelSignature(modelPath(c));
    if (!signature) {
      // Sequences, optionals and strings at the border are types that gpuc has no tensors for.
      c.failure = signature.status().message();
      return;
    }
    // A case is out of scope when an operator is not in the registry; anything else that blocks it counts.
    if (blockers)
      for (const frontend::Blocker &b : *blockers)
        if (!b.op.empty() && !registry.count({b.domain.empty() ? "ai.onnx" : b.domain, b.op})) {
          c.notSupported = true;
          return;
        }
    fs::path set = c.folder / "test_data_set_0";
    for (size_t i = 0; i < signature->inputs.size(); ++i) {
      auto tensor = frontend::readTensorFile((set / ("input_" + std::to_string(i) + ".pb")).string());
      if (!tensor) {
        c.failure = tensor.status().message();
        return;
      }
      c.inputs[signature->inputs[i].name] = *tensor;
    }
    for (size_t i = 0; i < signature->outputs.size(); ++i) {
      auto tensor = frontend::readTensorFile((set / ("output_" + std::to_string(i) + ".pb")).string());
      if (!tensor) {
        c.failure = tensor.status().message();
        return;
      }
      c.expected.push_back(*tensor);
    }
  }

  void check(Case &c, const std::vector<HostTensor> &results) {
    if (results.size() != c.expected.size()) {
      c.failure = std::to_string(results.size()) + " outputs, expected " + std::to_string(c.expected.size());
      return;
    }
    for (size_t i = 0; i < results.size() && c.failure.empty(); ++i)
      if (std::string text = difference(results[i], c.expected[i], Tolerance::of(c.expected[i].dtype()));
          !text.empty())
        c.failure = "output " + std::to_string(i) + ": " + text;
  }

  template <typename Tensors> std::vector<HostTensor> inputsFor(const Case &c, const Tensors &signature) {
    std::vector<HostTensor> inputs;
    for (const PlanTensor &t : signature)
      inputs.push_back(c.inputs.at(t.name));
    return inputs;
  }

  void runOnReference(Case &c) {
    auto model = ReferenceModel::load(modelPath(c), optionsFor(c));
    if (!model) {
      c.failure = model.status().message();
      return;
    }
    auto results = (*model)->run(inputsFor(c, (*model)->inputs()));
    if (!results)
      c.failure = results.status().message();
    else
      check(c, *results);
  }

  bool runOnDevice() {
    DeviceOptions deviceOptions;
    deviceOptions.simFullChecks = fullChecks;
    auto opened = openDevice(deviceName, deviceOptions);
    if (!opened) {
      std::fprintf(stderr, "%s\n", opened.status().message().c_str());
      return false;
    }
    std::shared_ptr<Device> device = opened.take();
    const Target *target = findArch(device->arch());
    if (!target) {
      std::fprintf(stderr, "no target for %s\n", device->arch().c_str());
      return false;
    }
    auto start = std::chrono::steady_clock::now();
    std::vector<UnitSource> units;
    std::vector<SourceFile> headers;
    std::set<std::string> seen;
    for (Case &c : cases) {
      if (!open(c))
        continue;
      CompileOptions options = optionsFor(c);
      options.targets = {target};
      options.compileCubins = !device->isSim();
      auto compiled = compileModel(modelPath(c), options);
      if (!compiled) {
        c.failure = compiled.status().message();
        continue;
      }
      c.compiled = compiled.take();
      if (headers.empty())
        for (const PlanHeader &h : c.compiled->plan.headers)
          headers.push_back({h.path, h.text});
      for (const PlanUnit &u : c.compiled->plan.units)
        if (seen.insert(u.name).second)
          units.push_back({u.name, u.text});
    }
    // The simulator compiles many units into one library; this fills its cache so that the runs below find
    // theirs there.
    if (device->isSim())
      if (auto warm = device->loadSource(units, headers); !warm)
        std::fprintf(stderr, "note: not all units compile: %s\n",
                     warm.status().message().substr(0, 2000).c_str());
    std::fprintf(stderr, "%zu units compiled after %.1f s\n", units.size(),
                 std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    for (Case &c : cases) {
      if (!open(c) || !c.compiled)
        continue;
      auto plan = std::make_shared<Plan>(std::move(c.compiled->plan));
      c.compiled.reset();
      auto loaded = LoadedPlan::create(plan, device);
      if (!loaded) {
        c.failure = loaded.status().message();
        continue;
      }
      ContextOptions options;
      options.poison = poison;
      auto context = Context::create(*loaded, options);
      if (!context) {
        c.failure = context.status().message();
        continue;
      }
      auto results = (*context)->run(inputsFor(c, plan->inputs));
      if (!results)
        c.failure = results.status().message();
      else
        check(c, *results);
    }
    return true;
  }

  int report() {
    std::string device = deviceName.substr(0, deviceName.find(':'));
    auto known = readKnownFailures(knownFailures, device);
    size_t passed = 0, failed = 0, outside = 0, listed = 0;
    for (const Case &c : cases) {
      auto reason = known.find(c.name);
      if (c.notSupported) {
        ++outside;
        if (verbose)
          std::printf("OUTSIDE %s\n", c.name.c_str());
      } else if (c.failure.empty()) {
        if (reason != known.end()) {
          ++failed;
          std::printf("FAIL %s: passes, but is listed as a known failure (%s); remove it from the list\n",
                      c.name.c_str(), reason->second.c_str());
        } else {
          ++passed;
          if (verbose)
            std::printf("PASS %s\n", c.name.c_str());
        }
      } else if (reason != known.end()) {
        ++listed;
        if (verbose)
          std::printf("LISTED %s:%s\n", c.name.c_str(), reason->second.c_str());
      } else {
        ++failed;
        std::printf("FAIL %s: %s\n", c.name.c_str(), c.failure.substr(0, 600).c_str());
      }
    }
    std::printf("ONNX backend cases on %s: %zu use an operator outside the registry, %zu known failures\n",
                device.c_str(), outside, listed);
    std::printf("%zu passed, %zu failed, %zu skipped\n", passed, failed, listed + outside);
    return failed == 0 && passed > 0 ? 0 : 1;
  }

  std::vector<Case> cases;
  std::set<std::pair<std::string, std::string>> registry;

public:
  bool fullChecks = false;
};

} // namespace

int main(int argc, char **argv) {
  Runner runner;
  CLI::App app{"Runs ONNX's backend cases through gpuc."};
  app.add_option("--data", runner.data, "folder with node/, simple/, … of the onnx package")->required();
  app.add_option("--device", runner.deviceName, "reference, sim[:ARCH] or cuda[:N]");
  app.add_option("--known-failures", runner.knownFailures, "list of 'case device reason'");
  app.add_option("--filter", runner.filter, "only cases whose name contains this");
  app.add_option("--folder", runner.folders, "folders of cases");
  app.add_flag("--check-races", runner.fullChecks, "sim only: full checks");
  app.add_flag("-v,--verbose", runner.verbose, "a line for every case");
  CLI11_PARSE(app, argc, argv);
  return runner.run();
}

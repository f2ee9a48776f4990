// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Models and plans as inputs of subcommands.
#include "ModelSource.h"
#include "Progress.h"
#include "gpuc/Support/File.h"
#include <cstdio>

namespace gpuc::cli {

Result<bool> isPlanFile(const std::string &path) {
  auto file = mapFile(path);
  if (!file)
    return file.status();
  return looksLikePlan(file->data(), file->size());
}

Result<CompileOptions> compileOptions(const BuildArguments &build,
                                      const std::map<std::string, HostTensor> &values,
                                      const Verbosity &verbosity) {
  CompileOptions options;
  auto precision = build.precision();
  if (!precision)
    return precision.status();
  options.precision = *precision;
  options.f16Accumulate = build.fp16Accumulate;
  auto shapes = build.parsedShapes();
  if (!shapes)
    return shapes.status();
  options.shapes = *shapes;
  for (const auto &[name, tensor] : values)
    options.shapes.emplace(name, tensor.shape());
  options.values = values;
  options.cacheDir = build.cacheDir;
  options.threads = build.threads;
  options.allowLibrary = !build.noCublasLt;
  for (const std::string &file : build.tuningDatabases) {
    if (file == "-")
      options.shippedTuning = false;
    else
      options.tuningDatabases.push_back(file);
  }
  options.strictTuning = build.strictTuning;
  options.buildOptions = build.description();
  if (!verbosity.quiet)
    options.warn = [](const std::string &message) { warn(message); };
  if (verbosity.verbose)
    options.remark = [](const std::string &message) { std::fprintf(stderr, "gpuc: %s\n", message.c_str()); };
  return options;
}

Result<std::shared_ptr<const Plan>> planFor(const std::string &path, Device &device,
                                            const BuildArguments &build,
                                            const std::map<std::string, HostTensor> &values,
                                            const Verbosity &verbosity) {
  auto isPlan = isPlanFile(path);
  if (!isPlan)
    return isPlan.status();
  if (*isPlan) {
    if (!build.description().empty())
      warn("'" + path +
           "' is a plan: --fp16, --bf16, --fp16-accumulate, --noTF32, --no-cublaslt and --shapes were "
           "decided when it was compiled and are ignored");
    auto plan = loadPlan(path);
    if (!plan)
      return plan.status();
    return std::shared_ptr<const Plan>(std::make_shared<Plan>(plan.take()));
  }
  auto options = compileOptions(build, values, verbosity);
  if (!options)
    return options.status();
  const Target *target = findArch(device.arch());
  if (!target)
    return unsupported("'" + device.description() + "' has architecture " + device.arch() +
                       ", which gpuc has no target for");
  options->targets = {target};
  options->compileCubins = !device.isSim();
  Progress progress(!verbosity.quiet);
  options->progress = [&](const std::string &what, size_t done, size_t total) {
    progress.show(what, done, total);
  };
  auto compiled = compileModel(path, *options);
  if (!compiled)
    return compiled.status();
  return std::shared_ptr<const Plan>(std::make_shared<Plan>(std::move(compiled->plan)));
}

} // namespace gpuc::cli

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// trtexec's spelling of the same wishes, for people whose fingers know it.
#include "Commands.h"
#include <algorithm>
#include <map>

namespace gpuc::cli {

bool translateTrtexec(std::vector<std::string> &arguments, std::string &message) {
  auto startsWith = [](const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; };
  bool isTrtexec = std::any_of(arguments.begin(), arguments.end(), [&](const std::string &a) {
    return startsWith(a, "--onnx") || startsWith(a, "--loadEngine") || startsWith(a, "--saveEngine");
  });
  if (!isTrtexec)
    return false;
  std::string onnx, save, load, inputs;
  std::vector<std::string> build, bench, ignored;
  bool skipInference = false;
  // trtexec's name of a flag → gpuc's; an empty right side means that gpuc does it anyway.
  static const std::map<std::string, std::string> kBuildFlags = {
      {"--fp16", "--fp16"},     {"--bf16", "--bf16"},        {"--noTF32", "--noTF32"},
      {"--shapes", "--shapes"}, {"--optShapes", "--shapes"}, {"--verbose", "--verbose"}};
  static const std::map<std::string, std::string> kBenchFlags = {
      {"--iterations", "--iterations"},   {"--warmUp", "--warmUp"},
      {"--duration", "--duration"},       {"--percentile", "--percentile"},
      {"--noCudaGraph", "--noCudaGraph"}, {"--noDataTransfers", "--noDataTransfers"},
      {"--device", "--device"},           {"--loadInputs", "--loadInputs"},
      {"--dumpProfile", "--dumpProfile"}, {"--exportTimes", "--exportTimes"}};
  static const std::vector<std::string> kImplied = {
      "--useCudaGraph",       "--useSpinWait",     "--minShapes", "--maxShapes",
      "--memPoolSize",        "--workspace",       "--best",      "--builderOptimizationLevel",
      "--profilingVerbosity", "--timingCacheFile", "--avgRuns",   "--separateProfileRun"};
  for (const std::string &argument : arguments) {
    size_t equals = argument.find('=');
    std::string flag = argument.substr(0, equals),
                value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    std::string suffix = equals == std::string::npos ? "" : "=" + value;
    if (flag == "--onnx")
      onnx = value;
    else if (flag == "--saveEngine")
      save = value;
    else if (flag == "--loadEngine")
      load = value;
    else if (flag == "--skipInference" || flag == "--buildOnly")
      skipInference = true;
    else if (auto known = kBuildFlags.find(flag); known != kBuildFlags.end())
      build.push_back(known->second + suffix);
    else if (auto timed = kBenchFlags.find(flag); timed != kBenchFlags.end())
      bench.push_back(timed->second == "--device" && !value.empty() &&
                              value.find_first_not_of("0123456789") == std::string::npos
                          ? "--device=cuda:" + value
                          : timed->second + suffix);
    else if (std::find(kImplied.begin(), kImplied.end(), flag) != kImplied.end())
      ignored.push_back(flag);
    else {
      message = "unknown trtexec flag '" + argument +
                "'; see gpuc bench --help and gpuc compile --help for what gpuc offers";
      arguments.clear();
      return true;
    }
  }
  if (onnx.empty() == load.empty()) {
    message = "trtexec spelling: expected exactly one of --onnx=MODEL and --loadEngine=PLAN";
    arguments.clear();
    return true;
  }
  std::vector<std::string> result;
  if (!save.empty() || skipInference) {
    if (onnx.empty() || save.empty()) {
      message = "trtexec spelling: building needs --onnx=MODEL and --saveEngine=PLAN";
      arguments.clear();
      return true;
    }
    result = {"compile", onnx, "-o", save};
    result.insert(result.end(), build.begin(), build.end());
  } else {
    result = {"bench", onnx.empty() ? load : onnx};
    if (!onnx.empty())
      result.insert(result.end(), build.begin(), build.end());
    result.insert(result.end(), bench.begin(), bench.end());
  }
  message = "understood as: gpuc";
  for (const std::string &word : result)
    message += " " + word;
  for (const std::string &flag : ignored)
    message += "\ngpuc needs no " + flag + ": ignored";
  arguments = result;
  return true;
}

} // namespace gpuc::cli

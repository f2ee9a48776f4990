// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Parsing of shared options.
#include "Arguments.h"
#include "Commands.h"
#include "gpuc/Support/CheckedMath.h"
#include <charconv>
#include <cstdio>

namespace gpuc::cli {

void BuildArguments::add(CLI::App &command, bool withTarget) {
  if (withTarget)
    command
        .add_option("--target", targets,
                    "GPUs to compile for: products (rtx4090,h200), architectures (sm_120a), native or all")
        ->delimiter(',')
        ->type_name("LIST");
  command.add_flag("--fp16", fp16, "compute in fp16 with fp32 accumulation");
  command.add_flag("--bf16", bf16, "compute in bf16 with fp32 accumulation");
  command.add_flag(
      "--fp16-accumulate", fp16Accumulate,
      "with --fp16: sum up to 64 products in fp16 at a time, twice as fast on GeForce, less exact");
  command.add_flag("--noTF32", noTf32, "keep fp32 products exact: no TF32 tensor cores");
  command.add_flag("--no-cublaslt", noCublasLt,
                   "leave no product to cuBLASLt: the plan then needs only the driver");
  command
      .add_option(
          "--tuning-database", tuningDatabases,
          "measured choices of kernel variants (gpuc tune), looked up before those that come with gpuc; "
          "'-' for none")
      ->delimiter(',')
      ->type_name("FILE");
  command.add_flag("--strict-tuning", strictTuning,
                   "fail when a kernel with several variants is in no tuning database");
  command.add_option("--shapes", shapes, "input shapes, name:1x3x224x224[,name:…]")
      ->delimiter(',')
      ->type_name("LIST");
  command.add_option("--cache-dir", cacheDir, "folder for compiled kernels; '-' for none")->type_name("DIR");
  command.add_option("-j,--threads", threads, "compiler threads; 0 = all cores")->type_name("N");
}

Result<Precision> BuildArguments::precision() const {
  if (fp16 && bf16)
    return invalidArgument("--fp16 and --bf16 exclude each other: choose one");
  if (fp16Accumulate && !fp16)
    return invalidArgument("--fp16-accumulate is a way to compute in fp16: give --fp16 too");
  if (fp16)
    return Precision::F16;
  if (bf16)
    return Precision::BF16;
  return noTf32 ? Precision::F32 : Precision::TF32;
}

std::string BuildArguments::description() const {
  std::string text = fp16 ? "--fp16" : bf16 ? "--bf16" : noTf32 ? "--noTF32" : "";
  if (fp16Accumulate)
    text += " --fp16-accumulate";
  if (noCublasLt)
    text += text.empty() ? "--no-cublaslt" : " --no-cublaslt";
  for (const std::string &file : tuningDatabases)
    text += (text.empty() ? "--tuning-database=" : " --tuning-database=") + file;
  for (const std::string &s : shapes)
    text += (text.empty() ? "--shapes=" : " --shapes=") + s;
  return text;
}

Result<Shape> parseShape(const std::string &text, const std::string &flag) {
  Shape shape;
  if (text.empty() || text == "scalar")
    return shape;
  const char *at = text.data(), *end = at + text.size();
  while (true) {
    int64_t extent = 0;
    auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc() || extent < 0)
      return invalidArgument(flag + ": '" + text + "' is no shape; expected extents such as 1x3x224x224");
    shape.push_back(extent);
    if (next == end)
      break;
    if (*next != 'x' && *next != 'X')
      return invalidArgument(flag + ": '" + text + "' is no shape; expected extents such as 1x3x224x224");
    at = next + 1;
  }
  if (!checkedProduct(shape))
    return invalidArgument(flag + ": '" + text + "' has more elements than 64 bits can count");
  return shape;
}

Result<std::pair<std::string, std::string>> splitNamed(const std::string &text, const std::string &flag) {
  // Tensor names may hold colons ("serving_default_x:0"), values never do.
  size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size())
    return invalidArgument(flag + ": expected name:value, got '" + text + "'");
  return std::make_pair(text.substr(0, colon), text.substr(colon + 1));
}

Result<std::map<std::string, Shape>> BuildArguments::parsedShapes() const {
  std::map<std::string, Shape> parsed;
  for (const std::string &item : shapes) {
    auto named = splitNamed(item, "--shapes");
    if (!named)
      return named.status();
    auto shape = parseShape(named->second, "--shapes");
    if (!shape)
      return shape.status();
    if (!parsed.emplace(named->first, *shape).second)
      return invalidArgument("--shapes names input '" + named->first + "' twice");
  }
  return parsed;
}

void Verbosity::add(CLI::App &command) {
  command.add_flag("-q,--quiet", quiet, "say nothing but errors");
  command.add_flag("-v,--verbose", verbose, "say what was decided: fusions, layouts, precision, times");
}

std::string printable(std::string text) {
  for (char &c : text)
    if ((unsigned char)c < 0x20 || c == 0x7f)
      c = '?';
  return text;
}

int fail(const Status &status) {
  size_t from = 0;
  const std::string &text = status.message();
  while (from <= text.size()) {
    size_t end = text.find('\n', from);
    std::string line = text.substr(from, end == std::string::npos ? end : end - from);
    std::fprintf(stderr, line.rfind("  ", 0) == 0 ? "%s\n" : "gpuc: error: %s\n", line.c_str());
    if (end == std::string::npos)
      break;
    from = end + 1;
  }
  return kFailure;
}

void warn(const std::string &message) { std::fprintf(stderr, "gpuc: warning: %s\n", message.c_str()); }

} // namespace gpuc::cli

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options that several subcommands share, and their parsing.
#pragma once
#include "gpuc/Driver/Compiler.h"
#include "gpuc/Support/Status.h"
#include <CLI/CLI.hpp>
#include <map>
#include <string>
#include <vector>

namespace gpuc::cli {

/// How a model is compiled, as typed.
struct BuildArguments {
  std::vector<std::string> targets; ///< of --target, comma lists allowed
  bool fp16 = false, bf16 = false, fp16Accumulate = false, noTf32 = false, noCublasLt = false;
  std::vector<std::string> shapes; ///< "x:1x3x224x224"
  std::string cacheDir;
  std::vector<std::string> tuningDatabases; ///< files, or "-": not even the one that comes with gpuc
  bool strictTuning = false;
  unsigned threads = 0;

  void add(CLI::App &command, bool withTarget);
  /// Errors: InvalidArgument naming the flag.
  Result<Precision> precision() const;
  Result<std::map<std::string, Shape>> parsedShapes() const;
  /// The words that decided the code, for the plan.
  std::string description() const;
};

/// What is said on stderr while working.
struct Verbosity {
  bool quiet = false, verbose = false;
  void add(CLI::App &command);
};

/// "1x3x224x224", "scalar" or "" → extents. Errors: InvalidArgument naming `flag`.
Result<Shape> parseShape(const std::string &text, const std::string &flag);
/// Splits "name:rest" at the last colon that leaves something on both sides. Errors: InvalidArgument naming
/// `flag`.
Result<std::pair<std::string, std::string>> splitNamed(const std::string &text, const std::string &flag);

/// Text of a model as a terminal may see it: control characters become '?'.
std::string printable(std::string text);
/// Prints "gpuc: error: …" (each line) to stderr and returns kFailure.
int fail(const Status &status);
void warn(const std::string &message);

} // namespace gpuc::cli

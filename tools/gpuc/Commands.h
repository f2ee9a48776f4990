// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The subcommands of gpuc: each adds its options to the parser and runs when it was chosen. One file each.
#pragma once
#include "Arguments.h"
#include <CLI/CLI.hpp>
#include <functional>

namespace gpuc::cli {

/// Exit codes: 0 success, 1 the work failed (message on stderr), 2 wrong usage.
inline constexpr int kFailure = 1, kUsage = 2;

/// What a chosen subcommand does; returns the exit code.
using Action = std::function<int()>;

void addCompile(CLI::App &app, Action &action);
void addRun(CLI::App &app, Action &action);
void addBench(CLI::App &app, Action &action);
void addTune(CLI::App &app, Action &action);
void addInspect(CLI::App &app, Action &action);
void addCheck(CLI::App &app, Action &action);
void addDevices(CLI::App &app, Action &action);
/// Prints the registry of importable ONNX operators as text or JSON (`gpuc --list-onnx-ops`).
int listOnnxOps(bool json);

/// Rewrites a command line in trtexec's spelling (`--onnx=… --saveEngine=… --fp16`) into gpuc's; false when
/// it is none. `message` tells the user what was understood, or why not (then `arguments` is empty).
bool translateTrtexec(std::vector<std::string> &arguments, std::string &message);

} // namespace gpuc::cli

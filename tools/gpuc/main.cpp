// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gpuc program: chooses a subcommand and runs it.
#include "Commands.h"
#include <cstdio>
#include <string>
#include <vector>

using namespace gpuc::cli;

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  std::string message;
  if (translateTrtexec(arguments, message)) {
    if (arguments.empty()) {
      std::fprintf(stderr, "gpuc: error: %s\n", message.c_str());
      return kUsage;
    }
    std::fprintf(stderr, "gpuc: %s\n", message.c_str());
  }

  CLI::App app{"gpuc compiles ONNX models into plans that run on NVIDIA GPUs, and runs them.", "gpuc"};
  app.set_version_flag("--version", "gpuc " GPUC_VERSION);
  app.require_subcommand(0, 1);
  std::string listOps;
  app.add_option("--list-onnx-ops", listOps,
                 "list the ONNX operators that can be imported; =json for programs")
      ->expected(0, 1)
      ->check(CLI::IsMember({"json", "text"}));
  app.footer("Every subcommand has --help with examples. trtexec's spelling works too:\n"
             "  gpuc --onnx=m.onnx --saveEngine=m.gpuc --fp16");
  Action action;
  addCompile(app, action);
  addRun(app, action);
  addBench(app, action);
  addTune(app, action);
  addInspect(app, action);
  addCheck(app, action);
  addDevices(app, action);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
    app.parse(reversed);
  } catch (const CLI::ParseError &error) {
    int code = app.exit(error);
    return code == 0 ? 0 : kUsage;
  }
  int code = 0;
  if (app.count("--list-onnx-ops")) {
    code = listOnnxOps(listOps == "json");
  } else if (action) {
    code = action();
  } else {
    std::fputs(app.help().c_str(), stdout);
    code = arguments.empty() ? kUsage : 0;
  }
  // A report that nobody can read is no success.
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    return gpuc::cli::fail(gpuc::ioError("standard output could not be written"));
  return code;
}

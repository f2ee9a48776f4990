// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gpuc check: everything that keeps a model from being compiled, at once. Also the list of ONNX operators.
#include "Commands.h"
#include "ModelSource.h"
#include "Tensors.h"
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

namespace gpuc::cli {
namespace {

struct CheckCommand {
  std::string model;
  std::vector<std::string> inputs;
  BuildArguments build;
  Verbosity verbosity;

  int run() {
    auto given = readTensors(inputs, "--input");
    if (!given)
      return fail(given.status());
    auto options = compileOptions(build, *given, verbosity);
    if (!options)
      return fail(options.status());
    auto blockers = modelBlockers(model, *options);
    if (!blockers)
      return fail(blockers.status());
    if (blockers->empty()) {
      if (!verbosity.quiet)
        std::printf("%s: gpuc can compile this model\n", model.c_str());
      return 0;
    }
    for (const frontend::Blocker &b : *blockers) {
      // A problem of the model as a whole names no operator.
      std::string where = b.op.empty()
                              ? ""
                              : "node '" + b.node + "' (" + (b.domain.empty() ? "" : b.domain + "::") + b.op +
                                    ", opset " + std::to_string(b.opset) + "): ";
      std::printf("%s: %s\n", model.c_str(), printable(where + b.reason).c_str());
    }
    std::fflush(stdout);
    return fail(unsupported("'" + model + "' has " + std::to_string(blockers->size()) +
                            (blockers->size() == 1 ? " blocker" : " blockers")));
  }
};

} // namespace

int listOnnxOps(bool json) {
  if (json) {
    nlohmann::json rows = nlohmann::json::array();
    for (const OnnxOperator &o : onnxOperators())
      rows.push_back(
          {{"domain", o.domain}, {"op", o.op}, {"since", o.since}, {"restriction", o.restriction}});
    std::printf("%s\n", rows.dump(1).c_str());
    return 0;
  }
  for (const OnnxOperator &o : onnxOperators())
    std::printf("%-14s %-28s since %2d%s%s\n", o.domain.c_str(), o.op.c_str(), o.since,
                o.restriction.empty() ? "" : "  ", o.restriction.c_str());
  return 0;
}

void addCheck(CLI::App &app, Action &action) {
  auto command = std::make_shared<CheckCommand>();
  CLI::App *sub = app.add_subcommand("check", "list everything that keeps a model from being compiled");
  sub->add_option("model", command->model, "ONNX file")->required()->type_name("MODEL.onnx");
  sub->add_option("--input", command->inputs,
                  "value of an input that decides shapes, name:file.npy or name:file.pb")
      ->type_name("NAME:FILE");
  command->build.add(*sub, false);
  command->verbosity.add(*sub);
  sub->footer("Exit code 0 when nothing is in the way, 1 otherwise.\nExample:\n  gpuc check model.onnx");
  sub->callback([command, &action] { action = [command] { return command->run(); }; });
}

} // namespace gpuc::cli

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The compiler driver: import, graph, kernels, memory, plan.
#include "gpuc/Driver/Compiler.h"
#include "Compilation.h"
#include "gpuc/Frontend/Importer.h"
#include "gpuc/Frontend/OpRegistry.h"

using namespace mlir;

namespace gpuc {

static constexpr std::string_view kPhaseNames[] = {"import", "graph", "kernels", "memory", "plan"};

std::string_view name(Phase phase) { return kPhaseNames[int(phase)]; }
std::optional<Phase> parsePhase(std::string_view text) {
  for (int i = 0; i < 5; ++i)
    if (kPhaseNames[i] == text)
      return Phase(i);
  return std::nullopt;
}

/// `import` makes the module in the compilation's context.
template <typename Import>
static Result<Compiled> compile(const CompileOptions &options, const std::string &modelName, Import import) {
  auto start = Compilation::Clock::now();
  Compilation compilation(options, modelName);
  auto tuning = compilation.loadTuning();
  if (!tuning)
    return tuning.status();
  GPUC_RETURN_IF_ERROR(compilation.runPasses(import(compilation.context()), start));
  if (options.stopAfter == Phase::Plan) {
    auto plan = compilation.emitPlan(*tuning);
    if (!plan)
      return plan.status();
    compilation.result.plan = plan.take();
    GPUC_RETURN_IF_ERROR(compilation.compileCubins({&compilation.result.plan}));
  }
  return std::move(compilation.result);
}

Result<Compiled> compileModel(const std::string &path, const CompileOptions &options) {
  return compile(options, baseName(path), [&](MLIRContext &context) {
    return frontend::importModel(path, importOptions(options), context);
  });
}

Result<Compiled> compileModelBytes(const void *data, size_t size, const std::string &modelName,
                                   const CompileOptions &options) {
  return compile(options, modelName, [&](MLIRContext &context) {
    return frontend::importModelBytes(data, size, "", importOptions(options), context);
  });
}

Result<frontend::ModelSignature> modelSignature(const std::string &path) {
  Session session(nullptr, nullptr);
  auto signature = frontend::readSignature(path, session.context());
  if (!signature)
    return session.error("the model could not be read");
  return *signature;
}

Result<std::vector<frontend::Blocker>> modelBlockers(const std::string &path, const CompileOptions &options) {
  Session session(options.warn, nullptr);
  auto blockers = frontend::checkModel(path, importOptions(options), session.context());
  if (!blockers)
    return session.error("the model could not be checked");
  return *blockers;
}

std::vector<OnnxOperator> onnxOperators() {
  frontend::OpRegistry registry;
  frontend::registerAllOps(registry);
  std::vector<OnnxOperator> rows;
  for (const frontend::OpEntry *entry : registry.entries())
    rows.push_back(
        {entry->domain.empty() ? "ai.onnx" : entry->domain, entry->op, entry->since, entry->restriction});
  return rows;
}

} // namespace gpuc

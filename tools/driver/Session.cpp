// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Set-up of the MLIR context and collection of its diagnostics.
#include "Session.h"
#include "gpuc/Codegen/PlanBuilder.h"
#include "gpuc/IR/Dialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace gpuc {

namespace {

/// Hands remarks to a sink as "passed|missed|analysis [category] message (at node)".
class SinkStreamer : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit SinkStreamer(const Session::Sink &sink) : sink(sink) {}
  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string text;
    llvm::raw_string_ostream os(text);
    remark.print(os, /*printLocation=*/false);
    std::string nodes = onnxNodes(remark.getLocation());
    if (!nodes.empty())
      os << " (" << nodes << ")";
    sink(text);
  }

private:
  const Session::Sink &sink;
};

} // namespace

frontend::ImportOptions importOptions(const CompileOptions &options) {
  frontend::ImportOptions import;
  import.shapes = options.shapes;
  import.values = options.values;
  import.warn = options.warn;
  return import;
}

Session::Session(Sink warnSink, Sink remarkSink)
    : mlirContext(MLIRContext::Threading::DISABLED), warn(std::move(warnSink)),
      remark(std::move(remarkSink)) {
  DialectRegistry registry;
  registry.insert<GpucDialect, func::FuncDialect>();
  mlirContext.appendDialectRegistry(registry);
  mlirContext.loadAllAvailableDialects();
  mlirContext.printOpOnDiagnostic(false);
  mlirContext.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    std::string text = diagnostic.str();
    for (Diagnostic &note : diagnostic.getNotes())
      text += "\n  note: " + note.str();
    // Messages of passes carry the op's location; the frontend's name the node themselves.
    std::string nodes = onnxNodes(diagnostic.getLocation());
    if (!nodes.empty() && text.find("node '") == std::string::npos)
      text = "node '" + nodes + "': " + text;
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      errors.push_back(text);
    else if (diagnostic.getSeverity() == DiagnosticSeverity::Warning && warn)
      warn(text);
    return success();
  });
  if (remark) {
    remark::RemarkCategories all{".*", ".*", ".*", ".*", ".*"};
    (void)remark::enableOptimizationRemarks(mlirContext, std::make_unique<SinkStreamer>(remark),
                                            std::make_unique<remark::RemarkEmittingPolicyAll>(), all);
  }
}

Status Session::error(const std::string &otherwise) const {
  if (errors.empty())
    return internalError(otherwise);
  std::string text;
  for (const std::string &e : errors)
    text += (text.empty() ? "" : "\n") + e;
  return invalidArgument(text);
}

} // namespace gpuc

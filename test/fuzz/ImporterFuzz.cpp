// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libFuzzer target: any bytes go through the importer. Whatever they are, it must return a valid module or at
// least one diagnostic. Seed it with the models of test/ and of the onnx package.
#include "gpuc/Frontend/Importer.h"
#include "mlir/IR/MLIRContext.h"
#include <cstdlib>
#include <memory>

using namespace gpuc::frontend;

/// Constants live as long as their context, so it is replaced now and then.
static mlir::MLIRContext &freshContext() {
  static std::unique_ptr<mlir::MLIRContext> context;
  static int uses = 0;
  if (!context || ++uses % 256 == 0) {
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  }
  return *context;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext &context = freshContext();
  bool diagnosed = false;
  auto id = context.getDiagEngine().registerHandler([&](mlir::Diagnostic &) {
    diagnosed = true;
    return mlir::success();
  });
  ImportOptions options;
  options.warn = [](const std::string &) {};
  auto module = importModelBytes(data, size, "", options, context);
  if (bool(module) == diagnosed)
    std::abort();
  module = {};
  context.getDiagEngine().eraseHandler(id);
  return 0;
}

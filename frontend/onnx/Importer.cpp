// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The frontend's public functions: read, index, import.
#include "gpuc/Frontend/Importer.h"
#include "GraphImporter.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

namespace gpuc::frontend {
namespace {

const OpRegistry &allOps() {
  static const OpRegistry registry = [] {
    OpRegistry r;
    registerAllOps(r);
    return r;
  }();
  return registry;
}

void emit(MLIRContext &context, const Status &status) {
  emitError(UnknownLoc::get(&context)) << status.message();
}

/// The model's index; diagnoses and gives nothing when the model or its operator sets can't be used.
std::optional<ModelIndex> indexOf(const Result<std::shared_ptr<Model>> &model, MLIRContext &context) {
  if (!model) {
    emit(context, model.status());
    return std::nullopt;
  }
  auto index = ModelIndex::build((*model)->proto);
  if (!index) {
    emit(context, index.status());
    return std::nullopt;
  }
  return index.take();
}

OwningOpRef<ModuleOp> import(const Result<std::shared_ptr<Model>> &model, const ImportOptions &options,
                             MLIRContext &context) {
  auto index = indexOf(model, context);
  if (!index)
    return nullptr;
  return GraphImporter(*model, std::move(*index), allOps(), options, /*collectOnly=*/false, &context).run();
}

} // namespace

std::optional<ModelSignature> readSignature(const std::string &path, MLIRContext &context) {
  auto model = readModel(path);
  auto index = indexOf(model, context);
  if (!index)
    return std::nullopt;
  return describeSignature((*model)->proto, *index, allOps());
}

std::optional<std::vector<Blocker>> checkModel(const std::string &path, const ImportOptions &options,
                                               MLIRContext &context) {
  auto model = readModel(path);
  auto index = indexOf(model, context);
  if (!index)
    return std::nullopt;
  GraphImporter importer(*model, std::move(*index), allOps(), options, /*collectOnly=*/true, &context);
  importer.run();
  return importer.blockers();
}

OwningOpRef<ModuleOp> importModel(const std::string &path, const ImportOptions &options,
                                  MLIRContext &context) {
  return import(readModel(path), options, context);
}

OwningOpRef<ModuleOp> importModelBytes(const void *data, size_t size, const std::string &folder,
                                       const ImportOptions &options, MLIRContext &context) {
  return import(parseModel(data, size, folder), options, context);
}

} // namespace gpuc::frontend

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs an imported model with the reference executor.
#include "Session.h"
#include "gpuc/Driver/Compiler.h"
#include "gpuc/Frontend/Importer.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Evaluate.h"
#include "gpuc/IR/Types.h"

using namespace mlir;

namespace gpuc {
namespace {

class ImportedModel : public ReferenceModel {
public:
  explicit ImportedModel(const CompileOptions &options) : session(options.warn, nullptr) {}

  Status finish(OwningOpRef<ModuleOp> imported) {
    if (!imported)
      return session.error("the model could not be imported");
    module = std::move(imported);
    function = module->lookupSymbol<func::FuncOp>("main");
    auto tensor = [](Type type, DictionaryAttr attributes) {
      PlanTensor t;
      auto ranked = cast<RankedTensorType>(type);
      if (auto name = attributes ? attributes.getAs<StringAttr>("gpuc.name") : StringAttr())
        t.name = name.str();
      t.dtype = *toDType(ranked.getElementType());
      t.shape.assign(ranked.getShape().begin(), ranked.getShape().end());
      return t;
    };
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      inputList.push_back(tensor(function.getArgumentTypes()[i], function.getArgAttrDict(i)));
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      outputList.push_back(tensor(function.getResultTypes()[i], function.getResultAttrDict(i)));
    return {};
  }

  const std::vector<PlanTensor> &inputs() const override { return inputList; }
  const std::vector<PlanTensor> &outputs() const override { return outputList; }
  Result<std::vector<HostTensor>> run(const std::vector<HostTensor> &arguments) override {
    return evaluateFunction(function, arguments);
  }

  Session session;

private:
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  std::vector<PlanTensor> inputList, outputList;
};

} // namespace

Result<std::unique_ptr<ReferenceModel>> ReferenceModel::load(const std::string &path,
                                                             const CompileOptions &options) {
  auto model = std::make_unique<ImportedModel>(options);
  GPUC_RETURN_IF_ERROR(
      model->finish(frontend::importModel(path, importOptions(options), model->session.context())));
  return std::unique_ptr<ReferenceModel>(std::move(model));
}

Result<std::unique_ptr<ReferenceModel>> ReferenceModel::loadBytes(const void *data, size_t size,
                                                                  const CompileOptions &options) {
  auto model = std::make_unique<ImportedModel>(options);
  GPUC_RETURN_IF_ERROR(model->finish(
      frontend::importModelBytes(data, size, "", importOptions(options), model->session.context())));
  return std::unique_ptr<ReferenceModel>(std::move(model));
}

} // namespace gpuc

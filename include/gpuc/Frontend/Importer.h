// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX bytes or file → a module with one `func.func @main` of core ops.
#pragma once
#include "gpuc/Support/HostTensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gpuc::frontend {

/// What the model declares about an input or output; -1 is an unknown extent.
struct ValueInfo {
  std::string name;
  std::string dtype;               ///< "f32", …; as in DType names
  std::vector<int64_t> shape;
  std::vector<std::string> dimNames; ///< "batch"; empty where the extent is fixed or unnamed
  bool shapeKnown = true;          ///< false when the model declares no shape at all
};

struct ModelSignature {
  std::vector<ValueInfo> inputs, outputs; ///< inputs without those that are only initialisers (IR < 4)
  std::vector<std::string> specialisedInputs; ///< inputs whose *values* decide shapes and must be given
  int64_t irVersion = 0, nodeCount = 0;
  std::map<std::string, int64_t> opsets;
  std::string producer;
};

struct ImportOptions {
  std::map<std::string, Shape> shapes;        ///< by input name; overrides what the model declares
  std::map<std::string, HostTensor> values;   ///< values of specialised inputs
  /// Called for every decision the user should know about ("input 'x': dimension 0 ('batch') taken as 1").
  std::function<void(const std::string &)> warn;
};

/// One way in which a model can't be compiled.
struct Blocker {
  std::string node, op, domain;
  int64_t opset = 0;
  std::string reason;
};

/// Reads only the signature. Errors go to the context's diagnostics; nothing is returned then.
std::optional<ModelSignature> readSignature(const std::string &path, mlir::MLIRContext &context);
/// All blockers of a model by operator, opset, attribute and type, without stopping at the first.
std::optional<std::vector<Blocker>> checkModel(const std::string &path, const ImportOptions &options,
                                               mlir::MLIRContext &context);
/// Imports a file (external data lies beside it). Every problem is diagnosed; null on error. Function arguments and
/// results carry `gpuc.name`; a specialised input carries `gpuc.value` (its constant) and its argument is unused.
mlir::OwningOpRef<mlir::ModuleOp> importModel(const std::string &path, const ImportOptions &options,
                                              mlir::MLIRContext &context);
/// The same for a serialised ModelProto; `folder` is where external data may lie, empty for none.
mlir::OwningOpRef<mlir::ModuleOp> importModelBytes(const void *data, size_t size, const std::string &folder,
                                                   const ImportOptions &options, mlir::MLIRContext &context);

} // namespace gpuc::frontend

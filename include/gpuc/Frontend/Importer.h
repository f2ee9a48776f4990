// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX bytes or file → a module with one `func.func @main` of core ops.
#pragma once
#include "gpuc/Frontend/ModelInfo.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <optional>
#include <string>
#include <vector>

namespace gpuc::frontend {

/// Reads only the signature. Errors go to the context's diagnostics; nothing is returned then.
std::optional<ModelSignature> readSignature(const std::string &path, mlir::MLIRContext &context);
/// All blockers of a model by operator, opset, attribute and type, without stopping at the first.
std::optional<std::vector<Blocker>> checkModel(const std::string &path, const ImportOptions &options,
                                               mlir::MLIRContext &context);
/// Imports a file (external data lies beside it). Every problem is diagnosed; null on error. Function
/// arguments and results carry `gpuc.name`; a specialised input carries `gpuc.value` (its constant) and its
/// argument is unused.
mlir::OwningOpRef<mlir::ModuleOp> importModel(const std::string &path, const ImportOptions &options,
                                              mlir::MLIRContext &context);
/// The same for a serialised ModelProto; `folder` is where external data may lie, empty for none.
mlir::OwningOpRef<mlir::ModuleOp> importModelBytes(const void *data, size_t size, const std::string &folder,
                                                   const ImportOptions &options, mlir::MLIRContext &context);

} // namespace gpuc::frontend

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// An MLIR context with gpuc's dialects whose diagnostics are collected instead of printed.
#pragma once
#include "gpuc/Driver/Compiler.h"
#include "gpuc/Support/Status.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gpuc {

/// The part of the compile options that the importer sees.
frontend::ImportOptions importOptions(const CompileOptions &options);

class Session {
public:
  using Sink = std::function<void(const std::string &)>;
  /// Warnings go to `warn` (may be null), optimisation remarks to `remark` (null: remarks are off).
  Session(Sink warn, Sink remark);
  mlir::MLIRContext &context() { return mlirContext; }
  /// The errors collected so far as a status, one per line; Internal with `otherwise` when there are none.
  Status error(const std::string &otherwise) const;

private:
  mlir::MLIRContext mlirContext;
  std::vector<std::string> errors;
  Sink warn, remark;
};

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ONNX operators that gpuc imports: (domain, op, since-version) → handler. The support table, `gpuc
// check` and the conformance tests read this registry; nothing else says what is supported.
#pragma once
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/StringRef.h"
#include <initializer_list>
#include <map>
#include <string>
#include <vector>

namespace gpuc::frontend {

class NodeContext;
using OpHandler = mlir::LogicalResult (*)(NodeContext &);

struct OpEntry {
  std::string domain; ///< "" for ai.onnx
  std::string op;
  int since; ///< first opset with these semantics
  OpHandler handler;
  std::vector<unsigned> constantInputs; ///< inputs whose values must be known when compiling
  std::string restriction;              ///< empty, or what is not supported, for the table
};

class OpRegistry {
public:
  /// Registers one handler for several since-versions.
  void add(llvm::StringRef domain, llvm::StringRef op, std::initializer_list<int> sinceVersions,
           OpHandler handler, std::vector<unsigned> constantInputs = {}, llvm::StringRef restriction = "");
  /// The entry with the highest since-version not above `opset`; null when the operator is unknown or newer.
  const OpEntry *find(llvm::StringRef domain, llvm::StringRef op, int opset) const;
  bool knows(llvm::StringRef domain, llvm::StringRef op) const;
  std::vector<const OpEntry *> entries() const; ///< sorted by domain, op, since

private:
  std::map<std::pair<std::string, std::string>, std::map<int, OpEntry>> table;
};

/// Fills a registry with every family (frontend/onnx/ops/RegisterAll.cpp).
void registerAllOps(OpRegistry &registry);

} // namespace gpuc::frontend

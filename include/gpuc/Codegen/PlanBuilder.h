// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns kernel programs into the parts of a plan: units, launches, memory references. One builder per plan;
// one call of `addProgram` per target. Does not compile units (the driver does, in parallel).
#pragma once
#include "gpuc/Codegen/Family.h"
#include "gpuc/Plan/Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <memory>

namespace gpuc {

/// Lets every kernel's family choose a variant for the target, after splitting products for the library where
/// that pays and is allowed. Emits errors.
mlir::LogicalResult selectVariants(mlir::func::FuncOp function, const Target &target, bool allowLibrary);

/// ONNX node names in a location, in order, each once, joined with ", ".
std::string onnxNodes(mlir::Location location);

struct PlanBuilderOptions {
  bool allowLibrary = true; ///< products may be left to cuBLASLt where the cost model expects a gain
};

class PlanBuilder {
public:
  /// `owner` keeps the constants of all functions alive as long as the plan.
  PlanBuilder(Plan &plan, std::shared_ptr<const void> owner, PlanBuilderOptions options = {});

  /// Inputs and outputs from the function's type and its `gpuc.name`, `gpuc.value` attributes.
  mlir::LogicalResult setSignature(mlir::func::FuncOp function);
  /// Adds what runs on `archs`. The function is past the memory phase and its kernels have variants.
  mlir::LogicalResult addProgram(mlir::func::FuncOp function, const Target &target,
                                 std::vector<std::string> archs);

private:
  struct Program;
  uint32_t constantIndex(mlir::ElementsAttr value, mlir::Location location);
  uint32_t unitIndex(llvm::StringRef family, const std::string &text, std::string &entry);

  Plan &plan;
  std::shared_ptr<const void> owner;
  PlanBuilderOptions options;
  llvm::DenseMap<mlir::Attribute, uint32_t> constants;
  std::map<std::string, uint32_t> constantsByHash;
  std::map<std::string, uint32_t> unitsByEntry;
};

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Turns kernel programs into the parts of a plan: units, launches, memory references. One builder per plan;
// one call of `addProgram` per target. Does not compile units (the driver does, in parallel).
#pragma once
#include "gpuc/Codegen/Family.h"
#include "gpuc/Codegen/TuningDatabase.h"
#include "gpuc/Plan/Plan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <map>
#include <memory>

namespace gpuc {

/// Gives every kernel its variant for the target, after splitting products for the library where that pays
/// and is allowed: the tuned one where `tuning` has one, else what the family's cost model prefers. Emits
/// errors.
mlir::LogicalResult selectVariants(mlir::func::FuncOp function, const Target &target, bool allowLibrary,
                                   const TuningSources &tuning = {});
/// The kernel as a problem of the library, when it is one and the target's library does such problems well
/// enough to compete.
bool libraryCompetes(KernelOp kernel, const Target &target);
/// Whether the cost model leaves the kernel to the library.
bool prefersLibrary(KernelOp kernel, const Target &target);
/// Whether there is anything to tune: several configurations, or the library as an alternative.
bool hasChoice(KernelOp kernel, const Target &target, bool allowLibrary);
/// Discardable boolean attribute of a kernel: whether the library computes it. Without it the cost model
/// decides.
inline constexpr llvm::StringLiteral kLibraryAttr = "gpuc.library";

/// Marks the kernels of a program before the memory phase whose variants for the target take row state
/// (gpuc.row_state, Passes/RowState.h), for FoldNormalization. True when there is one.
bool markRowState(mlir::func::FuncOp function, const Target &target);
/// Every kernel with row state, after FoldNormalization, has a variant that computes it. Without one the
/// program has to be made of the kernels as they were.
bool selectsRowState(mlir::func::FuncOp function, const Target &target);

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
  /// By size and hash of the first bytes.
  std::map<std::pair<size_t, std::string>, std::vector<uint32_t>> constantsByStart;
  std::map<std::string, uint32_t> unitsByEntry;
};

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fixture of kernel family tests: a function of gpuc.kernel ops in MLIR text is selected, emitted and run on
// the simulator, and its results are compared with the reference executor on the same inputs.
#pragma once
#include "gpuc/Codegen/Family.h"
#include "gpuc/IR/Ops.h"
#include "gpuc/Runtime/SimDevice.h"
#include "gpuc/Support/Compare.h"
#include "gpuc/Support/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <gtest/gtest.h>

namespace gpuc {

/// Tolerance of one kernel against the reference.
struct KernelTolerance {
  double relative = 1e-5, absolute = 1e-6;
  static KernelTolerance exact() { return {0, 0}; }
  static KernelTolerance half() { return {4e-3, 4e-3}; }
  static KernelTolerance bfloat() { return {3e-2, 3e-2}; }
};

class KernelTest : public ::testing::Test {
protected:
  KernelTest();

  /// Runs @main of `text` on the simulator and compares every result with the reference. `inputs`: one per
  /// argument, or none for random ones (`randomTensor`, seeded). With `fullChecks` the simulator looks for
  /// races and exact bounds.
  void check(llvm::StringRef text, KernelTolerance tolerance = {}, std::vector<HostTensor> inputs = {},
             bool fullChecks = true);
  /// The results of the last `check`, dense row-major.
  const std::vector<HostTensor> &results() const { return outputs; }
  /// The text of the last `check`'s units, joined.
  const std::string &units() const { return unitTexts; }
  /// Selects and emits all kernels of @main; empty with a test failure when that fails.
  std::vector<EmittedKernel> emitAll(llvm::StringRef text);
  /// Emits, and compiles every unit with NVRTC for the products' architectures: no spills, no warnings.
  /// Skipped without NVRTC.
  void checkCompiles(llvm::StringRef text, llvm::StringRef products = "all");
  /// Selection or emission reports an error that contains `message`.
  void checkRefused(llvm::StringRef text, llvm::StringRef message);
  /// Sets every kernel's target; "a100" by default.
  void setTarget(llvm::StringRef product);

  mlir::OwningOpRef<mlir::ModuleOp> parse(llvm::StringRef text);

  mlir::MLIRContext context;
  const Target *target = nullptr;

private:
  mlir::LogicalResult selectAll(mlir::ModuleOp module);
  std::vector<HostTensor> outputs;
  std::string unitTexts;
};

/// Floats uniform in [-2, 2], integers in [-50, 50] (unsigned [0, 100]), bools, any code of the storage
/// types; the same for the same seed.
HostTensor randomTensor(DType dtype, Shape shape, unsigned seed);
/// Integers uniform in [lo, hi].
HostTensor randomIntegers(DType dtype, Shape shape, int64_t lo, int64_t hi, unsigned seed);
void setElement(HostTensor &tensor, int64_t i, double value);
/// A tensor from values in row-major order.
HostTensor tensorOf(DType dtype, Shape shape, std::vector<double> values);
::testing::AssertionResult matches(const HostTensor &got, const HostTensor &expected,
                                   KernelTolerance tolerance);

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The passes of gpuc and the pipelines made of them.
#pragma once
#include "gpuc/Passes/Precision.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>

namespace gpuc {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "gpuc/Passes/Passes.h.inc"

/// What a compilation is asked for; the driver fills it from the command line.
struct PipelineOptions {
  Precision precision = Precision::TF32;
  bool f16Accumulate = false; ///< with F16: sums of a stretch of the depth may be f16
  bool verifyPhases = true;
};

/// import → graph.
void buildGraphPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);
/// graph → kernels.
void buildKernelsPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);
/// kernels → memory.
void buildMemoryPipeline(mlir::OpPassManager &pm, const PipelineOptions &options);

} // namespace gpuc

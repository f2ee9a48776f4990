// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order of passes: the only place that knows it.
#include "gpuc/Passes/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace gpuc {

static void addVerify(OpPassManager &pm, const PipelineOptions &options, llvm::StringRef phase) {
  if (!options.verifyPhases)
    return;
  VerifyPhaseOptions verify;
  verify.phase = phase.str();
  pm.addNestedPass<func::FuncOp>(createVerifyPhase(verify));
}

void buildGraphPipeline(OpPassManager &pm, const PipelineOptions &options) {
  addVerify(pm, options, "import");
  auto &function = pm.nest<func::FuncOp>();
  auto clean = [&] {
    function.addPass(createCanonicalizerPass());
    function.addPass(createCSEPass());
    function.addPass(createFoldConstants());
  };
  clean();
  // Forms are recognised before scales are folded into products, which would hide them.
  function.addPass(createRecognizeActivations());
  function.addPass(createRecognizeNormalization());
  function.addPass(createRecognizeAttention());
  function.addPass(createSimplifyGraph());
  clean();
  function.addPass(createSinkTransposes());
  function.addPass(createMergeProducts());
  clean();
  if (options.precision == Precision::F16 || options.precision == Precision::BF16) {
    ConvertPrecisionOptions convert;
    convert.type = options.precision == Precision::F16 ? "f16" : "bf16";
    function.addPass(createConvertPrecision(convert));
    clean();
    if (options.f16Accumulate)
      function.addPass(createAllowF16Accumulation());
  } else if (options.precision == Precision::TF32) {
    function.addPass(createAllowTf32());
  }
  addVerify(pm, options, "graph");
}

void buildKernelsPipeline(OpPassManager &pm, const PipelineOptions &options) {
  auto &function = pm.nest<func::FuncOp>();
  function.addPass(createFormKernels());
  function.addPass(createAssignLayouts());
  function.addPass(createElideConcats());
  // A layout copy of a constant or a kernel nobody reads can appear; kernels are pure, so this removes them.
  function.addPass(createCSEPass());
  addVerify(pm, options, "kernels");
}

void buildMemoryPipeline(OpPassManager &pm, const PipelineOptions &options) {
  pm.addNestedPass<func::FuncOp>(createPlanMemory());
  addVerify(pm, options, "memory");
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The unit of a product with few rows.
#include "../matmul/Matmul.h"
#include "Slab.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace gpuc {

EmittedKernel emitSlab(KernelOp kernel, const WgmmaUnit &unit, const WgmmaVariant &v, const WgmmaProblem &p,
                       DType dtype, llvm::StringRef element, int splits, const Target &target) {
  SlabPlan plan = planSlab(v, p, splits, target);
  EmittedKernel out;
  llvm::SmallVector<llvm::StringRef> includes{"slab/slab.cuh"};
  if (dtype == DType::F32)
    includes.push_back("arch/wgmma_tf32.cuh");
  includes.append(unit.includes.begin(), unit.includes.end());
  std::string text = unitHead(kernel, unit.family, v.name, includes);
  text += unit.declarations + unit.rows->text + unit.cols->text;
  text += llvm::formatv("struct Config {{\n  using T = {0};\n"
                        "  static constexpr i32 kM = {1}, kN = {2}, kBatch = {3}, kSplits = {4};\n"
                        "  static constexpr i32 kSteps = {5}, kRun = {6}, kTail = {7};\n"
                        "  static constexpr int kBlockB = {8}, kSlots = {9}, kGroups = {10};\n};\n",
                        element, p.rows, p.cols, p.batch, splits, p.steps, p.run, p.tail, v.blockB,
                        plan.slots, plan.groups);
  text += unit.output;
  text += llvm::formatv("using Rows_ = {0};\nusing Columns_ = {1};\n", unit.rows->source, unit.cols->source);
  text += "using Body = SlabProduct<Config, Rows_, Columns_, Output>;\n";
  text += llvm::formatv("static_assert(sizeof(Body::Shared) <= {0}, \"as launched\");\n", plan.sharedBytes);
  llvm::SmallVector<std::string> parameters{"const __grid_constant__ arch::TensorMap mapRows",
                                            "const __grid_constant__ arch::TensorMap mapColumns"};
  parameters.append(unit.parameters.begin(), unit.parameters.end());
  text += unitEntry("Body::kThreads, 1", parameters);
  text += "  GPUC_SMEM(Body::Shared, shared);\n" + unit.makeOutput;
  text += "  Body::run(shared, Rows_{&mapRows}, Columns_{&mapColumns}, output);\n";
  out.text = text + unitEnd();
  out.grid.x = uint32_t(int64_t(llvm::divideCeil(p.rows, 64)) * int64_t(llvm::divideCeil(p.cols, v.blockB)) *
                        p.batch * splits);
  out.block.x = 288;
  out.cluster = uint32_t(splits);
  out.sharedBytes = uint32_t(plan.sharedBytes);
  addArguments(out, unit, /*swapped=*/false);
  return out;
}

} // namespace gpuc

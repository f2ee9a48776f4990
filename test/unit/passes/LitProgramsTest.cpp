// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions of the lit tests of graph passes, evaluated before and after their pass: what FileCheck finds
// must also be right.
#include "KernelTest.h"
#include "gpuc/IR/Evaluate.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Passes/Passes.h"
#include "gpuc/Support/File.h"
#include "mlir/Pass/PassManager.h"
#include <fstream>
#include <sstream>

using namespace mlir;

namespace gpuc::test {
namespace {

class LitProgramsTest : public KernelTest {
protected:
  void check(const std::string &file, std::unique_ptr<Pass> pass, KernelTolerance tolerance) {
    std::ifstream stream(std::string(GPUC_LIT_PASSES) + "/" + file);
    std::stringstream text;
    text << stream.rdbuf();
    auto module = parse(text.str());
    ASSERT_TRUE(module) << file;
    std::map<std::string, std::pair<std::vector<HostTensor>, std::vector<HostTensor>>> expected;
    for (auto f : module->getOps<func::FuncOp>()) {
      std::vector<HostTensor> inputs;
      for (BlockArgument a : f.getArguments())
        inputs.push_back(
            randomTensor(dtypeOf(a), Shape(shapeOf(a).begin(), shapeOf(a).end()), 7 + a.getArgNumber()));
      auto results = evaluateFunction(f, inputs);
      ASSERT_TRUE(results.ok()) << f.getName().str() << ": " << results.status().message();
      expected[f.getName().str()] = {inputs, *results};
    }
    PassManager pm(&context);
    pm.addNestedPass<func::FuncOp>(std::move(pass));
    ASSERT_TRUE(succeeded(pm.run(*module)));
    for (auto f : module->getOps<func::FuncOp>()) {
      auto &[inputs, wanted] = expected[f.getName().str()];
      auto results = evaluateFunction(f, inputs);
      ASSERT_TRUE(results.ok()) << f.getName().str() << ": " << results.status().message();
      for (size_t i = 0; i < wanted.size(); ++i)
        EXPECT_TRUE(matches((*results)[i], wanted[i], tolerance))
            << file << ", " << f.getName().str() << ", result " << i;
    }
  }
};

TEST_F(LitProgramsTest, Activations) {
  check("recognize-activations.mlir", createRecognizeActivations(), KernelTolerance::half());
}
TEST_F(LitProgramsTest, Normalization) {
  check("recognize-normalization.mlir", createRecognizeNormalization(), KernelTolerance::half());
}
TEST_F(LitProgramsTest, Attention) {
  check("recognize-attention.mlir", createRecognizeAttention(), KernelTolerance::half());
}
TEST_F(LitProgramsTest, Simplify) { check("simplify-graph.mlir", createSimplifyGraph(), {1e-5, 1e-5}); }
TEST_F(LitProgramsTest, Merge) { check("merge-products.mlir", createMergeProducts(), {1e-5, 1e-5}); }
TEST_F(LitProgramsTest, Sink) { check("sink-transposes.mlir", createSinkTransposes(), {1e-5, 1e-5}); }
TEST_F(LitProgramsTest, Fold) {
  check("fold-constants.mlir", createFoldConstants(), KernelTolerance::exact());
}
TEST_F(LitProgramsTest, FormKernels) { check("form-kernels.mlir", createFormKernels(), {1e-5, 1e-5}); }
TEST_F(LitProgramsTest, BFloat) { // f16 clamps constants on purpose
  ConvertPrecisionOptions options;
  options.type = "bf16";
  check("convert-precision.mlir", createConvertPrecision(options), KernelTolerance::bfloat());
}

} // namespace
} // namespace gpuc::test

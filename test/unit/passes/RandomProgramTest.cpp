// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random programs through all phases: each computes what the program did, every kernel can be emitted, and a
// few run on the simulator. GPUC_RANDOM_PROGRAMS=FIRST:LAST runs other seeds, GPUC_RANDOM_SIM=1 runs all of
// them on the simulator.
#include "RandomProgram.h"
#include "KernelTest.h"
#include "gpuc/IR/Evaluate.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Passes/Passes.h"
#include "mlir/Pass/PassManager.h"
#include <cstdlib>

using namespace mlir;

namespace gpuc::test {
namespace {

class RandomProgramTest : public KernelTest {
protected:
  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module.print(stream);
    return text;
  }
  static std::vector<HostTensor> inputsOf(func::FuncOp f, unsigned seed) {
    std::vector<HostTensor> inputs;
    for (BlockArgument a : f.getArguments())
      inputs.push_back(
          randomTensor(dtypeOf(a), Shape(shapeOf(a).begin(), shapeOf(a).end()), seed + a.getArgNumber()));
    return inputs;
  }

  /// False after a failure.
  bool checkSeed(unsigned seed, int ops, bool simulate) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", " + std::to_string(ops) + " ops");
    std::string source = randomProgram(seed, ops);
    auto module = parse(source);
    EXPECT_TRUE(module) << source;
    if (!module)
      return false;
    auto main = module->lookupSymbol<func::FuncOp>("main");
    auto inputs = inputsOf(main, seed);
    auto expected = evaluateFunction(main, inputs);
    EXPECT_TRUE(expected.ok()) << expected.status().message() << source;
    if (!expected.ok())
      return false;
    for (const char *phase : {"graph", "kernels", "memory"}) {
      PassManager pm(&context);
      PipelineOptions options;
      options.precision = Precision::F32;
      StringRef name = phase;
      if (name == "graph")
        buildGraphPipeline(pm, options);
      else if (name == "kernels")
        buildKernelsPipeline(pm, options);
      else
        buildMemoryPipeline(pm, options);
      std::string before = print(*module);
      if (failed(pm.run(*module))) {
        ADD_FAILURE() << phase << " fails on\n" << before;
        return false;
      }
      auto got = evaluateFunction(module->lookupSymbol<func::FuncOp>("main"), inputs);
      EXPECT_TRUE(got.ok()) << phase << ": " << got.status().message() << print(*module);
      if (!got.ok())
        return false;
      for (size_t i = 0; i < expected->size(); ++i)
        if (auto same = matches((*got)[i], (*expected)[i], {1e-3, 1e-4}); !same) {
          ADD_FAILURE() << "result " << i << " after " << phase << ": " << same.message() << "\n"
                        << before << print(*module);
          return false;
        }
    }
    // The fixture runs kernels only: no aliases, no elided concatenations.
    main = module->lookupSymbol<func::FuncOp>("main");
    Operation *ret = main.getBody().front().getTerminator();
    for (OpOperand &operand : ret->getOpOperands())
      while (auto alias = operand.get().getDefiningOp<ReshapeOp>())
        operand.set(alias.getX());
    main.setType(FunctionType::get(&context, main.getArgumentTypes(), ret->getOperandTypes()));
    for (auto alias : llvm::make_early_inc_range(main.getOps<ReshapeOp>()))
      if (alias->use_empty())
        alias.erase();
    simulate &= main.getOps<ConcatOp>().empty();
    std::string text = print(*module);
    if (simulate)
      check(text, {1e-3, 1e-4}, inputs);
    else
      emitAll(text);
    EXPECT_FALSE(HasFailure()) << source << text;
    return !HasFailure();
  }
};

TEST_F(RandomProgramTest, EveryPhase) {
  unsigned first = 1, last = 150;
  if (const char *range = std::getenv("GPUC_RANDOM_PROGRAMS"))
    ASSERT_EQ(std::sscanf(range, "%u:%u", &first, &last), 2);
  bool all = std::getenv("GPUC_RANDOM_SIM") != nullptr;
  for (unsigned seed = first; seed <= last; ++seed) {
    if (std::getenv("GPUC_RANDOM_PROGRAMS"))
      std::fprintf(stderr, "seed %u\n", seed); // found again after a crash
    if (!checkSeed(seed, 6 + int(seed % 37), all || seed % 50 == 0))
      return;
  }
}

} // namespace
} // namespace gpuc::test

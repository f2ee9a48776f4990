// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory planning of programs that are too long for a lit test.
#include "KernelTest.h"
#include "gpuc/Passes/Memory.h"
#include "gpuc/Passes/Passes.h"
#include "mlir/Pass/PassManager.h"
#include <malloc.h>

using namespace mlir;

namespace gpuc::test {
namespace {

class PlanMemoryTest : public KernelTest {
protected:
  // Freed memory is overwritten, so that reading it is noticed without a sanitizer too.
  void SetUp() override {
    KernelTest::SetUp();
    ::mallopt(M_PERTURB, 0xa5);
  }
  void TearDown() override {
    ::mallopt(M_PERTURB, 0);
    KernelTest::TearDown();
  }
};

/// The tables of values grow at every power of two, also while a value takes the place of its operand.
TEST_F(PlanMemoryTest, LongChainsStayInOnePlace) {
  const std::string type = "tensor<5x7xf32>";
  std::string text = "func.func @main(%x: " + type + ") -> " + type + " {\n";
  std::string last = "%x";
  constexpr int kKernels = 400;
  for (int i = 0; i < kKernels; ++i) {
    bool first = i == 0, returned = i + 1 == kKernels;
    std::string name = "%v" + std::to_string(i);
    text += "  " + name + " = gpuc.kernel \"" + (first || returned ? "reduction" : "pointwise") +
            "\" (%a = " + last + " : " + type + ") -> " + type +
            " {\n    %y = " + (first || returned ? "gpuc.softmax %a {axis = 1 : i64}" : "gpuc.unary neg %a") +
            " : " + type + " -> " + type + "\n    gpuc.yield %y : " + type + "\n  }\n";
    last = name;
  }
  auto module = parse(text + "  return " + last + " : " + type + "\n}\n");
  ASSERT_TRUE(module);
  PassManager pm(module->getContext());
  pm.addNestedPass<func::FuncOp>(createPlanMemory());
  ASSERT_TRUE(succeeded(pm.run(*module)));
  int count = 0;
  for (auto kernel : module->lookupSymbol<func::FuncOp>("main").getOps<KernelOp>())
    EXPECT_EQ((*kernel.getOffsets())[0], ++count == kKernels ? kReturnedOffset : 0) << count;
  EXPECT_EQ(count, kKernels);
}

} // namespace
} // namespace gpuc::test

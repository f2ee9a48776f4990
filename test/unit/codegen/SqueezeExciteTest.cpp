// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The family squeeze_excite against the reference: one block and clusters, layouts, odd sizes, fused
// neighbours.
#include "KernelTest.h"

using namespace gpuc;

namespace {

struct Block {
  int images, channels, height, width, hidden;
  std::string type = "f16", act = "relu", gate = "hard_sigmoid {alpha = 0.2, beta = 0.5}";
  bool channelsLast = true;
  std::string storage() const {
    if (!channelsLast)
      return "";
    return " attributes {storage = [[" + std::to_string(channels * height * width) + ", 1, " +
           std::to_string(width * channels) + ", " + std::to_string(channels) + "]]}";
  }
  /// x is the result of a kernel, so that it can have a layout; the result is cast to f32 in the kernel.
  std::string text() const {
    auto tensor = [&](std::string shape) { return "tensor<" + shape + type + ">"; };
    std::string c = std::to_string(channels), s = std::to_string(hidden);
    std::string shape =
        std::to_string(images) + "x" + c + "x" + std::to_string(height) + "x" + std::to_string(width) + "x";
    std::string x = tensor(shape), w1 = tensor(s + "x" + c + "x"), b1 = tensor(s + "x"),
                w2 = tensor(c + "x" + s + "x"), b2 = tensor(c + "x"), y = "tensor<" + shape + "f32>";
    std::string cast = type == "f32" ? "" : "    %q = gpuc.cast %r : " + x + " -> " + y + "\n";
    return "func.func @main(%in: " + x + ", %w1: " + w1 + ", %b1: " + b1 + ", %w2: " + w2 + ", %b2: " + b2 +
           ") -> " + y + " {\n  %x = gpuc.kernel \"pointwise\" (%a = %in : " + x + ") -> " + x + storage() +
           " {\n    %r = gpuc.unary abs %a : " + x + " -> " + x + "\n    gpuc.yield %r : " + x +
           "\n  }\n  %y = gpuc.kernel \"squeeze_excite\" (%a = %x : " + x + ", %c = %w1 : " + w1 +
           ", %d = %b1 : " + b1 + ", %e = %w2 : " + w2 + ", %f = %b2 : " + b2 + ") -> " + y +
           " {\n    %r = gpuc.squeeze_excite " + act + " %a, %c, %d, %e, %f gate " + gate + " : " + x + ", " +
           w1 + ", " + b1 + ", " + w2 + ", " + b2 + " -> " + x + "\n" + cast + "    gpuc.yield %" +
           (type == "f32" ? "r" : "q") + " : " + y + "\n  }\n  return %y : " + y + "\n}\n";
  }
};

class SqueezeExciteTest : public KernelTest {};

TEST_F(SqueezeExciteTest, OneBlockPerImage) {
  check(Block{2, 16, 5, 7, 4}.text(), KernelTolerance::half());
  check(Block{3, 13, 3, 5, 3, "f32", "silu", "sigmoid"}.text());
  check(Block{1, 24, 4, 4, 40, "bf16", "hard_swish", "tanh", false}.text(), KernelTolerance::bfloat());
  check(Block{1, 7, 1, 1, 1, "f32", "gelu", "sigmoid", false}.text());
}
TEST_F(SqueezeExciteTest, ClusterPerImage) {
  setTarget("h200");
  check(Block{2, 72, 5, 7, 24}.text(), KernelTolerance::half());
  check(Block{1, 100, 3, 5, 7, "f32", "silu", "sigmoid"}.text());
  check(Block{1, 64, 4, 6, 70, "f16", "tanh", "tanh", false}.text(), KernelTolerance::half());
  EXPECT_NE(units().find("ClusterExchange"), std::string::npos);
}
TEST_F(SqueezeExciteTest, ManyImagesTakeSmallerClusters) {
  setTarget("h200");
  auto kernels = emitAll(Block{200, 64, 1, 1, 8}.text());
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[1].cluster, 1u);
  kernels = emitAll(Block{32, 64, 1, 1, 8}.text());
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[1].cluster, 8u);
}
TEST_F(SqueezeExciteTest, CompilesForEveryArchitecture) {
  checkCompiles(Block{1, 480, 14, 14, 120}.text());
  checkCompiles(Block{1, 960, 7, 7, 240, "f32", "silu", "sigmoid", false}.text());
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The normalization family: softmax, layer, RMS and group norm, LRN against the reference.
#include "KernelTest.h"
#include <cmath>

using namespace gpuc;

namespace {

/// A kernel around `op` (an op on %a, %b, … giving %r); `storage` holds attributes of the kernel.
std::string kernel(std::vector<std::string> types, const std::string &result, const std::string &body,
                   const std::string &attributes = "") {
  std::string arguments, operands;
  for (size_t i = 0; i < types.size(); ++i) {
    std::string n(1, char('a' + i)), comma = i ? ", " : "";
    arguments += comma + "%in_" + n + ": tensor<" + types[i] + ">";
    operands += comma + "%" + n + " = %in_" + n + " : tensor<" + types[i] + ">";
  }
  return "func.func @main(" + arguments + ") -> tensor<" + result +
         "> {\n  %y = gpuc.kernel \"normalization\" (" + operands + ") -> tensor<" + result + "> " +
         attributes + " {\n" + body + "\n    gpuc.yield %r : tensor<" + result +
         ">\n  }\n  return %y : tensor<" + result + ">\n}\n";
}

std::string softmax(const std::string &type, int axis, const std::string &options = "") {
  return kernel({type}, type,
                "%r = gpuc.softmax %a {axis = " + std::to_string(axis) + " : i64" + options + "} : tensor<" +
                    type + "> -> tensor<" + type + ">");
}

std::string layerNorm(const std::string &type, const std::string &parameters, int axis) {
  return kernel({type, parameters, parameters}, type,
                "%r = gpuc.layer_norm %a scale %b bias %c {axis = " + std::to_string(axis) +
                    " : i64, epsilon = 1.0e-5} : tensor<" + type + ">, tensor<" + parameters + ">, tensor<" +
                    parameters + "> -> tensor<" + type + ">");
}

std::string groupNorm(const std::string &type, int channels, int groups, const std::string &element = "f32") {
  std::string c = std::to_string(channels) + "x" + element;
  return kernel({type, c, c}, type,
                "%r = gpuc.group_norm %a scale %b bias %c {groups = " + std::to_string(groups) +
                    " : i64, epsilon = 1.0e-5} : tensor<" + type + ">, tensor<" + c + ">, tensor<" + c +
                    "> -> tensor<" + type + ">");
}

class NormalizationTest : public KernelTest {};

TEST_F(NormalizationTest, SoftmaxOfShortRows) { check(softmax("3x5x7xf32", 2)); }
TEST_F(NormalizationTest, SoftmaxOfRowsInAWarp) { check(softmax("13x509xf32", 1)); }
TEST_F(NormalizationTest, SoftmaxOfVectorRows) { check(softmax("5x768xf16", 1), KernelTolerance::half()); }
TEST_F(NormalizationTest, SoftmaxOfRowsInABlock) { check(softmax("3x1000xf32", 1)); }
TEST_F(NormalizationTest, SoftmaxOfDoubles) { check(softmax("3x517xf64", 1), {1e-12, 1e-13}); }
TEST_F(NormalizationTest, SoftmaxOfBfloats) { check(softmax("7x64xbf16", 1), KernelTolerance::bfloat()); }
TEST_F(NormalizationTest, SoftmaxOfStreamedRows) { check(softmax("2x17389xf32", 1), {1e-5, 1e-8}); }
TEST_F(NormalizationTest, SoftmaxAlongTheMiddle) { check(softmax("3x5x7xf32", 1)); }
TEST_F(NormalizationTest, SoftmaxAlongTheFirstAxis) { check(softmax("37x64xf32", 0)); }
TEST_F(NormalizationTest, SoftmaxOfLongColumns) { check(softmax("2x301x3xf16", 1), KernelTolerance::half()); }
TEST_F(NormalizationTest, SoftmaxOfOneElement) { check(softmax("1x1xf32", 1)); }
TEST_F(NormalizationTest, SoftmaxOfNothing) { check(softmax("0x5xf32", 1)); }
TEST_F(NormalizationTest, LogSoftmax) {
  check(softmax("5x131xf32", 1, ", log = true"));
  check(softmax("2x17x5xf32", 1, ", log = true"));
  check(softmax("2x16411xf32", 1, ", log = true"));
}
TEST_F(NormalizationTest, MaskedRowsAreNaNOrZeros) {
  for (const char *shape : {"2x67xf32", "2x67x2xf32", "2x16900xf32"}) {
    for (const char *options : {", zeroMasked = true", ""}) {
      std::string text = softmax(shape, 1, options);
      auto module = parse(text);
      auto function = *module->getOps<mlir::func::FuncOp>().begin();
      auto type = mlir::cast<mlir::RankedTensorType>(function.getArgumentTypes()[0]);
      HostTensor x = randomTensor(DType::F32, Shape(type.getShape().begin(), type.getShape().end()), 3);
      int64_t row = x.size() / 2;
      for (int64_t i = 0; i < row; ++i)
        setElement(x, i, -INFINITY);
      setElement(x, row + 1, -INFINITY);
      check(text, {}, {x});
    }
  }
}
TEST_F(NormalizationTest, SoftmaxPassesNaNAndInfinity) {
  for (const char *shape : {"3x67xf32", "3x67x1xf32", "3x67x2xf32", "3x16900xf32"}) {
    std::string text = softmax(shape, 1);
    auto module = parse(text);
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    auto type = mlir::cast<mlir::RankedTensorType>(function.getArgumentTypes()[0]);
    HostTensor x = randomTensor(DType::F32, Shape(type.getShape().begin(), type.getShape().end()), 3);
    setElement(x, 3, NAN);
    setElement(x, x.size() / 3 + 5, INFINITY);
    check(text, {}, {x});
  }
}
TEST_F(NormalizationTest, SoftmaxWithPrologueAndEpilogue) {
  check(kernel({"3x65xf16", "65xf32"}, "3x65xf16",
               "%0 = gpuc.cast %a : tensor<3x65xf16> -> tensor<3x65xf32>\n"
               "%1 = gpuc.binary add %0, %b : tensor<3x65xf32>, tensor<65xf32> -> tensor<3x65xf32>\n"
               "%2 = gpuc.softmax %1 {axis = 1 : i64} : tensor<3x65xf32> -> tensor<3x65xf32>\n"
               "%r = gpuc.cast %2 : tensor<3x65xf32> -> tensor<3x65xf16>"),
        KernelTolerance::half());
}
TEST_F(NormalizationTest, SoftmaxOfAChannelsLastBuffer) {
  check("func.func @main(%in: tensor<2x5x3x4xf32>) -> tensor<2x5x3x4xf32> {\n"
        "  %t = gpuc.kernel \"pointwise\" (%a = %in : tensor<2x5x3x4xf32>) -> tensor<2x5x3x4xf32> attributes "
        "{storage = "
        "[[60, 1, 20, 5]]} {\n    %r = gpuc.unary neg %a : tensor<2x5x3x4xf32> -> tensor<2x5x3x4xf32>\n"
        "    gpuc.yield %r : tensor<2x5x3x4xf32>\n  }\n"
        "  %y = gpuc.kernel \"normalization\" (%a = %t : tensor<2x5x3x4xf32>) -> tensor<2x5x3x4xf32> {\n"
        "    %r = gpuc.softmax %a {axis = 1 : i64} : tensor<2x5x3x4xf32> -> tensor<2x5x3x4xf32>\n"
        "    gpuc.yield %r : tensor<2x5x3x4xf32>\n  }\n  return %y : tensor<2x5x3x4xf32>\n}\n");
}

TEST_F(NormalizationTest, LayerNorm) {
  check(layerNorm("3x5x7xf32", "7xf32", 2), {1e-4, 1e-5});
  check(layerNorm("5x768xf16", "768xf16", 1), KernelTolerance::half());
  check(layerNorm("3x1030xf32", "1030xf32", 1), {1e-4, 1e-5});
  check(layerNorm("3x511xf64", "511xf64", 1), {1e-11, 1e-12});
  check(layerNorm("2x16900xbf16", "16900xbf16", 1), KernelTolerance::bfloat());
}
TEST_F(NormalizationTest, LayerNormOverSeveralAxes) {
  check(layerNorm("3x5x7x4xf32", "5x7x4xf32", 1), {1e-4, 1e-5});
  check(layerNorm("3x5x7x4xf32", "7x1xf32", 1), {1e-4, 1e-5});
  check(layerNorm("3x5x7x4xf32", "1xf32", 2), {1e-4, 1e-5});
}
TEST_F(NormalizationTest, AConstantRowGivesTheBias) {
  for (const char *cols : {"768", "5000", "17000"}) {
    std::string n = cols, type = "2x" + n + "xf32";
    int64_t count = std::stoll(n);
    HostTensor x = randomTensor(DType::F32, {2, count}, 1), scale = randomTensor(DType::F32, {count}, 2),
               bias = randomTensor(DType::F32, {count}, 3);
    for (int64_t i = 0; i < 2 * count; ++i)
      setElement(x, i, 1000.1);
    check(layerNorm(type, n + "xf32", 1), KernelTolerance::exact(), {x, scale, bias});
  }
}
TEST_F(NormalizationTest, LayerNormWithoutParameters) {
  check(kernel({"3x65xf32"}, "3x65xf32",
               "%r = gpuc.layer_norm %a {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x65xf32> -> "
               "tensor<3x65xf32>"),
        {1e-4, 1e-5});
}
TEST_F(NormalizationTest, RmsNorm) {
  check(kernel({"3x4096xf16", "4096xf16"}, "3x4096xf16",
               "%r = gpuc.rms_norm %a scale %b {axis = 1 : i64, epsilon = 1.0e-6} : tensor<3x4096xf16>, "
               "tensor<4096xf16> -> "
               "tensor<3x4096xf16>"),
        KernelTolerance::half());
}
TEST_F(NormalizationTest, LayerNormAfterAResidualAddition) {
  check(kernel({"5x768xf16", "5x768xf16", "768xf16"}, "5x768xf16",
               "%0 = gpuc.binary add %a, %b : tensor<5x768xf16>, tensor<5x768xf16> -> tensor<5x768xf16>\n"
               "%r = gpuc.layer_norm %0 scale %c {axis = 1 : i64, epsilon = 1.0e-5} : tensor<5x768xf16>, "
               "tensor<768xf16> -> "
               "tensor<5x768xf16>"),
        {1e-2, 1e-2});
}

TEST_F(NormalizationTest, GroupNorm) {
  check(groupNorm("3x6x5x7xf32", 6, 2), {1e-4, 1e-5});
  check(groupNorm("2x8x16xf16", 8, 8, "f16"), KernelTolerance::half());
  check(groupNorm("2x4x130x140xf32", 4, 2), {1e-4, 1e-5});
  check(groupNorm("3x6xf32", 6, 2), {1e-3, 1e-4});
}
TEST_F(NormalizationTest, GroupNormOfAChannelsLastBuffer) {
  check("func.func @main(%in: tensor<2x8x3x4xf32>, %s: tensor<8xf32>, %b: tensor<8xf32>) -> "
        "tensor<2x8x3x4xf32> {\n"
        "  %t = gpuc.kernel \"pointwise\" (%a = %in : tensor<2x8x3x4xf32>) -> tensor<2x8x3x4xf32> attributes "
        "{storage = "
        "[[96, 1, 32, 8]]} {\n    %r = gpuc.unary neg %a : tensor<2x8x3x4xf32> -> tensor<2x8x3x4xf32>\n"
        "    gpuc.yield %r : tensor<2x8x3x4xf32>\n  }\n"
        "  %y = gpuc.kernel \"normalization\" (%a = %t : tensor<2x8x3x4xf32>, %c = %s : tensor<8xf32>, %d = "
        "%b : "
        "tensor<8xf32>) -> tensor<2x8x3x4xf32> attributes {storage = [[96, 1, 32, 8]]} {\n"
        "    %r = gpuc.group_norm %a scale %c bias %d {groups = 2 : i64, epsilon = 1.0e-5} : "
        "tensor<2x8x3x4xf32>, "
        "tensor<8xf32>, tensor<8xf32> -> tensor<2x8x3x4xf32>\n    gpuc.yield %r : tensor<2x8x3x4xf32>\n  }\n"
        "  return %y : tensor<2x8x3x4xf32>\n}\n",
        {1e-4, 1e-5});
}
TEST_F(NormalizationTest, FewLongRowsAreSplit) {
  check(groupNorm("2x4x97x101xf32", 4, 2), {1e-4, 1e-5});
  EXPECT_NE(units().find("partialMoments"), std::string::npos);
  check(layerNorm("2x16900xf16", "16900xf16", 1), KernelTolerance::half());
  check(kernel({"3x17001xf64", "17001xf64"}, "3x17001xf64",
               "%r = gpuc.rms_norm %a scale %b {axis = 1 : i64, epsilon = 1.0e-6} : tensor<3x17001xf64>, "
               "tensor<17001xf64> -> "
               "tensor<3x17001xf64>"),
        {1e-11, 1e-12});
}
TEST_F(NormalizationTest, ManyLongRowsAreStreamed) {
  check(layerNorm("217x16900xf16", "16900xf16", 1), KernelTolerance::half(), {}, false);
  EXPECT_NE(units().find("variant stream"), std::string::npos);
}
TEST_F(NormalizationTest, Lrn) {
  for (const char *type : {"2x7x3x5xf32", "2x5x4x8xf16", "1x3x2xf64"}) {
    std::string t = type;
    check(kernel({t}, t,
                 "%r = gpuc.lrn %a {size = 4 : i64, alpha = 0.3, beta = 0.75, bias = 1.5} : tensor<" + t +
                     "> -> tensor<" + t + ">"),
          KernelTolerance::half());
  }
}
TEST_F(NormalizationTest, CompilesForAllArchitectures) {
  checkCompiles(softmax("4096x1024xf16", 1));
  checkCompiles(softmax("4096x1021xf32", 1));
  checkCompiles(softmax("64x16384xf32", 1));
  checkCompiles(softmax("64x50257xf16", 1));
  checkCompiles(softmax("64x128x4096xf16", 1));
  checkCompiles(layerNorm("4096x768xf16", "768xf16", 1));
  checkCompiles(layerNorm("128x8192xf32", "8192xf32", 1));
  checkCompiles(layerNorm("128x4099xf64", "4099xf64", 1));
  checkCompiles(groupNorm("2x320x64x64xf16", 320, 32, "f16"));
  checkCompiles(layerNorm("1024x16900xf16", "16900xf16", 1));
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pointwise family: elementwise ops, movement ops and layouts.
#include "KernelTest.h"

using namespace gpuc;

namespace {

class PointwiseTest : public KernelTest {
protected:
  /// A pointwise kernel of one result: `body` computes %r of type `result` from %a, %b, … of `types`.
  static std::string kernel(std::vector<std::string> types, const std::string &result,
                            const std::string &body, const std::string &attributes = "") {
    std::string arguments, operands;
    for (size_t i = 0; i < types.size(); ++i) {
      std::string n(1, char('a' + i));
      arguments += (i ? ", %in_" : "%in_") + n + ": tensor<" + types[i] + ">";
      operands += (i ? ", %" : "%") + n + " = %in_" + n + " : tensor<" + types[i] + ">";
    }
    return "func.func @main(" + arguments + ") -> tensor<" + result +
           "> {\n  %y = gpuc.kernel \"pointwise\" (" + operands + ") -> tensor<" + result + "> " +
           attributes + " {\n" + body + "\n    gpuc.yield %r : tensor<" + result +
           ">\n  }\n  return %y : tensor<" + result + ">\n}\n";
  }
};

TEST_F(PointwiseTest, AddsContiguousTensorsOfPrimeExtents) {
  check(kernel({"3x5x7xf32", "3x5x7xf32"}, "3x5x7xf32",
               "%r = gpuc.binary add %a, %b : tensor<3x5x7xf32>, tensor<3x5x7xf32> -> tensor<3x5x7xf32>"));
  EXPECT_EQ(units().find(" % "), std::string::npos) << "contiguous operands need no division\n" << units();
}
TEST_F(PointwiseTest, BroadcastsChannelsAndScalars) {
  check(kernel({"2x3x5x8xf16", "3x1x1xf16", "f16"}, "2x3x5x8xf16", R"(
    %0 = gpuc.binary mul %a, %b : tensor<2x3x5x8xf16>, tensor<3x1x1xf16> -> tensor<2x3x5x8xf16>
    %1 = gpuc.binary add %0, %c : tensor<2x3x5x8xf16>, tensor<f16> -> tensor<2x3x5x8xf16>
    %r = gpuc.unary relu %1 : tensor<2x3x5x8xf16> -> tensor<2x3x5x8xf16>)"),
        KernelTolerance::half());
}
TEST_F(PointwiseTest, EveryUnaryKind) {
  const char *kinds[] = {"abs",      "neg",      "ceil",    "floor",     "round", "sign",      "exp",
                         "sin",      "cos",      "tan",     "atan",      "sinh",  "cosh",      "tanh",
                         "asinh",    "erf",      "sigmoid", "relu",      "gelu",  "gelu_tanh", "silu",
                         "softplus", "softsign", "mish",    "hard_swish"};
  for (const char *kind : kinds)
    check(kernel({"3x5xf32"}, "3x5xf32",
                 std::string("%r = gpuc.unary ") + kind + " %a : tensor<3x5xf32> -> tensor<3x5xf32>"),
          {1e-5, 1e-6}, {}, false);
  for (const char *kind : {"hard_sigmoid", "leaky_relu", "elu", "celu", "selu", "thresholded_relu"})
    check(kernel({"3x5xf32"}, "3x5xf32",
                 std::string("%r = gpuc.unary ") + kind +
                     " %a {alpha = 0.3, beta = 0.7} : tensor<3x5xf32> -> tensor<3x5xf32>"),
          {1e-5, 1e-6}, {}, false);
}
TEST_F(PointwiseTest, IntegerBinaryKindsWrap) {
  for (const char *type : {"i8", "ui8", "i16", "i32", "i64", "ui64"})
    for (const char *kind : {"add", "sub", "mul", "div", "mod", "fmod", "min", "max", "bit_xor"}) {
      std::string t = std::string("tensor<7x5x") + type + ">";
      check(kernel({std::string("7x5x") + type, std::string("7x5x") + type}, std::string("7x5x") + type,
                   std::string("%r = gpuc.binary ") + kind + " %a, %b : " + t + ", " + t + " -> " + t),
            KernelTolerance::exact(), {}, false);
    }
}
TEST_F(PointwiseTest, ComparisonSelectAndBools) {
  check(kernel({"3x8xf32", "8xf32", "3x1xi1"}, "3x8xi1", R"(
    %0 = gpuc.binary lt %a, %b : tensor<3x8xf32>, tensor<8xf32> -> tensor<3x8xi1>
    %r = gpuc.binary and %0, %c : tensor<3x8xi1>, tensor<3x1xi1> -> tensor<3x8xi1>)"),
        KernelTolerance::exact());
  check(
      kernel({"3x1xi1", "3x8xi64", "i64"}, "3x8xi64",
             "%r = gpuc.select %a, %b, %c : tensor<3x1xi1>, tensor<3x8xi64>, tensor<i64> -> tensor<3x8xi64>"),
      KernelTolerance::exact());
}
TEST_F(PointwiseTest, ChainsOfCastsRoundEachTime) {
  check(kernel({"5x7xf32"}, "5x7xf32", R"(
    %0 = gpuc.cast %a : tensor<5x7xf32> -> tensor<5x7xf16>
    %1 = gpuc.cast %0 : tensor<5x7xf16> -> tensor<5x7xf32>
    %2 = gpuc.cast %1 : tensor<5x7xf32> -> tensor<5x7xbf16>
    %r = gpuc.cast %2 : tensor<5x7xbf16> -> tensor<5x7xf32>)"),
        KernelTolerance::exact());
}
TEST_F(PointwiseTest, CastsBetweenAllTypes) {
  const char *types[] = {"i1", "i8", "ui8", "i32", "i64", "ui16", "f16", "bf16", "f32", "f64"};
  for (const char *from : types)
    for (const char *to : types)
      check(kernel({std::string("13x") + from}, std::string("13x") + to,
                   std::string("%r = gpuc.cast %a : tensor<13x") + from + "> -> tensor<13x" + to + ">"),
            KernelTolerance::exact(), {}, false);
}
TEST_F(PointwiseTest, ConstantsInTheRegion) {
  check(kernel({"2x3xf32"}, "2x3xf32", R"(
    %c = gpuc.constant dense<1.5> : tensor<f32>
    %t = gpuc.constant dense<[1.0, -2.5, 0x7F800000]> : tensor<3xf32>
    %0 = gpuc.binary mul %a, %c : tensor<2x3xf32>, tensor<f32> -> tensor<2x3xf32>
    %r = gpuc.binary add %0, %t : tensor<2x3xf32>, tensor<3xf32> -> tensor<2x3xf32>)"));
}
TEST_F(PointwiseTest, TransposeOfSmallTensor) {
  check(
      kernel({"3x5x7xf32"}, "7x3x5xf32",
             "%r = gpuc.transpose %a {perm = array<i64: 2, 0, 1>} : tensor<3x5x7xf32> -> tensor<7x3x5xf32>"),
      KernelTolerance::exact());
}
TEST_F(PointwiseTest, LargeTransposesTurnThroughSharedMemory) {
  for (std::string type : {"f32", "f16", "i8", "f64"}) {
    check(kernel({"2x67x131x" + type}, "2x131x67x" + type,
                 "%r = gpuc.transpose %a {perm = array<i64: 0, 2, 1>} : tensor<2x67x131x" + type +
                     "> -> tensor<2x131x67x" + type + ">"),
          KernelTolerance::exact());
    EXPECT_NE(units().find("turningTile"), std::string::npos);
    check(kernel({"2x64x128x" + type}, "2x128x64x" + type,
                 "%r = gpuc.transpose %a {perm = array<i64: 0, 2, 1>} : tensor<2x64x128x" + type +
                     "> -> tensor<2x128x64x" + type + ">"),
          KernelTolerance::exact());
  }
}
TEST_F(PointwiseTest, LayoutChangeWithAddition) {
  check(kernel({"2x24x5x7xf16", "2x24x5x7xf16", "24x1x1xf16"}, "2x24x5x7xf16", R"(
    %0 = gpuc.binary add %a, %b : tensor<2x24x5x7xf16>, tensor<2x24x5x7xf16> -> tensor<2x24x5x7xf16>
    %r = gpuc.binary add %0, %c : tensor<2x24x5x7xf16>, tensor<24x1x1xf16> -> tensor<2x24x5x7xf16>)",
               "attributes {storage = [[840, 1, 168, 24]]}"),
        KernelTolerance::half());
  EXPECT_NE(units().find("turningTile"), std::string::npos);
}
TEST_F(PointwiseTest, ReshapesKeepWhatTheyCan) {
  check(kernel({"6x35xf32"}, "2x3x5x7xf32", "%r = gpuc.reshape %a : tensor<6x35xf32> -> tensor<2x3x5x7xf32>"),
        KernelTolerance::exact());
  check(kernel({"6x35xf32"}, "7x5x3x2xf32", R"(
    %0 = gpuc.reshape %a : tensor<6x35xf32> -> tensor<2x3x5x7xf32>
    %r = gpuc.transpose %0 {perm = array<i64: 3, 2, 1, 0>} : tensor<2x3x5x7xf32> -> tensor<7x5x3x2xf32>)"),
        KernelTolerance::exact());
  check(kernel({"6x35xf32"}, "10x21xf32", R"(
    %0 = gpuc.transpose %a {perm = array<i64: 1, 0>} : tensor<6x35xf32> -> tensor<35x6xf32>
    %r = gpuc.reshape %0 : tensor<35x6xf32> -> tensor<10x21xf32>)"),
        KernelTolerance::exact());
}
TEST_F(PointwiseTest, SlicesExpandsAndTiles) {
  check(kernel({"7x9xf32"}, "3x4xf32",
               "%r = gpuc.slice %a {starts = array<i64: 6, 1>, steps = array<i64: -2, 2>} : tensor<7x9xf32> "
               "-> tensor<3x4xf32>"),
        KernelTolerance::exact());
  check(kernel({"3x1xf32"}, "2x3x5xf32", "%r = gpuc.expand %a : tensor<3x1xf32> -> tensor<2x3x5xf32>"),
        KernelTolerance::exact());
  check(kernel({"3x5xf32"}, "6x15xf32",
               "%r = gpuc.tile %a {repeats = array<i64: 2, 3>} : tensor<3x5xf32> -> tensor<6x15xf32>"),
        KernelTolerance::exact());
}
TEST_F(PointwiseTest, ConcatReadsOnlyTheRightOperand) {
  check(kernel({"3x5xf32", "3x0xf32", "3x2xf32"}, "3x7xf32",
               "%r = gpuc.concat %a, %b, %c {axis = 1 : i64} : (tensor<3x5xf32>, tensor<3x0xf32>, "
               "tensor<3x2xf32>) -> tensor<3x7xf32>"),
        KernelTolerance::exact());
  check(kernel({"4x16xf16", "4x8xf16"}, "4x24xf16", R"(
    %0 = gpuc.unary neg %b : tensor<4x8xf16> -> tensor<4x8xf16>
    %r = gpuc.concat %a, %0 {axis = 1 : i64} : (tensor<4x16xf16>, tensor<4x8xf16>) -> tensor<4x24xf16>)"),
        KernelTolerance::exact());
  EXPECT_NE(units().find("ldLanes<8>"), std::string::npos) << units();
}
TEST_F(PointwiseTest, PadsInEveryMode) {
  for (const char *mode : {"reflect", "edge", "wrap"})
    check(
        kernel(
            {"4x5xf32"}, "7x9xf32",
            std::string("%r = gpuc.pad ") + mode +
                " %a {low = array<i64: 1, 2>, high = array<i64: 2, 2>} : tensor<4x5xf32> -> tensor<7x9xf32>"),
        KernelTolerance::exact());
  check(kernel({"4x5xf32", "f32"}, "6x9xf32",
               "%r = gpuc.pad constant %a, %b {low = array<i64: -1, 2>, high = array<i64: 3, 2>} : "
               "tensor<4x5xf32>, tensor<f32> -> tensor<6x9xf32>"),
        KernelTolerance::exact());
  check(kernel({"2x8xf16"}, "4x24xf16", R"(
    %v = gpuc.constant dense<2.0> : tensor<f16>
    %r = gpuc.pad constant %a, %v {low = array<i64: 1, 8>, high = array<i64: 1, 8>} : tensor<2x8xf16>, tensor<f16> -> tensor<4x24xf16>)"),
        KernelTolerance::exact());
}
TEST_F(PointwiseTest, TriangularParts) {
  for (std::string upper : {"true", "false"})
    for (std::string k : {"-2", "0", "1", "9"})
      check(kernel({"2x5x7xf32"}, "2x5x7xf32",
                   "%r = gpuc.trilu %a {k = " + k + " : i64, upper = " + upper +
                       "} : tensor<2x5x7xf32> -> tensor<2x5x7xf32>"),
            KernelTolerance::exact());
}
TEST_F(PointwiseTest, Gathers) {
  check(
      kernel(
          {"7x8xf32", "2x3xi64"}, "2x3x8xf32",
          "%r = gpuc.gather %a, %b {axis = 0 : i64} : tensor<7x8xf32>, tensor<2x3xi64> -> tensor<2x3x8xf32>"),
      KernelTolerance::exact(),
      {randomTensor(DType::F32, {7, 8}, 1), randomIntegers(DType::I64, {2, 3}, -7, 6, 2)});
  EXPECT_NE(units().find("ldLanes<4>"), std::string::npos) << units();
  check(kernel({"3x5xf32", "3x2xi32"}, "3x2xf32",
               "%r = gpuc.gather_elements %a, %b {axis = 1 : i64} : tensor<3x5xf32>, tensor<3x2xi32> -> "
               "tensor<3x2xf32>"),
        KernelTolerance::exact(),
        {randomTensor(DType::F32, {3, 5}, 1), randomIntegers(DType::I32, {3, 2}, -5, 4, 2)});
  check(kernel({"3x5x4xf32", "3x2x1xi64"}, "3x2x4xf32",
               "%r = gpuc.gather_nd %a, %b {batchDims = 1 : i64} : tensor<3x5x4xf32>, tensor<3x2x1xi64> -> "
               "tensor<3x2x4xf32>"),
        KernelTolerance::exact(),
        {randomTensor(DType::F32, {3, 5, 4}, 1), randomIntegers(DType::I64, {3, 2, 1}, -5, 4, 2)});
}
TEST_F(PointwiseTest, SeveralResultsAndPaddedStorage) {
  check(R"(func.func @main(%x: tensor<3x8xf32>) -> (tensor<3x8xf32>, tensor<3x8xf16>) {
    %y:2 = gpuc.kernel "pointwise" (%a = %x : tensor<3x8xf32>) -> tensor<3x8xf32>, tensor<3x8xf16>
        attributes {storage = [[24, 1], [1, 3]]} {
      %0 = gpuc.unary exp %a : tensor<3x8xf32> -> tensor<3x8xf32>
      %1 = gpuc.cast %0 : tensor<3x8xf32> -> tensor<3x8xf16>
      gpuc.yield %0, %1 : tensor<3x8xf32>, tensor<3x8xf16>
    }
    return %y#0, %y#1 : tensor<3x8xf32>, tensor<3x8xf16>
  })",
        {1e-5, 1e-3});
}
TEST_F(PointwiseTest, EmptyAndScalarResults) {
  check(kernel({"3x0xf32"}, "3x0xf32", "%r = gpuc.unary exp %a : tensor<3x0xf32> -> tensor<3x0xf32>"));
  check(kernel({"f32"}, "f32", "%r = gpuc.unary exp %a : tensor<f32> -> tensor<f32>"));
}
TEST_F(PointwiseTest, LargeTensorsUnroll) {
  check(kernel({"300007xf32", "300007xf32"}, "300007xf32",
               "%r = gpuc.binary add %a, %b : tensor<300007xf32>, tensor<300007xf32> -> tensor<300007xf32>"),
        {}, {}, false);
}
TEST_F(PointwiseTest, NamesOfTheModelStayInTheBanner) {
  auto kernels = emitAll(R"(func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
    %y = gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>) -> tensor<3xf32> {
      %0 = gpuc.unary exp %a : tensor<3xf32> -> tensor<3xf32> loc("evil*/\0A#error \\")
      gpuc.yield %0 : tensor<3xf32>
    }
    return %y : tensor<3xf32>
  })");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].text.find("\n#error"), std::string::npos);
  EXPECT_EQ(kernels[0].text.find('\\'), std::string::npos);
}
TEST_F(PointwiseTest, RefusesResultsOfDifferentShapes) {
  checkRefused(R"(func.func @main(%x: tensor<3xf32>, %z: tensor<5xf32>) -> (tensor<3xf32>, tensor<5xf32>) {
    %y:2 = gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>, %b = %z : tensor<5xf32>) -> tensor<3xf32>, tensor<5xf32> {
      gpuc.yield %a, %b : tensor<3xf32>, tensor<5xf32>
    }
    return %y#0, %y#1 : tensor<3xf32>, tensor<5xf32>
  })",
               "must have one shape");
}
TEST_F(PointwiseTest, CompilesEverywhere) {
  checkCompiles(kernel({"64x256x56x56xf16", "256x1x1xf16"}, "64x256x56x56xf16", R"(
    %0 = gpuc.binary add %a, %b : tensor<64x256x56x56xf16>, tensor<256x1x1xf16> -> tensor<64x256x56x56xf16>
    %r = gpuc.unary gelu %0 : tensor<64x256x56x56xf16> -> tensor<64x256x56x56xf16>)"));
  checkCompiles(kernel(
      {"8x64x128xf32"}, "8x128x64xf32",
      "%r = gpuc.transpose %a {perm = array<i64: 0, 2, 1>} : tensor<8x64x128xf32> -> tensor<8x128x64xf32>"));
}

} // namespace

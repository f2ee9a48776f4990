// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reduction family: kinds, types, layouts, prologues and epilogues.
#include "KernelTest.h"
#include "gpuc/Support/OpKinds.h"

using namespace gpuc;

namespace {

class ReductionTest : public KernelTest {
protected:
  /// One gpuc.reduce of `in` to `out` (shapes with types, "3x5xf32").
  static std::string reduce(const std::string &kind, const std::string &in, const std::string &out,
                            const std::string &axes, bool keepdims = false,
                            const std::string &attributes = "") {
    return "func.func @main(%x: tensor<" + in + ">) -> tensor<" + out +
           "> {\n %y = gpuc.kernel \"reduction\" (%a = %x : tensor<" + in + ">) -> tensor<" + out + "> " +
           attributes + "{\n %r = gpuc.reduce " + kind + " %a {axes = array<i64" +
           (axes.empty() ? "" : ": " + axes) + ">, keepdims = " + (keepdims ? "true" : "false") +
           "} : tensor<" + in + "> -> tensor<" + out + ">\n gpuc.yield %r : tensor<" + out +
           ">\n }\n return %y : tensor<" + out + ">\n}\n";
  }
  static std::string arg(bool isMax, const std::string &in, const std::string &out, int axis, bool last) {
    return "func.func @main(%x: tensor<" + in + ">) -> tensor<" + out +
           "> {\n %y = gpuc.kernel \"reduction\" (%a = %x : tensor<" + in + ">) -> tensor<" + out +
           "> {\n %r = gpuc.arg_reduce %a {isMax = " + (isMax ? "true" : "false") +
           ", axis = " + std::to_string(axis) +
           " : i64, keepdims = false, selectLast = " + (last ? "true" : "false") + "} : tensor<" + in +
           "> -> tensor<" + out + ">\n gpuc.yield %r : tensor<" + out + ">\n }\n return %y : tensor<" + out +
           ">\n}\n";
  }
};

TEST_F(ReductionTest, EveryKindOverRows) {
  for (const char *kind : {"sum", "mean", "max", "min", "prod", "l1", "l2", "log_sum_exp", "sum_square"})
    check(reduce(kind, "3x5x7xf32", "3x5xf32", "2"), {1e-5, 1e-5});
  check(reduce("log_sum", "3x7xf32", "3xf32", "1"), {1e-5, 1e-5},
        {tensorOf(DType::F32, {3, 7}, std::vector<double>(21, 1.5))});
}
TEST_F(ReductionTest, EveryKindOverColumns) {
  for (const char *kind : {"sum", "max", "prod", "l2", "log_sum_exp"})
    check(reduce(kind, "3x11x5xf32", "3x5xf32", "1"), {1e-5, 1e-5});
}
TEST_F(ReductionTest, VectorisedColumns) {
  check(reduce("mean", "2x37x64xf16", "2x64xf16", "1"), KernelTolerance::half());
}
TEST_F(ReductionTest, OuterAndInnerAxesAtOnce) {
  check(reduce("sum", "3x5x7x4xf32", "1x5x1x4xf32", "0, 2", true));
}
TEST_F(ReductionTest, KeptAxisBetweenReducedOnes) {
  check(reduce("sum", "3x5x7xf32", "5xf32", "0, 2"), {1e-5, 1e-5});
}
TEST_F(ReductionTest, WholeTensorOfPrimeSize) { check(reduce("sum", "1009xf32", "f32", "0"), {1e-5, 1e-4}); }
TEST_F(ReductionTest, NoAxes) { check(reduce("l2", "3x5xf32", "3x5xf32", "")); }
TEST_F(ReductionTest, LongRowIsSplit) {
  check(reduce("sum", "2x100003xf32", "2xf32", "1"), {1e-5, 1e-3}, {}, false);
  EXPECT_NE(units().find("combineTile"), std::string::npos);
}
TEST_F(ReductionTest, LongColumnsAreSplit) {
  check(reduce("max", "5003x8xf32", "8xf32", "0"), {}, {}, false);
  EXPECT_NE(units().find("combineTile"), std::string::npos);
}
TEST_F(ReductionTest, BlockPerRow) { check(reduce("sum", "3x2048xbf16", "3xbf16", "1"), {1e-2, 0.1}); }
TEST_F(ReductionTest, EmptyAxisGivesTheIdentity) {
  for (const char *kind : {"sum", "prod", "max", "min", "log_sum_exp", "mean"})
    check(reduce(kind, "3x0xf32", "3xf32", "1"));
  check(reduce("max", "0x3xi32", "3xi32", "0"), KernelTolerance::exact());
}
TEST_F(ReductionTest, EmptyResult) { check(reduce("sum", "0x5xf32", "0xf32", "1")); }
TEST_F(ReductionTest, IntegersAreExact) {
  for (const char *type : {"i8", "ui8", "i16", "i32", "i64", "ui32", "ui64"})
    for (const char *kind : {"sum", "mean", "prod", "max", "min", "l1", "sum_square", "l2"})
      check(reduce(kind, std::string("3x11x") + type, std::string("3x") + type, "1"),
            KernelTolerance::exact(), {}, false);
}
TEST_F(ReductionTest, WideIntegerSumsKeepAllBits) {
  HostTensor x(DType::I64, {2, 3});
  for (int i = 0; i < 6; ++i)
    x.mutableData<int64_t>()[i] = (int64_t(1) << 60) + i * 3;
  check(reduce("sum", "2x3xi64", "2xi64", "1"), KernelTolerance::exact(), {x});
}
TEST_F(ReductionTest, Bools) {
  check(reduce("any", "3x7xi1", "3xi1", "1"), KernelTolerance::exact());
  check(reduce("all", "7x3xi1", "3xi1", "0"), KernelTolerance::exact());
}
TEST_F(ReductionTest, DoublePrecision) {
  check(reduce("log_sum_exp", "3x70xf64", "3xf64", "1"), {1e-12, 1e-12});
}
TEST_F(ReductionTest, NaNAndInfinityPass) {
  double nan = NAN, inf = INFINITY;
  HostTensor x =
      tensorOf(DType::F32, {5, 3}, {1, nan, 2, inf, 1, 0, -inf, -inf, -inf, -inf, 3, 4, inf, -inf, 1});
  for (const char *kind : {"max", "min", "sum", "log_sum_exp"})
    check(reduce(kind, "5x3xf32", "5xf32", "1"), {1e-5, 1e-5}, {x});
}
TEST_F(ReductionTest, ArgReduceTiesAndNaN) {
  double nan = NAN;
  HostTensor x = tensorOf(DType::F32, {3, 4}, {1, 5, 5, 2, nan, 7, nan, 9, -1, -1, -1, -1});
  for (bool isMax : {true, false})
    for (bool last : {true, false})
      check(arg(isMax, "3x4xf32", "3xi64", 1, last), KernelTolerance::exact(), {x});
}
TEST_F(ReductionTest, ArgReduceColumnsAndLongRows) {
  check(arg(true, "37x5xi32", "5xi64", 0, false), KernelTolerance::exact());
  check(arg(false, "2x4099xf16", "2xi64", 1, true), KernelTolerance::exact(), {}, false);
}
TEST_F(ReductionTest, PrologueAndEpilogueAreFused) {
  check(
      R"(func.func @main(%x: tensor<3x5x8xf16>, %s: tensor<8xf16>, %b: tensor<5x1xf32>) -> (tensor<3x5x1xf32>, tensor<3x5x1xf16>) {
    %y:2 = gpuc.kernel "reduction" (%a = %x : tensor<3x5x8xf16>, %g = %s : tensor<8xf16>, %c = %b : tensor<5x1xf32>)
        -> tensor<3x5x1xf32>, tensor<3x5x1xf16> {
      %0 = gpuc.binary mul %a, %g : tensor<3x5x8xf16>, tensor<8xf16> -> tensor<3x5x8xf16>
      %1 = gpuc.unary exp %0 : tensor<3x5x8xf16> -> tensor<3x5x8xf16>
      %2 = gpuc.reduce sum %1 {axes = array<i64: 2>, keepdims = true} : tensor<3x5x8xf16> -> tensor<3x5x1xf16>
      %3 = gpuc.cast %2 : tensor<3x5x1xf16> -> tensor<3x5x1xf32>
      %4 = gpuc.binary add %3, %c : tensor<3x5x1xf32>, tensor<5x1xf32> -> tensor<3x5x1xf32>
      gpuc.yield %4, %2 : tensor<3x5x1xf32>, tensor<3x5x1xf16>
    }
    return %y#0, %y#1 : tensor<3x5x1xf32>, tensor<3x5x1xf16>
  })",
      {1e-2, 1e-2});
}
TEST_F(ReductionTest, ChannelsLastOperandAndTransposedResult) {
  check(R"(func.func @main(%x: tensor<2x8x3x5xf32>) -> tensor<5x2x8xf32> {
    %t = gpuc.kernel "pointwise" (%a = %x : tensor<2x8x3x5xf32>) -> tensor<2x8x3x5xf32> attributes {storage = [[120, 1, 40, 8]]} {
      %r = gpuc.unary neg %a : tensor<2x8x3x5xf32> -> tensor<2x8x3x5xf32>
      gpuc.yield %r : tensor<2x8x3x5xf32>
    }
    %y = gpuc.kernel "reduction" (%a = %t : tensor<2x8x3x5xf32>) -> tensor<5x2x8xf32> {
      %0 = gpuc.reduce mean %a {axes = array<i64: 2>, keepdims = false} : tensor<2x8x3x5xf32> -> tensor<2x8x5xf32>
      %r = gpuc.transpose %0 {perm = array<i64: 2, 0, 1>} : tensor<2x8x5xf32> -> tensor<5x2x8xf32>
      gpuc.yield %r : tensor<5x2x8xf32>
    }
    return %y : tensor<5x2x8xf32>
  })");
  EXPECT_NE(units().find("columnTile"), std::string::npos);
}
TEST_F(ReductionTest, CompilesEverywhere) {
  checkCompiles(reduce("sum", "512x1000xf16", "512xf16", "1"));
  checkCompiles(reduce("log_sum_exp", "8x333x64xf32", "8x64xf32", "1"));
  checkCompiles(reduce("sum", "1000003xf32", "f32", "0"));
  checkCompiles(arg(true, "128x1000xf32", "128xi64", 1, false));
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The sort family: top-k of rows that fit a block and of longer ones, all types, ties, NaN, any axis.
#include "KernelTest.h"
#include <cmath>

using namespace gpuc;

namespace {

std::string topk(const std::string &x, const std::string &values, int k, int axis, bool largest) {
  std::string indices = values.substr(0, values.rfind('x')) + "xi64",
              types = "tensor<" + values + ">, tensor<" + indices + ">";
  return "func.func @main(%in: tensor<" + x + ">) -> (" + types +
         ") {\n  %y:2 = gpuc.kernel \"sort\" (%a = %in : tensor<" + x + ">) -> " + types +
         " {\n    %v, %i = gpuc.topk %a {k = " + std::to_string(k) +
         " : i64, axis = " + std::to_string(axis) + " : i64, largest = " + (largest ? "true" : "false") +
         "} : tensor<" + x + "> -> " + types + "\n    gpuc.yield %v, %i : " + types +
         "\n  }\n  return %y#0, %y#1 : " + types + "\n}\n";
}

class SortTest : public KernelTest {};

TEST_F(SortTest, AllTypes) {
  for (const char *type :
       {"f32", "f16", "bf16", "f64", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64"})
    for (bool largest : {true, false}) {
      std::string t = type;
      check(topk("3x37x" + t, "3x11x" + t, 11, 1, largest), KernelTolerance::exact());
    }
}
TEST_F(SortTest, EveryAxis) {
  check(topk("3x5x7xf32", "2x5x7xf32", 2, 0, true), KernelTolerance::exact());
  check(topk("3x5x7xf32", "3x3x7xf32", 3, 1, false), KernelTolerance::exact());
  check(topk("3x5x7xf32", "3x5x7xf32", 7, 2, true), KernelTolerance::exact());
}
TEST_F(SortTest, SmallExtents) {
  check(topk("3x1xf32", "3x1xf32", 1, 1, true), KernelTolerance::exact());
  check(topk("3x5xf32", "3x0xf32", 0, 1, true), KernelTolerance::exact());
  check(topk("0x5xf32", "0x2xf32", 2, 1, true), KernelTolerance::exact());
}
TEST_F(SortTest, TiesTakeTheLowerIndex) {
  for (bool largest : {true, false}) {
    check(topk("2x101xf32", "2x101xf32", 101, 1, largest), KernelTolerance::exact(),
          {randomIntegers(DType::F32, {2, 101}, -2, 2, 7)});
    check(topk("2x101xi64", "2x50xi64", 50, 1, largest), KernelTolerance::exact(),
          {randomIntegers(DType::I64, {2, 101}, -2, 2, 7)});
  }
}
TEST_F(SortTest, NaNIsTheGreatestAndZerosAreEqual) {
  HostTensor x = tensorOf(DType::F32, {1, 9}, {1, NAN, -0.0, 0.0, -INFINITY, INFINITY, NAN, -0.0, -1});
  for (bool largest : {true, false})
    check(topk("1x9xf32", "1x9xf32", 9, 1, largest), KernelTolerance::exact(), {x});
}
TEST_F(SortTest, LongRows) {
  for (bool largest : {true, false}) {
    check(topk("2x20011xf32", "2x7xf32", 7, 1, largest), KernelTolerance::exact(), {}, false);
    check(topk("1x20011xi64", "1x301xi64", 301, 1, largest), KernelTolerance::exact(), {}, false);
  }
  check(topk("1x33000xf16", "1x33000xf16", 33000, 1, true), KernelTolerance::exact(), {}, false);
  check(topk("9001x2xf32", "5000x2xf32", 5000, 0, true), KernelTolerance::exact(), {}, false);
}
TEST_F(SortTest, RowsOfOneBlock) {
  check(topk("2x5000xf32", "2x100xf32", 100, 1, true), KernelTolerance::exact(), {}, false);
}
TEST_F(SortTest, Prologue) {
  check("func.func @main(%in: tensor<3x17xf32>) -> (tensor<3x4xf32>, tensor<3x4xi64>) {\n"
        "  %y:2 = gpuc.kernel \"sort\" (%a = %in : tensor<3x17xf32>) -> tensor<3x4xf32>, tensor<3x4xi64> {\n"
        "    %0 = gpuc.unary abs %a : tensor<3x17xf32> -> tensor<3x17xf32>\n"
        "    %v, %i = gpuc.topk %0 {k = 4 : i64, axis = 1 : i64, largest = true} : tensor<3x17xf32> -> "
        "tensor<3x4xf32>, tensor<3x4xi64>\n"
        "    gpuc.yield %v, %i : tensor<3x4xf32>, tensor<3x4xi64>\n  }\n  return %y#0, %y#1 : "
        "tensor<3x4xf32>, tensor<3x4xi64>\n}\n",
        KernelTolerance::exact());
}
TEST_F(SortTest, CompilesForAllArchitectures) {
  checkCompiles(topk("32x1000xf32", "32x5xf32", 5, 1, true));
  checkCompiles(topk("1x672000xf16", "1x300xf16", 300, 1, true));
  checkCompiles(topk("32x4000xi64", "32x5xi64", 5, 1, true));
}

} // namespace

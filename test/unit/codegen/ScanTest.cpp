// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scan family: running sums of all types along every axis, both directions, with and without the element
// itself.
#include "KernelTest.h"
#include <cmath>

using namespace gpuc;

namespace {

std::string cumsum(const std::string &type, int axis, bool exclusive, bool reverse) {
  return "func.func @main(%in: tensor<" + type + ">) -> tensor<" + type +
         "> {\n  %y = gpuc.kernel \"scan\" (%a = %in : tensor<" + type + ">) -> tensor<" + type +
         "> {\n    %r = gpuc.cumsum %a {axis = " + std::to_string(axis) +
         " : i64, exclusive = " + (exclusive ? "true" : "false") +
         ", reverse = " + (reverse ? "true" : "false") + "} : tensor<" + type + "> -> tensor<" + type +
         ">\n    gpuc.yield %r : tensor<" + type + ">\n  }\n  return %y : tensor<" + type + ">\n}\n";
}

class ScanTest : public KernelTest {
protected:
  void checkAll(const std::string &type, int axis, KernelTolerance tolerance = KernelTolerance{1e-5, 1e-4}) {
    for (bool exclusive : {false, true})
      for (bool reverse : {false, true})
        check(cumsum(type, axis, exclusive, reverse), tolerance);
  }
};

TEST_F(ScanTest, Rows) {
  checkAll("3x37xf32", 1);
  checkAll("5x512xf32", 1);
  checkAll("2x5003xf32", 1);
}
TEST_F(ScanTest, Columns) {
  checkAll("3x37x8xf32", 1);
  checkAll("37x5xf32", 0);
  checkAll("300x3xf32", 0); // few long columns: rows with strides
}
TEST_F(ScanTest, AllTypes) {
  for (const char *type : {"i8", "ui8", "i16", "i32", "ui32", "i64", "ui64"}) {
    checkAll(std::string("3x130x") + type, 1, KernelTolerance::exact());
    checkAll(std::string("13x8x") + type, 0, KernelTolerance::exact());
  }
  checkAll("3x130xf16", 1, {1e-2, 1e-2});
  checkAll("3x130xbf16", 1, {3e-2, 6e-2});
  checkAll("3x130xf64", 1, {1e-12, 1e-12});
}
TEST_F(ScanTest, SmallExtents) {
  checkAll("1xf32", 0);
  checkAll("0x3xf32", 0);
  checkAll("3x1xf32", 1);
}
TEST_F(ScanTest, Infinities) {
  HostTensor x = randomTensor(DType::F32, {7, 4}, 3);
  setElement(x, 9, INFINITY);
  setElement(x, 14, -INFINITY);
  setElement(x, 11, NAN);
  check(cumsum("7x4xf32", 0, false, false), {1e-5, 1e-5}, {x});
  check(cumsum("7x4xf32", 1, false, false), {1e-5, 1e-5}, {x});
}
TEST_F(ScanTest, CompilesForAllArchitectures) {
  checkCompiles(cumsum("128x4096xf32", 1, false, false));
  checkCompiles(cumsum("128x4096xi64", 1, true, true));
  checkCompiles(cumsum("32x128x4096xf16", 1, false, false));
}

} // namespace

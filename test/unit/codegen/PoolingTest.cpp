// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The pooling family against the reference: ranks, paddings, dilations, indices, divisors, layouts and types.
#include "KernelTest.h"
#include <cmath>

using namespace gpuc;

namespace {

struct Window {
  std::string kernel, strides, low, high, dilations;
  std::string text() const {
    return "kernel = array<i64: " + kernel + ">, strides = array<i64: " + strides +
           ">, low = array<i64: " + low + ">, high = array<i64: " + high +
           ">, dilations = array<i64: " + dilations + ">";
  }
};

std::string pool(const std::string &op, const std::string &x, const std::string &y, const Window &w,
                 const std::string &options = "", const std::string &indices = "") {
  std::string two = indices.empty() ? "" : ", tensor<" + indices + ">", types = "tensor<" + y + ">" + two;
  std::string results = indices.empty() ? types : "(" + types + ")";
  std::string outs = indices.empty() ? "%y" : "%y:2", returned = indices.empty() ? "%y" : "%y#0, %y#1";
  std::string inner = indices.empty() ? "%r" : "%r, %i", yielded = indices.empty() ? "%r" : "%r, %i";
  return "func.func @main(%in: tensor<" + x + ">) -> " + results + " {\n  " + outs +
         " = gpuc.kernel \"pooling\" (%a = %in : tensor<" + x + ">) -> " + types + " {\n    " + inner +
         " = gpuc." + op + " %a {" + w.text() + options + "} : tensor<" + x + "> -> " + types +
         "\n    gpuc.yield " + yielded + " : " + types + "\n  }\n  return " + returned + " : " + types +
         "\n}\n";
}

class PoolingTest : public KernelTest {};

TEST_F(PoolingTest, MaxOfOneToThreeSpatialAxes) {
  check(pool("max_pool", "2x3x11xf32", "2x3x5xf32", {"3", "2", "0", "0", "1"}), KernelTolerance::exact());
  check(pool("max_pool", "2x3x7x11xf32", "2x3x4x6xf32", {"3, 3", "2, 2", "1, 1", "1, 1", "1, 1"}),
        KernelTolerance::exact());
  check(pool("max_pool", "1x2x5x4x7xf32", "1x2x4x3x6xf32",
             {"2, 2, 2", "1, 1, 1", "0, 0, 0", "0, 0, 0", "1, 1, 1"}),
        KernelTolerance::exact());
}
TEST_F(PoolingTest, MaxOfAllTypes) {
  for (const char *type : {"f16", "bf16", "f64", "i8", "ui8", "i32", "i64", "ui64", "i16"}) {
    std::string t = type;
    check(pool("max_pool", "2x3x7x8x" + t, "2x3x4x4x" + t, {"3, 3", "2, 2", "1, 1", "1, 1", "1, 1"}),
          KernelTolerance::exact());
  }
}
TEST_F(PoolingTest, MaxWithIndices) {
  for (const char *options : {"", ", columnMajor = true"}) {
    check(pool("max_pool", "2x3x7x8xf32", "2x3x4x4xf32", {"3, 3", "2, 2", "1, 1", "1, 1", "1, 1"}, options,
               "2x3x4x4xi64"),
          KernelTolerance::exact());
    check(pool("max_pool", "2x3x9x8xi8", "2x3x5x4xi8", {"3, 3", "2, 2", "2, 2", "2, 1", "2, 2"}, options,
               "2x3x5x4xi64"),
          KernelTolerance::exact(), {randomIntegers(DType::I8, {2, 3, 9, 8}, 0, 2, 5)});
  }
}
TEST_F(PoolingTest, MaxPassesNaN) {
  HostTensor x = randomTensor(DType::F32, {1, 2, 6, 6}, 3);
  setElement(x, 7, NAN);
  setElement(x, 14, NAN);
  for (int i = 36; i < 72; ++i)
    setElement(x, i, -INFINITY);
  check(pool("max_pool", "1x2x6x6xf32", "1x2x3x3xf32", {"2, 2", "2, 2", "0, 0", "0, 0", "1, 1"}),
        KernelTolerance::exact(), {x});
  check(pool("max_pool", "1x2x6x6xf32", "1x2x3x3xf32", {"2, 2", "2, 2", "0, 0", "0, 0", "1, 1"}, "",
             "1x2x3x3xi64"),
        KernelTolerance::exact(), {x});
}
TEST_F(PoolingTest, Average) {
  for (const char *options : {"", ", countIncludePad = true"}) {
    check(pool("avg_pool", "2x3x7x11xf32", "2x3x4x6xf32", {"3, 3", "2, 2", "1, 1", "1, 1", "1, 1"}, options));
    // ceil_mode: the last window reaches past the high pad.
    check(pool("avg_pool", "1x2x6x6xf32", "1x2x4x4xf32", {"3, 3", "2, 2", "1, 1", "0, 0", "1, 1"}, options));
    check(pool("avg_pool", "2x3x13xf16", "2x3x6xf16", {"3", "2", "1", "1", "2"}, options),
          KernelTolerance::half());
    check(pool("avg_pool", "1x3x7x7xf64", "1x3x1x1xf64", {"7, 7", "1, 1", "0, 0", "0, 0", "1, 1"}, options),
          {1e-13, 1e-13});
  }
}
TEST_F(PoolingTest, ChannelsLast) {
  for (const char *type : {"f16", "f32", "i8"}) {
    std::string t = type, x = "tensor<2x16x7x8x" + t + ">", y = "tensor<2x16x4x4x" + t + ">";
    check("func.func @main(%in: " + x + ") -> " + y +
              " {\n  %t = gpuc.kernel \"pointwise\" (%a = %in : " + x + ") -> " + x +
              " attributes {storage = [[896, 1, 128, 16]]} {\n    %r = gpuc.unary abs %a : " + x + " -> " +
              x + "\n    gpuc.yield %r : " + x + "\n  }\n  %y = gpuc.kernel \"pooling\" (%a = %t : " + x +
              ") -> " + y + " attributes {storage = [[256, 1, 64, 16]]} {\n    %r = gpuc.max_pool %a {" +
              Window{"3, 3", "2, 2", "1, 1", "1, 1", "1, 1"}.text() + "} : " + x + " -> " + y +
              "\n    gpuc.yield %r : " + y + "\n  }\n  return %y : " + y + "\n}\n",
          KernelTolerance::exact());
    EXPECT_NE(units().find("kChannelLanes = true"), std::string::npos);
  }
}
TEST_F(PoolingTest, Epilogue) {
  check("func.func @main(%in: tensor<1x3x6x8xf32>) -> tensor<1x3x3x4xf16> {\n"
        "  %y = gpuc.kernel \"pooling\" (%a = %in : tensor<1x3x6x8xf32>) -> tensor<1x3x3x4xf16> {\n    %0 = "
        "gpuc.avg_pool %a {" +
            Window{"2, 2", "2, 2", "0, 0", "0, 0", "1, 1"}.text() +
            "} : tensor<1x3x6x8xf32> -> tensor<1x3x3x4xf32>\n    %1 = gpuc.unary relu %0 : "
            "tensor<1x3x3x4xf32> -> tensor<1x3x3x4xf32>\n"
            "    %r = gpuc.cast %1 : tensor<1x3x3x4xf32> -> tensor<1x3x3x4xf16>\n    gpuc.yield %r : "
            "tensor<1x3x3x4xf16>\n  }\n"
            "  return %y : tensor<1x3x3x4xf16>\n}\n",
        KernelTolerance::half());
}
TEST_F(PoolingTest, CompilesForAllArchitectures) {
  Window w{"3, 3", "2, 2", "1, 1", "1, 1", "1, 1"};
  checkCompiles(pool("max_pool", "32x64x112x112xf16", "32x64x56x56xf16", w));
  checkCompiles(pool("max_pool", "32x64x112x112xf32", "32x64x56x56xf32", w, "", "32x64x56x56xi64"));
  checkCompiles(pool("avg_pool", "32x64x112x112xf32", "32x64x56x56xf32", w));
  checkCompiles(pool("max_pool", "32x64x112x112xi8", "32x64x56x56xi8", w));
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The scatter family: both ops, all reductions with duplicates, all types, negative and wrong indices,
// strided results.
#include "KernelTest.h"

using namespace gpuc;

namespace {

std::string scatter(const std::string &op, const std::string &reduction, const std::string &data,
                    const std::string &indices, const std::string &updates, const std::string &options = "",
                    const std::string &attributes = "") {
  std::string d = "tensor<" + data + ">", i = "tensor<" + indices + ">", u = "tensor<" + updates + ">";
  return "func.func @main(%d_in: " + d + ", %i_in: " + i + ", %u_in: " + u + ") -> " + d +
         " {\n  %y = gpuc.kernel \"scatter\" (%d = %d_in : " + d + ", %i = %i_in : " + i +
         ", %u = %u_in : " + u + ") -> " + d + " " + attributes + " {\n    %r = gpuc." + op + " " +
         reduction + " %d, %i, %u " + options + " : " + d + ", " + i + ", " + u + " -> " + d +
         "\n    gpuc.yield %r : " + d + "\n  }\n  return %y : " + d + "\n}\n";
}

DType dtypeNamed(const std::string &name) { return *parseDType(name); }

class ScatterTest : public KernelTest {};

TEST_F(ScatterTest, NdReplacesSlices) {
  check(scatter("scatter_nd", "none", "7x5xf32", "2x1xi64", "2x5xf32"), KernelTolerance::exact(),
        {randomTensor(DType::F32, {7, 5}, 1), tensorOf(DType::I64, {2, 1}, {6, -5}),
         randomTensor(DType::F32, {2, 5}, 2)});
  check(scatter("scatter_nd", "none", "3x4x5xf16", "2x2x2xi32", "2x2x5xf16"), KernelTolerance::exact(),
        {randomTensor(DType::F16, {3, 4, 5}, 1), tensorOf(DType::I32, {2, 2, 2}, {0, 1, 2, 3, 1, 1, -1, 0}),
         randomTensor(DType::F16, {2, 2, 5}, 2)});
  check(scatter("scatter_nd", "none", "3x4xi8", "1x0xi64", "1x3x4xi8"), KernelTolerance::exact(),
        {randomTensor(DType::I8, {3, 4}, 1), HostTensor(DType::I64, {1, 0}),
         randomTensor(DType::I8, {1, 3, 4}, 2)});
}
TEST_F(ScatterTest, ElementsAlongEveryAxis) {
  for (int axis : {0, 1, 2})
    for (const char *reduction : {"add", "max"})
      check(scatter("scatter_elements", reduction, "4x5x6xf32", "3x4x2xi64", "3x4x2xf32",
                    "{axis = " + std::to_string(axis) + " : i64}"),
            {1e-5, 1e-5},
            {randomTensor(DType::F32, {4, 5, 6}, 1), randomIntegers(DType::I64, {3, 4, 2}, -4, 3, 2),
             randomTensor(DType::F32, {3, 4, 2}, 3)});
}
TEST_F(ScatterTest, ReductionsWithDuplicatesOfAllTypes) {
  for (const char *type : {"f32", "f64", "f16", "bf16", "i8", "ui8", "i16", "i32", "i64", "ui64"})
    for (const char *reduction : {"add", "mul", "min", "max"}) {
      std::string t = type;
      DType dtype =
          dtypeNamed(t[0] == 'i' || t[0] == 'u' ? (t[0] == 'u' ? "uint" + t.substr(2) : "int" + t.substr(1))
                     : t == "f32"               ? "float32"
                     : t == "f64"               ? "float64"
                     : t == "f16"               ? "float16"
                                                : "bfloat16");
      check(scatter("scatter_elements", reduction, "7x" + t, "30xi64", "30x" + t, "{axis = 0 : i64}"),
            KernelTolerance::bfloat(),
            {randomIntegers(dtype, {7}, 1, 3, 1), randomIntegers(DType::I64, {30}, 0, 6, 2),
             randomIntegers(dtype, {30}, 1, 2, 3)});
    }
}
TEST_F(ScatterTest, Bools) {
  for (const char *reduction : {"none", "min", "max"})
    check(scatter("scatter_elements", reduction, "7xi1", "3xi64", "3xi1", "{axis = 0 : i64}"),
          KernelTolerance::exact(),
          {randomTensor(DType::Bool, {7}, 1), tensorOf(DType::I64, {3}, {5, 0, -3}),
           randomTensor(DType::Bool, {3}, 3)});
}
TEST_F(ScatterTest, NothingToUpdate) {
  check(scatter("scatter_nd", "none", "7x5xf32", "0x1xi64", "0x5xf32"), KernelTolerance::exact());
  check(scatter("scatter_elements", "add", "0x5xf32", "0x5xi64", "0x5xf32", "{axis = 0 : i64}"),
        KernelTolerance::exact());
}
TEST_F(ScatterTest, StridedResult) {
  check(scatter("scatter_nd", "add", "4x8xf32", "3x1xi64", "3x8xf32", "", "attributes {storage = [[1, 4]]}"),
        {1e-5, 1e-5},
        {randomTensor(DType::F32, {4, 8}, 1), tensorOf(DType::I64, {3, 1}, {3, 0, 3}),
         randomTensor(DType::F32, {3, 8}, 2)});
}
TEST_F(ScatterTest, CompilesForAllArchitectures) {
  checkCompiles(scatter("scatter_nd", "none", "1024x768xf16", "128x1xi64", "128x768xf16"));
  checkCompiles(scatter("scatter_nd", "add", "1024x768xf16", "128x1xi64", "128x768xf16"));
  checkCompiles(
      scatter("scatter_elements", "add", "1024x768xf64", "128x768xi32", "128x768xf64", "{axis = 0 : i64}"));
  checkCompiles(
      scatter("scatter_elements", "max", "1024x768xi8", "128x768xi32", "128x768xi8", "{axis = 0 : i64}"));
}

} // namespace

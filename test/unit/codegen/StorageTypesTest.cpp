// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types that are only stored: conversions of every code and of every kind of float against the
// reference executor, and packed memory without races.
#include "KernelTest.h"
#include <cstring>

using namespace gpuc;

namespace {

struct Named {
  const char *ir;
  DType dtype;
};
constexpr Named kStorageTypes[] = {{"f8E4M3FN", DType::F8E4M3FN},
                                   {"f8E4M3FNUZ", DType::F8E4M3FNUZ},
                                   {"f8E5M2", DType::F8E5M2},
                                   {"f8E5M2FNUZ", DType::F8E5M2FNUZ},
                                   {"f8E8M0FNU", DType::F8E8M0},
                                   {"f4E2M1FN", DType::F4E2M1},
                                   {"i4", DType::I4},
                                   {"ui4", DType::U4},
                                   {"i2", DType::I2},
                                   {"ui2", DType::U2}};

class StorageTypesTest : public KernelTest {
protected:
  /// One pointwise kernel: `body` computes %r of type `to` from %a of type `from`.
  static std::string kernel(const std::string &from, const std::string &to, const std::string &body) {
    return "func.func @main(%x: tensor<" + from + ">) -> tensor<" + to +
           "> {\n  %y = gpuc.kernel \"pointwise\" (%a = %x : tensor<" + from + ">) -> tensor<" + to +
           "> {\n    " + body + "\n    gpuc.yield %r : tensor<" + to + ">\n  }\n  return %y : tensor<" + to +
           ">\n}\n";
  }
  struct Cast {
    std::string to, attributes = "";
  };
  /// One kernel with several casts of one operand: one compilation for all.
  static std::string casts(int64_t count, const std::string &from, const std::vector<Cast> &all) {
    std::string n = "tensor<" + std::to_string(count) + "x", x = n + from + ">", types, values, results, body;
    for (size_t i = 0; i < all.size(); ++i) {
      std::string comma = i ? ", " : "", y = n + all[i].to + ">", name = std::to_string(i);
      body += "    %r" + name + " = gpuc.cast %a " + all[i].attributes + " : " + x + " -> " + y + "\n";
      types += comma + y;
      values += comma + "%r" + name;
      results += comma + "%y#" + name;
    }
    std::string pack = "%y:" + std::to_string(all.size());
    return "func.func @main(%x: " + x + ") -> (" + types + ") {\n  " + pack +
           " = gpuc.kernel \"pointwise\" (%a = %x : " + x + ") -> " + types + " {\n" + body +
           "    gpuc.yield " + values + " : " + types + "\n  }\n  return " + results + " : " + types +
           "\n}\n";
  }
  /// Casts to every storage type, to the floats with and without saturation and in every rounding mode.
  static std::vector<Cast> allEncodings() {
    std::vector<Cast> all;
    for (const Named &type : kStorageTypes) {
      all.push_back({type.ir});
      if (isFloat(type.dtype))
        all.push_back({type.ir, "{saturate = false}"});
    }
    for (std::string mode : {"down", "nearest"})
      for (std::string saturate : {"true", "false"})
        all.push_back({"f8E8M0FNU", "{saturate = " + saturate + ", round = #gpuc<round_mode " + mode + ">}"});
    return all;
  }
  /// Every code once.
  static HostTensor allCodes(DType dtype) {
    int64_t bits = bitWidth(dtype), count = int64_t(1) << bits;
    HostTensor t(dtype, {count});
    for (int64_t code = 0; code < count; ++code)
      t.mutableBytes()[code * bits / 8] |= uint8_t(code << (code * bits % 8));
    return t;
  }
  /// Floats with all signs and exponents, and fractions around every rounding boundary of up to 4 digits.
  static HostTensor manyFloats() {
    std::vector<uint32_t> bits;
    for (uint32_t sign : {0u, 0x80000000u})
      for (uint32_t exponent = 0; exponent < 256; ++exponent)
        for (uint32_t fraction = 0; fraction < 32; ++fraction)
          for (int32_t beside : {-1, 0, 1}) {
            uint32_t field = ((exponent << 23) | (fraction << 18)) + uint32_t(beside);
            if (field < 0x80000000u)
              bits.push_back(sign | field);
          }
    HostTensor t(DType::F32, {int64_t(bits.size())});
    std::memcpy(t.mutableBytes(), bits.data(), bits.size() * 4);
    return t;
  }
};

TEST_F(StorageTypesTest, EveryCodeHasItsValue) {
  std::vector<Cast> all = allEncodings();
  for (const char *to : {"f32", "f16", "bf16", "f64", "i8", "ui8", "i64", "i1"})
    all.push_back({to});
  for (const Named &type : kStorageTypes) {
    SCOPED_TRACE(type.ir);
    HostTensor codes = allCodes(type.dtype);
    check(casts(codes.size(), type.ir, all), KernelTolerance::exact(), {codes}, false);
  }
}
TEST_F(StorageTypesTest, FloatsRoundAndSaturate) {
  HostTensor floats = manyFloats();
  check(casts(floats.size(), "f32", allEncodings()), {}, {floats}, false);
}
TEST_F(StorageTypesTest, OtherTypesAreRoundedOnce) {
  std::vector<double> values{1e300, -1e300, 1e-300, 5.877471754111438e-39, 1.7014118346046923e38};
  for (double v : {0.0, 0.0078125, 0.46875, 1.0625, 1.1875, 1.25, 3.5, 5.0, 17.0, 100.0, 232.0, 248.0, 464.0,
                   57344.0, 61440.0})
    for (double beside : {0.0, 1e-12, -1e-12}) // lost in a float
      for (double sign : {1.0, -1.0})
        values.push_back(sign * v * (1 + beside));
  int64_t count = int64_t(values.size());
  check(casts(count, "f64", allEncodings()), {}, {tensorOf(DType::F64, {count}, values)}, false);
  for (const char *from : {"f16", "bf16", "i1", "i8", "ui16", "i64", "ui64"}) {
    SCOPED_TRACE(from);
    check(casts(77, from, allEncodings()), {}, {}, false);
  }
}
TEST_F(StorageTypesTest, PackedResultsOfAnyLengthAreWrittenWithoutRaces) {
  for (int64_t count : {1, 2, 3, 5, 7, 8, 9, 31, 257, 1027, 70001}) {
    SCOPED_TRACE(count);
    check(casts(count, "f32", {{"i4"}, {"ui2"}, {"f4E2M1FN"}, {"f8E5M2"}}));
  }
}
TEST_F(StorageTypesTest, ChainsGoThroughTheStorageType) {
  for (const Named &type : kStorageTypes) {
    std::string t = std::string("tensor<5x7x") + type.ir + ">";
    check(kernel("5x7xf32", "5x7xf32",
                 "%0 = gpuc.cast %a : tensor<5x7xf32> -> " + t + "\n    %r = gpuc.cast %0 : " + t +
                     " -> tensor<5x7xf32>"),
          KernelTolerance::exact());
  }
}
TEST_F(StorageTypesTest, MovesKeepEveryCode) {
  for (const Named &type : kStorageTypes) {
    std::string t = type.ir;
    SCOPED_TRACE(t);
    check(kernel("3x5x7x" + t, "7x3x5x" + t,
                 "%r = gpuc.transpose %a {perm = array<i64: 2, 0, 1>} : tensor<3x5x7x" + t +
                     "> -> tensor<7x3x5x" + t + ">"));
    check(kernel("67x33x" + t, "33x67x" + t,
                 "%r = gpuc.transpose %a {perm = array<i64: 1, 0>} : tensor<67x33x" + t +
                     "> -> tensor<33x67x" + t + ">"));
    check(kernel("6x35x" + t, "10x21x" + t,
                 "%r = gpuc.reshape %a : tensor<6x35x" + t + "> -> tensor<10x21x" + t + ">"));
  }
}
TEST_F(StorageTypesTest, InfinitiesStayBehindAView) {
  HostTensor x = tensorOf(DType::F32, {2, 3}, {1, 1e30, -1e30, 2, 57344, -4});
  check(kernel("2x3xf32", "3x2xf8E5M2", R"(
    %0 = gpuc.cast %a {saturate = false} : tensor<2x3xf32> -> tensor<2x3xf8E5M2>
    %r = gpuc.transpose %0 {perm = array<i64: 1, 0>} : tensor<2x3xf8E5M2> -> tensor<3x2xf8E5M2>)"),
        {}, {x});
}
TEST_F(StorageTypesTest, PackedResultBesideOneOfAnotherLayout) {
  check(R"(
    func.func @main(%x: tensor<2x24x5x7xf32>) -> (tensor<2x24x5x7xf32>, tensor<2x24x5x7xui4>) {
      %y:2 = gpuc.kernel "pointwise" (%a = %x : tensor<2x24x5x7xf32>)
          -> tensor<2x24x5x7xf32>, tensor<2x24x5x7xui4> attributes {storage = [[840, 1, 168, 24], []]} {
        %0 = gpuc.unary abs %a : tensor<2x24x5x7xf32> -> tensor<2x24x5x7xf32>
        %1 = gpuc.cast %0 : tensor<2x24x5x7xf32> -> tensor<2x24x5x7xui4>
        gpuc.yield %0, %1 : tensor<2x24x5x7xf32>, tensor<2x24x5x7xui4>
      }
      return %y#0, %y#1 : tensor<2x24x5x7xf32>, tensor<2x24x5x7xui4>
    })");
}
TEST_F(StorageTypesTest, PackedConstantsAndOffsetsInsideBytes) {
  check(R"(
    func.func @main(%x: tensor<3x5xf32>) -> tensor<3x5xf32> {
      %w = gpuc.constant dense<[[1, -8, 3, 7, -1], [0, 2, 4, -6, 5], [-2, -3, 6, 1, -7]]> : tensor<3x5xi4>
      %y = gpuc.kernel "pointwise" (%a = %x : tensor<3x5xf32>, %b = %w : tensor<3x5xi4>) -> tensor<3x5xf32> {
        %0 = gpuc.cast %b : tensor<3x5xi4> -> tensor<3x5xf32>
        %r = gpuc.binary mul %a, %0 : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
        gpuc.yield %r : tensor<3x5xf32>
      }
      return %y : tensor<3x5xf32>
    })");
  check(kernel("3x16xi4", "3x8xf32", R"(
    %0 = gpuc.cast %a : tensor<3x16xi4> -> tensor<3x16xf32>
    %r = gpuc.slice %0 {starts = array<i64: 0, 5>, steps = array<i64: 1, 1>}
      : tensor<3x16xf32> -> tensor<3x8xf32>)"));
}
TEST_F(StorageTypesTest, EpiloguesWriteBytesButNotPackedElements) {
  auto reduction = [](const std::string &element) {
    std::string type = "tensor<40x" + element + ">";
    return "func.func @main(%x: tensor<40x48xf32>) -> " + type +
           " {\n  %y = gpuc.kernel \"reduction\" (%a = %x : tensor<40x48xf32>) -> " + type +
           " {\n    %0 = gpuc.reduce max %a {axes = array<i64: 1>, keepdims = false} : tensor<40x48xf32> -> "
           "tensor<40xf32>\n    %r = gpuc.cast %0 : tensor<40xf32> -> " +
           type + "\n    gpuc.yield %r : " + type + "\n  }\n  return %y : " + type + "\n}\n";
  };
  check(reduction("f8E4M3FN"));
  check(reduction("f8E8M0FNU"));
  checkRefused(reduction("i4"), "can't write a result of type 'i4'");
}
TEST_F(StorageTypesTest, CompilesForEveryArchitecture) {
  checkCompiles(casts(70001, "f32", {{"f8E4M3FN"}, {"f8E5M2FNUZ", "{saturate = false}"}, {"i2"}}));
  checkCompiles(casts(70001, "f64", {{"f4E2M1FN"}, {"f8E5M2", "{saturate = false}"}}));
  checkCompiles(
      casts(70001, "i64", {{"f8E8M0FNU", "{saturate = false, round = #gpuc<round_mode nearest>}"}}));
  for (const Named &type : kStorageTypes)
    checkCompiles(casts(70001, type.ir, {{"f16"}}));
}

} // namespace

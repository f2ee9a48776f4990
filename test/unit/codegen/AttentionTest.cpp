// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attention family against the reference: types, masks, grouped heads, layouts, odd extents.
#include "KernelTest.h"
#include <cmath>

using namespace gpuc;

namespace {

struct Case {
  int b = 2, h = 2, g = 2, s = 7, t = 5, d = 16, e = 16;
  std::string type = "f16";
  std::string bias = ""; ///< its type, "7x5xf16"
  std::string options = "";
  std::string shape(int heads, int rows, int cols) const {
    return std::to_string(b) + "x" + std::to_string(heads) + "x" + std::to_string(rows) + "x" +
           std::to_string(cols) + "x" + type;
  }
};

std::string attention(const Case &c) {
  std::string q = c.shape(c.h, c.s, c.d), k = c.shape(c.g, c.t, c.d), v = c.shape(c.g, c.t, c.e),
              y = c.shape(c.h, c.s, c.e);
  std::string bias = c.bias.empty() ? "" : ", %in_m: tensor<" + c.bias + ">",
              biasIn = c.bias.empty() ? "" : ", %m = %in_m : tensor<" + c.bias + ">",
              biasUse = c.bias.empty() ? "" : " bias %m",
              biasType = c.bias.empty() ? "" : ", tensor<" + c.bias + ">";
  return "func.func @main(%in_q: tensor<" + q + ">, %in_k: tensor<" + k + ">, %in_v: tensor<" + v + ">" +
         bias + ") -> tensor<" + y + "> {\n  %y = gpuc.kernel \"attention\" (%q = %in_q : tensor<" + q +
         ">, %k = %in_k : tensor<" + k + ">, %v = %in_v : tensor<" + v + ">" + biasIn + ") -> tensor<" + y +
         "> {\n    %r = gpuc.attention %q, %k, %v" + biasUse + " {scale = 0.3" + c.options + "} : tensor<" +
         q + ">, tensor<" + k + ">, tensor<" + v + ">" + biasType + " -> tensor<" + y +
         ">\n    gpuc.yield %r : tensor<" + y + ">\n  }\n  return %y : tensor<" + y + ">\n}\n";
}

class AttentionTest : public KernelTest {};

/// Masks of the smallest finite number hide keys only relative to others: a row that is masked everywhere
/// weighs all keys alike.
TEST_F(AttentionTest, SmallestFiniteBias) {
  HostTensor bias(DType::F32, {1, 1, 1, 5});
  for (int64_t i = 0; i < bias.size(); ++i)
    setElement(bias, i, -3.4028234663852886e38);
  check(
      R"(func.func @main(%q: tensor<1x2x3x8xf32>, %k: tensor<1x2x5x8xf32>, %v: tensor<1x2x5x8xf32>, %b: tensor<1x1x1x5xf32>)
      -> tensor<1x2x3x8xf32> {
    %0 = gpuc.kernel "attention" (%a0 = %q : tensor<1x2x3x8xf32>, %a1 = %k : tensor<1x2x5x8xf32>, %a2 = %v : tensor<1x2x5x8xf32>,
        %a3 = %b : tensor<1x1x1x5xf32>) -> tensor<1x2x3x8xf32> {
      %1 = gpuc.attention %a0, %a1, %a2 bias %a3 {scale = 0.5} : tensor<1x2x3x8xf32>, tensor<1x2x5x8xf32>, tensor<1x2x5x8xf32>,
        tensor<1x1x1x5xf32> -> tensor<1x2x3x8xf32>
      gpuc.yield %1 : tensor<1x2x3x8xf32>
    }
    return %0 : tensor<1x2x3x8xf32>
  })",
      {1e-4, 1e-5},
      {randomTensor(DType::F32, {1, 2, 3, 8}, 1), randomTensor(DType::F32, {1, 2, 5, 8}, 2),
       randomTensor(DType::F32, {1, 2, 5, 8}, 3), bias});
}

TEST_F(AttentionTest, Half) {
  check(attention({}), KernelTolerance::half());
  check(attention({1, 2, 2, 67, 131, 64, 64}), KernelTolerance::half());
  check(attention({1, 1, 1, 37, 70, 128, 128}), KernelTolerance::half());
}
TEST_F(AttentionTest, HalfWithOddDepths) {
  check(attention({1, 2, 2, 17, 19, 13, 29}), KernelTolerance::half());
  check(attention({1, 1, 1, 33, 40, 36, 20}), KernelTolerance::half());
  check(attention({1, 1, 1, 20, 33, 8, 1}), KernelTolerance::half());
}
TEST_F(AttentionTest, HalfWithWideRows) {
  check(attention({1, 1, 1, 35, 50, 256, 256}), KernelTolerance::half());
  check(attention({1, 1, 1, 3, 21, 300, 270}), KernelTolerance::half());
}
TEST_F(AttentionTest, LargeBlocks) {
  setTarget("a100");
  check(attention({1, 216, 216, 130, 33, 16, 16}), KernelTolerance::half(), {}, false);
}
TEST_F(AttentionTest, Bfloat) {
  check(attention({1, 2, 1, 21, 37, 32, 32, "bf16"}), KernelTolerance::bfloat());
}
TEST_F(AttentionTest, Float) {
  check(attention({1, 2, 2, 67, 131, 64, 64, "f32"}), {1e-4, 1e-5});
  check(attention({2, 1, 1, 3, 5, 7, 11, "f32"}), {1e-4, 1e-5});
  check(attention({1, 1, 1, 19, 66, 40, 150, "f32"}), {1e-4, 1e-5});
}
TEST_F(AttentionTest, Tf32) {
  check(attention({1, 2, 2, 35, 67, 32, 40, "f32", "", ", tf32"}), KernelTolerance::half());
  check(attention({1, 1, 1, 5, 9, 7, 3, "f32", "", ", tf32"}), KernelTolerance::half());
}
TEST_F(AttentionTest, Double) {
  check(attention({1, 2, 2, 37, 41, 20, 70, "f64"}), {1e-12, 1e-13});
  check(attention({1, 2, 2, 3, 41, 20, 7, "f64"}), {1e-12, 1e-13});
}
TEST_F(AttentionTest, GroupedHeads) {
  check(attention({2, 6, 2, 1, 67, 32, 32}), KernelTolerance::half());
  check(attention({1, 6, 2, 13, 33, 32, 32, "f16", "", ", causal = true, causalOffset = 20 : i64"}),
        KernelTolerance::half());
  check(attention({1, 6, 2, 9, 33, 32, 32, "f32"}), {1e-4, 1e-5});
}
TEST_F(AttentionTest, Causal) {
  for (const char *type : {"f16", "f32"})
    for (int offset : {0, 3, -2, -100, 1000}) {
      std::string options = ", causal = true, causalOffset = " + std::to_string(offset) + " : i64";
      check(attention({1, 2, 2, 131, 131, 16, 16, type, "", options}), KernelTolerance::half(), {}, false);
      check(attention({1, 2, 2, 70, 33, 16, 16, type, "", options + ", zeroMasked = true"}),
            KernelTolerance::half(), {}, false);
    }
}
TEST_F(AttentionTest, Bias) {
  for (const char *type : {"f16", "f32"}) {
    std::string t = type;
    for (const char *shape : {"2x2x17x33x", "1x1x17x33x", "2x1x1x33x", "17x1x", "1x"}) {
      check(attention({2, 2, 2, 17, 33, 16, 16, type, shape + t}), KernelTolerance::half());
      check(attention({2, 2, 2, 17, 33, 16, 16, type, std::string(shape) + "i1", ", zeroMasked = true"}),
            KernelTolerance::half());
    }
  }
  check(attention({2, 2, 1, 17, 33, 16, 16, "f16", "2x1x33xf32"}), KernelTolerance::half());
}
TEST_F(AttentionTest, MaskedRowsAndBlocks) {
  for (const char *type : {"f16", "f32"})
    for (const char *options : {"", ", zeroMasked = true"}) {
      DType dtype = std::string(type) == "f16" ? DType::F16 : DType::F32;
      HostTensor q = randomTensor(dtype, {1, 1, 5, 16}, 1), k = randomTensor(dtype, {1, 1, 150, 16}, 2),
                 v = randomTensor(dtype, {1, 1, 150, 16}, 3), bias = randomTensor(dtype, {5, 150}, 4);
      for (int i = 0; i < 150; ++i)
        setElement(bias, 2 * 150 + i, -INFINITY); // no key left
      for (int i = 0; i < 130; ++i)
        setElement(bias, 3 * 150 + i, -INFINITY); // the first blocks have none
      check(attention({1, 1, 1, 5, 150, 16, 16, type, std::string("5x150x") + type, options}),
            KernelTolerance::half(), {q, k, v, bias});
    }
}
TEST_F(AttentionTest, NanAndInfinityInValuesOfHiddenKeys) {
  for (const char *type : {"f16", "f32"}) {
    DType dtype = std::string(type) == "f16" ? DType::F16 : DType::F32;
    bool tf32 = dtype == DType::F32;
    for (int queries : {21, 70}) { // one warp per rows, and several
      HostTensor q = randomTensor(dtype, {1, 2, queries, 16}, 1), k = randomTensor(dtype, {1, 2, 90, 16}, 2),
                 v = randomTensor(dtype, {1, 2, 90, 24}, 3),
                 mask = randomTensor(DType::Bool, {1, 1, 1, 90}, 4);
      for (int column : {0, 5, 23})
        for (int h : {0, 1})
          setElement(v, (h * 90 + 40) * 24 + column, column == 5 ? INFINITY : NAN);
      for (int i = 0; i < 90; ++i)
        setElement(mask, i, i % 3 != 1); // key 40 is hidden
      std::string options = tf32 ? ", tf32" : "";
      Case c{1, 2, 2, queries, 90, 16, 24, type, "1x1x1x90xi1", options};
      check(attention(c), KernelTolerance::half(), {q, k, v, mask});
      // Causal: key 40 is visible to the later rows, which become NaN or infinite in the three columns.
      c.bias = "", c.options += ", causal = true, causalOffset = 15 : i64";
      check(attention(c), KernelTolerance::half(), {q, k, v});
    }
  }
}
TEST_F(AttentionTest, NanInValuesOfHiddenKeysWithSlices) {
  HostTensor q = randomTensor(DType::F16, {1, 1, 2, 16}, 1),
             k = randomTensor(DType::F16, {1, 1, 1031, 16}, 2),
             v = randomTensor(DType::F16, {1, 1, 1031, 16}, 3), mask = randomTensor(DType::Bool, {1031}, 4);
  setElement(v, 300 * 16 + 3, NAN);
  setElement(mask, 300, 0);
  check(attention({1, 1, 1, 2, 1031, 16, 16, "f16", "1031xi1"}), KernelTolerance::half(), {q, k, v, mask});
  EXPECT_NE(units().find("joinSlices"), std::string::npos);
}
TEST_F(AttentionTest, Softcap) {
  check(attention({1, 2, 2, 17, 33, 16, 16, "f16", "", ", softcap = 2.0"}), KernelTolerance::half());
  check(attention({1, 2, 2, 17, 33, 16, 16, "f32", "17x33xf32", ", softcap = 0.5"}), {1e-4, 1e-5});
}
TEST_F(AttentionTest, FewQueriesOverManyKeys) {
  for (const char *type : {"f16", "f32"})
    for (const char *options : {"", ", causal = true, causalOffset = 300 : i64",
                                ", causal = true, causalOffset = -1 : i64, zeroMasked = true"}) {
      check(attention({1, 4, 2, 3, 1031, 32, 24, type, "1x4x1x1031xf32", options}), KernelTolerance::half());
      EXPECT_NE(units().find("joinSlices"), std::string::npos);
    }
  check(attention({1, 1, 1, 1, 700, 16, 70, "f64"}), {1e-12, 1e-13});
}
TEST_F(AttentionTest, SmallExtents) {
  for (const char *type : {"f16", "f32"}) {
    check(attention({1, 1, 1, 1, 1, 1, 1, type}), KernelTolerance::half());
    check(attention({1, 2, 2, 3, 0, 16, 16, type}), KernelTolerance::half());
    check(attention({1, 2, 2, 3, 0, 16, 16, type, "", ", zeroMasked = true"}), KernelTolerance::half());
    check(attention({1, 2, 2, 0, 5, 16, 16, type}), KernelTolerance::half());
  }
}
TEST_F(AttentionTest, PackedProjectionsInTokenOrder) {
  // q, k, v are slices of [B, S, 3, H, D] and the result is written as [B, S, H * D] with a cast.
  check("func.func @main(%in: tensor<2x9x96xf16>) -> tensor<2x9x32xf32> {\n"
        "  %y = gpuc.kernel \"attention\" (%x = %in : tensor<2x9x96xf16>) -> tensor<2x9x32xf32> {\n"
        "    %0 = gpuc.slice %x {starts = array<i64: 0, 0, 0>, steps = array<i64: 1, 1, 1>} : "
        "tensor<2x9x96xf16> -> tensor<2x9x32xf16>\n"
        "    %1 = gpuc.slice %x {starts = array<i64: 0, 0, 32>, steps = array<i64: 1, 1, 1>} : "
        "tensor<2x9x96xf16> -> tensor<2x9x32xf16>\n"
        "    %2 = gpuc.slice %x {starts = array<i64: 0, 0, 64>, steps = array<i64: 1, 1, 1>} : "
        "tensor<2x9x96xf16> -> tensor<2x9x32xf16>\n"
        "    %3 = gpuc.reshape %0 : tensor<2x9x32xf16> -> tensor<2x9x2x16xf16>\n"
        "    %4 = gpuc.reshape %1 : tensor<2x9x32xf16> -> tensor<2x9x2x16xf16>\n"
        "    %5 = gpuc.reshape %2 : tensor<2x9x32xf16> -> tensor<2x9x2x16xf16>\n"
        "    %q = gpuc.transpose %3 {perm = array<i64: 0, 2, 1, 3>} : tensor<2x9x2x16xf16> -> "
        "tensor<2x2x9x16xf16>\n"
        "    %k = gpuc.transpose %4 {perm = array<i64: 0, 2, 1, 3>} : tensor<2x9x2x16xf16> -> "
        "tensor<2x2x9x16xf16>\n"
        "    %v = gpuc.transpose %5 {perm = array<i64: 0, 2, 1, 3>} : tensor<2x9x2x16xf16> -> "
        "tensor<2x2x9x16xf16>\n"
        "    %6 = gpuc.attention %q, %k, %v {scale = 0.25} : tensor<2x2x9x16xf16>, tensor<2x2x9x16xf16>, "
        "tensor<2x2x9x16xf16> -> tensor<2x2x9x16xf16>\n"
        "    %7 = gpuc.transpose %6 {perm = array<i64: 0, 2, 1, 3>} : tensor<2x2x9x16xf16> -> "
        "tensor<2x9x2x16xf16>\n"
        "    %8 = gpuc.reshape %7 : tensor<2x9x2x16xf16> -> tensor<2x9x32xf16>\n"
        "    %r = gpuc.cast %8 : tensor<2x9x32xf16> -> tensor<2x9x32xf32>\n"
        "    gpuc.yield %r : tensor<2x9x32xf32>\n  }\n  return %y : tensor<2x9x32xf32>\n}\n",
        KernelTolerance::half());
  EXPECT_NE(units().find("kAccess = 8"), std::string::npos);
}
TEST_F(AttentionTest, TransposedKeys) {
  check("func.func @main(%a: tensor<1x2x21x16xf16>, %b: tensor<1x2x16x37xf16>, %c: tensor<1x2x37x16xf16>) -> "
        "tensor<1x2x21x16xf16> {\n"
        "  %y = gpuc.kernel \"attention\" (%q = %a : tensor<1x2x21x16xf16>, %x = %b : tensor<1x2x16x37xf16>, "
        "%v = %c : "
        "tensor<1x2x37x16xf16>) -> tensor<1x2x21x16xf16> {\n"
        "    %k = gpuc.transpose %x {perm = array<i64: 0, 1, 3, 2>} : tensor<1x2x16x37xf16> -> "
        "tensor<1x2x37x16xf16>\n"
        "    %r = gpuc.attention %q, %k, %v {scale = 0.25} : tensor<1x2x21x16xf16>, tensor<1x2x37x16xf16>, "
        "tensor<1x2x37x16xf16> -> tensor<1x2x21x16xf16>\n"
        "    gpuc.yield %r : tensor<1x2x21x16xf16>\n  }\n  return %y : tensor<1x2x21x16xf16>\n}\n",
        KernelTolerance::half());
}
TEST_F(AttentionTest, CompilesForAllArchitectures) {
  checkCompiles(attention({1, 16, 16, 512, 512, 64, 64, "f16"}));
  checkCompiles(attention({4, 32, 8, 2048, 2048, 128, 128, "bf16", "", ", causal = true"}));
  checkCompiles(attention({1, 8, 8, 512, 512, 256, 256, "f16"}));
  checkCompiles(attention({64, 16, 16, 512, 512, 64, 64, "f16", "64x1x1x512xi1"}));
  checkCompiles(attention({1, 32, 8, 1, 4096, 128, 128, "f16"}));
  checkCompiles(attention({1, 12, 12, 384, 384, 64, 64, "f32"}));
  checkCompiles(attention({1, 12, 12, 384, 384, 128, 128, "f32"}));
  checkCompiles(attention({1, 12, 12, 384, 384, 64, 64, "f32", "", ", tf32"}));
  // Narrow rows leave room for more blocks per multiprocessor than a mask's registers do.
  for (const char *mask : {"8x1x128x128xf32", "8x1x128x128xf16"})
    for (int depth : {16, 32, 48})
      checkCompiles(attention({8, 12, 12, 128, 128, depth, depth, "f16", mask, ", zeroMasked = true"}),
                    "h200");
  checkCompiles(attention({1, 12, 12, 384, 384, 128, 128, "f32", "", ", tf32"}));
  checkCompiles(attention({1, 2, 2, 64, 64, 64, 64, "f64"}));
}

} // namespace

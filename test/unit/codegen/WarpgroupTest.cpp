// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products and convolutions on the warpgroup tensor cores of sm_90a: every variant compiles without spills
// and agrees with the reference on the simulator, at extents that divide nothing; which problems are refused
// or stay with other variants.
#include "KernelTest.h"
#include "kernels/matmul/Matmul.h"
#include "kernels/slab/Slab.h"
#include <cmath>

using namespace gpuc;

namespace {

std::string tensor(const std::vector<int64_t> &shape, const std::string &type) {
  std::string s = "tensor<";
  for (int64_t d : shape)
    s += std::to_string(d) + "x";
  return s + type + ">";
}

/// x[batch, m, k] times y, with an epilogue of bias, GELU and an added matrix.
struct Product {
  int64_t m, n, k, batch = 1;
  std::string type = "f16", variant = "", resultType = "";
  bool bias = false, gelu = false, added = false, tf32 = false;
  bool constant = false;   ///< y is a weight [k, n]
  bool transposed = false; ///< y is stored [n, k]
  int splits = 1;

  std::string text() const {
    std::vector<int64_t> lead;
    if (batch > 1)
      lead.push_back(batch);
    auto shape = [&](int64_t a, int64_t b) {
      std::vector<int64_t> s = lead;
      s.push_back(a);
      s.push_back(b);
      return s;
    };
    std::string out = resultType.empty() ? type : resultType;
    std::string xs = tensor(shape(m, k), type),
                ys = constant ? tensor({k, n}, type) : tensor(shape(k, n), type),
                stored = transposed ? tensor(shape(n, k), type) : ys, zs = tensor(shape(m, n), type),
                rs = tensor(shape(m, n), out), bs = tensor({n}, type);
    std::string arguments = "%x: " + xs, operands = "%a = %x : " + xs + ", %b = %y : " + stored, body,
                constants;
    if (constant) {
      std::string values;
      for (int64_t i = 0; i < k; ++i) {
        values += i ? ", [" : "[";
        for (int64_t j = 0; j < n; ++j)
          values += (j ? ", " : "") + std::to_string((i * 7 + j * 3) % 11 - 5) + ".0";
        values += "]";
      }
      constants = "  %y = gpuc.constant dense<[" + values + "]> : " + ys + "\n";
    } else {
      arguments += ", %y: " + stored;
    }
    if (bias) {
      arguments += ", %v: " + bs;
      operands += ", %c = %v : " + bs;
    }
    if (added) {
      arguments += ", %r: " + zs;
      operands += ", %d = %r : " + zs;
    }
    std::string y = "%b", value = "%z";
    if (transposed) {
      body += std::string("    %bt = gpuc.transpose %b {perm = array<i64: ") +
              (batch > 1 ? "0, 2, 1" : "1, 0") + ">} : " + stored + " -> " + ys + "\n";
      y = "%bt";
    }
    body += "    %z = gpuc.matmul %a, " + y + (tf32 ? " {tf32}" : "") + " : " + xs + ", " + ys + " -> " + zs +
            "\n";
    if (bias) {
      body += "    %e1 = gpuc.binary add %z, %c : " + zs + ", " + bs + " -> " + zs + "\n";
      value = "%e1";
    }
    if (gelu) {
      body += "    %e2 = gpuc.unary gelu " + value + " : " + zs + " -> " + zs + "\n";
      value = "%e2";
    }
    if (added) {
      body += "    %e3 = gpuc.binary add " + value + ", %d : " + zs + ", " + zs + " -> " + zs + "\n";
      value = "%e3";
    }
    if (!resultType.empty()) {
      body += "    %e4 = gpuc.cast " + value + " : " + zs + " -> " + rs + "\n";
      value = "%e4";
    }
    std::string attributes = variant.empty() ? ""
                                             : " attributes {config = {splits = " + std::to_string(splits) +
                                                   " : i64, variant = \"" + variant + "\"}}";
    return "func.func @main(" + arguments + ") -> " + rs + " {\n" + constants +
           "  %o = gpuc.kernel \"matmul\" (" + operands + ") -> " + rs + attributes + " {\n" + body +
           "    gpuc.yield " + value + " : " + rs + "\n  }\n  return %o : " + rs + "\n}\n";
  }
};

/// A convolution over channels-last storage, with bias, relu and an added tensor.
struct Convolution {
  int64_t images, channels, outputs, height, width, taps, stride = 1, pad = 0, dilation = 1;
  std::string type = "f16", variant = "";
  bool added = false, tf32 = false;
  int splits = 1;

  int64_t pixels(int64_t extent) const { return (extent + 2 * pad - (taps - 1) * dilation - 1) / stride + 1; }
  static std::string channelsLast(int64_t c, int64_t h, int64_t w) {
    return "[" + std::to_string(h * w * c) + ", 1, " + std::to_string(w * c) + ", " + std::to_string(c) + "]";
  }
  /// The convolution reads the result of a pointwise kernel, which may be stored channels-last.
  std::string text() const {
    int64_t p = pixels(height), q = pixels(width);
    std::string xs = tensor({images, channels, height, width}, type),
                ys = tensor({images, outputs, p, q}, type),
                ws = tensor({outputs, channels, taps, taps}, type), bs = tensor({outputs}, type);
    auto copy = [&](const std::string &from, const std::string &to, const std::string &shape,
                    const std::string &storage) {
      return "  " + to + " = gpuc.kernel \"pointwise\" (%a = " + from + " : " + shape + ") -> " + shape +
             " attributes {storage = [" + storage + "]} {\n    %n = gpuc.unary neg %a : " + shape + " -> " +
             shape + "\n    gpuc.yield %n : " + shape + "\n  }\n";
    };
    std::string s =
        "func.func @main(%x: " + xs + ", %v: " + bs + (added ? ", %r: " + ys : "") + ") -> " + ys + " {\n";
    s += "  %w = gpuc.constant dense<" + weights() + "> : " + ws + "\n";
    s += copy("%x", "%xl", xs, channelsLast(channels, height, width));
    if (added)
      s += copy("%r", "%rl", ys, channelsLast(outputs, p, q));
    s += "  %o = gpuc.kernel \"convolution\" (%a = %xl : " + xs + ", %b = %w : " + ws + ", %c = %v : " + bs +
         (added ? ", %d = %rl : " + ys : "") + ") -> " + ys + " attributes {storage = [" +
         channelsLast(outputs, p, q) + "]" +
         (variant.empty()
              ? ""
              : ", config = {splits = " + std::to_string(splits) + " : i64, variant = \"" + variant + "\"}") +
         "} {\n";
    auto both = [](int64_t v) { return std::to_string(v) + ", " + std::to_string(v); };
    s += "    %y = gpuc.conv %a, %b bias %c {strides = array<i64: " + both(stride) +
         ">, low = array<i64: " + both(pad) + ">, high = array<i64: " + both(pad) +
         ">, dilations = array<i64: " + both(dilation) + ">, group = 1 : i64" + (tf32 ? ", tf32" : "") +
         "} : " + xs + ", " + ws + ", " + bs + " -> " + ys + "\n";
    if (added)
      s += "    %s = gpuc.binary add %y, %d : " + ys + ", " + ys + " -> " + ys + "\n";
    s += std::string("    %t = gpuc.unary relu ") + (added ? "%s" : "%y") + " : " + ys + " -> " + ys + "\n";
    s += "    gpuc.yield %t : " + ys + "\n  }\n";
    s += "  return %o : " + ys + "\n}\n";
    return s;
  }
  std::string weights() const {
    std::string s = "[";
    int64_t i = 0;
    for (int64_t o = 0; o < outputs; ++o) {
      s += o ? ", [" : "[";
      for (int64_t c = 0; c < channels; ++c) {
        s += c ? ", [" : "[";
        for (int64_t r = 0; r < taps; ++r) {
          s += r ? ", [" : "[";
          for (int64_t t = 0; t < taps; ++t)
            s += (t ? ", " : "") + std::to_string(double((i++ * 37 + o * 5) % 17 - 8) / 16);
          s += "]";
        }
        s += "]";
      }
      s += "]";
    }
    return s + "]";
  }
};

class WarpgroupTest : public KernelTest {
protected:
  WarpgroupTest() { setTarget("h200"); }
};

TEST_F(WarpgroupTest, EveryVariantCompilesWithoutSpills) {
  for (const WgmmaVariant &v : wgmmaVariants()) {
    SCOPED_TRACE(v.name.str());
    Product plain{1000, 520, 328}, rich{1000, 520, 328}, odd{1000, 521, 328};
    plain.variant = rich.variant = odd.variant = v.name.str();
    rich.bias = rich.gelu = rich.added = true;
    plain.transposed = rich.transposed = v.swapped; // only B may run along its rows
    checkCompiles(plain.text(), "h200");
    checkCompiles(rich.text(), "h200");
    if (!v.swapped) {
      odd.transposed = odd.bias = odd.gelu = true;
      checkCompiles(odd.text(), "h200");
      Product tf32 = odd, bfloat = odd;
      tf32.type = "f32";
      tf32.tf32 = true;
      bfloat.type = "bf16";
      checkCompiles(tf32.text(), "h200");
      checkCompiles(bfloat.text(), "h200");
    }
    Convolution window{2, 72, 136, 19, 23, 3, 2, 1};
    window.variant = v.name.str();
    window.added = true;
    checkCompiles(window.text(), "h200");
  }
}

KernelTolerance tolerance(const std::string &type, int64_t depth) {
  double size = 2 * std::sqrt(double(depth) + 1);
  if (type == "f16")
    return {4e-3, 2e-3 * size};
  return type == "bf16" ? KernelTolerance{2e-2, 1e-2 * size} : KernelTolerance{2e-3, 2e-3 * size};
}

TEST_F(WarpgroupTest, EveryVariantMultipliesAtUnevenExtents) {
  for (const WgmmaVariant &v : wgmmaVariants()) {
    SCOPED_TRACE(v.name.str());
    Product p{330, 216, 136};
    p.variant = v.name.str();
    p.transposed = v.swapped;
    p.bias = p.added = true;
    check(p.text(), tolerance("f16", p.k));
  }
}
TEST_F(WarpgroupTest, ReadsOperandsAsTheyLieAndPacksConstants) {
  for (bool constant : {false, true})
    for (bool transposed : {false, true})
      for (const char *variant : {"wgmma_128x128_pp", "wgmma_128x256"}) {
        if (constant && transposed)
          continue;
        Product p{150, 264, 200};
        p.variant = variant;
        p.constant = constant;
        p.transposed = transposed;
        check(p.text(), tolerance("f16", p.k * (constant ? 9 : 1)));
      }
}
TEST_F(WarpgroupTest, MultipliesBatches) {
  for (const char *variant : {"wgmma_64x128_pp", "wgmma_192x128"}) {
    Product p{70, 136, 72, 3};
    p.variant = variant;
    p.gelu = p.added = true;
    check(p.text(), tolerance("f16", p.k));
  }
}
TEST_F(WarpgroupTest, WritesAnyResult) {
  Product odd{65, 131, 64}, wide{65, 136, 64}, tf32{65, 136, 40}, bfloat{130, 136, 72};
  odd.transposed = wide.transposed = tf32.transposed = true; // rows of 131 columns have no 16-byte stride
  odd.bias = bfloat.bias = true;
  wide.resultType = "f32";
  tf32.type = "f32";
  tf32.tf32 = true;
  bfloat.type = "bf16";
  for (Product p : {odd, wide, tf32, bfloat})
    for (const char *variant : {"wgmma_128x128_pp", "wgmma_192x128"}) {
      SCOPED_TRACE(p.type + " " + p.resultType);
      p.variant = variant;
      check(p.text(), tolerance(p.type, p.k));
    }
}
TEST_F(WarpgroupTest, StagesResultsOf32Bits) {
  for (const WgmmaVariant &v : wgmmaVariants()) {
    if (v.sharedBytes(4) > target->maxSharedPerBlock)
      continue;
    SCOPED_TRACE(v.name.str());
    Product p{330, 216, 72};
    p.variant = v.name.str();
    p.type = "f32";
    p.tf32 = p.transposed = p.bias = p.added = true;
    check(p.text(), tolerance("f32", p.k));
    EXPECT_NE(units().find("StagedStore"), std::string::npos);
    checkCompiles(p.text(), "h200");
  }
}
TEST_F(WarpgroupTest, EveryVariantConvolves) {
  for (const WgmmaVariant &v : wgmmaVariants()) {
    SCOPED_TRACE(v.name.str());
    Convolution window{2, 72, 72, 9, 11, 3, 2, 1}, pointwise{2, 24, 136, 10, 11, 1};
    window.variant = pointwise.variant = v.name.str();
    window.added = true;
    check(window.text(), tolerance("f16", 72 * 9));
    check(pointwise.text(), tolerance("f16", 24));
  }
}
TEST_F(WarpgroupTest, ConvolvesDilatedAndPaddedWindows) {
  Convolution c{1, 16, 40, 12, 13, 3, 1, 2, 2};
  c.variant = "wgmma_64x128_pp";
  check(c.text(), tolerance("f16", 16 * 9));
}

TEST_F(WarpgroupTest, TurnsPixelsIntoChannelsForFirstLayers) {
  for (int64_t taps : {7, 3, 2})
    for (int64_t pad : {0, 1, 3}) {
      if (pad >= taps)
        continue;
      SCOPED_TRACE(std::to_string(taps) + " taps, padding " + std::to_string(pad));
      Convolution c{2, 3, 40, 19, 23, taps, 2, pad};
      c.variant = "wgmma_64x256_pp_swap";
      if (c.pixels(19) * c.pixels(23) * 2 % 2 != 0)
        c.variant = "wgmma_64x128_pp";
      check(c.text(), tolerance("f16", 3 * taps * taps));
      EXPECT_NE(units().find("writeBlock"), std::string::npos);
    }
  Convolution tf32{2, 3, 40, 19, 23, 7, 2, 3};
  tf32.type = "f32";
  tf32.tf32 = true;
  tf32.variant = "wgmma_64x128_pp";
  check(tf32.text(), tolerance("f32", 3 * 49));
}

TEST_F(WarpgroupTest, AreChosenForLargeProductsThatTensorMapsDescribe) {
  auto variantOf = [&](const Product &p) {
    auto emitted = emitAll(p.text());
    return emitted.empty() ? std::string() : emitted.front().text.substr(0, emitted.front().text.find('\n'));
  };
  Product large{4096, 1024, 1024}, uneven{4096, 1024, 1020}, exact = large, tf32 = large;
  exact.type = tf32.type = "f32";
  tf32.tf32 = true;
  EXPECT_NE(variantOf(large).find("wgmma_"), std::string::npos);
  EXPECT_EQ(variantOf(tf32).find("wgmma_"), std::string::npos) << "f32 along its rows stays with tiles";
  tf32.transposed = true;
  EXPECT_NE(variantOf(tf32).find("wgmma_"), std::string::npos);
  EXPECT_EQ(variantOf(uneven).find("wgmma_"), std::string::npos) << "rows of 2040 bytes";
  EXPECT_EQ(variantOf(exact).find("wgmma_"), std::string::npos) << "full precision";
  setTarget("a100");
  EXPECT_EQ(variantOf(large).find("wgmma_"), std::string::npos);
}
TEST_F(WarpgroupTest, RefusesWhatTensorMapsCannotDescribe) {
  Product uneven{64, 64, 20}, exact{64, 64, 64}, rowsOfB{64, 64, 64};
  uneven.variant = exact.variant = "wgmma_128x128_pp";
  exact.type = "f32";
  rowsOfB.variant = "wgmma_128x128_pp_swap"; // y would be the A side, contiguous along its rows
  for (const Product &p : {uneven, exact, rowsOfB})
    checkRefused(p.text(), "does not take this product");
  Convolution thin{1, 12, 8, 9, 9, 3};
  thin.variant = "wgmma_128x128_pp";
  checkRefused(thin.text(), "does not take this convolution");
}

TEST_F(WarpgroupTest, VariantsFitABlock) {
  for (const WgmmaVariant &v : wgmmaVariants())
    for (int resultBytes : {0, 2})
      EXPECT_LE(v.sharedBytes(resultBytes) * v.blocksPerSM, target->sharedPerSM - 1024 * v.blocksPerSM)
          << v.name.str();
}

// ../slab: few rows, constant columns.

TEST_F(WarpgroupTest, SlabsCompileWithoutSpills) {
  for (const WgmmaVariant &v : slabVariants())
    for (int splits : {1, 4}) {
      SCOPED_TRACE(v.name.str() + " / " + std::to_string(splits));
      Product rich{128, 128, 448}, odd{100, 72, 456};
      rich.constant = odd.constant = rich.bias = rich.gelu = rich.added = true;
      Convolution window{1, 72, 136, 14, 14, 3, 2, 1}; // 18 k-tiles: too many for one block
      if (splits == 1)
        window.channels = 64;
      rich.variant = odd.variant = window.variant = v.name.str();
      rich.splits = odd.splits = window.splits = splits;
      for (const std::string &text : {rich.text(), odd.text(), window.text()})
        checkCompiles(text, "h200");
    }
}
TEST_F(WarpgroupTest, SlabsMultiplyAtUnevenExtents) {
  for (const WgmmaVariant &v : slabVariants())
    for (int splits : {1, 2, 4, 8}) {
      SCOPED_TRACE(v.name.str() + " / " + std::to_string(splits));
      Product p{100, 72, 584}; // ten k-tiles: the last block has fewer, the last k-tile too
      p.splits = splits;
      if (splits == 8)
        p.k = 1016;
      p.constant = p.bias = p.added = true;
      p.variant = v.name.str();
      check(p.text(), tolerance("f16", p.k * 9));
    }
  Product one{30, 40, 24}, bfloat{130, 131, 200};
  one.constant = bfloat.constant = bfloat.gelu = true;
  one.variant = bfloat.variant = "slab_64x64";
  bfloat.type = "bf16";
  check(one.text(), tolerance("f16", one.k * 9));
  check(bfloat.text(), tolerance("bf16", bfloat.k * 9));
}
/// Depths whose rows do not fit beside the weights: later k-tiles take the places of those that have been
/// multiplied.
TEST_F(WarpgroupTest, SlabsRecyclePlaces) {
  struct Case {
    const char *variant;
    int64_t depth;
    int splits;
  };
  for (const Case &c : {Case{"slab_64x64", 1024, 1}, Case{"slab_64x64", 1000, 1}, Case{"slab_64x32", 1536, 1},
                        Case{"slab_64x96", 760, 1}, Case{"slab_64x32", 3072 + 40, 2}}) {
    SCOPED_TRACE(std::string(c.variant) + " / " + std::to_string(c.depth) + " / " + std::to_string(c.splits));
    Product p{70, 96, c.depth};
    p.variant = c.variant;
    p.splits = c.splits;
    p.constant = p.bias = p.added = true;
    WgmmaProblem problem;
    problem.steps = (c.depth + 63) / 64;
    SlabPlan plan = planSlab(*findWgmmaVariant(c.variant), problem, c.splits, *target);
    EXPECT_GT(plan.slots, 0);
    EXPECT_LT(plan.slots, plan.steps) << "or nothing is recycled";
    check(p.text(), tolerance("f16", p.k * 9));
    checkCompiles(p.text(), "h200");
  }
}
TEST_F(WarpgroupTest, SlabsConvolve) {
  for (const WgmmaVariant &v : slabVariants())
    for (int splits : {1, 2, 4}) {
      SCOPED_TRACE(v.name.str() + " / " + std::to_string(splits));
      Convolution window{1, 72, 72, 9, 11, 3, 2, 1}, pointwise{1, 264, 136, 7, 7, 1};
      window.variant = pointwise.variant = v.name.str();
      window.splits = pointwise.splits = splits;
      window.added = true;
      if (splits == 1) // 18 k-tiles are too many for one block
        window.channels = 64;
      check(window.text(), tolerance("f16", 72 * 9));
      if (splits < 4)
        check(pointwise.text(), tolerance("f16", 264));
    }
}
TEST_F(WarpgroupTest, SlabsRefuseWhatDoesNotFit) {
  Product variable{64, 64, 256}, many{4096, 256, 256}, empty{64, 64, 320}, uneven{64, 64, 320};
  many.constant = empty.constant = uneven.constant = true;
  empty.splits = 8;  // five k-tiles
  uneven.splits = 3; // of 64 rows
  for (Product p : {variable, many, empty, uneven}) {
    p.variant = "slab_64x32";
    checkRefused(p.text(), "does not take this product");
  }
  Product deep{64, 64, 64 * 64};
  deep.variant = "slab_64x64";
  deep.constant = true;
  checkRefused(deep.text(), "does not take this product"); // does not fit into shared memory
}
/// A product that yields moments, and one that reads the normalised result through its epilogue.
TEST_F(WarpgroupTest, KeepRowState) {
  std::vector<std::pair<std::string, int>> variants{
      {"slab_64x64", 1}, {"slab_64x64", 2}, {"slab_64x32", 1}, {"slab_64x96", 2}};
  for (const WgmmaVariant &v : wgmmaVariants())
    if (!v.swapped)
      variants.push_back({v.name.str(), 1});
  for (const auto &[variant, splits] : variants) {
    SCOPED_TRACE(variant + " " + std::to_string(splits));
    std::string config =
        "config = {splits = " + std::to_string(splits) + " : i64, variant = \"" + variant + "\"}";
    auto text = [&](const std::string &from, const std::string &body, const std::string &results,
                    const std::string &operands) {
      return "  " + from + " = gpuc.kernel \"matmul\" (" + operands + ") -> " + results + " attributes {" +
             config + "} {\n" + body + "  }\n";
    };
    std::string program =
        "func.func @main(%x: tensor<70x136xf16>) -> (tensor<70x72xf16>, tensor<70x4x2xf32>) {\n"
        "  %w0 = gpuc.constant dense<0.0625> : tensor<136x128xf16>\n"
        "  %w1 = gpuc.constant dense<0.125> : tensor<128x72xf16>\n"
        "  %sums = gpuc.constant dense<0.25> : tensor<72xf32>\n";
    program +=
        text("%p:2",
             "    %z = gpuc.matmul %a, %c : tensor<70x136xf16>, tensor<136x128xf16> -> tensor<70x128xf16>\n"
             "    %m = gpuc.row_moments %z {columns = 32 : i64} : tensor<70x128xf16> -> tensor<70x4x2xf32>\n"
             "    gpuc.yield %z, %m : tensor<70x128xf16>, tensor<70x4x2xf32>\n",
             "tensor<70x128xf16>, tensor<70x4x2xf32>",
             "%a = %x : tensor<70x136xf16>, %c = %w0 : tensor<136x128xf16>");
    program +=
        text("%q",
             "    %z = gpuc.matmul %a, %c : tensor<70x128xf16>, tensor<128x72xf16> -> tensor<70x72xf16>\n"
             "    %mean, %scale = gpuc.row_statistics %m {centered = true, epsilon = 1.0e-1, extent = 128 "
             ": i64} : tensor<70x4x2xf32> -> tensor<70x1xf32>, tensor<70x1xf32>\n"
             "    %f = gpuc.cast %z : tensor<70x72xf16> -> tensor<70x72xf32>\n"
             "    %t = gpuc.binary mul %mean, %s : tensor<70x1xf32>, tensor<72xf32> -> tensor<70x72xf32>\n"
             "    %d = gpuc.binary sub %f, %t : tensor<70x72xf32>, tensor<70x72xf32> -> tensor<70x72xf32>\n"
             "    %e = gpuc.binary mul %d, %scale : tensor<70x72xf32>, tensor<70x1xf32> -> "
             "tensor<70x72xf32>\n"
             "    %h = gpuc.cast %e : tensor<70x72xf32> -> tensor<70x72xf16>\n"
             "    gpuc.yield %h : tensor<70x72xf16>\n",
             "tensor<70x72xf16>",
             "%a = %p#0 : tensor<70x128xf16>, %c = %w1 : tensor<128x72xf16>, %m = %p#1 : "
             "tensor<70x4x2xf32>, %s = %sums : tensor<72xf32>");
    program += "  return %q, %p#1 : tensor<70x72xf16>, tensor<70x4x2xf32>\n}\n";
    check(program, {1e-2, 1e-2});
    checkCompiles(program, "h200");
  }
}

TEST_F(WarpgroupTest, MomentsNeedWholeBlocks) {
  auto text = [](const std::string &variant, int columns) {
    std::string moments = "tensor<70x" + std::to_string(96 / columns) + "x2xf32>";
    return "func.func @main(%x: tensor<70x64xf16>) -> (tensor<70x96xf16>, " + moments +
           ") {\n  %w = gpuc.constant dense<0.0625> : tensor<64x96xf16>\n"
           "  %p:2 = gpuc.kernel \"matmul\" (%a = %x : tensor<70x64xf16>, %c = %w : tensor<64x96xf16>) -> "
           "tensor<70x96xf16>, " +
           moments + " attributes {config = {splits = 1 : i64, variant = \"" + variant +
           "\"}} {\n"
           "    %z = gpuc.matmul %a, %c : tensor<70x64xf16>, tensor<64x96xf16> -> tensor<70x96xf16>\n"
           "    %m = gpuc.row_moments %z {columns = " +
           std::to_string(columns) + " : i64} : tensor<70x96xf16> -> " + moments +
           "\n    gpuc.yield %z, %m : tensor<70x96xf16>, " + moments +
           "\n  }\n  return %p#0, %p#1 : tensor<70x96xf16>, " + moments + "\n}\n";
  };
  check(text("slab_64x32", 32), {1e-2, 1e-2});
  check(text("slab_64x64", 32), {1e-2, 1e-2}); // the second tile has one part
  for (const char *variant : {"slab_64x32", "slab_64x48", "slab_64x64"})
    check(text(variant, 16), {1e-2, 1e-2});
  for (const char *variant : {"wgmma_64x64_x2", "slab_64x48"})
    checkRefused(text(variant, 32), "does not take this product");
  for (const char *variant : {"wgmma_64x64_x2", "slab_64x72"})
    checkRefused(text(variant, 16), "does not take this product");
}

} // namespace

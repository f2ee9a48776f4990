// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The convolution family: strides, pads, dilations, groups, depthwise, transposed, one to three spatial axes,
// storage.
#include "KernelTest.h"
#include "gpuc/IR/Storage.h"
#include "gpuc/Kernels/ConvLayout.h"
#include <tuple>

using namespace gpuc;

namespace {

using Extents = std::vector<int64_t>;

std::string list(const Extents &values) {
  std::string s;
  for (int64_t v : values)
    s += (s.empty() ? "" : ", ") + std::to_string(v);
  return s;
}
std::string tensor(const Extents &shape, const std::string &type) {
  std::string s = "tensor<";
  for (int64_t d : shape)
    s += std::to_string(d) + "x";
  return s + type + ">";
}
std::string channelsLast(const Extents &shape) {
  auto strides = channelsLastStrides(shape);
  return "[" + list(Extents(strides.begin(), strides.end())) + "]";
}

/// One convolution kernel in MLIR text. With `nhwcInput` x is written channels-last by a pointwise kernel
/// first.
struct Conv {
  Extents x, w = {};
  std::string type = "f32";
  Extents strides = {}, low = {}, high = {}, dilations = {}; ///< empty: 1, 0, low, 1
  int64_t group = 1;
  Extents transposed = {}; ///< the result's spatial extents; empty: an ordinary convolution
  bool bias = true, tf32 = false, constantW = true, nhwcInput = false, nhwcOutput = false;
  std::string epilogue = ""; ///< "", "relu", "residual"
  std::string config = "";   ///< of the kernel; empty: what select chooses

  Extents result() const {
    Extents y{x[0], transposed.empty() ? w[0] : w[1] * group};
    for (size_t d = 2; d < x.size(); ++d) {
      int64_t s = at(strides, d, 1), pads = at(low, d, 0) + at(high.empty() ? low : high, d, 0);
      y.push_back(transposed.empty() ? (x[d] + pads - at(dilations, d, 1) * (w[d] - 1) - 1) / s + 1
                                     : transposed[d - 2]);
    }
    return y;
  }
  int64_t at(const Extents &values, size_t d, int64_t none) const {
    return values.empty() ? none : values[d - 2];
  }
  std::string array(const Extents &values, int64_t none) const {
    return "array<i64: " + list(values.empty() ? Extents(x.size() - 2, none) : values) + ">";
  }
  std::string text() const {
    Extents y = result();
    std::string xt = tensor(x, type), wt = tensor(w, type), yt = tensor(y, type), bt = tensor({y[1]}, type);
    std::string s = "func.func @main(%x: " + xt + (constantW ? "" : ", %w: " + wt) +
                    (bias ? ", %bias: " + bt : "") + (epilogue == "residual" ? ", %skip: " + yt : "") +
                    ") -> " + yt + " {\n";
    if (constantW) // values that tell positions apart
      s += "  %w = gpuc.constant dense<" + nested(0, 0) + "> : " + wt + "\n";
    std::string from = "%x";
    if (nhwcInput) {
      s += "  %p = gpuc.kernel \"pointwise\" (%q = %x : " + xt + ") -> " + xt + " attributes {storage = [" +
           channelsLast(x) + "]} {\n  %n = gpuc.unary neg %q : " + xt + " -> " + xt +
           "\n  gpuc.yield %n : " + xt + "\n  }\n";
      from = "%p";
    }
    s += "  %o = gpuc.kernel \"convolution\" (%a = " + from + " : " + xt + ", %b = %w : " + wt +
         (bias ? ", %c = %bias : " + bt : "") + (epilogue == "residual" ? ", %d = %skip : " + yt : "") +
         ") -> " + yt + attributes(y) + " {\n";
    s += std::string("  %y = gpuc.") + (transposed.empty() ? "conv" : "conv_transpose") + " %a, %b" +
         (bias ? " bias %c" : "") + " {strides = " + array(strides, 1) + ", low = " + array(low, 0) +
         (transposed.empty() ? ", high = " + array(high.empty() ? low : high, 0) : "") +
         ", dilations = " + array(dilations, 1) + ", group = " + std::to_string(group) + " : i64" +
         (tf32 ? ", tf32" : "") + "} : " + xt + ", " + wt + (bias ? ", " + bt : "") + " -> " + yt + "\n";
    std::string yielded = "%y";
    if (!epilogue.empty()) {
      s += epilogue == "relu" ? "  %r = gpuc.unary relu %y : " + yt + " -> " + yt + "\n"
                              : "  %r = gpuc.binary add %y, %d : " + yt + ", " + yt + " -> " + yt + "\n";
      yielded = "%r";
    }
    return s + "  gpuc.yield " + yielded + " : " + yt + "\n  }\n  return %o : " + yt + "\n}\n";
  }
  std::string attributes(const Extents &y) const {
    std::string s = nhwcOutput ? "storage = [" + channelsLast(y) + "]" : "";
    if (!config.empty())
      s += (s.empty() ? "" : ", ") + ("config = {" + config + "}");
    return s.empty() ? s : " attributes {" + s + "}";
  }
  /// Nested list of w's values from axis `axis` on, first element at `first`.
  std::string nested(size_t axis, int64_t first) const {
    if (axis == w.size())
      return std::to_string((first * 37 % 64 - 31) / 32.0);
    std::string s = "[";
    for (int64_t i = 0; i < w[axis]; ++i)
      s += (i ? ", " : "") + nested(axis + 1, first * w[axis] + i);
    return s + "]";
  }
};

class ConvolutionTest : public KernelTest {
protected:
  void run(Conv c) {
    SCOPED_TRACE(::testing::Message() << c.type << " x " << list(c.x) << " w " << list(c.w) << " nhwc "
                                      << c.nhwcInput << c.nhwcOutput << " group " << c.group);
    int64_t depth = 1;
    for (size_t i = 1; i < c.w.size(); ++i)
      depth *= c.w[i];
    double size = 2 * std::sqrt(double(depth) + 1);
    KernelTolerance t{1e-5, 2e-6 * size};
    if (c.type == "f16" || c.tf32)
      t = {4e-3, 2e-3 * size};
    else if (c.type == "bf16")
      t = {2e-2, 1e-2 * size};
    else if (c.type == "f64")
      t = {1e-12, 1e-13 * size};
    check(c.text(), t);
  }
  /// Tensor cores and SIMT, each with channels-last and row-major tensors and one mixture.
  void runEverywhere(Conv c) {
    for (auto [type, in, out] : {std::tuple{"f16", true, true},
                                 {"f16", false, false},
                                 {"f16", false, true},
                                 {"f32", true, true},
                                 {"f32", false, false},
                                 {"f32", true, false}}) {
      c.type = type;
      c.nhwcInput = in;
      c.nhwcOutput = out;
      run(c);
    }
  }
};

TEST_F(ConvolutionTest, PadsAndStrides) {
  Conv c{{2, 8, 9, 7}, {16, 8, 3, 3}};
  c.low = {1, 1};
  runEverywhere(c);
  c.strides = {2, 1};
  c.low = {1, 0};
  c.high = {0, 2};
  runEverywhere(c);
}
TEST_F(ConvolutionTest, AllTypes) {
  for (const char *type : {"f16", "bf16", "f32", "f64"}) {
    Conv c{{1, 8, 5, 6}, {12, 8, 3, 2}, type};
    run(c);
    c.nhwcInput = c.nhwcOutput = true;
    run(c);
  }
  Conv c{{1, 8, 5, 6}, {12, 8, 3, 2}, "f32"};
  c.tf32 = c.nhwcInput = true;
  run(c);
}
TEST_F(ConvolutionTest, ChannelsThatFillNoVector) {
  Conv c{{1, 3, 11, 10}, {5, 3, 5, 5}};
  c.low = {2, 2};
  c.strides = {2, 2};
  runEverywhere(c);
}
TEST_F(ConvolutionTest, DilationWithoutBias) {
  Conv c{{1, 8, 11, 9}, {8, 8, 3, 2}};
  c.dilations = {2, 3};
  c.low = {2, 1};
  c.bias = false;
  runEverywhere(c);
}
TEST_F(ConvolutionTest, PointwiseConvolutionWithResidual) {
  Conv c{{2, 16, 5, 4}, {24, 16, 1, 1}};
  c.epilogue = "residual";
  runEverywhere(c);
}
TEST_F(ConvolutionTest, Groups) {
  Conv c{{1, 16, 5, 6}, {24, 8, 3, 3}};
  c.group = 2;
  c.low = {1, 1};
  runEverywhere(c);
  Conv odd{{1, 9, 5, 6}, {15, 3, 3, 3}};
  odd.group = 3;
  runEverywhere(odd);
}
TEST_F(ConvolutionTest, Depthwise) {
  Conv c{{2, 8, 9, 7}, {8, 1, 3, 3}};
  c.group = 8;
  c.low = {1, 1};
  c.epilogue = "relu";
  runEverywhere(c);
  c.strides = {2, 2};
  runEverywhere(c);
  Conv tall{{1, 8, 9, 7}, {8, 1, 3, 1}};
  tall.group = 8;
  runEverywhere(tall);
  Conv large{{1, 8, 12, 24}, {8, 1, 9, 9}};
  large.group = 8;
  large.low = {4, 4};
  runEverywhere(large);
  Conv multiplier{{1, 5, 6, 7}, {10, 1, 3, 3}};
  multiplier.group = 5;
  runEverywhere(multiplier);
  EXPECT_NE(units().find("runDepthwise"), std::string::npos);
}
TEST_F(ConvolutionTest, DepthwiseInPiecesOfEverySize) {
  for (int64_t kernel : {3, 5})
    for (int64_t stride : {1, 2})
      for (int vector : {8, 4, 2})
        for (int strip : {4, 2, 1}) {
          Conv c{{2, 16, 6, 7}, {16, 1, kernel, kernel}, "f16"};
          c.group = 16;
          c.low = {kernel / 2, kernel / 2};
          c.strides = {stride, stride};
          c.nhwcInput = c.nhwcOutput = true;
          c.epilogue = "relu";
          c.config = "variant = \"depthwise\", strip = " + std::to_string(strip) +
                     " : i64, channels = " + std::to_string(vector) + " : i64, threads = 64 : i64";
          run(c);
          EXPECT_NE(
              units().find("kStrip = " + std::to_string(strip) + ", kChannels = " + std::to_string(vector)),
              std::string::npos);
          checkCompiles(c.text(), "rtx4090");
        }
  EXPECT_NE(units().find("kWhole = true"), std::string::npos);
}
TEST_F(ConvolutionTest, NarrowWithWeightsInRegisters) {
  struct Case {
    int64_t channels, outputs;
    const char *type, *epilogue;
  };
  // Depths that end inside a block of 32; columns in runs of 8 and of 4, with and without idle lanes.
  for (const Case &t :
       {Case{16, 16, "f16", "relu"}, Case{32, 16, "f16", "residual"}, Case{16, 64, "bf16", "relu"},
        Case{24, 72, "f16", ""}, Case{72, 24, "f16", "residual"}, Case{96, 24, "bf16", "residual"},
        Case{8, 8, "f16", ""}, Case{48, 40, "f16", "relu"}, Case{144, 24, "f16", "residual"},
        Case{24, 120, "f16", "relu"}}) {
    SCOPED_TRACE(std::to_string(t.channels) + " -> " + std::to_string(t.outputs) + " " + t.type + " " +
                 t.epilogue);
    Conv c{{3, t.channels, 7, 13}, {t.outputs, t.channels, 1, 1}, t.type};
    c.nhwcInput = c.nhwcOutput = true;
    c.epilogue = t.epilogue;
    c.config = "variant = \"narrow\"";
    c.bias = t.channels != 48;
    run(c);
    checkCompiles(c.text());
  }
  Conv strided{{1, 16, 8, 8}, {16, 16, 1, 1}, "f16"}, window = strided, deep = strided, odd = strided;
  strided.strides = {2, 2};
  window.w = {16, 16, 3, 3};
  deep.x = {1, 512, 8, 8};
  deep.w = {64, 512, 1, 1};
  odd.x = {1, 12, 8, 8};
  odd.w = {16, 12, 1, 1};
  for (Conv c : {strided, window, deep, odd}) {
    c.nhwcInput = c.nhwcOutput = true;
    c.config = "variant = \"narrow\"";
    checkRefused(c.text(), "variant 'narrow' does not take this convolution");
  }
}
TEST_F(ConvolutionTest, LargeImagesChooseByTheirTraffic) {
  auto chosen = [&](const Conv &c) {
    std::string text;
    for (const EmittedKernel &k : emitAll(c.text()))
      text += k.text;
    return text;
  };
  setTarget("h200");
  Conv narrow{{32, 32, 112, 112}, {16, 32, 1, 1}, "f16"}, small = narrow,
                                                          depthwise{{32, 64, 56, 56}, {64, 1, 3, 3}, "f16"};
  small.x = {1, 32, 7, 7};
  depthwise.group = 64;
  depthwise.low = {1, 1};
  for (Conv *c : {&narrow, &small, &depthwise})
    c->nhwcInput = c->nhwcOutput = true;
  EXPECT_NE(chosen(narrow).find("convolution kernel, variant narrow"), std::string::npos);
  EXPECT_EQ(chosen(small).find("convolution kernel, variant narrow"), std::string::npos);
  std::string wide = chosen(depthwise);
  EXPECT_NE(wide.find("kStrip = 4, kChannels = 8"), std::string::npos);
  EXPECT_NE(wide.find("__launch_bounds__(128)"), std::string::npos);
}
TEST_F(ConvolutionTest, OneAndThreeSpatialAxes) {
  Conv line{{2, 8, 23}, {12, 8, 5}};
  line.strides = {2};
  line.low = {2};
  line.high = {1};
  runEverywhere(line);
  Conv volume{{1, 8, 4, 5, 3}, {12, 8, 3, 2, 3}};
  volume.low = {1, 0, 1};
  volume.strides = {1, 2, 1};
  runEverywhere(volume);
}
TEST_F(ConvolutionTest, ComputedWeights) {
  Conv c{{1, 8, 6, 5}, {12, 8, 3, 3}};
  c.constantW = false;
  runEverywhere(c);
  Conv depthwise{{1, 8, 6, 5}, {8, 1, 3, 3}};
  depthwise.group = 8;
  depthwise.constantW = false;
  runEverywhere(depthwise);
}
TEST_F(ConvolutionTest, SplitsLongSums) {
  Conv c{{1, 256, 3, 3}, {8, 256, 3, 3}, "f16"};
  c.low = {1, 1};
  c.epilogue = "relu";
  c.nhwcInput = c.nhwcOutput = true;
  run(c);
}
TEST_F(ConvolutionTest, TransposedByItsStride) {
  Conv c{{2, 8, 5, 4}, {8, 12, 2, 2}};
  c.strides = {2, 2};
  c.transposed = {10, 8};
  c.epilogue = "relu";
  runEverywhere(c);
}
TEST_F(ConvolutionTest, TransposedWithPadsAndOutputPadding) {
  Conv c{{1, 8, 5, 4}, {8, 6, 3, 3}};
  c.strides = {2, 2};
  c.low = {1, 1};
  c.transposed = {10, 8};
  runEverywhere(c);
}
TEST_F(ConvolutionTest, TransposedGroupsAndDilation) {
  Conv c{{1, 4, 5, 4}, {4, 3, 4, 4}};
  c.strides = {2, 3};
  c.group = 2;
  c.low = {1, 1};
  c.transposed = {10, 11};
  runEverywhere(c);
  Conv dilated{{1, 6, 5, 4}, {6, 4, 3, 3}};
  dilated.strides = {2, 2};
  dilated.low = {0, 1};
  dilated.dilations = {2, 3};
  dilated.transposed = {14, 12};
  dilated.bias = false;
  runEverywhere(dilated);
}
TEST_F(ConvolutionTest, EmptyResultsNeedNoLaunch) {
  Conv c{{0, 8, 5, 6}, {12, 8, 3, 3}};
  EXPECT_TRUE(emitAll(c.text()).empty());
}
TEST_F(ConvolutionTest, LayoutPreference) {
  EXPECT_TRUE(prefersChannelsLastInput({DType::F16, 64, 64, 1, true}));
  EXPECT_FALSE(prefersChannelsLastInput({DType::F16, 3, 64, 1, true}));
  EXPECT_TRUE(prefersChannelsLastInput({DType::F16, 32, 32, 32, true}));
  EXPECT_TRUE(prefersChannelsLastOutput({DType::F32, 3, 64, 1, true}));
}
TEST_F(ConvolutionTest, CompilesForEveryArchitecture) {
  Conv c{{1, 64, 14, 14}, {64, 64, 3, 3}, "f16"};
  c.low = {1, 1};
  c.nhwcInput = c.nhwcOutput = true;
  checkCompiles(c.text());
  Conv stem{{1, 3, 33, 33}, {16, 3, 7, 7}, "f32"};
  checkCompiles(stem.text());
}

} // namespace

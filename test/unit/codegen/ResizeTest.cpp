// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resize in pointwise kernels: modes, coordinate transformations, nearest rounding, antialiasing.
#include "KernelTest.h"

using namespace gpuc;

namespace {

class ResizeKernelTest : public KernelTest {
protected:
  /// Resizes the last two axes of 2x3x4x5 to `height` x `width`.
  void resize(const std::string &mode, const std::string &coordinate, int height, int width,
              const std::string &more = "", const std::string &nearest = "floor",
              const std::string &type = "f32", KernelTolerance tolerance = {1e-5, 1e-5}) {
    std::string in = "tensor<2x3x4x5x" + type + ">",
                out = "tensor<2x3x" + std::to_string(height) + "x" + std::to_string(width) + "x" + type + ">";
    check("func.func @main(%x: " + in + ") -> " + out +
              " {\n%y = gpuc.kernel \"pointwise\" (%a = %x : " + in + ") -> " + out +
              " {\n%r = gpuc.resize " + mode + " %a {coordinate = #gpuc<coordinate_mode " + coordinate +
              ">, nearest = #gpuc<nearest_mode " + nearest + ">, scales = array<f64: 1.0, 1.0, " +
              decimal(height / 4.0) + ", " + decimal(width / 5.0) + ">" + more + "} : " + in + " -> " + out +
              "\ngpuc.yield %r : " + out + "\n}\nreturn %y : " + out + "\n}\n",
          tolerance, {}, false);
  }
  /// With a decimal point, exactly.
  static std::string decimal(double v) {
    char text[64];
    snprintf(text, sizeof text, "%.17e", v);
    return text;
  }
};

TEST_F(ResizeKernelTest, NearestDecidesTiesExactly) {
  for (const char *coordinate :
       {"half_pixel", "asymmetric", "align_corners", "tf_half_pixel_for_nn", "pytorch_half_pixel"})
    for (const char *nearest : {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil"})
      for (auto [h, w] : {std::pair(8, 10), {6, 7}, {2, 3}})
        resize("nearest", coordinate, h, w, "", nearest, "f32", KernelTolerance::exact());
}
TEST_F(ResizeKernelTest, WholeFactorsNeedNoTable) {
  resize("nearest", "asymmetric", 8, 10);
  EXPECT_EQ(units().find("kTable"), std::string::npos) << units();
}
TEST_F(ResizeKernelTest, LinearInEveryCoordinateMode) {
  for (const char *coordinate :
       {"half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"})
    for (auto [h, w] : {std::pair(8, 10), {3, 7}, {1, 1}})
      resize("linear", coordinate, h, w);
}
TEST_F(ResizeKernelTest, CropAndExtrapolate) {
  resize("linear", "tf_crop_and_resize", 6, 7,
         ", roi = array<f64: 0.0, 0.0, -0.2, 0.1, 1.0, 1.0, 0.9, 1.3>, extrapolation = 9.5");
}
TEST_F(ResizeKernelTest, Cubic) {
  resize("cubic", "half_pixel", 7, 9, ", cubicCoeff = -0.5");
  resize("cubic", "align_corners", 7, 9, ", excludeOutside = true");
}
TEST_F(ResizeKernelTest, AntialiasedShrinkingLoops) {
  resize("linear", "half_pixel", 2, 2, ", antialias = true");
  resize("cubic", "half_pixel", 1, 2, ", antialias = true");
}
TEST_F(ResizeKernelTest, HalvesAndIntegers) {
  resize("linear", "half_pixel", 8, 9, "", "floor", "f16", KernelTolerance::half());
  resize("linear", "half_pixel", 8, 9, "", "floor", "ui8", {0, 1});
}

} // namespace

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resize: exact ties, coordinate modes, interpolation with and without antialiasing. Values of the
// interpolation tests are those of the ONNX documentation.
#include "Tensors.h"

using namespace gpuc;
using namespace gpuc::reference;

namespace {
/// Parameters for a resize to `to` of a tensor `from`, as if `sizes` had been given.
ResizeParams bySizes(const Shape &from, const Shape &to, ResizeMode mode, CoordinateMode coordinates) {
  ResizeParams p;
  p.mode = mode;
  p.coordinates = coordinates;
  p.outputShape = to;
  for (size_t d = 0; d < from.size(); ++d)
    p.scales.push_back(double(to[d]) / double(from[d]));
  return p;
}
} // namespace

TEST(Resize, NearestDecidesExactTiesAsWritten) {
  HostTensor x = iota(DType::I32, {6});
  for (int64_t out : {3, 9, 2, 4}) {
    ResizeParams p = bySizes({6}, {out}, ResizeMode::Nearest, CoordinateMode::HalfPixel);
    for (NearestMode mode : {NearestMode::RoundPreferFloor, NearestMode::RoundPreferCeil}) {
      p.nearest = mode;
      std::vector<double> got = read(resize(x, p));
      for (int64_t i = 0; i < out; ++i) {
        int64_t num = (2 * i + 1) * 6 - out, den = 2 * out; // coordinate num/den
        bool up = mode == NearestMode::RoundPreferCeil;
        int64_t twice = 2 * num + den - (up ? 0 : 1); // floor((2 num + den [- 1]) / (2 den))
        int64_t expected = std::min<int64_t>(5, std::max<int64_t>(0, twice >= 0 ? twice / (2 * den) : 0));
        EXPECT_EQ(got[i], double(expected)) << "out " << out << " position " << i;
      }
    }
  }
}
TEST(Resize, NearestAsymmetricUpsamplesByTwo) {
  ResizeParams p = bySizes({1, 2}, {2, 4}, ResizeMode::Nearest, CoordinateMode::Asymmetric);
  p.nearest = NearestMode::Floor;
  expectTensor(resize(iota(DType::F16, {1, 2}, 1), p), DType::F16, {2, 4}, {1, 1, 2, 2, 1, 1, 2, 2});
}
TEST(Resize, LinearHalfPixelUpsamples) {
  expectTensor(resize(iota(DType::F32, {2, 2}, 1),
                      bySizes({2, 2}, {4, 4}, ResizeMode::Linear, CoordinateMode::HalfPixel)),
               DType::F32, {4, 4},
               {1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
}
TEST(Resize, LinearAlignCorners) {
  ResizeParams p = bySizes({2, 2}, {4, 4}, ResizeMode::Linear, CoordinateMode::AlignCorners);
  std::vector<double> expected;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j)
      expected.push_back(1 + 2 * i / 3.0 + j / 3.0);
  expectTensor(resize(iota(DType::F32, {2, 2}, 1), p), DType::F32, {4, 4}, expected, 1e-6);
  expectTensor(
      resize(iota(DType::F32, {5}), bySizes({5}, {1}, ResizeMode::Linear, CoordinateMode::AlignCorners)),
      DType::F32, {1}, {0});
}
TEST(Resize, LinearAlignCornersUsesTheFractionalLength) {
  ResizeParams p = bySizes({2, 4}, {1, 2}, ResizeMode::Linear, CoordinateMode::AlignCorners);
  p.scales = {0.6f, 0.6f};
  expectTensor(resize(iota(DType::F32, {2, 4}, 1), p), DType::F32, {1, 2}, {1, 3.142857}, 1e-6);
}
TEST(Resize, CubicDownsamples) {
  ResizeParams p = bySizes({4, 4}, {3, 3}, ResizeMode::Cubic, CoordinateMode::HalfPixel);
  p.scales = {0.8, 0.8};
  expectTensor(resize(iota(DType::F32, {4, 4}, 1), p), DType::F32, {3, 3},
               {1.47119141, 2.78125, 4.08251953, 6.71142578, 8.02148438, 9.32275391, 11.91650391, 13.2265625,
                14.52783203},
               1e-6);
  p.excludeOutside = true;
  p.cubicCoeffA = -0.5;
  expectTensor(
      resize(iota(DType::F32, {4, 4}, 1), p), DType::F32, {3, 3},
      {1.36812675, 2.6695014, 4.0133367, 6.57362535, 7.875, 9.2188353, 11.94896657, 13.25034122, 14.59417652},
      1e-6);
}
TEST(Resize, AntialiasWidensTheKernel) {
  ResizeParams p = bySizes({4, 4}, {2, 2}, ResizeMode::Linear, CoordinateMode::HalfPixel);
  p.scales = {0.6, 0.6};
  p.antialias = true;
  expectTensor(resize(iota(DType::F32, {4, 4}, 1), p), DType::F32, {2, 2}, {2.875, 4.5, 9.375, 11}, 1e-6);
  p.mode = ResizeMode::Cubic;
  expectTensor(resize(iota(DType::F32, {4, 4}, 1), p), DType::F32, {2, 2},
               {2.5180721, 4.2858863, 9.589329, 11.357142}, 1e-5);
}
TEST(Resize, CropAndResizeExtrapolates) {
  ResizeParams p = bySizes({4}, {3}, ResizeMode::Linear, CoordinateMode::TfCropAndResize);
  p.roi = {0.5, 1.5};
  p.extrapolationValue = 10;
  expectTensor(resize(iota(DType::F32, {4}), p), DType::F32, {3}, {1.5, 3, 10});
}
TEST(Resize, IntegersTruncateAndEmptyAxesPass) {
  ResizeParams p = bySizes({2}, {4}, ResizeMode::Linear, CoordinateMode::HalfPixel);
  expectTensor(resize(make(DType::U8, {2}, {1, 4}), p), DType::U8, {4}, {1, 1, 3, 4});
  expectError(resize(make(DType::Bool, {2}, {1, 0}), p), StatusCode::Unsupported, "bool");
  ResizeParams empty = p;
  empty.outputShape = {0};
  expectTensor(resize(f32({0}, {}), empty), DType::F32, {0}, {});
  expectError(resize(f32({0}, {}), p), StatusCode::InvalidArgument, "empty");
  p.scales = {0};
  expectError(resize(f32({2}, {1, 2}), p), StatusCode::InvalidArgument, "scale");
}

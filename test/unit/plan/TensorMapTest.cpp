// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One test per rule of validateTensorMap: a right layout, one change makes it wrong, the message says what.
#include "SamplePlan.h"
#include <gtest/gtest.h>

using namespace gpuc;

using Swizzle = TensorMapLayout::Swizzle;

template <typename Change>
static void expectInvalid(TensorMapLayout layout, const char *fragment, Change change) {
  ASSERT_TRUE(validateTensorMap(layout).ok()) << validateTensorMap(layout).message();
  change(layout);
  Status status = validateTensorMap(layout);
  EXPECT_EQ(status.code(), StatusCode::InvalidArgument) << fragment;
  EXPECT_NE(status.message().find(fragment), std::string::npos)
      << fragment << " is not in: " << status.message();
}
template <typename Change> static void expectInvalid(const char *fragment, Change change) {
  expectInvalid(sampleTiledMap(), fragment, change);
}
template <typename Change> static void expectInvalidIm2col(const char *fragment, Change change) {
  expectInvalid(sampleIm2colMap(), fragment, change);
}

TEST(TensorMap, Dimensions) {
  expectInvalid("unknown or has less", [](TensorMapLayout &l) { l.dtype = DType::I4; });
  expectInvalid("unknown or has less", [](TensorMapLayout &l) { l.dtype = DType(200); });
  expectInvalid("the rank is 0, expected 1 to 5", [](TensorMapLayout &l) { l.rank = 0; });
  expectInvalid("the rank is -1", [](TensorMapLayout &l) { l.rank = -1; });
  expectInvalid("dimension 1 has 0 elements", [](TensorMapLayout &l) { l.dims[1] = 0; });
  expectInvalid("expected 1 to 2^32", [](TensorMapLayout &l) { l.dims[2] = (uint64_t(1) << 32) + 1; });
  expectInvalid("the stride of dimension 1 is 120", [](TensorMapLayout &l) { l.strides[0] = 120; });
  expectInvalid("a multiple of 16 below 2^40", [](TensorMapLayout &l) { l.strides[1] = uint64_t(1) << 40; });
  expectInvalid("the first element is at byte 4", [](TensorMapLayout &l) { l.byteOffset = 4; });
  TensorMapLayout repeated = sampleTiledMap();
  repeated.strides[1] = 0; // the same matrix for every index
  EXPECT_TRUE(validateTensorMap(repeated).ok());
  TensorMapLayout vector;
  vector.rank = 1, vector.dims = {1000}, vector.box = {256};
  EXPECT_TRUE(validateTensorMap(vector).ok());
}

TEST(TensorMap, Boxes) {
  expectInvalid("the box of dimension 1 is 0", [](TensorMapLayout &l) { l.box[1] = 0; });
  expectInvalid("the box of dimension 2 is 257, expected 1 to 256",
                [](TensorMapLayout &l) { l.box[2] = 257; });
  expectInvalid("the box has 1048576 bytes, expected at most 232448",
                [](TensorMapLayout &l) { l.box = {64, 128, 128}; });
  expectInvalid("a row of the box has 120 bytes, expected a multiple of 16",
                [](TensorMapLayout &l) { l.box[0] = 60; });
  expectInvalid("a row of the box has 128 bytes, expected at most the swizzle's 64",
                [](TensorMapLayout &l) { l.swizzle = Swizzle::B64; });
  expectInvalid("at most the swizzle's 128", [](TensorMapLayout &l) { l.box[0] = 72; });
  expectInvalid("unknown swizzle 7", [](TensorMapLayout &l) { l.swizzle = Swizzle(7); });
  expectInvalid("the element stride of dimension 1 is 9",
                [](TensorMapLayout &l) { l.elementStrides[1] = 9; });
  expectInvalid("the element stride of dimension 0 is 2, expected 1",
                [](TensorMapLayout &l) { l.elementStrides[0] = 2; });
  TensorMapLayout wide = sampleTiledMap();
  wide.swizzle = Swizzle::None;
  wide.box[0] = 256;
  EXPECT_TRUE(validateTensorMap(wide).ok());
}

TEST(TensorMap, Im2col) {
  expectInvalidIm2col("the rank with im2col is 2, expected 3 to 5", [](TensorMapLayout &l) { l.rank = 2; });
  expectInvalidIm2col("channels per pixel is 257", [](TensorMapLayout &l) { l.channelsPerPixel = 257; });
  expectInvalidIm2col("pixels per column is 0", [](TensorMapLayout &l) { l.pixelsPerColumn = 0; });
  expectInvalidIm2col("pixels per column is 1025", [](TensorMapLayout &l) { l.pixelsPerColumn = 1025; });
  expectInvalidIm2col("a pixel's part has 8 bytes", [](TensorMapLayout &l) { l.channelsPerPixel = 8; });
  expectInvalidIm2col("lower corner of spatial dimension 0 is -129, expected -128 to 127",
                      [](TensorMapLayout &l) { l.lower[0] = -129; });
  expectInvalidIm2col("upper corner of spatial dimension 1 is 128",
                      [](TensorMapLayout &l) { l.upper[1] = 128; });
  expectInvalidIm2col("the box of spatial dimension 1 is empty", [](TensorMapLayout &l) { l.upper[1] = -4; });
  expectInvalidIm2col("lower corner of spatial dimension 0 is -17, expected -16 to 15",
                      [](TensorMapLayout &l) {
                        l.rank = 5, l.dims[4] = 1, l.strides[3] = 192;
                        l.lower[0] = -17;
                      });
  TensorMapLayout one = sampleIm2colMap();
  one.rank = 3;
  one.lower[0] = -1000;
  EXPECT_TRUE(validateTensorMap(one).ok());
  TensorMapLayout swizzled = sampleIm2colMap();
  swizzled.channelsPerPixel = 64;
  swizzled.swizzle = Swizzle::B32;
  EXPECT_FALSE(validateTensorMap(swizzled).ok());
}

TEST(TensorMap, Extent) {
  EXPECT_EQ(tensorMapExtent(sampleTiledMap()), 1672u);
  EXPECT_EQ(tensorMapExtent(sampleIm2colMap()), 192u);
  TensorMapLayout large = sampleTiledMap();
  large.dims = {uint64_t(1) << 32, uint64_t(1) << 32, 1};
  large.strides = {(uint64_t(1) << 40) - 16, 16};
  ASSERT_TRUE(validateTensorMap(large).ok());
  EXPECT_EQ(tensorMapExtent(large), std::nullopt);
}

TEST(TensorMap, Text) {
  EXPECT_EQ(toString(sampleTiledMap()),
            "bf16[60x3x2] strides 128,640 box 64x3x1 every 1x2x1 swizzle 128 at +656");
  EXPECT_EQ(toString(sampleIm2colMap()),
            "i8[16x4x3x1] strides 16,64,192 im2col 16 channels x 8 pixels, corners -1,-1 to -1,-1");
}

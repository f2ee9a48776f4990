// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Movement ops on prime shapes, and how they refuse what does not fit.
#include "Tensors.h"

using namespace gpuc;
using namespace gpuc::reference;

TEST(Transpose, RotatesThreeAxes) {
  HostTensor x = iota(DType::F32, {2, 3, 5});
  auto y = transpose(x, {2, 0, 1});
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(y->shape(), (Shape{5, 2, 3}));
  for (int64_t a = 0; a < 2; ++a)
    for (int64_t b = 0; b < 3; ++b)
      for (int64_t c = 0; c < 5; ++c)
        EXPECT_EQ(y->data<float>()[(c * 2 + a) * 3 + b], float((a * 3 + b) * 5 + c));
  expectSame(transpose(*y, {1, 2, 0}), x);
  expectError(transpose(x, {0, 0, 1}), StatusCode::InvalidArgument, "twice");
  expectTensor(transpose(f32({}, {7}), {}), DType::F32, {}, {7});
}
TEST(Transpose, MovesPackedElements) {
  for (DType t : {DType::U4, DType::F4E2M1}) {
    HostTensor x = make(t, {2, 3}, {0, 1, 2, 3, 1, 0});
    expectTensor(transpose(x, {1, 0}), t, {3, 2}, {0, 3, 1, 1, 2, 0});
  }
  expectTensor(transpose(make(DType::I2, {3, 1}, {-2, 1, -1}), {1, 0}), DType::I2, {1, 3}, {-2, 1, -1});
}
TEST(Transpose, WorksBeyondEightAxes) {
  HostTensor x = iota(DType::I8, {1, 2, 1, 2, 1, 1, 2, 1, 2, 1});
  auto y = transpose(x, {9, 8, 7, 6, 5, 4, 3, 2, 1, 0});
  ASSERT_TRUE(y.ok());
  EXPECT_EQ(y->data<int8_t>()[1], 8);
}
TEST(Reshape, KeepsBytesAndCountsElements) {
  expectTensor(reshape(iota(DType::F32, {2, 3}), {3, 2}), DType::F32, {3, 2}, {0, 1, 2, 3, 4, 5});
  expectError(reshape(iota(DType::F32, {2, 3}), {5}), StatusCode::InvalidArgument, "6 elements");
  expectTensor(reshape(f32({0, 3}, {}), {5, 0}), DType::F32, {5, 0}, {});
}
TEST(Expand, RepeatsExtentOne) {
  expectTensor(expand(f32({2, 1}, {1, 2}), {2, 2, 3}), DType::F32, {2, 2, 3},
               {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2});
  expectError(expand(f32({2}, {1, 2}), {3}), StatusCode::InvalidArgument, "broadcast");
  expectError(expand(f32({1}, {1}), {int64_t(1) << 40, int64_t(1) << 40}), StatusCode::InvalidArgument,
              "2^48");
}
TEST(Slice, StepsBothWays) {
  HostTensor x = iota(DType::I16, {7});
  expectTensor(slice(x, {6}, {-3}, {3}), DType::I16, {3}, {6, 3, 0});
  expectTensor(slice(x, {1}, {2}, {3}), DType::I16, {3}, {1, 3, 5});
  expectTensor(slice(x, {7}, {1}, {0}), DType::I16, {0}, {});
  expectTensor(slice(x, {3}, {INT64_MIN}, {1}), DType::I16, {1}, {3});
  expectError(slice(x, {5}, {2}, {2}), StatusCode::InvalidArgument, "extent 7");
  expectError(slice(x, {5}, {INT64_MAX}, {3}), StatusCode::InvalidArgument, "leaves axis 0");
  expectTensor(slice(iota(DType::F32, {3, 5}), {2, 1}, {-2, 3}, {2, 2}), DType::F32, {2, 2}, {11, 14, 1, 4});
}
TEST(Concat, JoinsTheMiddleAxis) {
  expectTensor(concat({iota(DType::F32, {2, 1, 2}), f32({2, 0, 2}, {}), iota(DType::F32, {2, 2, 2}, 10)}, 1),
               DType::F32, {2, 3, 2}, {0, 1, 10, 11, 12, 13, 2, 3, 14, 15, 16, 17});
  expectError(concat({iota(DType::F32, {2, 1}), iota(DType::F32, {3, 1})}, 1), StatusCode::InvalidArgument,
              "3x1");
}
TEST(Pad, Modes) {
  HostTensor x = iota(DType::F32, {3}, 1), value = f32({}, {9});
  expectTensor(pad(x, {2}, {1}, PadMode::Constant, &value), DType::F32, {6}, {9, 9, 1, 2, 3, 9});
  expectTensor(pad(x, {2}, {1}, PadMode::Constant), DType::F32, {6}, {0, 0, 1, 2, 3, 0});
  expectTensor(pad(x, {2}, {1}, PadMode::Edge), DType::F32, {6}, {1, 1, 1, 2, 3, 3});
  expectTensor(pad(x, {2}, {1}, PadMode::Reflect), DType::F32, {6}, {3, 2, 1, 2, 3, 2});
  expectTensor(pad(x, {2}, {4}, PadMode::Wrap), DType::F32, {9}, {2, 3, 1, 2, 3, 1, 2, 3, 1});
  expectTensor(pad(x, {0}, {5}, PadMode::Reflect), DType::F32, {8}, {1, 2, 3, 2, 1, 2, 3, 2});
}
TEST(Pad, NegativeCropsAndCommutesWithConstant) {
  HostTensor value = f32({}, {9});
  expectTensor(pad(iota(DType::F32, {2, 3}), {-1, 1}, {1, -2}, PadMode::Constant, &value), DType::F32, {2, 2},
               {9, 3, 9, 9});
  expectError(pad(iota(DType::F32, {3}), {-2}, {-2}, PadMode::Constant), StatusCode::InvalidArgument,
              "axis 0");
  expectError(pad(f32({0}, {}), {1}, {0}, PadMode::Edge), StatusCode::InvalidArgument, "empty");
}
TEST(Tile, RepeatsWholeAxes) {
  expectTensor(tile(iota(DType::U8, {2, 2}), {1, 2}), DType::U8, {2, 4}, {0, 1, 0, 1, 2, 3, 2, 3});
  expectTensor(tile(iota(DType::U8, {2}), {0}), DType::U8, {0}, {});
  expectError(tile(iota(DType::U8, {2}), {-1}), StatusCode::InvalidArgument, "-1 times");
}
TEST(Trilu, KeepsOneSideOfADiagonal) {
  HostTensor x = iota(DType::I64, {2, 3}, 1);
  expectTensor(trilu(x, 0, true), DType::I64, {2, 3}, {1, 2, 3, 0, 5, 6});
  expectTensor(trilu(x, 0, false), DType::I64, {2, 3}, {1, 0, 0, 4, 5, 0});
  expectTensor(trilu(x, 2, true), DType::I64, {2, 3}, {0, 0, 3, 0, 0, 0});
  expectTensor(trilu(x, -1, false), DType::I64, {2, 3}, {0, 0, 0, 4, 0, 0});
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Gather and scatter: negative, out-of-range and duplicate indices; TopK ties.
#include "Tensors.h"

using namespace gpuc;
using namespace gpuc::reference;
using SR = ScatterReduction;

TEST(Gather, NegativeIndicesAndMiddleAxis) {
  HostTensor x = iota(DType::F32, {2, 3, 2});
  expectTensor(gather(x, i64({2}, {-1, 0}), 1), DType::F32, {2, 2, 2}, {4, 5, 0, 1, 10, 11, 6, 7});
  expectTensor(gather(x, make(DType::I32, {}, {1}), 0), DType::F32, {3, 2}, {6, 7, 8, 9, 10, 11});
  expectError(gather(x, i64({1}, {3}), 1), StatusCode::InvalidArgument,
              "index 3 is not in [-3, 3) of axis 1");
  expectError(gather(x, i64({1}, {INT64_MIN}), 1), StatusCode::InvalidArgument, "not in [-3, 3)");
  expectError(gather(x, f32({1}, {0}), 1), StatusCode::Unsupported, "f32");
  expectTensor(gather(f32({0, 2}, {}), i64({0}, {}), 0), DType::F32, {0, 2}, {});
}
TEST(Gather, EqualsSliceForARange) {
  HostTensor x = noise(DType::F16, {3, 7, 5});
  expectSame(gather(x, i64({3}, {5, 3, 1}), 1), slice(x, {0, 5, 0}, {1, -2, 1}, {3, 3, 5}));
}
TEST(GatherElements, ReadsAlongOneAxis) {
  HostTensor x = iota(DType::I8, {3, 3}, 1);
  expectTensor(gatherElements(x, i64({2, 3}, {1, 2, 0, -1, 0, 0}), 0), DType::I8, {2, 3}, {4, 8, 3, 7, 2, 3});
  expectError(gatherElements(x, i64({1, 1}, {-4}), 0), StatusCode::InvalidArgument, "index -4");
  expectError(gatherElements(x, i64({1, 4}, {0, 0, 0, 0}), 0), StatusCode::InvalidArgument, "1x4");
}
TEST(GatherNd, DepthIsTheLastExtentOfIndices) {
  HostTensor x = iota(DType::F32, {2, 2, 2});
  expectTensor(gatherNd(x, i64({2, 1}, {1, -2})), DType::F32, {2, 2, 2}, {4, 5, 6, 7, 0, 1, 2, 3});
  expectTensor(gatherNd(x, i64({2, 1, 2}, {0, 1, 1, 0})), DType::F32, {2, 1, 2}, {2, 3, 4, 5});
  expectTensor(gatherNd(x, i64({2, 1}, {1, 0}), 1), DType::F32, {2, 2}, {2, 3, 4, 5});
  expectTensor(gatherNd(x, i64({2, 0}, {})), DType::F32, {2, 2, 2, 2},
               {0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7});
  expectError(gatherNd(x, i64({1, 1}, {2})), StatusCode::InvalidArgument, "index 2");
  expectError(gatherNd(x, i64({1, 4}, {0, 0, 0, 0})), StatusCode::InvalidArgument, "1x4");
}
TEST(ScatterNd, AccumulatesDuplicatesOntoTheData) {
  HostTensor x = iota(DType::I64, {5}, 1), at = i64({3, 1}, {1, -1, 1}), updates = i64({3}, {10, 20, 30});
  expectTensor(scatterNd(x, at, updates, SR::None), DType::I64, {5}, {1, 30, 3, 4, 20});
  expectTensor(scatterNd(x, at, updates, SR::Add), DType::I64, {5}, {1, 42, 3, 4, 25});
  expectTensor(scatterNd(x, at, updates, SR::Mul), DType::I64, {5}, {1, 600, 3, 4, 100});
  expectTensor(scatterNd(x, at, updates, SR::Min), DType::I64, {5}, {1, 2, 3, 4, 5});
  expectTensor(scatterNd(x, at, updates, SR::Max), DType::I64, {5}, {1, 30, 3, 4, 20});
  EXPECT_EQ(read(x), (std::vector<double>{1, 2, 3, 4, 5})) << "the operand must not change";
  expectError(scatterNd(x, i64({1, 1}, {5}), i64({1}, {0}), SR::Add), StatusCode::InvalidArgument, "[-5, 5)");
}
TEST(ScatterNd, CopiesWholeSlices) {
  HostTensor x = HostTensor(DType::F16, {3, 2}), updates = iota(DType::F16, {2, 2}, 1);
  expectTensor(scatterNd(x, i64({2, 1}, {2, 0}), updates, SR::None), DType::F16, {3, 2}, {3, 4, 0, 0, 1, 2});
}
TEST(ScatterElements, UpdatesMayBeLongerThanTheAxis) {
  HostTensor x = f32({2}, {1, 2}), at = i64({5}, {0, 0, -1, 0, 1}), updates = f32({5}, {1, 2, 3, 4, 5});
  expectTensor(scatterElements(x, at, updates, 0, SR::Add), DType::F32, {2}, {8, 10});
  expectTensor(scatterElements(x, at, updates, 0, SR::None), DType::F32, {2}, {4, 5});
  expectTensor(
      scatterElements(HostTensor(DType::F32, {3, 2}), i64({1, 2}, {2, 1}), f32({1, 2}, {7, 8}), 0, SR::None),
      DType::F32, {3, 2}, {0, 0, 0, 8, 7, 0});
  expectError(scatterElements(x, i64({1}, {-3}), f32({1}, {0}), 0, SR::None), StatusCode::InvalidArgument,
              "index -3");
}
TEST(ScatterElements, Int64IsExactAndHalfIsRoundedOnce) {
  int64_t big = (int64_t(1) << 60) + 1;
  EXPECT_EQ(scatterElements(i64({1}, {big}), i64({1}, {0}), i64({1}, {2}), 0, SR::Add)->data<int64_t>()[0],
            big + 2);
  HostTensor x = make(DType::F16, {1}, {2048}); // 2048 + 1 + 1: each step alone would be lost
  expectTensor(scatterElements(x, i64({2}, {0, 0}), make(DType::F16, {2}, {1, 1}), 0, SR::Add), DType::F16,
               {1}, {2050});
}

TEST(TopK, TiesTakeTheLowerIndex) {
  HostTensor x = f32({7}, {1, 3, -0.0, 3, 0.0, 3, 1});
  auto largest = topk(x, 5, 0);
  ASSERT_TRUE(largest.ok());
  EXPECT_EQ(read(largest->indices), (std::vector<double>{1, 3, 5, 0, 6}));
  auto smallest = topk(x, 4, 0, /*largest=*/false);
  EXPECT_EQ(read(smallest->indices), (std::vector<double>{2, 4, 0, 6}));
  EXPECT_EQ(read(smallest->values), (std::vector<double>{0, 0, 1, 1}));
}
TEST(TopK, NaNIsTheLargest) {
  HostTensor x = f32({5}, {1, kNaN, kInf, kNaN, -1});
  EXPECT_EQ(read(topk(x, 3, 0)->indices), (std::vector<double>{1, 3, 2}));
  EXPECT_EQ(read(topk(x, 5, 0, false)->indices), (std::vector<double>{4, 0, 2, 1, 3}));
}
TEST(TopK, MiddleAxisUnsortedAndErrors) {
  HostTensor x = make(DType::I32, {2, 3, 2}, {1, 6, 5, 2, 3, 4, 9, 0, 8, 1, 7, 2});
  auto r = topk(x, 2, 1, true, /*sorted=*/false);
  ASSERT_TRUE(r.ok());
  EXPECT_EQ(r->values.shape(), (Shape{2, 2, 2}));
  EXPECT_EQ(read(r->indices), (std::vector<double>{1, 0, 2, 2, 0, 1, 1, 2}));
  expectError(topk(x, 4, 1), StatusCode::InvalidArgument, "k = 4");
  EXPECT_EQ(topk(x, 0, 1)->values.shape(), (Shape{2, 0, 2}));
}

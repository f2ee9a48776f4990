// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pooling: padding, ceil-mode windows, divisors, indices.
#include "Tensors.h"

using namespace gpuc;
using namespace gpuc::reference;

namespace {
HostTensor line(std::vector<double> values) { return f32({1, 1, int64_t(values.size())}, values); }
} // namespace

TEST(MaxPool, PaddingNeverWinsAndNaNDoes) {
  HostTensor x = line({-5, -3, -4});
  expectTensor(maxPool(x, {{3}, {2}, {1}, {1}, {1}}, {2}), DType::F32, {1, 1, 2}, {-3, -3});
  expectTensor(maxPool(line({1, kNaN, 3}), {{2}, {1}, {0}, {0}, {1}}, {2}), DType::F32, {1, 1, 2},
               {kNaN, kNaN});
  expectTensor(maxPool(make(DType::I8, {1, 1, 3}, {-5, -3, -4}), {{3}, {2}, {1}, {1}, {1}}, {2}), DType::I8,
               {1, 1, 2}, {-3, -3});
}
TEST(MaxPool, DilationAndCeilModeWindows) {
  HostTensor x = line({1, 9, 2, 8, 3});
  expectTensor(maxPool(x, {{2}, {1}, {0}, {0}, {2}}, {3}), DType::F32, {1, 1, 3}, {2, 9, 3});
  expectTensor(maxPool(x, {{2}, {2}, {0}, {0}, {1}}, {3}), DType::F32, {1, 1, 3}, {9, 8, 3});
}
TEST(MaxPool, IndicesOfTheFirstMaximumInBothOrders) {
  HostTensor x = f32({1, 2, 2, 3}, {1, 5, 5, 2, 5, 0, 7, 0, 0, 0, 0, 9});
  PoolParams p{{2, 2}, {1, 1}, {0, 0}, {0, 0}, {1, 1}};
  expectTensor(maxPoolIndices(x, p, {1, 2}), DType::I64, {1, 2, 1, 2}, {1, 1, 6, 11});
  expectTensor(maxPoolIndices(x, p, {1, 2}, 1), DType::I64, {1, 2, 1, 2}, {2, 2, 6, 11});
  expectTensor(maxPoolIndices(line({-kInf, -kInf}), {{2}, {1}, {0}, {0}, {1}}, {1}), DType::I64, {1, 1, 1},
               {0});
}
TEST(AvgPool, DivisorCountsRealOrPaddedCells) {
  HostTensor x = line({2, 4, 6});
  PoolParams p{{3}, {2}, {1}, {1}, {1}};
  expectTensor(avgPool(x, p, {2}, false), DType::F32, {1, 1, 2}, {3, 5});
  expectTensor(avgPool(x, p, {2}, true), DType::F32, {1, 1, 2}, {2, 10 / 3.0}, 1e-6);
}
TEST(AvgPool, CellsThatCeilModeAddsNeverCount) {
  // in 4, kernel 3, stride 2, no pads: ceil_mode gives 2 windows, the last has cells 2, 3 and one beyond the
  // end.
  HostTensor x = line({1, 2, 3, 5});
  expectTensor(avgPool(x, {{3}, {2}, {0}, {0}, {1}}, {2}, true), DType::F32, {1, 1, 2}, {2, 4});
  // one declared pad at the end: the last window [2, 5) lies inside it.
  expectTensor(avgPool(x, {{3}, {2}, {0}, {1}, {1}}, {2}, true), DType::F32, {1, 1, 2}, {2, 8 / 3.0}, 1e-6);
}
TEST(AvgPool, TwoDimensionsWithDilation) {
  HostTensor x = iota(DType::F16, {1, 1, 3, 3});
  expectTensor(avgPool(x, {{2, 2}, {1, 1}, {0, 0}, {0, 0}, {2, 2}}, {1, 1}, false), DType::F16, {1, 1, 1, 1},
               {4});
  expectTensor(avgPool(x, {{2, 2}, {1, 1}, {1, 1}, {0, 0}, {1, 1}}, {3, 3}, true), DType::F16, {1, 1, 3, 3},
               {0, 0.25, 0.75, 0.75, 2, 3, 2.25, 5, 6});
}
TEST(Pool, EmptyBatchAndBadParameters) {
  expectTensor(maxPool(f32({0, 1, 3}, {}), {{2}, {1}, {0}, {0}, {1}}, {2}), DType::F32, {0, 1, 2}, {});
  expectError(maxPool(line({1}), {{0}, {1}, {0}, {0}, {1}}, {1}), StatusCode::InvalidArgument,
              "spatial axis 0");
  expectError(avgPool(line({1}), {{1, 1}, {1}, {0}, {0}, {1}}, {1}, false), StatusCode::InvalidArgument,
              "one entry");
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shape rules: the results that verification tests do not show, and the pooling windows against a plain
// search.
#include "gpuc/IR/ShapeRules.h"
#include <gtest/gtest.h>

using namespace gpuc;
using namespace gpuc::shapes;

namespace {

TEST(ShapeRules, Broadcast) {
  EXPECT_EQ(*broadcastShape("c", {{2, 1, 5}, {3, 1}, {}}), (Shape{2, 3, 5}));
  EXPECT_EQ(*broadcastShape("c", {{0}, {1}}), (Shape{0}));
  EXPECT_FALSE(broadcastShape("c", {{0}, {2}}).ok());
  EXPECT_EQ(*broadcastShape("c", {}), (Shape{}));
}

TEST(ShapeRules, Products) {
  EXPECT_EQ(*matmulShape({4, 1, 3, 5}, {2, 5, 7}), (Shape{4, 2, 3, 7}));
  EXPECT_EQ(*matmulShape({3, 0}, {0, 7}), (Shape{3, 7}));
}

TEST(ShapeRules, Indexing) {
  EXPECT_EQ(*gatherShape({7, 5}, {2, 3}, 1), (Shape{7, 2, 3}));
  EXPECT_EQ(*gatherShape({0, 5}, {0}, 0), (Shape{0, 5}));
  EXPECT_EQ(*gatherNdShape({2, 3, 4}, {2, 9, 1}, 1), (Shape{2, 9, 4}));
  EXPECT_EQ(*gatherNdShape({2, 3, 4}, {5, 0}, 0), (Shape{5, 2, 3, 4}));
  EXPECT_EQ(*gatherElementsShape({3, 5}, {2, 9}, 1), (Shape{2, 9}));
}

TEST(ShapeRules, Convolution) {
  std::vector<int64_t> s{2, 1}, low{1, 0}, high{0, 2}, d{1, 2};
  Window window{{}, s, low, high, d};
  // rows: (5+1+0 - 3)/2 + 1 = 2; columns: (7+0+2 - 5)/1 + 1 = 5
  EXPECT_EQ(*convShape({1, 4, 5, 7}, {6, 2, 3, 3}, nullptr, window, 2), (Shape{1, 6, 2, 5}));
}

/// Whether some window holds no cell, by looking at every tap.
bool hasEmptyWindow(int64_t extent, int64_t windows, int64_t kernel, int64_t stride, int64_t low,
                    int64_t dilation) {
  for (int64_t w = 0; w < windows; ++w) {
    bool full = false;
    for (int64_t k = 0; k < kernel; ++k) {
      int64_t at = w * stride - low + k * dilation;
      full |= at >= 0 && at < extent;
    }
    if (!full)
      return true;
  }
  return false;
}

TEST(ShapeRules, EveryPoolWindowHoldsACell) {
  for (int64_t extent = 0; extent < 6; ++extent)
    for (int64_t windows = 0; windows < 6; ++windows)
      for (int64_t kernel = 1; kernel < 4; ++kernel)
        for (int64_t stride = 1; stride < 4; ++stride)
          for (int64_t low = 0; low < 9; ++low)
            for (int64_t dilation = 1; dilation < 5; ++dilation) {
              std::vector<int64_t> k{kernel}, s{stride}, l{low}, h{0}, d{dilation};
              Window window{k, s, l, h, d};
              bool ok = checkPool("pool", {1, 1, extent}, window, {1, 1, windows}).ok();
              ASSERT_EQ(ok, !hasEmptyWindow(extent, windows, kernel, stride, low, dilation))
                  << extent << " " << windows << " " << kernel << " " << stride << " " << low << " "
                  << dilation;
            }
}

TEST(ShapeRules, HostilePoolsEndSoon) {
  std::vector<int64_t> k{int64_t(1) << 40}, s{1}, l{int64_t(1) << 60}, h{0}, d{int64_t(1) << 21};
  Window window{k, s, l, h, d};
  EXPECT_FALSE(checkPool("pool", {1, 1, 1}, window, {1, 1, int64_t(1) << 40}).ok());
}

} // namespace

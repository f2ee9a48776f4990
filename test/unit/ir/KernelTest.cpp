// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accessors of gpuc.kernel and the op classes.
#include "IRFixture.h"
#include "gpuc/IR/OpClasses.h"

using namespace gpuc;
using namespace gpuc::test;
using namespace mlir;

namespace {

constexpr const char *kText = R"(
  func.func @f(%x: tensor<3x4xf32>) -> (tensor<3x3xf32>, tensor<3x4xf32>) {
    %y:2 = gpuc.kernel "matmul" (%a = %x : tensor<3x4xf32>) -> tensor<3x3xf32>, tensor<3x4xf32> {
      %t = gpuc.transpose %a {perm = array<i64: 1, 0>} : tensor<3x4xf32> -> tensor<4x3xf32>
      %0 = gpuc.matmul %a, %t : tensor<3x4xf32>, tensor<4x3xf32> -> tensor<3x3xf32>
      %1 = gpuc.unary neg %a : tensor<3x4xf32> -> tensor<3x4xf32>
      gpuc.yield %0, %1 : tensor<3x3xf32>, tensor<3x4xf32>
    }
    return %y#0, %y#1 : tensor<3x3xf32>, tensor<3x4xf32>
  })";

class KernelTest : public IRTest {
protected:
  KernelOp kernel() { return cast<KernelOp>(&parse(kText).getBody().front().front()); }
};

TEST_F(KernelTest, RootAndYield) {
  KernelOp k = kernel();
  ASSERT_TRUE(k.getRoot());
  EXPECT_TRUE(isa<MatmulOp>(k.getRoot()));
  EXPECT_TRUE(isa<YieldOp>(k.getYield()));
  k.getBody().front().getOperations().remove(k.getRoot()->getIterator());
  EXPECT_EQ(k.getRoot(), nullptr);
}

TEST_F(KernelTest, StorageStrides) {
  KernelOp k = kernel();
  EXPECT_EQ(k.getStorageStrides(1), (SmallVector<int64_t>{4, 1}));
  k.setStorageStrides(1, {1, 3});
  EXPECT_EQ(k.getStorageStrides(0), (SmallVector<int64_t>{3, 1}));
  EXPECT_EQ(k.getStorageStrides(1), (SmallVector<int64_t>{1, 3}));
  EXPECT_TRUE(succeeded(k.verify()));
  k.setStorageStrides(0, {8, 1});
  k.setStorageStrides(1, {4, 1}); // row-major: an empty list
  EXPECT_TRUE(cast<ArrayAttr>((*k.getStorage())[1]).empty());
  EXPECT_EQ(k.getStorageStrides(1), (SmallVector<int64_t>{4, 1}));
  EXPECT_EQ(k.getStorageStrides(0), (SmallVector<int64_t>{8, 1}));
  k.setStorageStrides(0, {});
  EXPECT_FALSE(k.getStorage()) << "one way to say row-major everywhere";
}

TEST_F(KernelTest, Classes) {
  Value x = value({3, 4}), c = value({3, 4}, DType::Bool);
  auto add = BinaryOp::create(builder, loc(), BinaryKind::Add, x, x);
  auto select = SelectOp::create(builder, loc(), c, x, x);
  auto reshape = ReshapeOp::create(builder, loc(), x, ArrayRef<int64_t>{12});
  auto tile = TileOp::create(builder, loc(), x, ArrayRef<int64_t>{2, 1});
  auto reduce = ReduceOp::create(builder, loc(), ReduceKind::Sum, x, ArrayRef<int64_t>{1}, false);
  auto classes = [](Operation *op) {
    return std::vector<bool>{isRootOp(op), isPointwiseOp(op), isViewOp(op), isMovementOp(op)};
  };
  EXPECT_EQ(classes(add), (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(classes(select), (std::vector<bool>{false, true, false, false}));
  EXPECT_EQ(classes(reshape), (std::vector<bool>{false, false, true, true}));
  EXPECT_EQ(classes(tile), (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(classes(reduce), (std::vector<bool>{true, false, false, false}));
}

TEST_F(KernelTest, KindAttributesStandForTheirEnum) {
  Value x = value({3, 4});
  auto add = BinaryOp::create(builder, loc(), BinaryKind::Add, x, x);
  EXPECT_TRUE(add.getKind() == BinaryKind::Add);
  EXPECT_EQ(add.getKind().getValue(), BinaryKind::Add);
  switch (add.getKind()) {
  case BinaryKind::Add:
    break;
  default:
    FAIL();
  }
}

} // namespace

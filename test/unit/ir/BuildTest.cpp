// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tryCreate: whatever is asked for, an op that verifies or an error and no trace.
#include "gpuc/IR/Build.h"
#include "IRFixture.h"

using namespace gpuc;
using namespace mlir;

namespace {

class BuildTest : public gpuc::test::IRTest {
protected:
  size_t numOps() { return std::distance(module->getBody()->begin(), module->getBody()->end()); }
  /// The only error, or a joined list of them.
  std::string error() {
    std::string all;
    for (const std::string &e : errors)
      all += (all.empty() ? "" : " | ") + e;
    return all;
  }
};

TEST_F(BuildTest, InfersAndInserts) {
  Value x = value({2, 3, 5}), y = value({5, 7});
  auto op = tryCreate<MatmulOp>(builder, loc(), x, y);
  ASSERT_TRUE(succeeded(op));
  EXPECT_EQ(op->getType(), type({2, 3, 7}));
  EXPECT_EQ(numOps(), 3u);
  EXPECT_EQ(op->getOperation()->getBlock(), module->getBody());
}

TEST_F(BuildTest, InferenceErrorIsOneDiagnostic) {
  Value x = value({3, 5}), y = value({7, 2});
  EXPECT_TRUE(failed(tryCreate<MatmulOp>(builder, loc(), x, y)));
  EXPECT_EQ(error(), "matmul_c2: inner extents differ: x has 5, y has 7");
  EXPECT_EQ(numOps(), 2u);
}

TEST_F(BuildTest, VerifierErrorLeavesNothing) {
  Value x = value({3}, DType::I32);
  EXPECT_TRUE(failed(tryCreate<UnaryOp>(builder, loc(), UnaryKind::Exp, x)));
  EXPECT_EQ(error(), "unary_c1: exp takes floats, got 'i32'");
  EXPECT_EQ(numOps(), 1u);
}

TEST_F(BuildTest, EveryBuilderOfAnInferredOp) {
  Value x = value({3, 5});
  auto byKind = tryCreate<ReduceOp>(builder, loc(), ReduceKind::Sum, x, ArrayRef<int64_t>{1}, false);
  ASSERT_TRUE(succeeded(byKind));
  EXPECT_EQ(byKind->getType(), type({3}));
  auto byAttribute = tryCreate<TransposeOp>(builder, loc(), x, builder.getDenseI64ArrayAttr({1, 0}));
  ASSERT_TRUE(succeeded(byAttribute));
  EXPECT_EQ(byAttribute->getType(), type({5, 3}));
  auto byArray = tryCreate<TransposeOp>(builder, loc(), x, ArrayRef<int64_t>{1, 0});
  ASSERT_TRUE(succeeded(byArray));
  auto topk = tryCreate<TopKOp>(builder, loc(), x, 2, 1, true);
  ASSERT_TRUE(succeeded(topk));
  EXPECT_EQ(topk->getIndices().getType(), type({3, 2}, DType::I64));
  EXPECT_TRUE(failed(tryCreate<TopKOp>(builder, loc(), x, 6, 1, true)));
  EXPECT_EQ(error(), "topk_c2: k is out of range: expected 0 <= k <= 5, got 6");
}

TEST_F(BuildTest, TypedOpsWithHostileShapes) {
  Value x = value({3, 5});
  EXPECT_TRUE(succeeded(tryCreate<ReshapeOp>(builder, loc(), x, ArrayRef<int64_t>{15})));
  EXPECT_TRUE(failed(tryCreate<ReshapeOp>(builder, loc(), x, ArrayRef<int64_t>{-15})));
  EXPECT_TRUE(failed(tryCreate<ReshapeOp>(builder, loc(), x, ArrayRef<int64_t>{INT64_MIN})));
  EXPECT_TRUE(failed(tryCreate<ExpandOp>(builder, loc(), x, ArrayRef<int64_t>{INT64_MAX, INT64_MAX, 3, 5})));
  EXPECT_TRUE(failed(tryCreate<SliceOp>(builder, loc(), x, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1},
                                        ArrayRef<int64_t>{3, 5})));
  EXPECT_EQ(error(),
            "the result's shape has a negative extent: -15 | "
            "the result's shape has a negative extent: -9223372036854775808 | "
            "the result has too many elements: 9223372036854775807x9223372036854775807x3x5 | "
            "slice_c1: expected one start, step and result extent per axis of rank 2, got 1, 1 and 2");
}

TEST_F(BuildTest, OperandsThatAreNoStaticTensors) {
  EXPECT_TRUE(failed(tryCreate<UnaryOp>(builder, loc(), UnaryKind::Exp, value({ShapedType::kDynamic}))));
  EXPECT_TRUE(failed(tryCreate<UnaryOp>(builder, loc(), UnaryKind::Exp, value(builder.getI32Type()))));
  EXPECT_TRUE(failed(tryCreate<CastOp>(builder, loc(), value(builder.getI32Type()), builder.getF32Type())));
  EXPECT_TRUE(failed(tryCreate<ReshapeOp>(builder, loc(), Value(), ArrayRef<int64_t>{1})));
  EXPECT_TRUE(failed(tryCreate<BinaryOp>(builder, loc(), BinaryKind::Add, value({3}), Value())));
  EXPECT_TRUE(failed(tryCreate<CastOp>(builder, loc(), value({3}), builder.getIntegerType(128))));
  EXPECT_TRUE(failed(tryCreate<ConcatOp>(builder, loc(), ValueRange(), 0)));
  EXPECT_EQ(errors.size(), 7u) << error();
}

TEST_F(BuildTest, AllShapeErrorsComeWithoutAborting) {
  Value x = value({2, 4, 6}), w = value({4, 4, 3});
  SmallVector<int64_t> one{1}, zero{0}, huge{INT64_MAX};
  EXPECT_TRUE(succeeded(tryCreate<ConvOp>(builder, loc(), x, w, Value(), one, zero, zero, one, 1)));
  EXPECT_TRUE(failed(tryCreate<ConvOp>(builder, loc(), x, w, Value(), one, huge, huge, one, 1)));
  EXPECT_TRUE(failed(tryCreate<ConvOp>(builder, loc(), x, w, Value(), one, zero, zero, huge, 1)));
  EXPECT_TRUE(failed(tryCreate<ConvOp>(builder, loc(), x, w, Value(), one, zero, zero, one, 0)));
  EXPECT_TRUE(failed(tryCreate<TileOp>(builder, loc(), x, ArrayRef<int64_t>{INT64_MAX, 2, 2})));
  EXPECT_TRUE(failed(tryCreate<SoftmaxOp>(builder, loc(), x, INT64_MIN, false, false)));
  EXPECT_TRUE(failed(tryCreate<GatherNdOp>(builder, loc(), x, value({2, 1}, DType::I64), INT64_MAX)));
  EXPECT_EQ(errors.size(), 6u) << error();
}

TEST_F(BuildTest, ScopesDoNotLeak) {
  EXPECT_TRUE(failed(tryCreate<MatmulOp>(builder, loc(), value({3, 5}), value({7, 2}))));
  EXPECT_EQ(gpuc::detail::BuildScope::current(), nullptr);
  EXPECT_TRUE(succeeded(tryCreate<MatmulOp>(builder, loc(), value({3, 5}), value({5, 2}))));
}

TEST_F(BuildTest, DialectNotLoaded) {
  MLIRContext other;
  std::vector<std::string> seen;
  ScopedDiagnosticHandler collect(&other, [&](Diagnostic &d) { seen.push_back(d.str()); });
  OpBuilder otherBuilder(&other);
  auto op = tryCreate<YieldOp>(otherBuilder, UnknownLoc::get(&other), ValueRange());
  EXPECT_TRUE(failed(op));
  EXPECT_EQ(seen.size(), 1u);
}

} // namespace

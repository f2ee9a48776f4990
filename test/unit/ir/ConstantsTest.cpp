// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants keep their bytes on every way between MLIR and host memory.
#include "IRFixture.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace gpuc;
using namespace gpuc::test;
using namespace mlir;

namespace {

class ConstantsTest : public IRTest {
protected:
  ElementsAttr attr(StringRef text) { return cast<ElementsAttr>(parseAttribute(text, &context)); }
  std::vector<int> bytes(ElementsAttr a) {
    ConstantBytes c = constantBytes(a);
    return {reinterpret_cast<const uint8_t *>(c.bytes.begin()),
            reinterpret_cast<const uint8_t *>(c.bytes.end())};
  }
  void roundTrip(const HostTensor &t) {
    ElementsAttr a = toElementsAttr(t, &context);
    HostTensor back = toHostTensor(a);
    EXPECT_EQ(back.dtype(), t.dtype());
    EXPECT_EQ(back.shape(), t.shape());
    EXPECT_TRUE(t.size() == 0 || std::memcmp(back.bytes(), t.bytes(), t.sizeInBytes()) == 0);
  }
};

TEST_F(ConstantsTest, BoolIsAByte) {
  EXPECT_EQ(bytes(attr("dense<[true, false, true, true, false, false, false, false, true]> : tensor<9xi1>")),
            (std::vector<int>{1, 0, 1, 1, 0, 0, 0, 0, 1}));
  EXPECT_EQ(bytes(attr("dense<true> : tensor<3xi1>")), (std::vector<int>{1, 1, 1}));
  EXPECT_EQ(bytes(attr("dense<false> : tensor<3xi1>")), (std::vector<int>{0, 0, 0}));
}

TEST_F(ConstantsTest, SubBytesArePackedLowNibbleFirst) {
  EXPECT_EQ(bytes(attr("dense<[1, -1, 7]> : tensor<3xi4>")), (std::vector<int>{0xf1, 0x07}));
  EXPECT_EQ(bytes(attr("dense<-1> : tensor<3xi4>")), (std::vector<int>{0xff, 0x0f}));
  EXPECT_EQ(bytes(attr("dense<[1, 2, 3, 0, 2]> : tensor<5xui2>")), (std::vector<int>{0x39, 0x02}));
  EXPECT_EQ(bytes(attr("dense<[1.0, -0.5]> : tensor<2xf4E2M1FN>")), (std::vector<int>{0x92}));
}

TEST_F(ConstantsTest, SplatsAreExpanded) {
  EXPECT_EQ(bytes(attr("dense<258> : tensor<2xi16>")), (std::vector<int>{2, 1, 2, 1}));
  EXPECT_EQ(bytes(attr("dense<1.0> : tensor<2xf16>")), (std::vector<int>{0, 0x3c, 0, 0x3c}));
  EXPECT_TRUE(bytes(attr("dense<> : tensor<0x3xf32>")).empty());
}

TEST_F(ConstantsTest, RoundTripsOfEveryType) {
  for (unsigned i = 0; i < kNumDTypes; ++i) {
    auto dtype = DType(i);
    for (int64_t count : {1, 2, 5, 3000, 10000}) {
      HostTensor t(dtype, {count});
      for (int64_t b = 0; b < t.sizeInBytes(); ++b)
        t.mutableBytes()[b] = dtype == DType::Bool ? (b * 7 / 3) & 1 : uint8_t(b * 37 + 11);
      // The unused bits of the last byte of packed types are zero.
      if (int64_t used = count * bitWidth(dtype) % 8)
        t.mutableBytes()[t.sizeInBytes() - 1] &= (1 << used) - 1;
      SCOPED_TRACE(std::string(name(dtype)) + " " + std::to_string(count));
      roundTrip(t);
    }
    roundTrip(HostTensor(dtype, {4, 5000}));
    roundTrip(HostTensor(dtype, {0, 3}));
    roundTrip(HostTensor(dtype, {}));
  }
}

TEST_F(ConstantsTest, SizeDecidesTheForm) {
  HostTensor small(DType::F32, {16}), large(DType::F32, {5000}), uniform(DType::F32, {5000});
  small.mutableData<float>()[3] = 1;
  large.mutableData<float>()[3] = 1;
  EXPECT_TRUE(isa<DenseElementsAttr>(toElementsAttr(small, &context)));
  EXPECT_TRUE(isa<DenseResourceElementsAttr>(toElementsAttr(large, &context)));
  EXPECT_TRUE(isa<DenseElementsAttr>(toElementsAttr(uniform, &context)));
}

TEST_F(ConstantsTest, MappedBytesAreNotCopied) {
  auto owner = std::make_shared<std::vector<char>>(4 * 5000, 'x');
  std::weak_ptr<std::vector<char>> watch = owner;
  {
    MLIRContext other;
    auto t = RankedTensorType::get({5000}, Float32Type::get(&other));
    ElementsAttr a = toElementsAttr(t, *owner, owner, "weights");
    EXPECT_EQ(constantBytes(a).bytes.data(), owner->data());
    EXPECT_EQ(constantBytes(a).keepAlive, nullptr);
    owner.reset();
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired()) << "the context's blob must give the owner up";
}

TEST_F(ConstantsTest, Splats) {
  EXPECT_EQ(getSplat(constant(f32({3}, {2.5, 2.5, 2.5}))), 2.5);
  EXPECT_EQ(getSplat(constant(f32({3}, {2.5, 2.5, 2}))), std::nullopt);
  EXPECT_EQ(getSplat(constant(f32({}, {-7}))), -7.0);
  EXPECT_TRUE(std::signbit(*getSplat(constant(f32({2}, {-0.0f, -0.0f})))));
  EXPECT_EQ(getSplat(constant(f32({2}, {0.0f, -0.0f}))), std::nullopt);
  EXPECT_EQ(getSplat(constant(HostTensor(DType::Bool, {2, 2}))), 0.0);
  EXPECT_EQ(getSplat(constant(tensor<uint8_t>(DType::Bool, {2}, {1, 1}))), 1.0);
  EXPECT_EQ(getSplat(constant(tensor<uint16_t>(DType::BF16, {2}, {0x3f80, 0x3f80}))), 1.0);
  EXPECT_EQ(getSplat(constant(tensor<uint64_t>(DType::U64, {1}, {UINT64_MAX}))), 18446744073709551615.0);
  EXPECT_EQ(getSplat(constant(HostTensor(DType::F32, {0}))), std::nullopt);
  EXPECT_EQ(getSplat(constant(HostTensor(DType::I4, {2}))), std::nullopt);
  EXPECT_EQ(getSplat(value({3})), std::nullopt);
  HostTensor large(DType::I64, {5000});
  for (int64_t i = 0; i < 5000; ++i)
    large.mutableData<int64_t>()[i] = 9;
  Value blob = ConstantOp::create(
      builder, loc(),
      cast<ElementsAttr>(DenseResourceElementsAttr::get(
          type({5000}, DType::I64), "blob",
          HeapAsmResourceBlob::allocateAndCopyInferAlign<int64_t>({large.data<int64_t>(), 5000}))));
  EXPECT_EQ(getSplat(blob), 9.0);
}

TEST_F(ConstantsTest, Ints) {
  auto ints = [&](HostTensor t) { return getInts(constant(t)); };
  EXPECT_EQ(ints(i64({2, 2}, {1, -2, INT64_MAX, INT64_MIN})),
            (SmallVector<int64_t>{1, -2, INT64_MAX, INT64_MIN}));
  EXPECT_EQ(ints(i64({3}, {4, 4, 4})), (SmallVector<int64_t>{4, 4, 4}));
  EXPECT_EQ(ints(tensor<int32_t>(DType::I32, {2}, {-1, 5})), (SmallVector<int64_t>{-1, 5}));
  EXPECT_EQ(ints(tensor<uint8_t>(DType::U8, {2}, {255, 5})), (SmallVector<int64_t>{255, 5}));
  EXPECT_EQ(ints(tensor<uint8_t>(DType::Bool, {3}, {1, 0, 1})), (SmallVector<int64_t>{1, 0, 1}));
  EXPECT_EQ(ints(HostTensor(DType::I64, {0})), (SmallVector<int64_t>{}));
  EXPECT_EQ(ints(f32({1}, {1})), std::nullopt);
  EXPECT_EQ(getInts(value({3}, DType::I64)), std::nullopt);
}

TEST_F(ConstantsTest, ElementTypes) {
  for (unsigned i = 0; i < kNumDTypes; ++i)
    EXPECT_EQ(toDType(toMlirType(DType(i), &context)), DType(i));
  EXPECT_EQ(toDType(IntegerType::get(&context, 1, IntegerType::Unsigned)), std::nullopt);
  EXPECT_EQ(toDType(IntegerType::get(&context, 32, IntegerType::Signed)), std::nullopt);
  EXPECT_EQ(toDType(IndexType::get(&context)), std::nullopt);
  EXPECT_EQ(rowMajorStrides({2, 3, 5}), (SmallVector<int64_t>{15, 5, 1}));
  EXPECT_TRUE(rowMajorStrides({}).empty());
}

} // namespace

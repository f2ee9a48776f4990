// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Initialisers of every type and storage form, sparse ones, and payloads that don't fit their shape.
#include "ImportFixture.h"

namespace gpuc::frontend {
namespace {

class TensorTest : public ImportTest {
protected:
  /// A model whose only output is the initialiser 'w'.
  TestModel constantModel(int type, const std::vector<int64_t> &dims) {
    TestModel m;
    m.input("x", Proto::FLOAT, {"1"});
    m.output("w");
    m.initialiser("w", type, dims);
    return m;
  }
  onnx::TensorProto &tensor(TestModel &m) { return *m.graph.mutable_initializer(0); }
};

TEST_F(TensorTest, TypedFields) {
  struct Case {
    int type;
    DType dtype;
  };
  for (Case c :
       {Case{Proto::INT8, DType::I8}, Case{Proto::UINT8, DType::U8}, Case{Proto::INT16, DType::I16},
        Case{Proto::UINT16, DType::U16}, Case{Proto::INT32, DType::I32}, Case{Proto::BOOL, DType::Bool},
        Case{Proto::FLOAT16, DType::F16}, Case{Proto::BFLOAT16, DType::BF16}}) {
    TestModel m = constantModel(c.type, {3});
    for (int v : {0, 1, 1})
      tensor(m).add_int32_data(v);
    ASSERT_TRUE(import(m)) << errors;
    HostTensor t = constantTensor();
    EXPECT_EQ(t.dtype(), c.dtype);
    EXPECT_EQ(t.bytes()[0], 0);
    EXPECT_EQ(t.bytes()[2 * byteSize(c.dtype, 1)], 1) << int(c.dtype);
  }
}

TEST_F(TensorTest, WideTypedFields) {
  TestModel m = constantModel(Proto::UINT64, {1});
  tensor(m).add_uint64_data(~uint64_t(0));
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(constantTensor().data<uint64_t>()[0], ~uint64_t(0));
  m = constantModel(Proto::UINT32, {1});
  tensor(m).add_uint64_data(0xfffffffe);
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(constantTensor().data<uint32_t>()[0], 0xfffffffe);
  m = constantModel(Proto::DOUBLE, {1});
  tensor(m).add_double_data(0.1);
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(constantTensor().data<double>()[0], 0.1);
}

TEST_F(TensorTest, HalfBitPattern) {
  TestModel m = constantModel(Proto::FLOAT16, {1});
  tensor(m).add_int32_data(0x3e00); // 1.5
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(halfToFloat(constantTensor().data<uint16_t>()[0]), 1.5f);
}

TEST_F(TensorTest, LargeRawDataAndBoolBytes) {
  TestModel m = constantModel(Proto::FLOAT, {1031});
  std::vector<float> values(1031);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = float(i);
  tensor(m).set_raw_data(values.data(), values.size() * 4);
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(constantTensor().data<float>()[1030], 1030.f);
  m = constantModel(Proto::BOOL, {2});
  tensor(m).set_raw_data(std::string("\xff\0", 2));
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(constantTensor().bytes()[0], 1);
  EXPECT_EQ(constantTensor().bytes()[1], 0);
}

TEST_F(TensorTest, ScalarsAndEmptyTensors) {
  TestModel m = constantModel(Proto::FLOAT, {});
  tensor(m).add_float_data(3);
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(constantTensor().rank(), 0);
  ASSERT_TRUE(import(constantModel(Proto::FLOAT, {0, 3}))) << errors;
  EXPECT_EQ(constantTensor().size(), 0);
}

TEST_F(TensorTest, PackedTypes) {
  TestModel m = constantModel(Proto::INT4, {3});
  tensor(m).add_int32_data(0x21);
  tensor(m).add_int32_data(0x03);
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(constantTensor().bytes()[0], 0x21);
  EXPECT_EQ(constantTensor().bytes()[1], 0x03);
  tensor(m).add_int32_data(0);
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "needs 2 values, got 3");
}

TEST_F(TensorTest, PayloadMustFitTheShape) {
  TestModel m = constantModel(Proto::FLOAT, {3});
  tensor(m).add_float_data(1);
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "initialiser 'w' of shape 3 and type f32 needs 3 values, got 1");
  tensor(m).set_raw_data("12345");
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "needs 12 bytes, got 5");
  EXPECT_FALSE(import(constantModel(Proto::FLOAT, {-1})));
  EXPECT_HAS(errors, "negative extent");
  // The product overflows to 0, which would fit an empty payload.
  EXPECT_FALSE(import(constantModel(Proto::FLOAT, {int64_t(1) << 32, int64_t(1) << 32})));
  EXPECT_HAS(errors, "overflows");
  EXPECT_FALSE(import(constantModel(Proto::FLOAT, {int64_t(1) << 50})));
  EXPECT_HAS(errors, "needs");
}

TEST_F(TensorTest, UnsupportedTypes) {
  EXPECT_FALSE(import(constantModel(Proto::STRING, {0})));
  EXPECT_HAS(errors, "STRING is not supported");
  EXPECT_FALSE(import(constantModel(Proto::COMPLEX128, {0})));
  EXPECT_HAS(errors, "COMPLEX128 is not supported");
  EXPECT_FALSE(import(constantModel(4711, {0})));
  EXPECT_HAS(errors, "element type 4711 is not one that ONNX defines");
  EXPECT_FALSE(import(constantModel(0, {0})));
  EXPECT_HAS(errors, "element type is not set");
}

TestModel sparseModel(const std::vector<int64_t> &indexShape, const std::vector<int64_t> &indices) {
  TestModel m;
  m.input("x", Proto::FLOAT, {"1"});
  m.output("w");
  auto *sparse = m.graph.add_sparse_initializer();
  sparse->add_dims(2);
  sparse->add_dims(3);
  auto *values = sparse->mutable_values();
  values->set_name("w");
  values->set_data_type(Proto::FLOAT);
  values->add_dims(2);
  values->add_float_data(5);
  values->add_float_data(7);
  sparse->mutable_indices()->set_data_type(Proto::INT64);
  for (int64_t d : indexShape)
    sparse->mutable_indices()->add_dims(d);
  for (int64_t i : indices)
    sparse->mutable_indices()->add_int64_data(i);
  return m;
}

TEST_F(TensorTest, Sparse) {
  for (const TestModel &m : {sparseModel({2}, {1, 5}), sparseModel({2, 2}, {0, 1, 1, 2})}) {
    ASSERT_TRUE(import(m)) << errors;
    HostTensor t = constantTensor();
    EXPECT_EQ(t.shape(), (Shape{2, 3}));
    std::vector<float> values(t.data<float>(), t.data<float>() + 6);
    EXPECT_EQ(values, (std::vector<float>{0, 5, 0, 0, 0, 7}));
  }
  EXPECT_FALSE(import(sparseModel({2}, {1, 6})));
  EXPECT_HAS(errors, "sparse index outside of shape 2x3");
  EXPECT_FALSE(import(sparseModel({2}, {-1, 0})));
  EXPECT_FALSE(import(sparseModel({2, 2}, {0, 1, 2, 0})));
  EXPECT_FALSE(import(sparseModel({1}, {0})));
  TestModel huge = sparseModel({2}, {0, 1});
  huge.graph.mutable_sparse_initializer(0)->set_dims(0, int64_t(1) << 40);
  EXPECT_FALSE(import(huge));
  EXPECT_HAS(errors, "when dense");
}

} // namespace
} // namespace gpuc::frontend

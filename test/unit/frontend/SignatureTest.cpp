// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments and results of the imported function: shapes, dimension names, specialised inputs, defaults.
#include "ImportFixture.h"

namespace gpuc::frontend {
namespace {

using SignatureTest = ImportTest;

TestModel reluModel(const std::vector<std::string> &dims) {
  TestModel m;
  m.input("x", Proto::FLOAT, dims);
  m.output("y");
  m.node("Relu", {"x"}, {"y"}, "relu");
  return m;
}

TEST_F(SignatureTest, NamesAndTypes) {
  ASSERT_TRUE(import(reluModel({"3", "5"}))) << errors;
  EXPECT_HAS(text(), "gpuc.name = \"x\"");
  EXPECT_HAS(text(), "gpuc.name = \"y\"");
  EXPECT_HAS(text(), "tensor<3x5xf32>");
  EXPECT_EQ(warnings, "");
}

TEST_F(SignatureTest, LeadingDimensionBecomesOneWithAWarning) {
  ASSERT_TRUE(import(reluModel({"batch", "5"}))) << errors;
  EXPECT_HAS(warnings, "input 'x': dimension 0 ('batch') taken as 1");
  EXPECT_HAS(text(), "tensor<1x5xf32>");
}

TEST_F(SignatureTest, AllMissingDimensionsAreNamed) {
  TestModel m = reluModel({"batch", "3", "height", ""});
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "'x' dimension 2 ('height'), 'x' dimension 3");
  options.shapes["x"] = {2, 3, 7, 11};
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_HAS(text(), "tensor<2x3x7x11xf32>");
}

TEST_F(SignatureTest, SameNameSameExtent) {
  TestModel m;
  m.input("x", Proto::FLOAT, {"n", "5"});
  m.input("z", Proto::FLOAT, {"5", "n"});
  m.output("x");
  options.shapes["x"] = {4, 5};
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_HAS(text(), "tensor<5x4xf32>");
  options.shapes["z"] = {5, 3};
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "input 'z': dimension 1 ('n') expected 4 as in input 'x', got 3");
}

TEST_F(SignatureTest, UnknownInputAndWrongRank) {
  options.shapes["nope"] = {1};
  EXPECT_FALSE(import(reluModel({"3"})));
  EXPECT_HAS(errors, "a shape is given for 'nope'");
  options.shapes = {{"x", {1, 2}}};
  EXPECT_FALSE(import(reluModel({"3"})));
  EXPECT_HAS(errors, "input 'x': expected rank 1");
}

TEST_F(SignatureTest, GivenExtentOverridesDeclaredOneWithAWarning) {
  options.shapes["x"] = {7};
  ASSERT_TRUE(import(reluModel({"3"}))) << errors;
  EXPECT_HAS(warnings, "dimension 0 is declared as 3 and taken as 7");
}

TEST_F(SignatureTest, HugeShapeIsRefused) {
  options.shapes["x"] = {int64_t(1) << 40, int64_t(1) << 40};
  EXPECT_FALSE(import(reluModel({"", ""})));
  EXPECT_HAS(errors, "too large");
}

TEST_F(SignatureTest, UnsupportedInputTypes) {
  TestModel m = reluModel({"3"});
  m.input("s", Proto::STRING, {"2"});
  m.input("c", Proto::COMPLEX64, {"2"});
  auto *sequence = m.graph.add_input();
  sequence->set_name("q");
  sequence->mutable_type()->mutable_sequence_type();
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "input 's': element type STRING is not supported");
  EXPECT_HAS(errors, "input 'c': element type COMPLEX64 is not supported");
  EXPECT_HAS(errors, "input 'q': expected a tensor, got type sequence");
}

TEST_F(SignatureTest, UnusedInputStays) {
  TestModel m = reluModel({"3"});
  m.input("unused", Proto::INT64, {"2"});
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(main.getNumArguments(), 2u);
}

TEST_F(SignatureTest, OutputsWithoutANode) {
  TestModel m;
  m.input("x", Proto::FLOAT, {"3"});
  m.ints("w", {1, 2});
  for (const char *name : {"x", "w", "x"})
    m.output(name);
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(main.getNumResults(), 3u);
  EXPECT_EQ(result(0), main.getArgument(0));
  EXPECT_EQ(result(2), main.getArgument(0));
}

TEST_F(SignatureTest, WrongDeclaredOutputWarns) {
  TestModel m = reluModel({"3", "5"});
  TestModel::setType(*m.graph.mutable_output(0), Proto::FLOAT, {"9", "5"});
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_HAS(warnings, "output 'y': declared with shape 9x5, but the graph computes 3x5");
}

TEST_F(SignatureTest, InitialiserThatIsAnInputIsAConstantUnlessOverridden) {
  TestModel m;
  m.input("x", Proto::FLOAT, {"2"});
  m.input("w", Proto::FLOAT, {"2"});
  m.floats("w", {1, 2});
  m.output("y");
  m.node("Add", {"x", "w"}, {"y"});
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(main.getNumArguments(), 1u);
  options.shapes["w"] = {2};
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(main.getNumArguments(), 2u);
  EXPECT_EQ(count<ConstantOp>(), 0);
}

TestModel reshapeModel() {
  TestModel m;
  m.input("x", Proto::FLOAT, {"6"});
  m.input("rows", Proto::INT64, {"1"});
  m.ints("rest", {-1});
  m.output("y");
  m.node("Concat", {"rows", "rest"}, {"shape"}, "cat");
  TestModel::setInt(m.graph.mutable_node(0), "axis", 0);
  m.node("Reshape", {"x", "shape"}, {"y"}, "reshape");
  return m;
}

TEST_F(SignatureTest, SpecialisedInputMustBeGiven) {
  TestModel m = reshapeModel();
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "input 'rows': its value must be known when compiling");
  EXPECT_HAS(errors, "'reshape' (Reshape-");
  HostTensor value(DType::I64, {1});
  *value.mutableData<int64_t>() = 2;
  options.values["rows"] = value;
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(main.getNumArguments(), 2u);
  EXPECT_TRUE(main.getArgument(1).use_empty());
  EXPECT_TRUE(main.getArgAttr(1, "gpuc.value"));
  EXPECT_HAS(text(), "tensor<2x3xf32>");
  options.values["rows"] = HostTensor(DType::I32, {1});
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "expected a value of type i64, got i32");
}

TEST_F(SignatureTest, ShapeOfAnInputDoesNotSpecialiseIt) {
  TestModel m;
  m.input("x", Proto::FLOAT, {"2", "3"});
  m.input("z", Proto::FLOAT, {"6"});
  m.output("y");
  m.node("Shape", {"x"}, {"shape"});
  m.node("Reshape", {"z", "shape"}, {"y"});
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_HAS(text(), "-> tensor<2x3xf32>");
  EXPECT_EQ(count<ConstantOp>(), 0);
}

} // namespace
} // namespace gpuc::frontend

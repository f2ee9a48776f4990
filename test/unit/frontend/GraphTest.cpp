// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names, order, locations, functions, subgraphs, and the list of what can't be imported.
#include "ImportFixture.h"
#include "TempFolder.h"
#include "gpuc/Support/File.h"

namespace gpuc::frontend {
namespace {

using GraphTest = ImportTest;

TestModel oneInput() {
  TestModel m;
  m.input("x", Proto::FLOAT, {"2", "3"});
  m.output("y");
  return m;
}

TEST_F(GraphTest, ShapeArithmeticIsFolded) {
  TestModel m = oneInput();
  m.ints("two", {2});
  m.ints("minus", {-1});
  m.node("Shape", {"x"}, {"s"});
  m.node("Mul", {"s", "two"}, {"t"});
  m.node("Expand", {"x", "s"}, {"e"});
  m.node("Reshape", {"e", "minus"}, {"y"});
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(count<BinaryOp>(), 0);
  EXPECT_EQ(count<ConstantOp>(), 0);
  EXPECT_HAS(text(), "tensor<6xf32>");
}

TEST_F(GraphTest, StorageTypesAreCastAndMovedOnly) {
  TestModel m;
  m.setOpset("", 25);
  m.proto.mutable_opset_import()->DeleteSubrange(0, 1);
  m.input("x", Proto::FLOAT8E5M2, {"2", "3"});
  m.input("like", Proto::FLOAT8E8M0, {"1"});
  m.ints("flat", {-1});
  m.output("y");
  m.output("z");
  m.node("Identity", {"x"}, {"i"});
  m.node("Transpose", {"i"}, {"t"});
  m.node("Reshape", {"t", "flat"}, {"y"});
  auto *cast = m.node("CastLike", {"y", "like"}, {"z"});
  auto *round = cast->add_attribute();
  round->set_name("round_mode");
  round->set_type(onnx::AttributeProto::STRING);
  round->set_s("nearest");
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_HAS(text(), "-> (tensor<6xf8E5M2>");
  EXPECT_HAS(text(), "{round = #gpuc<round_mode nearest>} : tensor<6xf8E5M2> -> tensor<6xf8E8M0FNU>");
  m.node("Add", {"x", "x"}, {"a"}, "sum");
  m.output("a");
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "has element type f8e5m2, which this operator does not take");
}

TEST_F(GraphTest, BatchNormalizationTrains) {
  TestModel m;
  m.input("x", Proto::FLOAT, {"2", "3", "5"});
  for (const char *name : {"scale", "bias", "mean", "variance"})
    m.input(name, Proto::FLOAT, {"3"});
  for (const char *name : {"y", "running_mean", "running_variance"})
    m.output(name);
  auto *node = m.node("BatchNormalization", {"x", "scale", "bias", "mean", "variance"},
                      {"y", "running_mean", "running_variance"});
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "training mode is only supported as training_mode=1 of version 14 and later");
  TestModel::setInt(node, "training_mode", 1);
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(count<ReduceOp>(), 2);
  EXPECT_HAS(text(), "-> (tensor<2x3x5xf32>");
}

TEST_F(GraphTest, LocationsNameNodeAndOutput) {
  TestModel m = oneInput();
  m.node("Relu", {"x"}, {"y"}, "my_relu");
  ASSERT_TRUE(import(m)) << errors;
  std::string where;
  llvm::raw_string_ostream stream(where);
  result().getDefiningOp()->getLoc().print(stream);
  EXPECT_HAS(where, "my_relu");
  EXPECT_HAS(where, "\"y\"");
}

TEST_F(GraphTest, UnsortedNodesAreOrdered) {
  TestModel m = oneInput();
  m.node("Relu", {"a"}, {"y"});
  m.node("Neg", {"x"}, {"a"});
  ASSERT_TRUE(import(m)) << errors;
}

TEST_F(GraphTest, CyclesMissingAndDuplicateValues) {
  TestModel cycle = oneInput();
  cycle.node("Relu", {"b"}, {"y"}, "first");
  cycle.node("Neg", {"y"}, {"b"}, "second");
  EXPECT_FALSE(import(cycle));
  EXPECT_HAS(errors, "cycle through node 'first' (Relu), node 'second' (Neg)");
  TestModel missing = oneInput();
  missing.node("Relu", {"nowhere"}, {"y"}, "n");
  EXPECT_FALSE(import(missing));
  EXPECT_HAS(errors, "node 'n' (Relu): input 'nowhere' is neither");
  TestModel twice = oneInput();
  twice.node("Relu", {"x"}, {"y"}, "a");
  twice.node("Neg", {"x"}, {"y"}, "b");
  EXPECT_FALSE(import(twice));
  EXPECT_HAS(errors, "value 'y' is defined twice");
  TestModel input = oneInput();
  input.node("Relu", {"x"}, {"x"}, "a");
  EXPECT_FALSE(import(input));
  EXPECT_HAS(errors, "value 'x' is defined twice");
  TestModel unmade = oneInput();
  EXPECT_FALSE(import(unmade));
  EXPECT_HAS(errors, "output 'y' is neither made");
  TestModel same = oneInput();
  same.floats("w", {1});
  same.floats("w", {2});
  same.node("Relu", {"x"}, {"y"});
  EXPECT_FALSE(import(same));
  EXPECT_HAS(errors, "initialiser 'w' is defined twice");
}

TEST_F(GraphTest, AllBlockersAreListedOnce) {
  TestModel m = oneInput();
  m.setOpset("my.domain", 3);
  m.node("NoSuchOp", {"x"}, {"a"}, "n1");
  m.node("Relu", {"a"}, {"b"}, "after_n1");
  m.node("Foo", {"x"}, {"c"}, "n2", "my.domain");
  auto *bad = m.node("Softmax", {"x"}, {"d"}, "n3");
  TestModel::setInt(bad, "axis", 7);
  m.node("Relu", {"d"}, {"y"});
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "node 'n1' (NoSuchOp): the operator is not supported");
  EXPECT_HAS(errors, "node 'n2' (Foo): domain 'my.domain' is not supported");
  EXPECT_HAS(errors, "node 'n3' (Softmax-13): ");
  EXPECT_FALSE(contains(errors, "after_n1"));

  test::TempFolder folder("gpuc-check");
  std::string path = folder.path() + "/m.onnx";
  ASSERT_TRUE(writeFileAtomically(path, m.proto.SerializeAsString()).ok());
  errors.clear();
  auto blockers = checkModel(path, options, context);
  auto signature = readSignature(path, context);
  ASSERT_TRUE(blockers) << errors;
  EXPECT_EQ(errors, "");
  ASSERT_EQ(blockers->size(), 3u);
  EXPECT_EQ((*blockers)[1].node, "n2");
  EXPECT_EQ((*blockers)[1].domain, "my.domain");
  EXPECT_EQ((*blockers)[1].opset, 3);
  EXPECT_EQ((*blockers)[2].op, "Softmax");
  ASSERT_TRUE(signature);
  EXPECT_EQ(signature->inputs.size(), 1u);
  EXPECT_EQ(signature->nodeCount, 5);
  EXPECT_EQ(signature->opsets.at("my.domain"), 3);
}

TEST_F(GraphTest, OperatorNewerThanTheModel) {
  TestModel m = oneInput();
  m.proto.mutable_opset_import(0)->set_version(13);
  m.node("Mish", {"x"}, {"y"}, "mish");
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "node 'mish' (Mish): needs opset 18 or newer, the model imports 13");
}

TEST_F(GraphTest, OldAndContradictoryOpsets) {
  TestModel m = oneInput();
  m.node("Relu", {"x"}, {"y"});
  m.proto.mutable_opset_import(0)->set_version(6);
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_HAS(warnings, "opset 6, older than 7");
  m.setOpset("ai.onnx", 13);
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "imported twice");
  m.proto.clear_opset_import();
  m.setOpset("ai.onnx", 99);
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_HAS(warnings, "opset 99");
}

TEST_F(GraphTest, IllTypedOperandsAreErrorsNotCrashes) {
  TestModel m = oneInput();
  m.input("z", Proto::FLOAT, {"5"});
  m.input("i", Proto::INT64, {"3"});
  m.node("Add", {"x", "z"}, {"a"}, "shapes");
  m.node("Add", {"x", "i"}, {"b"}, "types");
  m.node("MatMul", {"x", "x"}, {"c"}, "inner");
  m.node("Add", {"x"}, {"d"}, "arity");
  m.node("Relu", {"a"}, {"y"});
  EXPECT_FALSE(import(m));
  for (const char *name :
       {"'shapes' (Add-14)", "'types' (Add-14)", "'inner' (MatMul-13)", "'arity' (Add-14)"})
    EXPECT_HAS(errors, name);
}

TEST_F(GraphTest, AttributeOfTheWrongType) {
  TestModel m = oneInput();
  auto *node = m.node("Softmax", {"x"}, {"y"}, "s");
  auto *a = node->add_attribute();
  a->set_name("axis");
  a->set_type(onnx::AttributeProto::FLOAT);
  a->set_f(1);
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "attribute 'axis' expected type INT, got FLOAT");
}

TEST_F(GraphTest, NamesAreData) {
  TestModel m = oneInput();
  m.node("No%s\nOp", {"x"}, {"y"}, "a'b\x1b[31m%n");
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "a\\x27b\\x1b[31m%n");
  EXPECT_HAS(errors, "No%s\\x0aOp");
  TestModel longName = oneInput();
  longName.node("Relu", {"x"}, {"y"}, std::string(20000, 'n'));
  EXPECT_TRUE(import(longName)) << errors;
}

// --- functions --------------------------------------------------------------------------------------------

onnx::FunctionProto *addFunction(TestModel &m, const std::string &name,
                                 const std::vector<std::string> &inputs,
                                 const std::vector<std::string> &outputs) {
  auto *f = m.proto.add_functions();
  f->set_domain("f");
  f->set_name(name);
  for (auto &i : inputs)
    f->add_input(i);
  for (auto &o : outputs)
    f->add_output(o);
  auto *import = f->add_opset_import();
  import->set_domain("");
  import->set_version(20);
  return f;
}

TEST_F(GraphTest, FunctionAttributesAndDefaults) {
  TestModel m = oneInput();
  m.setOpset("f", 1);
  auto *inner = addFunction(m, "Inner", {"a"}, {"r"});
  inner->add_attribute("ax");
  auto *softmax = TestModel::fill(inner->add_node(), "Softmax", {"a"}, {"r"}, "soft");
  TestModel::setReference(softmax, "axis", "ax", onnx::AttributeProto::INT);
  auto *outer = addFunction(m, "Outer", {"a"}, {"r"});
  auto *dflt = outer->add_attribute_proto();
  dflt->set_name("axis");
  dflt->set_type(onnx::AttributeProto::INT);
  dflt->set_i(0);
  auto *call = TestModel::fill(outer->add_node(), "Inner", {"a"}, {"r"}, "call", "f");
  TestModel::setReference(call, "ax", "axis", onnx::AttributeProto::INT);
  m.node("Outer", {"x"}, {"mid"}, "one", "f");
  TestModel::setInt(m.node("Outer", {"mid"}, {"y"}, "two", "f"), "axis", 1);
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_HAS(text(), "axis = 0");
  EXPECT_HAS(text(), "axis = 1");
}

TEST_F(GraphTest, MissingFunctionArgumentIsAbsent) {
  TestModel m = oneInput();
  m.setOpset("f", 1);
  auto *f = addFunction(m, "Clip2", {"a", "low", "high"}, {"r"});
  TestModel::fill(f->add_node(), "Clip", {"a", "low", "high"}, {"r"}, "clip");
  m.initialiser("zero", Proto::FLOAT, {})->add_float_data(0);
  m.node("Clip2", {"x", "zero"}, {"y"}, "call", "f");
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(count<BinaryOp>(), 1);
  EXPECT_FALSE(contains(text(), "gpuc.binary min"));
}

TEST_F(GraphTest, RecursionAndExpansionEnd) {
  TestModel m = oneInput();
  m.setOpset("f", 1);
  auto *a = addFunction(m, "A", {"a"}, {"r"});
  TestModel::fill(a->add_node(), "B", {"a"}, {"r"}, "to_b", "f");
  auto *b = addFunction(m, "B", {"a"}, {"r"});
  TestModel::fill(b->add_node(), "A", {"a"}, {"r"}, "to_a", "f");
  m.node("A", {"x"}, {"y"}, "start", "f");
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "function 'A' calls itself");

  TestModel bomb = oneInput();
  bomb.setOpset("f", 1);
  for (int i = 0; i < 40; ++i) {
    auto *f = addFunction(bomb, "F" + std::to_string(i), {"a"}, {"r"});
    std::string next = "F" + std::to_string(i + 1);
    bool last = i == 39;
    TestModel::fill(f->add_node(), last ? "Neg" : next, {"a"}, {"t"}, "p", last ? "" : "f");
    TestModel::fill(f->add_node(), last ? "Neg" : next, {"t"}, {"r"}, "q", last ? "" : "f");
  }
  bomb.node("F0", {"x"}, {"y"}, "start", "f");
  EXPECT_FALSE(import(bomb));
  EXPECT_HAS(errors, "nodes after its functions are expanded");
}

TEST_F(GraphTest, SpecialisedInputThroughAFunction) {
  TestModel m;
  m.input("x", Proto::FLOAT, {"6"});
  m.input("s", Proto::INT64, {"2"});
  m.output("y");
  m.setOpset("f", 1);
  auto *f = addFunction(m, "R", {"a", "b"}, {"r"});
  TestModel::fill(f->add_node(), "Identity", {"b"}, {"c"}, "id");
  TestModel::fill(f->add_node(), "Reshape", {"a", "c"}, {"r"}, "inner");
  m.node("R", {"x", "s"}, {"y"}, "call", "f");
  EXPECT_FALSE(import(m));
  EXPECT_HAS(errors, "input 's': its value must be known when compiling");
  HostTensor value(DType::I64, {2});
  value.mutableData<int64_t>()[0] = 3;
  value.mutableData<int64_t>()[1] = 2;
  options.values["s"] = value;
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_HAS(text(), "tensor<3x2xf32>");
}

// --- subgraphs --------------------------------------------------------------------------------------------

TEST_F(GraphTest, IfOnAConstantTakesOneBranch) {
  TestModel m = oneInput();
  m.initialiser("yes", Proto::BOOL, {})->add_int32_data(1);
  m.node("Neg", {"x"}, {"n"}, "neg");
  auto *node = m.node("If", {"yes"}, {"y"}, "choice");
  for (const char *branch : {"then_branch", "else_branch"}) {
    auto *a = node->add_attribute();
    a->set_name(branch);
    a->set_type(onnx::AttributeProto::GRAPH);
    a->mutable_g()->add_output()->set_name("out");
    bool taken = branch == std::string("then_branch");
    // Both branches use the name 'out'; the other one can't be imported at all.
    TestModel::fill(a->mutable_g()->add_node(), taken ? "Relu" : "NoSuchOp", {"n"}, {"out"}, "inside");
  }
  ASSERT_TRUE(import(m)) << errors;
  EXPECT_EQ(count<UnaryOp>(), 2);
}

} // namespace
} // namespace gpuc::frontend

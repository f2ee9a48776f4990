// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Truncated and mutated models: an error or a module, never a crash. A fixed seed keeps this reproducible;
// the fuzz target goes further.
#include "ImportFixture.h"
#include <fstream>
#include <random>

namespace gpuc::frontend {
namespace {

/// A model with functions, a subgraph, external data, sparse and typed tensors, and shape arithmetic.
std::string richModel() {
  TestModel m;
  m.input("x", Proto::FLOAT, {"n", "3", "8", "8"});
  m.output("y");
  m.output("z");
  m.setOpset("f", 1);
  auto *w = m.initialiser("w", Proto::FLOAT, {4, 3, 3, 3});
  for (int i = 0; i < 108; ++i)
    w->add_float_data(float(i) / 108);
  auto *external = m.initialiser("e", Proto::FLOAT, {2});
  external->set_data_location(Proto::EXTERNAL);
  auto *entry = external->add_external_data();
  entry->set_key("location");
  entry->set_value("nothing.data");
  m.ints("axes", {2, 3});
  m.ints("shape", {0, -1});
  m.ints("zero", {0});
  m.ints("one", {1});
  m.initialiser("h", Proto::FLOAT16, {1})->add_int32_data(0x3c00);
  m.initialiser("yes", Proto::BOOL, {})->add_int32_data(1);
  auto *f = m.proto.add_functions();
  f->set_domain("f");
  f->set_name("Act");
  f->add_input("a");
  f->add_output("r");
  f->add_attribute("alpha");
  auto *leaky = TestModel::fill(f->add_node(), "LeakyRelu", {"a"}, {"r"}, "leaky");
  TestModel::setReference(leaky, "alpha", "alpha", onnx::AttributeProto::FLOAT);
  m.node("Conv", {"x", "w"}, {"c"}, "conv");
  m.node("Act", {"c"}, {"r"}, "act", "f");
  m.node("ReduceMean", {"r", "axes"}, {"p"}, "mean");
  m.node("Shape", {"r"}, {"s"}, "shape_of");
  m.node("Slice", {"s", "zero", "one", "zero"}, {"t"}, "cut");
  m.node("Reshape", {"p", "shape"}, {"q"}, "flat");
  m.node("Softmax", {"q"}, {"y"}, "soft");
  auto *choice = m.node("If", {"yes"}, {"z"}, "choice");
  for (const char *branch : {"then_branch", "else_branch"}) {
    auto *a = choice->add_attribute();
    a->set_name(branch);
    a->set_type(onnx::AttributeProto::GRAPH);
    a->mutable_g()->add_output()->set_name("out");
    TestModel::fill(a->mutable_g()->add_node(), "Transpose", {"q"}, {"out"}, "inside");
  }
  return m.proto.SerializeAsString();
}

class QuietHostileTest : public ImportTest {
protected:
  /// Imports without looking at the result.
  void survive(const std::string &bytes) {
    errors.clear();
    warnings.clear();
    auto imported = importModelBytes(bytes.data(), bytes.size(), "", options, context);
    EXPECT_EQ(bool(imported), errors.empty());
  }
};

TEST_F(QuietHostileTest, TheModelItselfImports) { EXPECT_TRUE(importBytes(richModel())) << errors; }

TEST_F(QuietHostileTest, EveryTruncation) {
  std::string bytes = richModel();
  for (size_t size = 0; size < bytes.size(); ++size)
    survive(bytes.substr(0, size));
}

/// One to four edits: other bytes, flipped bits, cuts and insertions.
std::string mutate(const std::string &bytes, std::mt19937 &random) {
  std::string mutated = bytes;
  int edits = 1 + int(random() % 4);
  for (int e = 0; e < edits; ++e) {
    size_t at = random() % mutated.size();
    switch (random() % 4) {
    case 0:
      mutated[at] = char(random());
      break;
    case 1:
      mutated[at] = char(mutated[at] ^ (1 << (random() % 8)));
      break;
    case 2:
      mutated.erase(at, 1 + random() % 8);
      break;
    default:
      mutated.insert(at, 1 + random() % 4, char(random()));
      break;
    }
    if (mutated.empty())
      mutated = "x";
  }
  return mutated;
}

TEST_F(QuietHostileTest, MutatedBytes) {
  std::string bytes = richModel();
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round)
    survive(mutate(bytes, random));
}

/// Networks of the onnx package, whose weights are made by ConstantOfShape.
TEST_F(QuietHostileTest, RealModelsTruncatedAndMutated) {
  for (const char *name : {"light_squeezenet.onnx", "light_shufflenet.onnx", "light_bvlc_alexnet.onnx"}) {
    std::ifstream file(std::string(GPUC_ONNX_FOLDER "/backend/test/data/light/") + name, std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    ASSERT_FALSE(bytes.empty()) << name;
    EXPECT_TRUE(importBytes(bytes)) << errors;
    std::mt19937 random(2);
    for (int round = 0; round < 100; ++round)
      survive(bytes.substr(0, random() % bytes.size()));
    for (int round = 0; round < 100; ++round)
      survive(mutate(bytes, random));
  }
}

TEST_F(QuietHostileTest, NotAModel) {
  for (const char *text : {"", "hello", "\x08\x07", "{\"json\": 1}"}) {
    survive(text);
    EXPECT_NE(errors, "");
  }
}

TEST_F(QuietHostileTest, DeeplyNestedSubgraphs) {
  for (int depth : {50, 100, 2000}) {
    TestModel m;
    m.input("x", Proto::FLOAT, {"3"});
    m.output("y");
    m.initialiser("yes", Proto::BOOL, {})->add_int32_data(1);
    onnx::GraphProto *graph = &m.graph;
    std::string out = "y";
    for (int i = 0; i < depth; ++i) {
      auto *node = TestModel::fill(graph->add_node(), "If", {"yes"}, {out}, "if");
      for (const char *branch : {"then_branch", "else_branch"}) {
        auto *a = node->add_attribute();
        a->set_name(branch);
        a->set_type(onnx::AttributeProto::GRAPH);
        graph = a->mutable_g();
        out = "o";
        graph->add_output()->set_name(out);
        if (branch == std::string("then_branch"))
          TestModel::fill(graph->add_node(), "Relu", {"x"}, {out}, "r");
      }
    }
    TestModel::fill(graph->add_node(), "Relu", {"x"}, {out}, "r");
    survive(m.proto.SerializeAsString());
  }
}

} // namespace
} // namespace gpuc::frontend

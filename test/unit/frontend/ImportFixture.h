// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds small models in memory and imports them, collecting diagnostics and warnings as text.
#pragma once
#include "gpuc/Frontend/Importer.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Ops.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "onnx.pb.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

namespace gpuc::frontend {

using Proto = onnx::TensorProto;

/// A ModelProto with short ways to fill it. IR version 10, opset 20.
struct TestModel {
  onnx::ModelProto proto;
  onnx::GraphProto &graph;

  TestModel() : graph(*proto.mutable_graph()) {
    proto.set_ir_version(10);
    setOpset("", 20);
    graph.set_name("g");
  }
  TestModel(const TestModel &other) : proto(other.proto), graph(*proto.mutable_graph()) {}
  TestModel &operator=(const TestModel &other) {
    proto = other.proto;
    return *this;
  }
  void setOpset(const std::string &domain, int64_t version) {
    auto *import = proto.add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }
  /// A dimension is a number, or a name; "" is unknown and unnamed.
  static void setType(onnx::ValueInfoProto &value, int type, const std::vector<std::string> &dims) {
    auto *tensor = value.mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(type);
    tensor->mutable_shape();
    for (const std::string &d : dims) {
      auto *dim = tensor->mutable_shape()->add_dim();
      if (!d.empty() && (isdigit(d[0]) || d[0] == '-'))
        dim->set_dim_value(std::stoll(d));
      else if (!d.empty())
        dim->set_dim_param(d);
    }
  }
  void input(const std::string &name, int type, const std::vector<std::string> &dims) {
    auto *value = graph.add_input();
    value->set_name(name);
    setType(*value, type, dims);
  }
  void output(const std::string &name) { graph.add_output()->set_name(name); }
  static onnx::NodeProto *fill(onnx::NodeProto *node, const std::string &op,
                               const std::vector<std::string> &inputs,
                               const std::vector<std::string> &outputs, const std::string &name = "",
                               const std::string &domain = "") {
    node->set_op_type(op);
    node->set_name(name);
    node->set_domain(domain);
    for (auto &i : inputs)
      node->add_input(i);
    for (auto &o : outputs)
      node->add_output(o);
    return node;
  }
  onnx::NodeProto *node(const std::string &op, const std::vector<std::string> &inputs,
                        const std::vector<std::string> &outputs, const std::string &name = "",
                        const std::string &domain = "") {
    return fill(graph.add_node(), op, inputs, outputs, name, domain);
  }
  static void setInt(onnx::NodeProto *node, const std::string &name, int64_t value) {
    auto *a = node->add_attribute();
    a->set_name(name);
    a->set_type(onnx::AttributeProto::INT);
    a->set_i(value);
  }
  static void setReference(onnx::NodeProto *node, const std::string &name, const std::string &argument,
                           onnx::AttributeProto::AttributeType type) {
    auto *a = node->add_attribute();
    a->set_name(name);
    a->set_type(type);
    a->set_ref_attr_name(argument);
  }
  onnx::TensorProto *initialiser(const std::string &name, int type, const std::vector<int64_t> &dims) {
    auto *tensor = graph.add_initializer();
    tensor->set_name(name);
    tensor->set_data_type(type);
    for (int64_t d : dims)
      tensor->add_dims(d);
    return tensor;
  }
  void ints(const std::string &name, const std::vector<int64_t> &values) {
    auto *tensor = initialiser(name, Proto::INT64, {int64_t(values.size())});
    for (int64_t v : values)
      tensor->add_int64_data(v);
  }
  void floats(const std::string &name, const std::vector<float> &values) {
    auto *tensor = initialiser(name, Proto::FLOAT, {int64_t(values.size())});
    for (float v : values)
      tensor->add_float_data(v);
  }
};

class ImportTest : public ::testing::Test {
protected:
  ImportTest() : context(mlir::MLIRContext::Threading::DISABLED) {
    context.getDiagEngine().registerHandler([this](mlir::Diagnostic &d) {
      errors += d.str() + "\n";
      return mlir::success();
    });
    options.warn = [this](const std::string &text) { warnings += text + "\n"; };
  }
  /// True on success; `module` and `main` are set then.
  bool import(const TestModel &model, const std::string &folder = "") {
    return importBytes(model.proto.SerializeAsString(), folder);
  }
  bool importBytes(const std::string &bytes, const std::string &folder = "") {
    errors.clear();
    warnings.clear();
    module = importModelBytes(bytes.data(), bytes.size(), folder, options, context);
    EXPECT_EQ(bool(module), errors.empty()) << errors;
    if (module)
      main = module->lookupSymbol<mlir::func::FuncOp>("main");
    return bool(module);
  }
  mlir::Value result(unsigned i = 0) { return main.getBody().front().getTerminator()->getOperand(i); }
  /// Text of result i when it is a constant.
  std::string constantText(unsigned i = 0) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    if (auto attr = getConstant(result(i)))
      toElementsAttr(toHostTensor(attr), &context).print(stream);
    return text;
  }
  HostTensor constantTensor(unsigned i = 0) { return toHostTensor(getConstant(result(i))); }
  std::string text() {
    std::string out;
    llvm::raw_string_ostream stream(out);
    module->print(stream);
    return out;
  }
  template <typename OpT> int count() {
    int n = 0;
    main.walk([&](OpT) { ++n; });
    return n;
  }

  mlir::MLIRContext context;
  ImportOptions options;
  std::string errors, warnings;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
};

inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}
#define EXPECT_HAS(text, part) EXPECT_TRUE(contains(text, part)) << "expected: " << part << "\ngot: " << text

} // namespace gpuc::frontend

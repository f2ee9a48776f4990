// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators of com.microsoft: their values against the definitions, and what is refused. ONNX's own cases
// have none of them.
#include "ImportFixture.h"
#include "gpuc/IR/Evaluate.h"
#include <cmath>

namespace gpuc::frontend {
namespace {

using Values = std::vector<float>;

HostTensor tensor(std::vector<int64_t> shape, const Values &values) {
  HostTensor t(DType::F32, shape);
  std::copy(values.begin(), values.end(), t.mutableData<float>());
  return t;
}

double gelu(double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }
double geluTanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

class MicrosoftTest : public ImportTest {
protected:
  /// A model of one node with an input for each tensor; an empty tensor stands for an input that is left out.
  onnx::NodeProto *node(const std::string &op, const std::vector<HostTensor> &operands,
                        const std::vector<std::string> &outputs = {"y"},
                        const std::string &domain = "com.microsoft") {
    model = TestModel();
    model.setOpset("com.microsoft", 1);
    arguments.clear();
    std::vector<std::string> names;
    for (const HostTensor &operand : operands) {
      names.push_back(operand.size() == 0 ? "" : "x" + std::to_string(names.size()));
      if (operand.size() == 0)
        continue;
      std::vector<std::string> dims;
      for (int64_t d : operand.shape())
        dims.push_back(std::to_string(d));
      model.input(names.back(), Proto::FLOAT, dims);
      arguments.push_back(operand);
    }
    for (const std::string &name : outputs)
      if (!name.empty())
        model.output(name);
    return model.node(op, names, outputs, "n", domain);
  }
  static void setFloat(onnx::NodeProto *node, const std::string &name, float value) {
    auto *attribute = node->add_attribute();
    attribute->set_name(name);
    attribute->set_type(onnx::AttributeProto::FLOAT);
    attribute->set_f(value);
  }
  /// Result `i` of the model has this shape and these values.
  void expect(const std::vector<int64_t> &shape, const std::vector<double> &values, size_t i = 0) {
    ASSERT_TRUE(import(model)) << errors;
    auto results = evaluateFunction(main, arguments);
    ASSERT_TRUE(results) << results.status().message();
    const HostTensor &got = (*results)[i];
    ASSERT_EQ(got.shape(), shape);
    for (size_t at = 0; at < values.size(); ++at)
      EXPECT_NEAR(got.data<float>()[at], values[at], 1e-5 * (1 + std::abs(values[at]))) << "element " << at;
  }
  void refuse(const std::string &message) {
    EXPECT_FALSE(import(model));
    EXPECT_HAS(errors, message);
  }
  /// (v - mean) / sqrt(variance + epsilon) of a row, or without the mean for RMS norms.
  static std::vector<double> normalised(const std::vector<double> &row, double epsilon, bool rms) {
    double mean = 0, square = 0;
    for (double v : row)
      mean += rms ? 0 : v / double(row.size());
    for (double v : row)
      square += (v - mean) * (v - mean) / double(row.size());
    std::vector<double> out;
    for (double v : row)
      out.push_back((v - mean) / std::sqrt(square + epsilon));
    return out;
  }
  TestModel model;
  std::vector<HostTensor> arguments;
  HostTensor none = HostTensor(DType::F32, {0});
  const Values xs = {-3, -0.5, 0, 0.25, 1, 4}, bias = {0.5, -1, 2};
  HostTensor x = tensor({2, 3}, xs), b = tensor({3}, bias);
};

TEST_F(MicrosoftTest, Gelus) {
  std::vector<double> plain, biased, fast, quick, quicker;
  for (size_t i = 0; i < xs.size(); ++i) {
    plain.push_back(gelu(xs[i]));
    biased.push_back(gelu(xs[i] + bias[i % 3]));
    fast.push_back(geluTanh(xs[i] + bias[i % 3]));
    quick.push_back(xs[i] / (1 + std::exp(-1.702 * xs[i])));
    quicker.push_back(xs[i] / (1 + std::exp(-3.0 * xs[i])));
  }
  node("Gelu", {x});
  expect({2, 3}, plain);
  node("BiasGelu", {x, b});
  expect({2, 3}, biased);
  node("FastGelu", {x, b});
  expect({2, 3}, fast);
  node("QuickGelu", {x});
  expect({2, 3}, quick);
  setFloat(node("QuickGelu", {x}), "alpha", 3);
  expect({2, 3}, quicker);
  node("BiasGelu", {x, tensor({2}, {1, 2})});
  refuse("input 1 (bias) does not broadcast to input 0");
}

TEST_F(MicrosoftTest, FusedMatMul) {
  // [[1, 2], [3, 4], [5, 6]] and [[1, 0, 2], [0, 1, 3]]
  HostTensor a = tensor({3, 2}, {1, 2, 3, 4, 5, 6}), at = tensor({2, 3}, {1, 3, 5, 2, 4, 6}),
             c = tensor({2, 3}, {1, 0, 2, 0, 1, 3}), ct = tensor({3, 2}, {1, 0, 0, 1, 2, 3});
  std::vector<double> product = {1, 2, 8, 3, 4, 18, 5, 6, 28}, half;
  for (double v : product)
    half.push_back(v / 2);
  node("FusedMatMul", {a, c});
  expect({3, 3}, product);
  auto *both = node("FusedMatMul", {at, ct});
  TestModel::setInt(both, "transA", 1);
  TestModel::setInt(both, "transB", 1);
  setFloat(both, "alpha", 0.5);
  expect({3, 3}, half);
  TestModel::setInt(node("FusedMatMul", {a, c}), "transBatchB", 1);
  refuse("transBatchA, transBatchB and inputs of rank 1 are not supported");
  node("FusedMatMul", {tensor({2}, {1, 2}), c});
  refuse("inputs of rank 1 are not supported");
}

TEST_F(MicrosoftTest, SkipNorms) {
  HostTensor skip = tensor({2, 3}, {1, 2, 3, -1, -2, 0.5}), gamma = tensor({3}, {1, 2, -1}),
             beta = tensor({3}, {0.5, 0, 1});
  for (bool rms : {false, true}) {
    std::vector<double> sum, want;
    for (size_t i = 0; i < xs.size(); ++i)
      sum.push_back(xs[i] + skip.data<float>()[i] + bias[i % 3]);
    for (size_t row = 0; row < 2; ++row) {
      auto y = normalised({sum.begin() + long(row) * 3, sum.begin() + long(row) * 3 + 3}, 0.1, rms);
      for (size_t i = 0; i < 3; ++i)
        want.push_back(y[i] * gamma.data<float>()[i] + (rms ? 0 : beta.data<float>()[i]));
    }
    std::string op = rms ? "SkipSimplifiedLayerNormalization" : "SkipLayerNormalization";
    std::vector<HostTensor> operands = {x, skip, gamma};
    if (!rms)
      operands.push_back(beta);
    operands.push_back(b);
    setFloat(node(op, operands, {"y", "", "", "sum"}), "epsilon", 0.1f);
    expect({2, 3}, want);
    expect({2, 3}, sum, 1);
    node(op, operands, {"y", "mean"});
    refuse("the outputs mean and inv_std_var are not supported");
    node(op, {x, skip, tensor({2}, {1, 2})});
    refuse("do not fit an input of shape");
  }
  // Without beta and bias.
  std::vector<double> want;
  for (size_t row = 0; row < 2; ++row) {
    std::vector<double> sum;
    for (size_t i = row * 3; i < row * 3 + 3; ++i)
      sum.push_back(xs[i] + skip.data<float>()[i]);
    auto y = normalised(sum, 1e-12, false);
    for (size_t i = 0; i < 3; ++i)
      want.push_back(y[i] * gamma.data<float>()[i]);
  }
  node("SkipLayerNormalization", {x, skip, gamma});
  expect({2, 3}, want);
}

TEST_F(MicrosoftTest, SimplifiedLayerNormalization) {
  std::vector<double> want;
  for (size_t row = 0; row < 2; ++row) {
    auto y = normalised({xs.begin() + long(row) * 3, xs.begin() + long(row) * 3 + 3}, 1e-5, true);
    for (size_t i = 0; i < 3; ++i)
      want.push_back(y[i] * bias[i]);
  }
  // ONNX Runtime's tools leave it in the default domain.
  node("SimplifiedLayerNormalization", {x, b}, {"y"}, "");
  expect({2, 3}, want);
  auto *both = node("SimplifiedLayerNormalization", {x, x}, {"y"}, "");
  TestModel::setInt(both, "axis", 0);
  auto y = normalised({xs.begin(), xs.end()}, 1e-5, true);
  for (size_t i = 0; i < y.size(); ++i)
    y[i] *= xs[i];
  expect({2, 3}, y);
  node("SimplifiedLayerNormalization", {x, b}, {"y", "inv"}, "");
  refuse("the output inv_std_var is not supported");
  node("SimplifiedLayerNormalization", {x, tensor({2}, {1, 2})}, {"y"}, "");
  refuse("does not fit the normalised axes");
}

} // namespace
} // namespace gpuc::frontend

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Core ops, kernels and functions through the reference executor.
#include "gpuc/IR/Evaluate.h"
#include "IRFixture.h"
#include <cmath>
#include <limits>

using namespace gpuc;
using namespace gpuc::test;
using namespace mlir;

namespace {

class EvaluateTest : public IRTest {
protected:
  /// Runs a function whose body is `body` and returns its results.
  Result<std::vector<HostTensor>> run(StringRef signature, StringRef body,
                                      std::vector<HostTensor> arguments) {
    func::FuncOp f = parse(("func.func @f" + signature + " {\n" + body + "\n}").str());
    if (!f)
      return internalError("parse: " + (errors.empty() ? "" : errors.front()));
    return evaluateFunction(f, arguments);
  }
  /// One op `%y = op` on %0, %1, … of the given types and values, with one result.
  HostTensor one(std::string op, std::string resultType, std::vector<HostTensor> operands) {
    std::string arguments, types;
    for (size_t i = 0; i < operands.size(); ++i) {
      std::string text;
      llvm::raw_string_ostream(text) << type(operands[i].shape(), operands[i].dtype());
      arguments += (i ? ", %" : "%") + std::string(1, char('a' + i)) + ": " + text;
      types += (i ? ", " : "") + text;
    }
    if (size_t at = op.find("TYPES"); at != std::string::npos)
      op.replace(at, 5, types);
    auto results = run("(" + arguments + ") -> " + resultType,
                       "%y = " + op + " -> " + resultType + "\nreturn %y : " + resultType, operands);
    EXPECT_TRUE(results.ok()) << results.status().message();
    return results.ok() ? results->front() : HostTensor();
  }
};

constexpr float kInf = std::numeric_limits<float>::infinity();

TEST_F(EvaluateTest, Pointwise) {
  HostTensor x = f32({2}, {-1, 2}), y = f32({2, 1}, {10, 20});
  EXPECT_EQ(values<float>(one("gpuc.unary leaky_relu %a {alpha = 0.5} : TYPES", "tensor<2xf32>", {x})),
            (std::vector<float>{-0.5, 2}));
  EXPECT_EQ(values<float>(one("gpuc.binary add %a, %b : TYPES", "tensor<2x2xf32>", {x, y})),
            (std::vector<float>{9, 12, 19, 22}));
  HostTensor c = tensor<uint8_t>(DType::Bool, {2}, {1, 0});
  EXPECT_EQ(values<float>(one("gpuc.select %a, %b, %c : TYPES", "tensor<2xf32>", {c, x, f32({}, {7})})),
            (std::vector<float>{-1, 7}));
  EXPECT_EQ(values<int64_t>(one("gpuc.cast %a : TYPES", "tensor<2xi64>", {f32({2}, {-1.5, 2.5})})),
            (std::vector<int64_t>{-1, 2}));
}

TEST_F(EvaluateTest, Movement) {
  HostTensor x = f32({2, 3}, {0, 1, 2, 3, 4, 5}), v = f32({}, {9});
  EXPECT_EQ(values<float>(one("gpuc.transpose %a {perm = array<i64: 1, 0>} : TYPES", "tensor<3x2xf32>", {x})),
            (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values<float>(one("gpuc.reshape %a : TYPES", "tensor<6xf32>", {x})).size(), 6u);
  EXPECT_EQ(values<float>(one("gpuc.expand %a : TYPES", "tensor<2xf32>", {v})), (std::vector<float>{9, 9}));
  EXPECT_EQ(values<float>(one("gpuc.slice %a {starts = array<i64: 1, 2>, steps = array<i64: -1, 1>} : TYPES",
                              "tensor<2x1xf32>", {x})),
            (std::vector<float>{5, 2}));
  EXPECT_EQ(
      values<float>(one("gpuc.pad constant %a, %b {low = array<i64: 0, -2>, high = array<i64: 0, 1>} : TYPES",
                        "tensor<2x2xf32>", {x, v})),
      (std::vector<float>{2, 9, 5, 9}));
  EXPECT_EQ(values<float>(one("gpuc.pad edge %a {low = array<i64: 1, 0>, high = array<i64: 0, 0>} : TYPES",
                              "tensor<3x3xf32>", {x})),
            (std::vector<float>{0, 1, 2, 0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values<float>(one("gpuc.tile %a {repeats = array<i64: 1, 2>} : TYPES", "tensor<2x6xf32>", {x})),
            (std::vector<float>{0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5}));
  EXPECT_EQ(values<float>(one("gpuc.trilu %a {k = 1 : i64, upper = true} : TYPES", "tensor<2x3xf32>", {x})),
            (std::vector<float>{0, 1, 2, 0, 0, 5}));
  EXPECT_EQ(values<float>(one("gpuc.resize nearest %a {coordinate = #gpuc<coordinate_mode asymmetric>, "
                              "nearest = #gpuc<nearest_mode floor>, scales = array<f64: 1.0, 2.0>} : TYPES",
                              "tensor<2x6xf32>", {x})),
            (std::vector<float>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}));
  auto joined =
      run("(%a: tensor<1xf32>, %b: tensor<2xf32>) -> tensor<3xf32>",
          "%y = gpuc.concat %a, %b {axis = 0 : i64} : (tensor<1xf32>, tensor<2xf32>) -> tensor<3xf32>\n"
          "return %y : tensor<3xf32>",
          {f32({1}, {1}), f32({2}, {2, 3})});
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(values<float>(joined->front()), (std::vector<float>{1, 2, 3}));
}

TEST_F(EvaluateTest, Indexing) {
  HostTensor x = f32({3, 2}, {0, 1, 2, 3, 4, 5});
  EXPECT_EQ(values<float>(one("gpuc.gather %a, %b {axis = 0 : i64} : TYPES", "tensor<2x2xf32>",
                              {x, i64({2}, {-1, 0})})),
            (std::vector<float>{4, 5, 0, 1}));
  EXPECT_EQ(values<float>(one("gpuc.gather_elements %a, %b {axis = 0 : i64} : TYPES", "tensor<1x2xf32>",
                              {x, i64({1, 2}, {2, 0})})),
            (std::vector<float>{4, 1}));
  EXPECT_EQ(values<float>(one("gpuc.gather_nd %a, %b {batchDims = 0 : i64} : TYPES", "tensor<1xf32>",
                              {x, i64({1, 2}, {1, 1})})),
            (std::vector<float>{3}));
  EXPECT_EQ(values<float>(one("gpuc.scatter_nd add %a, %b, %c : TYPES", "tensor<3x2xf32>",
                              {x, i64({1, 1}, {1}), f32({1, 2}, {10, 20})})),
            (std::vector<float>{0, 1, 12, 23, 4, 5}));
  EXPECT_EQ(values<float>(one("gpuc.scatter_elements none %a, %b, %c {axis = 0 : i64} : TYPES",
                              "tensor<3x2xf32>", {x, i64({1, 2}, {2, 0}), f32({1, 2}, {10, 20})})),
            (std::vector<float>{0, 20, 2, 3, 10, 5}));
}

TEST_F(EvaluateTest, Reductions) {
  HostTensor x = f32({2, 3}, {3, 1, 2, 6, 6, 4});
  EXPECT_EQ(values<float>(one("gpuc.reduce sum %a {axes = array<i64: 1>, keepdims = false} : TYPES",
                              "tensor<2xf32>", {x})),
            (std::vector<float>{6, 16}));
  EXPECT_EQ(values<int64_t>(
                one("gpuc.arg_reduce %a {isMax = true, axis = 1 : i64, keepdims = true, selectLast = true} : "
                    "TYPES",
                    "tensor<2x1xi64>", {x})),
            (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(values<float>(one("gpuc.cumsum %a {axis = 1 : i64, exclusive = false, reverse = true} : TYPES",
                              "tensor<2x3xf32>", {x})),
            (std::vector<float>{6, 3, 2, 16, 10, 4}));
  auto top = run("(%a: tensor<2x3xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)",
                 "%v, %i = gpuc.topk %a {k = 2 : i64, axis = 1 : i64, largest = true} : tensor<2x3xf32> -> "
                 "tensor<2x2xf32>, tensor<2x2xi64>\nreturn %v, %i : tensor<2x2xf32>, tensor<2x2xi64>",
                 {x});
  ASSERT_TRUE(top.ok()) << top.status().message();
  EXPECT_EQ(values<float>((*top)[0]), (std::vector<float>{3, 2, 6, 6}));
  EXPECT_EQ(values<int64_t>((*top)[1]), (std::vector<int64_t>{0, 2, 0, 1}));
}

TEST_F(EvaluateTest, Normalisation) {
  HostTensor masked = f32({2, 2}, {-kInf, -kInf, 0, 0});
  auto plain = values<float>(one("gpuc.softmax %a {axis = 1 : i64} : TYPES", "tensor<2x2xf32>", {masked}));
  EXPECT_TRUE(std::isnan(plain[0]) && std::isnan(plain[1]));
  EXPECT_EQ(plain[2], 0.5f);
  EXPECT_EQ(values<float>(one("gpuc.softmax %a {axis = 1 : i64, zeroMasked = true} : TYPES",
                              "tensor<2x2xf32>", {masked})),
            (std::vector<float>{0, 0, 0.5, 0.5}));
  HostTensor x = f32({1, 2}, {1, 3}), g = f32({2}, {2, 2}), b = f32({2}, {10, 10});
  const char *common = "{axis = 1 : i64, epsilon = 0.0} : TYPES";
  EXPECT_EQ(values<float>(one("gpuc.layer_norm %a scale %b bias %c " + std::string(common), "tensor<1x2xf32>",
                              {x, g, b})),
            (std::vector<float>{8, 12}));
  EXPECT_EQ(
      values<float>(one("gpuc.layer_norm %a bias %b " + std::string(common), "tensor<1x2xf32>", {x, b})),
      (std::vector<float>{9, 11}));
  EXPECT_EQ(values<float>(one("gpuc.rms_norm %a scale %b " + std::string(common), "tensor<1x2xf32>",
                              {f32({1, 2}, {3, 3}), g})),
            (std::vector<float>{2, 2}));
  EXPECT_EQ(values<float>(one("gpuc.group_norm %a bias %b {groups = 1 : i64, epsilon = 0.0} : TYPES",
                              "tensor<1x2xf32>", {x, b})),
            (std::vector<float>{9, 11}));
  EXPECT_EQ(values<float>(one("gpuc.lrn %a {size = 1 : i64, alpha = 1.0, beta = 1.0, bias = 1.0} : TYPES",
                              "tensor<1x2xf32>", {x})),
            (std::vector<float>{0.5, 0.3f}));
}

TEST_F(EvaluateTest, Contractions) {
  EXPECT_EQ(values<float>(one("gpuc.matmul %a, %b : TYPES", "tensor<1x1xf32>",
                              {f32({1, 2}, {1, 2}), f32({2, 1}, {3, 4})})),
            (std::vector<float>{11}));
  HostTensor q = f32({1, 1, 2, 1}, {1, 1}), k = f32({1, 1, 2, 1}, {5, 5}), v = f32({1, 1, 2, 1}, {2, 4});
  EXPECT_EQ(
      values<float>(one("gpuc.attention %a, %b, %c {scale = 1.0} : TYPES", "tensor<1x1x2x1xf32>", {q, k, v})),
      (std::vector<float>{3, 3}));
  EXPECT_EQ(values<float>(one("gpuc.attention %a, %b, %c {scale = 1.0, causal = true} : TYPES",
                              "tensor<1x1x2x1xf32>", {q, k, v})),
            (std::vector<float>{2, 3}));
  HostTensor mask = tensor<uint8_t>(DType::Bool, {2, 2}, {0, 0, 0, 1});
  EXPECT_EQ(values<float>(one("gpuc.attention %a, %b, %c bias %d {scale = 1.0, zeroMasked = true} : TYPES",
                              "tensor<1x1x2x1xf32>", {q, k, v, mask})),
            (std::vector<float>{0, 4}));
  HostTensor x = f32({1, 1, 3}, {1, 2, 3}), w = f32({1, 1, 2}, {1, 10}), b = f32({1}, {100});
  EXPECT_EQ(
      values<float>(
          one("gpuc.conv %a, %b bias %c {strides = array<i64: 1>, low = array<i64: 1>, high = array<i64: 0>, "
              "dilations = array<i64: 1>, group = 1 : i64} : TYPES",
              "tensor<1x1x3xf32>", {x, w, b})),
      (std::vector<float>{110, 121, 132}));
  EXPECT_EQ(values<float>(one("gpuc.conv_transpose %a, %b {strides = array<i64: 2>, low = array<i64: 0>, "
                              "dilations = array<i64: 1>, group = 1 : i64} : TYPES",
                              "tensor<1x1x7xf32>", {x, w})),
            (std::vector<float>{1, 10, 2, 20, 3, 30, 0}));
  const char *window =
      "{kernel = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>, "
      "dilations = array<i64: 1>} : TYPES";
  EXPECT_EQ(values<float>(one("gpuc.max_pool %a " + std::string(window), "tensor<1x1x2xf32>", {x})),
            (std::vector<float>{2, 3}));
  EXPECT_EQ(values<float>(one("gpuc.avg_pool %a " + std::string(window), "tensor<1x1x2xf32>", {x})),
            (std::vector<float>{1.5, 3}));
  auto winners =
      run("(%a: tensor<1x1x3xf32>) -> tensor<1x1x1xi64>",
          "%y, %i = gpuc.max_pool %a {kernel = array<i64: 3>, strides = array<i64: 1>, low = array<i64: 0>, "
          "high = array<i64: 0>, dilations = array<i64: 1>} : tensor<1x1x3xf32> -> tensor<1x1x1xf32>, "
          "tensor<1x1x1xi64>\nreturn %i : tensor<1x1x1xi64>",
          {x});
  ASSERT_TRUE(winners.ok());
  EXPECT_EQ(values<int64_t>(winners->front()), (std::vector<int64_t>{2}));
}

TEST_F(EvaluateTest, KernelsAndFunctions) {
  func::FuncOp f = parse(R"(
    func.func @f(%x: tensor<2xf32>, %unused: tensor<i8>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
      %c = gpuc.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %y:2 = gpuc.kernel "pointwise" (%a = %x : tensor<2xf32>, %b = %c : tensor<2xf32>) -> tensor<2xf32>, tensor<2xf32>
          attributes {storage = [[4], []]} {
        %0 = gpuc.binary add %a, %b : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
        %1 = gpuc.binary mul %0, %a : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
        gpuc.yield %0, %1 : tensor<2xf32>, tensor<2xf32>
      }
      %dead = gpuc.unary exp %x : tensor<2xf32> -> tensor<2xf32>
      return %y#1, %y#0, %x : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
    })");
  ASSERT_TRUE(f);
  int seen = 0;
  auto results = evaluateFunction(f, {f32({2}, {3, 4}), HostTensor(DType::I8, {})},
                                  [&](Value v, const HostTensor &t) { seen += t.size() == 2; });
  ASSERT_TRUE(results.ok()) << results.status().message();
  EXPECT_EQ(seen, 4); // the constant, the kernel's two, the dead one
  EXPECT_EQ(values<float>((*results)[0]), (std::vector<float>{12, 24}));
  EXPECT_EQ(values<float>((*results)[1]), (std::vector<float>{4, 6}));
  EXPECT_EQ(values<float>((*results)[2]), (std::vector<float>{3, 4}));
}

TEST_F(EvaluateTest, Errors) {
  func::FuncOp f = parse("func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }");
  EXPECT_EQ(evaluateFunction(f, {}).status().message(), "expected 1 arguments, got 0");
  EXPECT_EQ(evaluateFunction(f, {f32({1}, {1})}).status().message(),
            "argument 0 has the wrong type: expected f32 2, got f32 1");
  auto outside = run("(%x: tensor<2xf32>, %i: tensor<i64>) -> tensor<f32>",
                     "%y = gpuc.gather %x, %i {axis = 0 : i64} : tensor<2xf32>, tensor<i64> -> tensor<f32>\n"
                     "return %y : tensor<f32>",
                     {f32({2}, {1, 2}), i64({}, {2})});
  ASSERT_FALSE(outside.ok());
  EXPECT_EQ(outside.status().message().find("gpuc.gather: "), 0u) << outside.status().message();
}

TEST_F(EvaluateTest, FoldToConstants) {
  Value a = constant(f32({2}, {1, 2})), b = constant(f32({}, {10}));
  auto add = BinaryOp::create(builder, loc(), BinaryKind::Add, a, b);
  SmallVector<Attribute> results;
  EXPECT_TRUE(failed(foldToConstants(add, 7, results)));
  EXPECT_TRUE(results.empty());
  ASSERT_TRUE(succeeded(foldToConstants(add, 8, results)));
  EXPECT_EQ(values<float>(toHostTensor(cast<ElementsAttr>(results[0]))), (std::vector<float>{11, 12}));
  auto open = BinaryOp::create(builder, loc(), BinaryKind::Add, value({2}), b);
  results.clear();
  EXPECT_TRUE(failed(foldToConstants(open, 1 << 20, results)));
  auto top = TopKOp::create(builder, loc(), constant(f32({3}, {1, 3, 2})), 1, 0, true);
  ASSERT_TRUE(succeeded(foldToConstants(top, 1 << 20, results)));
  EXPECT_EQ(results.size(), 2u);
}

} // namespace

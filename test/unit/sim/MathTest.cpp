// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// common/math.cuh against the formulas of OpKinds.h, evaluated by the host in long double or by hand.
#include "SimFixture.h"
#include "gpuc/Support/OpKinds.h"
#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace gpuc::test {
namespace {

using Real = long double;
using UnaryReference = std::function<Real(Real)>;
constexpr Real kAlpha = 0.75L, kBeta = 0.5L;

const std::map<std::string, UnaryReference> &unaryReferences() {
  static const auto softplus = [](Real x) { return x > 0 ? x + log1pl(expl(-x)) : log1pl(expl(x)); };
  static const auto sigmoid = [](Real x) { return 1 / (1 + expl(-x)); };
  static const auto clamp = [](Real x) { return x < 0 ? Real(0) : x > 1 ? Real(1) : x; };
  static const std::map<std::string, UnaryReference> table = {
      {"abs", [](Real x) { return fabsl(x); }},
      {"neg", [](Real x) { return -x; }},
      {"ceil", [](Real x) { return ceill(x); }},
      {"floor", [](Real x) { return floorl(x); }},
      {"round", [](Real x) { return nearbyintl(x); }},
      {"sign", [](Real x) { return x > 0   ? Real(1)
                                   : x < 0 ? Real(-1)
                                           : x; }},
      {"exp", [](Real x) { return expl(x); }},
      {"log", [](Real x) { return logl(x); }},
      {"sqrt", [](Real x) { return sqrtl(x); }},
      {"rsqrt", [](Real x) { return 1 / sqrtl(x); }},
      {"reciprocal", [](Real x) { return 1 / x; }},
      {"sin", [](Real x) { return sinl(x); }},
      {"cos", [](Real x) { return cosl(x); }},
      {"tan", [](Real x) { return tanl(x); }},
      {"asin", [](Real x) { return asinl(x); }},
      {"acos", [](Real x) { return acosl(x); }},
      {"atan", [](Real x) { return atanl(x); }},
      {"sinh", [](Real x) { return sinhl(x); }},
      {"cosh", [](Real x) { return coshl(x); }},
      {"tanh", [](Real x) { return tanhl(x); }},
      {"asinh", [](Real x) { return asinhl(x); }},
      {"acosh", [](Real x) { return acoshl(x); }},
      {"atanh", [](Real x) { return atanhl(x); }},
      {"erf", [](Real x) { return erfl(x); }},
      {"sigmoid", sigmoid},
      {"relu", [](Real x) { return x < 0 ? Real(0) : x; }},
      {"gelu", [](Real x) { return x / 2 * (1 + erfl(x / sqrtl(2))); }},
      {"gelu_tanh",
       [](Real x) { return x / 2 * (1 + tanhl(sqrtl(2 / acosl(-1)) * (x + 0.044715L * x * x * x))); }},
      {"silu", [](Real x) { return x * sigmoid(x); }},
      {"softplus", softplus},
      {"softsign", [](Real x) { return x / (1 + fabsl(x)); }},
      {"mish", [](Real x) { return x * tanhl(softplus(x)); }},
      {"hard_swish", [](Real x) { return x * clamp(x / 6 + 0.5L); }},
      {"hard_sigmoid", [](Real x) { return clamp(kAlpha * x + kBeta); }},
      {"leaky_relu", [](Real x) { return x >= 0 ? x : kAlpha * x; }},
      {"elu", [](Real x) { return x >= 0 ? x : kAlpha * expm1l(x); }},
      {"celu", [](Real x) { return x >= 0 ? x : kAlpha * expm1l(x / kAlpha); }},
      {"selu", [](Real x) { return kBeta * (x > 0 ? x : kAlpha * expm1l(x)); }},
      {"thresholded_relu", [](Real x) { return x > kAlpha      ? x
                                               : std::isnan(x) ? x
                                                               : Real(0); }},
  };
  return table;
}

std::vector<double> inputs() {
  std::vector<double> values = {0.0, -0.0, 0.5,  -0.5, 1.5,   2.5,  -2.5,  1.0,   -1.0,
                                3.0, -3.0, 10.0, 30.0, -30.0, 1e-6, -1e-6, 100.0, -100.0};
  for (int i = -40; i <= 40; ++i)
    values.push_back(i * 0.177);
  values.push_back(INFINITY);
  values.push_back(-INFINITY);
  values.push_back(NAN);
  return values;
}

/// Error relative to the result, or absolute below 1e-3 for the kinds that subtract (gelu near its zero at
/// -inf).
template <typename T> void expectNear(const std::string &kind, double x, T got, Real want) {
  T rounded = T(want);
  if (std::isnan(rounded)) {
    EXPECT_TRUE(std::isnan(got)) << kind << "(" << x << ") = " << got << ", expected NaN";
    return;
  }
  if (std::isinf(rounded) || std::isinf(got)) {
    EXPECT_EQ(got, rounded) << kind << "(" << x << ")";
    return;
  }
  if (fabsl(want) < std::numeric_limits<T>::min()) { // denormal results lose digits
    EXPECT_LE(fabs(double(got)), 2.0 * double(std::numeric_limits<T>::min())) << kind << "(" << x << ")";
    return;
  }
  const bool cancels = kind == "gelu" || kind == "gelu_tanh";
  Real scale = std::max(fabsl(want), Real(cancels ? fabs(x) : 0) + std::numeric_limits<T>::min());
  EXPECT_LE(double(fabsl(Real(got) - want) / scale / std::numeric_limits<T>::epsilon()), 8.0)
      << kind << "(" << x << ") = " << got << ", expected " << double(want);
}

/// Values of expressions of x[t], which use `header`: all of the first one's, then of the next.
template <typename T>
std::vector<T> evaluate(const std::string &header, const std::string &type,
                        const std::vector<std::string> &expressions, const std::vector<T> &x) {
  std::string text = "#include \"" + header +
                     "\"\nusing namespace gpuc;\nextern \"C\" __global__ void k(const " + type + " *x, " +
                     type + " *y) {\nconst int t = threadIdx.x, n = blockDim.x;\n";
  for (size_t k = 0; k < expressions.size(); ++k)
    text += "y[" + std::to_string(k) + " * n + t] = " + expressions[k] + ";\n";
  Program program(text + "}\nGPUC_EXPORT(k)\n");
  EXPECT_TRUE(program.status.ok()) << program.status.message();
  if (!program.status.ok())
    return {};
  Buffer<T> dx(*program.device, x), dy(*program.device, std::vector<T>(x.size() * expressions.size()));
  Status status = program.launch(1, unsigned(x.size()), 0, {dx.ptr, dy.ptr});
  EXPECT_TRUE(status.ok()) << status.message();
  return dy.read();
}

template <typename T> void checkUnary(const std::string &type) {
  const bool isFloat = type == "float";
  std::vector<std::string> kinds;
#define GPUC_KIND_NAME(Cxx, Ir) kinds.push_back(#Ir);
  GPUC_UNARY_KINDS(GPUC_KIND_NAME)
#undef GPUC_KIND_NAME
  std::vector<std::string> tested, calls;
  for (const std::string &kind : kinds) {
    if (kind == "bit_not" || kind == "not" || kind == "is_nan" || kind == "is_inf")
      continue;
    ASSERT_TRUE(unaryReferences().count(kind)) << kind << " has no reference here";
    bool parameters = kind == "hard_sigmoid" || kind == "leaky_relu" || kind == "elu" || kind == "celu" ||
                      kind == "selu" || kind == "thresholded_relu";
    calls.push_back("unary_" + kind + "(x[t]" + (parameters ? ", 0.75f, 0.5f" : "") + ")");
    tested.push_back(kind);
  }
  std::vector<T> x;
  for (double v : inputs())
    x.push_back(T(v));
  auto y = evaluate("common/math.cuh", type, calls, x);
  ASSERT_EQ(y.size(), x.size() * tested.size());
  for (size_t k = 0; k < tested.size(); ++k)
    for (size_t i = 0; i < x.size(); ++i) {
      const bool infinite = std::isinf(x[i]);
      const std::string &kind = tested[k];
      // x times 0 at an infinity: the formula gives NaN on the host as well, but at other places
      if (infinite && (kind == "gelu" || kind == "gelu_tanh" || kind == "silu" || kind == "mish" ||
                       kind == "softsign" || kind == "hard_swish"))
        continue;
      // cancellation makes the last digits of float meaningless there
      if (isFloat && kind == "hard_swish" && fabs(double(x[i]) + 3) < 1e-3)
        continue;
      expectNear<T>(kind, double(x[i]), y[k * x.size() + i], unaryReferences().at(kind)(Real(x[i])));
    }
}

TEST(SimMath, UnaryFloat) { checkUnary<float>("float"); }
TEST(SimMath, UnaryDouble) { checkUnary<double>("double"); }

/// common/half_math.cuh: the errors that it and docs/numerics.md state.
TEST(SimMath, FunctionsOf16BitTensorsKeepTheirBounds) {
  struct Function {
    std::string name;
    std::function<double(double)> bound;
  };
  const std::vector<Function> functions = {{"sigmoid", [](double) { return 3e-7; }},
                                           {"silu", [](double x) { return 3e-7 * x; }},
                                           {"gelu_tanh", [](double x) { return 1e-6 * x; }},
                                           {"gelu", [](double x) { return x < 1.5 ? 6.5e-5 * x : 2.3e-4; }}};
  std::vector<float> x = {1e-4f,  0.01f,  12.f,  100.f,  3000.f,  65504.f,
                          -1e-4f, -0.01f, -12.f, -100.f, -3000.f, -65504.f};
  for (int i = 0; x.size() < 1024; ++i) // as many as a block has threads
    x.push_back(float(i - 512) / 64);
  std::vector<std::string> calls;
  for (const Function &function : functions)
    calls.push_back("unary16_" + function.name + "(x[t])");
  auto y = evaluate("common/half_math.cuh", "float", calls, x);
  ASSERT_EQ(y.size(), x.size() * functions.size());
  for (size_t k = 0; k < functions.size(); ++k)
    for (size_t i = 0; i < x.size(); ++i) {
      double want = double(unaryReferences().at(functions[k].name)(Real(x[i]))), got = y[k * x.size() + i];
      EXPECT_LE(fabs(got - want), functions[k].bound(fabs(x[i])) + 1e-12)
          << functions[k].name << "(" << x[i] << ")";
    }
}

/// Runs `body`, which reads a[t], b[t] and writes y[t].
template <typename A, typename B, typename Y>
std::vector<Y> runPairs(const std::string &types, const std::string &body, std::vector<A> a,
                        std::vector<B> b) {
  Program program("#include \"common/math.cuh\"\nusing namespace gpuc;\nextern \"C\" __global__ void k(" +
                  types + ") { const int t = threadIdx.x; " + body + " }\nGPUC_EXPORT(k)\n");
  EXPECT_TRUE(program.status.ok()) << program.status.message();
  Buffer<A> da(*program.device, a);
  Buffer<B> db(*program.device, b);
  Buffer<Y> dy(*program.device, std::vector<Y>(a.size()));
  Status status = program.launch(1, unsigned(a.size()), 0, {da.ptr, db.ptr, dy.ptr});
  EXPECT_TRUE(status.ok()) << status.message();
  return dy.read();
}

const char kI32[] = "const i32 *a, const i32 *b, i32 *y", kI8[] = "const i8 *a, const i8 *b, i8 *y";
const char kF32[] = "const float *a, const float *b, float *y";
constexpr int32_t kMin = INT32_MIN;

std::vector<int32_t> i32(const char *call, std::vector<int32_t> a, std::vector<int32_t> b) {
  return runPairs<int32_t, int32_t, int32_t>(kI32, std::string("y[t] = ") + call + "(a[t], b[t]);", a, b);
}
using I32 = std::vector<int32_t>;

TEST(SimMath, IntegerDivision) {
  EXPECT_EQ(i32("binary_div", {7, -7, 7, kMin, 5, 0}, {2, 2, -2, -1, 0, 0}), (I32{3, -3, -3, kMin, 0, 0}));
  EXPECT_EQ(i32("binary_mod", {7, -7, 7, -7, kMin, 5}, {3, 3, -3, -3, -1, 0}), (I32{1, 2, -2, -1, 0, 0}));
  EXPECT_EQ(i32("binary_fmod", {7, -7, 7, -7, kMin, 5}, {3, 3, -3, -3, -1, 0}), (I32{1, -1, 1, -1, 0, 0}));
}
TEST(SimMath, IntegersWrap) {
  EXPECT_EQ(i32("binary_add", {INT32_MAX, kMin}, {1, -1}), (I32{kMin, INT32_MAX}));
  EXPECT_EQ(i32("binary_mul", {65536, 123456}, {65536, 654321}), (I32{0, int32_t(123456u * 654321u)}));
  using Bytes = std::vector<int8_t>;
  EXPECT_EQ(
      (runPairs<int8_t, int8_t, int8_t>(kI8, "y[t] = binary_add(binary_mul(a[t], b[t]), unary_neg(a[t]));",
                                        {-128, 100, 7}, {2, 3, -128})),
      (Bytes{int8_t(-128), int8_t(200), int8_t(-903)}));
}
TEST(SimMath, IntegerPower) {
  EXPECT_EQ(i32("binary_pow", {3, 2, -2, 1, -1, -1, 0, 0, 5, 7}, {4, 31, 3, -5, -5, -4, -1, 0, -1, 13}),
            (I32{81, kMin, -8, 1, -1, 1, 0, 1, 0, int32_t(96889010407ll & 0xffffffff)}));
  // mixed types take the base's
  EXPECT_EQ(
      (runPairs<int32_t, float, int32_t>("const i32 *a, const float *b, i32 *y",
                                         "y[t] = binary_pow(a[t], b[t]);", {9, 2, 2}, {0.5f, 3.0f, -1.0f})),
      (I32{3, 8, 0}));
  EXPECT_EQ((runPairs<float, int64_t, float>("const float *a, const i64 *b, float *y",
                                             "y[t] = binary_pow(a[t], b[t]);", {-2.0f, -1.0f, -1.0f, 2.0f},
                                             {3, (1ll << 40) + 1, 1ll << 40, -2})),
            (std::vector<float>{-8.0f, -1.0f, 1.0f, 0.25f}));
}
TEST(SimMath, Shifts) {
  EXPECT_EQ(i32("binary_shl", {1, 3, 1, 1}, {31, 1, 32, -1}), (I32{kMin, 6, 0, 0}));
  EXPECT_EQ(i32("binary_shr", {-8, 8, -8, 8}, {1, 2, 40, 40}), (I32{-4, 2, -1, 0}));
}
TEST(SimMath, FloatRemainders) {
  auto mod = runPairs<float, float, float>(kF32, "y[t] = binary_mod(a[t], b[t]);", {7.5f, -7.5f, 7.5f, -7.5f},
                                           {2, 2, -2, -2});
  EXPECT_EQ(mod, (std::vector<float>{1.5f, 0.5f, -0.5f, -1.5f}));
  auto fmod = runPairs<float, float, float>(kF32, "y[t] = binary_fmod(a[t], b[t]);",
                                            {7.5f, -7.5f, 7.5f, -7.5f}, {2, 2, -2, -2});
  EXPECT_EQ(fmod, (std::vector<float>{1.5f, -1.5f, 1.5f, -1.5f}));
}
TEST(SimMath, NaNPasses) {
  for (const char *call : {"binary_min(a[t], b[t])", "binary_max(a[t], b[t])", "clip(a[t] + b[t], 0, 1)",
                           "unary_relu(a[t] * b[t])", "unary_thresholded_relu(a[t] * b[t], 1.0f)"}) {
    auto y = runPairs<float, float, float>(kF32, std::string("y[t] = ") + call + ";", {NAN, 1, NAN},
                                           {1, NAN, NAN});
    for (float v : y)
      EXPECT_TRUE(std::isnan(v)) << call;
  }
}
TEST(SimMath, Predicates) {
  auto y = runPairs<float, float, float>(kF32,
                                         "y[t] = unary_is_nan(a[t]) + 2 * unary_is_inf(a[t], 1, 0) + 4 * "
                                         "unary_is_inf(a[t], 0, 1) + 8 * unary_not(a[t]);",
                                         {NAN, INFINITY, -INFINITY, 0, 1}, {0, 0, 0, 0, 0});
  EXPECT_EQ(y, (std::vector<float>{1, 2, 4, 8, 0}));
  auto c = runPairs<float, float, float>(kF32,
                                         "y[t] = binary_eq(a[t], b[t]) + 2 * binary_lt(a[t], b[t]) + 4 * "
                                         "binary_ge(a[t], b[t]) + 8 * binary_ne(a[t], b[t]);",
                                         {1, 1, NAN}, {1, 2, 1});
  EXPECT_EQ(c, (std::vector<float>{5, 10, 8}));
}

} // namespace
} // namespace gpuc::test

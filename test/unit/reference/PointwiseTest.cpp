// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scalar semantics: NaN, signed zeros, integer corner cases, broadcasting.
#include "Tensors.h"

using namespace gpuc;
using namespace gpuc::reference;
using UK = UnaryKind;
using BK = BinaryKind;

TEST(Unary, RoundsHalfToEvenAndKeepsTheSignOfZero) {
  expectTensor(unary(UK::Round, f32({7}, {0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 2.4})), DType::F32, {7},
               {0, 2, 2, -0.0, -2, -2, 2});
}
TEST(Unary, NaNPassesThroughReluAndClampedKinds) {
  for (UK kind : {UK::Relu, UK::HardSigmoid, UK::HardSwish, UK::LeakyRelu, UK::Elu, UK::Celu, UK::Selu,
                  UK::Sign, UK::ThresholdedRelu, UK::Gelu, UK::Softplus})
    expectTensor(unary(kind, f32({}, {kNaN}), 0.2, 0.5), DType::F32, {}, {kNaN});
}
TEST(Unary, ActivationsAtInfinity) {
  for (UK kind : {UK::Gelu, UK::GeluTanh, UK::Silu, UK::Mish, UK::HardSwish})
    EXPECT_EQ(read(unary(kind, f32({2}, {-kInf, kInf}))), (std::vector<double>{0, kInf})) << name(kind);
  expectTensor(unary(UK::Softplus, f32({3}, {-kInf, 1000, kInf})), DType::F32, {3}, {0, 1000, kInf});
  expectTensor(unary(UK::Sigmoid, f32({3}, {-1000, 0, 1000})), DType::F32, {3}, {0, 0.5, 1});
  expectTensor(unary(UK::Softsign, f32({3}, {-kInf, 1, kInf})), DType::F32, {3}, {-1, 0.5, 1});
}
TEST(Unary, FormulasWithAlphaAndBeta) {
  HostTensor x = f32({3}, {-2, 0.5, 3});
  expectTensor(unary(UK::HardSigmoid, x, 0.25, 0.5), DType::F32, {3}, {0, 0.625, 1});
  expectTensor(unary(UK::LeakyRelu, x, 0.25), DType::F32, {3}, {-0.5, 0.5, 3});
  expectTensor(unary(UK::Elu, x, 2), DType::F32, {3}, {2 * std::expm1(-2), 0.5, 3}, 1e-6);
  expectTensor(unary(UK::Celu, x, 2), DType::F32, {3}, {2 * std::expm1(-1), 0.5, 3}, 1e-6);
  expectTensor(unary(UK::Selu, x, 2, 3), DType::F32, {3}, {6 * std::expm1(-2), 1.5, 9}, 1e-5);
  expectTensor(unary(UK::ThresholdedRelu, x, 0.5), DType::F32, {3}, {0, 0, 3});
  expectTensor(unary(UK::Gelu, f32({1}, {1}), 0, 0), DType::F32, {1}, {0.8413447460685429}, 1e-7);
  expectTensor(unary(UK::GeluTanh, f32({1}, {1})), DType::F32, {1}, {0.8411919906082768}, 1e-7);
  expectTensor(unary(UK::Mish, f32({1}, {1})), DType::F32, {1}, {0.8650983882673103}, 1e-7);
}
TEST(Unary, Predicates) {
  HostTensor x = f32({4}, {kNaN, kInf, -kInf, 1});
  expectTensor(unary(UK::IsNaN, x), DType::Bool, {4}, {1, 0, 0, 0});
  expectTensor(unary(UK::IsInf, x, 1, 1), DType::Bool, {4}, {0, 1, 1, 0});
  expectTensor(unary(UK::IsInf, x, 0, 1), DType::Bool, {4}, {0, 0, 1, 0});
  expectTensor(unary(UK::Not, make(DType::Bool, {2}, {0, 1})), DType::Bool, {2}, {1, 0});
}
TEST(Unary, IntegersWrapAndRefuseTranscendentals) {
  expectTensor(unary(UK::Abs, make(DType::I8, {3}, {-128, -5, 5})), DType::I8, {3}, {-128, 5, 5});
  expectTensor(unary(UK::BitNot, make(DType::U8, {2}, {0, 5})), DType::U8, {2}, {255, 250});
  HostTensor big = i64({1}, {(int64_t(1) << 62) + 1});
  EXPECT_EQ(unary(UK::Neg, big)->data<int64_t>()[0], -(int64_t(1) << 62) - 1);
  expectError(unary(UK::Exp, big), StatusCode::Unsupported, "exp");
  expectError(unary(UK::Neg, make(DType::Bool, {1}, {1})), StatusCode::Unsupported, "bool");
}
TEST(Unary, HalfIsRoundedOnce) {
  expectTensor(unary(UK::Exp, make(DType::F16, {2}, {1, 12})), DType::F16, {2}, {2.71875, kInf});
  expectTensor(unary(UK::Sqrt, make(DType::BF16, {1}, {2})), DType::BF16, {1}, {1.4140625});
}

TEST(Binary, BroadcastsBothWays) {
  expectTensor(binary(BK::Add, f32({3, 1}, {10, 20, 30}), f32({2}, {1, 2})), DType::F32, {3, 2},
               {11, 12, 21, 22, 31, 32});
  expectTensor(binary(BK::Add, f32({0, 1}, {}), f32({2}, {1, 2})), DType::F32, {0, 2}, {});
  expectError(binary(BK::Add, f32({3}, {1, 2, 3}), f32({2}, {1, 2})), StatusCode::InvalidArgument, "3 and 2");
}
TEST(Binary, IntegerDivisionAndRemainder) {
  HostTensor a = make(DType::I32, {6}, {7, -7, 7, -7, 5, -2147483648.0});
  HostTensor b = make(DType::I32, {6}, {3, 3, -3, -3, 0, -1});
  expectTensor(binary(BK::Div, a, b), DType::I32, {6}, {2, -2, -2, 2, 0, -2147483648.0});
  expectTensor(binary(BK::Mod, a, b), DType::I32, {6}, {1, 2, -2, -1, 0, 0});
  expectTensor(binary(BK::FMod, a, b), DType::I32, {6}, {1, -1, 1, -1, 0, 0});
  expectTensor(binary(BK::Mod, f32({2}, {-7, 7}), f32({2}, {3, -3})), DType::F32, {2}, {2, -2});
}
TEST(Binary, Int64IsExactAndWraps) {
  int64_t big = (int64_t(1) << 60) + 1;
  EXPECT_EQ(binary(BK::Add, i64({1}, {big}), i64({1}, {2}))->data<int64_t>()[0], big + 2);
  EXPECT_EQ(binary(BK::Add, i64({1}, {INT64_MAX}), i64({1}, {1}))->data<int64_t>()[0], INT64_MIN);
  EXPECT_EQ(binary(BK::Mul, make(DType::I8, {1}, {100}), make(DType::I8, {1}, {3}))->data<int8_t>()[0], 44);
  expectTensor(binary(BK::Lt, i64({1}, {big}), i64({1}, {big + 1})), DType::Bool, {1}, {1});
  EXPECT_EQ(binary(BK::Pow, i64({2}, {3, -3}), i64({2}, {39, 39}))->data<int64_t>()[1], -4052555153018976267);
}
TEST(Binary, PowTakesTheTypeOfTheBase) {
  expectTensor(binary(BK::Pow, make(DType::I32, {4}, {2, -1, 0, 3}), f32({4}, {3, 3, 2, 0.5})), DType::I32,
               {4}, {8, -1, 0, 1});
  expectTensor(binary(BK::Pow, f32({2}, {2, 4}), i64({2}, {-1, 3})), DType::F32, {2}, {0.5, 64});
  expectTensor(binary(BK::Pow, make(DType::I32, {3}, {2, -1, 1}), i64({}, {-3})), DType::I32, {3},
               {0, -1, 1});
  expectTensor(binary(BK::Pow, make(DType::U8, {2}, {255, 1}), i64({}, {-2})), DType::U8, {2}, {0, 1});
  expectTensor(binary(BK::Pow, make(DType::I8, {1}, {-2}), make(DType::U8, {1}, {7})), DType::I8, {1},
               {-128});
}
TEST(Binary, NaNPassesThroughMinAndMaxFromEitherSide) {
  HostTensor a = f32({2}, {kNaN, 1}), b = f32({2}, {1, kNaN});
  expectTensor(binary(BK::Max, a, b), DType::F32, {2}, {kNaN, kNaN});
  expectTensor(binary(BK::Min, a, b), DType::F32, {2}, {kNaN, kNaN});
  expectTensor(binary(BK::Le, a, b), DType::Bool, {2}, {0, 0});
  expectTensor(binary(BK::Ne, a, b), DType::Bool, {2}, {1, 1});
}
TEST(Binary, Shifts) {
  HostTensor x = make(DType::U8, {3}, {129, 129, 129}), by = make(DType::U8, {3}, {0, 1, 8});
  expectTensor(binary(BK::Shl, x, by), DType::U8, {3}, {129, 2, 0});
  expectTensor(binary(BK::Shr, x, by), DType::U8, {3}, {129, 64, 0});
}
TEST(Binary, BoolAndTypeErrors) {
  HostTensor a = make(DType::Bool, {4}, {0, 0, 1, 1}), b = make(DType::Bool, {4}, {0, 1, 0, 1});
  expectTensor(binary(BK::And, a, b), DType::Bool, {4}, {0, 0, 0, 1});
  expectTensor(binary(BK::Xor, a, b), DType::Bool, {4}, {0, 1, 1, 0});
  expectTensor(binary(BK::Eq, a, b), DType::Bool, {4}, {1, 0, 0, 1});
  expectError(binary(BK::Add, a, b), StatusCode::Unsupported, "bool");
  expectError(binary(BK::BitAnd, f32({1}, {1}), f32({1}, {1})), StatusCode::Unsupported, "f32");
  expectError(binary(BK::Add, a, f32({4}, {1, 2, 3, 4})), StatusCode::InvalidArgument, "one type");
}

TEST(Select, TakesNaNOnlyFromTheChosenSide) {
  expectTensor(select(make(DType::Bool, {2, 1}, {1, 0}), f32({3}, {1, 2, 3}), f32({}, {kNaN})), DType::F32,
               {2, 3}, {1, 2, 3, kNaN, kNaN, kNaN});
  expectError(select(f32({1}, {1}), f32({1}, {1}), f32({1}, {1})), StatusCode::Unsupported, "condition");
}

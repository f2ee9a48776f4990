// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reductions: every kind, identities over nothing, exact integers, wide accumulation.
#include "Tensors.h"

using namespace gpuc;
using namespace gpuc::reference;
using RK = ReduceKind;

TEST(Reduce, EveryKindAlongTheMiddleAxis) {
  HostTensor x = f32({1, 3, 2}, {1, -2, 3, 4, 5, -6});
  auto expectKind = [&](RK kind, std::vector<double> values) {
    expectTensor(reduce(kind, x, {1}, true), DType::F32, {1, 1, 2}, values, 1e-5);
    expectTensor(reduce(kind, x, {1}, false), DType::F32, {1, 2}, values, 1e-5);
  };
  expectKind(RK::Sum, {9, -4});
  expectKind(RK::Mean, {3, -4 / 3.0});
  expectKind(RK::Max, {5, 4});
  expectKind(RK::Min, {1, -6});
  expectKind(RK::Prod, {15, 48});
  expectKind(RK::L1, {9, 12});
  expectKind(RK::L2, {std::sqrt(35), std::sqrt(56)});
  expectKind(RK::SumSquare, {35, 56});
  expectKind(RK::LogSum, {std::log(9), kNaN});
  expectKind(RK::LogSumExp,
             {5 + std::log(1 + std::exp(-2) + std::exp(-4)), 4 + std::log(1 + std::exp(-6) + std::exp(-10))});
}
TEST(Reduce, NoAxesKeepsTheElementwisePart) {
  expectTensor(reduce(RK::SumSquare, f32({2}, {-3, 2}), {}, true), DType::F32, {2}, {9, 4});
  expectTensor(reduce(RK::L1, f32({2}, {-3, 2}), {}, false), DType::F32, {2}, {3, 2});
}
TEST(Reduce, AllAxesInAnyOrder) {
  expectTensor(reduce(RK::Sum, iota(DType::F32, {2, 3, 5}), {2, 0, 1}, false), DType::F32, {}, {435});
  expectError(reduce(RK::Sum, iota(DType::F32, {2}), {0, 0}, false), StatusCode::InvalidArgument, "twice");
  expectError(reduce(RK::Sum, iota(DType::F32, {2}), {1}, false), StatusCode::InvalidArgument, "axis 1");
}
TEST(Reduce, OverNothingIsTheIdentity) {
  HostTensor x = f32({2, 0}, {});
  auto expectIdentity = [&](RK kind, double v) {
    expectTensor(reduce(kind, x, {1}, false), DType::F32, {2}, {v, v});
  };
  expectIdentity(RK::Sum, 0);
  expectIdentity(RK::Prod, 1);
  expectIdentity(RK::Max, -kInf);
  expectIdentity(RK::Min, kInf);
  expectIdentity(RK::LogSum, -kInf);
  expectIdentity(RK::LogSumExp, -kInf);
  expectIdentity(RK::Mean, kNaN);
  expectTensor(reduce(RK::Max, make(DType::I8, {0}, {}), {0}, false), DType::I8, {}, {-128});
  expectTensor(reduce(RK::All, make(DType::Bool, {0}, {}), {0}, false), DType::Bool, {}, {1});
  expectTensor(reduce(RK::Any, make(DType::Bool, {0}, {}), {0}, false), DType::Bool, {}, {0});
}
TEST(Reduce, InfinitiesAndNaN) {
  expectTensor(reduce(RK::LogSumExp, f32({2, 2}, {-kInf, -kInf, kInf, 0}), {1}, false), DType::F32, {2},
               {-kInf, kInf});
  expectTensor(reduce(RK::LogSumExp, f32({2}, {1000, 1000}), {0}, false), DType::F32, {},
               {1000 + std::log(2)}, 1e-4);
  expectTensor(reduce(RK::Max, f32({3}, {1, kNaN, 3}), {0}, false), DType::F32, {}, {kNaN});
  expectTensor(reduce(RK::Min, f32({3}, {1, 0, kNaN}), {0}, false), DType::F32, {}, {kNaN});
}
TEST(Reduce, IntegersAreExact) {
  int64_t big = (int64_t(1) << 60) + 1;
  EXPECT_EQ(reduce(RK::Sum, i64({3}, {big, 1, -2}), {0}, false)->data<int64_t>()[0], big - 1);
  expectTensor(reduce(RK::Mean, make(DType::I8, {3}, {-100, -100, -101}), {0}, false), DType::I8, {}, {-100});
  expectTensor(reduce(RK::Mean, make(DType::U8, {2}, {255, 254}), {0}, false), DType::U8, {}, {254});
  expectTensor(reduce(RK::Sum, make(DType::U8, {2}, {255, 2}), {0}, false), DType::U8, {}, {1});
  expectTensor(reduce(RK::L2, make(DType::I32, {2}, {3, 4}), {0}, false), DType::I32, {}, {5});
}
TEST(Reduce, HalfAccumulatesWide) {
  HostTensor x = make(DType::F16, {4099}, std::vector<double>(4099, 60));
  expectTensor(reduce(RK::Mean, x, {0}, false), DType::F16, {}, {60});
  expectTensor(reduce(RK::L2, make(DType::F16, {2}, {300, 400}), {0}, false), DType::F16, {}, {500});
}
TEST(Reduce, BoolKinds) {
  HostTensor x = make(DType::Bool, {2, 2}, {0, 1, 1, 1});
  expectTensor(reduce(RK::All, x, {1}, false), DType::Bool, {2}, {0, 1});
  expectTensor(reduce(RK::Max, x, {0}, false), DType::Bool, {2}, {1, 1});
  expectError(reduce(RK::Sum, x, {0}, false), StatusCode::Unsupported, "bool");
  expectError(reduce(RK::Any, f32({1}, {1}), {0}, false), StatusCode::Unsupported, "f32");
}

TEST(ArgReduce, FirstLastAndNaN) {
  HostTensor x = f32({2, 3}, {1, 3, 3, 2, 0, 0});
  expectTensor(argReduce(true, x, 1, false), DType::I64, {2}, {1, 0});
  expectTensor(argReduce(true, x, 1, true, true), DType::I64, {2, 1}, {2, 0});
  expectTensor(argReduce(false, x, 1, false, true), DType::I64, {2}, {0, 2});
  expectTensor(argReduce(false, f32({3}, {1, kNaN, kNaN}), 0, false), DType::I64, {}, {1});
  expectTensor(argReduce(true, x, 0, false), DType::I64, {3}, {1, 0, 0});
  expectError(argReduce(true, f32({2, 0}, {}), 1, false), StatusCode::InvalidArgument, "empty");
}

TEST(CumSum, ExclusiveAndReverse) {
  HostTensor x = make(DType::I32, {2, 3}, {1, 2, 3, 4, 5, 6});
  expectTensor(cumSum(x, 1), DType::I32, {2, 3}, {1, 3, 6, 4, 9, 15});
  expectTensor(cumSum(x, 1, true), DType::I32, {2, 3}, {0, 1, 3, 0, 4, 9});
  expectTensor(cumSum(x, 1, false, true), DType::I32, {2, 3}, {6, 5, 3, 15, 11, 6});
  expectTensor(cumSum(x, 1, true, true), DType::I32, {2, 3}, {5, 3, 0, 11, 6, 0});
  expectTensor(cumSum(x, 0), DType::I32, {2, 3}, {1, 2, 3, 5, 7, 9});
}

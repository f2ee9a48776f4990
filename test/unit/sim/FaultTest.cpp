// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Seeded faults: each must be found, with a message that says what and where, and the device must still work.
#include "SimFixture.h"

namespace gpuc::test {
namespace {

struct Fault {
  const char *name;
  const char *body;     ///< of a kernel (float *x /* 100 */, float *y /* 256 */), 64 threads, Shared &s
  const char *expected; ///< part of the message
  bool full = false;
  int line = 0; ///< of the body that the message must name; 0: none
};

void PrintTo(const Fault &fault, std::ostream *stream) { *stream << fault.name; }

std::string kernelText(const char *body) {
  return std::string("#include \"common/reduce.cuh\"\n#include \"arch/cp_async.cuh\"\n#include "
                     "\"arch/mma_sm80.cuh\"\n"
                     "#include \"arch/ldmatrix.cuh\"\nusing namespace gpuc;\n"
                     "struct Shared { float a[64]; float b[64]; float r[2]; alignas(16) u16 h[16][8]; };\n"
                     "extern \"C\" __global__ void __launch_bounds__(64) k(float *x, float *y) {\n"
                     "GPUC_SMEM(Shared, s); int t = threadIdx.x;\n") +
         body + "\n}\nGPUC_EXPORT(k)\n";
}
constexpr int kBodyLine = 9;
constexpr unsigned kSharedBytes = 64 * 4 * 2 + 16 + 256; // with the padding of `h`

class SimFault : public testing::TestWithParam<Fault> {};

TEST_P(SimFault, IsReported) {
  const Fault &fault = GetParam();
  SimOptions options = simOptions();
  options.fullChecks = fault.full;
  Program program(kernelText(fault.body), options);
  ASSERT_TRUE(program.status.ok()) << program.status.message();
  Buffer<float> x(*program.device, std::vector<float>(100, 1.0f)),
      y(*program.device, std::vector<float>(256, 0.0f));
  for (int repetition = 0; repetition < 2; ++repetition) {
    Status status = program.launch(3, 64, kSharedBytes, {x.ptr, y.ptr});
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.code(), StatusCode::DeviceError);
    EXPECT_NE(status.message().find(fault.expected), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("kernel 'test kernel'"), std::string::npos) << status.message();
    EXPECT_NE(status.message().find("[block ("), std::string::npos) << status.message();
    if (fault.line) {
      std::string line = "unit.cu:" + std::to_string(kBodyLine + fault.line - 1);
      EXPECT_NE(status.message().find(line), std::string::npos) << status.message();
    }
  }
}

const Fault kFaults[] = {
    {"ReadPastEnd", "if (t == 5) y[t] = x[100 + 8];", "32 bytes past the end of a buffer of 400 bytes", false,
     1},
    {"WriteFarPastEnd", "\nif (t == 5) y[5000] = 1;", "out of bounds: access", false, 2},
    {"ReadBefore", "if (t == 5) y[t] = x[-2000];", "out of bounds: access", false, 1},
    {"NullPointer", "if (t == 9) y[t] = *(volatile float *)(u64(x[0]) >> 1);", "null pointer", false, 0},
    {"MisalignedVector", "stVec<4>(y + 1, ldVec<4>(x));", "misaligned access: 16 bytes", false, 1},
    {"MisalignedStruct", "*reinterpret_cast<float4 *>(y + t) = float4{1, 2, 3, 4};", "misaligned access",
     false, 1},
    {"MisalignedCpAsync", "arch::cpAsync16(&s.a[t], x);", "misaligned access: the shared address", false, 1},
    {"CpAsyncPastEnd",
     "if (t < 1) arch::cpAsync16(&s.a[0], x + 104); arch::cpAsyncCommit();\narch::cpAsyncWait<0>();",
     "past the end of a buffer", false, 1},
    {"SharedIndex", "s.a[t + int(x[0])] = 1;", "out of bounds: index 64 of an array", false, 1},
    {"SharedOverrun", "float *p = s.a; p[100000] = 1;", "shared memory", false, 1},
    {"DivergentBarrier", "if (t < 32) arch::syncThreads();\nelse arch::syncThreads();", "divergence", false,
     0},
    {"ExitBeforeBarrier", "if (t == 7) return;\narch::syncThreads();", "returned", false, 0},
    {"ExitAfterOthersWait", "if (t == 63) return;\narch::syncThreads();", "returned while 63 threads wait",
     false, 2},
    {"DivergentShuffle", "if (t % 32 < 16) y[t] = arch::shflXor(x[t], 1);", "divergence", false, 1},
    {"ShuffleSites", "if (t % 2) y[t] = arch::shflXor(x[t], 1);\nelse y[t] = arch::shflXor(x[t], 1);",
     "divergence", false, 0},
    {"BarrierInsideCollective", "if (t % 32 < 16) y[t] = arch::shflXor(x[t], 1);\narch::syncThreads();",
     "divergence"},
    {"NamedBarrierDeadlock", "arch::barSync(1, 96);", "deadlock", false, 1},
    {"NamedBarrierCount", "arch::barSync(1, t < 32 ? 64 : 32);", "barrier 1 expects 64 threads", false, 1},
    {"Trap", "if (t == 3)\n__trap();", "trap", false, 2},
    {"DivisionByZero", "y[t] = 5 / (int(x[t]) - 1);", "integer division", false, 1},
    {"LdmatrixAddress", "u32 r[4]; arch::ldmatrixX4(r, &s.h[t % 16][1]); y[t] = r[0];", "misaligned access",
     false, 1},
    {"LdmatrixOutside", "u32 r[4]; arch::ldmatrixX4(r, &s.h[0][0] + t * 4096); y[t] = r[0];", "out of bounds",
     false, 1},
    {"ExactBounds", "if (t == 5) y[t] = x[100];", "0 bytes past the end of a buffer of 400 bytes", true, 1},
    {"MissingBarrier", "s.a[t] = t;\ny[t] = s.a[63 - t];", "shared memory race", true, 0},
    {"WriteAfterRead", "s.a[t] = t; arch::syncThreads(); y[t] = s.a[63 - t];\ns.a[t] = 1;",
     "shared memory race", true, 0},
    {"MissingWarpSync", "s.a[t] = t;\ny[t] = s.a[t ^ 1];", "shared memory race", true, 0},
    {"CpAsyncNotAwaited",
     "arch::cpAsync4(&s.a[t], x + t); arch::cpAsyncCommit(); arch::syncThreads();\ny[t] = s.a[t];",
     "cp.async to it is in flight", true, 2},
    {"ArriveTooEarly",
     "if (t < 32) { arch::barArrive(1, 64);\ns.a[t] = 1; } else { arch::barSync(1, 64);\ny[t] = s.a[t - 32]; "
     "}",
     "shared memory race", true, 0},
    {"SharedPastStruct",
     "volatile char *p = reinterpret_cast<char *>(&s); if (t == 1) p[sizeof(Shared)] = 1;",
     "outside the 784 bytes of shared memory", true, 1},
};
INSTANTIATE_TEST_SUITE_P(Seeded, SimFault, testing::ValuesIn(kFaults),
                         [](const auto &info) { return std::string(info.param.name); });

/// Correct counterparts must pass full checks.
class SimCorrect : public testing::TestWithParam<const char *> {};
TEST_P(SimCorrect, PassesFullChecks) {
  SimOptions options = simOptions();
  options.fullChecks = true;
  Program program(kernelText(GetParam()), options);
  Buffer<float> x(*program.device, std::vector<float>(100, 1.0f)),
      y(*program.device, std::vector<float>(256, 0.0f));
  Status status = program.launch(3, 64, kSharedBytes, {x.ptr, y.ptr});
  EXPECT_TRUE(status.ok()) << status.message();
}
INSTANTIATE_TEST_SUITE_P(
    Seeded, SimCorrect,
    testing::Values(
        "s.a[t] = t; arch::syncThreads(); y[t] = s.a[63 - t];",
        "s.a[t] = t; arch::syncWarp(); y[t] = s.a[t ^ 1];",
        "arch::cpAsync4(&s.a[t], x + t); arch::cpAsyncCommit(); arch::cpAsyncWait<0>(); arch::syncThreads();"
        " y[t] = s.a[63 - t];",
        "if (t < 32) { s.a[t] = 1; arch::barArrive(1, 64); } else { arch::barSync(1, 64); y[t] = s.a[t - "
        "32]; }",
        "y[t] = blockReduce<64>(x[t], SumOp{}, s.r); y[t] += blockReduce<64>(x[t], MaxOp{}, s.r);"));

TEST(SimFaults, AnnotatedBuffersHaveExactBounds) {
  SimOptions options = simOptions();
  options.fullChecks = true;
  Program program(kernelText("if (t == 1) y[t] = x[16];"), options);
  Buffer<float> arena(*program.device, std::vector<float>(128, 0.0f));
  ASSERT_TRUE(program.launch(1, 64, kSharedBytes, {arena.ptr, arena.ptr + 256}).ok());
  ASSERT_TRUE(annotateSimBuffer(*program.device, arena.ptr, 64).ok());
  ASSERT_TRUE(annotateSimBuffer(*program.device, arena.ptr + 256, 256).ok());
  Status status = program.launch(1, 64, kSharedBytes, {arena.ptr, arena.ptr + 256});
  EXPECT_NE(status.message().find("0 bytes past the end of a buffer of 64 bytes"), std::string::npos)
      << status.message();
  EXPECT_FALSE(annotateSimBuffer(*program.device, arena.ptr, 4096).ok());
}

TEST(SimFaults, TooLittleSharedMemoryIsReported) {
  Program program(kernelText("s.a[t] = 1;"));
  Buffer<float> x(*program.device, std::vector<float>(100, 1.0f));
  Status status = program.launch(1, 64, 100, {x.ptr, x.ptr});
  EXPECT_NE(status.message().find("fewer bytes of shared memory"), std::string::npos) << status.message();
}

TEST(SimFaults, ImpossibleLaunchesAreRefused) {
  Program program(kernelText("s.a[t] = 1;"));
  Buffer<float> x(*program.device, std::vector<float>(100, 1.0f));
  EXPECT_EQ(program.launch(1, 2000, 784, {x.ptr, x.ptr}).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(program.launch(0, 32, 784, {x.ptr, x.ptr}).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(program.launch(1, 32, 1 << 20, {x.ptr, x.ptr}).code(), StatusCode::InvalidArgument);
}

TEST(SimFaults, CopiesOutsideBuffersAreRefused) {
  auto device = createSimDevice(simOptions()).take();
  Buffer<float> x(*device, std::vector<float>(100, 1.0f));
  float value[101] = {};
  EXPECT_EQ(device->copyToHost(value, x.ptr, 404, nullptr).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(device->copyToDevice(x.ptr + 4, value, 400, nullptr).code(), StatusCode::InvalidArgument);
  EXPECT_EQ(device->fill(0, 0, 4, nullptr).code(), StatusCode::InvalidArgument);
  EXPECT_TRUE(device->fill(0, 0, 0, nullptr).ok());
}

TEST(SimFaults, NewMemoryIsNaN) {
  Program program(kernelText("y[t] = s.a[t];"));
  Buffer<float> y(*program.device, std::vector<float>(256, 0.0f));
  ASSERT_TRUE(program.launch(1, 64, kSharedBytes, {y.ptr, y.ptr}).ok());
  EXPECT_NE(y.read()[3], y.read()[3]);
}

} // namespace
} // namespace gpuc::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async groups and zero-fill, block order, and blocks of several shapes.
#include "SimFixture.h"

namespace gpuc::test {
namespace {

TEST(SimAsync, ZeroFillAndGroups) {
  Program program(R"(#include "arch/cp_async.cuh"
#include "arch/barrier.cuh"
using namespace gpuc;
struct Shared { alignas(16) u8 a[32][16], b[32][8], c[32][4]; };
extern "C" __global__ void k(const u8 *x, u8 *y) {
  GPUC_SMEM(Shared, s);
  int t = threadIdx.x;
  arch::cpAsync16(s.a[t], x + t * 16, t % 17);
  arch::cpAsyncCommit();
  arch::cpAsync8(s.b[t], x + t * 8);
  arch::cpAsync4(s.c[t], x + t * 4, t % 5);
  arch::cpAsyncCommit();
  arch::cpAsyncWait<1>();
  for (int i = 0; i < 16; ++i) y[t * 16 + i] = s.a[t][i];
  arch::cpAsyncWait<0>();
  for (int i = 0; i < 8; ++i) y[512 + t * 8 + i] = s.b[t][i];
  for (int i = 0; i < 4; ++i) y[768 + t * 4 + i] = s.c[t][i];
}
GPUC_EXPORT(k)
)");
  ASSERT_TRUE(program.status.ok()) << program.status.message();
  std::vector<uint8_t> x(512);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = uint8_t(i * 7 + 1);
  Buffer<uint8_t> dx(*program.device, x), dy(*program.device, std::vector<uint8_t>(896));
  Status status = program.launch(1, 32, 32 * 28, {dx.ptr, dy.ptr});
  ASSERT_TRUE(status.ok()) << status.message();
  auto y = dy.read();
  for (int t = 0; t < 32; ++t) {
    for (int i = 0; i < 16; ++i)
      ASSERT_EQ(y[t * 16 + i], i < t % 17 ? x[t * 16 + i] : 0);
    for (int i = 0; i < 8; ++i)
      ASSERT_EQ(y[512 + t * 8 + i], x[t * 8 + i]);
    for (int i = 0; i < 4; ++i)
      ASSERT_EQ(y[768 + t * 4 + i], i < t % 5 ? x[t * 4 + i] : 0);
  }
}

TEST(SimAsync, MissingWaitShowsAsNaN) {
  Program program(R"(#include "arch/cp_async.cuh"
using namespace gpuc;
struct Shared { float a[32]; };
extern "C" __global__ void k(const float *x, float *y) {
  GPUC_SMEM(Shared, s);
  arch::cpAsync4(&s.a[threadIdx.x], x + threadIdx.x);
  arch::cpAsyncCommit();
  y[threadIdx.x] = s.a[threadIdx.x];
}
GPUC_EXPORT(k)
)");
  Buffer<float> x(*program.device, std::vector<float>(32, 1.0f)),
      y(*program.device, std::vector<float>(32, 1.0f));
  ASSERT_TRUE(program.launch(1, 32, 128, {x.ptr, y.ptr}).ok());
  EXPECT_NE(y.read()[5], y.read()[5]);
}

TEST(SimBlocks, EveryThreadOfEveryBlockRunsOnce) {
  Program program(R"(#include "arch/atomic.cuh"
using namespace gpuc;
extern "C" __global__ void k(i32 *counts) {
  i32 block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  i32 thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  arch::atomicAdd(counts + block * 105 + thread, 1);
}
GPUC_EXPORT(k)
)");
  Buffer<int32_t> counts(*program.device, std::vector<int32_t>(60 * 105));
  void *args[] = {&counts.ptr};
  LaunchConfig config;
  config.grid = {3, 4, 5};
  config.block = {5, 7, 3};
  ASSERT_TRUE(program.device->launch(program.kernel, config, args, nullptr).ok());
  EXPECT_EQ(counts.read(), std::vector<int32_t>(60 * 105, 1));
}

/// Blocks that overwrite each other: the reverse order shows it.
TEST(SimBlocks, ReversedOrderShowsRacesBetweenBlocks) {
  const char *text =
      "#include \"arch/launch.cuh\"\nextern \"C\" __global__ void k(int *x) { *x = int(blockIdx.x); }\n"
      "GPUC_EXPORT(k)\n";
  for (bool reversed : {false, true}) {
    SimOptions options = simOptions();
    options.threads = 1;
    options.reversedBlocks = reversed;
    Program program(text, options);
    Buffer<int> x(*program.device, {-1});
    ASSERT_TRUE(program.launch(9, 1, 0, {x.ptr}).ok());
    EXPECT_EQ(x.read()[0], reversed ? 0 : 8);
  }
}

TEST(SimMemory, AllocationsEndAtAGuardPage) {
  auto device = createSimDevice(simOptions()).take();
  for (size_t bytes : {0, 1, 16, 100, 256, 4096, 5000}) {
    auto ptr = device->allocate(bytes);
    ASSERT_TRUE(ptr.ok());
    EXPECT_EQ(*ptr % 16, 0u);
    if (bytes % 256 == 0 && bytes)
      EXPECT_EQ(*ptr % 256, 0u);
    device->deallocate(*ptr);
  }
}

} // namespace
} // namespace gpuc::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The whole path on the devices of this machine: the simulator, and a GPU where there is one.
#include "AffinePlan.h"
#include "TempFolder.h"
#include "gpuc-c/runtime.h"
#include "gpuc/Runtime/DeviceRegistry.h"
#include "gpuc/Runtime/Runtime.h"
#include "gpuc/Support/File.h"
#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>

using namespace gpuc;

extern "C" gpuc_status_t gpuc_test_run_from_c(const char *device, const void *data, size_t size, float *x,
                                              float *y);

namespace {
class DevicesTest : public testing::TestWithParam<const char *> {
protected:
  void SetUp() override {
    static const test::TempFolder cache("gpuc-test-cache"); // one for all tests: some compile the same
    ::setenv("GPUC_CACHE_DIR", cache.path().c_str(), 1);
    auto opened = openDevice(GetParam());
    if (!opened)
      GTEST_SKIP() << opened.status().message();
    device = opened.take();
  }
  /// Adds the headers that make an entry known to the simulator.
  Plan affine() {
    Plan plan = affinePlan("#include \"arch/launch.cuh\"\n", "GPUC_EXPORT");
    for (const char *path : {"arch/launch.cuh", "common/ints.cuh"}) {
      auto text = readFile(std::string(GPUC_KERNELS_DIR) + "/" + path);
      EXPECT_TRUE(text.ok()) << text.status().message();
      plan.headers.push_back({path, *text});
    }
    return plan;
  }
  std::unique_ptr<Context> context(Plan plan, const ContextOptions &options = {}) {
    auto loaded = LoadedPlan::create(std::make_shared<Plan>(std::move(plan)), device);
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    if (!loaded)
      return nullptr;
    auto created = Context::create(loaded.take(), options);
    EXPECT_TRUE(created.ok()) << created.status().message();
    return created ? created.take() : nullptr;
  }
  std::shared_ptr<Device> device;
};
} // namespace

TEST_P(DevicesTest, RunsRepeatedlyWithGraphsWhereThereAreAny) {
  auto c = context(affine());
  ASSERT_NE(c, nullptr);
  for (int run = 1; run <= 4; ++run) {
    auto y = c->run({affineInput(float(run))});
    ASSERT_TRUE(y.ok()) << y.status().message();
    for (int i = 0; i < kAffineSize; ++i)
      EXPECT_EQ((*y)[0].data<float>()[i], affineExpected(i, float(run * i))) << i;
    EXPECT_EQ(c->usedGraph(), run > 1 && !device->isSim());
  }
}

TEST_P(DevicesTest, ProgrammaticDependentLaunchAndLargeSharedMemory) {
  Plan plan = affine();
  auto &launch = std::get<LaunchStep>(plan.programs[0].runSteps[0]);
  launch.programmaticDependent = true;
  launch.sharedBytes = 64 * 1024;
  auto c = context(std::move(plan));
  ASSERT_NE(c, nullptr);
  for (int run = 1; run <= 3; ++run) {
    auto y = c->run({affineInput(1)});
    ASSERT_TRUE(y.ok()) << y.status().message();
    EXPECT_EQ((*y)[0].data<float>()[14], affineExpected(14, 14));
  }
}

TEST_P(DevicesTest, ProfileAndPoison) {
  ContextOptions options;
  options.poison = true;
  auto c = context(affine(), options);
  ASSERT_NE(c, nullptr);
  HostTensor x = affineInput(1), y(DType::F32, {3, 5});
  auto times =
      c->profile({TensorBinding::onHost(x.bytes(), 60)}, {TensorBinding::onHost(y.mutableBytes(), 60)});
  ASSERT_TRUE(times.ok()) << times.status().message();
  ASSERT_EQ(times->size(), 2u);
  EXPECT_GT((*times)[0].microseconds, 0);
  EXPECT_EQ(y.data<float>()[14], affineExpected(14, 14));
}

TEST_P(DevicesTest, LibraryMatmul) {
  Plan plan = matmulPlan();
  auto c = context(plan);
  ASSERT_NE(c, nullptr);
  HostTensor x = affineInput(0.5f);
  for (int run = 0; run < 3; ++run) {
    auto y = c->run({x});
    ASSERT_TRUE(y.ok()) << y.status().message();
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 5; ++j) {
        float sum = 0;
        for (int k = 0; k < 5; ++k)
          sum += x.data<float>()[i * 5 + k] * (float((j * 5 + k) % 7) - 3);
        EXPECT_FLOAT_EQ((*y)[0].data<float>()[i * 5 + j],
                        std::max(0.0f, 2 * sum + x.data<float>()[i * 5 + j]));
      }
  }
}

TEST_P(DevicesTest, RunsFromC) {
  auto bytes = serializePlan(affine());
  HostTensor x = affineInput(1.5f), y(DType::F32, {3, 5});
  gpuc_status_t status = gpuc_test_run_from_c(GetParam(), bytes->data(), bytes->size(),
                                              x.mutableData<float>(), y.mutableData<float>());
  std::string message = gpuc_status_message(status);
  gpuc_status_destroy(status);
  ASSERT_EQ(message, "");
  for (int i = 0; i < kAffineSize; ++i)
    EXPECT_EQ(y.data<float>()[i], affineExpected(i, 1.5f * float(i))) << i;
}

TEST_P(DevicesTest, LoadsACubinOnlyIfItIsOne) {
  if (device->isSim())
    GTEST_SKIP() << "the simulator loads sources";
  Plan plan = affine();
  plan.cubins.push_back({1, device->arch(), SharedBytes::copyOf("not a cubin")});
  Status s = LoadedPlan::create(std::make_shared<Plan>(plan), device).status();
  EXPECT_EQ(s.code(), StatusCode::DataLoss);
}

INSTANTIATE_TEST_SUITE_P(All, DevicesTest, testing::Values("sim:sm_86", "sim:sm_90a", "cuda:0"),
                         [](const testing::TestParamInfo<const char *> &info) {
                           std::string name = info.param;
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

TEST(DeviceRegistry, NamesAreChecked) {
  for (const char *bad : {"", "gpu", "cuda:", "cuda:x", "cuda:123456", "cuda:-1", "simx"}) {
    auto device = openDevice(bad);
    ASSERT_FALSE(device.ok()) << bad;
    EXPECT_EQ(device.status().code(), StatusCode::InvalidArgument) << bad;
  }
  EXPECT_FALSE(openDevice("sim:sm_12").ok());
  EXPECT_FALSE(listDevices().empty());
  auto missing = openDevice("cuda:9999");
  EXPECT_EQ(missing.status().code(), StatusCode::NotFound);
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor maps and clusters on the fake device: which parameters a launch gets, when maps are encoded, and
// what users read when the device has none.
#include "AffinePlan.h"
#include "FakeDevice.h"
#include "gpuc/Runtime/Runtime.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace gpuc;

namespace {
TensorMapLayout rowMap(uint64_t offset) {
  TensorMapLayout map;
  map.dtype = DType::F32;
  map.rank = 1;
  map.dims = {4};
  map.box = {4};
  map.byteOffset = offset;
  return map;
}

struct Seen {
  uint64_t input = 0, packed = 0, arena = 0;
  uint32_t cluster = 0;
  int32_t number = 0;
};

class TensorMapArgTest : public testing::Test {
protected:
  /// One launch: map over the input, number, map over packed memory, map over the arena.
  void SetUp() override {
    device = std::make_shared<FakeDevice>();
    device->argumentCount = {{"pack", 3}, {"affine", 0}};
    device->functions["pack"] = [](const LaunchConfig &, void **) {};
    plan = std::make_shared<Plan>(affinePlan());
    auto &launch = std::get<LaunchStep>(plan->programs[0].runSteps[0]);
    launch.grid = {4, 1, 1};
    launch.cluster = 2;
    launch.args = {TensorMapArg{{MemorySpace::Input, 0, 16}, rowMap(16)}, int32_t(77),
                   TensorMapArg{{MemorySpace::Packed, 0, 0}, rowMap(32)},
                   TensorMapArg{{MemorySpace::Arena, 0, 64}, rowMap(0)}};
    ASSERT_TRUE(validatePlan(*plan).ok()) << validatePlan(*plan).message();
  }
  /// The launch's parameters are looked at when it is submitted, not when a graph replays it.
  struct Recorder : FakeDevice {
    std::vector<Seen> seen;
    Status launch(KernelHandle kernel, const LaunchConfig &config, void **args,
                  StreamHandle stream) override {
      auto &entry = *static_cast<std::pair<const std::string, KernelFunction> *>(kernel.opaque);
      if (entry.first == "affine") {
        auto map = [&](int i) {
          EXPECT_EQ(reinterpret_cast<uintptr_t>(args[i]) % 64, 0u);
          Map m;
          std::memcpy(&m, args[i], sizeof(m));
          return m.base + m.layout->byteOffset;
        };
        Seen s;
        s.input = map(0), s.packed = map(2), s.arena = map(3);
        std::memcpy(&s.number, args[1], 4);
        s.cluster = config.cluster;
        seen.push_back(s);
      }
      return FakeDevice::launch(kernel, config, args, stream);
    }
  };
  std::shared_ptr<FakeDevice> device;
  std::shared_ptr<Plan> plan;
};
} // namespace

TEST_F(TensorMapArgTest, MapsFollowTheirBuffers) {
  auto recorder = std::make_shared<Recorder>();
  recorder->argumentCount = device->argumentCount;
  recorder->functions = device->functions;
  recorder->functions["affine"] = [](const LaunchConfig &, void **) {};
  recorder->supportsGraphs = false;
  auto loaded = LoadedPlan::create(plan, recorder);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  ContextOptions options;
  options.stageHostData = false;
  auto context = Context::create(loaded.take(), options);
  ASSERT_TRUE(context.ok()) << context.status().message();
  auto encodings = [&] { return std::count(recorder->log.begin(), recorder->log.end(), "encode"); };
  EXPECT_EQ(encodings(), 2); // packed and arena, once
  DevicePtr x[2] = {*recorder->allocate(60), *recorder->allocate(60)}, y = *recorder->allocate(60);
  for (int run : {0, 0, 1, 0})
    ASSERT_TRUE(
        (*context)->run({TensorBinding::onDevice(x[run], 60)}, {TensorBinding::onDevice(y, 60)}).ok());
  EXPECT_EQ(encodings(), 2 + 3); // the input's whenever it changed
  ASSERT_EQ(recorder->seen.size(), 4u);
  for (int i = 0; i < 4; ++i) {
    const Seen &s = recorder->seen[size_t(i)];
    EXPECT_EQ(s.input, x[i == 2] + 32);
    EXPECT_EQ(s.arena, (*context)->arena() + 64);
    EXPECT_EQ(s.packed, recorder->seen[0].packed);
    EXPECT_EQ(s.packed % 256, 32u);
    EXPECT_EQ(s.number, 77);
    EXPECT_EQ(s.cluster, 2u);
  }
}

TEST_F(TensorMapArgTest, DevicesWithoutMapsSaySo) {
  device->functions["affine"] = [](const LaunchConfig &, void **) {};
  device->supportsMaps = false;
  auto loaded = LoadedPlan::create(plan, device);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  Status status = Context::create(loaded.take()).status();
  EXPECT_EQ(status.code(), StatusCode::Unsupported);
  EXPECT_EQ(status.message(), "step 0 ('Mul_0, Add_1'): device 'fake' has no tensor maps");
}

TEST_F(TensorMapArgTest, AFailedBindingIsNotTakenForDone) {
  device->functions["affine"] = [](const LaunchConfig &, void **) {};
  auto created = Context::create(LoadedPlan::create(plan, device).take());
  ASSERT_TRUE(created.ok());
  device->supportsMaps = false;
  EXPECT_EQ((*created)->run({affineInput(1)}).status().code(), StatusCode::Unsupported);
  EXPECT_EQ((*created)->run({affineInput(1)}).status().code(), StatusCode::Unsupported);
  device->supportsMaps = true;
  EXPECT_TRUE((*created)->run({affineInput(1)}).ok());
}

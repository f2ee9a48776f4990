// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LoadedPlan and Context on the fake device: what is submitted, with which addresses, and which errors users
// get.
#include "AffinePlan.h"
#include "FakeDevice.h"
#include "gpuc/Runtime/Runtime.h"
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace gpuc;

namespace {
template <typename T> T arg(void **args, int i) {
  T value;
  std::memcpy(&value, args[i], sizeof(T));
  return value;
}

class ContextTest : public testing::Test {
protected:
  void SetUp() override {
    device = std::make_shared<FakeDevice>();
    device->argumentCount = {{"pack", 3}, {"affine", 5}};
    device->functions["pack"] = [](const LaunchConfig &, void **a) {
      for (int i = 0; i < arg<int32_t>(a, 2); ++i)
        arg<float *>(a, 1)[i] = 2 * arg<const float *>(a, 0)[i];
    };
    device->functions["affine"] = [](const LaunchConfig &, void **a) {
      for (int64_t i = 0; i < arg<int64_t>(a, 4); ++i)
        arg<float *>(a, 2)[i] = arg<const float *>(a, 0)[i] * arg<const float *>(a, 1)[i] + arg<float>(a, 3);
    };
    plan = std::make_shared<Plan>(affinePlan());
  }
  std::unique_ptr<Context> context(const ContextOptions &options = {}) {
    auto loaded = LoadedPlan::create(plan, device);
    EXPECT_TRUE(loaded.ok()) << loaded.status().message();
    auto created = Context::create(loaded.take(), options);
    EXPECT_TRUE(created.ok()) << created.status().message();
    device->log.clear();
    return created.take();
  }
  void expectAffine(const HostTensor &y, float scale) {
    for (int i = 0; i < kAffineSize; ++i)
      EXPECT_EQ(y.data<float>()[i], affineExpected(i, scale * float(i))) << i;
  }
  long count(const std::string &what) { return std::count(device->log.begin(), device->log.end(), what); }
  std::shared_ptr<FakeDevice> device;
  std::shared_ptr<Plan> plan;
};
} // namespace

TEST_F(ContextTest, RunsStepByStepThenReplaysAGraph) {
  auto c = context();
  for (int i = 1; i <= 4; ++i) {
    auto y = c->run({affineInput(float(i))});
    ASSERT_TRUE(y.ok()) << y.status().message();
    expectAffine((*y)[0], float(i));
    EXPECT_EQ(c->usedGraph(), i > 1);
  }
  EXPECT_EQ(count("launch affine 1x1x1"), 1);
  EXPECT_EQ(count("graph"), 3);
}

TEST_F(ContextTest, AllocatesNothingWhileRunning) {
  auto c = context();
  size_t before = device->allocations;
  for (int i = 0; i < 3; ++i)
    ASSERT_TRUE(c->run({affineInput(1)}).ok());
  EXPECT_EQ(device->allocations, before);
}

TEST_F(ContextTest, MemoryNeedIsExactAndAllIsGivenBack) {
  auto need = memoryNeed(*plan, "sm_86");
  ASSERT_TRUE(need.ok());
  {
    auto c = context();
    size_t total = 0;
    for (auto &[ptr, size] : device->live)
      total += size;
    EXPECT_EQ(total, need->total());
    EXPECT_EQ(need->staging, 512u);
    ASSERT_TRUE(c->run({affineInput(1)}).ok());
    ASSERT_TRUE(c->run({affineInput(1)}).ok());
    EXPECT_EQ(device->streams, 1);
  }
  EXPECT_TRUE(device->live.empty());
  EXPECT_EQ(device->streams, 0);
}

TEST_F(ContextTest, DevicePointersAreUsedDirectlyAndGraphsKeptPerAddress) {
  ContextOptions options;
  options.stageHostData = false;
  options.maxGraphs = 2;
  auto c = context(options);
  DevicePtr x[3], y[3];
  for (int i = 0; i < 3; ++i) {
    x[i] = *device->allocate(60);
    y[i] = *device->allocate(60);
    HostTensor in = affineInput(float(i + 1));
    std::memcpy(reinterpret_cast<void *>(x[i]), in.bytes(), 60);
  }
  auto run = [&](int i) {
    Status s = c->run({TensorBinding::onDevice(x[i], 60)}, {TensorBinding::onDevice(y[i], 60)});
    ASSERT_TRUE(s.ok()) << s.message();
    EXPECT_EQ(reinterpret_cast<float *>(y[i])[14], affineExpected(14, float(14 * (i + 1))));
  };
  run(0), run(0), run(1), run(1);
  EXPECT_TRUE(c->usedGraph());
  run(0); // still there
  EXPECT_TRUE(c->usedGraph());
  run(2); // takes the place of 1
  EXPECT_FALSE(c->usedGraph());
  run(0);
  EXPECT_TRUE(c->usedGraph());
  run(1);
  EXPECT_FALSE(c->usedGraph());
  EXPECT_EQ(count("upload 60"), 0);
  EXPECT_EQ(count("synchronize"), 0); // asynchronous
}

TEST_F(ContextTest, WorksWithoutGraphs) {
  device->supportsGraphs = false;
  auto c = context();
  for (int i = 0; i < 3; ++i) {
    auto y = c->run({affineInput(2)});
    ASSERT_TRUE(y.ok());
    expectAffine((*y)[0], 2);
    EXPECT_FALSE(c->usedGraph());
  }
}

TEST_F(ContextTest, PoisonFillsArenaAndOutputs) {
  plan->programs[0].runSteps.clear();
  ContextOptions options;
  options.poison = true;
  auto c = context(options);
  auto y = c->run({affineInput(1)});
  ASSERT_TRUE(y.ok());
  for (int i = 0; i < kAffineSize; ++i)
    EXPECT_TRUE(std::isnan((*y)[0].data<float>()[i]));
  EXPECT_EQ(count("fill 256"), 1);
}

TEST_F(ContextTest, GraphsPoisonBeforeTheirFirstKernel) {
  ContextOptions options;
  options.poison = true;
  auto c = context(options);
  auto affine = device->functions["affine"];
  int poisoned = 0;
  device->functions["affine"] = [&](const LaunchConfig &config, void **a) {
    poisoned += std::isnan(arg<const float *>(a, 2)[0]);
    affine(config, a);
  };
  for (int i = 1; i <= 4; ++i) {
    auto y = c->run({affineInput(float(i))});
    ASSERT_TRUE(y.ok()) << y.status().message();
    expectAffine((*y)[0], float(i));
    EXPECT_EQ(c->usedGraph(), i > 1);
  }
  EXPECT_EQ(poisoned, 4);
  EXPECT_EQ(count("fill 256"), 1); // the first run; the graph has its own
}

TEST_F(ContextTest, ZeroGridIsSkipped) {
  std::get<LaunchStep>(plan->programs[0].runSteps[0]).grid = {0, 1, 1};
  auto c = context();
  ASSERT_TRUE(c->run({affineInput(1)}).ok());
  for (const std::string &line : device->log)
    EXPECT_EQ(line.find("launch"), std::string::npos) << line;
}

TEST_F(ContextTest, WrongBindingsAreNamed) {
  auto c = context();
  float data[15] = {};
  auto message = [&](TensorBinding in, TensorBinding out) {
    Status s = c->run({in}, {out});
    EXPECT_FALSE(s.ok());
    return s.message();
  };
  auto good = TensorBinding::onHost(data, 60);
  EXPECT_EQ(message(TensorBinding::onHost(data, 56), good), "input 'x' has 56 bytes, expected 60 (f32 3x5)");
  EXPECT_EQ(message(good, TensorBinding::onHost(nullptr, 60)), "output 'y' has no memory");
  EXPECT_EQ(message(TensorBinding::onDevice(1000004, 60), good),
            "input 'x' is not aligned to 16 bytes in device memory");
  EXPECT_EQ(c->run({}, {good}).message(), "got 0 inputs and 1 outputs, expected 1 and 1");
  EXPECT_EQ(c->run({HostTensor(DType::F16, {3, 5})}).status().message(),
            "input 'x' is f16 3x5, expected f32 3x5");
}

TEST_F(ContextTest, HostDataNeedsStaging) {
  ContextOptions options;
  options.stageHostData = false;
  auto c = context(options);
  EXPECT_EQ(c->run({affineInput(1)}).status().code(), StatusCode::FailedPrecondition);
}

TEST_F(ContextTest, SpecialisedInputMustKeepItsValue) {
  HostTensor x = affineInput(3);
  plan->inputs[0].specialisedTo = SharedBytes::copyOf(x.bytes(), 60);
  auto c = context();
  EXPECT_TRUE(c->run({x}).ok());
  Status s = c->run({affineInput(4)}).status();
  EXPECT_EQ(s.code(), StatusCode::InvalidArgument);
  EXPECT_NE(s.message().find("input 'x' has another value"), std::string::npos);
}

TEST_F(ContextTest, FailuresNameTheStepAndRecover) {
  auto c = context();
  device->failingKernel = "affine";
  Status s = c->run({affineInput(1)}).status();
  EXPECT_EQ(s.code(), StatusCode::DeviceError);
  EXPECT_EQ(s.message(), "step 0 ('Mul_0, Add_1'): the kernel failed");
  s = c->run({affineInput(1)}).status(); // the second run captures: fails and ends the capture
  EXPECT_EQ(s.code(), StatusCode::DeviceError);
  device->failingKernel.clear();
  auto y = c->run({affineInput(5)});
  ASSERT_TRUE(y.ok());
  expectAffine((*y)[0], 5);
}

TEST_F(ContextTest, OutOfMemoryTellsSizes) {
  plan->programs[0].arenaBytes = 1 << 20;
  device->memoryLimit = 1000;
  auto loaded = LoadedPlan::create(plan, device);
  ASSERT_TRUE(loaded.ok());
  Status s = Context::create(loaded.take()).status();
  EXPECT_EQ(s.code(), StatusCode::OutOfMemory);
  EXPECT_EQ(s.message(),
            "cannot allocate 1048576 bytes for the arena on fake, 1000 bytes are free: fake memory is full");
}

TEST_F(ContextTest, CubinsAreUsedForTheirArchitectureAndSourcesOtherwise) {
  plan->cubins.push_back({1, "sm_86", SharedBytes::copyOf("affine code")});
  auto loaded = LoadedPlan::create(plan, device);
  ASSERT_TRUE(loaded.ok());
  EXPECT_EQ(device->binaries, std::set<std::string>{"affine code"});
  EXPECT_EQ(device->sources, std::vector<std::string>{"pack.cu"});
  EXPECT_TRUE((*loaded)->compiledAtLoad());
}

TEST_F(ContextTest, PlanWithoutProgramForTheDevice) {
  device->architecture = "sm_80";
  Status s = LoadedPlan::create(plan, device).status();
  EXPECT_EQ(s.code(), StatusCode::NotFound);
  EXPECT_NE(s.message().find("no program for 'sm_80', it has: sm_86, sm_90a"), std::string::npos)
      << s.message();
}

TEST_F(ContextTest, ContextsShareWeightsAndAreIndependent) {
  std::shared_ptr<LoadedPlan> loaded = LoadedPlan::create(plan, device).take();
  size_t shared = device->live.size();
  auto a = Context::create(loaded).take();
  auto b = Context::create(loaded).take();
  EXPECT_EQ(device->live.size(), shared + 4); // arena and staging each
  EXPECT_NE(a->arena(), b->arena());
  loaded.reset(); // kept by the contexts
  expectAffine((*a->run({affineInput(1)}))[0], 1);
  expectAffine((*b->run({affineInput(2)}))[0], 2);
}

TEST_F(ContextTest, ProfileNamesEveryStep) {
  auto c = context();
  HostTensor x = affineInput(1), y(DType::F32, {3, 5});
  auto times =
      c->profile({TensorBinding::onHost(x.bytes(), 60)}, {TensorBinding::onHost(y.mutableBytes(), 60)});
  ASSERT_TRUE(times.ok()) << times.status().message();
  ASSERT_EQ(times->size(), 2u);
  EXPECT_EQ((*times)[0].name, "affine");
  EXPECT_EQ((*times)[0].label, "Mul_0, Add_1");
  EXPECT_EQ((*times)[1].name, "copy");
  expectAffine(y, 1);
}

namespace {
/// Events read a clock that the test moves.
class EventDevice : public FakeDevice {
public:
  double clock = 0; ///< milliseconds
  Result<EventHandle> createEvent() override { return EventHandle(new double(0)); }
  void destroyEvent(EventHandle e) override { delete static_cast<double *>(e); }
  Status recordEvent(EventHandle e, StreamHandle) override {
    *static_cast<double *>(e) = clock;
    return {};
  }
  Result<double> elapsedMs(EventHandle begin, EventHandle end) override {
    return *static_cast<double *>(end) - *static_cast<double *>(begin);
  }
};
} // namespace

TEST_F(ContextTest, ProfileInGraphSaysWhatTheGraphSavesWithoutAStep) {
  auto timed = std::make_shared<EventDevice>();
  timed->argumentCount = device->argumentCount;
  timed->functions["pack"] = device->functions["pack"];
  auto affine = device->functions["affine"];
  timed->functions["affine"] = [=](const LaunchConfig &config, void **a) {
    timed->clock += 0.25;
    affine(config, a);
  };
  device = timed;
  auto c = context();
  HostTensor x = affineInput(1), y(DType::F32, {3, 5});
  std::vector<TensorBinding> in{TensorBinding::onHost(x.bytes(), 60)},
      out{TensorBinding::onHost(y.mutableBytes(), 60)};
  auto times = c->profileInGraph(in, out);
  ASSERT_TRUE(times.ok()) << times.status().message();
  ASSERT_EQ(times->size(), 2u);
  EXPECT_EQ((*times)[0].name, "affine");
  EXPECT_DOUBLE_EQ((*times)[0].microseconds, 250);
  EXPECT_EQ((*times)[1].name, "copy");
  EXPECT_DOUBLE_EQ((*times)[1].microseconds, 0);
  ASSERT_TRUE(c->run(in, out).ok()); // graphs of the profile are not the context's
  expectAffine(y, 1);
  timed->supportsGraphs = false;
  EXPECT_EQ(c->profileInGraph(in, out).status().code(), StatusCode::Unsupported);
  device.reset();
  timed->functions.clear(); // one of them holds the device
}

TEST_F(ContextTest, MatmulNeedsALibraryOnARealDevice) {
  plan->programs[0].runSteps = {matmulStep()};
  Status s = LoadedPlan::create(plan, device).status();
  EXPECT_EQ(s.code(), StatusCode::Unsupported);
  EXPECT_EQ(s.message(), "matmul 'MatMul_0': device 'fake' has no matmul library");
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One test per rule of validatePlan: the sample plan is right, one change makes it wrong, the message says
// what.
#include "SamplePlan.h"
#include <gtest/gtest.h>

using namespace gpuc;

/// Expects that the changed plan is refused, when written and with the file's code, with `fragment` in the
/// message.
template <typename Change> static void expectInvalid(const char *fragment, Change change) {
  Plan plan = samplePlan();
  ASSERT_TRUE(validatePlan(plan).ok()) << validatePlan(plan).message();
  change(plan);
  Status status = validatePlan(plan, StatusCode::DataLoss);
  EXPECT_EQ(status.code(), StatusCode::DataLoss) << fragment;
  EXPECT_NE(status.message().find(fragment), std::string::npos)
      << fragment << " is not in: " << status.message();
  EXPECT_FALSE(serializePlan(plan).ok());
}
static PlanProgram &first(Plan &p) { return p.programs[0]; }
static LaunchStep &launch(Plan &p) { return std::get<LaunchStep>(first(p).runSteps[0]); }
static TensorMapArg &tensorMap(Plan &p, size_t arg) {
  return std::get<TensorMapArg>(std::get<LaunchStep>(p.programs[1].runSteps[0]).args[arg]);
}
static MatmulStep &matmul(Plan &p) { return std::get<MatmulStep>(first(p).runSteps[2]); }
static CopyStep &copy(Plan &p) { return std::get<CopyStep>(first(p).runSteps[3]); }

TEST(ValidatePlan, Tensors) {
  expectInvalid("name is empty", [](Plan &p) { p.inputs[0].name.clear(); });
  expectInvalid("'x' is used twice", [](Plan &p) { p.inputs[1].name = "x"; });
  expectInvalid("unknown element type", [](Plan &p) { p.inputs[0].dtype = DType(99); });
  expectInvalid("negative or too large", [](Plan &p) { p.inputs[0].shape = {3, -5}; });
  expectInvalid("negative or too large",
                [](Plan &p) { p.outputs[0].shape = {int64_t(1) << 40, int64_t(1) << 40}; });
  expectInvalid("expected 24", [](Plan &p) { p.inputs[1].shape = {3}; });
  expectInvalid("only an input can be", [](Plan &p) { p.outputs[1].specialisedTo = SharedBytes(); });
}

TEST(ValidatePlan, Texts) {
  for (const char *path :
       {"", "../x.cuh", "/etc/passwd", "a//b", "a/../b", "a\\b", ".hidden", "a b", "x\n"}) {
    expectInvalid("relative path", [&](Plan &p) { p.headers[0].path = path; });
    expectInvalid("file name", [&](Plan &p) { p.units[0].name = path; });
  }
  expectInvalid("used twice", [](Plan &p) { p.headers.push_back(p.headers[0]); });
  expectInvalid("unit 9 of 2", [](Plan &p) { p.cubins[0].unit = 9; });
  expectInvalid("expected a name like 'sm_90a'", [](Plan &p) { p.cubins[0].arch = "sm_x"; });
  expectInvalid("it is empty", [](Plan &p) { p.cubins[0].data = SharedBytes(); });
  expectInvalid("two cubins", [](Plan &p) { p.cubins.push_back(p.cubins[0]); });
}

TEST(ValidatePlan, Programs) {
  expectInvalid("no architecture", [](Plan &p) { first(p).archs.clear(); });
  expectInvalid("in two programs", [](Plan &p) { first(p).archs.push_back("sm_90a"); });
  expectInvalid("larger than 2^48", [](Plan &p) { first(p).arenaBytes = uint64_t(1) << 60; });
  expectInvalid("in unit 5 of 2", [](Plan &p) { first(p).kernels[0].unit = 5; });
  expectInvalid("no identifier", [](Plan &p) { first(p).kernels[0].entry = "a b"; });
  expectInvalid("defined by two units", [](Plan &p) { first(p).kernels[0].entry = "pack"; });
}

TEST(ValidatePlan, Launches) {
  expectInvalid("kernel 7 of 2", [](Plan &p) { launch(p).kernel = 7; });
  expectInvalid("grid is larger", [](Plan &p) { launch(p).grid[1] = 65536; });
  expectInvalid("block has no threads", [](Plan &p) { launch(p).block = {0, 1, 1}; });
  expectInvalid("more than 1024", [](Plan &p) { launch(p).block = {64, 64, 1}; });
  expectInvalid("more than 1024", [](Plan &p) { launch(p).block = {1024, 1024, 4096}; });
  expectInvalid("shared memory", [](Plan &p) { launch(p).sharedBytes = 1 << 20; });
  expectInvalid("bytes of arguments", [](Plan &p) { launch(p).args.resize(5000, int64_t(0)); });
  expectInvalid("run step 0 ('Add_0, Relu_1')",
                [](Plan &p) { launch(p).args[0] = BufferRef{MemorySpace::Input, 2, 0}; });
  expectInvalid("buffer of 60", [](Plan &p) { launch(p).args[0] = BufferRef{MemorySpace::Input, 0, 61}; });
  expectInvalid("unknown memory space", [](Plan &p) { launch(p).args[0] = BufferRef{MemorySpace(9), 0, 0}; });
  expectInvalid("a constant or packed memory", [](Plan &p) {
    std::get<LaunchStep>(first(p).loadSteps[0]).args[0] = BufferRef{MemorySpace::Arena, 0, 0};
  });
  Plan plan = samplePlan();
  launch(plan).grid = {0, 1, 1};
  EXPECT_TRUE(validatePlan(plan).ok());
}

TEST(ValidatePlan, Clusters) {
  expectInvalid("clusters of 0 blocks", [](Plan &p) { launch(p).cluster = 0; });
  expectInvalid("in a grid of 7, expected a divisor from 1 to 8", [](Plan &p) { launch(p).cluster = 2; });
  expectInvalid("clusters of 14 blocks", [](Plan &p) {
    launch(p).grid = {14, 1, 1};
    launch(p).cluster = 14;
  });
}

TEST(ValidatePlan, TensorMapsStayInTheirBuffers) {
  expectInvalid("a tensor map covers bytes [384, +1672) of a buffer of 2048",
                [](Plan &p) { tensorMap(p, 7).base.offset = 384; });
  expectInvalid("a tensor map covers", [](Plan &p) { tensorMap(p, 9).layout.dims[3] = 3; });
  expectInvalid("a tensor map covers",
                [](Plan &p) { tensorMap(p, 7).layout.byteOffset = uint64_t(1) << 60; });
  expectInvalid("a tensor map is too large",
                [](Plan &p) { tensorMap(p, 7).layout.byteOffset = ~uint64_t(15); });
  expectInvalid("a tensor map has index 9", [](Plan &p) { tensorMap(p, 7).base.index = 9; });
  expectInvalid("unknown memory space", [](Plan &p) { tensorMap(p, 7).base.space = MemorySpace(9); });
  expectInvalid("buffer is not aligned to 16", [](Plan &p) { tensorMap(p, 7).base.offset = 8; });
  expectInvalid("run step 0 ('Add_0, Relu_1'): tensor map: the rank is 6",
                [](Plan &p) { tensorMap(p, 7).layout.rank = 6; });
  expectInvalid("bytes of arguments",
                [](Plan &p) { launch(p).args.assign(256, TensorMapArg{{}, sampleTiledMap()}); });
  Plan plan = samplePlan();
  launch(plan).args.assign(255, TensorMapArg{{}, sampleTiledMap()});
  EXPECT_TRUE(validatePlan(plan).ok()) << validatePlan(plan).message();
}

TEST(ValidatePlan, CopiesAndFills) {
  expectInvalid("covers bytes [0, +61)", [](Plan &p) { copy(p).bytes = 61; });
  expectInvalid("covers bytes", [](Plan &p) { copy(p).src.offset = ~uint64_t(0); });
  expectInvalid("read-only", [](Plan &p) { copy(p).dst = {MemorySpace::Constant, 0, 0}; });
  expectInvalid("read-only", [](Plan &p) { copy(p).dst = {MemorySpace::Input, 0, 0}; });
  expectInvalid("read-only", [](Plan &p) { copy(p).dst = {MemorySpace::Packed, 0, 0}; });
  expectInvalid("covers bytes", [](Plan &p) { std::get<FillStep>(first(p).runSteps[1]).bytes = 4096; });
}

TEST(ValidatePlan, Matmuls) {
  expectInvalid("must be f16", [](Plan &p) { matmul(p).problem.dtypeA = DType::I8; });
  expectInvalid("unknown matmul compute", [](Plan &p) { matmul(p).problem.epilogue = MatmulEpilogue(77); });
  expectInvalid("negative", [](Plan &p) { matmul(p).problem.m = -1; });
  expectInvalid("leading dimension", [](Plan &p) { matmul(p).problem.lda = 1; });
  expectInvalid("too large", [](Plan &p) { matmul(p).problem.m = int64_t(1) << 62; });
  expectInvalid("matmul D covers", [](Plan &p) { matmul(p).problem.ldd = 1000; });
  expectInvalid("lacks one", [](Plan &p) { matmul(p).bias.reset(); });
  expectInvalid("without beta", [](Plan &p) { matmul(p).problem.beta = 0; });
  expectInvalid("not aligned", [](Plan &p) { matmul(p).workspace.offset = 1288; });
  expectInvalid("workspace covers", [](Plan &p) { matmul(p).workspaceBytes = 4096; });
}

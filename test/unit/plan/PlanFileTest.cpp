// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The file format: round trip, determinism, and files that were cut, changed or made to harm.
#include "SamplePlan.h"
#include "gpuc/Support/File.h"
#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace gpuc;

/// Loads from a heap block of exactly this size, so that AddressSanitizer sees any read beyond it.
static Result<Plan> load(const std::vector<uint8_t> &bytes, size_t size, bool verifyHash = true) {
  LoadPlanOptions options;
  options.verifyHash = verifyHash;
  return loadPlan(SharedBytes(std::vector<uint8_t>(bytes.begin(), bytes.begin() + long(size))), options);
}

TEST(PlanFile, RoundTripKeepsEverything) {
  Plan plan = samplePlan();
  auto bytes = serializePlan(plan);
  ASSERT_TRUE(bytes.ok()) << bytes.status().message();
  auto back = load(*bytes, bytes->size());
  ASSERT_TRUE(back.ok()) << back.status().message();
  EXPECT_EQ(back->producer, plan.producer);
  EXPECT_EQ(back->buildOptions, plan.buildOptions);
  ASSERT_EQ(back->inputs.size(), 2u);
  EXPECT_EQ(back->inputs[0].name, "x");
  EXPECT_EQ(back->inputs[0].shape, (Shape{3, 5}));
  EXPECT_FALSE(back->inputs[0].specialisedTo);
  ASSERT_TRUE(back->inputs[1].specialisedTo);
  EXPECT_TRUE(back->inputs[1].specialisedTo->equals(*plan.inputs[1].specialisedTo));
  EXPECT_EQ(back->outputs[1].shape, (Shape{0, 7}));
  ASSERT_EQ(back->constants.size(), 3u);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_TRUE(back->constants[i].data.equals(plan.constants[i].data)) << i;
  EXPECT_EQ(back->headers[0].text, plan.headers[0].text);
  EXPECT_EQ(back->units[1].text, plan.units[1].text);
  EXPECT_TRUE(back->findCubin(1, "sm_86")->data.equals(plan.cubins[1].data));
  EXPECT_EQ(back->findCubin(1, "sm_90a"), nullptr);
  const PlanProgram &p = back->programs[0];
  EXPECT_EQ(p.archs, plan.programs[0].archs);
  EXPECT_EQ(p.arenaBytes, 2048u);
  EXPECT_EQ(p.statistics.flops, 77u);
  auto &launch = std::get<LaunchStep>(p.runSteps[0]);
  EXPECT_EQ(launch.grid[0], 7u);
  EXPECT_TRUE(launch.programmaticDependent);
  EXPECT_EQ(launch.label, "Add_0, Relu_1");
  EXPECT_EQ(std::get<int32_t>(launch.args[3]), -5);
  EXPECT_EQ(std::get<int64_t>(launch.args[4]), int64_t(1) << 40);
  EXPECT_EQ(std::get<float>(launch.args[5]), 0.5f);
  EXPECT_EQ(std::get<double>(launch.args[6]), -2.25);
  EXPECT_EQ(std::get<FillStep>(p.runSteps[1]).value, 7);
  auto &matmul = std::get<MatmulStep>(p.runSteps[2]);
  EXPECT_TRUE(matmul.problem.transposeB);
  EXPECT_EQ(matmul.problem.epilogue, MatmulEpilogue::BiasRelu);
  EXPECT_EQ(matmul.bias->offset, 20u);
  EXPECT_EQ(std::get<CopyStep>(p.runSteps[3]).bytes, 60u);
  auto &clustered = std::get<LaunchStep>(back->programs[1].runSteps[0]);
  EXPECT_EQ(launch.cluster, 1u);
  EXPECT_EQ(clustered.cluster, 7u);
  ASSERT_EQ(clustered.args.size(), 10u);
  auto &tiled = std::get<TensorMapArg>(clustered.args[7]),
       &im2col = std::get<TensorMapArg>(clustered.args[9]);
  EXPECT_EQ(tiled.base.offset, 256u);
  EXPECT_EQ(tiled.layout, sampleTiledMap());
  EXPECT_EQ(im2col.base.space, MemorySpace::Packed);
  EXPECT_EQ(im2col.layout, sampleIm2colMap());
  EXPECT_NE(im2col.layout, sampleTiledMap());
  // What was read gives the same bytes again.
  EXPECT_EQ(*serializePlan(*back), *bytes);
}

TEST(PlanFile, SamePlanGivesSameBytesAndFile) {
  auto first = serializePlan(samplePlan()), second = serializePlan(samplePlan());
  EXPECT_EQ(*first, *second);
  std::string path = testing::TempDir() + "/gpuc-plan-test-" + std::to_string(::getpid()) + ".gpuc";
  ASSERT_TRUE(writePlan(samplePlan(), path).ok());
  auto text = readFile(path);
  EXPECT_EQ(std::vector<uint8_t>(text->begin(), text->end()), *first);
  auto loaded = loadPlan(path);
  EXPECT_TRUE(loaded.ok());
  ::unlink(path.c_str());
  EXPECT_EQ(loaded->constants[0].data.data()[0], 0x3c); // still mapped
  EXPECT_EQ(loadPlan(path).status().code(), StatusCode::NotFound);
}

TEST(PlanFile, EmptyPlanIsLegal) {
  auto bytes = serializePlan(Plan());
  ASSERT_TRUE(bytes.ok());
  EXPECT_TRUE(load(*bytes, bytes->size()).ok());
}

TEST(PlanFile, SectionsAreAligned) {
  auto bytes = serializePlan(samplePlan());
  auto plan = loadPlan(SharedBytes(*bytes));
  const uint8_t *start = plan->constants[0].data.data();
  EXPECT_EQ(plan->constants[2].data.data() - start, 512);
  size_t at = 0; // offset of the constants in the file
  while (std::memcmp(bytes->data() + at, start, 300) != 0)
    ++at;
  EXPECT_EQ(at % 4096, 0u);
}

TEST(PlanFile, TruncationAtEveryByteIsAnError) {
  auto bytes = serializePlan(samplePlan());
  for (size_t size = 0; size < bytes->size(); ++size) {
    auto plan = load(*bytes, size);
    ASSERT_FALSE(plan.ok()) << size;
    EXPECT_EQ(plan.status().code(), StatusCode::DataLoss);
  }
}

TEST(PlanFile, EveryChangedByteOfContentIsNoticed) {
  auto bytes = serializePlan(samplePlan());
  auto plan = loadPlan(SharedBytes(*bytes));
  uint64_t manifestBytes;
  std::memcpy(&manifestBytes, bytes->data() + 24, 8);
  for (size_t at = 0; at < 128 + manifestBytes; ++at) {
    std::vector<uint8_t> bad = *bytes;
    bad[at] ^= 1;
    EXPECT_FALSE(load(bad, bad.size()).ok()) << at;
  }
  std::vector<uint8_t> bad = *bytes;
  bad.back() ^= 0x80; // a text
  auto result = load(bad, bad.size());
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("SHA-256 of section texts"), std::string::npos);
}

TEST(PlanFile, RandomMutationsNeverCrash) {
  auto bytes = serializePlan(samplePlan());
  uint64_t manifestBytes;
  std::memcpy(&manifestBytes, bytes->data() + 24, 8);
  uint32_t state = 12345;
  auto random = [&] { return (state = state * 1664525u + 1013904223u) >> 8; };
  int accepted = 0;
  for (int i = 0; i < 30000; ++i) {
    std::vector<uint8_t> bad = *bytes;
    int changes = 1 + int(random() % 4);
    for (int j = 0; j < changes; ++j) {
      // Mostly in the manifest; without hashes every change reaches the code behind them.
      size_t at = random() % 8 ? 128 + random() % manifestBytes : random() % 128;
      static const uint8_t kValues[] = {0, 1, 0x7f, 0x80, 0xff};
      bad[at] = random() % 2 ? kValues[random() % 5] : uint8_t(random());
    }
    auto plan = load(bad, bad.size(), false);
    if (!plan)
      continue;
    ++accepted;
    EXPECT_TRUE(validatePlan(*plan).ok());
    EXPECT_TRUE(serializePlan(*plan).ok()); // reads every byte that the plan refers to
  }
  EXPECT_GT(accepted, 0);
}

TEST(PlanFile, OtherVersionsAndOtherFilesAreRejectedClearly) {
  auto bytes = *serializePlan(samplePlan());
  EXPECT_TRUE(looksLikePlan(bytes.data(), bytes.size()));
  bytes[8] = 99;
  auto plan = load(bytes, bytes.size());
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.status().message().find("format version 99, expected 3"), std::string::npos);
  EXPECT_NE(plan.status().message().find("compile the model again"), std::string::npos);
  std::vector<uint8_t> other(200, 'x');
  plan = load(other, other.size());
  EXPECT_NE(plan.status().message().find("not a gpuc plan"), std::string::npos);
  EXPECT_FALSE(looksLikePlan("GPUC", 4));
}

TEST(Plan, ProgramForPicksExactThenNewestPortable) {
  Plan plan;
  for (const char *arch : {"sm_80", "sm_86", "sm_90a"}) {
    plan.programs.emplace_back();
    plan.programs.back().archs = {arch};
  }
  EXPECT_EQ(plan.programFor("sm_90a"), &plan.programs[2]);
  EXPECT_EQ(plan.programFor("sm_80"), &plan.programs[0]);
  EXPECT_EQ(plan.programFor("sm_89"), &plan.programs[1]);
  EXPECT_EQ(plan.programFor("sm_120a"), &plan.programs[1]);
  EXPECT_EQ(plan.programFor("sm_75"), nullptr);
  EXPECT_EQ(plan.programFor("nonsense"), nullptr);
}

TEST(Plan, UnitTableDeduplicates) {
  Plan plan;
  PlanUnitTable units(plan);
  EXPECT_EQ(units.add("a.cu", "text"), 0u);
  EXPECT_EQ(units.add("b.cu", "other"), 1u);
  EXPECT_EQ(units.add("c.cu", "text"), 0u);
  EXPECT_EQ(plan.units.size(), 2u);
}

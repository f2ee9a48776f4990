// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVRTC: compilation without a GPU, errors, threads, the cache. Skipped where NVRTC is not installed.
#include "gpuc/Runtime/Nvrtc.h"
#include "AffinePlan.h"
#include "TempFolder.h"
#include "gpuc/Support/File.h"
#include "gpuc/Target/Target.h"
#include <dirent.h>
#include <gtest/gtest.h>

using namespace gpuc;

namespace {
class NvrtcTest : public testing::Test {
protected:
  void SetUp() override {
    auto opened = Nvrtc::open();
    if (!opened)
      GTEST_SKIP() << opened.status().message();
    nvrtc = opened.take();
  }
  std::shared_ptr<Nvrtc> nvrtc;
};

std::vector<std::string> filesIn(const std::string &dir) {
  std::vector<std::string> names;
  DIR *d = ::opendir(dir.c_str());
  while (dirent *e = d ? ::readdir(d) : nullptr)
    if (e->d_name[0] != '.')
      names.push_back(joinPath(dir, e->d_name));
  if (d)
    ::closedir(d);
  return names;
}
} // namespace

TEST_F(NvrtcTest, CompilesForEveryTargetWithHeaders) {
  UnitSource unit{
      "k.cu", "#include \"common/scale.cuh\"\nextern \"C\" __global__ void k(float *x) { x[threadIdx.x] = "
              "scale(x[threadIdx.x]); }\n"};
  std::vector<SourceFile> headers = {{"common/scale.cuh", "#include \"common/two.cuh\"\n"
                                                          "float scale(float v) { return kTwo * v; }\n"},
                                     {"common/two.cuh", "constexpr float kTwo = 2;\n"}};
  for (const Target *t : defaultTargets()) {
    auto compiled = nvrtc->compileUnit(unit, headers, std::string(t->arch));
    ASSERT_TRUE(compiled.ok()) << compiled.status().message();
    EXPECT_EQ(std::string(compiled->cubin.begin(), compiled->cubin.begin() + 4), "\x7f"
                                                                                 "ELF");
    ASSERT_EQ(compiled->kernels.size(), 1u) << compiled->log;
    EXPECT_EQ(compiled->kernels[0].entry, "k");
    EXPECT_GT(compiled->kernels[0].registers, 0);
    EXPECT_EQ(compiled->kernels[0].spillStoreBytes, 0);
  }
}

TEST_F(NvrtcTest, ErrorsCarryTheLog) {
  auto compiled =
      nvrtc->compileUnit({"bad.cu", "extern \"C\" __global__ void k() { undefined_thing(); }"}, {}, "sm_86");
  ASSERT_FALSE(compiled.ok());
  EXPECT_EQ(compiled.status().code(), StatusCode::InvalidArgument);
  EXPECT_NE(compiled.status().message().find("undefined_thing"), std::string::npos);
  EXPECT_NE(compiled.status().message().find("bad.cu"), std::string::npos);
  EXPECT_EQ(nvrtc->compileUnit({"k.cu", ""}, {}, "sm_35").status().code(), StatusCode::Unsupported);
  EXPECT_EQ(nvrtc->compileUnit({"k.cu", ""}, {}, "nonsense").status().code(), StatusCode::Unsupported);
}

TEST_F(NvrtcTest, TwoThreadsGiveTheSameCodeAsOne) {
  std::vector<UnitSource> units;
  for (int i = 0; i < 12; ++i)
    units.push_back(
        {"k" + std::to_string(i) + ".cu",
         "extern \"C\" __global__ void k(float *x) { x[threadIdx.x] *= " + std::to_string(i) + ".5f; }"});
  std::vector<Nvrtc::Job> jobs;
  for (const UnitSource &u : units)
    for (const char *arch : {"sm_80", "sm_90a"})
      jobs.push_back({&u, arch});
  auto one = nvrtc->compileUnits(jobs, {}, {}, 1), two = nvrtc->compileUnits(jobs, {}, {}, 2);
  ASSERT_EQ(one.size(), jobs.size());
  for (size_t i = 0; i < jobs.size(); ++i) {
    ASSERT_TRUE(one[i].ok() && two[i].ok()) << two[i].status().message();
    EXPECT_EQ(one[i]->cubin, two[i]->cubin) << i;
  }
}

TEST_F(NvrtcTest, ThreadsShareTheCache) {
  test::TempFolder folder("gpuc-cache");
  NvrtcOptions options;
  options.cacheDir = joinPath(folder.path(), "cubin");
  // Each unit is wanted four times, so that threads look up, compile and store the same entry at once.
  UnitSource units[] = {{"a.cu", "extern \"C\" __global__ void a() {}"},
                        {"b.cu", "extern \"C\" __global__ void b() {}"}};
  std::vector<Nvrtc::Job> jobs;
  for (int i = 0; i < 8; ++i)
    jobs.push_back({&units[i % 2], "sm_86"});
  auto first = nvrtc->compileUnits(jobs, {}, options, 4), again = nvrtc->compileUnits(jobs, {}, options, 4);
  for (size_t i = 0; i < jobs.size(); ++i) {
    ASSERT_TRUE(first[i].ok() && again[i].ok()) << first[i].status().message();
    EXPECT_EQ(first[i]->cubin, first[i % 2]->cubin) << i;
    EXPECT_EQ(again[i]->cubin, first[i]->cubin) << i;
    EXPECT_TRUE(again[i]->fromCache) << i;
  }
}

TEST_F(NvrtcTest, CacheFindsAndSurvivesDamage) {
  test::TempFolder folder("gpuc-cache");
  NvrtcOptions options;
  options.cacheDir = joinPath(folder.path(), "cubin");
  UnitSource unit{"k.cu", "extern \"C\" __global__ void k() {}"};
  auto first = nvrtc->compileUnit(unit, {}, "sm_86", options);
  ASSERT_TRUE(first.ok());
  EXPECT_FALSE(first->fromCache);
  auto second = nvrtc->compileUnit(unit, {}, "sm_86", options);
  EXPECT_TRUE(second->fromCache);
  EXPECT_EQ(second->cubin, first->cubin);
  EXPECT_EQ(second->kernels.size(), 1u);
  EXPECT_FALSE(nvrtc->compileUnit(unit, {}, "sm_89", options)->fromCache);
  EXPECT_FALSE(nvrtc->compileUnit(unit, {{"unused.cuh", ""}}, "sm_86", options)->fromCache);
  NvrtcOptions other = options;
  other.extraFlags = {"--use_fast_math"};
  EXPECT_FALSE(nvrtc->compileUnit(unit, {}, "sm_86", other)->fromCache);
  for (const std::string &path : filesIn(options.cacheDir)) {
    std::string text = *readFile(path);
    text[text.size() / 2] ^= 1;
    ASSERT_TRUE(writeFileAtomically(path, text).ok());
  }
  auto third = nvrtc->compileUnit(unit, {}, "sm_86", options);
  EXPECT_FALSE(third->fromCache);
  EXPECT_EQ(third->cubin, first->cubin);
}

TEST_F(NvrtcTest, KeepsPtxOnRequest) {
  NvrtcOptions options;
  options.keepPtx = true;
  auto compiled = nvrtc->compileUnit({"k.cu", "extern \"C\" __global__ void k() {}"}, {}, "sm_90a", options);
  ASSERT_TRUE(compiled.ok());
  EXPECT_NE(compiled->ptx.find(".entry k"), std::string::npos);
}

TEST(PtxasLog, ReadsRegistersAndSpills) {
  auto kernels =
      parsePtxasLog("ptxas info    : 0 bytes gmem\n"
                    "ptxas info    : Compiling entry function 'first' for 'sm_90a'\n"
                    "ptxas info    : Function properties for first\n"
                    "    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
                    "ptxas info    : Used 255 registers, used 1 barriers, 16 bytes cumulative stack size, "
                    "4096 bytes smem\n"
                    "ptxas info    : Compiling entry function 'second' for 'sm_90a'\n"
                    "ptxas info    : Function properties for second\n"
                    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                    "ptxas info    : Used 8 registers\n");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels[0].registers, 255);
  EXPECT_EQ(kernels[0].spillStoreBytes, 8);
  EXPECT_EQ(kernels[0].spillLoadBytes, 12);
  EXPECT_EQ(kernels[0].sharedBytes, 4096);
  EXPECT_EQ(kernels[1].entry, "second");
  EXPECT_EQ(kernels[1].registers, 8);
  EXPECT_TRUE(parsePtxasLog("").empty());
}

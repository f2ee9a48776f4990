// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compilation: batches, the cache on disk, messages of the compiler.
#include "SimFixture.h"
#include "TempFolder.h"
#include <cstdlib>
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gpuc::test {

const std::string &scratchDir() {
  static TempFolder folder("gpuc-sim-test");
  return folder.path();
}

namespace {

std::string unitText(int value) {
  std::string v = std::to_string(value);
  return "#include \"common/types.cuh\"\nusing namespace gpuc;\nstruct Config { static constexpr int kValue "
         "= " +
         v + "; };\nextern \"C\" __global__ void k" + v +
         "(float *x) { x[threadIdx.x] += float(Config::kValue); }\nGPUC_EXPORT(k" + v + ")\n";
}

std::vector<std::string> filesIn(const std::string &path, const std::string &suffix) {
  std::vector<std::string> names;
  if (DIR *dir = opendir(path.c_str())) {
    while (dirent *entry = readdir(dir)) {
      std::string name = entry->d_name;
      if (name.size() > suffix.size() && name.substr(name.size() - suffix.size()) == suffix)
        names.push_back(path + "/" + name);
    }
    closedir(dir);
  }
  return names;
}

float runEntry(Device &device, Module &module, const std::string &entry) {
  Buffer<float> x(device, std::vector<float>(32, 0.5f));
  auto kernel = device.getKernel(module, entry);
  EXPECT_TRUE(kernel.ok());
  void *args[] = {&x.ptr};
  LaunchConfig config;
  config.block.x = 32;
  EXPECT_TRUE(device.launch(*kernel, config, args, nullptr).ok());
  return x.read()[31];
}

/// Defines its structs in namespace gpuc, and a function that compilers leave out of line.
std::string ownNamespaceText(int value) {
  std::string v = std::to_string(value);
  return "#include \"common/types.cuh\"\nnamespace gpuc {\nstruct Config { static constexpr int kValue = " +
         v +
         "; };\ntemplate <typename C> __noinline__ __device__ float valueOf() { return float(C::kValue); }\n"
         "extern \"C\" __global__ void own" +
         v + "(float *x) { x[threadIdx.x] += valueOf<Config>(); }\nGPUC_EXPORT(own" + v + ")\n}\n";
}

TEST(SimCompile, UnitsOfOneLibraryKeepTheirOwnDefinitions) {
  SimOptions options = simOptions();
  options.cacheDir = scratchDir() + "/own";
  options.threads = 1; // one library
  auto device = createSimDevice(options);
  ASSERT_TRUE(device.ok());
  auto module =
      (*device)->loadSource({{"a.cu", ownNamespaceText(1)}, {"b.cu", ownNamespaceText(2)}}, kernelHeaders());
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(filesIn(options.cacheDir, ".so").size(), 1u);
  EXPECT_EQ(runEntry(**device, **module, "own1"), 1.5f);
  EXPECT_EQ(runEntry(**device, **module, "own2"), 2.5f);
}

TEST(SimCompile, ManyUnitsShareLibrariesAndTheCacheIsReused) {
  SimOptions options = simOptions();
  options.cacheDir = scratchDir() + "/many";
  std::vector<UnitSource> units;
  for (int i = 0; i < 100; ++i)
    units.push_back({"u" + std::to_string(i) + ".cu", unitText(i)});
  auto device = createSimDevice(options).take();
  auto module = device->loadSource(units, kernelHeaders());
  ASSERT_TRUE(module.ok()) << module.status().message();
  EXPECT_EQ(runEntry(*device, **module, "k7"), 7.5f);
  EXPECT_EQ(runEntry(*device, **module, "k99"), 99.5f);
  EXPECT_EQ(filesIn(options.cacheDir, ".so").size(), 3u);
  EXPECT_TRUE(filesIn(options.cacheDir, ".o").empty());

  // a second device needs no compilation: it would have to create files
  ASSERT_EQ(chmod(options.cacheDir.c_str(), 0500), 0);
  std::vector<UnitSource> some = {units[42], units[3]};
  auto second = createSimDevice(options).take();
  auto cached = second->loadSource(some, kernelHeaders());
  ASSERT_TRUE(cached.ok()) << cached.status().message();
  EXPECT_EQ(runEntry(*second, **cached, "k42"), 42.5f);
  EXPECT_FALSE(second->getKernel(**cached, "k7").ok());
  EXPECT_EQ(filesIn(options.cacheDir, ".so").size(), 3u);
  ASSERT_EQ(chmod(options.cacheDir.c_str(), 0700), 0);

  // a changed header makes other libraries
  auto headers = kernelHeaders();
  headers.push_back({"common/more.cuh", "#pragma once\n"});
  ASSERT_TRUE(second->loadSource(some, headers).ok());
  EXPECT_EQ(filesIn(options.cacheDir, ".so").size(), 5u);
}

TEST(SimCompile, UnitsMayOpenTheNamespace) {
  std::string text =
      "#include \"common/types.cuh\"\nnamespace gpuc { GPUC_DEVICE float one(f16 x) { return toFloat(x); } "
      "}\n"
      "extern \"C\" __global__ void k(float *x) { x[0] = gpuc::one(gpuc::f16{0x3c00}); }\nGPUC_EXPORT(k)\n";
  Program program(text);
  ASSERT_TRUE(program.status.ok()) << program.status.message();
  Buffer<float> x(*program.device, {0.0f});
  ASSERT_TRUE(program.launch(1, 1, 0, {x.ptr}).ok());
  EXPECT_EQ(x.read()[0], 1.0f);
}

TEST(SimCompile, ErrorsNameTheUnitAndLine) {
  Program program("#include \"common/types.cuh\"\n\nextern \"C\" __global__ void k(float *x) { x[0] = "
                  "undefinedName; }\n");
  EXPECT_EQ(program.status.code(), StatusCode::InvalidArgument);
  EXPECT_NE(program.status.message().find("unit.cu:3"), std::string::npos) << program.status.message();
  EXPECT_NE(program.status.message().find("undefinedName"), std::string::npos) << program.status.message();
  EXPECT_EQ(program.status.message().find(scratchDir()), std::string::npos) << program.status.message();
}

TEST(SimCompile, LargeFramesAreRefused) {
  Program program("extern \"C\" __global__ void k(float *x) { volatile float a[20000]; a[int(x[0])] = 1; "
                  "x[0] = a[3]; }\n");
  EXPECT_NE(program.status.message().find("frame"), std::string::npos) << program.status.message();
}

TEST(SimCompile, UnknownArchHeadersAreNamed) {
  auto headers = kernelHeaders();
  headers.push_back({"arch/other.cuh", ""});
  auto device = createSimDevice(simOptions()).take();
  auto module = device->loadSource({{"unit.cu", "#include \"arch/other.cuh\"\n"}}, headers);
  EXPECT_NE(module.status().message().find("arch/other.cuh is not simulated"), std::string::npos);
}

TEST(SimCompile, MissingCompilerIsNamed) {
  SimOptions options = simOptions();
  options.compiler = "no-such-compiler";
  auto device = createSimDevice(options);
  EXPECT_EQ(device.status().code(), StatusCode::NotFound);
  EXPECT_NE(device.status().message().find("no-such-compiler"), std::string::npos);
}

TEST(SimCompile, FoldersOfOthersAreRefused) {
  SimOptions options = simOptions();
  options.cacheDir = scratchDir() + "/open";
  ASSERT_EQ(mkdir(options.cacheDir.c_str(), 0777), 0);
  ASSERT_EQ(chmod(options.cacheDir.c_str(), 0777), 0);
  auto device = createSimDevice(options).take();
  auto module = device->loadSource({{"unit.cu", unitText(1)}}, kernelHeaders());
  EXPECT_EQ(module.status().code(), StatusCode::IoError);
}

} // namespace
} // namespace gpuc::test

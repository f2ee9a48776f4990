// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ArchFixture.h"
#include <cstdlib>

namespace gpuc::test {

std::vector<SourceFile> archHeaders() {
  std::vector<SourceFile> headers;
  for (unsigned i = 0; i < archTestHeadersCount; ++i)
    headers.push_back(
        {archTestHeaders[i].path, std::string(archTestHeaders[i].data, archTestHeaders[i].size)});
  return headers;
}

std::string archPreface() {
  std::string text;
  for (const SourceFile &header : archHeaders())
    text += "#include \"" + header.path + "\"\n";
  return text + "using namespace gpuc;\nusing arch::TensorMap;\n#line 1\n";
}

void ArchTest::SetUp() {
  DeviceOptions options;
  options.cacheDir = testing::TempDir() + "/gpuc-arch-tests";
  options.simFullChecks = GetParam().fullChecks;
  auto opened = openDevice(GetParam().spec, options);
  if (!opened) // no GPU here, or no compiler for the simulator
    GTEST_SKIP() << opened.status().message();
  if ((*opened)->arch() != "sm_90a") // another GPU has none of the instructions under test
    GTEST_SKIP() << "these instructions need sm_90a";
  device = opened.take();
}

void ArchTest::load(const std::string &body) {
  auto loaded = device->loadSource({{"unit.cu", archPreface() + body + "\nGPUC_EXPORT(k)\n"}}, archHeaders());
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  module = loaded.take();
  auto found = device->getKernel(*module, "k");
  ASSERT_TRUE(found.ok()) << found.status().message();
  kernel = *found;
}

Status ArchTest::launch(Arguments &arguments, const Shape3 &shape) {
  GPUC_RETURN_IF_ERROR(arguments.status);
  LaunchConfig config;
  config.grid.x = shape.blocks;
  config.block.x = shape.threads;
  config.sharedBytes = shape.sharedBytes;
  config.cluster = shape.cluster;
  config.label = "test kernel";
  GPUC_RETURN_IF_ERROR(device->launch(kernel, config, arguments.pointers().data(), nullptr));
  return device->synchronize(nullptr);
}

std::vector<uint16_t> toHalf(const std::vector<float> &values) {
  std::vector<uint16_t> codes;
  for (float v : values) {
    _Float16 h = _Float16(v);
    uint16_t bits;
    std::memcpy(&bits, &h, 2);
    codes.push_back(bits);
  }
  return codes;
}

float fromHalf(uint16_t bits) {
  _Float16 h;
  std::memcpy(&h, &bits, 2);
  return float(h);
}

} // namespace gpuc::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One unit that calls every Hopper instruction in all its forms: it compiles for sm_90a without warnings and
// spills, and for the simulator, so that both layers have the same functions.
#include "ArchFixture.h"
#include "gpuc/Runtime/Nvrtc.h"

namespace gpuc::test {
namespace {

/// An entry of its own per type, width and placement of B: together they would need too many registers.
std::string products() {
  std::string text;
  for (const char *type : {"f16", "bf16", "float", "f8e4m3fn", "f8e5m2"})
    for (int n : {8, 96, 176, 256})
      for (int transposed = 0; transposed < (std::string(type).find("f16") != std::string::npos ? 2 : 1);
           ++transposed) {
        const std::string number = std::to_string(n) + (transposed ? "t" : "");
        const std::string form =
            "<" + std::string(type) + ", " + std::to_string(n) + ", " + std::to_string(transposed) + ">";
        text += "extern \"C\" __global__ void __launch_bounds__(128, 1) k_" + std::string(type) + number +
                "(float *out) {\n  GPUC_SMEM(Shared, s);\n  u32 a = arch::sharedAddress(s.data), r[4];\n"
                "  arch::ldSharedU32x4(a, r[0], r[1], r[2], r[3]);\n"
                "  u64 b = " +
                (transposed ? "arch::wgmmaDescMn128(a, 8192, 1024)" : "arch::wgmmaDescK128(a)") +
                ";\n  float d[" + std::to_string(n / 2) + "] = {};\n  arch::wgmmaFence();\n  arch::wgmma" +
                form + "(d, arch::wgmmaDescK128(a), b, 1);\n  arch::wgmmaRs" + form +
                "(d, r, b, 1);\n  arch::wgmmaCommit();\n  arch::wgmmaWait<0>(d);\n"
                "  for (int i = 0; i < " +
                std::to_string(n / 2) + "; ++i)\n    out[threadIdx.x + i * 128] = d[i];\n}\nGPUC_EXPORT(k_" +
                std::string(type) + number + ")\n";
      }
  return text;
}

std::string everything() {
  return archPreface() + R"(
struct Shared { u8 data[65536]; u64 barrier; };
extern "C" __global__ void __launch_bounds__(128, 1) k(const __grid_constant__ TensorMap map, float *out, const float *in) {
  GPUC_SMEM(Shared, s);
  u32 a = arch::opaque(arch::sharedAddress(s.data)), barrier = arch::sharedAddress(&s.barrier);
  arch::registersDecrease<168>();
  arch::registersIncrease<240>();
  if (threadIdx.x == 0) {
    arch::mbarrierInit(barrier, 1);
    arch::mbarrierInitFence();
    arch::tensorMapPrefetch(&map);
  }
  arch::syncThreads();
  arch::clusterArrive();
  arch::clusterWait();
  arch::griddepWait();
  if (threadIdx.x == 0) {
    arch::mbarrierArriveExpectTx(barrier, 256);
    arch::bulkLoad(a, in, 256, barrier);
    arch::tmaLoad2d(a, &map, barrier, 0, 1);
    arch::tmaLoad3d(a, &map, barrier, 0, 1, 2);
    arch::tmaLoad4d(a, &map, barrier, 0, 1, 2, 3);
    arch::tmaLoad5d(a, &map, barrier, 0, 1, 2, 3, 4);
    arch::tmaLoadIm2col4d(a, &map, barrier, 0, 1, 2, 3, u16(1), u16(2));
    arch::mbarrierArrive(barrier);
    arch::mbarrierArriveRemote(barrier, 0);
  }
  arch::mbarrierWait(barrier, 0);
  arch::stmatrixX4(a, 1, 2, 3, 4);
  arch::stmatrixX4Trans(a, 1, 2, 3, 4);
  arch::stmatrixX2(a, 1, 2);
  arch::stmatrixX2Trans(a, 1, 2);
  arch::fenceProxyAsyncShared();
  arch::fenceProxyAsync();
  if (threadIdx.x == 0) {
    arch::tmaStore2d(&map, a, 0, 1);
    arch::tmaStore3d(&map, a, 0, 1, 2);
    arch::tmaStore4d(&map, a, 0, 1, 2, 3);
    arch::bulkCommit();
    arch::bulkWaitRead<1>();
    arch::bulkWait<0>();
  }
  float x, y, z, w;
  u32 r[4];
  arch::ldSharedF32x4(a, x, y, z, w);
  arch::ldSharedF32x2(a, x, y);
  arch::ldSharedF32x1(a, x);
  arch::ldSharedU32x4(a, r[0], r[1], r[2], r[3]);
  arch::stSharedF32x4(a, x, y, z, w);
  arch::stSharedF32x2(a, x, y);
  arch::stSharedF32x1(a, x);
  arch::stSharedU32x4(a, r[0], r[1], r[2], r[3]);
  arch::stAsyncF32x4(arch::clusterMap(a, 0), x, y, z, w, arch::clusterMap(barrier, 0));
  arch::wgmmaWait<0>();
  arch::clusterArriveRelease();
  arch::clusterWait();
  out[arch::clusterRank()] = x;
  arch::griddepLaunch();
}
GPUC_EXPORT(k)
)" + products();
}

TEST(ArchParity, CompilesForHopper) {
  auto nvrtc = Nvrtc::open();
  if (!nvrtc) // NVRTC is optional at run time
    GTEST_SKIP() << nvrtc.status().message();
  auto compiled = (*nvrtc)->compileUnit({"unit.cu", everything()}, archHeaders(), "sm_90a");
  ASSERT_TRUE(compiled.ok()) << compiled.status().message();
  EXPECT_EQ(compiled->log.find("arning"), std::string::npos) << compiled->log;
  EXPECT_EQ(compiled->log.find("Performance Loss"), std::string::npos) << compiled->log;
  EXPECT_EQ(compiled->kernels.size(), 29u);
  for (const KernelResources &kernel : compiled->kernels)
    EXPECT_EQ(kernel.spillStoreBytes, 0) << kernel.entry;
}

TEST(ArchParity, CompilesForTheSimulator) {
  DeviceOptions options;
  options.cacheDir = testing::TempDir() + "/gpuc-arch-tests";
  auto device = openDevice("sim:sm_90a", options);
  if (!device) // no compiler for the simulator
    GTEST_SKIP() << device.status().message();
  auto loaded = (*device)->loadSource({{"unit.cu", everything()}}, archHeaders());
  EXPECT_TRUE(loaded.ok()) << loaded.status().message();
}

} // namespace
} // namespace gpuc::test

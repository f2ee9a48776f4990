// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device names. The only place that knows which kinds of devices exist.
#include "gpuc/Runtime/DeviceRegistry.h"
#include "gpuc/Runtime/CudaDevice.h"
#include "gpuc/Runtime/SimDevice.h"
#include "gpuc/Support/File.h"
#include "gpuc/Target/Target.h"

namespace gpuc {

static std::string gibibytes(uint64_t bytes) {
  uint64_t tenths = (bytes * 10 + (uint64_t(1) << 29)) >> 30;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " GiB";
}

static constexpr std::string_view kSimArch = "sm_90a";

static Result<std::shared_ptr<Device>> openSim(std::string_view arch, const DeviceOptions &options) {
  if (!findArch(arch)) {
    std::string known;
    for (const Target *t : defaultTargets())
      known += (known.empty() ? "" : ", ") + std::string(t->arch);
    return invalidArgument("the simulator does not know '" + std::string(arch) + "', it knows " + known);
  }
  SimOptions sim;
  sim.arch = arch;
  sim.threads = options.simThreads;
  sim.fullChecks = options.simFullChecks;
  sim.reversedBlocks = options.simReversedBlocks;
  sim.poison = options.simPoison;
  sim.cacheDir =
      options.cacheDir.empty() ? joinPath(cacheDirectory(), "sim") : joinPath(options.cacheDir, "sim");
  auto device = createSimDevice(sim);
  if (!device)
    return device.status();
  return std::shared_ptr<Device>(device.take());
}

static Result<std::shared_ptr<Device>> openCuda(int ordinal, const DeviceOptions &options) {
  CudaOptions cuda;
  cuda.ordinal = ordinal;
  cuda.cacheDir = options.cacheDir;
  cuda.libraryDirs = options.libraryDirs;
  return createCudaDevice(cuda);
}

std::vector<DeviceInfo> listDevices(const DeviceOptions &options) {
  std::vector<DeviceInfo> list;
  auto gpus = listCudaDevices();
  if (gpus) {
    for (const CudaDeviceInfo &g : *gpus)
      list.push_back(
          {"cuda:" + std::to_string(g.ordinal),
           g.name + ", " + g.arch + ", " + std::to_string(g.numSMs) + " SMs, " + gibibytes(g.memoryBytes),
           g.arch, true});
  } else {
    list.push_back({"cuda", gpus.status().message(), "", false});
  }
  list.push_back(
      {"sim", "simulator on the CPU: the same kernels compiled as C++", std::string(kSimArch), true});
  return list;
}

Result<std::shared_ptr<Device>> openDevice(std::string_view spec, const DeviceOptions &options) {
  auto invalid = [&] {
    return invalidArgument("unknown device '" + std::string(spec) +
                           "', expected auto, cuda, cuda:N, sim or sim:ARCH such as sim:sm_86");
  };
  if (spec == "auto") {
    auto gpus = listCudaDevices();
    return gpus ? openCuda(gpus->front().ordinal, options) : openSim(kSimArch, options);
  }
  size_t colon = spec.find(':');
  std::string_view kind = spec.substr(0, colon);
  bool plain = colon == std::string_view::npos;
  std::string_view detail = plain ? std::string_view() : spec.substr(colon + 1);
  if (kind == "sim")
    return plain ? openSim(kSimArch, options)
                 : openSim(detail == "sm_90" || detail == "sm_120" ? std::string(detail) + "a"
                                                                   : std::string(detail),
                           options);
  if (kind != "cuda")
    return invalid();
  if (plain)
    return openCuda(0, options);
  if (detail.empty() || detail.size() > 4)
    return invalid();
  int ordinal = 0;
  for (char c : detail) {
    if (c < '0' || c > '9')
      return invalid();
    ordinal = ordinal * 10 + (c - '0');
  }
  return openCuda(ordinal, options);
}

} // namespace gpuc

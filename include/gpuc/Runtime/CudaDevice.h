// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The device `cuda`: the driver API, found with dlopen. Programs that never open one start on machines
// without it.
#pragma once
#include "gpuc/Runtime/Device.h"
#include <memory>
#include <string>
#include <vector>

namespace gpuc {

struct CudaOptions {
  int ordinal = 0;
  std::string cacheDir;                 ///< compiled kernels; empty = cacheDirectory()
  std::vector<std::string> libraryDirs; ///< searched for NVRTC and cuBLASLt before the usual folders
};
/// Opens a GPU in its primary context. Errors: NotFound (no driver, no such ordinal), DeviceError.
Result<std::shared_ptr<Device>> createCudaDevice(const CudaOptions &options);

struct CudaDeviceInfo {
  int ordinal = 0;
  std::string name, arch;
  int numSMs = 0;
  uint64_t memoryBytes = 0;
};
/// GPUs that the driver reports. Errors: NotFound when there is no driver or no GPU.
Result<std::vector<CudaDeviceInfo>> listCudaDevices();
/// The NVIDIA driver's CUDA version, for instance 13000, or an error that says why there is none.
Result<int> cudaDriverVersion();

} // namespace gpuc

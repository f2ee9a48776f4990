// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds and opens devices by name.
#pragma once
#include "gpuc/Runtime/Device.h"
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpuc {

struct DeviceOptions {
  /// Folder of the cache of compiled kernels; empty = cacheDirectory() of Support/File.h.
  std::string cacheDir;
  /// Folders searched for CUDA libraries before the usual ones.
  std::vector<std::string> libraryDirs;
  /// Only for sim: the checks of its full mode, order of blocks reversed, poisoned memory, host threads (0 =
  /// all).
  bool simFullChecks = false, simReversedBlocks = false, simPoison = true;
  unsigned simThreads = 0;
};

/// What `gpuc devices` prints.
struct DeviceInfo {
  std::string spec;        ///< "cuda:0", "sim": what openDevice takes
  std::string description; ///< "NVIDIA H200, sm_90a, 132 SMs, 139.8 GiB"
  std::string arch;        ///< "sm_90a"
  bool usable = true;      ///< false: `description` says why not
};
/// All devices of this machine, GPUs first, sim last. When there is no GPU, one unusable entry "cuda" says
/// why.
std::vector<DeviceInfo> listDevices(const DeviceOptions &options = {});

/// `spec` is "auto" (first GPU, else sim), "cuda", "cuda:N", "sim" or "sim:sm_90a".
/// Errors: InvalidArgument (not such a word), NotFound (no driver, no such device; says what is missing).
Result<std::shared_ptr<Device>> openDevice(std::string_view spec, const DeviceOptions &options = {});

} // namespace gpuc

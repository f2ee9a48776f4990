// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Facts about GPU architectures and products: the only table of them (SMs, shared memory, peaks, features).
#pragma once
#include "gpuc/Support/Status.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpuc {

/// One product that gpuc compiles for. Peaks are dense, without sparsity, at boost clock.
struct Target {
  std::string_view product; ///< "h200", as typed after --target=
  std::string_view arch;    ///< "sm_90a", as NVRTC's -arch= wants it
  int major, minor;         ///< compute capability
  int numSMs;
  int maxSharedPerBlock; ///< bytes of shared memory that one block may opt in to
  int sharedPerSM;       ///< bytes
  int64_t l2Bytes;
  double memoryGBps; ///< DRAM bandwidth, 1e9 bytes per second
  double fp32Tflops; ///< SIMT
  double fp16Tflops; ///< tensor cores, fp32 accumulation
  int64_t memoryBytes;
  bool hasClusters, hasTma, hasWgmma, hasPdl;
  bool hasHalfRateF32Sums; ///< tensor cores are twice as fast with fp16 accumulation
};

/// All products, oldest architecture first.
const std::vector<Target> &allTargets();
/// The architectures of `allTargets`, each once, as the product that stands for it.
std::vector<const Target *> defaultTargets();
/// Parses "h200", "sm_90a", "rtx4090,a100" or "all" into targets, each architecture once, in table order.
/// "native" is resolved by the caller, who knows the devices. Errors: InvalidArgument naming the known words.
Result<std::vector<const Target *>> parseTargets(std::string_view list);
/// The table's entry for an architecture, or null.
const Target *findArch(std::string_view arch);

} // namespace gpuc

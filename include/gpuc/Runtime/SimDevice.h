// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The simulator: a Device that compiles kernels with the host's C++ compiler and runs them on the CPU, with
// checks.
#pragma once
#include "gpuc/Runtime/Device.h"

namespace gpuc {

struct SimOptions {
  std::string arch = "sm_80"; ///< architecture whose program is simulated
  unsigned threads = 0;       ///< host threads that run blocks; 0: as many as the processor has
  bool fullChecks = false; ///< races on shared memory and exact bounds of every access; several times slower
  bool reversedBlocks = false; ///< blocks in reverse order: a result that changes shows a race between blocks
  bool poison = true;          ///< fill new memory and shared memory with NaNs
  std::string cacheDir;        ///< of compiled kernels; empty: `sim` in gpuc's cache folder
  std::string compiler;        ///< g++ or clang++; empty: the first of g++, clang++, c++ on PATH
};

/// The simulator. Beyond Device: allocations end at a guard page, hence are aligned to 256 bytes only if
/// their size is a multiple of 256, and to 16 always. A faulting kernel gives DeviceError naming kernel,
/// block, thread and line. Errors: Unsupported when the host is not x86-64 with AVX2, NotFound when there is
/// no compiler.
Result<std::unique_ptr<Device>> createSimDevice(const SimOptions &options);

/// With full checks: declares `bytes` bytes at `ptr` to be a buffer of its own within an allocation, whose
/// bounds are exact; bytes of the allocation outside all its declared buffers may no longer be accessed by
/// kernels. 0 bytes withdraws all declarations of the allocation. Errors: InvalidArgument when `device` is no
/// simulator or the bytes are not in one allocation.
Status annotateSimBuffer(Device &device, DevicePtr ptr, size_t bytes);

} // namespace gpuc

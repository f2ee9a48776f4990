// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programmatic dependent launch. Below sm_90 both are nothing: a kernel starts when its predecessor has
// ended.
#pragma once
#include "arch/launch.cuh"

namespace gpuc::arch {

/// griddepcontrol.wait: the memory of all preceding kernels is visible after it. Call it before touching any
/// activation; constants may be requested before.
GPUC_DEVICE void griddepWait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
/// griddepcontrol.launch_dependents: the next kernel may start. It promises nothing about memory.
GPUC_DEVICE void griddepLaunch() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

} // namespace gpuc::arch

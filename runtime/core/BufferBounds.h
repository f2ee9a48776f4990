// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tells a checking device where tensors lie within a shared allocation.
#pragma once
#include "gpuc/Runtime/Device.h"
#if GPUC_HAS_SIM
#include "gpuc/Runtime/SimDevice.h"
#endif

namespace gpuc {

/// Makes the bounds of `bytes` bytes at `ptr` exact in the simulator's full checks; nothing on other devices.
inline Status declareBuffer(Device &device, DevicePtr ptr, uint64_t bytes) {
#if GPUC_HAS_SIM
  if (device.isSim() && bytes)
    return annotateSimBuffer(device, ptr, bytes);
#endif
  return {};
}

} // namespace gpuc

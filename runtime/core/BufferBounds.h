// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tells a checking device where tensors lie within a shared allocation.
#pragma once
#include "gpuc/Runtime/Device.h"
#include "gpuc/Runtime/SimDevice.h"

namespace gpuc {

/// Makes the bounds of `bytes` bytes at `ptr` exact in the simulator's full checks; nothing on other devices.
inline Status declareBuffer(Device &device, DevicePtr ptr, uint64_t bytes) {
  if (device.isSim() && bytes)
    return annotateSimBuffer(device, ptr, bytes);
  return {};
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor maps on cuda.
#pragma once
#include "gpuc/Plan/TensorMap.h"
#include "gpuc/Runtime/Device.h"

namespace gpuc::cuda {

struct Driver;
/// As Device::encodeTensorMap. Errors: Unsupported (a driver without the function), DeviceError.
Status encodeTensorMap(const Driver &driver, const TensorMapLayout &layout, DevicePtr base, void *out);

} // namespace gpuc::cuda

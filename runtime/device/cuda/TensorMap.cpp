// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor maps by the driver's encoder.
#include "TensorMap.h"
#include "Driver.h"

namespace gpuc::cuda {

static int dataType(DType type) {
  switch (type) {
  case DType::F16:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  case DType::BF16:
    return CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  case DType::F32:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
  case DType::F64:
    return CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
  case DType::I32:
    return CU_TENSOR_MAP_DATA_TYPE_INT32;
  case DType::I64:
    return CU_TENSOR_MAP_DATA_TYPE_INT64;
  case DType::U32:
    return CU_TENSOR_MAP_DATA_TYPE_UINT32;
  case DType::U64:
    return CU_TENSOR_MAP_DATA_TYPE_UINT64;
  case DType::I16:
  case DType::U16:
    return CU_TENSOR_MAP_DATA_TYPE_UINT16;
  default: // of one byte: bool, i8, u8, f8
    return CU_TENSOR_MAP_DATA_TYPE_UINT8;
  }
}

Status encodeTensorMap(const Driver &driver, const TensorMapLayout &l, DevicePtr base, void *out) {
  auto *map = static_cast<CUtensorMap *>(out);
  auto *address = reinterpret_cast<void *>(base + l.byteOffset);
  if (!driver.tensorMapEncodeTiled || !driver.tensorMapEncodeIm2col)
    return unsupported("NVIDIA's driver, for CUDA " + versionText(driver.version) +
                       ", is too old for this plan: it has no tensor maps; install one for CUDA 12 or newer");
  CUresult result =
      l.im2col ? driver.tensorMapEncodeIm2col(
                     map, dataType(l.dtype), uint32_t(l.rank), address, l.dims.data(), l.strides.data(),
                     l.lower.data(), l.upper.data(), l.channelsPerPixel, l.pixelsPerColumn,
                     l.elementStrides.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, int(l.swizzle),
                     CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)
               : driver.tensorMapEncodeTiled(
                     map, dataType(l.dtype), uint32_t(l.rank), address, l.dims.data(), l.strides.data(),
                     l.box.data(), l.elementStrides.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, int(l.swizzle),
                     CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  return driver.check(result, "cannot encode the tensor map " + toString(l));
}

} // namespace gpuc::cuda

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gpuc-c/base.h: status objects and element types.
#include "Handles.h"
#include "gpuc/Support/DType.h"

static_assert(int(GPUC_INTERNAL) == int(gpuc::StatusCode::Internal), "status codes agree");
static_assert(int(GPUC_F64) == int(gpuc::DType::F64) && int(GPUC_U2) == int(gpuc::DType::U2),
              "element types agree");

gpuc_status_t gpuc::capi::fromStatus(const Status &status) noexcept {
  if (status.ok())
    return nullptr;
  // Even reporting an error needs memory; without it the caller gets a static object that destroy leaves
  // alone.
  try {
    return new gpuc_status_s{gpuc_status_code_t(status.code()), status.message(), true};
  } catch (...) {
    return outOfHostMemory();
  }
}

gpuc_status_t gpuc::capi::outOfHostMemory() noexcept {
  static gpuc_status_s kStatus{GPUC_OUT_OF_MEMORY, "out of memory", false}; // short: no allocation
  return &kStatus;
}

extern "C" {

gpuc_status_code_t gpuc_status_code(gpuc_status_t status) { return status ? status->code : GPUC_OK; }
const char *gpuc_status_message(gpuc_status_t status) { return status ? status->message.c_str() : ""; }
void gpuc_status_destroy(gpuc_status_t status) {
  if (status && status->owned)
    delete status;
}
unsigned gpuc_dtype_bits(gpuc_dtype_t dtype) {
  return unsigned(dtype) < gpuc::kNumDTypes ? gpuc::bitWidth(gpuc::DType(dtype)) : 0;
}
const char *gpuc_dtype_name(gpuc_dtype_t dtype) { return gpuc::name(gpuc::DType(unsigned(dtype))).data(); }
int gpuc_api_version(void) { return GPUC_C_API_VERSION; }

} // extern "C"

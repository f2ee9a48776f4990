// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libFuzzer target: any bytes as a plan. Hashes are not compared, so that mutations reach the code behind
// them; what loads must be valid and writable again.
#include "gpuc/Plan/Plan.h"
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  gpuc::LoadPlanOptions options;
  options.verifyHash = false;
  auto plan = gpuc::loadPlan(gpuc::SharedBytes(data, size, nullptr), options);
  if (plan && (!gpuc::validatePlan(*plan).ok() || !gpuc::serializePlan(*plan).ok()))
    std::abort();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the opaque handles of gpuc-c/ point to, and the guard that keeps exceptions on this side.
#pragma once
#include "gpuc-c/runtime.h"
#include "gpuc/Runtime/Runtime.h"
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

struct gpuc_status_s {
  gpuc_status_code_t code;
  std::string message;
  bool owned;
};

struct gpuc_device_s {
  std::shared_ptr<gpuc::Device> device;
  std::string description, arch;
};

struct gpuc_plan_s {
  std::shared_ptr<const gpuc::Plan> plan;
  std::vector<gpuc_tensor_info_t> inputs, outputs;
};

struct gpuc_executable_s {
  std::shared_ptr<gpuc::Allocator> allocator; ///< declared first: destroyed after `loaded`
  std::shared_ptr<gpuc::LoadedPlan> loaded;
};

struct gpuc_context_s {
  std::shared_ptr<gpuc::Allocator> allocator; ///< declared first: destroyed after the context
  std::unique_ptr<gpuc::Context> context;
  std::vector<gpuc::TensorBinding> inputs, outputs; ///< reused by every run
};

namespace gpuc::capi {

gpuc_status_t fromStatus(const Status &status) noexcept;
gpuc_status_t outOfHostMemory() noexcept;

/// Runs `body`, which returns a Status, and turns exceptions into errors.
template <typename F> gpuc_status_t guarded(F body) noexcept {
  try {
    return fromStatus(body());
  } catch (const std::bad_alloc &) {
    return outOfHostMemory();
  } catch (const std::exception &e) {
    return fromStatus(internalError(std::string("unexpected exception: ") + e.what()));
  } catch (...) {
    return fromStatus(internalError("unexpected exception"));
  }
}

} // namespace gpuc::capi

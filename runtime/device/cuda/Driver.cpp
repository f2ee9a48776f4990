// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens libcuda.so.1 and fills the symbol table.
#include "Driver.h"
#include "gpuc/Runtime/DynamicLibrary.h"

namespace gpuc::cuda {

std::string versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

static Result<Driver> openDriver() {
  static const char *const kRemedy = "install NVIDIA's driver, or use --device=sim";
  auto library = DynamicLibrary::open({"libcuda.so.1"}, {}, {"/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"},
                                      "NVIDIA's driver", kRemedy);
  if (!library)
    return library.status();
  Driver d;
  std::string missing;
#define GPUC_LOAD(field, symbol, parameters)                                                                 \
  if (!library->load(d.field, symbol))                                                                       \
    missing += std::string(missing.empty() ? "" : ", ") + symbol;
  GPUC_CUDA_FUNCTIONS(GPUC_LOAD)
#undef GPUC_LOAD
#define GPUC_LOAD_OPTIONAL(field, symbol, parameters) (void)library->load(d.field, symbol);
  GPUC_CUDA_OPTIONAL_FUNCTIONS(GPUC_LOAD_OPTIONAL)
#undef GPUC_LOAD_OPTIONAL
  if (!missing.empty())
    return notFound("NVIDIA's driver in '" + library->path() + "' is too old: it lacks " + missing +
                    "; install one for CUDA 12 or newer");
  CUresult result = d.init(0);
  if (result != CUDA_SUCCESS)
    return Status(StatusCode::NotFound, d.check(result, "cannot initialise NVIDIA's driver").message());
  d.driverGetVersion(&d.version);
  return d;
}

Result<const Driver *> Driver::get() {
  static const Result<Driver> kDriver = openDriver();
  if (!kDriver)
    return kDriver.status();
  return &*kDriver;
}

Status Driver::check(CUresult result, const std::string &what) const {
  if (result == CUDA_SUCCESS)
    return {};
  const char *name = nullptr, *text = nullptr;
  if (getErrorName)
    getErrorName(result, &name);
  if (getErrorString)
    getErrorString(result, &text);
  std::string message = what + ": " + (name ? name : "CUDA error " + std::to_string(result)) +
                        (text ? std::string(": ") + text : std::string());
  return {result == CUDA_ERROR_OUT_OF_MEMORY ? StatusCode::OutOfMemory : StatusCode::DeviceError, message};
}

} // namespace gpuc::cuda

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `run`, `bench` and `inspect` take a model or a plan: this loads either, compiling a model for the chosen
// device.
#pragma once
#include "Arguments.h"
#include "gpuc/Plan/Plan.h"
#include "gpuc/Runtime/Device.h"
#include "gpuc/Runtime/DeviceRegistry.h"
#include <memory>

namespace gpuc::cli {

/// True for a plan file, false for anything else that can be read. Errors: NotFound, IoError.
Result<bool> isPlanFile(const std::string &path);

/// The plan of `path` for `device`: loaded, or compiled for the device's architecture (from source only when
/// it is sim). `values` are the tensors given by the user; those of specialised inputs decide shapes, all of
/// them give shapes.
Result<std::shared_ptr<const Plan>> planFor(const std::string &path, Device &device,
                                            const BuildArguments &build,
                                            const std::map<std::string, HostTensor> &values,
                                            const Verbosity &verbosity);

/// Compile options from the command line and the given tensors.
Result<CompileOptions> compileOptions(const BuildArguments &build,
                                      const std::map<std::string, HostTensor> &values,
                                      const Verbosity &verbosity);

} // namespace gpuc::cli

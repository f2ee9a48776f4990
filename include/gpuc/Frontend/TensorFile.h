// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Serialised ONNX TensorProto files (.pb), the form in which ONNX ships test inputs and outputs.
#pragma once
#include "gpuc/Support/HostTensor.h"
#include "gpuc/Support/Status.h"
#include <string>

namespace gpuc::frontend {

/// Reads one TensorProto. Errors: NotFound, IoError, DataLoss (not a tensor), Unsupported (strings,
/// sequences).
Result<HostTensor> readTensorFile(const std::string &path);

} // namespace gpuc::frontend

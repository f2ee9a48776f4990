// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NumPy's .npy format (versions 1 to 3,
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html). bfloat16 and the 8-bit floats have
// no descr of NumPy's own: they are written as ml_dtypes does, a void type of the same size ('<V2', '|V1'),
// and read as such only when the caller expects the type. Sub-byte types are refused.
#pragma once
#include "gpuc/Support/HostTensor.h"
#include "gpuc/Support/Status.h"
#include <optional>
#include <string>

namespace gpuc {

/// Reads an array; Fortran order and big-endian data are converted. `expected` says what a void type means.
/// Errors: NotFound, IoError, DataLoss (truncated or malformed), Unsupported (strings, objects, records,
/// complex).
Result<HostTensor> readNpy(const std::string &path, std::optional<DType> expected = std::nullopt);
Result<HostTensor> parseNpy(const void *data, size_t size, std::optional<DType> expected = std::nullopt);

/// The header of a .npy file with this tensor's bytes, and both together. Errors: Unsupported (sub-byte
/// types).
Result<std::string> npyHeader(DType dtype, const Shape &shape);
Status writeNpy(const std::string &path, const HostTensor &tensor);

} // namespace gpuc

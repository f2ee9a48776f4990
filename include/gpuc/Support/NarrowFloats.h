// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversion of whole weights to 16 bits, on all cores: gigabytes are converted when a model is compiled.
#pragma once
#include "gpuc/Support/DType.h"
#include <cstddef>
#include <cstdint>

namespace gpuc {

/// Element by element what floatToHalf or floatToBFloat give. With `saturate` finite numbers beyond the range
/// of f16 become its largest; infinities stay. `type` is F16 or BF16. `threads` 0 = one per core, at most 8.
void narrowFloats(DType type, const float *from, uint16_t *to, size_t count, bool saturate,
                  unsigned threads = 0);

} // namespace gpuc

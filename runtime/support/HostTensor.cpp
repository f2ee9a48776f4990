// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Printing of shapes.
#include "gpuc/Support/HostTensor.h"

namespace gpuc {

std::string toString(const Shape &shape) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (int64_t d : shape) {
    if (!text.empty())
      text += 'x';
    text += std::to_string(d);
  }
  return text;
}

} // namespace gpuc

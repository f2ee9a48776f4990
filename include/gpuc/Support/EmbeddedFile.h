// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A text file that the build put into the program (tools/cmake/embed.py).
#pragma once
#include <cstddef>

namespace gpuc {

struct EmbeddedFile {
  const char *path; ///< relative to the embedding root, '/' separated
  const char *data; ///< NUL-terminated text, static storage
  size_t size;      ///< bytes, without the NUL
};

} // namespace gpuc

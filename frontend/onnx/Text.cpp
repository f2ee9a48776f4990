// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Escaping of model text for messages.
#include "Text.h"
#include "llvm/ADT/StringExtras.h"

namespace gpuc::frontend {

std::string escaped(llvm::StringRef text) {
  constexpr size_t kLongest = 120;
  std::string result;
  for (unsigned char c : text.take_front(kLongest)) {
    if (c < 0x20 || c == 0x7f || c == '\'' || c == '\\') {
      result += "\\x";
      result += llvm::hexdigit(c >> 4, true);
      result += llvm::hexdigit(c & 15, true);
    } else {
      result += char(c);
    }
  }
  if (text.size() > kLongest)
    result += "…";
  return result;
}

std::string quoted(llvm::StringRef text) { return "'" + escaped(text) + "'"; }

} // namespace gpuc::frontend

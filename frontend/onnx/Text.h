// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names and text of a model inside messages: they are data, so control characters are escaped and length is
// bounded.
#pragma once
#include "llvm/ADT/StringRef.h"
#include <string>

namespace gpuc::frontend {

/// `text` with control characters, quotes and backslashes escaped, cut after 120 bytes.
std::string escaped(llvm::StringRef text);
/// 'text', escaped.
std::string quoted(llvm::StringRef text);
/// "" for the default domain, also when written "ai.onnx".
inline llvm::StringRef canonicalDomain(llvm::StringRef domain) { return domain == "ai.onnx" ? "" : domain; }

} // namespace gpuc::frontend

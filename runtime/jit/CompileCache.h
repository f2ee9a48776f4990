// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiled units on disk, one file per key. Files are written by atomic rename and carry their own hash, so
// that several processes can share a folder and a damaged entry is only a miss.
#pragma once
#include "gpuc/Runtime/Nvrtc.h"
#include <optional>
#include <string>

namespace gpuc {

class CompileCache {
public:
  /// Empty `dir`: nothing is ever found or stored.
  explicit CompileCache(std::string dir) : dir(std::move(dir)) {}
  /// Hash over everything that decides the code.
  static std::string key(const UnitSource &unit, const std::vector<SourceFile> &headers,
                         const std::vector<std::string> &flags, const std::string &arch,
                         std::pair<int, int> version);
  std::optional<CompiledUnit> find(const std::string &key) const;
  /// Failing to store is no error: the next compilation is just not faster.
  void store(const std::string &key, const CompiledUnit &unit) const;

private:
  std::string dir;
};

} // namespace gpuc

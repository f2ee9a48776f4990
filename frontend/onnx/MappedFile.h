// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regular files mapped read-only, and the rule which files a model may name as its external data.
#pragma once
#include "gpuc/Support/Status.h"
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gpuc::frontend {

/// A whole regular file in memory, read-only, unmapped with the last owner.
class MappedFile {
public:
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;
  /// Opens once without blocking (a FIFO is refused, not waited for) and looks at what was opened. When
  /// `folders` is given, the opened file must lie below one of them.
  static Result<std::shared_ptr<const MappedFile>> open(const std::string &path,
                                                        const std::vector<std::string> *folders = nullptr);
  const uint8_t *data() const { return bytes; }
  size_t size() const { return count; }

private:
  MappedFile(const uint8_t *data, size_t size) : bytes(data), count(size) {}
  const uint8_t *bytes;
  size_t count;
};

/// The folders that external data of the model at `modelPath` may lie in: the one it is opened from
/// (locations are relative to it) and, when the model is a link, the one that the link leads to, so that
/// caches which keep models and data as links into one store work. Links are resolved.
std::vector<std::string> dataFolders(const std::string &modelPath);

/// A folder with links resolved; nothing when there is none.
std::vector<std::string> resolvedFolder(const std::string &folder);

/// External data files of one model, each mapped once.
class ExternalFiles {
public:
  explicit ExternalFiles(std::vector<std::string> folders) : allowed(std::move(folders)) {}
  /// `location` as written in the model: relative, without '..', and inside the folders after resolving
  /// links.
  Result<std::shared_ptr<const MappedFile>> get(const std::string &location);

private:
  std::vector<std::string> allowed;
  std::map<std::string, std::shared_ptr<const MappedFile>> opened;
};

} // namespace gpuc::frontend

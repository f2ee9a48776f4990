// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files: read by mapping, written through a temporary file and a rename, so that no reader ever sees half of
// one.
#pragma once
#include "gpuc/Support/SharedBytes.h"
#include "gpuc/Support/Status.h"
#include <string>
#include <string_view>
#include <vector>

namespace gpuc {

/// Maps a regular file read-only; the mapping lives as long as the bytes' owner. The file must not be
/// truncated meanwhile. Refuses folders, pipes and devices. Errors: NotFound, IoError.
Result<SharedBytes> mapFile(const std::string &path);
/// Reads a regular file into memory. Errors: NotFound, IoError; InvalidArgument when larger than `limit`
/// bytes.
Result<std::string> readFile(const std::string &path, uint64_t limit = uint64_t(1) << 32);

/// Writes the concatenation of `pieces` to `path`: a temporary file in the same folder, fsync, rename. A
/// failure leaves nothing behind and any older file untouched. Errors: IoError, saying what was tried.
Status writeFileAtomically(const std::string &path, const std::vector<std::string_view> &pieces);
inline Status writeFileAtomically(const std::string &path, std::string_view text) {
  return writeFileAtomically(path, std::vector<std::string_view>{text});
}

/// Creates a folder and its parents. Errors: IoError.
Status createDirectories(const std::string &path);
bool fileExists(const std::string &path);

/// `text` as one file name: characters other than letters, digits, '.', '_', '-' become '_', a leading '.'
/// too; never empty, at most 200 bytes.
std::string safeFileName(std::string_view text);
/// "dir/name", without a doubled '/'.
std::string joinPath(std::string_view dir, std::string_view name);
/// Folder for gpuc's caches: $GPUC_CACHE_DIR, else $XDG_CACHE_HOME/gpuc, else $HOME/.cache/gpuc, else a
/// folder of the user below /tmp. It need not exist yet.
std::string cacheDirectory();

} // namespace gpuc

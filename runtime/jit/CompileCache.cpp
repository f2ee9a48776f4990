// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// File format: "GPUCOBJ1", SHA-256 of the rest, then three times a length (u64) and that many bytes: cubin,
// log, PTX.
#include "CompileCache.h"
#include "gpuc/Support/File.h"
#include "gpuc/Support/Hash.h"
#include <cstring>

namespace gpuc {

static constexpr std::string_view kMagic = "GPUCOBJ1";
static constexpr size_t kPrefix = 8 + 32;

std::string CompileCache::key(const UnitSource &unit, const std::vector<SourceFile> &headers,
                              const std::vector<std::string> &flags, const std::string &arch,
                              std::pair<int, int> version) {
  Sha256 hash;
  hash.updateSized("nvrtc " + std::to_string(version.first) + "." + std::to_string(version.second));
  hash.updateSized(arch);
  hash.updateSized(unit.text);
  hash.updateSized(std::to_string(flags.size()));
  for (const std::string &f : flags)
    hash.updateSized(f);
  for (const SourceFile &h : headers) {
    hash.updateSized(h.path);
    hash.updateSized(h.text);
  }
  return toHex(hash.finish());
}

static std::string lengthOf(size_t size) {
  uint64_t n = size;
  return std::string(reinterpret_cast<const char *>(&n), 8);
}

std::optional<CompiledUnit> CompileCache::find(const std::string &key) const {
  if (dir.empty())
    return std::nullopt;
  auto file = readFile(joinPath(dir, key + ".obj"));
  if (!file || file->size() < kPrefix || std::string_view(*file).substr(0, 8) != kMagic)
    return std::nullopt;
  std::string_view body = std::string_view(*file).substr(kPrefix);
  Sha256Digest digest = sha256(body);
  if (std::memcmp(digest.data(), file->data() + 8, digest.size()) != 0)
    return std::nullopt;
  std::string_view parts[3];
  for (std::string_view &part : parts) {
    uint64_t length;
    if (body.size() < 8)
      return std::nullopt;
    std::memcpy(&length, body.data(), 8);
    body.remove_prefix(8);
    if (length > body.size())
      return std::nullopt;
    part = body.substr(0, length);
    body.remove_prefix(length);
  }
  CompiledUnit unit;
  unit.cubin.assign(parts[0].begin(), parts[0].end());
  unit.log = parts[1];
  unit.ptx = parts[2];
  unit.kernels = parsePtxasLog(unit.log);
  unit.fromCache = true;
  return unit;
}

void CompileCache::store(const std::string &key, const CompiledUnit &unit) const {
  if (dir.empty() || !createDirectories(dir).ok())
    return;
  std::string body = lengthOf(unit.cubin.size()) + std::string(unit.cubin.begin(), unit.cubin.end()) +
                     lengthOf(unit.log.size()) + unit.log + lengthOf(unit.ptx.size()) + unit.ptx;
  Sha256Digest digest = sha256(body);
  std::string_view hash(reinterpret_cast<const char *>(digest.data()), digest.size());
  (void)writeFileAtomically(joinPath(dir, key + ".obj"), std::vector<std::string_view>{kMagic, hash, body});
}

} // namespace gpuc

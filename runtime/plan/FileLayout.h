// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The parts of a plan file around the manifest; numbers are little-endian. See docs/plan-format.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gpuc::planfile {

constexpr std::string_view kMagic = "GPUCPLAN";
constexpr uint64_t kHeaderBytes = 128;
constexpr uint64_t kSectionAlignment = 4096;
constexpr uint64_t kCubinAlignment = 16;
constexpr uint64_t kMaxManifestBytes = uint64_t(1) << 30;

enum SectionKind : unsigned { Constants = 0, Cubins = 1, Texts = 2, kNumSections = 3 };

/// First bytes of the file. `hash` is the SHA-256 of the bytes before it followed by the manifest, whose
/// section table holds the hashes of the rest. `reserved` is zero.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t headerBytes;
  uint64_t manifestOffset;
  uint64_t manifestBytes;
  uint64_t fileBytes;
  uint8_t hash[32];
  uint8_t reserved[56];
};
static_assert(sizeof(Header) == kHeaderBytes, "the header has no padding");
static_assert(offsetof(Header, hash) == 40, "the hash covers the first 40 bytes");

constexpr uint64_t alignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

} // namespace gpuc::planfile

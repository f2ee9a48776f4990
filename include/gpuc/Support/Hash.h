// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SHA-256 (FIPS 180-4): content hashes of plans and keys of caches. Uses the processor's SHA instructions
// when it has them, since plans hold gigabytes.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpuc {

using Sha256Digest = std::array<uint8_t, 32>;

/// Hash of a sequence of pieces; equal to the hash of their concatenation.
class Sha256 {
public:
  Sha256();
  void update(const void *data, size_t size);
  void update(std::string_view text) { update(text.data(), text.size()); }
  /// Adds the length before the text, so that ("ab", "c") and ("a", "bc") differ.
  void updateSized(std::string_view text);
  /// The hash of everything so far; the object must not be used afterwards.
  Sha256Digest finish();

private:
  void blocks(const uint8_t *data, size_t count);
  std::array<uint32_t, 8> state;
  std::array<uint8_t, 64> pending;
  size_t pendingSize = 0;
  uint64_t total = 0;
};

Sha256Digest sha256(const void *data, size_t size);
inline Sha256Digest sha256(std::string_view text) { return sha256(text.data(), text.size()); }
/// 64 lower-case hexadecimal digits.
std::string toHex(const Sha256Digest &digest);

} // namespace gpuc

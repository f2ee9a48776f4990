// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Read-only bytes that keep their owner alive (a heap buffer, a mapped file, part of another one), so that
// large weights travel from a model file to a plan and to a device without being copied.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpuc {

class SharedBytes {
public:
  SharedBytes() = default;
  /// `owner` keeps `data` valid; a null owner means that the caller does (static data).
  SharedBytes(const void *data, size_t size, std::shared_ptr<const void> owner)
      : first(static_cast<const uint8_t *>(data)), count(size), keeper(std::move(owner)) {}
  explicit SharedBytes(std::vector<uint8_t> bytes) {
    auto held = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
    first = held->data();
    count = held->size();
    keeper = std::move(held);
  }
  static SharedBytes copyOf(const void *data, size_t size) {
    auto p = static_cast<const uint8_t *>(data);
    return SharedBytes(std::vector<uint8_t>(p, p + size));
  }
  static SharedBytes copyOf(const std::string &text) { return copyOf(text.data(), text.size()); }

  const uint8_t *data() const { return first; }
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  const std::shared_ptr<const void> &owner() const { return keeper; }
  /// Part of these bytes with the same owner; the range must lie inside.
  SharedBytes slice(size_t offset, size_t size) const { return SharedBytes(first + offset, size, keeper); }
  bool equals(const SharedBytes &other) const {
    return count == other.count && (count == 0 || __builtin_memcmp(first, other.first, count) == 0);
  }

private:
  const uint8_t *first = nullptr;
  size_t count = 0;
  std::shared_ptr<const void> keeper;
};

} // namespace gpuc

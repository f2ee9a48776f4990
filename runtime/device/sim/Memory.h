// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory of the simulator: each allocation ends at a guard page, so that an overrun faults.
#pragma once
#include "gpuc/Support/Status.h"
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace gpuc::sim {

/// Bytes [begin, end) that a kernel may access.
struct Region {
  uintptr_t begin, end;
};
/// Disjoint, by address.
using Regions = std::vector<Region>;

class Memory {
public:
  explicit Memory(bool poison) : poison(poison) {}
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  /// Memory that ends at most 15 bytes before a guard page and is filled with 0xff (a NaN of every float
  /// type).
  Result<uintptr_t> allocate(size_t bytes);
  void deallocate(uintptr_t address);
  /// Declares part of an allocation to be a buffer of its own; then only annotated parts of it may be
  /// accessed. 0 bytes withdraws all annotations of the allocation that holds `address`.
  Status annotate(uintptr_t address, size_t bytes);
  /// True when [address, address + bytes) lies in one allocation.
  bool contains(uintptr_t address, size_t bytes);
  /// "8 bytes past the end of a buffer of 400 bytes", or an address far from any buffer.
  std::string describe(uintptr_t address);
  /// What kernels may access now.
  std::shared_ptr<const Regions> regions();

private:
  struct Allocation {
    size_t bytes;
    void *mapping;
    size_t mappedBytes;
    std::map<uintptr_t, uintptr_t> parts; ///< begin to end
  };
  using Table = std::map<uintptr_t, Allocation>;
  Table::iterator find(uintptr_t address);

  bool poison;
  std::mutex mutex;
  Table table;
  std::shared_ptr<const Regions> current; ///< null when the table has changed
};

} // namespace gpuc::sim

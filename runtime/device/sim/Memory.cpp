// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Memory.h"
#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>

namespace gpuc::sim {

static constexpr size_t kAlignment = 16;

static size_t pageSize() {
  static const size_t size = size_t(sysconf(_SC_PAGESIZE));
  return size;
}

Memory::~Memory() {
  for (auto &[address, allocation] : table)
    munmap(allocation.mapping, allocation.mappedBytes);
}

Result<uintptr_t> Memory::allocate(size_t bytes) {
  const size_t page = pageSize();
  if (bytes > (size_t(1) << 46))
    return Status(StatusCode::OutOfMemory,
                  "cannot allocate " + std::to_string(bytes) + " bytes of simulated memory");
  size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  size_t body = (rounded + page - 1) / page * page;
  size_t guard = std::max<size_t>(page, 64 << 10); // on both sides; costs address space only
  size_t total = body + 2 * guard;
  void *mapping = mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return Status(StatusCode::OutOfMemory,
                  "cannot allocate " + std::to_string(bytes) + " bytes of simulated memory");
  char *base = static_cast<char *>(mapping) + guard;
  if (mprotect(base, body, PROT_READ | PROT_WRITE) != 0) {
    munmap(mapping, total);
    return Status(StatusCode::OutOfMemory,
                  "cannot allocate " + std::to_string(bytes) + " bytes of simulated memory");
  }
  if (poison)
    memset(base, 0xff, body);
  uintptr_t address = reinterpret_cast<uintptr_t>(base) + body - rounded;
  std::lock_guard<std::mutex> lock(mutex);
  table[address] = Allocation{bytes, mapping, total, {}};
  current = nullptr;
  return address;
}

void Memory::deallocate(uintptr_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = table.find(address);
  if (it == table.end())
    return;
  munmap(it->second.mapping, it->second.mappedBytes);
  table.erase(it);
  current = nullptr;
}

Memory::Table::iterator Memory::find(uintptr_t address) {
  auto it = table.upper_bound(address);
  if (it == table.begin())
    return table.end();
  --it;
  return address < it->first + std::max<size_t>(it->second.bytes, 1) ? it : table.end();
}

Status Memory::annotate(uintptr_t address, size_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = find(address);
  if (it == table.end() || bytes > it->first + it->second.bytes - address)
    return invalidArgument("annotate: " + std::to_string(bytes) + " bytes do not lie in one allocation");
  if (bytes == 0)
    it->second.parts.clear();
  else
    it->second.parts[address] = address + bytes;
  current = nullptr;
  return Status();
}

bool Memory::contains(uintptr_t address, size_t bytes) {
  if (bytes == 0)
    return true;
  std::lock_guard<std::mutex> lock(mutex);
  auto it = find(address);
  return it != table.end() && bytes <= it->first + it->second.bytes - address;
}

std::string Memory::describe(uintptr_t address) {
  std::lock_guard<std::mutex> lock(mutex);
  uintptr_t best = UINTPTR_MAX;
  std::string text = "far from every buffer";
  auto consider = [&](uintptr_t begin, uintptr_t end) {
    const std::string buffer = "a buffer of " + std::to_string(end - begin) + " bytes";
    if (address >= end && address - end < best) {
      best = address - end;
      text = std::to_string(best) + " bytes past the end of " + buffer;
    } else if (address < begin && begin - address < best) {
      best = begin - address;
      text = std::to_string(best) + " bytes before " + buffer;
    } else if (address >= begin && address < end) {
      best = 0;
      text = "at byte " + std::to_string(address - begin) + " of " + buffer;
    }
  };
  for (auto &[begin, allocation] : table) {
    if (allocation.parts.empty())
      consider(begin, begin + allocation.bytes);
    for (auto &[partBegin, partEnd] : allocation.parts)
      consider(partBegin, partEnd);
  }
  return best < (uintptr_t(1) << 32) ? text : "far from every buffer";
}

std::shared_ptr<const Regions> Memory::regions() {
  std::lock_guard<std::mutex> lock(mutex);
  if (current)
    return current;
  auto list = std::make_shared<Regions>();
  for (auto &[begin, allocation] : table) {
    if (allocation.parts.empty())
      list->push_back({begin, begin + allocation.bytes});
    for (auto &[partBegin, partEnd] : allocation.parts)
      list->push_back({partBegin, partEnd});
  }
  current = list;
  return current;
}

} // namespace gpuc::sim

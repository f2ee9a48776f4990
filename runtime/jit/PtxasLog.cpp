// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the lines that ptxas writes for -v:
//   ptxas info    : Compiling entry function 'name' for 'sm_90a'
//       0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
//   ptxas info    : Used 32 registers, used 1 barriers, 4096 bytes smem
#include "gpuc/Runtime/Nvrtc.h"
#include <algorithm>
#include <cctype>
#include <string_view>

namespace gpuc {

/// The number that stands before `unit` in a line, or -1.
static int numberBefore(std::string_view line, std::string_view unit) {
  size_t at = line.find(unit);
  if (at == std::string_view::npos)
    return -1;
  size_t end = at;
  while (end > 0 && line[end - 1] == ' ')
    --end;
  size_t begin = end;
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(line[begin - 1])))
    --begin;
  if (begin == end || end - begin > 9)
    return -1;
  return std::stoi(std::string(line.substr(begin, end - begin)));
}

std::vector<KernelResources> parsePtxasLog(const std::string &log) {
  static constexpr std::string_view kEntry = "Compiling entry function '";
  std::vector<KernelResources> kernels;
  std::string_view rest = log;
  bool own =
      false; // device functions have "Function properties" lines too, before or after; only the entry's count
  std::string_view properties;
  while (!rest.empty()) {
    size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    size_t at = line.find(kEntry);
    if (at != std::string_view::npos) {
      std::string_view name = line.substr(at + kEntry.size());
      kernels.emplace_back();
      kernels.back().entry = std::string(name.substr(0, name.find('\'')));
      own = true;
      continue;
    }
    if (kernels.empty())
      continue;
    KernelResources &k = kernels.back();
    static constexpr std::string_view kProperties = "Function properties for ";
    at = line.find(kProperties);
    if (at != std::string_view::npos) {
      properties = line.substr(at + kProperties.size());
      own = properties.substr(0, k.entry.size()) == k.entry;
      continue;
    }
    if (int n = numberBefore(line, "bytes stack frame"); n >= 0 && own) {
      k.stackBytes = n;
      k.spillStoreBytes = std::max(0, numberBefore(line, "bytes spill stores"));
      k.spillLoadBytes = std::max(0, numberBefore(line, "bytes spill loads"));
    }
    if (int n = numberBefore(line, "registers"); n >= 0) {
      k.registers = n;
      k.sharedBytes = std::max(0, numberBefore(line, "bytes smem"));
    }
  }
  return kernels;
}

} // namespace gpuc

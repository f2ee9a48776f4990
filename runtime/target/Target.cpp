// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The table of products. Sources: NVIDIA's architecture whitepapers (Ampere GA100 and GA102, Ada, Hopper,
// Blackwell RTX) and the CUDA programming guide's table of compute capabilities; peaks are dense, tensor
// cores with fp32 accumulation (half of the rate with fp16 accumulation on GeForce: `half`).
#include "gpuc/Target/Target.h"

namespace gpuc {

static constexpr int64_t kMiB = int64_t(1) << 20, kGiB = int64_t(1) << 30;
static constexpr int kKiB = 1 << 10;

const std::vector<Target> &allTargets() {
  // clang-format off
  static const std::vector<Target> kTargets = {
      // product    arch      cc     SMs  shared/block  shared/SM    L2         GB/s  fp32   fp16   memory     clusters tma wgmma pdl half
      {"a100",    "sm_80",   8, 0,  108, 163 * kKiB, 164 * kKiB, 40 * kMiB,  2039,  19.5, 312,   80 * kGiB, false, false, false, false, false},
      {"rtx3080", "sm_86",   8, 6,   68,  99 * kKiB, 100 * kKiB,  5 * kMiB,   760,  29.8, 59.5,  10 * kGiB, false, false, false, false, true},
      {"rtx3090", "sm_86",   8, 6,   82,  99 * kKiB, 100 * kKiB,  6 * kMiB,   936,  35.6, 71,    24 * kGiB, false, false, false, false, true},
      {"rtx4090", "sm_89",   8, 9,  128,  99 * kKiB, 100 * kKiB, 72 * kMiB,  1008,  82.6, 165,   24 * kGiB, false, false, false, false, true},
      {"l40s",    "sm_89",   8, 9,  142,  99 * kKiB, 100 * kKiB, 96 * kMiB,   864,  91.6, 362,   48 * kGiB, false, false, false, false, false},
      {"h100",    "sm_90a",  9, 0,  132, 227 * kKiB, 228 * kKiB, 50 * kMiB,  3350,  66.9, 989,   80 * kGiB, true,  true,  true,  true, false},
      {"h200",    "sm_90a",  9, 0,  132, 227 * kKiB, 228 * kKiB, 50 * kMiB,  4800,  66.9, 989,  141 * kGiB, true,  true,  true,  true, false},
      {"rtx5090", "sm_120a", 12, 0, 170,  99 * kKiB, 100 * kKiB, 96 * kMiB,  1792, 104.8, 209,   32 * kGiB, false, true,  false, true, true},
  };
  // clang-format on
  return kTargets;
}

/// The product that stands for an architecture: the first of the table, except that the H200 stands for
/// sm_90a.
static const Target *representative(std::string_view arch) {
  const Target *found = nullptr;
  for (const Target &t : allTargets())
    if (t.arch == arch && (!found || t.product == "h200"))
      found = &t;
  return found;
}

const Target *findArch(std::string_view arch) { return representative(arch); }

std::vector<const Target *> defaultTargets() {
  std::vector<const Target *> result;
  for (const Target &t : allTargets())
    if (result.empty() || result.back()->arch != t.arch)
      result.push_back(representative(t.arch));
  return result;
}

static std::string knownWords() {
  std::string text;
  for (const Target &t : allTargets())
    text += std::string(t.product) + ", ";
  for (const Target *t : defaultTargets())
    text += std::string(t->arch) + ", ";
  return text + "all";
}

/// "H200", "RTX 4090", "rtx-4090" -> "h200", "rtx4090".
static std::string normalised(std::string_view word) {
  std::string out;
  for (char c : word)
    if (c != ' ' && c != '-' && c != '\t')
      out += c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c;
  return out;
}

Result<std::vector<const Target *>> parseTargets(std::string_view list) {
  std::vector<const Target *> chosen; // by architecture; the product named last stands for it
  auto add = [&](const Target *target) {
    for (const Target *&c : chosen)
      if (c->arch == target->arch) {
        c = target;
        return;
      }
    chosen.push_back(target);
  };
  size_t begin = 0;
  while (begin <= list.size()) {
    size_t end = list.find(',', begin);
    if (end == std::string_view::npos)
      end = list.size();
    std::string_view raw = list.substr(begin, end - begin);
    std::string word = normalised(raw);
    begin = end + 1;
    if (word.empty())
      return invalidArgument("empty word in the list of targets '" + std::string(list) +
                             "'; known are: " + knownWords());
    if (word == "all") {
      for (const Target *t : defaultTargets())
        add(t);
      continue;
    }
    if (word == "native")
      return invalidArgument("target 'native' needs a GPU in this machine; name the target instead: " +
                             knownWords());
    const Target *found = nullptr;
    for (const Target &t : allTargets())
      if (t.product == word)
        found = &t;
    if (!found)
      found = representative(word);
    if (!found) // "sm_90" means the code gpuc has for it, "sm_90a"
      found = representative(word + "a");
    if (!found)
      return invalidArgument("unknown target '" + std::string(raw) + "'; known are: " + knownWords());
    add(found);
  }
  std::vector<const Target *> ordered;
  for (const Target *t : defaultTargets())
    for (const Target *c : chosen)
      if (c->arch == t->arch)
        ordered.push_back(c);
  return ordered;
}

} // namespace gpuc

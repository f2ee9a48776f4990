// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Look-ups in a plan.
#include "gpuc/Plan/Plan.h"
#include "FileLayout.h"
#include <algorithm>

namespace gpuc {

/// 90 for "sm_90a", with whether the name has a suffix; 0 when it is no such name.
static std::pair<int, bool> archNumber(std::string_view arch) {
  if (arch.substr(0, 3) != "sm_")
    return {0, false};
  int number = 0;
  size_t at = 3;
  for (; at < arch.size() && at < 8 && arch[at] >= '0' && arch[at] <= '9'; ++at)
    number = number * 10 + (arch[at] - '0');
  return {number, at < arch.size()};
}

StepCost costOf(const PlanStep &step) {
  if (auto *launch = std::get_if<LaunchStep>(&step))
    return launch->cost;
  if (auto *matmul = std::get_if<MatmulStep>(&step))
    return matmul->cost;
  if (auto *copy = std::get_if<CopyStep>(&step))
    return {0, 2 * copy->bytes};
  return {0, std::get<FillStep>(step).bytes};
}

const PlanProgram *Plan::programFor(std::string_view arch) const {
  for (const PlanProgram &p : programs)
    if (std::find(p.archs.begin(), p.archs.end(), arch) != p.archs.end())
      return &p;
  const PlanProgram *best = nullptr;
  int bestNumber = 0, wanted = archNumber(arch).first;
  for (const PlanProgram &p : programs)
    for (const std::string &name : p.archs) {
      auto [number, suffixed] = archNumber(name);
      if (!suffixed && number > bestNumber && number <= wanted) {
        best = &p;
        bestNumber = number;
      }
    }
  return best;
}

const PlanCubin *Plan::findCubin(uint32_t unit, std::string_view arch) const {
  for (const PlanCubin &c : cubins)
    if (c.unit == unit && c.arch == arch)
      return &c;
  return nullptr;
}

uint64_t Plan::constantBytes() const {
  uint64_t total = 0;
  for (const PlanConstant &c : constants)
    total = planfile::alignUp(total, kPlanAlignment) + c.data.size();
  return planfile::alignUp(total, kPlanAlignment);
}

bool looksLikePlan(const void *data, size_t size) {
  return size >= planfile::kMagic.size() &&
         std::memcmp(data, planfile::kMagic.data(), planfile::kMagic.size()) == 0;
}

uint32_t PlanUnitTable::add(std::string name, std::string text) {
  auto [at, fresh] = byText.emplace(text, uint32_t(plan.units.size()));
  if (fresh)
    plan.units.push_back({std::move(name), std::move(text)});
  return at->second;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lookup of ONNX operators by domain, name and opset.
#include "gpuc/Frontend/OpRegistry.h"
#include <cassert>

namespace gpuc::frontend {

void OpRegistry::add(llvm::StringRef domain, llvm::StringRef op, std::initializer_list<int> sinceVersions,
                     OpHandler handler, std::vector<unsigned> constantInputs, llvm::StringRef restriction) {
  auto &versions = table[{domain.str(), op.str()}];
  for (int since : sinceVersions) {
    bool isNew = versions
                     .emplace(since, OpEntry{domain.str(), op.str(), since, handler, constantInputs,
                                             restriction.str()})
                     .second;
    assert(isNew && "an operator version is registered twice");
    (void)isNew;
  }
}

const OpEntry *OpRegistry::find(llvm::StringRef domain, llvm::StringRef op, int opset) const {
  auto known = table.find({domain.str(), op.str()});
  if (known == table.end())
    return nullptr;
  auto after = known->second.upper_bound(opset);
  return after == known->second.begin() ? nullptr : &std::prev(after)->second;
}

bool OpRegistry::knows(llvm::StringRef domain, llvm::StringRef op) const {
  return table.count({domain.str(), op.str()}) != 0;
}

std::vector<const OpEntry *> OpRegistry::entries() const {
  std::vector<const OpEntry *> result;
  for (const auto &[key, versions] : table)
    for (const auto &[since, entry] : versions)
      result.push_back(&entry);
  return result;
}

} // namespace gpuc::frontend

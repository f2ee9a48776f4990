// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The list of kernel families, and the headers their units include.
#include "Families.h"
#include "gpuc/Support/EmbeddedFile.h"

namespace gpuc {

extern const EmbeddedFile kernelFiles[];
extern const unsigned kernelFilesCount;

std::vector<const KernelFamily *> allFamilies() {
  // GPUC_FAMILY_LIST: the folders that are part of this build, set by CMake.
#define GPUC_FAMILY(name) &name##Family(),
  return {GPUC_FAMILY_LIST};
#undef GPUC_FAMILY
}

const KernelFamily *findFamily(llvm::StringRef name) {
  for (const KernelFamily *family : allFamilies())
    if (family->name() == name)
      return family;
  return nullptr;
}

std::vector<SourceFile> kernelHeaders() {
  std::vector<SourceFile> headers;
  for (unsigned i = 0; i < kernelFilesCount; ++i)
    headers.push_back({kernelFiles[i].path, std::string(kernelFiles[i].data, kernelFiles[i].size)});
  return headers;
}

} // namespace gpuc

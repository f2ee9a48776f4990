// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Libraries of CUDA, opened while running: a program that contains gpuc starts without them, and says what is
// missing when it needs one. Libraries stay loaded until the process ends.
#pragma once
#include "gpuc/Support/Status.h"
#include <string>
#include <vector>

namespace gpuc {

class DynamicLibrary {
public:
  /// Opens the first of `fileNames` ("libnvrtc.so.13", …) that works, in each of `dirs`, then by the loader's
  /// own search path (LD_LIBRARY_PATH, ldconfig), then in `lastDirs`. `what` names it in the error, `remedy`
  /// says how to get it. Errors: NotFound.
  static Result<DynamicLibrary> open(const std::vector<std::string> &fileNames,
                                     const std::vector<std::string> &dirs,
                                     const std::vector<std::string> &lastDirs, const std::string &what,
                                     const std::string &remedy);
  /// Address of a function, or null.
  void *symbol(const char *name) const;
  /// Sets `function` to the address of `name`; false when the library lacks it.
  template <typename F> bool load(F *&function, const char *name) const {
    function = reinterpret_cast<F *>(symbol(name));
    return function != nullptr;
  }
  const std::string &path() const { return file; }

private:
  void *handle = nullptr;
  std::string file;
};

/// Where CUDA libraries usually are: the toolkit's folders and the nvidia-* wheels of system-wide Pythons,
/// those that exist.
std::vector<std::string> usualCudaLibraryDirs();

} // namespace gpuc

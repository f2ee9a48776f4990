// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// dlopen with a readable account of what was tried.
#include "gpuc/Runtime/DynamicLibrary.h"
#include "gpuc/Support/File.h"
#include <dlfcn.h>
#include <glob.h>

namespace gpuc {

Result<DynamicLibrary> DynamicLibrary::open(const std::vector<std::string> &fileNames,
                                            const std::vector<std::string> &dirs,
                                            const std::vector<std::string> &lastDirs, const std::string &what,
                                            const std::string &remedy) {
  std::string failures;
  auto attempt = [&](const std::string &path) -> void * {
    if (path.find('/') != std::string::npos && !fileExists(path))
      return nullptr;
    void *handle = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    // A library that is there but does not load deserves its reason; one that is not there does not.
    if (!handle && path.find('/') != std::string::npos)
      if (const char *error = ::dlerror())
        failures += std::string("; ") + error;
    return handle;
  };
  auto search = [&](const std::vector<std::string> &folders) -> DynamicLibrary {
    DynamicLibrary library;
    for (const std::string &dir : folders)
      for (const std::string &name : fileNames) {
        std::string path = dir.empty() ? name : joinPath(dir, name);
        if (void *handle = attempt(path)) {
          library.handle = handle;
          library.file = path;
          return library;
        }
      }
    return library;
  };
  for (const std::vector<std::string> &folders : {dirs, std::vector<std::string>{""}, lastDirs}) {
    DynamicLibrary library = search(folders);
    if (library.handle)
      return library;
  }
  std::string looked;
  for (const std::string &dir : dirs)
    looked += "'" + dir + "', ";
  looked += "the loader's search path";
  for (const std::string &dir : lastDirs)
    looked += ", '" + dir + "'";
  return notFound(what + " was not found: no " + fileNames.front() + " in " + looked + failures + "; " +
                  remedy);
}

void *DynamicLibrary::symbol(const char *name) const { return handle ? ::dlsym(handle, name) : nullptr; }

std::vector<std::string> usualCudaLibraryDirs() {
  static constexpr const char *kPatterns[] = {
      "/usr/local/cuda/lib64",
      "/usr/local/cuda/targets/x86_64-linux/lib",
      "/usr/local/cuda-1[2-9].*/lib64",
      "/opt/cuda/lib64",
      "/usr/local/lib/python3*/*-packages/nvidia/cu13/lib",
      "/usr/local/lib/python3*/*-packages/nvidia/*/lib",
      "/usr/lib/python3*/*-packages/nvidia/*/lib",
  };
  std::vector<std::string> dirs;
  for (const char *pattern : kPatterns) {
    glob_t found;
    if (::glob(pattern, 0, nullptr, &found) == 0)
      for (size_t i = 0; i < found.gl_pathc; ++i)
        dirs.push_back(found.gl_pathv[i]);
    ::globfree(&found);
  }
  return dirs;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles units with the host's C++ compiler into kernel libraries, through a cache on disk.
#pragma once
#include "gpuc/Runtime/Device.h"
#include <string>
#include <vector>

namespace gpuc::sim {

/// The compiler as found by findCompiler.
struct Compiler {
  std::string path;
  std::string version; ///< first line of --version
  bool isClang = false;
};
/// Resolves a name ("" for the first of g++, clang++, c++) on PATH. Errors: NotFound, naming the package.
Result<Compiler> findCompiler(const std::string &name);

/// A kernel library in the cache and the entries to take from it.
struct CompiledLibrary {
  std::string path;
  std::vector<std::string> entries;
};

struct CompileOptions {
  Compiler compiler;
  std::string cacheDir;
  std::string arch; ///< "sm_80"
  bool full = false;
  unsigned jobs = 1;
};

/// Compiles the units that the cache does not hold, several to a library, `jobs` libraries at a time. Units
/// that open `namespace gpuc` themselves get a translation unit of their own, the others share one. Errors:
/// InvalidArgument with the compiler's messages; IoError.
Result<std::vector<CompiledLibrary>> compileUnits(const CompileOptions &options,
                                                  const std::vector<UnitSource> &units,
                                                  const std::vector<SourceFile> &headers);

/// "types.cuh:88 in unit.cu:40 …": source lines of an offset in a library, innermost inlined function first;
/// empty when addr2line is missing or knows nothing.
std::string describeSource(const std::string &library, uintptr_t offset);

} // namespace gpuc::sim

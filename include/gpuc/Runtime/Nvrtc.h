// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Compiles CUDA C++ units to cubins with NVRTC, found with dlopen. Needs no GPU and no driver: the compiler
// uses it for every target, the cuda device for units whose cubin is not in the plan. Thread-safe.
#pragma once
#include "gpuc/Runtime/Device.h"
#include "gpuc/Support/Status.h"
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace gpuc {

/// What ptxas said about one kernel.
struct KernelResources {
  std::string entry;
  int registers = 0;
  int spillStoreBytes = 0, spillLoadBytes = 0;
  int stackBytes = 0;
  int sharedBytes = 0; ///< static
};

struct CompiledUnit {
  std::vector<uint8_t> cubin;
  std::string ptx; ///< only when NvrtcOptions::keepPtx; empty otherwise
  std::string log; ///< warnings and ptxas lines
  std::vector<KernelResources> kernels;
  bool fromCache = false;
};

struct NvrtcOptions {
  std::vector<std::string> extraFlags; ///< after the standard ones
  bool keepPtx = false;
  /// Folder of the on-disk cache; empty = no cache.
  std::string cacheDir;
};

/// The loaded NVRTC library.
class Nvrtc {
public:
  virtual ~Nvrtc() = default;
  /// Opens libnvrtc from the first of: `libraryDirs`, the loader's search path (LD_LIBRARY_PATH, ldconfig),
  /// the CUDA toolkit's usual folders, nvidia-* wheels of system-wide Pythons. One instance is kept and
  /// shared. Errors: NotFound, listing where it looked and what to install.
  static Result<std::shared_ptr<Nvrtc>> open(const std::vector<std::string> &libraryDirs = {});

  virtual std::pair<int, int> version() const = 0; ///< {13, 0}
  virtual const std::string &libraryPath() const = 0;
  virtual std::vector<int> supportedArchs() const = 0; ///< {75, 80, …}

  /// Compiles one unit for `arch` ("sm_90a"); `#include "path"` finds `headers` by path only.
  /// Errors: InvalidArgument with the compiler's log (a unit that does not compile), Unsupported (arch).
  virtual Result<CompiledUnit> compileUnit(const UnitSource &unit, const std::vector<SourceFile> &headers,
                                           const std::string &arch, const NvrtcOptions &options = {}) = 0;

  /// Compiles jobs (unit, arch) on `threads` threads (0 = all of the machine). Results are in the order of
  /// `jobs`.
  struct Job {
    const UnitSource *unit = nullptr;
    std::string arch;
  };
  std::vector<Result<CompiledUnit>> compileUnits(const std::vector<Job> &jobs,
                                                 const std::vector<SourceFile> &headers,
                                                 const NvrtcOptions &options = {}, unsigned threads = 0);
};

/// Flags given to NVRTC for every unit, without -arch.
const std::vector<std::string> &standardNvrtcFlags();
/// Reads what `--ptxas-options=-v` prints.
std::vector<KernelResources> parsePtxasLog(const std::string &log);

} // namespace gpuc

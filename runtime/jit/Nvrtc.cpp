// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NVRTC through dlopen. Own declarations of the few functions used, after nvrtc.h of CUDA 12 and 13, so that
// no CUDA header is needed to build gpuc.
#include "gpuc/Runtime/Nvrtc.h"
#include "CompileCache.h"
#include "gpuc/Runtime/DynamicLibrary.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace gpuc {

namespace {
using nvrtcResult = int;
using nvrtcProgram = struct NvrtcProgramOpaque *;

struct Functions {
  nvrtcResult (*version)(int *major, int *minor);
  const char *(*errorString)(nvrtcResult);
  nvrtcResult (*createProgram)(nvrtcProgram *, const char *source, const char *name, int numHeaders,
                               const char *const *headers, const char *const *includeNames);
  nvrtcResult (*destroyProgram)(nvrtcProgram *);
  nvrtcResult (*compileProgram)(nvrtcProgram, int numOptions, const char *const *options);
  nvrtcResult (*logSize)(nvrtcProgram, size_t *);
  nvrtcResult (*log)(nvrtcProgram, char *);
  nvrtcResult (*cubinSize)(nvrtcProgram, size_t *);
  nvrtcResult (*cubin)(nvrtcProgram, char *);
  nvrtcResult (*ptxSize)(nvrtcProgram, size_t *);
  nvrtcResult (*ptx)(nvrtcProgram, char *);
  nvrtcResult (*numArchs)(int *);
  nvrtcResult (*archs)(int *);
};

class NvrtcLibrary : public Nvrtc {
public:
  static Result<std::shared_ptr<Nvrtc>> create(const std::vector<std::string> &dirs);
  std::pair<int, int> version() const override { return number; }
  const std::string &libraryPath() const override { return library.path(); }
  std::vector<int> supportedArchs() const override { return archs; }
  Result<CompiledUnit> compileUnit(const UnitSource &unit, const std::vector<SourceFile> &headers,
                                   const std::string &arch, const NvrtcOptions &options) override;

private:
  Result<CompiledUnit> compile(const UnitSource &unit, const std::vector<SourceFile> &headers,
                               const std::string &arch, const std::vector<std::string> &flags, bool keepPtx);
  DynamicLibrary library;
  Functions f = {};
  std::pair<int, int> number;
  std::vector<int> archs;
};
} // namespace

const std::vector<std::string> &standardNvrtcFlags() {
  static const std::vector<std::string> kFlags = {
      "-std=c++17",
      "-default-device",    // templates and functors need no __device__ on every function
      "--ptxas-options=-v", // registers and spills in the log
      "-diag-suppress=177", // a variable that was declared and never used: generated code has some
  };
  return kFlags;
}

Result<std::shared_ptr<Nvrtc>> NvrtcLibrary::create(const std::vector<std::string> &dirs) {
  auto nvrtc = std::make_shared<NvrtcLibrary>();
  auto library = DynamicLibrary::open({"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"}, dirs,
                                      usualCudaLibraryDirs(), "NVRTC, the CUDA C++ compiler",
                                      "install the CUDA toolkit 12 or 13, or 'pip install "
                                      "nvidia-cuda-nvrtc', and name its folder if it is not found");
  if (!library)
    return library.status();
  nvrtc->library = library.take();
  const DynamicLibrary &l = nvrtc->library;
  Functions &f = nvrtc->f;
  bool complete =
      l.load(f.version, "nvrtcVersion") && l.load(f.errorString, "nvrtcGetErrorString") &&
      l.load(f.createProgram, "nvrtcCreateProgram") && l.load(f.destroyProgram, "nvrtcDestroyProgram") &&
      l.load(f.compileProgram, "nvrtcCompileProgram") && l.load(f.logSize, "nvrtcGetProgramLogSize") &&
      l.load(f.log, "nvrtcGetProgramLog") && l.load(f.cubinSize, "nvrtcGetCUBINSize") &&
      l.load(f.cubin, "nvrtcGetCUBIN") && l.load(f.ptxSize, "nvrtcGetPTXSize") &&
      l.load(f.ptx, "nvrtcGetPTX") && l.load(f.numArchs, "nvrtcGetNumSupportedArchs") &&
      l.load(f.archs, "nvrtcGetSupportedArchs");
  if (!complete)
    return notFound("NVRTC in '" + l.path() + "' lacks functions that gpuc needs; install version 12 or 13");
  int count = 0;
  if (f.version(&nvrtc->number.first, &nvrtc->number.second) != 0 || f.numArchs(&count) != 0 || count < 0)
    return internalError("NVRTC in '" + l.path() + "' does not tell its version");
  nvrtc->archs.resize(size_t(count));
  if (f.archs(nvrtc->archs.data()) != 0)
    nvrtc->archs.clear();
  return std::shared_ptr<Nvrtc>(std::move(nvrtc));
}

Result<std::shared_ptr<Nvrtc>> Nvrtc::open(const std::vector<std::string> &libraryDirs) {
  static std::mutex mutex;
  static std::shared_ptr<Nvrtc> shared;
  std::lock_guard<std::mutex> lock(mutex);
  if (!shared) {
    auto created = NvrtcLibrary::create(libraryDirs);
    if (!created)
      return created.status();
    shared = created.take();
  }
  return shared;
}

Result<CompiledUnit> NvrtcLibrary::compile(const UnitSource &unit, const std::vector<SourceFile> &headers,
                                           const std::string &arch, const std::vector<std::string> &flags,
                                           bool keepPtx) {
  std::vector<const char *> texts, paths, options;
  for (const SourceFile &h : headers) {
    texts.push_back(h.text.c_str());
    paths.push_back(h.path.c_str());
  }
  for (const std::string &flag : flags)
    options.push_back(flag.c_str());
  struct Program {
    const Functions &f;
    nvrtcProgram handle = nullptr;
    ~Program() {
      if (handle)
        f.destroyProgram(&handle);
    }
  } program{f};
  nvrtcResult r = f.createProgram(&program.handle, unit.text.c_str(), unit.name.c_str(), int(headers.size()),
                                  texts.data(), paths.data());
  if (r != 0)
    return internalError("NVRTC cannot create a program for unit '" + unit.name + "': " + f.errorString(r));
  r = f.compileProgram(program.handle, int(options.size()), options.data());
  CompiledUnit result;
  size_t size = 0;
  if (f.logSize(program.handle, &size) == 0 && size > 1) {
    result.log.resize(size);
    f.log(program.handle, &result.log[0]);
    result.log.resize(size - 1); // the size counts the NUL
  }
  if (r != 0)
    return invalidArgument("unit '" + unit.name + "' does not compile for " + arch + " (" + f.errorString(r) +
                           "):\n" + result.log);
  r = f.cubinSize(program.handle, &size);
  if (r == 0) {
    result.cubin.resize(size);
    r = f.cubin(program.handle, reinterpret_cast<char *>(result.cubin.data()));
  }
  if (r != 0 || result.cubin.empty())
    return internalError("NVRTC gives no cubin for unit '" + unit.name + "' and " + arch);
  if (keepPtx && f.ptxSize(program.handle, &size) == 0 && size > 1) {
    result.ptx.resize(size);
    f.ptx(program.handle, &result.ptx[0]);
    result.ptx.resize(size - 1);
  }
  result.kernels = parsePtxasLog(result.log);
  return result;
}

Result<CompiledUnit> NvrtcLibrary::compileUnit(const UnitSource &unit, const std::vector<SourceFile> &headers,
                                               const std::string &arch, const NvrtcOptions &options) {
  int wanted = arch.size() > 3 ? std::atoi(arch.c_str() + 3) : 0;
  if (!archs.empty() && std::find(archs.begin(), archs.end(), wanted) == archs.end()) {
    std::string known;
    for (int a : archs)
      known += (known.empty() ? "" : ", ") + std::to_string(a);
    return unsupported("NVRTC " + std::to_string(number.first) + "." + std::to_string(number.second) +
                       " does not compile for '" + arch + "', it knows sm_ " + known +
                       "; install a newer CUDA toolkit");
  }
  std::vector<std::string> flags = standardNvrtcFlags();
  flags.insert(flags.end(), options.extraFlags.begin(), options.extraFlags.end());
  flags.push_back("-arch=" + arch);
  CompileCache cache(options.cacheDir);
  std::string key;
  if (!options.cacheDir.empty()) {
    key = CompileCache::key(unit, headers, flags, arch, number);
    auto hit = cache.find(key);
    if (hit && (!options.keepPtx || !hit->ptx.empty())) {
      if (!options.keepPtx)
        hit->ptx.clear();
      return std::move(*hit);
    }
  }
  auto result = compile(unit, headers, arch, flags, options.keepPtx);
  if (result && !key.empty())
    cache.store(key, *result);
  return result;
}

std::vector<Result<CompiledUnit>> Nvrtc::compileUnits(const std::vector<Job> &jobs,
                                                      const std::vector<SourceFile> &headers,
                                                      const NvrtcOptions &options, unsigned threads) {
  std::vector<Result<CompiledUnit>> results(jobs.size(), Result<CompiledUnit>(internalError("not compiled")));
  if (threads == 0)
    threads = std::max(1u, std::thread::hardware_concurrency());
  threads = unsigned(std::min<size_t>(threads, jobs.size()));
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++)
      results[i] = compileUnit(*jobs[i].unit, headers, jobs[i].arch, options);
  };
  std::vector<std::thread> pool;
  for (unsigned i = 1; i < threads; ++i)
    pool.emplace_back(work);
  work();
  for (std::thread &t : pool)
    t.join();
  return results;
}

} // namespace gpuc

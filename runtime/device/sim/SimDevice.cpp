// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Device: loads kernel libraries and runs launches at once, in the calling thread and a pool.
#include "gpuc/Runtime/SimDevice.h"
#include "Cluster.h"
#include "Compile.h"
#include "ThreadPool.h"
#include "gpuc/Support/File.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <thread>
#include <unistd.h>

namespace gpuc::sim {
namespace {

struct Library {
  std::string path;
  void *handle = nullptr;
  gpucsim::ImageRange image = {};
};

struct Kernel {
  KernelFunction function;
  const Library *library;
};

class SimModule final : public Module {
public:
  ~SimModule() override {
    for (auto &library : libraries)
      dlclose(library->handle);
  }
  std::vector<std::unique_ptr<Library>> libraries;
  std::map<std::string, Kernel, std::less<>> kernels;
};

class SimDevice final : public Device {
public:
  SimDevice(SimOptions options, Compiler compiler)
      : options(std::move(options)), compiler(std::move(compiler)), memory(this->options.poison),
        pool(this->options.threads) {}

  std::string description() const override { return "sim (" + options.arch + " on the CPU)"; }
  std::string arch() const override { return options.arch; }
  bool isSim() const override { return true; }
  Result<size_t> freeMemory() override {
    return size_t(sysconf(_SC_AVPHYS_PAGES)) * size_t(sysconf(_SC_PAGESIZE));
  }

  Result<DevicePtr> allocate(size_t bytes) override {
    Result<uintptr_t> address = memory.allocate(bytes);
    if (!address)
      return address.status();
    return DevicePtr(*address);
  }
  void deallocate(DevicePtr ptr) override { memory.deallocate(ptr); }
  Status copyToDevice(DevicePtr dst, const void *src, size_t bytes, StreamHandle) override {
    GPUC_RETURN_IF_ERROR(checkRange("copyToDevice", dst, bytes));
    if (bytes)
      memcpy(reinterpret_cast<void *>(dst), src, bytes);
    return Status();
  }
  Status copyToHost(void *dst, DevicePtr src, size_t bytes, StreamHandle) override {
    GPUC_RETURN_IF_ERROR(checkRange("copyToHost", src, bytes));
    if (bytes)
      memcpy(dst, reinterpret_cast<const void *>(src), bytes);
    return Status();
  }
  Status copyOnDevice(DevicePtr dst, DevicePtr src, size_t bytes, StreamHandle) override {
    GPUC_RETURN_IF_ERROR(checkRange("copyOnDevice", dst, bytes));
    GPUC_RETURN_IF_ERROR(checkRange("copyOnDevice", src, bytes));
    if (bytes)
      memmove(reinterpret_cast<void *>(dst), reinterpret_cast<const void *>(src), bytes);
    return Status();
  }
  Status fill(DevicePtr dst, uint8_t value, size_t bytes, StreamHandle) override {
    GPUC_RETURN_IF_ERROR(checkRange("fill", dst, bytes));
    if (bytes)
      memset(reinterpret_cast<void *>(dst), value, bytes);
    return Status();
  }

  Result<std::shared_ptr<Module>> loadBinary(const void *, size_t) override {
    return unsupported("the simulator runs sources, not compiled GPU code");
  }
  Result<std::shared_ptr<Module>> loadSource(const std::vector<UnitSource> &units,
                                             const std::vector<SourceFile> &headers) override;
  Result<KernelHandle> getKernel(Module &module, std::string_view entry) override;
  Status launch(KernelHandle kernel, const LaunchConfig &config, void **args, StreamHandle) override;

  Status encodeTensorMap(const TensorMapLayout &layout, DevicePtr base, void *out) override {
    sim::encodeTensorMap(layout, base, out);
    return Status();
  }

  Result<StreamHandle> createStream() override { return StreamHandle(this); }
  void destroyStream(StreamHandle) override {}
  Status synchronize(StreamHandle) override { return Status(); }
  // Work is over when a call returns, so an event is the time at which it is recorded.
  Result<EventHandle> createEvent() override {
    return EventHandle(new std::chrono::steady_clock::time_point());
  }
  void destroyEvent(EventHandle e) override {
    delete static_cast<std::chrono::steady_clock::time_point *>(e);
  }
  Status recordEvent(EventHandle e, StreamHandle) override {
    *static_cast<std::chrono::steady_clock::time_point *>(e) = std::chrono::steady_clock::now();
    return Status();
  }
  Result<double> elapsedMs(EventHandle begin, EventHandle end) override {
    auto at = [](EventHandle e) { return *static_cast<std::chrono::steady_clock::time_point *>(e); };
    return std::chrono::duration<double, std::milli>(at(end) - at(begin)).count();
  }
  Status beginCapture(StreamHandle) override { return unsupported("the simulator does not record graphs"); }
  Result<std::unique_ptr<Graph>> endCapture(StreamHandle) override {
    return unsupported("the simulator does not record graphs");
  }

  Memory &deviceMemory() { return memory; }

private:
  Status checkRange(const char *what, DevicePtr ptr, size_t bytes) {
    if (memory.contains(ptr, bytes))
      return Status();
    return invalidArgument(std::string(what) + ": " + std::to_string(bytes) +
                           " bytes are not in one buffer; they begin " + memory.describe(ptr));
  }
  Status report(const Launch &launch, const Kernel &kernel, const char *label) const;

  SimOptions options;
  Compiler compiler;
  Memory memory;
  ThreadPool pool;
  std::vector<std::unique_ptr<Cluster>> clusters; ///< per worker, created when first needed
  std::mutex launching;
};

Result<std::shared_ptr<Module>> SimDevice::loadSource(const std::vector<UnitSource> &units,
                                                      const std::vector<SourceFile> &headers) {
  CompileOptions compile;
  compile.compiler = compiler;
  compile.cacheDir = options.cacheDir;
  compile.arch = options.arch;
  compile.full = options.fullChecks;
  compile.jobs = options.threads;
  Result<std::vector<CompiledLibrary>> compiled = compileUnits(compile, units, headers);
  if (!compiled)
    return compiled.status();
  auto module = std::make_shared<SimModule>();
  for (const CompiledLibrary &source : *compiled) {
    auto library = std::make_unique<Library>();
    library->path = source.path;
    library->handle = dlopen(source.path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library->handle)
      return internalError(std::string("cannot load a kernel library: ") + dlerror());
    auto *bind = reinterpret_cast<void (*)(const gpucsim::Api *, gpucsim::ImageRange *)>(
        dlsym(library->handle, "gpucSimBind"));
    if (bind)
      bind(kernelApi(), &library->image);
    for (const std::string &entry : source.entries) {
      auto function = reinterpret_cast<KernelFunction>(dlsym(library->handle, (entry + "__sim").c_str()));
      if (!bind || !function)
        return internalError("kernel library '" + source.path + "' lacks the entry '" + entry + "'");
      if (!module->kernels.emplace(entry, Kernel{function, library.get()}).second)
        return invalidArgument("two units have an entry '" + entry + "'");
    }
    module->libraries.push_back(std::move(library));
  }
  return std::shared_ptr<Module>(std::move(module));
}

Result<KernelHandle> SimDevice::getKernel(Module &module, std::string_view entry) {
  auto &kernels = static_cast<SimModule &>(module).kernels;
  auto it = kernels.find(entry);
  if (it == kernels.end())
    return notFound("no entry '" + std::string(entry) +
                    "'; a unit ends with GPUC_EXPORT(name) for each of its entries");
  return KernelHandle{&it->second};
}

static Status checkConfig(const LaunchConfig &config) {
  auto bad = [&](const std::string &what) {
    return invalidArgument(std::string("launch of '") + (config.label ? config.label : "") + "': " + what);
  };
  const uint64_t threads = uint64_t(config.block.x) * config.block.y * config.block.z;
  if (threads == 0 || threads > kMaxThreads || config.block.z > 64)
    return bad("a block of " + std::to_string(threads) + " threads; 1 to 1024 are possible");
  if (!config.grid.x || !config.grid.y || !config.grid.z)
    return bad("a grid without blocks");
  if (config.grid.x > 0x7fffffffu || config.grid.y > 65535 || config.grid.z > 65535)
    return bad("a grid of more than 2147483647 x 65535 x 65535 blocks");
  if (config.cluster < 1 || config.cluster > kMaxClusterBlocks || config.grid.x % config.cluster != 0)
    return bad("clusters of " + std::to_string(config.cluster) + " in a grid of " +
               std::to_string(config.grid.x) + " blocks along x; 1 to 8 that divide it are possible");
  if (config.sharedBytes > kMaxSharedBytes)
    return bad(std::to_string(config.sharedBytes) + " bytes of shared memory; there are " +
               std::to_string(kMaxSharedBytes));
  return Status();
}

Status SimDevice::launch(KernelHandle handle, const LaunchConfig &config, void **args, StreamHandle) {
  if (!handle.opaque)
    return invalidArgument("launch of a kernel that was not loaded");
  GPUC_RETURN_IF_ERROR(checkConfig(config));
  const Kernel &kernel = *static_cast<const Kernel *>(handle.opaque);
  std::lock_guard<std::mutex> lock(launching);
  Launch launch;
  launch.kernel = kernel.function;
  launch.args = args;
  launch.grid = {config.grid.x, config.grid.y, config.grid.z};
  launch.block = {config.block.x, config.block.y, config.block.z};
  launch.sharedBytes = config.sharedBytes;
  launch.full = options.fullChecks;
  launch.reversed = options.reversedBlocks;
  launch.poison = options.poison;
  launch.memory = &memory;
  if (launch.full)
    launch.regions = memory.regions();
  launch.imageBegin = kernel.library->image.begin;
  launch.imageEnd = kernel.library->image.end;
  launch.cluster = config.cluster;
  launch.clusters = uint64_t(config.grid.x) * config.grid.y * config.grid.z / config.cluster;
  unsigned workers = unsigned(std::min<uint64_t>(pool.size(), launch.clusters));
  const uint64_t threads =
      launch.clusters * config.cluster * launch.block.x * launch.block.y * launch.block.z;
  if (threads <= 512)
    workers = 1; // waking another thread would take longer
  while (clusters.size() < workers) {
    clusters.push_back(Cluster::create());
    if (!clusters.back())
      clusters.pop_back();
    if (clusters.empty())
      return Status(StatusCode::OutOfMemory, "no memory for the stacks of simulated threads");
    workers = std::min(workers, unsigned(clusters.size()));
  }
  std::atomic<bool> noMemory{false};
  pool.run(workers, [&](unsigned worker) {
    bool begun = false;
    for (uint64_t i; (i = launch.nextCluster.fetch_add(1, std::memory_order_relaxed)) < launch.clusters;) {
      if (launch.failed.load(std::memory_order_relaxed) || noMemory)
        return;
      if (!begun && !clusters[worker]->begin(launch)) {
        noMemory = true;
        return;
      }
      begun = true;
      clusters[worker]->run(launch.reversed ? launch.clusters - 1 - i : i);
    }
  });
  if (noMemory)
    return Status(StatusCode::OutOfMemory, "no memory for the stacks of simulated threads");
  return launch.failed ? report(launch, kernel, config.label) : Status();
}

Status SimDevice::report(const Launch &launch, const Kernel &kernel, const char *label) const {
  const Fault &fault = launch.fault;
  std::string text = std::string("kernel '") + (label && *label ? label : "unnamed") + "': " + fault.what;
  uintptr_t begin = reinterpret_cast<uintptr_t>(kernel.library->image.begin);
  if (fault.pc >= begin && fault.pc < reinterpret_cast<uintptr_t>(kernel.library->image.end)) {
    std::string where = describeSource(kernel.library->path, fault.pc - begin - 1);
    if (!where.empty())
      text += " at " + where;
  }
  auto triple = [](const Dim &d) {
    return std::to_string(d.x) + ", " + std::to_string(d.y) + ", " + std::to_string(d.z);
  };
  Dim t = {unsigned(fault.thread) % launch.block.x, unsigned(fault.thread) / launch.block.x % launch.block.y,
           unsigned(fault.thread) / launch.block.x / launch.block.y};
  text += " [block (" + triple(fault.block) + "), thread (" + triple(t) + ")]";
  return Status(StatusCode::DeviceError, text);
}

} // namespace
} // namespace gpuc::sim

namespace gpuc {

Result<std::unique_ptr<Device>> createSimDevice(const SimOptions &given) {
#if !defined(__x86_64__)
  return unsupported("the simulator runs on x86-64 only");
#else
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return unsupported("the simulator needs a processor with AVX2, FMA and F16C");
  SimOptions options = given;
  if (options.threads == 0)
    options.threads = std::max(1u, std::thread::hardware_concurrency());
  if (options.cacheDir.empty())
    options.cacheDir = joinPath(cacheDirectory(), "sim");
  Result<sim::Compiler> compiler = sim::findCompiler(options.compiler);
  if (!compiler)
    return compiler.status();
  sim::installFaultHandlers();
  return std::unique_ptr<Device>(std::make_unique<sim::SimDevice>(options, *compiler));
#endif
}

Status annotateSimBuffer(Device &device, DevicePtr ptr, size_t bytes) {
  if (!device.isSim())
    return invalidArgument("annotateSimBuffer: '" + device.description() + "' is not the simulator");
  return static_cast<sim::SimDevice &>(device).deviceMemory().annotate(ptr, bytes);
}

} // namespace gpuc

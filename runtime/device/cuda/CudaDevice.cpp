// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device over the CUDA driver API, in the GPU's primary context. Every call makes that context current for
// its own duration, so an application may use other contexts in the same thread.
#include "gpuc/Runtime/CudaDevice.h"
#include "CublasLt.h"
#include "Driver.h"
#include "LibraryTuning.h"
#include "TensorMap.h"
#include "gpuc/Runtime/Nvrtc.h"
#include "gpuc/Support/File.h"
#include "gpuc/Target/Target.h"
#include <atomic>
#include <map>
#include <mutex>

namespace gpuc {

using namespace cuda;

namespace {
/// Makes a context current; restores the former one.
class Current {
public:
  Current(const Driver &driver, CUcontext context) : driver(driver) {
    CUcontext now = nullptr;
    if (driver.ctxGetCurrent(&now) == CUDA_SUCCESS && now == context)
      return;
    pushed = driver.ctxPushCurrent(context) == CUDA_SUCCESS;
  }
  ~Current() {
    CUcontext former;
    if (pushed)
      driver.ctxPopCurrent(&former);
  }
  Current(const Current &) = delete;
  Current &operator=(const Current &) = delete;

private:
  const Driver &driver;
  bool pushed = false;
};

/// The retained primary context of a GPU. Modules and graphs keep it alive.
struct PrimaryContext {
  const Driver *driver = nullptr;
  CUdevice device = 0;
  CUcontext context = nullptr;
  ~PrimaryContext() {
    if (context)
      driver->primaryCtxRelease(device);
  }
};

struct Kernel {
  CUfunction function = nullptr;
  int staticShared = 0, maxThreads = 1024;
  std::atomic<int> allowedShared{48 * 1024}; ///< dynamic bytes a launch may ask for
};

class CudaModule : public Module {
public:
  explicit CudaModule(std::shared_ptr<PrimaryContext> c) : context(std::move(c)) {}
  ~CudaModule() override {
    Current current(*context->driver, context->context);
    for (CUmodule m : modules)
      context->driver->moduleUnload(m);
  }
  std::shared_ptr<PrimaryContext> context;
  std::vector<CUmodule> modules;
  std::map<std::string, CUmodule, std::less<>> moduleOf; ///< by entry, where the compiler told
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;
};

class CudaGraph : public Graph {
public:
  CudaGraph(std::shared_ptr<PrimaryContext> c, CUgraphExec exec) : context(std::move(c)), exec(exec) {}
  ~CudaGraph() override {
    Current current(*context->driver, context->context);
    context->driver->graphExecDestroy(exec);
  }
  Status launch(StreamHandle stream) override {
    Current current(*context->driver, context->context);
    return context->driver->check(context->driver->graphLaunch(exec, static_cast<CUstream>(stream)),
                                  "cannot launch a CUDA graph");
  }

private:
  std::shared_ptr<PrimaryContext> context;
  CUgraphExec exec;
};

class CudaDevice : public Device {
public:
  ~CudaDevice() override {
    if (lt) {
      Current current(*driver, context->context);
      lt.reset();
    }
  }
  Status open(const CudaOptions &options);

  std::string description() const override {
    return "cuda:" + std::to_string(options.ordinal) + " " + info.name + " (" + info.arch + ")";
  }
  std::string arch() const override { return info.arch; }
  bool isSim() const override { return false; }
  Result<size_t> freeMemory() override {
    size_t available = 0, total = 0;
    GPUC_RETURN_IF_ERROR(
        call([&] { return driver->memGetInfo(&available, &total); }, "cannot ask for free memory"));
    return available;
  }
  Result<DevicePtr> allocate(size_t bytes) override {
    if (bytes == 0)
      return DevicePtr(0);
    CUdeviceptr ptr = 0;
    GPUC_RETURN_IF_ERROR(call([&] { return driver->memAlloc(&ptr, bytes); },
                              "cannot allocate " + std::to_string(bytes) + " bytes"));
    return DevicePtr(ptr);
  }
  void deallocate(DevicePtr ptr) override {
    if (ptr)
      (void)call([&] { return driver->memFree(ptr); }, "");
  }
  Status copyToDevice(DevicePtr dst, const void *src, size_t bytes, StreamHandle s) override {
    return call([&] { return driver->memcpyHtoDAsync(dst, src, bytes, stream(s)); },
                "cannot copy to the device");
  }
  Status copyToHost(void *dst, DevicePtr src, size_t bytes, StreamHandle s) override {
    return call([&] { return driver->memcpyDtoHAsync(dst, src, bytes, stream(s)); },
                "cannot copy to the host");
  }
  Status copyOnDevice(DevicePtr dst, DevicePtr src, size_t bytes, StreamHandle s) override {
    return call([&] { return driver->memcpyDtoDAsync(dst, src, bytes, stream(s)); },
                "cannot copy on the device");
  }
  Status fill(DevicePtr dst, uint8_t value, size_t bytes, StreamHandle s) override {
    return call([&] { return driver->memsetD8Async(dst, value, bytes, stream(s)); },
                "cannot fill device memory");
  }
  Result<std::shared_ptr<Module>> loadBinary(const void *data, size_t bytes) override;
  Result<std::shared_ptr<Module>> loadSource(const std::vector<UnitSource> &units,
                                             const std::vector<SourceFile> &headers) override;
  Result<KernelHandle> getKernel(Module &module, std::string_view entry) override;
  Status launch(KernelHandle kernel, const LaunchConfig &config, void **args, StreamHandle s) override;

  Result<StreamHandle> createStream() override {
    CUstream s = nullptr;
    GPUC_RETURN_IF_ERROR(
        call([&] { return driver->streamCreate(&s, CU_STREAM_NON_BLOCKING); }, "cannot create a stream"));
    return StreamHandle(s);
  }
  void destroyStream(StreamHandle s) override {
    (void)call([&] { return driver->streamDestroy(stream(s)); }, "");
  }
  Status synchronize(StreamHandle s) override {
    return call([&] { return driver->streamSynchronize(stream(s)); }, "a kernel or copy failed");
  }
  Status beginCapture(StreamHandle s) override {
    // Relaxed: lazy loading of library kernels may allocate while capturing.
    return call([&] { return driver->streamBeginCapture(stream(s), CU_STREAM_CAPTURE_MODE_RELAXED); },
                "cannot begin to capture a graph");
  }
  Result<std::unique_ptr<Graph>> endCapture(StreamHandle s) override;

  Result<std::shared_ptr<PreparedMatmul>> prepareMatmul(const MatmulProblem &problem, size_t workspaceBytes,
                                                        bool tune) override;
  Status matmul(PreparedMatmul &prepared, const MatmulOperands &operands, StreamHandle s) override {
    Current current(*driver, context->context);
    return lt->run(prepared, operands, s);
  }
  Status encodeTensorMap(const TensorMapLayout &layout, DevicePtr base, void *out) override {
    if (major < 9)
      return unsupported(description() + " has no tensor maps, which need sm_90");
    Current current(*driver, context->context); // the encoder looks at the device
    return cuda::encodeTensorMap(*driver, layout, base, out);
  }
  Result<EventHandle> createEvent() override {
    CUevent e = nullptr;
    GPUC_RETURN_IF_ERROR(call([&] { return driver->eventCreate(&e, 0); }, "cannot create an event"));
    return EventHandle(e);
  }
  void destroyEvent(EventHandle e) override {
    (void)call([&] { return driver->eventDestroy(static_cast<CUevent>(e)); }, "");
  }
  Status recordEvent(EventHandle e, StreamHandle s) override {
    return call([&] { return driver->eventRecord(static_cast<CUevent>(e), stream(s)); },
                "cannot record an event");
  }
  Result<double> elapsedMs(EventHandle begin, EventHandle end) override {
    float ms = 0;
    GPUC_RETURN_IF_ERROR(call([&] { return driver->eventSynchronize(static_cast<CUevent>(end)); },
                              "cannot wait for an event"));
    GPUC_RETURN_IF_ERROR(call(
        [&] { return driver->eventElapsedTime(&ms, static_cast<CUevent>(begin), static_cast<CUevent>(end)); },
        "cannot measure time"));
    return double(ms);
  }

private:
  template <typename F> Status call(F f, const std::string &what) {
    Current current(*driver, context->context);
    CUresult r = f();
    return r == CUDA_SUCCESS ? Status() : driver->check(r, what);
  }
  static CUstream stream(StreamHandle s) { return static_cast<CUstream>(s); }
  Status addCubin(CudaModule &module, const void *data);

  CudaOptions options;
  const Driver *driver = nullptr;
  std::shared_ptr<PrimaryContext> context;
  CudaDeviceInfo info;
  int major = 0, maxShared = 0;
  std::mutex mutex; ///< guards `lt`, `tuner` and kernels of modules
  std::unique_ptr<CublasLt> lt;
  std::unique_ptr<LibraryTuner> tuner;
};
} // namespace

static Result<CudaDeviceInfo> describe(const Driver &d, int ordinal) {
  CUdevice device;
  GPUC_RETURN_IF_ERROR(d.check(d.deviceGet(&device, ordinal), "cannot open cuda:" + std::to_string(ordinal)));
  CudaDeviceInfo info;
  info.ordinal = ordinal;
  char name[256] = {};
  d.deviceGetName(name, sizeof(name) - 1, device);
  info.name = name;
  size_t total = 0;
  d.deviceTotalMem(&total, device);
  info.memoryBytes = total;
  int major = 0, minor = 0;
  d.deviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
  d.deviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
  d.deviceGetAttribute(&info.numSMs, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
  info.arch = "sm_" + std::to_string(major) + std::to_string(minor);
  if (const Target *t = findArch(info.arch + "a")) // the name that plans use
    info.arch = std::string(t->arch);
  return info;
}

Status CudaDevice::open(const CudaOptions &wanted) {
  options = wanted;
  if (options.cacheDir.empty())
    options.cacheDir = cacheDirectory();
  auto d = Driver::get();
  if (!d)
    return d.status();
  driver = *d;
  int count = 0;
  GPUC_RETURN_IF_ERROR(driver->check(driver->deviceGetCount(&count), "cannot count the GPUs"));
  if (options.ordinal < 0 || options.ordinal >= count)
    return notFound("there is no device cuda:" + std::to_string(options.ordinal) + ", the driver reports " +
                    std::to_string(count) + (count == 1 ? " GPU" : " GPUs"));
  auto described = describe(*driver, options.ordinal);
  if (!described)
    return described.status();
  info = described.take();
  context = std::make_shared<PrimaryContext>();
  context->driver = driver;
  GPUC_RETURN_IF_ERROR(
      driver->check(driver->deviceGet(&context->device, options.ordinal), "cannot open " + description()));
  GPUC_RETURN_IF_ERROR(driver->check(driver->primaryCtxRetain(&context->context, context->device),
                                     "cannot create a context on " + description()));
  driver->deviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, context->device);
  driver->deviceGetAttribute(&maxShared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN,
                             context->device);
  return {};
}

Status CudaDevice::addCubin(CudaModule &module, const void *data) {
  CUmodule loaded = nullptr;
  CUresult r = driver->moduleLoadData(&loaded, data);
  if (r != CUDA_SUCCESS) {
    std::string hint;
    if (r == CUDA_ERROR_NO_BINARY_FOR_GPU || r == CUDA_ERROR_INVALID_IMAGE ||
        r == CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
      hint = " (the driver supports CUDA " + versionText(driver->version) +
             "; code of a newer compiler needs a newer driver)";
    return driver->check(r, "cannot load a cubin" + hint);
  }
  module.modules.push_back(loaded);
  return {};
}

Result<std::shared_ptr<Module>> CudaDevice::loadBinary(const void *data, size_t bytes) {
  // The driver takes no size: an ELF image says it itself, so at least the identification must be there.
  if (bytes < 64 || std::string_view(static_cast<const char *>(data), 4) != "\x7f"
                                                                            "ELF")
    return dataLoss("cubin is no ELF image");
  Current current(*driver, context->context);
  auto module = std::make_shared<CudaModule>(context);
  GPUC_RETURN_IF_ERROR(addCubin(*module, data));
  return std::shared_ptr<Module>(std::move(module));
}

Result<std::shared_ptr<Module>> CudaDevice::loadSource(const std::vector<UnitSource> &units,
                                                       const std::vector<SourceFile> &headers) {
  auto nvrtc = Nvrtc::open(options.libraryDirs);
  if (!nvrtc)
    return Status(nvrtc.status().code(), "the plan has no code for " + info.arch +
                                             " and compiling it here failed: " + nvrtc.status().message());
  std::vector<Nvrtc::Job> jobs;
  for (const UnitSource &u : units)
    jobs.push_back({&u, info.arch});
  NvrtcOptions nvrtcOptions;
  nvrtcOptions.cacheDir = joinPath(options.cacheDir, "cubin");
  auto compiled = (*nvrtc)->compileUnits(jobs, headers, nvrtcOptions);
  Current current(*driver, context->context);
  auto module = std::make_shared<CudaModule>(context);
  for (Result<CompiledUnit> &unit : compiled) {
    if (!unit)
      return unit.status();
    GPUC_RETURN_IF_ERROR(addCubin(*module, unit->cubin.data()));
    for (const KernelResources &k : unit->kernels)
      module->moduleOf[k.entry] = module->modules.back();
  }
  return std::shared_ptr<Module>(std::move(module));
}

Result<KernelHandle> CudaDevice::getKernel(Module &base, std::string_view entry) {
  auto &module = static_cast<CudaModule &>(base);
  Current current(*driver, context->context);
  std::lock_guard<std::mutex> lock(mutex);
  auto known = module.kernels.find(entry);
  if (known != module.kernels.end())
    return KernelHandle{known->second.get()};
  std::string name(entry);
  // Asking a module for a kernel that it lacks is an error that tools like compute-sanitizer report.
  auto home = module.moduleOf.find(entry);
  for (CUmodule m : home != module.moduleOf.end() ? std::vector<CUmodule>{home->second} : module.modules) {
    auto kernel = std::make_unique<Kernel>();
    CUresult r = driver->moduleGetFunction(&kernel->function, m, name.c_str());
    if (r == CUDA_ERROR_NOT_FOUND)
      continue;
    GPUC_RETURN_IF_ERROR(driver->check(r, "cannot load kernel '" + name + "'"));
    driver->funcGetAttribute(&kernel->staticShared, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, kernel->function);
    driver->funcGetAttribute(&kernel->maxThreads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel->function);
    kernel->allowedShared = 48 * 1024 - kernel->staticShared;
    KernelHandle handle{kernel.get()};
    module.kernels.emplace(std::move(name), std::move(kernel));
    return handle;
  }
  return notFound("there is no kernel '" + name + "' in the compiled code");
}

Status CudaDevice::launch(KernelHandle handle, const LaunchConfig &config, void **args, StreamHandle s) {
  auto &kernel = *static_cast<Kernel *>(handle.opaque);
  Current current(*driver, context->context);
  if (int(config.sharedBytes) > kernel.allowedShared.load(std::memory_order_relaxed)) {
    int limit = maxShared - kernel.staticShared;
    if (int(config.sharedBytes) > limit)
      return unsupported("kernel needs " + std::to_string(config.sharedBytes) + " bytes of shared memory, " +
                         description() + " has " + std::to_string(limit));
    GPUC_RETURN_IF_ERROR(driver->check(
        driver->funcSetAttribute(kernel.function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, limit),
        "cannot raise the limit of shared memory"));
    kernel.allowedShared = limit;
  }
  CUlaunchAttribute attributes[2] = {};
  CUlaunchConfig launchConfig = {};
  launchConfig.gridDimX = config.grid.x, launchConfig.gridDimY = config.grid.y,
  launchConfig.gridDimZ = config.grid.z;
  launchConfig.blockDimX = config.block.x, launchConfig.blockDimY = config.block.y;
  launchConfig.blockDimZ = config.block.z;
  launchConfig.sharedMemBytes = config.sharedBytes;
  launchConfig.hStream = stream(s);
  launchConfig.attrs = attributes;
  if (config.programmaticDependent && major >= 9) {
    CUlaunchAttribute &a = attributes[launchConfig.numAttrs++];
    a.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    a.value.programmaticStreamSerializationAllowed = 1;
  }
  if (config.cluster > 1) {
    if (major < 9)
      return unsupported(description() + " has no clusters of blocks, which need sm_90");
    CUlaunchAttribute &a = attributes[launchConfig.numAttrs++];
    a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    a.value.clusterDim = {config.cluster, 1, 1};
  }
  CUresult r = driver->launchKernelEx(&launchConfig, kernel.function, args, nullptr);
  if (r == CUDA_SUCCESS)
    return {};
  uint64_t threads = uint64_t(config.block.x) * config.block.y * config.block.z;
  std::string what = "cannot launch a kernel";
  if (config.cluster > 1)
    what += " in clusters of " + std::to_string(config.cluster) + " blocks";
  if (threads > uint64_t(kernel.maxThreads))
    what += " with " + std::to_string(threads) + " threads per block, it allows " +
            std::to_string(kernel.maxThreads);
  return driver->check(r, what);
}

Result<std::unique_ptr<Graph>> CudaDevice::endCapture(StreamHandle s) {
  CUgraph graph = nullptr;
  GPUC_RETURN_IF_ERROR(
      call([&] { return driver->streamEndCapture(stream(s), &graph); }, "cannot end the capture of a graph"));
  Current current(*driver, context->context);
  CUgraphExec exec = nullptr;
  CUresult r = driver->graphInstantiate(&exec, graph, 0);
  driver->graphDestroy(graph);
  GPUC_RETURN_IF_ERROR(driver->check(r, "cannot instantiate a CUDA graph"));
  return std::unique_ptr<Graph>(std::make_unique<CudaGraph>(context, exec));
}

Result<std::shared_ptr<PreparedMatmul>> CudaDevice::prepareMatmul(const MatmulProblem &problem,
                                                                  size_t workspaceBytes, bool tune) {
  Current current(*driver, context->context);
  std::lock_guard<std::mutex> lock(mutex);
  if (!lt) {
    auto library = CublasLt::create(options.libraryDirs);
    if (!library)
      return library.status();
    lt = library.take();
    tuner = std::make_unique<LibraryTuner>(joinPath(options.cacheDir, "cublaslt"),
                                           info.name + " " + info.arch + " driver " +
                                               versionText(driver->version) + " cuBLASLt " +
                                               std::to_string(lt->version()));
  }
  auto prepared = lt->prepare(problem, workspaceBytes);
  if (prepared && tune)
    tuner->tune(*this, *lt, **prepared, problem, workspaceBytes);
  return prepared;
}

Result<std::shared_ptr<Device>> createCudaDevice(const CudaOptions &options) {
  auto device = std::make_shared<CudaDevice>();
  GPUC_RETURN_IF_ERROR(device->open(options));
  return std::shared_ptr<Device>(std::move(device));
}

Result<std::vector<CudaDeviceInfo>> listCudaDevices() {
  auto d = Driver::get();
  if (!d)
    return d.status();
  int count = 0;
  GPUC_RETURN_IF_ERROR((*d)->check((*d)->deviceGetCount(&count), "cannot count the GPUs"));
  if (count == 0)
    return notFound("NVIDIA's driver reports no GPU");
  std::vector<CudaDeviceInfo> list;
  for (int i = 0; i < count; ++i) {
    auto info = describe(**d, i);
    if (!info)
      return info.status();
    list.push_back(info.take());
  }
  return list;
}

Result<int> cudaDriverVersion() {
  auto d = Driver::get();
  if (!d)
    return d.status();
  return (*d)->version;
}

} // namespace gpuc

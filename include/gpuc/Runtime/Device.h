// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the runtime needs of a device. Two implementations: device/cuda (driver API) and device/sim (the same
// kernels compiled as host C++). Thread-compatible: calls on one Device from several threads must be
// serialised, except on different streams after loading.
#pragma once
#include "gpuc/Plan/MatmulProblem.h"
#include "gpuc/Plan/TensorMap.h"
#include "gpuc/Support/Status.h"
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gpuc {

/// Address of device memory. On `sim` it is a host address.
using DevicePtr = uint64_t;

/// Number of blocks or threads in x, y, z.
struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
};

/// A source file that units include by `path`, for instance "common/types.cuh".
struct SourceFile {
  std::string path;
  std::string text;
};

/// One generated CUDA C++ unit; `name` appears in messages. It may hold several entries.
struct UnitSource {
  std::string name;
  std::string text;
};

/// Loaded code; keeps its kernels alive.
class Module {
public:
  virtual ~Module() = default;
};

/// One `extern "C" __global__` entry of a Module.
struct KernelHandle {
  void *opaque = nullptr;
};

/// Order of work. The device's default stream is null.
using StreamHandle = void *;

struct LaunchConfig {
  Dim3 grid, block;
  uint32_t sharedBytes = 0;           ///< dynamic shared memory
  bool programmaticDependent = false; ///< may start before its predecessor ends (sm_90+); ignored elsewhere
  uint32_t cluster = 1;               ///< blocks per cluster along x (sm_90+); divides grid.x
  const char *label = "";             ///< ONNX nodes, for messages and NVTX
};

/// Replayable recording of a sequence of launches and copies.
class Graph {
public:
  virtual ~Graph() = default;
  virtual Status launch(StreamHandle stream) = 0;
};

/// A matrix product with the algorithm chosen for one device.
class PreparedMatmul {
public:
  virtual ~PreparedMatmul() = default;
};

/// Addresses of a matrix product; c and bias are 0 when the problem has none.
struct MatmulOperands {
  DevicePtr a = 0, b = 0, c = 0, d = 0, bias = 0, workspace = 0;
};

/// A point in a stream whose time can be read.
using EventHandle = void *;

class Device {
public:
  virtual ~Device() = default;
  /// "cuda:0 NVIDIA H200 (sm_90a)" or "sim".
  virtual std::string description() const = 0;
  /// "sm_90a"; for sim the architecture whose program is being simulated.
  virtual std::string arch() const = 0;
  virtual bool isSim() const = 0;
  virtual Result<size_t> freeMemory() = 0;

  virtual Result<DevicePtr> allocate(size_t bytes) = 0; ///< 256-byte aligned; 0 bytes is legal
  virtual void deallocate(DevicePtr ptr) = 0;
  virtual Status copyToDevice(DevicePtr dst, const void *src, size_t bytes, StreamHandle stream) = 0;
  virtual Status copyToHost(void *dst, DevicePtr src, size_t bytes, StreamHandle stream) = 0;
  virtual Status copyOnDevice(DevicePtr dst, DevicePtr src, size_t bytes, StreamHandle stream) = 0;
  virtual Status fill(DevicePtr dst, uint8_t value, size_t bytes, StreamHandle stream) = 0;

  /// Loads compiled code (a cubin on cuda).
  virtual Result<std::shared_ptr<Module>> loadBinary(const void *data, size_t bytes) = 0;
  /// Compiles and loads units (NVRTC on cuda, the host compiler on sim), using the on-disk cache. All units
  /// of a call may be compiled in parallel and batched.
  virtual Result<std::shared_ptr<Module>> loadSource(const std::vector<UnitSource> &units,
                                                     const std::vector<SourceFile> &headers) = 0;
  virtual Result<KernelHandle> getKernel(Module &module, std::string_view entry) = 0;
  /// `args[i]` points to the value of parameter i.
  virtual Status launch(KernelHandle kernel, const LaunchConfig &config, void **args,
                        StreamHandle stream) = 0;

  virtual Result<StreamHandle> createStream() = 0;
  virtual void destroyStream(StreamHandle stream) = 0;
  virtual Status synchronize(StreamHandle stream) = 0;
  /// Records what is submitted to `stream` between the two calls. sim returns Unsupported from beginCapture.
  virtual Status beginCapture(StreamHandle stream) = 0;
  virtual Result<std::unique_ptr<Graph>> endCapture(StreamHandle stream) = 0;

  // What follows is optional: a device that lacks it inherits Unsupported. The runtime then computes a matmul
  // with plain loops when isSim() and measures time with the host's clock.

  /// Chooses an algorithm that needs at most `workspaceBytes`; with `tune` it may measure some of them first.
  virtual Result<std::shared_ptr<PreparedMatmul>> prepareMatmul(const MatmulProblem &problem,
                                                                size_t workspaceBytes, bool tune) {
    return unsupported("device '" + description() + "' has no matmul library");
  }
  /// Encodes a tensor map of the tensor at `base + layout.byteOffset` into the 128 bytes at `out`, which is
  /// 64-byte aligned. `layout` is valid (validateTensorMap), `base` 16-byte aligned.
  virtual Status encodeTensorMap(const TensorMapLayout &layout, DevicePtr base, void *out) {
    return unsupported("device '" + description() + "' has no tensor maps");
  }
  virtual Status matmul(PreparedMatmul &prepared, const MatmulOperands &operands, StreamHandle stream) {
    return unsupported("device '" + description() + "' has no matmul library");
  }
  virtual Result<EventHandle> createEvent() { return unsupported("device has no events"); }
  virtual void destroyEvent(EventHandle event) {}
  virtual Status recordEvent(EventHandle event, StreamHandle stream) {
    return unsupported("device has no events");
  }
  /// Milliseconds between two recorded events; waits for `end`.
  virtual Result<double> elapsedMs(EventHandle begin, EventHandle end) {
    return unsupported("device has no events");
  }
};

} // namespace gpuc

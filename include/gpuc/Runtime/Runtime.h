// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs plans. LoadedPlan is the part that contexts share (weights, kernels); Context is one independent
// execution with its own arena. Nothing here decides anything that depends on shapes: the plan says what
// happens. Thread-compatible: different contexts of a LoadedPlan may run in different threads at the same
// time, one context in one thread at a time.
#pragma once
#include "gpuc/Plan/Plan.h"
#include "gpuc/Runtime/Device.h"
#include <memory>
#include <string>
#include <vector>

namespace gpuc {

/// Device memory that a plan needs, in bytes, known before anything is allocated.
struct MemoryNeed {
  uint64_t constants = 0; ///< per LoadedPlan
  uint64_t packed = 0;    ///< per LoadedPlan
  uint64_t arena = 0;     ///< per Context
  uint64_t staging = 0;   ///< per Context with ContextOptions::stageHostData: copies of inputs and outputs
  uint64_t total() const { return constants + packed + arena + staging; } ///< with one context
};
/// Errors: NotFound when the plan has no program for `arch`; names the ones it has.
Result<MemoryNeed> memoryNeed(const Plan &plan, std::string_view arch);

/// Where memory of a plan comes from. The default uses Device::allocate.
class Allocator {
public:
  virtual ~Allocator() = default;
  virtual Result<DevicePtr> allocate(size_t bytes) = 0; ///< 256-byte aligned
  virtual void deallocate(DevicePtr ptr, size_t bytes) = 0;
};

struct LoadOptions {
  Allocator *allocator = nullptr; ///< not owned, must outlive the LoadedPlan and its contexts
  /// Compile from source although the plan has a binary for the device (tests).
  bool forceCompile = false;
  /// Measure cuBLASLt's proposals for large products and keep the fastest; what was measured is remembered in
  /// the cache folder. Without it the first proposal is used. A loaded plan never changes its mind.
  bool tuneLibrary = true;
};

/// A plan on a device: constants uploaded, kernels loaded, load program run.
class LoadedPlan {
public:
  virtual ~LoadedPlan() = default;
  /// Errors: NotFound (no program for the device), OutOfMemory, DeviceError, or the compiler's.
  static Result<std::shared_ptr<LoadedPlan>>
  create(std::shared_ptr<const Plan> plan, std::shared_ptr<Device> device, const LoadOptions &options = {});
  virtual const Plan &plan() const = 0;
  virtual const PlanProgram &program() const = 0;
  virtual Device &device() const = 0;
  virtual MemoryNeed memory() const = 0;
  /// True when kernels were compiled from source at load instead of taken from the plan.
  virtual bool compiledAtLoad() const = 0;
};

/// Data of one input or output: host memory, or memory of the plan's device. Dense and row-major, of exactly
/// the size that the plan's signature says; on the device 16-byte aligned.
struct TensorBinding {
  void *host = nullptr;
  DevicePtr device = 0;
  uint64_t bytes = 0;
  static TensorBinding onHost(const void *p, uint64_t bytes) { return {const_cast<void *>(p), 0, bytes}; }
  static TensorBinding onDevice(DevicePtr p, uint64_t bytes) { return {nullptr, p, bytes}; }
};

struct ContextOptions {
  /// Allocate device copies of inputs and outputs, which host pointers need.
  bool stageHostData = true;
  /// Replay a graph where the device can: the first run with a set of addresses goes step by step, the second
  /// is captured, later ones replay.
  bool useGraph = true;
  /// Graphs kept for different sets of addresses, least recently used first out.
  unsigned maxGraphs = 4;
  /// Fill arena and outputs with 0xFF bytes (NaN) before each run, so that reading what was never written
  /// shows. A graph does it too, before its first kernel: then a kernel that reads activations before it has
  /// waited for its predecessor finds NaNs instead of the same values of the run before.
  bool poison = false;
};

/// Time of one step of a run.
struct StepTime {
  std::string name;  ///< kernel entry, "copy", "fill" or "matmul"
  std::string label; ///< ONNX nodes
  double microseconds = 0;
};

class Context {
public:
  virtual ~Context() = default;
  /// Allocates the arena (and staging). Keeps `loaded` alive. Errors: OutOfMemory with the sizes.
  static Result<std::unique_ptr<Context>> create(std::shared_ptr<LoadedPlan> loaded,
                                                 const ContextOptions &options = {});

  /// Enqueues one run on `stream`. Order and number of bindings as in the plan's signature. When any binding
  /// is on the host the call returns after the run has finished; otherwise it returns at once, and the caller
  /// synchronises. Allocates nothing except a graph (see ContextOptions::useGraph).
  /// Errors: InvalidArgument naming the tensor, DeviceError.
  virtual Status run(const std::vector<TensorBinding> &inputs, const std::vector<TensorBinding> &outputs,
                     StreamHandle stream = nullptr) = 0;
  /// Runs step by step without a graph and measures each; the times include launch gaps.
  virtual Result<std::vector<StepTime>> profile(const std::vector<TensorBinding> &inputs,
                                                const std::vector<TensorBinding> &outputs,
                                                StreamHandle stream = nullptr) = 0;
  /// What each step costs where it counts: the time of the run's graph less that of the graph without the
  /// step, medians of interleaved bursts. Kernels overlap in a graph, so the sum differs from the run's time,
  /// and a cost may be slightly negative. Runs the model some thousand times; the outputs hold nothing
  /// afterwards. Errors: Unsupported when the device has no graphs.
  virtual Result<std::vector<StepTime>> profileInGraph(const std::vector<TensorBinding> &inputs,
                                                       const std::vector<TensorBinding> &outputs,
                                                       StreamHandle stream = nullptr) = 0;
  /// Convenience for tests and tools: host tensors in, host tensors out, checked against the signature.
  virtual Result<std::vector<HostTensor>> run(const std::vector<HostTensor> &inputs) = 0;
  /// True when the last run replayed a graph.
  virtual bool usedGraph() const = 0;
  /// First byte of the arena (debugging).
  virtual DevicePtr arena() const = 0;
};

} // namespace gpuc

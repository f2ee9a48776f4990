// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Context needs to know of a LoadedPlan beyond its interface.
#pragma once
#include "StepList.h"
#include "gpuc/Runtime/Runtime.h"

namespace gpuc {

/// Memory from an allocator or the device, given back by the destructor.
class DeviceMemory {
public:
  DeviceMemory() = default;
  ~DeviceMemory() { reset(); }
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  /// `purpose` appears in the error: "the arena".
  Status allocate(Device &device, Allocator *allocator, uint64_t bytes, const char *purpose);
  void reset();
  DevicePtr address() const { return ptr; }

private:
  Device *device = nullptr;
  Allocator *allocator = nullptr;
  DevicePtr ptr = 0;
  uint64_t bytes = 0;
};

class LoadedPlanImpl : public LoadedPlan {
public:
  LoadedPlanImpl(std::shared_ptr<const Plan> plan, std::shared_ptr<Device> device, const LoadOptions &options)
      : source(std::move(plan)), target(std::move(device)), options(options) {}
  Status load();

  const Plan &plan() const override { return *source; }
  const PlanProgram &program() const override { return *chosen; }
  Device &device() const override { return *target; }
  MemoryNeed memory() const override { return need; }
  bool compiledAtLoad() const override { return compiled; }

  Allocator *allocator() const { return options.allocator; }
  const std::vector<KernelHandle> &kernels() const { return handles; }
  const PreparedMatmuls &matmuls() const { return runMatmuls; }
  /// Fixed addresses; inputs, outputs and arena are the caller's.
  StepAddresses addresses() const;

private:
  Status uploadConstants();
  Status loadKernels();
  Status runLoadProgram();

  std::shared_ptr<const Plan> source;
  std::shared_ptr<Device> target;
  LoadOptions options;
  const PlanProgram *chosen = nullptr;
  MemoryNeed need;
  bool compiled = false;
  // Order of destruction: memory and modules go before the device.
  DeviceMemory constantMemory, packedMemory;
  std::vector<DevicePtr> constantAddresses;
  std::vector<std::shared_ptr<Module>> modules;
  std::vector<KernelHandle> handles;
  PreparedMatmuls loadMatmuls, runMatmuls;
};

} // namespace gpuc

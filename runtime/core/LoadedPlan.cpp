// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Brings a plan onto a device: memory, constants, kernels, load program.
#include "LoadedPlan.h"
#include "BufferBounds.h"
#include <algorithm>
#include <map>

namespace gpuc {

static uint64_t padded(uint64_t bytes) {
  return (bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment;
}

static Result<const PlanProgram *> findProgram(const Plan &plan, std::string_view arch) {
  if (const PlanProgram *p = plan.programFor(arch))
    return p;
  std::string known;
  for (const PlanProgram &p : plan.programs)
    for (const std::string &a : p.archs)
      known += (known.empty() ? "" : ", ") + a;
  return notFound("plan of '" + plan.modelName + "' has no program for '" + std::string(arch) +
                  "', it has: " + (known.empty() ? "none" : known) +
                  "; compile the model with --target=" + std::string(arch));
}

static MemoryNeed needOf(const Plan &plan, const PlanProgram &program) {
  MemoryNeed need;
  need.constants = plan.constantBytes();
  need.packed = program.packedBytes;
  need.arena = program.arenaBytes;
  for (const PlanTensor &t : plan.inputs)
    need.staging += padded(uint64_t(t.sizeInBytes()));
  for (const PlanTensor &t : plan.outputs)
    need.staging += padded(uint64_t(t.sizeInBytes()));
  return need;
}

Result<MemoryNeed> memoryNeed(const Plan &plan, std::string_view arch) {
  auto program = findProgram(plan, arch);
  if (!program)
    return program.status();
  return needOf(plan, **program);
}

Status DeviceMemory::allocate(Device &onDevice, Allocator *from, uint64_t size, const char *purpose) {
  reset();
  auto result = from ? from->allocate(size) : onDevice.allocate(size);
  if (!result) {
    std::string text =
        "cannot allocate " + std::to_string(size) + " bytes for " + purpose + " on " + onDevice.description();
    if (auto available = onDevice.freeMemory())
      text += ", " + std::to_string(*available) + " bytes are free";
    return Status(result.status().code(), text + ": " + result.status().message());
  }
  device = &onDevice;
  allocator = from;
  ptr = *result;
  bytes = size;
  return {};
}

void DeviceMemory::reset() {
  if (device) {
    if (allocator)
      allocator->deallocate(ptr, bytes);
    else
      device->deallocate(ptr);
  }
  device = nullptr;
  ptr = 0;
}

StepAddresses LoadedPlanImpl::addresses() const {
  StepAddresses a;
  a.packed = packedMemory.address();
  a.constants = &constantAddresses;
  return a;
}

Status LoadedPlanImpl::load() {
  auto program = findProgram(*source, target->arch());
  if (!program)
    return program.status();
  chosen = *program;
  need = needOf(*source, *chosen);
  GPUC_RETURN_IF_ERROR(loadKernels());
  GPUC_RETURN_IF_ERROR(uploadConstants());
  return runLoadProgram();
}

Status LoadedPlanImpl::uploadConstants() {
  GPUC_RETURN_IF_ERROR(constantMemory.allocate(*target, options.allocator, need.constants, "constants"));
  uint64_t offset = 0;
  for (const PlanConstant &c : source->constants) {
    offset = padded(offset);
    DevicePtr address = constantMemory.address() + offset;
    constantAddresses.push_back(address);
    if (c.data.size()) {
      Status status = target->copyToDevice(address, c.data.data(), c.data.size(), nullptr);
      if (!status.ok())
        return Status(status.code(), "cannot upload constant '" + c.name + "': " + status.message());
      GPUC_RETURN_IF_ERROR(declareBuffer(*target, address, c.data.size()));
    }
    offset += c.data.size();
  }
  return target->synchronize(nullptr);
}

Status LoadedPlanImpl::loadKernels() {
  std::map<uint32_t, std::shared_ptr<Module>> byUnit;
  std::vector<UnitSource> fromSource;
  std::vector<uint32_t> sourceUnits;
  for (const PlanKernel &k : chosen->kernels) {
    if (!byUnit.emplace(k.unit, nullptr).second)
      continue;
    const PlanCubin *cubin =
        target->isSim() || options.forceCompile ? nullptr : source->findCubin(k.unit, target->arch());
    const PlanUnit &unit = source->units[k.unit];
    if (!cubin) {
      fromSource.push_back({unit.name, unit.text});
      sourceUnits.push_back(k.unit);
      continue;
    }
    auto module = target->loadBinary(cubin->data.data(), cubin->data.size());
    if (!module)
      return Status(module.status().code(), "cannot load unit '" + unit.name + "' for " + cubin->arch + ": " +
                                                module.status().message());
    byUnit[k.unit] = *module;
    modules.push_back(module.take());
  }
  if (!fromSource.empty()) {
    std::vector<SourceFile> headers;
    for (const PlanHeader &h : source->headers)
      headers.push_back({h.path, h.text});
    auto module = target->loadSource(fromSource, headers);
    if (!module)
      return module.status();
    compiled = true;
    for (uint32_t unit : sourceUnits)
      byUnit[unit] = *module;
    modules.push_back(module.take());
  }
  for (const PlanKernel &k : chosen->kernels) {
    auto handle = target->getKernel(*byUnit[k.unit], k.entry);
    if (!handle)
      return Status(handle.status().code(), "kernel '" + k.entry + "' of unit '" +
                                                source->units[k.unit].name +
                                                "': " + handle.status().message());
    handles.push_back(*handle);
  }
  auto load = prepareMatmuls(*target, chosen->loadSteps, options.tuneLibrary);
  if (!load)
    return load.status();
  loadMatmuls = load.take();
  auto run = prepareMatmuls(*target, chosen->runSteps, options.tuneLibrary);
  if (!run)
    return run.status();
  runMatmuls = run.take();
  return {};
}

Status LoadedPlanImpl::runLoadProgram() {
  GPUC_RETURN_IF_ERROR(packedMemory.allocate(*target, options.allocator, need.packed, "packed weights"));
  if (chosen->loadSteps.empty())
    return {};
  StepList steps(chosen->loadSteps, handles, loadMatmuls);
  Status status = steps.bind(*target, addresses());
  if (status.ok())
    status = steps.submitAll(*target, nullptr);
  if (status.ok())
    status = target->synchronize(nullptr);
  if (!status.ok())
    return Status(status.code(), "load program failed: " + status.message());
  return {};
}

Result<std::shared_ptr<LoadedPlan>> LoadedPlan::create(std::shared_ptr<const Plan> plan,
                                                       std::shared_ptr<Device> device,
                                                       const LoadOptions &options) {
  if (!plan || !device)
    return invalidArgument("a plan and a device are needed to load a plan");
  auto loaded = std::make_shared<LoadedPlanImpl>(std::move(plan), std::move(device), options);
  GPUC_RETURN_IF_ERROR(loaded->load());
  return std::shared_ptr<LoadedPlan>(std::move(loaded));
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gpuc-c/runtime.h over the C++ runtime.
#include "Handles.h"
#include "gpuc/Runtime/DeviceRegistry.h"
#include <algorithm>
#include <cstring>

using namespace gpuc;
using capi::guarded;

namespace {
/// A caller's struct in this library's size: fields that an older caller does not know stay zero.
template <typename T> Result<T> copyOptions(const T *options) {
  T copy = {};
  copy.struct_size = sizeof(T);
  if (!options)
    return copy;
  if (options->struct_size < sizeof(size_t))
    return invalidArgument("struct_size of an options struct is not set; initialise it with GPUC_INIT");
  if (options->struct_size > sizeof(T))
    return invalidArgument("an options struct has " + std::to_string(options->struct_size) +
                           " bytes, this version of gpuc knows " + std::to_string(sizeof(T)));
  std::memcpy(&copy, options, options->struct_size);
  return copy;
}

class UserAllocator : public Allocator {
public:
  explicit UserAllocator(const gpuc_allocator_t &hooks) : hooks(hooks) {}
  Result<DevicePtr> allocate(size_t bytes) override {
    if (bytes == 0)
      return DevicePtr(0);
    uint64_t address = hooks.allocate(hooks.user, bytes);
    if (address == 0)
      return Status(StatusCode::OutOfMemory, "the caller's allocator has no memory");
    if (address % kPlanAlignment) {
      hooks.deallocate(hooks.user, address, bytes);
      return invalidArgument("the caller's allocator gave an address that is not aligned to 256 bytes");
    }
    return DevicePtr(address);
  }
  void deallocate(DevicePtr ptr, size_t bytes) override {
    if (ptr)
      hooks.deallocate(hooks.user, ptr, bytes);
  }

private:
  gpuc_allocator_t hooks;
};

void describe(const std::vector<PlanTensor> &tensors, std::vector<gpuc_tensor_info_t> &out) {
  for (const PlanTensor &t : tensors) {
    gpuc_tensor_info_t info = {};
    info.name = t.name.c_str();
    info.dtype = gpuc_dtype_t(unsigned(t.dtype));
    info.rank = t.shape.size();
    info.shape = t.shape.data();
    info.bytes = uint64_t(t.sizeInBytes());
    info.specialised_value = t.specialisedTo ? t.specialisedTo->data() : nullptr;
    out.push_back(info);
  }
}

Status finishPlan(Result<Plan> loaded, gpuc_plan_t *out) {
  if (!loaded)
    return loaded.status();
  auto handle = std::make_unique<gpuc_plan_s>();
  handle->plan = std::make_shared<const Plan>(loaded.take());
  describe(handle->plan->inputs, handle->inputs);
  describe(handle->plan->outputs, handle->outputs);
  *out = handle.release();
  return {};
}

int64_t find(const std::vector<gpuc_tensor_info_t> &tensors, const char *name) {
  for (size_t i = 0; name && i < tensors.size(); ++i)
    if (std::strcmp(tensors[i].name, name) == 0)
      return int64_t(i);
  return -1;
}

void bind(const gpuc_buffer_t *buffers, size_t count, std::vector<TensorBinding> &out) {
  for (size_t i = 0; i < count; ++i)
    out[i] = {buffers[i].host, buffers[i].device, buffers[i].bytes};
}

Status missing(const char *what) { return invalidArgument(std::string("argument '") + what + "' is NULL"); }
} // namespace

extern "C" {

gpuc_status_t gpuc_device_open(const char *spec, const gpuc_device_options_t *options,
                               gpuc_device_t *device) {
  return guarded([&]() -> Status {
    if (!device)
      return missing("device");
    *device = nullptr;
    if (!spec)
      return missing("spec");
    auto known = copyOptions(options);
    if (!known)
      return known.status();
    DeviceOptions deviceOptions;
    if (known->cache_dir)
      deviceOptions.cacheDir = known->cache_dir;
    for (size_t i = 0; known->library_dirs && i < known->num_library_dirs; ++i)
      deviceOptions.libraryDirs.push_back(known->library_dirs[i]);
    auto opened = openDevice(spec, deviceOptions);
    if (!opened)
      return opened.status();
    auto handle = std::make_unique<gpuc_device_s>();
    handle->device = opened.take();
    handle->description = handle->device->description();
    handle->arch = handle->device->arch();
    *device = handle.release();
    return {};
  });
}
void gpuc_device_destroy(gpuc_device_t device) { delete device; }
const char *gpuc_device_description(gpuc_device_t device) {
  return device ? device->description.c_str() : "";
}
const char *gpuc_device_arch(gpuc_device_t device) { return device ? device->arch.c_str() : ""; }
int gpuc_device_is_simulator(gpuc_device_t device) { return device && device->device->isSim(); }

gpuc_status_t gpuc_device_free_memory(gpuc_device_t device, uint64_t *bytes) {
  return guarded([&]() -> Status {
    if (!device || !bytes)
      return missing(device ? "bytes" : "device");
    *bytes = 0;
    auto available = device->device->freeMemory();
    if (!available)
      return available.status();
    *bytes = *available;
    return {};
  });
}
gpuc_status_t gpuc_device_allocate(gpuc_device_t device, uint64_t bytes, uint64_t *address) {
  return guarded([&]() -> Status {
    if (!device || !address)
      return missing(device ? "address" : "device");
    *address = 0;
    auto allocated = device->device->allocate(bytes);
    if (!allocated)
      return allocated.status();
    *address = *allocated;
    return {};
  });
}
void gpuc_device_deallocate(gpuc_device_t device, uint64_t address) {
  if (device && address)
    gpuc_status_destroy(guarded([&]() -> Status {
      device->device->deallocate(address);
      return {};
    }));
}
gpuc_status_t gpuc_device_copy_in(gpuc_device_t device, uint64_t to, const void *from, uint64_t bytes,
                                  void *stream) {
  return guarded([&]() -> Status {
    if (!device || (bytes && (!to || !from)))
      return missing(!device ? "device" : to ? "from" : "to");
    return bytes ? device->device->copyToDevice(to, from, bytes, stream) : Status();
  });
}
gpuc_status_t gpuc_device_copy_out(gpuc_device_t device, void *to, uint64_t from, uint64_t bytes,
                                   void *stream) {
  return guarded([&]() -> Status {
    if (!device || (bytes && (!to || !from)))
      return missing(!device ? "device" : to ? "from" : "to");
    return bytes ? device->device->copyToHost(to, from, bytes, stream) : Status();
  });
}
gpuc_status_t gpuc_device_synchronize(gpuc_device_t device, void *stream) {
  return guarded(
      [&]() -> Status { return device ? device->device->synchronize(stream) : missing("device"); });
}

gpuc_status_t gpuc_plan_load_file(const char *path, gpuc_plan_t *plan) {
  return guarded([&]() -> Status {
    if (!plan)
      return missing("plan");
    *plan = nullptr;
    if (!path)
      return missing("path");
    return finishPlan(loadPlan(std::string(path)), plan);
  });
}
gpuc_status_t gpuc_plan_load_memory(const void *data, size_t size, int copy, gpuc_plan_t *plan) {
  return guarded([&]() -> Status {
    if (!plan)
      return missing("plan");
    *plan = nullptr;
    if (!data)
      return missing("data");
    return finishPlan(loadPlan(copy ? SharedBytes::copyOf(data, size) : SharedBytes(data, size, nullptr)),
                      plan);
  });
}
void gpuc_plan_destroy(gpuc_plan_t plan) { delete plan; }
const char *gpuc_plan_model_name(gpuc_plan_t plan) { return plan ? plan->plan->modelName.c_str() : ""; }
size_t gpuc_plan_num_inputs(gpuc_plan_t plan) { return plan ? plan->inputs.size() : 0; }
size_t gpuc_plan_num_outputs(gpuc_plan_t plan) { return plan ? plan->outputs.size() : 0; }
const gpuc_tensor_info_t *gpuc_plan_inputs(gpuc_plan_t plan) { return plan ? plan->inputs.data() : nullptr; }
const gpuc_tensor_info_t *gpuc_plan_outputs(gpuc_plan_t plan) {
  return plan ? plan->outputs.data() : nullptr;
}
int64_t gpuc_plan_find_input(gpuc_plan_t plan, const char *name) {
  return plan ? find(plan->inputs, name) : -1;
}
int64_t gpuc_plan_find_output(gpuc_plan_t plan, const char *name) {
  return plan ? find(plan->outputs, name) : -1;
}

gpuc_status_t gpuc_plan_memory_need(gpuc_plan_t plan, gpuc_device_t device, gpuc_memory_need_t *need) {
  return guarded([&]() -> Status {
    if (!plan || !device || !need)
      return missing(!plan ? "plan" : !device ? "device" : "need");
    *need = {};
    auto result = memoryNeed(*plan->plan, device->arch);
    if (!result)
      return result.status();
    *need = {result->constants, result->packed, result->arena, result->staging};
    return {};
  });
}

gpuc_status_t gpuc_executable_create(gpuc_plan_t plan, gpuc_device_t device,
                                     const gpuc_executable_options_t *options,
                                     gpuc_executable_t *executable) {
  return guarded([&]() -> Status {
    if (!executable)
      return missing("executable");
    *executable = nullptr;
    if (!plan || !device)
      return missing(plan ? "device" : "plan");
    auto known = copyOptions(options);
    if (!known)
      return known.status();
    auto handle = std::make_unique<gpuc_executable_s>();
    LoadOptions loadOptions;
    loadOptions.tuneLibrary = known->no_library_tuning == 0;
    if (known->allocator) {
      if (!known->allocator->allocate || !known->allocator->deallocate)
        return invalidArgument("an allocator needs both functions");
      handle->allocator = std::make_shared<UserAllocator>(*known->allocator);
      loadOptions.allocator = handle->allocator.get();
    }
    auto loaded = LoadedPlan::create(plan->plan, device->device, loadOptions);
    if (!loaded)
      return loaded.status();
    handle->loaded = loaded.take();
    *executable = handle.release();
    return {};
  });
}
void gpuc_executable_destroy(gpuc_executable_t executable) { delete executable; }

gpuc_status_t gpuc_context_create(gpuc_executable_t executable, const gpuc_context_options_t *options,
                                  gpuc_context_t *context) {
  return guarded([&]() -> Status {
    if (!context)
      return missing("context");
    *context = nullptr;
    if (!executable)
      return missing("executable");
    auto known = copyOptions(options);
    if (!known)
      return known.status();
    ContextOptions contextOptions;
    contextOptions.stageHostData = !known->no_staging;
    contextOptions.useGraph = !known->no_graph;
    contextOptions.poison = known->poison != 0;
    if (known->max_graphs)
      contextOptions.maxGraphs = std::min(known->max_graphs, 1024u);
    auto created = Context::create(executable->loaded, contextOptions);
    if (!created)
      return created.status();
    auto handle = std::make_unique<gpuc_context_s>();
    handle->allocator = executable->allocator;
    handle->context = created.take();
    handle->inputs.resize(executable->loaded->plan().inputs.size());
    handle->outputs.resize(executable->loaded->plan().outputs.size());
    *context = handle.release();
    return {};
  });
}
void gpuc_context_destroy(gpuc_context_t context) { delete context; }

gpuc_status_t gpuc_context_run(gpuc_context_t context, const gpuc_buffer_t *inputs,
                               const gpuc_buffer_t *outputs, void *stream) {
  return guarded([&]() -> Status {
    if (!context)
      return missing("context");
    if ((!inputs && !context->inputs.empty()) || (!outputs && !context->outputs.empty()))
      return missing(inputs ? "outputs" : "inputs");
    bind(inputs, context->inputs.size(), context->inputs);
    bind(outputs, context->outputs.size(), context->outputs);
    return context->context->run(context->inputs, context->outputs, stream);
  });
}
int gpuc_context_used_graph(gpuc_context_t context) { return context && context->context->usedGraph(); }

} // extern "C"

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Device memory for the inputs and outputs of a plan: what `bench` and `tune` run on.
#pragma once
#include "gpuc/Plan/Plan.h"
#include "gpuc/Runtime/Device.h"
#include "gpuc/Runtime/Runtime.h"
#include <vector>

namespace gpuc::cli {

/// Owns its memory. `device` must outlive it, and nothing may run on it any more when it is destroyed.
class DeviceTensors {
public:
  explicit DeviceTensors(Device &device) : device(device) {}
  DeviceTensors(const DeviceTensors &) = delete;
  DeviceTensors &operator=(const DeviceTensors &) = delete;
  ~DeviceTensors() {
    for (const std::vector<TensorBinding> *list : {&inputs, &outputs})
      for (const TensorBinding &binding : *list)
        device.deallocate(binding.device);
  }

  /// Makes room for `values` and for the plan's outputs; once. Errors: OutOfMemory.
  Status allocate(const std::vector<HostTensor> &values, const Plan &plan) {
    for (const HostTensor &value : values)
      GPUC_RETURN_IF_ERROR(add(inputs, value.sizeInBytes()));
    for (const PlanTensor &tensor : plan.outputs)
      GPUC_RETURN_IF_ERROR(add(outputs, tensor.sizeInBytes()));
    return {};
  }
  /// Enqueues copies of `values`, those of allocate(), to the inputs.
  Status upload(const std::vector<HostTensor> &values, StreamHandle stream) {
    for (size_t i = 0; i < inputs.size(); ++i)
      GPUC_RETURN_IF_ERROR(
          device.copyToDevice(inputs[i].device, values[i].bytes(), size_t(inputs[i].bytes), stream));
    return {};
  }
  /// Enqueues copies of the outputs to `results`, from emptyResults().
  Status download(std::vector<HostTensor> &results, StreamHandle stream) {
    for (size_t i = 0; i < outputs.size(); ++i)
      GPUC_RETURN_IF_ERROR(
          device.copyToHost(results[i].mutableBytes(), outputs[i].device, size_t(outputs[i].bytes), stream));
    return {};
  }

  /// Host tensors with the shapes of the plan's outputs.
  static std::vector<HostTensor> emptyResults(const Plan &plan) {
    std::vector<HostTensor> results;
    for (const PlanTensor &tensor : plan.outputs)
      results.emplace_back(tensor.dtype, tensor.shape);
    return results;
  }

  std::vector<TensorBinding> inputs, outputs;

private:
  Status add(std::vector<TensorBinding> &list, int64_t bytes) {
    auto memory = device.allocate(size_t(bytes));
    if (!memory)
      return memory.status();
    list.push_back(TensorBinding::onDevice(*memory, uint64_t(bytes)));
    return {};
  }

  Device &device;
};

} // namespace gpuc::cli

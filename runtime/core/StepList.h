// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A program's steps made ready to submit: every operand is a slot of 8 bytes or a tensor map of 128,
// addresses are written into the slots when they are known, and submitting only walks the list. No allocation
// after construction.
#pragma once
#include "gpuc/Plan/Plan.h"
#include "gpuc/Runtime/Device.h"
#include <functional>
#include <memory>
#include <vector>

namespace gpuc {

/// Base addresses of the memory spaces.
struct StepAddresses {
  DevicePtr arena = 0, packed = 0;
  const std::vector<DevicePtr> *constants = nullptr; ///< one per Plan::constants
  std::vector<DevicePtr> inputs, outputs;
};

/// A library matmul of a step, prepared once per loaded plan; null where plain loops compute it (sim).
using PreparedMatmuls = std::vector<std::shared_ptr<PreparedMatmul>>;

/// Prepares the matmuls of `steps`, in their order; `tune` as in Device::prepareMatmul.
Result<PreparedMatmuls> prepareMatmuls(Device &device, const std::vector<PlanStep> &steps, bool tune);

class StepList {
public:
  /// `steps`, `kernels` (one per PlanProgram::kernels) and `matmuls` must outlive the list.
  StepList(const std::vector<PlanStep> &steps, const std::vector<KernelHandle> &kernels,
           const PreparedMatmuls &matmuls);
  StepList(const StepList &) = delete;
  StepList &operator=(const StepList &) = delete;

  /// Writes all addresses but those of inputs and outputs. Errors: the device's, when it encodes a tensor
  /// map.
  Status bind(Device &device, const StepAddresses &addresses);
  /// Writes those of inputs and outputs.
  Status bindInputsOutputs(Device &device, const StepAddresses &addresses);
  /// Enqueues step `index`. Errors name the step.
  Status submit(size_t index, Device &device, StreamHandle stream);
  Status submitAll(Device &device, StreamHandle stream);
  size_t size() const { return steps.size(); }

private:
  struct Fixup {
    size_t slot;
    BufferRef ref;
    const TensorMapLayout *map = nullptr; ///< `slot` is then an index into `maps`
    size_t step = 0;
  };
  struct alignas(kTensorMapAlignment) EncodedMap {
    uint8_t bytes[kTensorMapBytes];
  };
  void addSlot(const BufferRef &ref, const TensorMapLayout *map = nullptr);
  /// The status, an error with the step's name in front.
  Status inStep(size_t index, const Status &status) const;
  Status write(const std::vector<Fixup> &fixups, Device &device, const StepAddresses &addresses);

  const std::vector<PlanStep> &steps;
  const std::vector<KernelHandle> &kernels;
  const PreparedMatmuls &matmuls;
  std::vector<uint64_t> slots;
  std::vector<EncodedMap> maps;
  std::vector<void *> pointers;    ///< pointers[i] = &slots[i], or the tensor map that argument is
  std::vector<size_t> firstSlot;   ///< per step
  std::vector<size_t> matmulIndex; ///< per step, into `matmuls`
  std::vector<Fixup> fixedRefs, boundRefs;
  size_t mapCount = 0;
};

/// Name of a step for messages and profiles: kernel entry, "copy", "fill" or "matmul".
std::string stepName(const PlanProgram &program, const PlanStep &step);

/// D = epilogue(alpha·op(A)·op(B) + beta·C + bias) with plain loops in host memory.
void hostMatmul(const MatmulProblem &problem, const MatmulOperands &operands);

} // namespace gpuc

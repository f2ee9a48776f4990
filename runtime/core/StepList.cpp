// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Submission of steps.
#include "StepList.h"
#include <cstring>

namespace gpuc {

static const std::string &labelOf(const PlanStep &step) {
  return std::visit([](auto &s) -> const std::string & { return s.label; }, step);
}

std::string stepName(const PlanProgram &program, const PlanStep &step) {
  if (auto *l = std::get_if<LaunchStep>(&step))
    return program.kernels[l->kernel].entry;
  return std::holds_alternative<CopyStep>(step)   ? "copy"
         : std::holds_alternative<FillStep>(step) ? "fill"
                                                  : "matmul";
}

Result<PreparedMatmuls> prepareMatmuls(Device &device, const std::vector<PlanStep> &steps) {
  PreparedMatmuls result;
  for (const PlanStep &step : steps) {
    auto *m = std::get_if<MatmulStep>(&step);
    if (!m)
      continue;
    const MatmulProblem &q = m->problem;
    if (q.m == 0 || q.n == 0 || q.batch == 0) {
      result.push_back(nullptr);
      continue;
    }
    auto prepared = device.prepareMatmul(q, m->workspaceBytes);
    if (prepared)
      result.push_back(prepared.take());
    else if (device.isSim() && prepared.status().code() == StatusCode::Unsupported)
      result.push_back(nullptr);
    else
      return Status(prepared.status().code(), "matmul '" + m->label + "': " + prepared.status().message());
  }
  return result;
}

StepList::StepList(const std::vector<PlanStep> &steps, const std::vector<KernelHandle> &kernels,
                   const PreparedMatmuls &matmuls)
    : steps(steps), kernels(kernels), matmuls(matmuls) {
  size_t nextMatmul = 0;
  for (const PlanStep &step : steps) {
    firstSlot.push_back(slots.size());
    matmulIndex.push_back(nextMatmul);
    if (auto *l = std::get_if<LaunchStep>(&step)) {
      for (const KernelArg &arg : l->args) {
        if (auto *ref = std::get_if<BufferRef>(&arg)) {
          addSlot(*ref);
          continue;
        }
        slots.push_back(0);
        std::visit(
            [&](auto &value) { std::memcpy(&slots.back(), &value, sizeof(value) < 8 ? sizeof(value) : 8); },
            arg);
      }
    } else if (auto *c = std::get_if<CopyStep>(&step)) {
      addSlot(c->dst);
      addSlot(c->src);
    } else if (auto *f = std::get_if<FillStep>(&step)) {
      addSlot(f->dst);
    } else {
      auto &m = std::get<MatmulStep>(step);
      ++nextMatmul;
      addSlot(m.a);
      addSlot(m.b);
      addSlot(m.d);
      m.c ? addSlot(*m.c) : slots.push_back(0);
      m.bias ? addSlot(*m.bias) : slots.push_back(0);
      m.workspaceBytes ? addSlot(m.workspace) : slots.push_back(0);
    }
  }
  for (uint64_t &slot : slots)
    pointers.push_back(&slot);
}

void StepList::addSlot(const BufferRef &ref) {
  bool bound = ref.space == MemorySpace::Input || ref.space == MemorySpace::Output;
  (bound ? boundRefs : fixedRefs).push_back({slots.size(), ref});
  slots.push_back(0);
}

void StepList::write(const Fixup &fixup, const StepAddresses &addresses) {
  DevicePtr base = 0;
  switch (fixup.ref.space) {
  case MemorySpace::Arena:
    base = addresses.arena;
    break;
  case MemorySpace::Constant:
    base = (*addresses.constants)[fixup.ref.index];
    break;
  case MemorySpace::Packed:
    base = addresses.packed;
    break;
  case MemorySpace::Input:
    base = addresses.inputs[fixup.ref.index];
    break;
  case MemorySpace::Output:
    base = addresses.outputs[fixup.ref.index];
    break;
  }
  slots[fixup.slot] = base + fixup.ref.offset;
}

void StepList::bind(const StepAddresses &addresses) {
  for (const Fixup &f : fixedRefs)
    write(f, addresses);
  bindInputsOutputs(addresses);
}

void StepList::bindInputsOutputs(const StepAddresses &addresses) {
  for (const Fixup &f : boundRefs)
    write(f, addresses);
}

Status StepList::submit(size_t index, Device &device, StreamHandle stream) {
  const PlanStep &step = steps[index];
  const uint64_t *slot = slots.data() + firstSlot[index];
  Status status;
  if (auto *l = std::get_if<LaunchStep>(&step)) {
    if (l->grid[0] == 0 || l->grid[1] == 0 || l->grid[2] == 0)
      return {};
    LaunchConfig config;
    config.grid = {l->grid[0], l->grid[1], l->grid[2]};
    config.block = {l->block[0], l->block[1], l->block[2]};
    config.sharedBytes = l->sharedBytes;
    config.programmaticDependent = l->programmaticDependent;
    config.label = l->label.c_str();
    status = device.launch(kernels[l->kernel], config, pointers.data() + firstSlot[index], stream);
  } else if (auto *c = std::get_if<CopyStep>(&step)) {
    if (c->bytes)
      status = device.copyOnDevice(slot[0], slot[1], c->bytes, stream);
  } else if (auto *f = std::get_if<FillStep>(&step)) {
    if (f->bytes)
      status = device.fill(slot[0], f->value, f->bytes, stream);
  } else {
    auto &m = std::get<MatmulStep>(step);
    if (m.problem.m == 0 || m.problem.n == 0 || m.problem.batch == 0)
      return {};
    MatmulOperands operands;
    operands.a = slot[0], operands.b = slot[1], operands.d = slot[2];
    operands.c = slot[3], operands.bias = slot[4], operands.workspace = slot[5];
    const auto &prepared = matmuls[matmulIndex[index]];
    if (prepared) {
      status = device.matmul(*prepared, operands, stream);
    } else {
      status = device.synchronize(stream);
      if (status.ok())
        hostMatmul(m.problem, operands);
    }
  }
  if (status.ok())
    return status;
  return Status(status.code(),
                "step " + std::to_string(index) + " ('" + labelOf(step) + "'): " + status.message());
}

Status StepList::submitAll(Device &device, StreamHandle stream) {
  for (size_t i = 0; i < steps.size(); ++i)
    GPUC_RETURN_IF_ERROR(submit(i, device, stream));
  return {};
}

} // namespace gpuc

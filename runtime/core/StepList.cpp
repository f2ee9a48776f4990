// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Submission of steps.
#include "StepList.h"
#include <algorithm>
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

Result<PreparedMatmuls> prepareMatmuls(Device &device, const std::vector<PlanStep> &steps, bool tune) {
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
    auto prepared = device.prepareMatmul(q, m->workspaceBytes, tune);
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
  std::vector<size_t> mapSlots;
  for (const PlanStep &step : steps) {
    firstSlot.push_back(slots.size());
    matmulIndex.push_back(nextMatmul);
    if (auto *l = std::get_if<LaunchStep>(&step)) {
      for (const KernelArg &arg : l->args) {
        if (auto *ref = std::get_if<BufferRef>(&arg)) {
          addSlot(*ref);
          continue;
        }
        if (auto *map = std::get_if<TensorMapArg>(&arg)) {
          mapSlots.push_back(slots.size());
          addSlot(map->base, &map->layout);
          continue;
        }
        slots.push_back(0);
        std::visit(
            [&](auto &value) {
              std::memcpy(&slots.back(), &value, std::min(sizeof(value), sizeof(uint64_t)));
            },
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
  maps.resize(mapSlots.size());
  for (size_t i = 0; i < maps.size(); ++i)
    pointers[mapSlots[i]] = maps[i].bytes;
}

void StepList::addSlot(const BufferRef &ref, const TensorMapLayout *map) {
  bool bound = ref.space == MemorySpace::Input || ref.space == MemorySpace::Output;
  (bound ? boundRefs : fixedRefs)
      .push_back({map ? mapCount++ : slots.size(), ref, map, firstSlot.size() - 1});
  slots.push_back(0);
}

static DevicePtr addressOf(const BufferRef &ref, const StepAddresses &addresses) {
  switch (ref.space) {
  case MemorySpace::Arena:
    return addresses.arena + ref.offset;
  case MemorySpace::Constant:
    return (*addresses.constants)[ref.index] + ref.offset;
  case MemorySpace::Packed:
    return addresses.packed + ref.offset;
  case MemorySpace::Input:
    return addresses.inputs[ref.index] + ref.offset;
  case MemorySpace::Output:
    return addresses.outputs[ref.index] + ref.offset;
  }
  return 0;
}

Status StepList::inStep(size_t index, const Status &status) const {
  return status.ok() ? status
                     : Status(status.code(), "step " + std::to_string(index) + " ('" + labelOf(steps[index]) +
                                                 "'): " + status.message());
}

Status StepList::write(const std::vector<Fixup> &fixups, Device &device, const StepAddresses &addresses) {
  for (const Fixup &f : fixups) {
    DevicePtr address = addressOf(f.ref, addresses);
    if (f.map)
      GPUC_RETURN_IF_ERROR(inStep(f.step, device.encodeTensorMap(*f.map, address, maps[f.slot].bytes)));
    else
      slots[f.slot] = address;
  }
  return {};
}

Status StepList::bind(Device &device, const StepAddresses &addresses) {
  return write(fixedRefs, device, addresses);
}

Status StepList::bindInputsOutputs(Device &device, const StepAddresses &addresses) {
  return write(boundRefs, device, addresses);
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
    config.cluster = l->cluster;
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
  return inStep(index, status);
}

Status StepList::submitAll(Device &device, StreamHandle stream) {
  for (size_t i = 0; i < steps.size(); ++i)
    GPUC_RETURN_IF_ERROR(submit(i, device, stream));
  return {};
}

} // namespace gpuc

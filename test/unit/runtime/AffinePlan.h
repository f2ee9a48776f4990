// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A plan for y = x * packed + c, with packed = 2 * weight made by the load program; the CUDA text is real, so
// the same plan runs on the fake device, the simulator and a GPU.
#pragma once
#include "gpuc/Plan/Plan.h"
#include <cstring>

namespace gpuc {

constexpr int64_t kAffineSize = 15;

/// `prologue` goes before the kernels, `entry("name")` after each (the simulator's export macro, say).
inline Plan affinePlan(const std::string &prologue = "", const std::string &exportMacro = "") {
  Plan plan;
  plan.modelName = "affine";
  plan.inputs.push_back({"x", DType::F32, {3, 5}, std::nullopt});
  plan.outputs.push_back({"y", DType::F32, {3, 5}, std::nullopt});
  std::vector<uint8_t> weight(kAffineSize * 4);
  for (int i = 0; i < kAffineSize; ++i) {
    float w = float(i + 1);
    std::memcpy(&weight[size_t(i) * 4], &w, 4);
  }
  plan.constants.push_back({"weight", SharedBytes(weight)});
  PlanUnitTable units(plan);
  auto exported = [&](const char *name) {
    return exportMacro.empty() ? std::string() : exportMacro + "(" + name + ")\n";
  };
  uint32_t pack = units.add("pack.cu", prologue + R"(
extern "C" __global__ void pack(const float *in, float *out, int n) {
  int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    out[i] = 2 * in[i];
}
)" + exported("pack"));
  uint32_t affine = units.add("affine.cu", prologue + R"(
extern "C" __global__ void affine(const float *x, const float *w, float *out, float c, long long n) {
  int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n)
    out[i] = x[i] * w[i] + c;
}
)" + exported("affine"));
  PlanProgram p;
  p.archs = {"sm_86", "sm_90a"};
  p.arenaBytes = 256;
  p.packedBytes = 256;
  p.kernels = {{pack, "pack"}, {affine, "affine"}};
  LaunchStep load;
  load.kernel = 0;
  load.block = {32, 1, 1};
  load.args = {BufferRef{MemorySpace::Constant, 0, 0}, BufferRef{MemorySpace::Packed, 0, 0},
               int32_t(kAffineSize)};
  load.label = "weight";
  p.loadSteps.push_back(load);
  LaunchStep run;
  run.kernel = 1;
  run.block = {32, 1, 1};
  run.args = {BufferRef{MemorySpace::Input, 0, 0}, BufferRef{MemorySpace::Packed, 0, 0},
              BufferRef{MemorySpace::Arena, 0, 0}, 0.5f, int64_t(kAffineSize)};
  run.label = "Mul_0, Add_1";
  p.runSteps.push_back(run);
  p.runSteps.push_back(
      CopyStep{{MemorySpace::Output, 0, 0}, {MemorySpace::Arena, 0, 0}, kAffineSize * 4, "y"});
  plan.programs.push_back(p);
  return plan;
}

/// y = relu(2 * x * w^T + x) in f32, with a 5x5 w = constant 0 if that has 25 elements.
inline MatmulStep matmulStep() {
  MatmulStep m;
  m.problem.m = 3, m.problem.n = 5, m.problem.k = 5;
  m.problem.lda = m.problem.ldb = m.problem.ldc = m.problem.ldd = 5;
  m.problem.transposeB = true;
  m.problem.dtypeA = m.problem.dtypeB = m.problem.dtypeD = DType::F32;
  m.problem.alpha = 2, m.problem.beta = 1;
  m.problem.epilogue = MatmulEpilogue::Relu;
  m.a = {MemorySpace::Input, 0, 0}, m.b = {MemorySpace::Constant, 0, 0}, m.d = {MemorySpace::Output, 0, 0};
  m.c = m.a;
  m.label = "MatMul_0";
  return m;
}

/// The affine plan with that product instead of its kernels.
inline Plan matmulPlan() {
  Plan plan = affinePlan();
  std::vector<uint8_t> w(100);
  for (int i = 0; i < 25; ++i) {
    float v = float(i % 7) - 3;
    std::memcpy(&w[size_t(i) * 4], &v, 4);
  }
  plan.constants = {{"w", SharedBytes(w)}};
  plan.programs[0].kernels.clear();
  plan.programs[0].loadSteps.clear();
  plan.programs[0].runSteps = {matmulStep()};
  return plan;
}

inline float affineExpected(int i, float x) { return x * 2 * float(i + 1) + 0.5f; }

inline HostTensor affineInput(float scale) {
  HostTensor x(DType::F32, {3, 5});
  for (int i = 0; i < kAffineSize; ++i)
    x.mutableData<float>()[i] = scale * float(i);
  return x;
}

} // namespace gpuc

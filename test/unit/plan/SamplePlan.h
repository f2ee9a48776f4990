// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A small plan that uses every feature of the format.
#pragma once
#include "gpuc/Plan/Plan.h"

namespace gpuc {

/// Ends 1672 bytes behind its base.
inline TensorMapLayout sampleTiledMap() {
  TensorMapLayout map;
  map.dtype = DType::BF16;
  map.rank = 3;
  map.dims = {60, 3, 2};
  map.strides = {128, 640};
  map.box = {64, 3, 1};
  map.elementStrides = {1, 2, 1, 1, 1};
  map.swizzle = TensorMapLayout::Swizzle::B128;
  map.byteOffset = 656;
  return map;
}

/// 1x3x4x16 bytes NHWC in a 3x3 window with padding.
inline TensorMapLayout sampleIm2colMap() {
  TensorMapLayout map;
  map.dtype = DType::I8;
  map.rank = 4;
  map.dims = {16, 4, 3, 1};
  map.strides = {16, 64, 192};
  map.im2col = true;
  map.lower = {-1, -1};
  map.upper = {-1, -1};
  map.channelsPerPixel = 16;
  map.pixelsPerColumn = 8;
  return map;
}

inline Plan samplePlan() {
  Plan plan;
  plan.producer = "gpuc test";
  plan.modelName = "sample.onnx";
  plan.buildOptions = "--fp16";
  plan.inputs.push_back({"x", DType::F32, {3, 5}, std::nullopt});
  int64_t shape[2] = {5, 3};
  plan.inputs.push_back({"shape", DType::I64, {2}, SharedBytes::copyOf(shape, sizeof(shape))});
  plan.outputs.push_back({"y", DType::F32, {5, 3}, std::nullopt});
  plan.outputs.push_back({"empty", DType::F16, {0, 7}, std::nullopt});
  plan.constants.push_back({"weight", SharedBytes(std::vector<uint8_t>(300, 0x3c))});
  plan.constants.push_back({"none", SharedBytes()});
  plan.constants.push_back({"bias", SharedBytes(std::vector<uint8_t>(60, 1))});
  plan.headers.push_back({"common/types.cuh", "using f32 = float;\n"});
  PlanUnitTable units(plan);
  uint32_t add =
      units.add("add.cu", "#include \"common/types.cuh\"\nextern \"C\" __global__ void add() {}\n");
  uint32_t pack = units.add("pack.cu", "extern \"C\" __global__ void pack() {}\n");
  plan.cubins.push_back({add, "sm_86", SharedBytes(std::vector<uint8_t>(70, 2))});
  plan.cubins.push_back({pack, "sm_86", SharedBytes(std::vector<uint8_t>(30, 3))});

  PlanProgram p;
  p.archs = {"sm_86", "sm_89"};
  p.arenaBytes = 2048;
  p.packedBytes = 512;
  p.kernels = {{add, "add"}, {pack, "pack"}};
  p.statistics = {1024, 77, 99};
  LaunchStep packing;
  packing.kernel = 1;
  packing.args = {BufferRef{MemorySpace::Constant, 0, 0}, BufferRef{MemorySpace::Packed, 0, 256}};
  packing.label = "weight";
  p.loadSteps.push_back(packing);
  LaunchStep launch;
  launch.grid = {7, 1, 1};
  launch.block = {128, 1, 1};
  launch.sharedBytes = 1024;
  launch.programmaticDependent = true;
  launch.args = {BufferRef{MemorySpace::Input, 0, 0},
                 BufferRef{MemorySpace::Packed, 0, 256},
                 BufferRef{MemorySpace::Arena, 0, 256},
                 int32_t(-5),
                 int64_t(1) << 40,
                 0.5f,
                 -2.25};
  launch.label = "Add_0, Relu_1";
  launch.cost = {0, 120};
  p.runSteps.push_back(launch);
  p.runSteps.push_back(FillStep{{MemorySpace::Arena, 0, 1024}, 7, 64, "zero"});
  MatmulStep matmul;
  matmul.problem.m = 3, matmul.problem.n = 5, matmul.problem.k = 2;
  matmul.problem.lda = 2, matmul.problem.ldb = 2, matmul.problem.ldc = 5, matmul.problem.ldd = 5;
  matmul.problem.transposeB = true;
  matmul.problem.dtypeD = DType::F32;
  matmul.problem.beta = 1;
  matmul.problem.epilogue = MatmulEpilogue::BiasRelu;
  matmul.a = {MemorySpace::Arena, 0, 256};
  matmul.b = {MemorySpace::Constant, 2, 0};
  matmul.c = BufferRef{MemorySpace::Input, 0, 0};
  matmul.bias = BufferRef{MemorySpace::Constant, 2, 20};
  matmul.d = {MemorySpace::Arena, 0, 512};
  matmul.workspace = {MemorySpace::Arena, 0, 1280};
  matmul.workspaceBytes = 512;
  matmul.label = "MatMul_2";
  matmul.cost = {60, 196};
  p.runSteps.push_back(matmul);
  p.runSteps.push_back(CopyStep{{MemorySpace::Output, 0, 0}, {MemorySpace::Arena, 0, 512}, 60, "Reshape_3"});
  plan.programs.push_back(p);
  PlanProgram other = p;
  other.archs = {"sm_90a"};
  other.loadSteps.clear();
  auto &clustered = std::get<LaunchStep>(other.runSteps[0]);
  clustered.cluster = 7;
  clustered.args.push_back(TensorMapArg{{MemorySpace::Arena, 0, 256}, sampleTiledMap()});
  clustered.args.push_back(int32_t(3));
  clustered.args.push_back(TensorMapArg{{MemorySpace::Packed, 0, 0}, sampleIm2colMap()});
  plan.programs.push_back(other);
  return plan;
}

} // namespace gpuc

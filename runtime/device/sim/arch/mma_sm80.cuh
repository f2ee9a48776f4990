// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulated twin of codegen/kernels/arch/mma_sm80.cuh.
#pragma once
#include "arch/convert.cuh"

namespace gpuc::arch {

/// D += A B for MI x NI instructions of one kind, in one rendezvous of the warp.
template <typename D>
GPUC_DEVICE void mmaAny(D *d, const u32 *a, const u32 *b, int mi, int ni, ::gpucsim::MmaKind kind,
                        unsigned line) {
  ::gpucsim::api->mma(d, a, b, unsigned(mi) << 8 | unsigned(ni), kind, line);
}

GPUC_DEVICE void mmaM16N8K16F16F32(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
  mmaAny(d, a, b, 1, 1, ::gpucsim::MmaKind::F16F32, line);
}
struct MmaF16F32 {
  using Acc = float;
  static constexpr int kM = 16, kN = 8, kK = 16, kAccRegs = 4;
  static constexpr ::gpucsim::MmaKind kKind = ::gpucsim::MmaKind::F16F32;
  GPUC_DEVICE static void mma(Acc (&d)[4], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
    mmaM16N8K16F16F32(d, a, b, line);
  }
};
GPUC_DEVICE void mmaM16N8K16Bf16F32(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
  mmaAny(d, a, b, 1, 1, ::gpucsim::MmaKind::Bf16F32, line);
}
struct MmaBf16F32 {
  using Acc = float;
  static constexpr int kM = 16, kN = 8, kK = 16, kAccRegs = 4;
  static constexpr ::gpucsim::MmaKind kKind = ::gpucsim::MmaKind::Bf16F32;
  GPUC_DEVICE static void mma(Acc (&d)[4], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
    mmaM16N8K16Bf16F32(d, a, b, line);
  }
};
GPUC_DEVICE void mmaM16N8K8Tf32F32(float (&d)[4], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
  mmaAny(d, a, b, 1, 1, ::gpucsim::MmaKind::Tf32F32, line);
}
struct MmaTf32F32 {
  using Acc = float;
  static constexpr int kM = 16, kN = 8, kK = 8, kAccRegs = 4;
  static constexpr ::gpucsim::MmaKind kKind = ::gpucsim::MmaKind::Tf32F32;
  GPUC_DEVICE static void mma(Acc (&d)[4], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
    mmaM16N8K8Tf32F32(d, a, b, line);
  }
};
GPUC_DEVICE void mmaM16N8K16F16F16(u32 (&d)[2], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
  mmaAny(d, a, b, 1, 1, ::gpucsim::MmaKind::F16F16, line);
}
struct MmaF16F16 {
  using Acc = u32;
  static constexpr int kM = 16, kN = 8, kK = 16, kAccRegs = 2;
  static constexpr ::gpucsim::MmaKind kKind = ::gpucsim::MmaKind::F16F16;
  GPUC_DEVICE static void mma(Acc (&d)[2], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
    mmaM16N8K16F16F16(d, a, b, line);
  }
};
GPUC_DEVICE void mmaM16N8K32S8S8S32(i32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
  mmaAny(d, a, b, 1, 1, ::gpucsim::MmaKind::S8S8, line);
}
struct MmaS8S8S32 {
  using Acc = i32;
  static constexpr int kM = 16, kN = 8, kK = 32, kAccRegs = 4;
  static constexpr ::gpucsim::MmaKind kKind = ::gpucsim::MmaKind::S8S8;
  GPUC_DEVICE static void mma(Acc (&d)[4], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
    mmaM16N8K32S8S8S32(d, a, b, line);
  }
};
GPUC_DEVICE void mmaM16N8K32S8U8S32(i32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
  mmaAny(d, a, b, 1, 1, ::gpucsim::MmaKind::S8U8, line);
}
struct MmaS8U8S32 {
  using Acc = i32;
  static constexpr int kM = 16, kN = 8, kK = 32, kAccRegs = 4;
  static constexpr ::gpucsim::MmaKind kKind = ::gpucsim::MmaKind::S8U8;
  GPUC_DEVICE static void mma(Acc (&d)[4], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
    mmaM16N8K32S8U8S32(d, a, b, line);
  }
};
GPUC_DEVICE void mmaM16N8K32U8S8S32(i32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
  mmaAny(d, a, b, 1, 1, ::gpucsim::MmaKind::U8S8, line);
}
struct MmaU8S8S32 {
  using Acc = i32;
  static constexpr int kM = 16, kN = 8, kK = 32, kAccRegs = 4;
  static constexpr ::gpucsim::MmaKind kKind = ::gpucsim::MmaKind::U8S8;
  GPUC_DEVICE static void mma(Acc (&d)[4], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
    mmaM16N8K32U8S8S32(d, a, b, line);
  }
};
GPUC_DEVICE void mmaM16N8K32U8U8S32(i32 (&d)[4], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
  mmaAny(d, a, b, 1, 1, ::gpucsim::MmaKind::U8U8, line);
}
struct MmaU8U8S32 {
  using Acc = i32;
  static constexpr int kM = 16, kN = 8, kK = 32, kAccRegs = 4;
  static constexpr ::gpucsim::MmaKind kKind = ::gpucsim::MmaKind::U8U8;
  GPUC_DEVICE static void mma(Acc (&d)[4], const u32 (&a)[4], const u32 (&b)[2], GPUC_SIM_SITE) {
    mmaM16N8K32U8U8S32(d, a, b, line);
  }
};

template <typename Kind, int MI, int NI>
GPUC_DEVICE void mmaTile(typename Kind::Acc (&d)[MI][NI][Kind::kAccRegs], const u32 (&a)[MI][4],
                         const u32 (&b)[NI][2], GPUC_SIM_SITE) {
  mmaAny(&d[0][0][0], &a[0][0], &b[0][0], MI, NI, Kind::kKind, line);
}

} // namespace gpuc::arch

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma (sm_90a): D (64 x N) += A (64 x K) B (K x N), K being 32 bytes of elements, by the four warps of a warpgroup; D in
// registers, B in shared memory, A in either. It runs asynchronously: fence, instructions, commit, then wait before D is
// touched (and before the shared memory that it reads is overwritten). D of warp w, lane l: d[j*4 + i] is element
// (16*w + l/4 + 8*(i/2), 8*j + 2*(l%4) + i%2). A in registers: as A of mma.sync m16n8k16 (mma_sm80.cuh), rows 16*w on.
#pragma once
#include "arch/cp_async.cuh"
#include "common/types.cuh"
#include "common/wgmma_descriptor.cuh"

namespace gpuc::arch {

/// wgmma.fence: registers (and A in registers) may be used by the instructions that follow.
GPUC_DEVICE void wgmmaFence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
/// wgmma.commit_group: closes the warpgroup's group.
GPUC_DEVICE void wgmmaCommit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
/// wgmma.wait_group: at most N of the newest groups are unfinished. The second form also orders uses of `d` after it.
template <int N> GPUC_DEVICE void wgmmaWait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
template <int N, int M> GPUC_DEVICE void wgmmaWait(float (&d)[M]) {
#pragma unroll
  for (int i = 0; i < M; ++i)
    asm volatile("" : "+f"(d[i])::"memory");
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
#pragma unroll
  for (int i = 0; i < M; ++i)
    asm volatile("" : "+f"(d[i])::"memory");
}

/// The instructions for elements T and width N (a multiple of 8 up to 256). kTransposedB: B's rows run along N
/// (wgmmaDescMn128; 16-bit types only).
template <typename T, int N, int kTransposedB> struct WgmmaInstruction;

/// wgmma.mma_async with both operands in shared memory; without `accumulate` D is overwritten.
template <typename T, int N, int kTransposedB = 0> GPUC_DEVICE void wgmma(float (&d)[N / 2], u64 a, u64 b, int accumulate) {
  WgmmaInstruction<T, N, kTransposedB>::shared(d, a, b, accumulate);
}
/// wgmma.mma_async with A in registers.
template <typename T, int N, int kTransposedB = 0>
GPUC_DEVICE void wgmmaRs(float (&d)[N / 2], const u32 (&a)[4], u64 b, int accumulate) {
  WgmmaInstruction<T, N, kTransposedB>::registers(d, a, b, accumulate);
}

// Operand lists of D by groups of four registers (eight columns): text and constraints.
#define GPUC_WGMMA_D1 "%0,%1,%2,%3"
#define GPUC_WGMMA_D2 GPUC_WGMMA_D1 ",%4,%5,%6,%7"
#define GPUC_WGMMA_D3 GPUC_WGMMA_D2 ",%8,%9,%10,%11"
#define GPUC_WGMMA_D4 GPUC_WGMMA_D3 ",%12,%13,%14,%15"
#define GPUC_WGMMA_D5 GPUC_WGMMA_D4 ",%16,%17,%18,%19"
#define GPUC_WGMMA_D6 GPUC_WGMMA_D5 ",%20,%21,%22,%23"
#define GPUC_WGMMA_D7 GPUC_WGMMA_D6 ",%24,%25,%26,%27"
#define GPUC_WGMMA_D8 GPUC_WGMMA_D7 ",%28,%29,%30,%31"
#define GPUC_WGMMA_D9 GPUC_WGMMA_D8 ",%32,%33,%34,%35"
#define GPUC_WGMMA_D10 GPUC_WGMMA_D9 ",%36,%37,%38,%39"
#define GPUC_WGMMA_D11 GPUC_WGMMA_D10 ",%40,%41,%42,%43"
#define GPUC_WGMMA_D12 GPUC_WGMMA_D11 ",%44,%45,%46,%47"
#define GPUC_WGMMA_D13 GPUC_WGMMA_D12 ",%48,%49,%50,%51"
#define GPUC_WGMMA_D14 GPUC_WGMMA_D13 ",%52,%53,%54,%55"
#define GPUC_WGMMA_D15 GPUC_WGMMA_D14 ",%56,%57,%58,%59"
#define GPUC_WGMMA_D16 GPUC_WGMMA_D15 ",%60,%61,%62,%63"
#define GPUC_WGMMA_D17 GPUC_WGMMA_D16 ",%64,%65,%66,%67"
#define GPUC_WGMMA_D18 GPUC_WGMMA_D17 ",%68,%69,%70,%71"
#define GPUC_WGMMA_D19 GPUC_WGMMA_D18 ",%72,%73,%74,%75"
#define GPUC_WGMMA_D20 GPUC_WGMMA_D19 ",%76,%77,%78,%79"
#define GPUC_WGMMA_D21 GPUC_WGMMA_D20 ",%80,%81,%82,%83"
#define GPUC_WGMMA_D22 GPUC_WGMMA_D21 ",%84,%85,%86,%87"
#define GPUC_WGMMA_D23 GPUC_WGMMA_D22 ",%88,%89,%90,%91"
#define GPUC_WGMMA_D24 GPUC_WGMMA_D23 ",%92,%93,%94,%95"
#define GPUC_WGMMA_D25 GPUC_WGMMA_D24 ",%96,%97,%98,%99"
#define GPUC_WGMMA_D26 GPUC_WGMMA_D25 ",%100,%101,%102,%103"
#define GPUC_WGMMA_D27 GPUC_WGMMA_D26 ",%104,%105,%106,%107"
#define GPUC_WGMMA_D28 GPUC_WGMMA_D27 ",%108,%109,%110,%111"
#define GPUC_WGMMA_D29 GPUC_WGMMA_D28 ",%112,%113,%114,%115"
#define GPUC_WGMMA_D30 GPUC_WGMMA_D29 ",%116,%117,%118,%119"
#define GPUC_WGMMA_D31 GPUC_WGMMA_D30 ",%120,%121,%122,%123"
#define GPUC_WGMMA_D32 GPUC_WGMMA_D31 ",%124,%125,%126,%127"
#define GPUC_WGMMA_C1 "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
#define GPUC_WGMMA_C2 GPUC_WGMMA_C1, "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])
#define GPUC_WGMMA_C3 GPUC_WGMMA_C2, "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11])
#define GPUC_WGMMA_C4 GPUC_WGMMA_C3, "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15])
#define GPUC_WGMMA_C5 GPUC_WGMMA_C4, "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19])
#define GPUC_WGMMA_C6 GPUC_WGMMA_C5, "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23])
#define GPUC_WGMMA_C7 GPUC_WGMMA_C6, "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27])
#define GPUC_WGMMA_C8 GPUC_WGMMA_C7, "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
#define GPUC_WGMMA_C9 GPUC_WGMMA_C8, "+f"(d[32]), "+f"(d[33]), "+f"(d[34]), "+f"(d[35])
#define GPUC_WGMMA_C10 GPUC_WGMMA_C9, "+f"(d[36]), "+f"(d[37]), "+f"(d[38]), "+f"(d[39])
#define GPUC_WGMMA_C11 GPUC_WGMMA_C10, "+f"(d[40]), "+f"(d[41]), "+f"(d[42]), "+f"(d[43])
#define GPUC_WGMMA_C12 GPUC_WGMMA_C11, "+f"(d[44]), "+f"(d[45]), "+f"(d[46]), "+f"(d[47])
#define GPUC_WGMMA_C13 GPUC_WGMMA_C12, "+f"(d[48]), "+f"(d[49]), "+f"(d[50]), "+f"(d[51])
#define GPUC_WGMMA_C14 GPUC_WGMMA_C13, "+f"(d[52]), "+f"(d[53]), "+f"(d[54]), "+f"(d[55])
#define GPUC_WGMMA_C15 GPUC_WGMMA_C14, "+f"(d[56]), "+f"(d[57]), "+f"(d[58]), "+f"(d[59])
#define GPUC_WGMMA_C16 GPUC_WGMMA_C15, "+f"(d[60]), "+f"(d[61]), "+f"(d[62]), "+f"(d[63])
#define GPUC_WGMMA_C17 GPUC_WGMMA_C16, "+f"(d[64]), "+f"(d[65]), "+f"(d[66]), "+f"(d[67])
#define GPUC_WGMMA_C18 GPUC_WGMMA_C17, "+f"(d[68]), "+f"(d[69]), "+f"(d[70]), "+f"(d[71])
#define GPUC_WGMMA_C19 GPUC_WGMMA_C18, "+f"(d[72]), "+f"(d[73]), "+f"(d[74]), "+f"(d[75])
#define GPUC_WGMMA_C20 GPUC_WGMMA_C19, "+f"(d[76]), "+f"(d[77]), "+f"(d[78]), "+f"(d[79])
#define GPUC_WGMMA_C21 GPUC_WGMMA_C20, "+f"(d[80]), "+f"(d[81]), "+f"(d[82]), "+f"(d[83])
#define GPUC_WGMMA_C22 GPUC_WGMMA_C21, "+f"(d[84]), "+f"(d[85]), "+f"(d[86]), "+f"(d[87])
#define GPUC_WGMMA_C23 GPUC_WGMMA_C22, "+f"(d[88]), "+f"(d[89]), "+f"(d[90]), "+f"(d[91])
#define GPUC_WGMMA_C24 GPUC_WGMMA_C23, "+f"(d[92]), "+f"(d[93]), "+f"(d[94]), "+f"(d[95])
#define GPUC_WGMMA_C25 GPUC_WGMMA_C24, "+f"(d[96]), "+f"(d[97]), "+f"(d[98]), "+f"(d[99])
#define GPUC_WGMMA_C26 GPUC_WGMMA_C25, "+f"(d[100]), "+f"(d[101]), "+f"(d[102]), "+f"(d[103])
#define GPUC_WGMMA_C27 GPUC_WGMMA_C26, "+f"(d[104]), "+f"(d[105]), "+f"(d[106]), "+f"(d[107])
#define GPUC_WGMMA_C28 GPUC_WGMMA_C27, "+f"(d[108]), "+f"(d[109]), "+f"(d[110]), "+f"(d[111])
#define GPUC_WGMMA_C29 GPUC_WGMMA_C28, "+f"(d[112]), "+f"(d[113]), "+f"(d[114]), "+f"(d[115])
#define GPUC_WGMMA_C30 GPUC_WGMMA_C29, "+f"(d[116]), "+f"(d[117]), "+f"(d[118]), "+f"(d[119])
#define GPUC_WGMMA_C31 GPUC_WGMMA_C30, "+f"(d[120]), "+f"(d[121]), "+f"(d[122]), "+f"(d[123])
#define GPUC_WGMMA_C32 GPUC_WGMMA_C31, "+f"(d[124]), "+f"(d[125]), "+f"(d[126]), "+f"(d[127])

// One specialisation: T, the instruction's type suffix, K, groups of D, and the numbers of the operands after D.
#define GPUC_WGMMA(T, TYPES, K, G, N, O0, O1, O2, O3, O4, O5, O6)                                                     \
  template <int kTransposedB> struct WgmmaInstruction<T, N, kTransposedB> {                                          \
    GPUC_DEVICE static void shared(float (&d)[N / 2], u64 a, u64 b, int accumulate) {                                \
      asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %" #O2 ", 0;\n wgmma.mma_async.sync.aligned.m64n" #N "k" #K   \
                   "." TYPES " {" GPUC_WGMMA_D##G "}, %" #O0 ", %" #O1 ", p, 1, 1" GPUC_WGMMA_MAJOR_SS(K, O3) ";\n}"  \
                   : GPUC_WGMMA_C##G                                                                                 \
                   : "l"(a), "l"(b), "r"(accumulate), "n"(kTransposedB));                                            \
    }                                                                                                                \
    GPUC_DEVICE static void registers(float (&d)[N / 2], const u32 (&a)[4], u64 b, int accumulate) {                 \
      asm volatile("{\n .reg .pred p;\n setp.ne.b32 p, %" #O5 ", 0;\n wgmma.mma_async.sync.aligned.m64n" #N "k" #K   \
                   "." TYPES " {" GPUC_WGMMA_D##G "}, {%" #O0 ",%" #O1 ",%" #O2 ",%" #O3 "}, %" #O4 ", p, 1, 1"      \
                   GPUC_WGMMA_MAJOR_RS(K, O6) ";\n}"                                                                 \
                   : GPUC_WGMMA_C##G                                                                                 \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(kTransposedB));        \
    }                                                                                                                \
  };
// Only 16-bit types (K = 16) say how their operands lie.
#define GPUC_WGMMA_MAJOR_SS(K, O) GPUC_WGMMA_MAJOR_SS_##K(O)
#define GPUC_WGMMA_MAJOR_RS(K, O) GPUC_WGMMA_MAJOR_RS_##K(O)
#define GPUC_WGMMA_MAJOR_SS_16(O) ", 0, %" #O
#define GPUC_WGMMA_MAJOR_RS_16(O) ", %" #O
#define GPUC_WGMMA_MAJOR_SS_8(O)
#define GPUC_WGMMA_MAJOR_RS_8(O)
#define GPUC_WGMMA_MAJOR_SS_32(O)
#define GPUC_WGMMA_MAJOR_RS_32(O)

// All widths of a type.
#define GPUC_WGMMA_ALL(T, TYPES, K) \
  GPUC_WGMMA(T, TYPES, K, 1, 8, 4, 5, 6, 7, 8, 9, 10) \
  GPUC_WGMMA(T, TYPES, K, 2, 16, 8, 9, 10, 11, 12, 13, 14) \
  GPUC_WGMMA(T, TYPES, K, 3, 24, 12, 13, 14, 15, 16, 17, 18) \
  GPUC_WGMMA(T, TYPES, K, 4, 32, 16, 17, 18, 19, 20, 21, 22) \
  GPUC_WGMMA(T, TYPES, K, 5, 40, 20, 21, 22, 23, 24, 25, 26) \
  GPUC_WGMMA(T, TYPES, K, 6, 48, 24, 25, 26, 27, 28, 29, 30) \
  GPUC_WGMMA(T, TYPES, K, 7, 56, 28, 29, 30, 31, 32, 33, 34) \
  GPUC_WGMMA(T, TYPES, K, 8, 64, 32, 33, 34, 35, 36, 37, 38) \
  GPUC_WGMMA(T, TYPES, K, 9, 72, 36, 37, 38, 39, 40, 41, 42) \
  GPUC_WGMMA(T, TYPES, K, 10, 80, 40, 41, 42, 43, 44, 45, 46) \
  GPUC_WGMMA(T, TYPES, K, 11, 88, 44, 45, 46, 47, 48, 49, 50) \
  GPUC_WGMMA(T, TYPES, K, 12, 96, 48, 49, 50, 51, 52, 53, 54) \
  GPUC_WGMMA(T, TYPES, K, 13, 104, 52, 53, 54, 55, 56, 57, 58) \
  GPUC_WGMMA(T, TYPES, K, 14, 112, 56, 57, 58, 59, 60, 61, 62) \
  GPUC_WGMMA(T, TYPES, K, 15, 120, 60, 61, 62, 63, 64, 65, 66) \
  GPUC_WGMMA(T, TYPES, K, 16, 128, 64, 65, 66, 67, 68, 69, 70) \
  GPUC_WGMMA(T, TYPES, K, 17, 136, 68, 69, 70, 71, 72, 73, 74) \
  GPUC_WGMMA(T, TYPES, K, 18, 144, 72, 73, 74, 75, 76, 77, 78) \
  GPUC_WGMMA(T, TYPES, K, 19, 152, 76, 77, 78, 79, 80, 81, 82) \
  GPUC_WGMMA(T, TYPES, K, 20, 160, 80, 81, 82, 83, 84, 85, 86) \
  GPUC_WGMMA(T, TYPES, K, 21, 168, 84, 85, 86, 87, 88, 89, 90) \
  GPUC_WGMMA(T, TYPES, K, 22, 176, 88, 89, 90, 91, 92, 93, 94) \
  GPUC_WGMMA(T, TYPES, K, 23, 184, 92, 93, 94, 95, 96, 97, 98) \
  GPUC_WGMMA(T, TYPES, K, 24, 192, 96, 97, 98, 99, 100, 101, 102) \
  GPUC_WGMMA(T, TYPES, K, 25, 200, 100, 101, 102, 103, 104, 105, 106) \
  GPUC_WGMMA(T, TYPES, K, 26, 208, 104, 105, 106, 107, 108, 109, 110) \
  GPUC_WGMMA(T, TYPES, K, 27, 216, 108, 109, 110, 111, 112, 113, 114) \
  GPUC_WGMMA(T, TYPES, K, 28, 224, 112, 113, 114, 115, 116, 117, 118) \
  GPUC_WGMMA(T, TYPES, K, 29, 232, 116, 117, 118, 119, 120, 121, 122) \
  GPUC_WGMMA(T, TYPES, K, 30, 240, 120, 121, 122, 123, 124, 125, 126) \
  GPUC_WGMMA(T, TYPES, K, 31, 248, 124, 125, 126, 127, 128, 129, 130) \
  GPUC_WGMMA(T, TYPES, K, 32, 256, 128, 129, 130, 131, 132, 133, 134)

GPUC_WGMMA_ALL(f16, "f32.f16.f16", 16)
GPUC_WGMMA_ALL(bf16, "f32.bf16.bf16", 16)

} // namespace gpuc::arch

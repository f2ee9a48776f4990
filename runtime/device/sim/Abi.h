// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What compiled kernels and the simulator share. This text is also given to the host compiler with every
// kernel, so it includes nothing. A kernel library reaches the simulator only through the Api table, which is
// handed to it after loading: the simulator may be linked statically into a program that exports nothing.
#pragma once

namespace gpucsim {

using Word = unsigned long long;
/// Size and alignment of a fiber's stack.
constexpr unsigned long kStackBytes = 65536;

struct Dim {
  unsigned x, y, z;
};

/// What a kernel may see of its block.
struct BlockView {
  Dim blockIdx, blockDim, gridDim;
  unsigned sharedBytes;
  unsigned char *shared;
};

/// What a kernel may see of its thread. Switch.S knows the offsets of the last two.
struct ThreadView {
  Dim threadIdx;
  unsigned lane;
  const BlockView *view;
  void *stackPointer; ///< while it does not run
  Word result;        ///< of the blocking call that it returns from
};
static_assert(__builtin_offsetof(ThreadView, stackPointer) == 24 &&
                  __builtin_offsetof(ThreadView, result) == 32,
              "Switch.S has these numbers");

// Views without alignment, so that -fsanitize=alignment does not check the simulator's own accesses.
using RawThreadView [[gnu::aligned(1)]] = ThreadView;
using RawBlockView [[gnu::aligned(1)]] = const BlockView;

/// The running thread: each stack holds a pointer to it, at an offset that differs between neighbours so that
/// the pointers do not compete for one cache set. Not volatile: the thread of a stack is the same as long as
/// the kernel function runs, so compilers may keep it.
inline __attribute__((always_inline)) RawThreadView *self() {
  unsigned long thread, colour;
  asm("movq %%rsp, %0\n\t"
      "movq %%rsp, %1\n\t"
      "shrq $10, %1\n\t"
      "andq $-65536, %0\n\t"
      "andl $4032, %k1\n\t"
      "movq (%0,%1), %0"
      : "=&r"(thread), "=&r"(colour)
      :
      : "cc");
  return reinterpret_cast<RawThreadView *>(thread);
}
/// Its block.
inline __attribute__((always_inline)) RawBlockView *selfBlock() {
  return static_cast<RawBlockView *>(self()->view);
}

enum class ShuffleMode : unsigned { Xor, Down, Up, Idx };
enum class MmaKind : unsigned { F16F32, Bf16F32, Tf32F32, F16F16, S8S8, S8U8, U8S8, U8U8 };
enum class WgmmaKind : unsigned { F16, Bf16, Tf32, E4m3, E5m2 };
/// Bits of a wgmma's shape: N, whether B is transposed, whether to accumulate.
constexpr unsigned kWgmmaWidth = 1023, kWgmmaTransposedB = 1024, kWgmmaAccumulate = 2048;
enum class Access : unsigned { Read, Write, Atomic };

/// `line` is the source line of the call: it identifies a call site (the compiler may duplicate the call
/// itself).
struct Api {
  void (*barrier)(unsigned id, unsigned threads, unsigned line); ///< threads 0: the whole block
  void (*barrierArrive)(unsigned id, unsigned threads, unsigned line);
  void (*syncWarp)(unsigned line);
  Word (*shuffle)(Word value, unsigned arg, unsigned width, ShuffleMode mode, unsigned line);
  Word (*ballot)(bool predicate, unsigned line);
  void (*ldmatrix)(unsigned *r, const void *row, unsigned count, bool transposed, unsigned line);
  /// a tile of (shape >> 8) x (shape & 255) mma instructions
  void (*mma)(void *d, const unsigned *a, const unsigned *b, unsigned shape, MmaKind kind, unsigned line);
  void (*cpAsync)(void *shared, const void *global, unsigned bytes, unsigned srcBytes);
  void (*cpAsyncCommit)();
  void (*cpAsyncWait)(unsigned groups);
  unsigned (*sharedAddress)(const void *p);
  // Hopper: shared memory by 32-bit addresses
  void *(*sharedPointer)(unsigned address, unsigned bytes); ///< checks alignment and bounds
  void (*mbarrierInit)(unsigned barrier, unsigned arrivals);
  /// `block`: 0 for the own one, else 1 + its rank in the cluster
  void (*mbarrierArrive)(unsigned barrier, unsigned expectedBytes, unsigned block);
  void (*mbarrierWait)(unsigned barrier, unsigned parity, unsigned line);
  void (*bulkLoad)(unsigned to, const void *from, unsigned bytes, unsigned barrier);
  /// `tap`: -1, or with im2col the offsets in W and H in 16 bits each
  void (*tmaLoad)(unsigned to, const void *map, unsigned barrier, unsigned rank, const int *at, int tap);
  void (*tmaStore)(const void *map, unsigned from, unsigned rank, const int *at);
  void (*bulkCommit)();
  void (*bulkWait)(unsigned groups);
  void (*stmatrix)(unsigned row, const unsigned *r, unsigned count, bool transposed, unsigned line);
  /// `shape`: of the bits above; `registersA` null: A is at the descriptor
  void (*wgmma)(float *d, const unsigned *registersA, Word a, Word b, unsigned shape, WgmmaKind kind);
  void (*wgmmaCommit)();
  void (*wgmmaWait)(unsigned groups, unsigned line);
  unsigned (*clusterRank)();
  void (*clusterArrive)();
  void (*clusterWait)(unsigned line);
  unsigned (*clusterMap)(unsigned address, unsigned rank);
  void (*stAsync)(unsigned remote, const float *values, unsigned remoteBarrier);
  void (*trap)(const char *message);
  void (*misaligned)(const void *p, unsigned size);
  void (*outOfBounds)(const char *file, unsigned line, Word index, const char *arrayType);
  void (*misalignedType)(const char *file, unsigned line, const void *p, unsigned alignment,
                         const char *type);
  /// Full checks only: called before every access.
  void (*access)(const void *p, unsigned long bytes, Access kind, const void *pc);
  /// Full checks only: copies the value of a parameter, which lies in the host's memory.
  void (*copyParameter)(void *to, void **args, unsigned index, unsigned long bytes);
};

/// Addresses of a kernel library's own code and constants.
struct ImageRange {
  const void *begin, *end;
};

} // namespace gpucsim

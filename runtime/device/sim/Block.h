// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The state of one simulated thread block and of the host thread that runs it. All functions here run on a
// fiber of the block unless they say otherwise; locals with destructors must not be alive across fail(),
// which never returns.
#pragma once
#include "Abi.h"
#include "Memory.h"
#include "TensorMap.h"
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gpuc::sim {

using gpucsim::Access;
using gpucsim::Dim;
using gpucsim::MmaKind;
using gpucsim::ShuffleMode;
using KernelFunction = void (*)(void **args);

constexpr unsigned kMaxThreads = 1024;
constexpr unsigned kMaxWarps = kMaxThreads / 32;
constexpr unsigned kMaxBarriers = 16;
constexpr unsigned kMaxSharedBytes = 232448;
/// Inaccessible bytes before and after shared memory.
constexpr size_t kSharedGuard = size_t(1) << 26;
/// The shared window begins at this address, so that 0 is no valid shared address.
constexpr unsigned kSharedWindow = 1024;

struct Block;
struct Cluster;
struct Warp;

/// A cp.async that has been issued and not yet been waited for.
struct AsyncCopy {
  unsigned char *shared;
  const unsigned char *global;
  uint32_t bytes, srcBytes, group;
  const void *pc;
};

/// A tensor store that has been issued and not yet been waited for.
struct BulkStore {
  EncodedTensorMap map;
  unsigned offset; ///< in shared memory
  int at[5];
  unsigned group;
  const void *pc;
};

/// A wgmma that has been issued and not yet been waited for.
struct WgmmaProduct {
  float *d;
  bool registersA;
  unsigned a[4];
  gpucsim::Word descriptorA, descriptorB;
  unsigned shape, group;
  gpucsim::WgmmaKind kind;
  const void *pc;
};

/// Threads of a warpgroup that wait for wgmma.
struct Warpgroup {
  unsigned arrived = 0, line = 0, groups = 0;
};

enum class ThreadState : uint8_t { Ready, Blocked, Done };

struct alignas(64) Thread : gpucsim::ThreadView {
  unsigned linear = 0;
  ThreadState state = ThreadState::Ready;
  unsigned stack = 0; ///< index of its stack while it has one
  unsigned line = 0;  ///< of the call it waits in
  Warp *warp = nullptr;
  const char *operation = nullptr; ///< that it waits in
  Thread *next = nullptr;          ///< waiting at the same barrier
  std::vector<AsyncCopy> copies;
  unsigned copyGroup = 0;                   ///< number of closed groups
  unsigned waitBarrier = 0, waitParity = 0; ///< while it is among the block's mbarrierWaiters
  bool clusterArrived = false;
  unsigned clusterGeneration = 0;
  std::vector<BulkStore> stores;
  unsigned storeGroup = 0;
  std::vector<WgmmaProduct> products;
  unsigned productGroup = 0;
};

struct alignas(64) Warp {
  unsigned index = 0, lanes = 0;
  unsigned arrived = 0; ///< lanes in the current collective
  unsigned ready = 0;   ///< lanes that can run, as bits
  const char *operation = nullptr;
  unsigned line = 0;
  Thread *threads[32] = {};
  // operands of the current collective
  gpucsim::Word values[32];
  unsigned sources[32];
  const void *inputs[32], *inputsB[32];
  void *outputs[32];
};

/// Per warp: how many of its intervals happened before now.
using Clock = uint32_t[kMaxWarps];

struct NamedBarrier {
  unsigned arrived = 0, expected = 0, line = 0;
  Thread *waiting = nullptr;
  Clock clock = {};
};

/// Operands and result of an mma tile as plain matrices.
constexpr int kMaxTileM = 256, kMaxTileN = 256;
struct TileBuffers {
  alignas(64) float a[kMaxTileM * 32];
  alignas(64) float b[32 * kMaxTileN];
  alignas(64) float c[kMaxTileM * kMaxTileN];
};

/// Last accesses of one byte of shared memory: (warp clock << 10 | thread) + 1, or 0.
struct ShadowByte {
  uint64_t write, read, read2;
};

/// The first thing that went wrong in a launch.
struct Fault {
  std::string what;
  Dim block = {};
  int thread = -1;
  uintptr_t pc = 0;
};

/// One launch, shared by the host threads that run its blocks.
struct Launch {
  KernelFunction kernel = nullptr;
  void **args = nullptr;
  Dim grid = {}, block = {};
  unsigned sharedBytes = 0, cluster = 1;
  bool full = false, reversed = false, poison = true;
  Memory *memory = nullptr;
  std::shared_ptr<const Regions> regions; ///< full checks only
  const void *imageBegin = nullptr, *imageEnd = nullptr;
  uint64_t clusters = 0;
  std::atomic<uint64_t> nextCluster{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  Fault fault; ///< guarded by mutex, valid when failed
};

/// A host thread's block: reused from block to block. It lives with its stacks in memory of its own.
struct Block : gpucsim::BlockView {
  Launch *launch = nullptr;
  Cluster *cluster = nullptr;
  unsigned rank = 0; ///< in the cluster
  unsigned threadCount = 0, warpCount = 0, live = 0;
  unsigned readyWarps = 0; ///< as bits; a set bit may be stale
  char *stacks = nullptr;
  unsigned char *sharedEnd = nullptr; ///< a guard area begins here
  unsigned freeStacks[kMaxThreads];
  unsigned freeCount = 0;
  const void *blamed = nullptr; ///< the kernel's code for which the simulator is accessing memory, or null
  NamedBarrier barriers[kMaxBarriers];
  Thread *mbarrierWaiters = nullptr;
  Warpgroup warpgroups[kMaxWarps / 4];
  Warp warps[kMaxWarps];
  Thread threads[kMaxThreads];
  TileBuffers tile;
  // full checks
  Clock clocks[kMaxWarps];
  std::vector<ShadowByte> shadow;
  struct MbarrierClock {
    Clock clock = {};
  };
  std::map<unsigned, MbarrierClock> mbarrierClocks; ///< by offset
  Region lastRegion = {};

  static Block *create(); ///< null when there is no memory
  static void destroy(Block *block);
  /// Prepares for the blocks of a launch. Host.
  void begin(Launch &launch);
  /// Makes it block `index` of the grid, about to start. Host.
  void reset(uint64_t index);
  void freeAllStacks();

private:
  void *mapping = nullptr; ///< that holds the block, its stacks and its shared memory
  size_t mappedBytes = 0;
  Block() = default;
  ~Block() = default;
};

/// The thread that runs on this fiber. Unlike gpucsim::self, looked up each time: the fiber of a finished
/// thread goes on with another.
inline Thread *currentThread() {
  uintptr_t base;
  asm volatile("movq %%rsp, %0" : "=r"(base) : : "memory");
  uintptr_t colour = base >> 10 & 4032;
  base &= ~uintptr_t(gpucsim::kStackBytes - 1);
  return static_cast<Thread *>(*reinterpret_cast<gpucsim::ThreadView *const *>(base + colour));
}
/// The block that this host thread runs, or null; for signal handlers.
Block *&runningBlock();
inline Block *blockOf(const Thread *thread) {
  return const_cast<Block *>(static_cast<const Block *>(thread->view));
}
inline Block *currentBlock() { return blockOf(currentThread()); }

/// Ends the block with a message (printf style); `pc` is in the kernel, or null.
[[noreturn]] void fail(const void *pc, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// As fail, for a thread that is not running: its pc is where it waits.
const void *waitingPc(const Thread *thread);

// ---- scheduler
/// Marks the running thread as waiting and gives the thread to run next.
gpucsim::ThreadView *waitIn(const char *operation, unsigned line);
void wake(Thread *thread);
/// True for the last lane of the warp, which performs the collective and calls releaseWarp.
bool arriveInWarp(Warp &warp, const char *operation, unsigned line);
void releaseWarp(Warp &warp);
/// Switch.S
extern "C" void gpucSimSwitch(void **save, void *load);
extern "C" [[noreturn]] void gpucSimResume(gpucsim::ThreadView *thread);

// ---- checks
/// Offset of `p` in shared memory after checking that `bytes` bytes are inside.
unsigned sharedOffset(const void *p, size_t bytes, const char *operation, const void *pc);
/// Full checks: an access of shared memory by a thread.
void checkShared(unsigned offset, size_t bytes, Access access, const Thread &thread, const void *pc);
/// Full checks: an access of anything.
void checkAccess(const void *p, size_t bytes, Access access, const void *pc);
/// Full checks: marks shared bytes as the target of a copy in flight, or as written by it.
void checkCopyBegin(unsigned offset, size_t bytes, const Thread &thread, const void *pc);
void checkCopyEnd(unsigned offset, size_t bytes, const Thread &thread);
/// Full checks: a copy that was issued at `stamp` (0: by another block) has been performed.
void checkCopyEndAt(Block &block, unsigned offset, size_t bytes, uint64_t stamp);
/// Full checks: 16 shared bytes that wgmma reads have been written, as far as the thread knows.
void checkCopied(unsigned offset, const Thread &thread, const void *pc);
/// Full checks: what an access by the thread leaves behind.
uint64_t accessStamp(const Block &block, const Thread &thread);
/// Full checks: what the thread knows is known to whoever acquires the clock; the other direction; all
/// threads of a block.
void releaseClock(Block &block, Block::MbarrierClock &clock, const Thread &thread);
void acquireClock(Block &block, const Block::MbarrierClock &clock, const Thread &thread);
void releaseAllClocks(Block &block, Block::MbarrierClock &clock);
void joinAllClocks(Block &block);
/// "; the mbarrier at byte 8 lacks 1 arrivals and 128 bytes"
void describeMbarrier(const Block &block, unsigned offset, char *text, size_t size);
/// Full checks: everything that happened in the warp happens before what its lanes do next.
inline void tick(Block &block, const Warp &warp) { block.clocks[warp.index][warp.index]++; }
/// Installs the handlers for faulting accesses once per process.
void installFaultHandlers();
/// The table that kernel libraries call through.
const gpucsim::Api *kernelApi();

} // namespace gpuc::sim

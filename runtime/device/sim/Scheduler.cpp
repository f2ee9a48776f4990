// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads of a block as fibers, and barriers. A thread runs until it blocks; a thread that ends hands its
// stack to the next one that has not started, so a kernel without collectives is a plain loop over its
// threads.
#include "Cluster.h"
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>
#include <sys/mman.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace gpuc::sim {

using gpucsim::kStackBytes;
using gpucsim::ThreadView;

static constexpr size_t kSharedArea = 256 * 1024;
static constexpr size_t kPage = 4096;
static size_t blockBytes() { return (sizeof(Block) + kPage - 1) / kPage * kPage; }

Block *&runningBlock() {
  static thread_local Block *block = nullptr;
  return block;
}

Block *Block::create() {
  // stacks (aligned to their size) | guard | shared memory | guard | Block
  const size_t stackArea = kStackBytes * kMaxThreads;
  const size_t total = kStackBytes + stackArea + kSharedGuard + kSharedArea + kSharedGuard + blockBytes();
  void *mapping =
      mmap(nullptr, total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return nullptr;
  uintptr_t stacks = (reinterpret_cast<uintptr_t>(mapping) + kStackBytes - 1) & ~(kStackBytes - 1);
  char *shared = reinterpret_cast<char *>(stacks) + stackArea + kSharedGuard;
  char *end = shared + kSharedArea;
  mprotect(shared - kSharedGuard, kSharedGuard, PROT_NONE);
  mprotect(end, kSharedGuard, PROT_NONE);
  Block *block = new (end + kSharedGuard) Block();
  block->mapping = mapping;
  block->mappedBytes = total;
  block->stacks = reinterpret_cast<char *>(stacks);
  block->sharedEnd = reinterpret_cast<unsigned char *>(end);
  block->freeAllStacks();
  return block;
}

void Block::destroy(Block *block) {
  if (!block)
    return;
  void *mapping = block->mapping;
  size_t bytes = block->mappedBytes;
  block->~Block();
  munmap(mapping, bytes);
}

void Block::begin(Launch &l) {
  launch = &l;
  blockDim = l.block;
  gridDim = l.grid;
  sharedBytes = l.sharedBytes;
  shared = sharedEnd - (l.sharedBytes + 1023) / 1024 * 1024; // so that an overrun reaches the guard
  threadCount = l.block.x * l.block.y * l.block.z;
  warpCount = (threadCount + 31) / 32;
  for (unsigned i = 0; i < threadCount; ++i) {
    Thread &t = threads[i];
    t.threadIdx = {i % l.block.x, i / l.block.x % l.block.y, i / (l.block.x * l.block.y)};
    t.lane = i % 32;
    t.view = this;
    t.linear = i;
    t.warp = &warps[i / 32];
    t.warp->threads[i % 32] = &t;
  }
  for (unsigned i = 0; i < warpCount; ++i) {
    warps[i].index = i;
    warps[i].lanes = std::min(32u, threadCount - i * 32);
  }
  lastRegion = {};
}

void Block::freeAllStacks() {
  for (unsigned i = 0; i < kMaxThreads; ++i)
    freeStacks[i] = kMaxThreads - 1 - i;
  freeCount = kMaxThreads;
}

static void fiberMain();

/// Gives a thread that has not started a stack on which fiberMain begins.
static void start(Block &block, Thread &thread) {
  unsigned stack = block.freeStacks[--block.freeCount];
  thread.stack = stack;
  char *base = block.stacks + size_t(stack) * kStackBytes;
  uintptr_t colour = (reinterpret_cast<uintptr_t>(base) >> 10) & 4032;
  *reinterpret_cast<ThreadView **>(base + colour) = &thread; // where self() looks
  // Tops at different offsets in their pages, so that the stacks do not compete for the same cache sets.
  uintptr_t top =
      (reinterpret_cast<uintptr_t>(base) + kStackBytes - 256 - stack * 192 % 4096) & ~uintptr_t(63);
  void **sp = reinterpret_cast<void **>(top);
  *--sp = nullptr; // fiberMain never returns; also aligns the stack
  *--sp = reinterpret_cast<void *>(&fiberMain);
  for (int i = 0; i < 7; ++i)
    *--sp = nullptr;
  thread.stackPointer = sp;
}

static Thread *pickFromOtherWarp(Block &block) {
  while (block.readyWarps) {
    Warp &warp = block.warps[__builtin_ctz(block.readyWarps)];
    if (warp.ready) {
      unsigned lane = unsigned(__builtin_ctz(warp.ready));
      warp.ready &= warp.ready - 1;
      return warp.threads[lane];
    }
    block.readyWarps &= block.readyWarps - 1;
  }
  return nullptr;
}

/// The next ready thread: the lanes of a warp in ring order, then another warp.
static inline Thread *pick(Block &block, const Thread &after) {
  Warp &warp = *after.warp;
  unsigned ready = warp.ready;
  if (__builtin_expect(ready == 0, 0))
    return pickFromOtherWarp(block);
  unsigned shift = after.lane & 31;
  unsigned rotated = ready >> shift | ready << ((32 - shift) & 31);
  unsigned lane = (unsigned(__builtin_ctz(rotated)) + shift) & 31;
  warp.ready = ready & ~(1u << lane);
  return warp.threads[lane];
}

/// "threads 1..31 wait in syncThreads (line 7)" for every place where threads wait.
static void describeWaiting(const Block &block, char *text, size_t size) {
  size_t used = 0;
  unsigned groups = 0;
  text[0] = 0;
  for (unsigned i = 0; i < block.threadCount && groups < 4;) {
    const Thread &t = block.threads[i];
    unsigned j = i + 1;
    if (t.state == ThreadState::Blocked) {
      while (j < block.threadCount && block.threads[j].state == ThreadState::Blocked &&
             block.threads[j].operation == t.operation && block.threads[j].line == t.line)
        ++j;
      int n = snprintf(text + used, size - used, "%s%s %u..%u wait in %s (line %u)", groups ? "; " : "",
                       "threads", i, j - 1, t.operation, t.line);
      used = std::min(size - 1, used + size_t(n));
      ++groups;
    }
    i = j;
  }
}

[[noreturn]] static void failDeadlock(Block &block) {
  char text[400], barrier[100] = "";
  describeWaiting(block, text, sizeof text);
  const void *pc = nullptr;
  for (unsigned i = 0; i < block.threadCount && !pc; ++i)
    if (block.threads[i].state == ThreadState::Blocked)
      pc = waitingPc(&block.threads[i]);
  if (const Thread *waiter = block.mbarrierWaiters)
    describeMbarrier(block, waiter->waitBarrier, barrier, sizeof barrier);
  fail(pc, "deadlock: no thread can run; %s%s", text, barrier);
}

/// The next thread to run: of the block, else of another block of the cluster, else one that a copy in flight
/// wakes. Null in a deadlock.
static Thread *pickAnywhere(Block &block, const Thread &after) {
  Thread *next = pick(block, after);
  if (__builtin_expect(next != nullptr, 1))
    return next;
  Cluster &cluster = *block.cluster;
  do {
    for (unsigned i = 0; i < cluster.size; ++i)
      if ((next = pickFromOtherWarp(*cluster.blocks[i]))) {
        runningBlock() = cluster.blocks[i];
        return next;
      }
  } while (performOldestCopy(cluster));
  return nullptr;
}

/// A block of the cluster that still has threads, to blame a deadlock on.
static Block &waitingBlock(Block &block) {
  for (unsigned i = 0; i < block.cluster->size; ++i)
    if (block.cluster->blocks[i]->live)
      return *block.cluster->blocks[i];
  return block;
}

ThreadView *waitIn(const char *operation, unsigned line) {
  Thread *me = currentThread();
  Block &block = *currentBlock();
  me->state = ThreadState::Blocked;
  me->operation = operation;
  me->line = line;
  Thread *next = pickAnywhere(block, *me);
  if (__builtin_expect(!next, 0))
    failDeadlock(block);
  if (__builtin_expect(!next->stackPointer, 0))
    start(*blockOf(next), *next);
  next->state = ThreadState::Ready;
  return next;
}

void wake(Thread *thread) {
  Warp &warp = *thread->warp;
  warp.ready |= 1u << thread->lane;
  blockOf(thread)->readyWarps |= 1u << warp.index;
}

const void *waitingPc(const Thread *thread) {
  // what Switch.S saved: padding, six registers, the return address
  return thread->stackPointer ? static_cast<void *const *>(thread->stackPointer)[7] : nullptr;
}

bool arriveInWarp(Warp &warp, const char *operation, unsigned line) {
  if (warp.arrived == 0) {
    warp.operation = operation;
    warp.line = line;
  } else if (__builtin_expect(warp.operation != operation || warp.line != line, 0)) {
    fail(waitingPc(currentThread()),
         "divergence: this thread is in %s (line %u) while %u lanes of its warp wait in %s (line %u)",
         operation, line, warp.arrived, warp.operation, warp.line);
  }
  return ++warp.arrived == warp.lanes;
}

void releaseWarp(Warp &warp) {
  Block &block = *currentBlock();
  warp.arrived = 0;
  if (block.launch->full)
    tick(block, warp);
  unsigned all = warp.lanes == 32 ? ~0u : (1u << warp.lanes) - 1;
  warp.ready = all & ~(1u << currentThread()->lane);
  block.readyWarps |= 1u << warp.index;
}

#ifdef __SANITIZE_ADDRESS__
/// AddressSanitizer marks the surroundings of a function's variables until it returns. Functions on a stack
/// that is abandoned never do, so the marks would be taken for those of the thread that uses the stack next.
/// The shadow is written directly, from a function that is not checked itself: the interface for it depends
/// on allow_user_poisoning.
__attribute__((no_sanitize("address"))) static void forgetFrames(const char *stack) {
  size_t scale, offset;
  __asan_get_shadow_mapping(&scale, &offset);
  auto shadow =
      reinterpret_cast<volatile unsigned char *>((reinterpret_cast<uintptr_t>(stack) >> scale) + offset);
  for (size_t i = 0; i < kStackBytes >> scale; ++i)
    shadow[i] = 0;
}
#else
static void forgetFrames(const char *) {}
#endif

void fail(const void *pc, const char *format, ...) {
  Thread *me = currentThread();
  Block &block = *currentBlock();
  Launch &launch = *block.launch;
  {
    std::lock_guard<std::mutex> lock(launch.mutex);
    if (!launch.failed) {
      char text[700];
      va_list list;
      va_start(list, format);
      vsnprintf(text, sizeof text, format, list);
      va_end(list);
      launch.fault.what = text;
      launch.fault.block = block.blockIdx;
      launch.fault.thread = int(me->linear);
      launch.fault.pc = reinterpret_cast<uintptr_t>(pc ? pc : block.blamed);
      launch.failed = true;
    }
  }
  block.cluster->aborted = true;
  void *discarded;
  forgetFrames(block.stacks + size_t(me->stack) * kStackBytes);
  gpucSimSwitch(&discarded, block.cluster->hostStack);
  __builtin_unreachable();
}

[[noreturn]] static void failReturned(const Warp &warp) {
  const void *pc = nullptr;
  for (const Thread *t : warp.threads)
    if (t && t->state == ThreadState::Blocked)
      pc = waitingPc(t);
  fail(pc, "divergence: this thread has returned while %u lanes of its warp wait in %s (line %u)",
       warp.arrived, warp.operation, warp.line);
}

/// Runs threads one after the other on this stack as long as there are unstarted ones.
static void fiberMain() {
  for (;;) {
    Thread *me = currentThread();
    Block &block = *currentBlock();
    me->state = ThreadState::Ready;
    block.launch->kernel(block.launch->args);
    me->state = ThreadState::Done;
    checkThreadEnd(*me);
    --block.live;
    --block.cluster->live;
    Warp &warp = *me->warp;
    if (__builtin_expect(warp.arrived != 0, 0))
      failReturned(warp);
    if (__builtin_expect(block.barriers[0].waiting != nullptr, 0))
      fail(waitingPc(block.barriers[0].waiting),
           "divergence: this thread has returned while %u threads wait at a barrier (line %u)",
           block.barriers[0].arrived, block.barriers[0].line);
    if (block.cluster->live == 0) {
      if (!block.cluster->copies.empty())
        fail(block.cluster->copies.front().pc,
             "all threads have ended while a copy to shared memory is in flight");
      block.freeStacks[block.freeCount++] = me->stack;
      void *discarded;
      gpucSimSwitch(&discarded, block.cluster->hostStack);
    }
    Thread *next = pickAnywhere(block, *me);
    if (!next)
      failDeadlock(waitingBlock(block));
    if (!next->stackPointer && blockOf(next) != &block)
      start(*blockOf(next), *next);
    if (!next->stackPointer) { // take over this stack
      char *base = block.stacks + size_t(me->stack) * kStackBytes;
      *reinterpret_cast<ThreadView **>(base + ((reinterpret_cast<uintptr_t>(base) >> 10) & 4032)) = next;
      next->stack = me->stack;
      next->stackPointer = me->stackPointer;
      continue;
    }
    block.freeStacks[block.freeCount++] = me->stack;
    next->state = ThreadState::Ready;
    gpucSimResume(next);
  }
}

void Block::reset(uint64_t index) {
  const Dim &grid = launch->grid;
  blockIdx = {unsigned(index % grid.x), unsigned(index / grid.x % grid.y), unsigned(index / grid.x / grid.y)};
  live = threadCount;
  readyWarps = warpCount == 32 ? ~0u : (1u << warpCount) - 1;
  blamed = nullptr;
  mbarrierWaiters = nullptr;
  for (Warpgroup &group : warpgroups)
    group.arrived = 0;
  for (NamedBarrier &barrier : barriers) {
    barrier.arrived = 0;
    barrier.waiting = nullptr;
  }
  for (unsigned i = 0; i < warpCount; ++i) {
    warps[i].arrived = 0;
    warps[i].ready = warps[i].lanes == 32 ? ~0u : (1u << warps[i].lanes) - 1;
  }
  for (unsigned i = 0; i < threadCount; ++i) {
    threads[i].stackPointer = nullptr;
    Thread &t = threads[i];
    t.copyGroup = t.storeGroup = t.productGroup = t.clusterGeneration = 0;
    t.clusterArrived = false;
    t.copies.clear();
    t.stores.clear();
    t.products.clear();
  }
  if (launch->poison && sharedBytes)
    memset(shared, 0xff, sharedBytes);
  if (launch->full) {
    shadow.assign(sharedBytes, ShadowByte{});
    memset(clocks, 0, sizeof clocks);
    for (unsigned i = 0; i < kMaxWarps; ++i)
      clocks[i][i] = 1;
    for (NamedBarrier &barrier : barriers)
      memset(barrier.clock, 0, sizeof barrier.clock);
    mbarrierClocks.clear();
  }
}

std::unique_ptr<Cluster> Cluster::create() {
  std::unique_ptr<Cluster> cluster(new Cluster());
  cluster->blocks[0] = Block::create();
  return cluster->blocks[0] ? std::move(cluster) : nullptr;
}

Cluster::~Cluster() {
  for (Block *block : blocks)
    Block::destroy(block);
}

bool Cluster::begin(Launch &launch) {
  size = launch.cluster;
  for (unsigned i = 0; i < size; ++i) {
    if (!blocks[i] && !(blocks[i] = Block::create()))
      return false;
    blocks[i]->begin(launch);
    blocks[i]->cluster = this;
    blocks[i]->rank = i;
  }
  return true;
}

void Cluster::run(uint64_t index) {
  live = arrived = generation = 0;
  waiting = nullptr;
  aborted = false;
  copies.clear();
  for (unsigned i = 0; i < size; ++i) {
    blocks[i]->reset(index * size + i);
    live += blocks[i]->live;
  }
  runningBlock() = blocks[0];
  Thread *first = pickFromOtherWarp(*blocks[0]);
  start(*blocks[0], *first);
  gpucSimSwitch(&hostStack, first->stackPointer);
  runningBlock() = nullptr;
  if (aborted)
    for (unsigned i = 0; i < size; ++i)
      blocks[i]->freeAllStacks();
}

// ---- barriers

static void joinClocks(Block &block, NamedBarrier &barrier, Thread *last) {
  uint32_t joined[kMaxWarps];
  memcpy(joined, barrier.clock, sizeof joined);
  auto mark = [&](const Thread *t) {
    for (unsigned w = 0; w < kMaxWarps; ++w)
      joined[w] = std::max(joined[w], block.clocks[t->warp->index][w]);
  };
  uint32_t members = 1u << last->warp->index;
  mark(last);
  for (Thread *t = barrier.waiting; t; t = t->next)
    if (!(members & 1u << t->warp->index)) {
      members |= 1u << t->warp->index;
      mark(t);
    }
  for (unsigned i = 0; i < block.warpCount; ++i)
    if (members & 1u << i) {
      memcpy(block.clocks[i], joined, sizeof joined);
      ++block.clocks[i][i];
    }
  memset(barrier.clock, 0, sizeof barrier.clock);
}

static NamedBarrier &enterBarrier(Block &block, unsigned id, unsigned threads, unsigned line,
                                  const void *pc) {
  if (id >= kMaxBarriers)
    fail(pc, "barrier %u does not exist: there are %u", id, kMaxBarriers);
  NamedBarrier &barrier = block.barriers[id];
  unsigned expected = threads ? threads : block.threadCount;
  if (expected % 32 != 0 && threads)
    fail(pc, "barrier %u: %u threads is not a multiple of 32", id, threads);
  if (barrier.arrived == 0) {
    barrier.expected = expected;
    barrier.line = line;
    barrier.waiting = nullptr;
  } else if (barrier.expected != expected) {
    fail(pc, "divergence: barrier %u expects %u threads, but this thread says %u", id, barrier.expected,
         expected);
  } else if (!threads && barrier.line != line) {
    fail(pc, "divergence: this thread is at the barrier of line %u while %u threads wait at that of line %u",
         line, barrier.arrived, barrier.line);
  }
  Warp &warp = *currentThread()->warp;
  if (warp.arrived)
    fail(pc,
         "divergence: this thread is at a barrier (line %u) while %u lanes of its warp wait in %s (line %u)",
         line, warp.arrived, warp.operation, warp.line);
  if (!threads && block.live != block.threadCount)
    fail(pc, "divergence: this thread is at a barrier (line %u) after %u threads have returned", line,
         block.threadCount - block.live);
  ++barrier.arrived;
  return barrier;
}

extern "C" __attribute__((visibility("hidden"))) ThreadView *
gpucSimHandleBarrier(unsigned id, unsigned threads, unsigned line) {
  Block &block = *currentBlock();
  Thread *me = currentThread();
  NamedBarrier &barrier = enterBarrier(block, id, threads, line, waitingPc(me));
  if (barrier.arrived < barrier.expected) {
    me->next = barrier.waiting;
    barrier.waiting = me;
    return waitIn("syncThreads", line);
  }
  if (block.launch->full)
    joinClocks(block, barrier, me);
  barrier.arrived = 0;
  Thread *t = barrier.waiting;
  barrier.waiting = nullptr;
  while (t) {
    Thread *next = t->next;
    wake(t);
    t = next;
  }
  return me;
}

void barrierArrive(unsigned id, unsigned threads, unsigned line) {
  Block &block = *currentBlock();
  Thread *me = currentThread();
  NamedBarrier &barrier = enterBarrier(block, id, threads, line, __builtin_return_address(0));
  if (block.launch->full) {
    for (unsigned w = 0; w < kMaxWarps; ++w)
      barrier.clock[w] = std::max(barrier.clock[w], block.clocks[me->warp->index][w]);
    tick(block, *me->warp);
  }
  if (barrier.arrived < barrier.expected)
    return;
  if (block.launch->full && barrier.waiting)
    joinClocks(block, barrier, barrier.waiting);
  barrier.arrived = 0;
  for (Thread *t = barrier.waiting; t;) {
    Thread *next = t->next;
    wake(t);
    t = next;
  }
  barrier.waiting = nullptr;
}

} // namespace gpuc::sim

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What finds faults: handlers of faulting accesses, of the compiled-in alignment and bounds checks, and (full
// checks) of every access: races on shared memory by vector clocks per warp, exact bounds of global buffers.
#include "Async.h"
#include "Cluster.h"
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ucontext.h>

namespace gpuc::sim {

unsigned sharedOffset(const void *p, size_t bytes, const char *operation, const void *pc) {
  const Block &block = *currentBlock();
  uintptr_t offset = reinterpret_cast<uintptr_t>(p) - reinterpret_cast<uintptr_t>(block.shared);
  if (offset > block.sharedBytes || bytes > block.sharedBytes - offset)
    fail(pc, "out of bounds: %s of %zu bytes outside the %u bytes of shared memory", operation, bytes,
         block.sharedBytes);
  return unsigned(offset);
}

// ---- races

/// A copy in flight: nobody may touch its bytes.
static constexpr uint64_t kInFlight = ~uint64_t(0);

uint64_t accessStamp(const Block &block, const Thread &t) {
  return (uint64_t(block.clocks[t.warp->index][t.warp->index]) << 10 | t.linear) + 1;
}
static unsigned threadOf(uint64_t cell) { return unsigned((cell - 1) & 1023); }

/// True when the access that left `cell` happened before what `t` does now.
static bool ordered(const Block &block, uint64_t cell, const Thread &t) {
  if (cell == 0)
    return true;
  unsigned other = threadOf(cell), warp = other / 32;
  uint32_t when = uint32_t((cell - 1) >> 10);
  if (other == t.linear)
    return true;
  uint32_t known = block.clocks[t.warp->index][warp];
  return warp == t.warp->index ? when < known : when <= known;
}

[[noreturn]] static void failRace(const char *what, unsigned offset, const char *against, unsigned other,
                                  const void *pc) {
  fail(pc, "shared memory race: %s of byte %u and a %s by thread %u without a barrier between them", what,
       offset, against, other);
}

void checkShared(unsigned offset, size_t bytes, Access access, const Thread &t, const void *pc) {
  Block &block = *currentBlock();
  if (access == Access::Atomic)
    return;
  const bool write = access == Access::Write;
  const char *what = write ? "write" : "read";
  const uint64_t mine = accessStamp(block, t);
  for (unsigned i = offset; i < offset + bytes; ++i) {
    ShadowByte &cell = block.shadow[i];
    if (cell.write == kInFlight)
      fail(pc, "shared memory race: %s of byte %u while a cp.async to it is in flight", what, i);
    if (!ordered(block, cell.write, t))
      failRace(what, i, "write", threadOf(cell.write), pc);
    if (!write) {
      if (ordered(block, cell.read, t))
        cell.read = mine;
      else
        cell.read2 = mine;
      continue;
    }
    if (!ordered(block, cell.read, t))
      failRace(what, i, "read", threadOf(cell.read), pc);
    if (!ordered(block, cell.read2, t))
      failRace(what, i, "read", threadOf(cell.read2), pc);
    cell = {mine, 0, 0};
  }
}

void checkCopyBegin(unsigned offset, size_t bytes, const Thread &t, const void *pc) {
  checkShared(offset, bytes, Access::Write, t, pc);
  for (size_t i = 0; i < bytes; ++i)
    currentBlock()->shadow[offset + i].write = kInFlight;
}

void checkCopyEnd(unsigned offset, size_t bytes, const Thread &t) {
  Block &block = *currentBlock();
  for (size_t i = 0; i < bytes; ++i)
    block.shadow[offset + i].write = accessStamp(block, t);
}

void checkCopyEndAt(Block &block, unsigned offset, size_t bytes, uint64_t stamp) {
  for (size_t i = 0; i < bytes; ++i)
    block.shadow[offset + i] = {stamp, 0, 0};
}

void checkCopied(unsigned offset, const Thread &t, const void *pc) {
  const Block &block = *blockOf(&t);
  uint64_t write = block.shadow[offset].write;
  if (write == kInFlight)
    fail(pc, "shared memory race: wgmma reads byte %u while a copy to it is in flight", offset);
  if (!ordered(block, write, t))
    failRace("wgmma's read", offset, "write", threadOf(write), pc);
}

void releaseClock(Block &block, Block::MbarrierClock &clock, const Thread &thread) {
  for (unsigned w = 0; w < kMaxWarps; ++w)
    clock.clock[w] = std::max(clock.clock[w], block.clocks[thread.warp->index][w]);
  tick(block, *thread.warp);
}

void acquireClock(Block &block, const Block::MbarrierClock &clock, const Thread &thread) {
  Clock &mine = block.clocks[thread.warp->index];
  for (unsigned w = 0; w < kMaxWarps; ++w)
    if (w != thread.warp->index)
      mine[w] = std::max(mine[w], clock.clock[w]);
  tick(block, *thread.warp);
}

void releaseAllClocks(Block &block, Block::MbarrierClock &clock) {
  for (unsigned w = 0; w < kMaxWarps; ++w) {
    clock.clock[w] = std::max(clock.clock[w], block.clocks[w][w]);
    ++block.clocks[w][w];
  }
}

void joinAllClocks(Block &block) {
  for (unsigned w = 0; w < block.warpCount; ++w)
    for (unsigned other = 0; other < block.warpCount; ++other)
      if (other != w)
        block.clocks[w][other] = block.clocks[other][other];
  for (unsigned w = 0; w < block.warpCount; ++w)
    ++block.clocks[w][w];
}

// ---- every access (full checks)

void checkAccess(const void *p, size_t bytes, Access access, const void *pc) {
  Block &block = *currentBlock();
  uintptr_t address = reinterpret_cast<uintptr_t>(p), end = address + bytes;
  auto inside = [&](uintptr_t lo, uintptr_t hi) { return address >= lo && end <= hi; };
  uintptr_t shared = reinterpret_cast<uintptr_t>(block.shared);
  if (inside(shared - 1024, reinterpret_cast<uintptr_t>(block.sharedEnd) + 1024)) {
    if (address < shared || end > shared + block.sharedBytes)
      sharedOffset(p, bytes, access == Access::Write ? "write" : "read", pc);
    checkShared(unsigned(address - shared), bytes, access, *currentThread(), pc);
    return;
  }
  // locals, and the block's own state
  uintptr_t stacks = reinterpret_cast<uintptr_t>(block.stacks), state = reinterpret_cast<uintptr_t>(&block);
  if (inside(stacks, stacks + gpucsim::kStackBytes * kMaxThreads) || inside(state, state + sizeof block))
    return;
  if (inside(block.lastRegion.begin, block.lastRegion.end))
    return;
  const Launch &launch = *block.launch;
  if (inside(reinterpret_cast<uintptr_t>(launch.imageBegin), reinterpret_cast<uintptr_t>(launch.imageEnd)))
    return;
  const Regions &regions = *launch.regions;
  auto it = std::upper_bound(regions.begin(), regions.end(), address,
                             [](uintptr_t a, const Region &region) { return a < region.begin; });
  if (it != regions.begin() && inside((it - 1)->begin, (it - 1)->end)) {
    block.lastRegion = *(it - 1);
    return;
  }
  char where[200];
  snprintf(where, sizeof where, "%s", launch.memory->describe(address).c_str());
  fail(pc, "out of bounds: %s of %zu bytes %s", access == Access::Write ? "write" : "read", bytes, where);
}

static void onAccess(const void *p, unsigned long bytes, Access access, const void *pc) {
  checkAccess(p, bytes, access, pc ? pc : __builtin_return_address(0));
}

static void copyParameter(void *to, void **args, unsigned index, unsigned long bytes) {
  memcpy(to, args[index], bytes);
}

// ---- compiled-in checks

static void onTrap(const char *message) { fail(__builtin_return_address(0), "trap: %s", message); }

static void onMisaligned(const void *p, unsigned size) {
  fail(__builtin_return_address(0), "misaligned access: %u bytes at an address that is %u modulo %u", size,
       unsigned(reinterpret_cast<uintptr_t>(p) % size), size);
}

/// The last component of a path: the unit's or the header's name.
static const char *baseName(const char *path) {
  const char *slash = path ? strrchr(path, '/') : nullptr;
  return slash ? slash + 1 : path ? path : "?";
}

static void onOutOfBounds(const char *file, unsigned line, gpucsim::Word index, const char *arrayType) {
  fail(nullptr, "out of bounds: index %lld of an array of type %s at %s:%u", static_cast<long long>(index),
       arrayType, baseName(file), line);
}

static void onMisalignedType(const char *file, unsigned line, const void *p, unsigned alignment,
                             const char *type) {
  const void *pc = __builtin_return_address(0);
  if (!p)
    fail(pc, "null pointer: access of type %s at %s:%u", type, baseName(file), line);
  if (reinterpret_cast<uintptr_t>(p) % alignment == 0)
    return;
  fail(pc, "misaligned access: type %s needs an address that is a multiple of %u at %s:%u", type, alignment,
       baseName(file), line);
}

extern "C" {
void gpucSimBarrier(unsigned, unsigned, unsigned);
void gpucSimSyncWarp(unsigned);
gpucsim::Word gpucSimShuffle(gpucsim::Word, unsigned, unsigned, ShuffleMode, unsigned);
gpucsim::Word gpucSimBallot(bool, unsigned);
void gpucSimLdmatrix(unsigned *, const void *, unsigned, bool, unsigned);
void gpucSimMma(void *, const unsigned *, const unsigned *, unsigned, MmaKind, unsigned);
void gpucSimStmatrix(unsigned, const unsigned *, unsigned, bool, unsigned);
void gpucSimMbarrierWait(unsigned, unsigned, unsigned);
void gpucSimWgmmaWait(unsigned, unsigned);
void gpucSimClusterWait(unsigned);
}

const gpucsim::Api *kernelApi() {
  static const gpucsim::Api api = {
      gpucSimBarrier, barrierArrive,  gpucSimSyncWarp,     gpucSimShuffle, gpucSimBallot, gpucSimLdmatrix,
      gpucSimMma,     cpAsync,        cpAsyncCommit,       cpAsyncWait,    sharedAddress, sharedPointer,
      mbarrierInit,   mbarrierArrive, gpucSimMbarrierWait, bulkLoad,       tmaLoad,       tmaStore,
      bulkCommit,     bulkWait,       gpucSimStmatrix,     wgmma,          wgmmaCommit,   gpucSimWgmmaWait,
      clusterRank,    clusterArrive,  gpucSimClusterWait,  clusterMap,     stAsync,       onTrap,
      onMisaligned,   onOutOfBounds,  onMisalignedType,    onAccess,       copyParameter};
  return &api;
}

// ---- faulting accesses

static struct sigaction previousActions[NSIG];

/// Stands for the address of a fault that has none: vector instructions that need alignment, non-canonical
/// addresses.
static constexpr uintptr_t kGeneralProtection = UINTPTR_MAX;

/// Runs on the fiber that faulted, as if the faulting instruction had called it.
static void reportFault(int signal, uintptr_t address, const void *pc) {
  if (signal == SIGFPE)
    fail(pc, "integer division by zero or overflow");
  if (signal == SIGILL)
    fail(pc, "trap: illegal instruction");
  if (address == kGeneralProtection)
    fail(pc, "misaligned access, or an address that no memory can have");
  Block &block = *currentBlock();
  if (block.blamed)
    pc = block.blamed;
  uintptr_t shared = reinterpret_cast<uintptr_t>(block.shared);
  uintptr_t end = reinterpret_cast<uintptr_t>(block.sharedEnd);
  if (address - (shared - kSharedGuard) < end - shared + 2 * kSharedGuard) {
    fail(pc, "out of bounds: access %lld bytes from the start of the %u bytes of shared memory",
         static_cast<long long>(address) - static_cast<long long>(shared), block.sharedBytes);
  }
  char where[200];
  snprintf(where, sizeof where, "%s", block.launch->memory->describe(address).c_str());
  if (address < 65536)
    fail(pc, "null pointer: access of address %zu", size_t(address));
  fail(pc, "out of bounds: access %s", where);
}

static void onSignal(int signal, siginfo_t *info, void *context) {
  Block *block = runningBlock();
  if (!block) { // not ours
    sigaction(signal, &previousActions[signal], nullptr);
    return;
  }
  auto &registers = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
  uintptr_t pc = uintptr_t(registers[REG_RIP]);
  registers[REG_RDI] = signal;
  const bool hasAddress = signal != SIGSEGV || info->si_code != SI_KERNEL;
  registers[REG_RSI] = greg_t(hasAddress ? reinterpret_cast<uintptr_t>(info->si_addr) : kGeneralProtection);
  registers[REG_RDX] = greg_t(pc + 1); // as a return address
  // below the red zone, aligned as at a function's entry
  registers[REG_RSP] = greg_t(((uintptr_t(registers[REG_RSP]) - 256) & ~uintptr_t(15)) - 8);
  registers[REG_RIP] = greg_t(reinterpret_cast<uintptr_t>(&reportFault));
}

void installFaultHandlers() {
  static const bool installed = [] {
    for (int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
      struct sigaction action = {};
      action.sa_sigaction = onSignal;
      action.sa_flags = SA_SIGINFO | SA_ONSTACK;
      sigemptyset(&action.sa_mask);
      sigaction(signal, &action, &previousActions[signal]);
    }
    return true;
  }();
  (void)installed;
}

} // namespace gpuc::sim

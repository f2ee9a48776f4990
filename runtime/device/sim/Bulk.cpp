// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarriers, bulk copies and stores. A load is performed when no thread can run without it, a store when its
// thread waits for it: the latest moments that the hardware may choose, so that a missing wait shows.
#include "Cluster.h"
#include <cstring>

namespace gpuc::sim {

using gpucsim::ThreadView;

// ---- mbarriers. The 64 bits in shared memory: 01 | phase | expected arrivals (20) | pending arrivals (20) |
// bytes + 2^20 (21).
namespace {
struct Mbarrier {
  bool valid;
  unsigned phase, expected, pending;
  int bytes;
};
constexpr int kBytesBias = 1 << 20;
constexpr unsigned kMaxArrivals = (1u << 20) - 1;

Mbarrier load(const SharedPlace &at) {
  uint64_t word;
  memcpy(&word, at.pointer(), 8);
  return {(word >> 62) == 1, unsigned(word >> 61 & 1), unsigned(word >> 41) & kMaxArrivals,
          unsigned(word >> 21) & kMaxArrivals, int(word & 0x1fffff) - kBytesBias};
}
void store(const SharedPlace &at, const Mbarrier &b) {
  uint64_t word = uint64_t(1) << 62 | uint64_t(b.phase) << 61 | uint64_t(b.expected) << 41 |
                  uint64_t(b.pending) << 21 | uint64_t(b.bytes + kBytesBias);
  memcpy(at.pointer(), &word, 8);
}
SharedPlace barrierPlace(unsigned address, const char *operation, const void *pc) {
  SharedPlace at = sharedPlace(address, 8, 8, operation, pc);
  if (!load(at).valid)
    fail(pc, "%s: the mbarrier at byte %u of shared memory is not initialised", operation, at.offset);
  return at;
}

/// Ends the phase when nothing is missing, and wakes who waits for that; then stores the barrier.
void update(const SharedPlace &at, Mbarrier b, const void *pc) {
  if (b.bytes >= kBytesBias || b.bytes < -kBytesBias)
    fail(pc, "the mbarrier at byte %u of shared memory counts %d bytes: more than 2^20 - 1", at.offset,
         b.bytes);
  bool ends = b.pending == 0 && b.bytes == 0;
  if (ends) {
    b.phase ^= 1;
    b.pending = b.expected;
  }
  store(at, b);
  if (!ends)
    return;
  for (Thread **link = &at.block->mbarrierWaiters; *link;) {
    Thread *t = *link;
    if (t->waitBarrier == at.offset && t->waitParity != b.phase) {
      *link = t->next;
      if (at.block->launch->full)
        acquireClock(*at.block, at.block->mbarrierClocks[at.offset], *t);
      wake(t);
    } else {
      link = &t->next;
    }
  }
}
} // namespace

void mbarrierInit(unsigned barrier, unsigned arrivals) {
  const void *pc = __builtin_return_address(0);
  if (arrivals == 0 || arrivals > kMaxArrivals)
    fail(pc, "mbarrier.init with %u arrivals; 1 to 2^20 - 1 are possible", arrivals);
  store(sharedPlace(barrier, 8, 8, "mbarrier.init", pc), {true, 0, arrivals, arrivals, 0});
}

void mbarrierArrive(unsigned barrier, unsigned expectedBytes, unsigned block) {
  const void *pc = __builtin_return_address(0);
  if (block)
    barrier = clusterMap(barrier, block - 1);
  SharedPlace at = barrierPlace(barrier, "mbarrier.arrive", pc);
  Mbarrier b = load(at);
  if (b.pending == 0)
    fail(pc,
         "mbarrier.arrive: the mbarrier at byte %u of shared memory has had its %u arrivals in this phase",
         at.offset, b.expected);
  if (at.block->launch->full) {
    if (at.block == currentBlock())
      releaseClock(*at.block, at.block->mbarrierClocks[at.offset], *currentThread());
    else
      releaseAllClocks(*at.block, at.block->mbarrierClocks[at.offset]);
  }
  --b.pending;
  b.bytes += int(expectedBytes);
  update(at, b, pc);
}

extern "C" __attribute__((visibility("hidden"))) ThreadView *
gpucSimHandleMbarrierWait(unsigned barrier, unsigned parity, unsigned line) {
  Thread *me = currentThread();
  SharedPlace at = barrierPlace(barrier, "mbarrier.try_wait", waitingPc(me));
  if (load(at).phase != (parity & 1)) {
    if (at.block->launch->full)
      acquireClock(*at.block, at.block->mbarrierClocks[at.offset], *me);
    return me;
  }
  me->waitBarrier = at.offset;
  me->waitParity = parity & 1;
  me->next = at.block->mbarrierWaiters;
  at.block->mbarrierWaiters = me;
  return waitIn("mbarrierWait", line);
}

void describeMbarrier(const Block &block, unsigned offset, char *text, size_t size) {
  Mbarrier b = load({const_cast<Block *>(&block), offset});
  snprintf(text, size, "; the mbarrier at byte %u lacks %u arrivals and %d bytes", offset, b.pending,
           b.bytes);
}

// ---- loads

static void issue(BulkCopy copy) {
  Block &block = *currentBlock();
  if (block.launch->full) {
    Thread &me = *currentThread();
    if (copy.to.block == &block)
      checkCopyBegin(copy.to.offset, copy.bytes, me, copy.pc);
    copy.stamp = copy.to.block == &block ? accessStamp(block, me) : 0; // clocks are those of one block
    if (copy.barrier.block == &block)
      releaseClock(block, block.mbarrierClocks[copy.barrier.offset], me);
  }
  block.cluster->copies.push_back(copy);
}

void bulkLoad(unsigned to, const void *from, unsigned bytes, unsigned barrier) {
  const void *pc = __builtin_return_address(0);
  if (bytes % 16 != 0 || reinterpret_cast<uintptr_t>(from) % 16 != 0)
    fail(pc, "misaligned access: a bulk copy of %u bytes from an address that is %u modulo 16", bytes,
         unsigned(reinterpret_cast<uintptr_t>(from) % 16));
  if (currentBlock()->launch->full)
    checkAccess(from, bytes, Access::Read, pc);
  BulkCopy copy = {};
  copy.kind = BulkCopy::Kind::Bytes;
  copy.to = sharedPlace(to, bytes, 16, "a bulk copy", pc);
  copy.barrier = barrierPlace(barrier, "a bulk copy", pc);
  copy.bytes = bytes;
  copy.from = from;
  copy.pc = pc;
  issue(copy);
}

static EncodedTensorMap readMap(const void *map, unsigned rank, bool im2col, const char *operation,
                                const void *pc) {
  EncodedTensorMap m;
  memcpy(&m, map, sizeof m);
  if (m.magic != EncodedTensorMap::kMagic)
    fail(pc, "%s: the parameter is no tensor map", operation);
  if (m.rank != rank || bool(m.im2col) != im2col)
    fail(pc, "%s of rank %u%s with a tensor map of rank %u%s", operation, rank, im2col ? " (im2col)" : "",
         m.rank, m.im2col ? " (im2col)" : "");
  return m;
}
/// What the shared address of a box must be a multiple of.
static unsigned boxAlignment(const EncodedTensorMap &map) { return map.swizzle ? 128u << map.swizzle : 128u; }

void tmaLoad(unsigned to, const void *map, unsigned barrier, unsigned rank, const int *at, int tap) {
  const void *pc = __builtin_return_address(0);
  BulkCopy copy = {};
  copy.kind = BulkCopy::Kind::Tensor;
  copy.map = readMap(map, rank, tap >= 0, "a tensor copy", pc);
  copy.bytes = boxBytes(copy.map);
  copy.to = sharedPlace(to, copy.bytes, boxAlignment(copy.map), "a tensor copy", pc);
  copy.barrier = barrierPlace(barrier, "a tensor copy", pc);
  memcpy(copy.at, at, rank * sizeof(int));
  copy.tap = tap >= 0 ? tap : 0;
  copy.pc = pc;
  issue(copy);
}

void stAsync(unsigned remote, const float *values, unsigned remoteBarrier) {
  const void *pc = __builtin_return_address(0);
  BulkCopy copy = {};
  copy.kind = BulkCopy::Kind::Remote;
  copy.to = sharedPlace(remote, 16, 16, "st.async", pc);
  copy.barrier = barrierPlace(remoteBarrier, "st.async", pc);
  if (copy.to.block != copy.barrier.block)
    fail(pc, "st.async: data and mbarrier are in different blocks");
  copy.bytes = 16;
  memcpy(copy.values, values, 16);
  copy.pc = pc;
  issue(copy);
}

bool performOldestCopy(Cluster &cluster) {
  if (cluster.copies.empty())
    return false;
  BulkCopy copy = cluster.copies.front();
  cluster.copies.pop_front();
  if (copy.kind == BulkCopy::Kind::Products) {
    performProducts(copy.first);
    return true;
  }
  Block &self = *currentBlock(); // on whose fiber this runs; blamed for faults
  self.blamed = copy.pc;
  unsigned char *to = copy.to.pointer();
  if (copy.kind == BulkCopy::Kind::Bytes) {
    memcpy(to, copy.from, copy.bytes);
  } else if (copy.kind == BulkCopy::Kind::Remote) {
    memcpy(to, copy.values, 16);
  } else {
    const unsigned size = copy.map.elementBytes, rowBytes = copy.map.box[0] * size;
    const unsigned base = copy.to.offset; // a multiple of the swizzle's period
    unsigned char row[4096];
    if (rowBytes > sizeof row)
      fail(copy.pc, "a tensor copy with runs of %u bytes: the simulator has room for %zu", rowBytes,
           sizeof row);
    forEachRow(copy.map, copy.at, copy.tap,
               [&](unsigned offset, uint64_t address, unsigned elements, unsigned skipped) {
                 memset(row, 0, rowBytes);
                 if (elements) {
                   if (self.launch->full)
                     checkAccess(reinterpret_cast<const void *>(address), elements * size, Access::Read,
                                 copy.pc);
                   memcpy(row + skipped * size, reinterpret_cast<const void *>(address), elements * size);
                 }
                 if (!copy.map.swizzle) {
                   memcpy(to + offset, row, rowBytes);
                   return;
                 }
                 for (unsigned i = 0; i < rowBytes; i += 16)
                   memcpy(to + (swizzled(base + offset + i, copy.map.swizzle) - base), row + i,
                          std::min(16u, rowBytes - i));
               });
  }
  self.blamed = nullptr;
  if (self.launch->full)
    checkCopyEndAt(*copy.to.block, copy.to.offset, copy.bytes, copy.stamp);
  Mbarrier b = load(copy.barrier);
  if (!b.valid)
    fail(copy.pc, "the mbarrier of a copy in flight, at byte %u of shared memory, was overwritten",
         copy.barrier.offset);
  b.bytes -= int(copy.bytes);
  update(copy.barrier, b, copy.pc);
  return true;
}

// ---- stores

void tmaStore(const void *map, unsigned from, unsigned rank, const int *at) {
  const void *pc = __builtin_return_address(0);
  Thread &me = *currentThread();
  BulkStore store = {};
  store.map = readMap(map, rank, false, "a tensor store", pc);
  unsigned bytes = boxBytes(store.map);
  SharedPlace place = sharedPlace(from, bytes, boxAlignment(store.map), "a tensor store", pc);
  if (currentBlock()->launch->full)
    checkShared(place.offset, bytes, Access::Read, me, pc);
  store.offset = place.offset;
  memcpy(store.at, at, rank * sizeof(int));
  store.group = me.storeGroup;
  store.pc = pc;
  me.stores.push_back(store);
}

void bulkCommit() { ++currentThread()->storeGroup; }

void bulkWait(unsigned groups) {
  Thread &me = *currentThread();
  Block &block = *currentBlock();
  size_t done = 0;
  for (; done < me.stores.size() && me.stores[done].group + groups < me.storeGroup; ++done) {
    const BulkStore &store = me.stores[done];
    const unsigned size = store.map.elementBytes, rowBytes = store.map.box[0] * size;
    block.blamed = store.pc;
    unsigned char row[4096];
    forEachRow(store.map, store.at, 0,
               [&](unsigned offset, uint64_t address, unsigned elements, unsigned skipped) {
                 if (!elements)
                   return;
                 for (unsigned i = 0; i < rowBytes; i += 16)
                   memcpy(row + i, block.shared + swizzled(store.offset + offset + i, store.map.swizzle),
                          std::min(16u, rowBytes - i));
                 if (block.launch->full)
                   checkAccess(reinterpret_cast<void *>(address), elements * size, Access::Write, store.pc);
                 memcpy(reinterpret_cast<void *>(address), row + skipped * size, elements * size);
               });
    block.blamed = nullptr;
  }
  me.stores.erase(me.stores.begin(), me.stores.begin() + long(done));
}

void checkThreadEnd(const Thread &thread) {
  if (!thread.stores.empty())
    fail(thread.stores.front().pc,
         "a thread ends while its tensor stores still read shared memory: bulkWait is missing");
  if (!thread.products.empty())
    fail(thread.products.front().pc,
         "a thread ends while its wgmma instructions are in flight: wgmmaWait is missing");
}

} // namespace gpuc::sim

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Addresses within a cluster and its barrier.
#include "Cluster.h"

namespace gpuc::sim {

using gpucsim::ThreadView;

/// A cluster-wide address: 1 + the block's rank above the bits of a shared address.
static constexpr unsigned kRankShift = 24;

SharedPlace sharedPlace(unsigned address, unsigned bytes, unsigned alignment, const char *operation,
                        const void *pc) {
  Block *block = currentBlock();
  unsigned rank = address >> kRankShift, offset = (address & ((1u << kRankShift) - 1)) - kSharedWindow;
  if (rank > block->cluster->size)
    fail(pc, "%s at an address of block %u of a cluster of %u", operation, rank - 1, block->cluster->size);
  if (rank)
    block = block->cluster->blocks[rank - 1];
  if (offset > block->sharedBytes || bytes > block->sharedBytes - offset)
    fail(pc, "out of bounds: %s of %u bytes at byte %d of the %u bytes of shared memory", operation, bytes,
         int(offset), block->sharedBytes);
  if (offset % alignment != 0)
    fail(pc, "misaligned access: %s at byte %u of shared memory, which is not a multiple of %u", operation,
         offset, alignment);
  return {block, offset};
}

void *sharedPointer(unsigned address, unsigned bytes) {
  return sharedPlace(address, bytes, bytes, "access", __builtin_return_address(0)).pointer();
}

unsigned clusterRank() { return currentBlock()->rank; }

unsigned clusterMap(unsigned address, unsigned rank) {
  const Cluster &cluster = *currentBlock()->cluster;
  if (rank >= cluster.size)
    fail(__builtin_return_address(0), "mapa to block %u of a cluster of %u", rank, cluster.size);
  return (address & ((1u << kRankShift) - 1)) | (rank + 1) << kRankShift;
}

void clusterArrive() {
  Thread *me = currentThread();
  Cluster &cluster = *currentBlock()->cluster;
  if (me->clusterArrived)
    fail(__builtin_return_address(0), "a thread arrives twice at the barrier of its cluster without waiting");
  me->clusterArrived = true;
  me->clusterGeneration = cluster.generation;
  if (++cluster.arrived < cluster.live)
    return;
  cluster.arrived = 0;
  ++cluster.generation;
  for (Thread *t = cluster.waiting; t;) {
    Thread *next = t->next;
    t->clusterArrived = false;
    wake(t);
    t = next;
  }
  cluster.waiting = nullptr;
  // What happened before the barrier in a block happens before what follows there.
  if (currentBlock()->launch->full)
    for (unsigned i = 0; i < cluster.size; ++i)
      joinAllClocks(*cluster.blocks[i]);
}

extern "C" __attribute__((visibility("hidden"))) ThreadView *gpucSimHandleClusterWait(unsigned line) {
  Thread *me = currentThread();
  Cluster &cluster = *currentBlock()->cluster;
  if (!me->clusterArrived)
    fail(waitingPc(me), "a thread waits at the barrier of its cluster before it has arrived");
  if (me->clusterGeneration != cluster.generation) {
    me->clusterArrived = false;
    return me;
  }
  me->next = cluster.waiting;
  cluster.waiting = me;
  return waitIn("clusterWait", line);
}

} // namespace gpuc::sim

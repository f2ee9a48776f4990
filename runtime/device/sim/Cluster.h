// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks that a host thread runs together: the blocks of a cluster, or a single one. Their threads take
// turns; where none can run, the oldest copy in flight is performed, the latest moment that the hardware may
// choose.
#pragma once
#include "Block.h"
#include "TensorMap.h"
#include <deque>
#include <memory>

namespace gpuc::sim {

constexpr unsigned kMaxClusterBlocks = 8;

/// A place in the shared memory of a block of the running cluster.
struct SharedPlace {
  Block *block;
  unsigned offset;
  unsigned char *pointer() const { return block->shared + offset; }
};
/// The place of a shared address (of the own block, or of another one from clusterMap), after checks.
SharedPlace sharedPlace(unsigned address, unsigned bytes, unsigned alignment, const char *operation,
                        const void *pc);

/// Work that has been issued and not been performed: a copy to shared memory, or the products that a
/// warpgroup waits for.
struct BulkCopy {
  enum class Kind : uint8_t { Bytes, Tensor, Remote, Products } kind;
  SharedPlace to, barrier;
  unsigned bytes;
  const void *from = nullptr; ///< Bytes
  Thread *first = nullptr;    ///< Products: of the warpgroup
  EncodedTensorMap map;       ///< Tensor
  int at[5], tap;
  float values[4]; ///< Remote
  uint64_t stamp;  ///< full checks: of its issue
  const void *pc;
};

struct Cluster {
  static std::unique_ptr<Cluster> create(); ///< null when there is no memory
  ~Cluster();
  /// Prepares for the clusters of a launch; false when there is no memory. Host.
  bool begin(Launch &launch);
  /// Runs one cluster to its end or its first fault. Host.
  void run(uint64_t index);

  Block *blocks[kMaxClusterBlocks] = {};
  unsigned size = 1;
  unsigned live = 0; ///< threads that have not ended
  bool aborted = false;
  void *hostStack = nullptr;
  std::deque<BulkCopy> copies;
  // barrier.cluster
  unsigned arrived = 0, generation = 0;
  Thread *waiting = nullptr;

private:
  Cluster() = default;
};

/// Computes what a warpgroup waits for and wakes it.
void performProducts(Thread *first);
/// Performs the oldest work in flight; false when there is none.
bool performOldestCopy(Cluster &cluster);
/// Fails when a thread ends with stores or products in flight.
void checkThreadEnd(const Thread &thread);

// ---- what kernels call (Abi.h)
void *sharedPointer(unsigned address, unsigned bytes);
void mbarrierInit(unsigned barrier, unsigned arrivals);
void mbarrierArrive(unsigned barrier, unsigned expectedBytes, unsigned block);
void bulkLoad(unsigned to, const void *from, unsigned bytes, unsigned barrier);
void tmaLoad(unsigned to, const void *map, unsigned barrier, unsigned rank, const int *at, int tap);
void tmaStore(const void *map, unsigned from, unsigned rank, const int *at);
void bulkCommit();
void bulkWait(unsigned groups);
void wgmma(float *d, const unsigned *registersA, gpucsim::Word a, gpucsim::Word b, unsigned shape,
           gpucsim::WgmmaKind kind);
void wgmmaCommit();
unsigned clusterRank();
void clusterArrive();
unsigned clusterMap(unsigned address, unsigned rank);
void stAsync(unsigned remote, const float *values, unsigned remoteBarrier);

} // namespace gpuc::sim

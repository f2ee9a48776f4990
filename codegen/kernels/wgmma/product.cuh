// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A persistent block of a product on the warpgroup tensor cores of sm_90a: result tiles kBlockA x kBlockB of
// A (rows, depth) times B (rows, depth) transposed, float sums.
//
// The last warpgroup produces: one thread requests k-tiles of both operands from the tensor memory
// accelerator into a ring of kStages, which full and empty barriers guard. The others consume: cooperative
// ones own kBlockA/kConsumers rows of each tile; ping-pong ones own whole tiles and take turns on the ring,
// so that the epilogue of one runs under the main loop of the other. README.md explains the choice.
#pragma once
#include "arch/barrier.cuh"
#include "arch/griddep.cuh"
#include "arch/registers.cuh"
#include "arch/tma.cuh"
#include "arch/wgmma.cuh"
#include "wgmma/epilogue.cuh"
#include "wgmma/sources.cuh"

namespace gpuc {

template <typename Config, typename SourceA, typename SourceB, typename Store> struct WgmmaProduct {
  using T = typename Config::T;
  using Schedule = WgmmaSchedule<Config>;
  static constexpr int kStages = Config::kStages, kConsumers = Config::kConsumers;
  static constexpr int kConsumerThreads = kConsumers * 128, kThreads = kConsumerThreads + 128;
  static constexpr int kRowsOfGroup = Schedule::kRowsOfGroup;
  static constexpr int kMi = kRowsOfGroup / 64;     ///< instructions on top of each other
  static constexpr int kSums = Config::kBlockB / 2; ///< of a thread, per instruction
  static constexpr u32 kBytesA = u32(Config::kBlockA) * 128, kBytesB = u32(Config::kBlockB) * 128;
  static constexpr int kRegisters = kConsumers == 3 ? 160 : 240,
                       kProducerRegisters = kConsumers == 3 ? 32 : 24;
  static_assert(!Config::kPingPong || kConsumers == 2, "two warpgroups take turns");
  // One consumer: several blocks share the SM instead of registers moving between warpgroups.
  static_assert(kRowsOfGroup % 64 == 0, "an instruction has 64 rows");
  static_assert(SourceA::kDepthContiguous, "A is read row by row");

  struct Shared {
    u8 a[kStages][kBytesA]; // (STAGE, ROW x 128 bytes), 128-byte swizzle
    u8 b[kStages][kBytesB]; // (STAGE, ROW x 128 bytes)
    u8 staging[kConsumers][Store::kBytes];
    u64 full[kStages], empty[kStages];
    u64 turn[2]; // ping-pong: a warpgroup may use the ring
    u64 held[kConsumers][Store::kBarriers > 0 ? Store::kBarriers : 1];
  };
  /// 32-bit addresses of the parts.
  struct Ring {
    u32 a, b, full, empty, turn;
  };

  template <typename Output>
  GPUC_DEVICE static void run(Shared &shared, const SourceA &a, const SourceB &b, const Output &output) {
    u32 base = arch::opaque(arch::sharedAddress(&shared));
    auto address = [&](const void *field) {
      return base + u32(static_cast<const u8 *>(field) - reinterpret_cast<const u8 *>(&shared));
    };
    Ring ring{address(shared.a), address(shared.b), address(shared.full), address(shared.empty),
              address(shared.turn)};
    u32 held = address(shared.held), staging = address(shared.staging);
    if (threadIdx.x == kConsumerThreads) {
      for (int s = 0; s < kStages; ++s) {
        arch::mbarrierInit(ring.full + u32(s) * 8, 1);
        arch::mbarrierInit(ring.empty + u32(s) * 8, 4 * (Config::kPingPong ? 1 : kConsumers));
      }
      for (int i = 0; i < 2; ++i)
        arch::mbarrierInit(ring.turn + u32(i) * 8, 1);
      for (int i = 0; i < kConsumers * Store::kBarriers; ++i)
        arch::mbarrierInit(held + u32(i) * 8, 1);
      arch::mbarrierInitFence();
      arch::tensorMapPrefetch(a.map);
      arch::tensorMapPrefetch(b.map);
    }
    arch::syncThreads();
    if (threadIdx.x >= kConsumerThreads) {
      if constexpr (kConsumers > 1)
        arch::registersDecrease<kProducerRegisters>();
      if (threadIdx.x == kConsumerThreads)
        produce(ring, a, b);
    } else {
      if constexpr (kConsumers > 1)
        arch::registersIncrease<kRegisters>();
      arch::griddepWait(); // the epilogue reads activations and writes
      u32 group = threadIdx.x / 128;
      Store store(staging + group * Store::kBytes, held + group * u32(Store::kBarriers) * 8, group, output);
      consume(ring, group, store);
    }
  }

private:
  /// One thread requests all k-tiles of the block, those of weights for the first tile before the wait.
  GPUC_DEVICE static void produce(const Ring &ring, const SourceA &a, const SourceB &b) {
    constexpr bool kEarly = SourceA::kConstant != SourceB::kConstant;
    i32 early = 0;
    if constexpr (kEarly) {
      WgmmaTile tile = Schedule::tile(blockIdx.x);
      early = tile.steps < kStages ? tile.steps : kStages;
      auto atA = a.begin(tile, tile.rowA);
      auto atB = b.begin(tile, tile.rowB);
      for (i32 s = 0; s < early; ++s) {
        u32 full = ring.full + u32(s) * 8;
        arch::mbarrierArriveExpectTx(full, kBytesA + kBytesB);
        if constexpr (SourceA::kConstant) {
          a.load(atA, ring.a + u32(s) * kBytesA, full);
          a.next(atA);
        } else {
          b.load(atB, ring.b + u32(s) * kBytesB, full);
          b.next(atB);
        }
      }
    }
    arch::griddepWait();
    arch::griddepLaunch();
    u32 stage = 0, phase = 1;
    for (u32 index = blockIdx.x; index < Schedule::kTiles; index += gridDim.x) {
      WgmmaTile tile = Schedule::tile(index);
      auto atA = a.begin(tile, tile.rowA);
      auto atB = b.begin(tile, tile.rowB);
#pragma unroll 1
      for (i32 k = 0; k < tile.steps; ++k) {
        u32 full = ring.full + stage * 8;
        bool requested = kEarly && early > 0;
        --early;
        if (!requested) {
          arch::mbarrierWait(ring.empty + stage * 8, phase);
          arch::mbarrierArriveExpectTx(full, kBytesA + kBytesB);
        }
        if (!SourceA::kConstant || !requested)
          a.load(atA, ring.a + stage * kBytesA, full);
        if (!SourceB::kConstant || !requested)
          b.load(atB, ring.b + stage * kBytesB, full);
        a.next(atA);
        b.next(atB);
        if (++stage == kStages) {
          stage = 0;
          phase ^= 1;
        }
      }
    }
  }

  GPUC_DEVICE static void consume(const Ring &ring, u32 group, Store &store) {
    constexpr bool kPingPong = Config::kPingPong;
    u32 lane = threadIdx.x % 32, position = 0, turnPhase = group ^ 1;
    bool isLeader = threadIdx.x % 128 == 0;
    u32 first = blockIdx.x + (kPingPong ? group * gridDim.x : 0), stride = gridDim.x * (kPingPong ? 2 : 1);
    if constexpr (kPingPong) { // the other warpgroup's first tile
      if (group == 1)
        position = u32(Schedule::tile(blockIdx.x).steps);
    }
    for (u32 index = first; index < Schedule::kTiles; index += stride) {
      WgmmaTile tile = Schedule::tile(index);
      i32 row = tile.rowA + (kPingPong ? 0 : i32(group) * kRowsOfGroup);
      store.template start<kMi, kSums>(tile, row, tile.rowB);
      float acc[kMi][kSums];
      u32 stage = position % kStages, phase = position / kStages & 1, before = 0;
      // A parity wait looks one phase ahead at most: stay off the ring until the other warpgroup has seen its
      // last k-tile.
      if constexpr (kPingPong) {
        arch::mbarrierWait(ring.turn + group * 8, turnPhase);
        turnPhase ^= 1;
      }
#pragma unroll 1
      for (i32 k = 0; k < tile.steps; ++k) {
        arch::mbarrierWait(ring.full + stage * 8, phase);
        u32 a = ring.a + stage * kBytesA + (kPingPong ? 0 : group * u32(kRowsOfGroup) * 128);
        u32 b = ring.b + stage * kBytesB;
        if (Config::kTail == 4 || (tile.firstStep + k + 1) % Config::kRun != 0)
          multiply<4>(acc, a, b, k);
        else
          multiply<Config::kTail>(acc, a, b, k);
        if (kPingPong && isLeader && k + 1 == tile.steps)
          arch::mbarrierArrive(ring.turn + (group ^ 1) * 8);
        arch::wgmmaWait<1>(); // the k-tile before this one has been consumed
        if (k > 0 && lane == 0)
          arch::mbarrierArrive(ring.empty + before * 8);
        before = stage;
        if (++stage == kStages) {
          stage = 0;
          phase ^= 1;
        }
      }
#pragma unroll
      for (int i = 0; i < kMi; ++i)
        arch::wgmmaWait<0>(acc[i]);
      if (lane == 0)
        arch::mbarrierArrive(ring.empty + before * 8);
      position += u32(tile.steps);
      if constexpr (kPingPong) { // the next tile of the other warpgroup comes between
        if (index + gridDim.x < Schedule::kTiles)
          position += u32(Schedule::tile(index + gridDim.x).steps);
      }
      store.store(acc, tile, row, tile.rowB);
    }
    store.finish();
  }

  /// acc += A B of one k-tile, kCount times 32 bytes of the depth.
  template <int kCount> GPUC_DEVICE static void multiply(float (&acc)[kMi][kSums], u32 a, u32 b, i32 k) {
    constexpr int kElements = 32 / int(sizeof(T)); // of the depth, per instruction
    u64 descA = arch::wgmmaDescK128(a), descB;
    if constexpr (SourceB::kDepthContiguous)
      descB = arch::wgmmaDescK128(b);
    else // groups of 64 rows, 8 depths are 1024 bytes
      descB = arch::wgmmaDescMn128(b, u32(kElements) * 4 * 128, 1024);
    // Addresses in descriptors count 16 bytes.
    constexpr u64 kNextB = SourceB::kDepthContiguous ? 2 : u64(kElements) * 128 / 16;
    arch::wgmmaFence();
#pragma unroll
    for (int i = 0; i < kCount; ++i)
#pragma unroll
      for (int m = 0; m < kMi; ++m)
        arch::wgmma<T, Config::kBlockB, SourceB::kDepthContiguous ? 0 : 1>(
            acc[m], descA + u64(m * 512 + i * 2), descB + u64(i) * kNextB, k > 0 || i > 0);
    arch::wgmmaCommit();
  }
};

} // namespace gpuc

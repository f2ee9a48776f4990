// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Fused attention of f16 and bf16 on warpgroup tensor cores (wgmma, TMA, sm_90a), after FlashAttention-3 (Shah
// et al. 2024, arXiv 2407.08608). A warpgroup owns 64 queries of one head. Queries, keys and values come by TMA
// in slabs of 64 columns with 128-byte swizzle; weights stay in registers, as the A operand of the second
// product.
//
// Config, beyond score.cuh (kKeyHeads is the number of query heads and kRepeat 1, so a row is a query): T, Acc =
// float, kBlockM = 64 * kGroups, kBlockN, kShare (query heads per key head), kDepth and kColumns (D, E), kGroups
// (warpgroups), kStages (key blocks in shared memory), kRefill (there are more of them than that), kProducer (a
// warp of its own requests the keys; else thread 0 does), kRegisters (of a consumer's thread, by setmaxnreg: the
// producer is then a warpgroup; 0: as compiled), kOverlap (the next block's scores are computed during this
// block's softmax), kTurns (two warpgroups take turns on the tensor cores), kPersistent (blocks take several of
// the kTiles tiles of queries; needs kProducer and kRefill, and every query sees a key), kLanes (of the output).
// Views of the operands: tile_load.cuh; a stride kBatch or kHead of 0 means that the tensor map has one such
// coordinate. Output: store as in flash_mma.cuh.
#pragma once
#include "arch/barrier.cuh"
#include "arch/mbarrier.cuh"
#include "arch/registers.cuh"
#include "arch/tma.cuh"
#include "attention/hidden_keys.cuh"
#include "attention/warpgroup_tile.cuh"

namespace gpuc {

template <typename Config> struct FlashWgmmaShared {
  using T = typename Config::T;
  static constexpr int kSlabsD = (Config::kDepth + 63) / 64, kSlabsE = (Config::kColumns + 63) / 64;
  T q[Config::kGroups][kSlabsD][64 * 64];             // (GROUP, D/64, BLK_M, 64)
  T k[Config::kStages][kSlabsD][Config::kBlockN * 64]; // (STAGE, D/64, BLK_N, 64)
  T v[Config::kStages][kSlabsE][Config::kBlockN * 64]; // (STAGE, E/64, BLK_N, 64)
  /// (GROUP, WARP, 16, 32): turns fragments into rows for the stores. Else that is done in the queries' place.
  float slab[Config::kPersistent ? Config::kGroups * 4 * 16 * 32 : 2];
  u64 queryFull[Config::kGroups], queryEmpty[Config::kGroups];
  u64 keysFull[Config::kStages], keysEmpty[Config::kStages], valuesFull[Config::kStages],
      valuesEmpty[Config::kStages];

  static constexpr u32 kQueryBytes = sizeof(T) * kSlabsD * 64 * 64;
  static constexpr u32 kKeyBytes = sizeof(T) * kSlabsD * Config::kBlockN * 64,
                       kValueBytes = sizeof(T) * kSlabsE * Config::kBlockN * 64;
};

/// Addresses in the shared window, from one base: converting each pointer anew costs time.
template <typename Config> struct FlashAddresses {
  using Shared = FlashWgmmaShared<Config>;
  static constexpr int kStages = Config::kStages, kGroups = Config::kGroups;
  static constexpr u32 kKeys = Shared::kQueryBytes * kGroups, kValues = kKeys + Shared::kKeyBytes * kStages,
                       kBars = kValues + Shared::kValueBytes * kStages + sizeof(Shared::slab);
  static_assert(kBars + 8 * (2 * kGroups + 4 * kStages) == sizeof(Shared), "no padding between the members");
  u32 base;
  GPUC_DEVICE u32 query(u32 group) const { return base + group * Shared::kQueryBytes; }
  GPUC_DEVICE u32 keys(u32 stage) const { return base + kKeys + stage * Shared::kKeyBytes; }
  GPUC_DEVICE u32 values(u32 stage) const { return base + kValues + stage * Shared::kValueBytes; }
  GPUC_DEVICE u32 queryFull(u32 group) const { return base + kBars + 8 * group; }
  GPUC_DEVICE u32 queryEmpty(u32 group) const { return queryFull(kGroups + group); }
  GPUC_DEVICE u32 keysFull(u32 stage) const { return queryFull(2 * kGroups + stage); }
  GPUC_DEVICE u32 keysEmpty(u32 stage) const { return keysFull(kStages + stage); }
  GPUC_DEVICE u32 valuesFull(u32 stage) const { return keysFull(2 * kStages + stage); }
  GPUC_DEVICE u32 valuesEmpty(u32 stage) const { return keysFull(3 * kStages + stage); }
};

/// A place in a ring of kStages: the stage and the parity of its use.
template <int kStages> struct RingPlace {
  u32 stage = 0, parity = 0;
  GPUC_DEVICE void advance() {
    if (++stage == kStages)
      stage = 0, parity ^= 1;
  }
};

/// The tiles of queries that a block takes, as numbers for attentionCoord.
template <typename Config> struct TileWalk {
  u32 step = 0;
  GPUC_DEVICE u32 tile() const { return blockIdx.x + step * gridDim.x; }
  GPUC_DEVICE bool isValid() const { return tile() < u32(Config::kTiles); }
  GPUC_DEVICE TileWalk next() const { return {step + 1}; }
};

/// A tile of queries and the number of key blocks that it sees.
template <typename Config> struct FlashTile {
  AttentionCoord at;
  i32 blocks;
  GPUC_DEVICE explicit FlashTile(u32 tile) : at(attentionCoord<Config>(tile)) {
    blocks = (visibleKeys<Config>(at.first + Config::kBlockM) + Config::kBlockN - 1) / Config::kBlockN;
  }
};

/// The operands: tensor maps for TMA, and plain addresses where keys are hidden.
template <typename Config, typename Query, typename Key, typename Value> struct FlashOperands {
  using T = typename Config::T;
  using Q = Query;
  using K = Key;
  using V = Value;
  const arch::TensorMap *mapQ, *mapK, *mapV;
  const T *q, *k, *v;
};

/// Requests tiles; one thread.
template <typename Config, typename Operands> struct FlashLoader {
  using Q = typename Operands::Q;
  using K = typename Operands::K;
  using V = typename Operands::V;
  static constexpr int kBlockN = Config::kBlockN;
  using Shared = FlashWgmmaShared<Config>;
  FlashAddresses<Config> shared;
  const Operands &operands;
  RingPlace<Config::kStages> place{0, 1}; ///< of the next key block; parity of "empty"

  template <typename View> GPUC_DEVICE static i32 batchOf(i32 b) { return View::kBatch != 0 ? b : 0; }
  template <typename View> GPUC_DEVICE static i32 headOf(i32 h) { return View::kHead != 0 ? h : 0; }

  GPUC_DEVICE void requestQuery(AttentionCoord at, u32 group) const {
    u32 full = shared.queryFull(group);
    arch::mbarrierArriveExpectTx(full, Shared::kQueryBytes);
#pragma unroll
    for (int slab = 0; slab < Shared::kSlabsD; ++slab)
      arch::tmaLoad4d(shared.query(group) + slab * (64 * 128), operands.mapQ, full, slab * 64, at.first + i32(group) * 64,
                      headOf<Q>(at.g), batchOf<Q>(at.b));
  }
  /// Key block `block` and its values, to the next stage. With kWait, waits until the stage is free.
  template <bool kWait> GPUC_DEVICE void requestKeys(AttentionCoord at, i32 block) {
    i32 h = at.g / Config::kShare, first = block * kBlockN;
    if constexpr (kWait)
      arch::mbarrierWait(shared.keysEmpty(place.stage), place.parity);
    u32 full = shared.keysFull(place.stage);
    arch::mbarrierArriveExpectTx(full, Shared::kKeyBytes);
#pragma unroll
    for (int slab = 0; slab < Shared::kSlabsD; ++slab)
      arch::tmaLoad4d(shared.keys(place.stage) + slab * (kBlockN * 128), operands.mapK, full, slab * 64, first, headOf<K>(h),
                      batchOf<K>(at.b));
    if constexpr (kWait)
      arch::mbarrierWait(shared.valuesEmpty(place.stage), place.parity);
    full = shared.valuesFull(place.stage);
    arch::mbarrierArriveExpectTx(full, Shared::kValueBytes);
#pragma unroll
    for (int slab = 0; slab < Shared::kSlabsE; ++slab)
      arch::tmaLoad4d(shared.values(place.stage) + slab * (kBlockN * 128), operands.mapV, full, slab * 64, first,
                      headOf<V>(h), batchOf<V>(at.b));
    place.advance();
  }
};

/// What a warpgroup does with a tile. `last`: of this block's tiles; `place` and `parity`: of its first keys and
/// of its queries.
template <typename Config, typename Loader, typename Bias, typename Output>
GPUC_DEVICE void flashConsume(FlashWgmmaShared<Config> &memory, FlashAddresses<Config> shared, Loader &loader,
                              FlashTile<Config> tile, bool last, RingPlace<Config::kStages> &place, u32 parity,
                              const Bias &bias, const Output &output) {
  using T = typename Config::T;
  constexpr int kBlockN = Config::kBlockN, kWidth = (Config::kColumns + 7) / 8 * 8, kStages = Config::kStages;
  constexpr bool kRefill = Config::kRefill;
  int group = int(threadIdx.x) / 128, warp = int(threadIdx.x) / 32 % 4, lane = int(threadIdx.x) % 32;
  AttentionCoord at = tile.at;
  i32 wholeKeys = commonKeys<Config>(at.first + group * 64); // blocks below it need no mask
  i32 firstRow = at.first + group * 64 + warp * 16;
  float out[kWidth / 2], scores[kBlockN / 2], factors[2];
  u32 weights[kBlockN / 16][4];
  OnlineSoftmax<float> softmax[2]; // rows g and g + 8 of the warp's 16
  ScoreRow<Config, Bias> rows[2] = {{bias, at, firstRow + lane / 4}, {bias, at, firstRow + lane / 4 + 8}};
#pragma unroll
  for (int i = 0; i < kWidth / 2; ++i)
    out[i] = 0;

  auto issue = [&] { issueScores<Config>(scores, shared.query(group), shared.keys(place.stage)); };
  auto weigh = [&](i32 block) {
    weighTile(scores, rows, softmax, factors, block * kBlockN + lane % 4 * 2, (block + 1) * kBlockN <= wholeKeys);
  };
  auto scale = [&] {
#pragma unroll
    for (int i = 0; i < kWidth / 2; ++i)
      out[i] *= factors[i % 4 / 2];
  };
  auto release = [&](u32 bar) {
    if (kRefill && lane == 0)
      arch::mbarrierArrive(bar);
  };
  auto releaseScores = [&](i32 block) { // keys and, after the last ones, queries
    release(shared.keysEmpty(place.stage));
    if (Config::kPersistent && block + 1 == tile.blocks)
      release(shared.queryEmpty(group));
  };
  auto takeTurn = [&] {
    if constexpr (Config::kTurns)
      arch::barSync(1 + group, 256);
  };
  auto passTurn = [&](i32 block) {
    if constexpr (Config::kTurns)
      if (group == 0 || !last || block + 1 < tile.blocks) // nobody waits for the end of group 1's last turn
        arch::barArrive(2 - group, 256);
  };
  if (tile.blocks > 0) {
    arch::mbarrierWait(shared.queryFull(group), parity);
    if constexpr (Config::kOverlap) {
      arch::mbarrierWait(shared.keysFull(place.stage), place.parity);
      takeTurn();
      issue();
      if constexpr (Config::kPersistent)
        passTurn(0);
      arch::wgmmaWait<0>(scores);
      if constexpr (!Config::kPersistent) // the groups start half a turn apart
        passTurn(0);
      releaseScores(0);
      weigh(0);
      packWeights<T, kBlockN>(weights, scores);
      for (i32 block = 1; block < tile.blocks; ++block) {
        RingPlace<kStages> before = place;
        place.advance();
        arch::mbarrierWait(shared.keysFull(place.stage), place.parity);
        takeTurn();
        issue();
        arch::mbarrierWait(shared.valuesFull(before.stage), before.parity);
        issueValues<Config, kWidth>(out, weights, shared.values(before.stage));
        passTurn(block);
        arch::wgmmaWait<1>(scores);
        releaseScores(block);
        weigh(block);
        arch::wgmmaWait<0>(out);
        release(shared.valuesEmpty(before.stage));
        packWeights<T, kBlockN>(weights, scores);
        scale();
      }
      arch::mbarrierWait(shared.valuesFull(place.stage), place.parity);
      issueValues<Config, kWidth>(out, weights, shared.values(place.stage));
      arch::wgmmaWait<0>(out);
      release(shared.valuesEmpty(place.stage));
      place.advance();
    } else {
      for (i32 block = 0; block < tile.blocks; ++block) {
        arch::mbarrierWait(shared.keysFull(place.stage), place.parity);
        issue();
        arch::wgmmaWait<0>(scores);
        releaseScores(block);
        weigh(block);
        packWeights<T, kBlockN>(weights, scores);
        if (block > 0)
          scale();
        arch::mbarrierWait(shared.valuesFull(place.stage), place.parity);
        issueValues<Config, kWidth>(out, weights, shared.values(place.stage));
        if constexpr (kRefill && !Config::kProducer) // the stage of the block before
          if (threadIdx.x == 0 && block > 0 && block - 1 + kStages < tile.blocks)
            loader.template requestKeys<true>(at, block - 1 + kStages);
        arch::wgmmaWait<0>(out);
        release(shared.valuesEmpty(place.stage));
        place.advance();
      }
    }
  }

  float scales[2];
#pragma unroll
  for (int half = 0; half < 2; ++half)
    scales[half] = OnlineSoftmax<float>::template finalScale<Config::kZeroMasked>(
        warpReduce<4>(softmax[half].sum, SumOp()));
  float *slab;
  if constexpr (Config::kPersistent) {
    arch::syncWarp();
    slab = &memory.slab[(group * 4 + warp) * (16 * 32)];
  } else { // nobody reads the warpgroup's queries any more
    arch::barSync(Config::kGroups == 1 ? 3 : 3 + group, 128);
    slab = reinterpret_cast<float *>(&memory.q[group][0][0]) + warp * (16 * 32);
  }
  u32 spoilt = 0;
  if constexpr (kHidesKeys<Config, Bias>)
    spoilt = spoiltRows(out);
  storeRows<Config>(slab, out, scales, at, firstRow, spoilt, output);
  if constexpr (kHidesKeys<Config, Bias>)
    if (spoilt != 0) {
#pragma unroll 1
      for (int r = 0; r < 16 && firstRow + r < Config::kQueries; ++r) {
        float largest = arch::shflIdx(r < 8 ? softmax[0].largest : softmax[1].largest, u32(r % 8 * 4));
        float factor = arch::shflIdx(r < 8 ? scales[0] : scales[1], u32(r % 8 * 4));
        if (spoilt >> r & 1u)
          storeVisible<Config, typename Loader::Q, typename Loader::K, typename Loader::V>(
              loader.operands.q, loader.operands.k, loader.operands.v, bias, output, at, at.g / Config::kShare,
              firstRow + r, 0, Config::kKeys, largest == lowest<float>() ? 0.f : largest, factor);
      }
    }
}

/// The thread that requests tiles.
template <typename Config> GPUC_DEVICE bool isLoader() {
  return threadIdx.x == (Config::kProducer ? Config::kGroups * 128 : 0);
}

/// What comes before griddepWait.
template <typename Config> GPUC_DEVICE void flashSetUp(FlashWgmmaShared<Config> &memory) {
  if (isLoader<Config>()) {
    FlashAddresses<Config> shared{arch::sharedAddress(&memory)};
    for (u32 group = 0; group < Config::kGroups; ++group) {
      arch::mbarrierInit(shared.queryFull(group), 1);
      arch::mbarrierInit(shared.queryEmpty(group), 4);
    }
    for (u32 stage = 0; stage < Config::kStages; ++stage) {
      arch::mbarrierInit(shared.keysFull(stage), 1);
      arch::mbarrierInit(shared.valuesFull(stage), 1);
      arch::mbarrierInit(shared.keysEmpty(stage), Config::kGroups * 4);
      arch::mbarrierInit(shared.valuesEmpty(stage), Config::kGroups * 4);
    }
    arch::mbarrierInitFence();
  }
}

/// Attention of all tiles. kGroups warpgroups and, with kProducer, one more warp or warpgroup.
template <typename Config, typename Operands, typename Bias, typename Output>
GPUC_DEVICE void flashWgmma(FlashWgmmaShared<Config> &memory, const Operands &operands, const Bias &bias,
                            const Output &output) {
  constexpr int kStages = Config::kStages, kConsumers = Config::kGroups * 128;
  static_assert(!Config::kRefill || (kStages > 1 && (Config::kProducer || !Config::kOverlap)),
                "thread 0 requests the block after the next");
  static_assert(!Config::kPersistent || (Config::kRefill && Config::kProducer), "stages must be given back");
  FlashAddresses<Config> shared{arch::sharedAddress(&memory)};
  FlashLoader<Config, Operands> loader{shared, operands};
  FlashTile<Config> tile(TileWalk<Config>{}.tile());
  bool requests = isLoader<Config>();
  if (requests && tile.blocks > 0) {
    for (u32 group = 0; group < Config::kGroups; ++group)
      loader.requestQuery(tile.at, group);
    for (i32 block = 0; block < kStages && block < tile.blocks; ++block)
      loader.template requestKeys<false>(tile.at, block);
  }
  arch::syncThreads();

  if (!Config::kProducer || threadIdx.x < kConsumers) {
    if constexpr (Config::kRegisters > 0)
      arch::registersIncrease<Config::kRegisters>();
    if (Config::kTurns && threadIdx.x >= 128 && tile.blocks > 0)
      arch::barArrive(1, 256); // the first turn is group 0's
    RingPlace<kStages> place;
    if constexpr (!Config::kPersistent) {
      flashConsume(memory, shared, loader, tile, true, place, 0, bias, output);
    } else {
      u32 parity = 0;
      for (TileWalk<Config> walk; walk.isValid(); walk = walk.next(), parity ^= 1)
        flashConsume(memory, shared, loader, FlashTile<Config>(walk.tile()), !walk.next().isValid(), place, parity, bias,
                     output);
    }
    return;
  }
  if constexpr (Config::kRegisters > 0)
    arch::registersDecrease<Config::kGroups == 2 ? 40 : 32>();
  if (!requests)
    return;
  for (i32 block = kStages; block < tile.blocks; ++block)
    loader.template requestKeys<true>(tile.at, block);
  if constexpr (Config::kPersistent) {
    u32 parity = 0;
    for (TileWalk<Config> walk = TileWalk<Config>{}.next(); walk.isValid(); walk = walk.next(), parity ^= 1) {
      tile = FlashTile<Config>(walk.tile());
      for (u32 group = 0; group < Config::kGroups; ++group) {
        arch::mbarrierWait(shared.queryEmpty(group), parity);
        loader.requestQuery(tile.at, group);
      }
      for (i32 block = 0; block < tile.blocks; ++block)
        loader.template requestKeys<true>(tile.at, block);
    }
  }
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Top-k of rows: chunks are sorted by a bitonic network in shared memory (Batcher 1968); a row of several
// chunks is merged pairwise, every item finding its rank in the sibling run by bisection. Items are unique
// (the index breaks ties), so the result is stable.
//
// Config: Value (compute type), kRows, kCols, kK, kLargest, kChunk (a power of two), kThreads.
// Source: load(Value (&x)[1], Index row, Index col). Sink: store(const Value (&v)[1], const i64 (&i)[1],
// Index row, Index rank).
#pragma once
#include "arch/barrier.cuh"
#include "arch/griddep.cuh"
#include "common/math.cuh"

namespace gpuc {

/// Bits that order as values do: NaN is the greatest, -0 equals 0.
template <typename V> GPUC_DEVICE auto orderedBits(V x) {
  using Bits = typename Select<sizeof(V) == 8, u64, u32>::type;
  constexpr Bits kSign = Bits(1) << (sizeof(Bits) * 8 - 1);
  if constexpr (kIsFloat<V>) {
    if (x != x)
      return Bits(~Bits(0));
    Bits bits = arch::bitCast<Bits>(x == V(0) ? V(0) : x);
    return Bits(bits & kSign ? ~bits : bits | kSign);
  } else if constexpr (!kIsBool<V> && kIsSigned<V>) {
    using Wide = typename Select<sizeof(V) == 8, i64, i32>::type;
    return Bits(Bits(Wide(x)) ^ kSign);
  } else {
    return Bits(x);
  }
}

/// A key of 32 bits and its index; smaller items come first.
struct Item32 {
  u64 bits;
  GPUC_DEVICE bool operator<(const Item32 &other) const { return bits < other.bits; }
  GPUC_DEVICE u32 index() const { return u32(bits); }
  GPUC_DEVICE static Item32 make(u32 key, u32 index) { return {u64(key) << 32 | index}; }
};
/// The same with a key of 64 bits.
struct alignas(16) Item64 {
  u64 key;
  u64 position;
  GPUC_DEVICE bool operator<(const Item64 &other) const {
    return key < other.key || (key == other.key && position < other.position);
  }
  GPUC_DEVICE u32 index() const { return u32(position); }
  GPUC_DEVICE static Item64 make(u64 key, u32 index) { return {key, index}; }
};
template <typename V> using SortItem = typename Select<sizeof(V) == 8, Item64, Item32>::type;

template <typename Config> struct SortShared {
  SortItem<typename Config::Value> items[Config::kChunk];
};

/// Loads a chunk and sorts it; past the row's end there are items that come last.
template <typename Config, typename Source>
GPUC_DEVICE void sortChunk(SortShared<Config> &shared, const Source &source, typename Config::Index row,
                           i64 first) {
  using Value = typename Config::Value;
  using Item = SortItem<Value>;
  using Index = typename Config::Index;
  constexpr int kChunk = Config::kChunk, kThreads = Config::kThreads;
  int thread = int(threadIdx.x);
  for (int i = thread; i < kChunk; i += kThreads) {
    Item item = Item::make(decltype(orderedBits(Value()))(~u64(0)), ~0u);
    if (first + i < Config::kCols) {
      Value x[1];
      source.load(x, row, Index(first + i));
      auto key = orderedBits(x[0]);
      item = Item::make(Config::kLargest ? decltype(key)(~key) : key, u32(first + i));
    }
    shared.items[i] = item;
  }
  arch::syncThreads();
#pragma unroll 1
  for (int size = 2; size <= kChunk; size *= 2) {
#pragma unroll 1
    for (int stride = size / 2; stride > 0; stride /= 2) {
#pragma unroll 4
      for (int pair = thread; pair < kChunk / 2; pair += kThreads) {
        int low = (pair & ~(stride - 1)) * 2 + (pair & (stride - 1)), high = low + stride;
        Item a = shared.items[low], b = shared.items[high];
        if ((b < a) == ((low & size) == 0)) {
          shared.items[low] = b;
          shared.items[high] = a;
        }
      }
      arch::syncThreads();
    }
  }
}

/// Stores the result of rank `rank`.
template <typename Config, typename Source, typename Sink>
GPUC_DEVICE void storeRanked(const Source &source, const Sink &sink, u32 index, typename Config::Index row,
                             typename Config::Index rank) {
  using Index = typename Config::Index;
  typename Config::Value value[1];
  source.load(value, row, Index(index)); // as it is stored: the key has lost the sign of zero
  i64 position[1] = {i64(index)};
  sink.store(value, position, row, rank);
}

/// A row that is one chunk. One block.
template <typename Config, typename Source, typename Sink>
GPUC_DEVICE void sortRow(SortShared<Config> &shared, const Source &source, const Sink &sink,
                         typename Config::Index row) {
  sortChunk(shared, source, row, 0);
  for (int rank = int(threadIdx.x); rank < Config::kK; rank += Config::kThreads)
    storeRanked<Config>(source, sink, shared.items[rank].index(), row, rank);
}

/// Chunk `block` of all rows' chunks becomes a run of kRun items.
template <typename Config, typename Source>
GPUC_DEVICE void sortRun(SortShared<Config> &shared, const Source &source,
                         SortItem<typename Config::Value> *runs, i64 block) {
  constexpr i64 kChunks = (Config::kCols + Config::kChunk - 1) / Config::kChunk;
  constexpr int kRun = Config::kK < Config::kChunk ? int(Config::kK) : Config::kChunk;
  sortChunk(shared, source, typename Config::Index(block / kChunks), block % kChunks * Config::kChunk);
  for (int i = int(threadIdx.x); i < kRun; i += Config::kThreads)
    runs[block * kRun + i] = shared.items[i];
}

/// Merges pairs of runs; thread `item` moves one item. kRuns runs of kRun items per row become (kRuns + 1) /
/// 2 runs of kRunOut. With kLast the results are stored instead.
template <typename Config, i64 kRuns, i64 kRun, i64 kRunOut, bool kLast, typename Source, typename Sink>
GPUC_DEVICE void mergeRuns(const SortItem<typename Config::Value> *from, SortItem<typename Config::Value> *to,
                           const Source &source, const Sink &sink, i64 item) {
  using Index = typename Config::Index;
  if (item >= i64(Config::kRows) * kRuns * kRun)
    return;
  i64 position = item % kRun, run = item / kRun % kRuns, row = item / (kRun * kRuns);
  SortItem<typename Config::Value> own = from[item];
  bool isOdd = run % 2 != 0;
  i64 sibling = isOdd ? run - 1 : run + 1, rank = position;
  if (sibling < kRuns) {
    const SortItem<typename Config::Value> *other = from + (row * kRuns + sibling) * kRun;
    i64 low = 0, high = kRun; // the items of the sibling that come before
    while (low < high) {
      i64 middle = (low + high) / 2;
      if (isOdd ? !(own < other[middle]) : other[middle] < own)
        low = middle + 1;
      else
        high = middle;
    }
    rank += low;
  }
  if (rank >= kRunOut)
    return;
  if constexpr (kLast)
    storeRanked<Config>(source, sink, own.index(), Index(row), Index(rank));
  else
    to[(row * ((kRuns + 1) / 2) + run / 2) * kRunOut + rank] = own;
}

} // namespace gpuc

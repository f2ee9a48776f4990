// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Local response normalisation across channels: one thread per kLanes outputs; neighbours share the window
// through the caches.
//
// Config: Acc, Index, kBatch, kChannels, kSpatial, kLanes (divides kSpatial), kThreads, kChannelsFastest
// (order of the threads), kSize. Source: load(Acc (&x)[kLanes], Index n, Index channel, Index position).
// Sink: store, likewise.
#pragma once
#include "common/math.cuh"

namespace gpuc {

template <typename Config, typename Source, typename Sink>
GPUC_DEVICE void localResponse(const Source &source, const Sink &sink, typename Config::Acc alphaOverSize,
                               typename Config::Acc beta, typename Config::Acc bias, i64 item) {
  using Acc = typename Config::Acc;
  using Index = typename Config::Index;
  constexpr int kLanes = Config::kLanes;
  constexpr Index kVectors = Config::kSpatial / kLanes;
  constexpr Index kBefore = (Config::kSize - 1) / 2, kAfter = Config::kSize - 1 - kBefore;
  if (item >= i64(Config::kBatch) * Config::kChannels * kVectors)
    return;
  Index i = Index(item), n, channel, position;
  if constexpr (Config::kChannelsFastest) {
    channel = i % Config::kChannels;
    position = i / Config::kChannels % kVectors * kLanes;
  } else {
    position = i % kVectors * kLanes;
    channel = i / kVectors % Config::kChannels;
  }
  n = i / (Config::kChannels * kVectors);
  Index first = channel > kBefore ? channel - kBefore : 0;
  Index last = channel + 1 + kAfter < Config::kChannels ? channel + 1 + kAfter : Config::kChannels;
  Acc x[kLanes], squares[kLanes];
#pragma unroll
  for (int l = 0; l < kLanes; ++l)
    x[l] = squares[l] = 0;
  for (Index c = first; c < last; ++c) {
    Acc v[kLanes];
    source.load(v, n, c, position);
#pragma unroll
    for (int l = 0; l < kLanes; ++l) {
      squares[l] += v[l] * v[l];
      x[l] = c == channel ? v[l] : x[l];
    }
  }
#pragma unroll
  for (int l = 0; l < kLanes; ++l)
    x[l] /= libraryPow(bias + alphaOverSize * squares[l], beta);
  sink.store(x, n, channel, position);
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Squeeze-and-excitation in one launch: a cluster of kRanks blocks (or one block) computes one image. Rank r owns the channels
// [r kSlice, …): it takes their means, its share of the hidden layer, their gates, and scales them. Means and hidden
// values go to all ranks by remote stores (st.async), which count their bytes at an mbarrier of the receiver.
//
// Config: Acc, Weight (storage type of weights), kChannels, kPixels, kHidden, kRanks, kThreads, kLanes (channels per access), kSlice
// (a multiple of kLanes and of 4), kHiddenSlice (a multiple of 4), kChannelsFastest.
// Unit: load(Acc (&x)[kLanes], i32 n, i32 pixel, i32 channel), store(values, n, pixel, channel), act(float), gate(float).
#pragma once
#include "arch/barrier.cuh"
#include "arch/griddep.cuh"
#include "common/math.cuh"
#include "common/reduce.cuh"

namespace gpuc {

/// What ranks send each other, when there is one rank: nothing.
template <typename Config> struct LoneBlock {
  GPUC_DEVICE static i32 rank() { return 0; }
  GPUC_DEVICE static void prepare(u64 *) {}
  GPUC_DEVICE static void ready() {}
  /// values[0…4) of every rank appear at `to` in all of them; each caller gives `receiver` < kRanks.
  GPUC_DEVICE static void send(float *to, const float (&values)[4], int, u64 *) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      to[i] = values[i];
  }
  GPUC_DEVICE static void received(u64 *) { arch::syncThreads(); }
};

template <typename Config, typename Unit, typename Exchange> struct SqueezeExcite {
  using Acc = typename Config::Acc;
  using Weight = typename Config::Weight;
  static constexpr int kThreads = Config::kThreads, kLanes = Config::kLanes, kSlice = Config::kSlice;
  static constexpr int kRuns = kSlice / kLanes; ///< of kLanes channels
  static constexpr int kRunThreads =
      Config::kChannelsFastest ? (kRuns < kThreads ? kRuns : kThreads) : (kRuns < kThreads / 32 ? kRuns : kThreads / 32);
  static constexpr int kPixelThreads = kThreads / kRunThreads;
  static constexpr int kWarps = kThreads / 32;

  struct Shared {
    alignas(16) float means[Config::kRanks * kSlice];
    alignas(16) float hidden[Config::kRanks * Config::kHiddenSlice];
    float gates[kSlice];
    float partial[kPixelThreads][kSlice];
    u64 barriers[2];
  };

  /// Before griddepWait.
  GPUC_DEVICE static void prepare(Shared &s) { Exchange::prepare(s.barriers); }

  GPUC_DEVICE static void run(Shared &s, const Unit &unit, const Weight *w1, const Weight *b1, const Weight *w2,
                              const Weight *b2) {
    const i32 image = i32(blockIdx.x) / Config::kRanks, rank = Exchange::rank(), first = rank * kSlice;
    const int t = int(threadIdx.x), lane = t % 32, warp = t / 32;
    const int runOf = Config::kChannelsFastest ? t % kRunThreads : t / kPixelThreads;
    const int pixelOf = Config::kChannelsFastest ? t / kRunThreads : t % kPixelThreads;
    const bool active = runOf < kRunThreads && pixelOf < kPixelThreads;

    // ---- means of the own channels
    if (active)
      for (int run = runOf; run < kRuns; run += kRunThreads) {
        float sums[kLanes] = {};
        if (first + run * kLanes < Config::kChannels) {
#pragma unroll 4
          for (i32 p = pixelOf; p < Config::kPixels; p += kPixelThreads) {
            Acc x[kLanes];
            unit.load(x, image, p, first + run * kLanes);
#pragma unroll
            for (int l = 0; l < kLanes; ++l)
              sums[l] += float(x[l]);
          }
        }
#pragma unroll
        for (int l = 0; l < kLanes; ++l)
          s.partial[pixelOf][run * kLanes + l] = sums[l];
      }
    arch::syncThreads();
    Exchange::ready();
    for (int item = t; item < kSlice / 4 * Config::kRanks; item += kThreads) {
      int quad = item % (kSlice / 4), receiver = item / (kSlice / 4);
      float values[4] = {};
      for (int p = 0; p < kPixelThreads; ++p)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          values[i] += s.partial[p][quad * 4 + i];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        values[i] *= 1.f / float(Config::kPixels);
      Exchange::send(&s.means[first + quad * 4], values, receiver, &s.barriers[0]);
    }
    Exchange::received(&s.barriers[0]);

    // ---- own rows of the hidden layer: a warp computes four
    for (int group = warp; group < Config::kHiddenSlice / 4; group += kWarps) {
      const i32 row = rank * Config::kHiddenSlice + group * 4;
      float sums[4] = {};
#pragma unroll
      for (int i = 0; i < 4; ++i)
        sums[i] = row + i < Config::kHidden ? dot<32, Config::kChannels>(w1 + i64(row + i) * Config::kChannels, s.means, lane) : 0.f;
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        sums[i] = warpReduce(sums[i], SumOp());
        sums[i] = row + i < Config::kHidden ? unit.act(sums[i] + toAcc(b1[row + i])) : 0.f;
      }
      if (lane < Config::kRanks)
        Exchange::send(&s.hidden[row], sums, lane, &s.barriers[1]);
    }
    Exchange::received(&s.barriers[1]);

    // ---- gates of the own channels: kGroup lanes compute one
    constexpr int kGroup = kThreads / kSlice >= 32 ? 32 : kThreads / kSlice >= 16 ? 16 : kThreads / kSlice >= 8 ? 8 : 4;
    for (int base = 0; base < kSlice; base += kThreads / kGroup) {
      const int channel = base + t / kGroup;
      const bool valid = channel < kSlice && first + channel < Config::kChannels;
      float sum = valid ? dot<kGroup, Config::kHidden>(w2 + i64(first + channel) * Config::kHidden, s.hidden, t % kGroup) : 0.f;
      sum = warpReduce<kGroup>(sum, SumOp());
      if (valid && t % kGroup == 0)
        s.gates[channel] = unit.gate(sum + toAcc(b2[first + channel]));
    }
    arch::syncThreads();

    // ---- the product
    if (active)
      for (int run = runOf; run < kRuns; run += kRunThreads) {
        if (first + run * kLanes >= Config::kChannels)
          continue;
#pragma unroll 4
        for (i32 p = pixelOf; p < Config::kPixels; p += kPixelThreads) {
          Acc x[kLanes], y[kLanes];
          unit.load(x, image, p, first + run * kLanes);
#pragma unroll
          for (int l = 0; l < kLanes; ++l)
            y[l] = Acc(float(x[l]) * s.gates[run * kLanes + l]);
          unit.store(y, image, p, first + run * kLanes);
        }
      }
  }

private:
  /// This lane's part of row · values, kGroup lanes together; 16-byte loads where rows allow.
  template <int kGroup, int kCount>
  GPUC_DEVICE static float dot(const Weight *row, const float *values, int member) {
    constexpr int kWidth = kCount % 8 == 0 && sizeof(Weight) == 2 ? 8 : kCount % 4 == 0 ? 4 : 1;
    float sum = 0.f;
#pragma unroll 4
    for (int i = member * kWidth; i < kCount; i += kGroup * kWidth) {
      Vec<Weight, kWidth> w = ldVecNc<kWidth>(row + i);
#pragma unroll
      for (int j = 0; j < kWidth; ++j)
        sum += float(toAcc(w[j])) * values[i + j];
    }
    return sum;
  }
};

} // namespace gpuc

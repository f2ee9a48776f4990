// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Depthwise convolution (one input channel per group): bound by memory, so without tensor cores. A thread
// computes a strip of kStrip pixels along the last spatial axis for kChannels channels and keeps each cell of
// x that it loads for all taps that need it. Geometry as in geometry.cuh, with kGroupChannels == 1 and not
// transposed.
//
// Config: kStrip, kChannels (neighbouring channels of a thread; x, w and y have unit channel stride if above
// 1), kPixelLanes (lanes of the epilogue run along pixels, else along channels), kFilterStride and kTapStride
// of w, kBias, kConstant (w and bias are constants: they may be read before the preceding launch has ended),
// kWhole (all cells of a thread are requested before the first is used, else those of one line of the
// window). Cells are requested in batches without a branch between them: what a strip costs is how often it
// waits for memory.
#pragma once
#include "arch/griddep.cuh"
#include "convolution/convolution.cuh"

namespace gpuc {

template <typename G, typename Config> struct Depthwise {
  using T = typename G::T;
  using S = Acc<T>;
  using D = Derived<G>;
  static constexpr int kStrip = Config::kStrip, kChannels = Config::kChannels, kLast = G::kSpatial - 1;
  static constexpr int kKernel = G::kernel(kLast), kStride = G::stride(kLast), kDilation = G::dilation(kLast);
  static constexpr int kSpan =
      (kStrip - 1) * kStride + (kKernel - 1) * kDilation + 1; ///< cells under a strip
  static constexpr int kStrips = (G::yExtent(kLast) + kStrip - 1) / kStrip;
  static constexpr int kOutputs = G::kGroups * G::kGroupOutputs, kChannelGroups = kOutputs / kChannels;
  static constexpr bool kUnroll = kSpan <= 20;
  static_assert(G::kGroupChannels == 1 && !G::kTransposed, "depthwise: one channel per group");
  static_assert(kChannels == 1 ||
                    (G::kGroupOutputs == 1 && G::kChannelStride == 1 && kOutputs % kChannels == 0),
                "vectors of channels need a unit stride and no multiplier");

  static constexpr int kOuterTaps = D::allTaps() / kKernel;
  static constexpr bool kWhole = Config::kWhole && kUnroll;
  using Cell = Vec<T, kChannels>;

  GPUC_DEVICE static constexpr i64 items() {
    return i64(D::allPixels() / G::yExtent(kLast)) * kStrips * kChannelGroups;
  }
  using Item = typename Select<(items() < (i64(1) << 31)), u32, i64>::type;

  /// Whether tap `t` of pixel `p` of the strip meets cell `j`.
  GPUC_DEVICE static constexpr bool meets(int j, int p, int t) { return p * kStride + t * kDilation == j; }
  GPUC_DEVICE static constexpr bool cellUsed(int j) {
    for (int p = 0; p < kStrip; ++p)
      for (int t = 0; t < kKernel; ++t)
        if (meets(j, p, t))
          return true;
    return false;
  }
  GPUC_DEVICE static void loadLine(const T *cells, bool inside, i32 origin, Cell (&line)[kSpan]) {
#pragma unroll
    for (int j = 0; j < kSpan; ++j)
      if (cellUsed(j)) {
        line[j] = Cell{};
        if (inside && u32(origin + j) < u32(G::xExtent(kLast)))
          line[j] = ldVec<kChannels>(cells + j * i64(G::xStride(kLast)));
      }
  }
  GPUC_DEVICE static void loadWeights(const T *weights, Cell (&line)[kKernel]) {
#pragma unroll
    for (int t = 0; t < kKernel; ++t)
      line[t] = ldVec<kChannels>(weights + t * i64(Config::kTapStride));
  }
  GPUC_DEVICE static void multiply(const Cell (&cells)[kSpan], const Cell (&weights)[kKernel],
                                   S (&sum)[kStrip][kChannels]) {
#pragma unroll
    for (int j = 0; j < kSpan; ++j)
#pragma unroll
      for (int p = 0; p < kStrip; ++p)
#pragma unroll
        for (int t = 0; t < kKernel; ++t)
          if (meets(j, p, t)) {
#pragma unroll
            for (int c = 0; c < kChannels; ++c)
              sum[p][c] += toAcc(cells[j][c]) * toAcc(weights[t][c]);
          }
  }

  /// Computes item `item` in [0, items()): channels fastest when they are vectors, else strips.
  template <typename Output>
  GPUC_DEVICE static void run(const T *x, const T *w, const T *bias, const Output &output, Item item) {
    constexpr bool kChannelsFastest = G::kChannelStride == 1;
    constexpr Item kFast = kChannelsFastest ? kChannelGroups : kStrips,
                   kSlow = kChannelsFastest ? kStrips : kChannelGroups;
    i32 fast = i32(item % kFast);
    Item rest = item / kFast;
    i32 slow = 0;
    i32 outer[G::kSpatial] = {}; // positions along the other spatial axes
    i32 strip, channel;
    if (kChannelsFastest) {
      slow = i32(rest % kSlow);
      rest /= kSlow;
    }
    i64 line = 0, scale = 1; // row-major index of the pixel line
    i64 offset = 0;
    i32 origin[G::kSpatial];
#pragma unroll
    for (int d = kLast - 1; d >= 0; --d) {
      outer[d] = i32(rest % Item(G::yExtent(d)));
      rest /= Item(G::yExtent(d));
      line += outer[d] * scale;
      scale *= G::yExtent(d);
      origin[d] = outer[d] * G::stride(d) - G::low(d);
      offset += origin[d] * i64(G::xStride(d));
    }
    if (!kChannelsFastest) {
      slow = i32(rest % kSlow);
      rest /= kSlow;
    }
    strip = kChannelsFastest ? slow : fast;
    channel = (kChannelsFastest ? fast : slow) * kChannels;
    line += i64(rest) * scale;
    i32 pixel = strip * kStrip;
    origin[kLast] = pixel * kStride - G::low(kLast);
    const T *first =
        x + (offset + i64(rest) * i64(G::kImageStride) + origin[kLast] * i64(G::xStride(kLast)) +
             channel / G::kGroupOutputs * i64(G::kChannelStride));
    const T *filter = w + channel * i64(Config::kFilterStride);

    if constexpr (!Config::kConstant)
      arch::griddepWait();
    Cell held[kWhole ? kOuterTaps : 1][kKernel];
    if constexpr (kWhole) {
#pragma unroll
      for (int tap = 0; tap < kOuterTaps; ++tap)
        loadWeights(filter + tap * (kKernel * i64(Config::kTapStride)), held[tap]);
    }
    Cell biases = {};
    if constexpr (Config::kBias)
      biases = ldVec<kChannels>(bias + channel);
    if constexpr (Config::kConstant)
      arch::griddepWait();
    arch::griddepLaunch();

    S sum[kStrip][kChannels];
    Cell cell[kWhole ? kOuterTaps : 1][kSpan];
    if constexpr (kWhole) {
#pragma unroll
      for (int tap = 0; tap < kOuterTaps; ++tap) {
        bool inside = true;
        const T *cells = windowLine(first, tap, origin, inside);
        loadLine(cells, inside, origin[kLast], cell[tap]);
      }
    }
#pragma unroll
    for (int p = 0; p < kStrip; ++p)
#pragma unroll
      for (int c = 0; c < kChannels; ++c)
        sum[p][c] = toAcc(biases[c]);
    if constexpr (kWhole) {
#pragma unroll
      for (int tap = 0; tap < kOuterTaps; ++tap)
        multiply(cell[tap], held[tap], sum);
    }
#pragma unroll 1
    for (int tap = 0; tap < (kWhole ? 0 : kOuterTaps); ++tap) {
      bool inside = true;
      const T *cells = windowLine(first, tap, origin, inside);
      if (!inside)
        continue;
      const T *weights = filter + tap * (kKernel * i64(Config::kTapStride));
      if constexpr (kUnroll) {
        loadLine(cells, true, origin[kLast], cell[0]);
        loadWeights(weights, held[0]);
        multiply(cell[0], held[0], sum);
      } else {
        for (int t = 0; t < kKernel; ++t) {
          Vec<T, kChannels> weight = ldVec<kChannels>(weights + t * i64(Config::kTapStride));
#pragma unroll
          for (int p = 0; p < kStrip; ++p) {
            i32 j = p * kStride + t * kDilation;
            if (u32(origin[kLast] + j) >= u32(G::xExtent(kLast)))
              continue;
            Vec<T, kChannels> v = ldVec<kChannels>(cells + j * i64(G::xStride(kLast)));
#pragma unroll
            for (int c = 0; c < kChannels; ++c)
              sum[p][c] += toAcc(v[c]) * toAcc(weight[c]);
          }
        }
      }
    }

    i64 at = line * G::yExtent(kLast) + pixel;
    if constexpr (Config::kPixelLanes) {
      static_assert(kChannels == 1 && (Output::kLanes == kStrip || Output::kLanes == 1),
                    "a strip is a store");
      S values[Output::kLanes];
#pragma unroll
      for (int p = 0; p < kStrip; p += Output::kLanes) {
        if (pixel + p >= G::yExtent(kLast))
          break;
#pragma unroll
        for (int l = 0; l < Output::kLanes; ++l)
          values[l] = sum[p + l][0];
        output.storePixel(values, at + p, channel); // lanes above 1 divide the extent
      }
    } else {
#pragma unroll
      for (int p = 0; p < kStrip; ++p) {
        if (pixel + p >= G::yExtent(kLast))
          break;
        if constexpr (Output::kLanes == kChannels) {
          output.storePixel(sum[p], at + p, channel);
        } else {
#pragma unroll
          for (int c = 0; c < kChannels; ++c) {
            S one[1] = {sum[p][c]};
            output.storePixel(one, at + p, channel + c);
          }
        }
      }
    }
  }

  /// Where line `tap` of the window of `first` starts; clears `inside` if it lies in the padding.
  GPUC_DEVICE static const T *windowLine(const T *first, int tap, const i32 (&origin)[G::kSpatial],
                                         bool &inside) {
#pragma unroll
    for (int d = kLast - 1; d >= 0; --d) {
      int t = tap % G::kernel(d);
      tap /= G::kernel(d);
      inside = inside && u32(origin[d] + t * G::dilation(d)) < u32(G::xExtent(d));
      first += t * (G::dilation(d) * i64(G::xStride(d)));
    }
    return first;
  }
};

/// Entry of a depthwise unit: one item per thread.
template <typename Body, typename T, typename Output>
GPUC_DEVICE void runDepthwise(const T *x, const T *w, const T *bias, const Output &output) {
  i64 item = i64(blockIdx.x) * blockDim.x + threadIdx.x;
  if (item < Body::items())
    Body::run(x, w, bias, output, typename Body::Item(item));
}

} // namespace gpuc

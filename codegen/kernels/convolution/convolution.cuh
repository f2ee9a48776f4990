// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Implicit-GEMM convolutions and transposed convolutions: the tile bodies of matmul over the sources of
// geometry.cuh, and the output that adds the bias and finds the pixel of a row.
#pragma once
#include "convolution/geometry.cuh"
#include "matmul/matmul.cuh"

namespace gpuc {

/// Output (tile_coord.cuh) of a convolution. kPixelRows: pixels are the tile's rows and the lanes output
/// channels, else the lanes are pixels. kBias: 0 none, 1 one element of `bias` per channel.
template <typename G, typename Epilogue, int kLaneCount, bool kPixelRows, bool kBias> struct ConvOutput {
  using T = typename G::T;
  using D = Derived<G>;
  using Acc = gpuc::Acc<T>;
  static constexpr int kLanes = kLaneCount;
  static_assert(!G::kTransposed || kPixelRows || kLanes == 1, "pixels of a phase are not neighbours");
  const T *bias; // (O)
  const Epilogue &epilogue;

  template <int L> GPUC_DEVICE void store(const Acc (&values)[L], i32 z, i32 row, i32 col) const {
    i32 pixel = kPixelRows ? row : col;
    i32 channel = z % G::kGroups * G::kGroupOutputs + (kPixelRows ? col : row);
    if constexpr (G::kTransposed) {
      Phase<G> phase(z);
      i32 rest = pixel;
      i64 scale = 1, index = 0;
      bool exists = true;
#pragma unroll
      for (int d = G::kSpatial - 1; d >= 0; --d) {
        i32 position = phase.firstPixel[d] + rest % D::pixels(d) * G::stride(d);
        rest /= D::pixels(d);
        exists = exists && position < G::yExtent(d);
        index += position * scale;
        scale *= G::yExtent(d);
      }
      if (exists)
        storePixel(values, index + rest * scale, channel);
    } else {
      storePixel(values, pixel, channel);
    }
  }

  /// Adds the bias and calls the epilogue at (pixel, channel) of lane 0.
  template <int L, typename Index>
  GPUC_DEVICE void storePixel(const Acc (&values)[L], Index pixel, i32 channel) const {
    if constexpr (kBias) {
      Acc sum[L];
      if constexpr (kPixelRows && L > 1) {
        Vec<T, L> b = ldVec<L>(bias + channel);
#pragma unroll
        for (int l = 0; l < L; ++l)
          sum[l] = values[l] + toAcc(b[l]);
      } else {
        Acc b = toAcc(bias[channel]);
#pragma unroll
        for (int l = 0; l < L; ++l)
          sum[l] = values[l] + b;
      }
      epilogue.store(sum, pixel, channel);
    } else {
      epilogue.store(values, pixel, channel);
    }
  }
};

/// The same for slab/slab.cuh: bias and what the epilogue reads are loaded ahead (kEpilogueLoads: it has `load`).
template <typename G, typename Epilogue, int kLaneCount, bool kPixelRows, bool kBias, bool kEpilogueLoads>
struct ConvSlabOutput {
  using T = typename G::T;
  static constexpr int kLanes = kLaneCount;
  static constexpr bool kRows = false, kMoments = false;
  static_assert(!G::kTransposed, "pixels of a phase are not neighbours");
  const T *bias; // (O)
  const Epilogue &epilogue;

  struct Row {};
  struct None {};
  template <typename E, bool kHas> struct LoadsOf {
    using Type = None;
  };
  template <typename E> struct LoadsOf<E, true> {
    using Type = typename E::Loads;
  };
  struct Loads {
    Vec<T, kPixelRows ? kLanes : 1> bias;
    typename LoadsOf<Epilogue, kEpilogueLoads>::Type epilogue;
  };
  GPUC_DEVICE static i32 channel(i32 z, i32 row, i32 col) {
    return z % G::kGroups * G::kGroupOutputs + (kPixelRows ? col : row);
  }
  GPUC_DEVICE Loads load(i32 z, i32 row, i32 col) const {
    Loads loads{};
    if constexpr (kBias)
      loads.bias = ldVec<kPixelRows ? kLanes : 1>(bias + channel(z, row, col));
    if constexpr (kEpilogueLoads)
      loads.epilogue = epilogue.load(kPixelRows ? row : col, channel(z, row, col));
    return loads;
  }
  GPUC_DEVICE void store(float (&values)[kLanes], const Row &, const Loads &loads, i32 z, i32 row, i32 col) const {
    if constexpr (kBias) {
#pragma unroll
      for (int l = 0; l < kLanes; ++l)
        values[l] += toAcc(loads.bias[kPixelRows ? l : 0]);
    }
    i32 pixel = kPixelRows ? row : col;
    if constexpr (kEpilogueLoads)
      epilogue.store(values, loads.epilogue, pixel, channel(z, row, col));
    else
      epilogue.store(values, pixel, channel(z, row, col));
  }
};

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolution as a matrix product: pixels of the result are one operand's rows, output channels the other's,
// the depth runs over (tap, channel) with the channel fastest. Here: which cell of x a pixel and a tap meet
// (PixelSource), the weights seen that way (WeightSource, FilterSource), and phases of transposed
// convolutions.
//
// A Geometry has, as constants: T, kSpatial, kBatch (images), kGroups, kGroupChannels (C/g), kGroupOutputs
// (O/g), kAccess (elements per load of x), kTransposed, kXConstant, x's storage strides kImageStride,
// kChannelStride, xStride(d), w's strides kFilterStride (output channel in its group), kDepthStride
// (channel), wStride(d), kWGroupStride, and per spatial axis d: xExtent(d), yExtent(d), kernel(d), stride(d),
// low(d), dilation(d). Transposed convolution: all output positions of one residue modulo the strides (a
// phase) meet the same taps k0 + j*step, so each phase is an ordinary convolution of stride 1; (Dumoulin &
// Visin, arXiv:1603.07285, section 4).
#pragma once
#include "common/types.cuh"

namespace gpuc {

GPUC_DEVICE constexpr i32 greatestCommonDivisor(i32 a, i32 b) {
  while (b != 0) {
    i32 rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// Derived constants of a Geometry.
template <typename G> struct Derived {
  /// Distance of the taps that one phase meets, and how far they lie apart in x.
  GPUC_DEVICE static constexpr i32 tapStep(int d) {
    return G::kTransposed ? G::stride(d) / greatestCommonDivisor(G::stride(d), G::dilation(d)) : 1;
  }
  GPUC_DEVICE static constexpr i32 xPerTap(int d) {
    return G::kTransposed ? -(tapStep(d) * G::dilation(d) / G::stride(d)) : G::dilation(d);
  }
  GPUC_DEVICE static constexpr i32 xPerPixel(int d) { return G::kTransposed ? 1 : G::stride(d); }
  /// Taps along d in the depth (of the phase that meets most).
  GPUC_DEVICE static constexpr i32 taps(int d) { return (G::kernel(d) + tapStep(d) - 1) / tapStep(d); }
  GPUC_DEVICE static constexpr i32 phases(int d) { return G::kTransposed ? G::stride(d) : 1; }
  /// Pixels along d (of the phase that has most).
  GPUC_DEVICE static constexpr i32 pixels(int d) { return (G::yExtent(d) + phases(d) - 1) / phases(d); }
  GPUC_DEVICE static constexpr i32 allTaps() {
    i32 n = 1;
    for (int d = 0; d < G::kSpatial; ++d)
      n *= taps(d);
    return n;
  }
  GPUC_DEVICE static constexpr i32 allPhases() {
    i32 n = 1;
    for (int d = 0; d < G::kSpatial; ++d)
      n *= phases(d);
    return n;
  }
  GPUC_DEVICE static constexpr i32 allPixels() {
    i32 n = G::kBatch;
    for (int d = 0; d < G::kSpatial; ++d)
      n *= pixels(d);
    return n;
  }
  /// Whether a tap of an ordinary convolution can meet padding along d.
  GPUC_DEVICE static constexpr bool padded(int d) {
    return G::kTransposed || G::low(d) > 0 ||
           (G::yExtent(d) - 1) * G::stride(d) - G::low(d) + (G::kernel(d) - 1) * G::dilation(d) >=
               G::xExtent(d);
  }
  static constexpr i32 kDepth = allTaps() * G::kGroupChannels;
};

/// The sub-convolution that block coordinate z stands for: z = phase * groups + group.
template <typename G> struct Phase {
  using D = Derived<G>;
  i32 group;
  i32 firstPixel[G::kSpatial]; ///< output position of the phase's first pixel
  i32 firstTap[G::kSpatial];   ///< kernel position of tap 0
  i32 taps[G::kSpatial];       ///< taps that exist
  i32 origin[G::kSpatial];     ///< cell of x that pixel 0 and tap 0 meet

  GPUC_DEVICE explicit Phase(i32 z) {
    group = z % G::kGroups;
    i32 phase = z / G::kGroups;
#pragma unroll
    for (int d = G::kSpatial - 1; d >= 0; --d) {
      firstPixel[d] = G::kTransposed ? phase % D::phases(d) : 0;
      phase /= D::phases(d);
      firstTap[d] = 0;
      taps[d] = G::kernel(d);
      origin[d] = -G::low(d);
      if constexpr (G::kTransposed) {
        i32 reach = firstPixel[d] + G::low(d);
        i32 first = 0;
        while (first < D::tapStep(d) && (reach - first * G::dilation(d)) % G::stride(d) != 0)
          ++first;
        firstTap[d] = first;
        bool any = first < D::tapStep(d) && first < G::kernel(d);
        taps[d] = any ? (G::kernel(d) - first + D::tapStep(d) - 1) / D::tapStep(d) : 0;
        origin[d] = (reach - first * G::dilation(d)) / G::stride(d);
      }
    }
  }
};

/// Source (operand_tile.cuh) of x: rows are pixels.
template <typename G> struct PixelSource {
  using T = typename G::T;
  using D = Derived<G>;
  static constexpr int kAccess = G::kAccess;
  static constexpr bool kConstant = G::kXConstant;
  static constexpr bool kDepthContiguous = true;
  static constexpr bool kRowsFastest = G::kChannelStride != 1;
  static_assert(kAccess == 1 || (G::kChannelStride == 1 && G::kGroupChannels % kAccess == 0),
                "vectors of channels stay inside a tap");

  const T *x;
  const Phase<G> &phase;

  GPUC_DEVICE PixelSource(const T *x, const Phase<G> &phase)
      : x(x + phase.group * (i64(G::kGroupChannels) * G::kChannelStride)), phase(phase) {}

  struct Row {
    const T *first;          ///< where tap 0 lies, perhaps outside x
    i32 origin[G::kSpatial]; ///< its position
  };
  GPUC_DEVICE Row row(i32 pixel) const {
    Row row;
    row.first = x;
    i32 rest = pixel;
    bool exists = pixel < D::allPixels();
#pragma unroll
    for (int d = G::kSpatial - 1; d >= 0; --d) {
      i32 position = rest % D::pixels(d);
      rest /= D::pixels(d);
      row.origin[d] = phase.origin[d] + position * D::xPerPixel(d);
      row.first += row.origin[d] * i64(G::xStride(d));
      if (!exists)
        row.origin[d] = -(1 << 30); // outside for every tap
    }
    row.first += rest * i64(G::kImageStride);
    return row;
  }
  GPUC_DEVICE const T *locate(const Row &row, i32 k, i32 sub, i32 &count) const {
    i32 depth = k + sub;
    i32 tap = depth / G::kGroupChannels, channel = depth % G::kGroupChannels;
    bool inside = depth < D::kDepth && row.origin[0] > -(1 << 29);
    i64 offset = channel * i64(G::kChannelStride);
#pragma unroll
    for (int d = G::kSpatial - 1; d >= 0; --d) {
      i32 t = d == 0 ? tap : tap % D::taps(d);
      tap /= D::taps(d);
      offset += t * (D::xPerTap(d) * i64(G::xStride(d)));
      if constexpr (G::kTransposed)
        inside = inside && t < phase.taps[d];
      if (D::padded(d))
        inside = inside && u32(row.origin[d] + t * D::xPerTap(d)) < u32(G::xExtent(d));
    }
    count = inside ? kAccess : 0;
    return inside ? row.first + offset : x;
  }
};

/// Source of w as stored, element by element: rows are the group's output channels.
template <typename G> struct WeightSource {
  using T = typename G::T;
  using D = Derived<G>;
  static constexpr int kAccess = 1;
  static constexpr bool kConstant = false, kDepthContiguous = true, kRowsFastest = false;

  const T *w;
  const Phase<G> &phase;

  GPUC_DEVICE WeightSource(const T *w, const Phase<G> &phase)
      : w(w + phase.group * i64(G::kWGroupStride)), phase(phase) {}

  struct Row {
    i32 output;
  };
  GPUC_DEVICE Row row(i32 output) const { return {output}; }
  GPUC_DEVICE const T *locate(const Row &row, i32 k, i32 sub, i32 &count) const {
    i32 depth = k + sub;
    i32 tap = depth / G::kGroupChannels, channel = depth % G::kGroupChannels;
    bool exists = depth < D::kDepth && row.output < G::kGroupOutputs;
    i64 offset = row.output * i64(G::kFilterStride) + channel * i64(G::kDepthStride);
#pragma unroll
    for (int d = G::kSpatial - 1; d >= 0; --d) {
      i32 t = d == 0 ? tap : tap % D::taps(d);
      tap /= D::taps(d);
      exists = exists && t < phase.taps[d];
      offset += (phase.firstTap[d] + t * D::tapStep(d)) * i64(G::wStride(d));
    }
    count = exists;
    return exists ? w + offset : w;
  }
};

/// Distance between the packed rows of two output channels: whole 16-byte chunks.
template <typename G> GPUC_DEVICE constexpr i32 packedDepth() {
  constexpr i32 kVec = 16 / i32(sizeof(typename G::T));
  return (Derived<G>::kDepth + kVec - 1) / kVec * kVec;
}

/// Source of packed weights, [phase][group][O/g][packedDepth], zero where there is no tap.
template <typename G, int kAccessElements = 16 / int(sizeof(typename G::T))> struct FilterSource {
  using T = typename G::T;
  static constexpr int kAccess = kAccessElements;
  static constexpr bool kConstant = true, kDepthContiguous = true, kRowsFastest = false;
  static constexpr i32 kStride = packedDepth<G>();

  const T *w;

  GPUC_DEVICE FilterSource(const T *w, i32 z) : w(w + z * (i64(G::kGroupOutputs) * kStride)) {}

  struct Row {
    const T *first; ///< null past the end
  };
  GPUC_DEVICE Row row(i32 output) const {
    return {output < G::kGroupOutputs ? w + output * i64(kStride) : nullptr};
  }
  GPUC_DEVICE const T *locate(const Row &row, i32 k, i32 sub, i32 &count) const {
    i32 depth = k + sub;
    bool exists = row.first != nullptr && depth < kStride;
    count = exists ? kAccess : 0;
    return exists ? row.first + depth : w;
  }
};

/// Packs one element: `item` counts the elements of FilterSource's layout. kTf32: f32 rounded to the nearest TF32, for
/// tensor cores that would cut the low bits off.
template <typename G, bool kTf32 = false>
GPUC_DEVICE void packFilter(const typename G::T *w, typename G::T *packed, i64 item) {
  constexpr i32 kStride = packedDepth<G>();
  i64 line = item / kStride;
  i32 depth = i32(item % kStride), z = i32(line / G::kGroupOutputs), output = i32(line % G::kGroupOutputs);
  if (z >= Derived<G>::allPhases() * G::kGroups)
    return;
  Phase<G> phase(z);
  WeightSource<G> source(w, phase);
  i32 count;
  const typename G::T *from = source.locate(source.row(output), depth, 0, count);
  typename G::T value = count ? *from : typename G::T{};
  packed[item] = kTf32 ? tensorCoreValue(value) : value;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From dot products to attention scores, and the online softmax's bookkeeping. Scores are in units of
// log2(e), so that weights are powers of two.
//
// Config: kScale, kSoftcap (double; 0: none), kQueries, kKeys, kRepeat (query heads per key head), kCausal,
// kCausalOffset, kZeroMasked. Row r of a key head's queries is query r / kRepeat of head r % kRepeat. Bias:
// kKind, row(b, h, s) (address of its row), at(row, t), kPaired and then pairAt(row, t) (of keys t and t + 1).
#pragma once
#include "arch/approx.cuh"
#include "arch/griddep.cuh"
#include "common/reduce.cuh"

namespace gpuc {

enum class BiasKind : u8 { None, Added, Mask };

template <typename Acc> GPUC_DEVICE Acc exp2Of(Acc x) {
  if constexpr (kIsSame<Acc, float>)
    return arch::ex2Approx(x);
  else
    return exp2(x);
}
/// The maximum; a NaN may lose: it reaches the row's sum anyway.
struct LargestOp {
  template <typename T> GPUC_DEVICE T operator()(T a, T b) const {
    if constexpr (kIsSame<T, float>)
      return arch::maxNumber(a, b);
    else
      return a > b ? a : b;
  }
};

/// Queries of a block: rows [first, first + kBlockM) of key head (b, g).
struct AttentionCoord {
  i32 b, g, first;
};

template <typename Config> GPUC_DEVICE AttentionCoord attentionCoord(u32 block) {
  constexpr u32 kTiles = (u32(Config::kQueries) * Config::kRepeat + Config::kBlockM - 1) / Config::kBlockM;
  u32 tile = kTiles - 1 - block % kTiles,
      head = block / kTiles; // with a causal mask the last tiles have most keys: first
  return {i32(head / Config::kKeyHeads), i32(head % Config::kKeyHeads), i32(tile) * Config::kBlockM};
}

/// The number of keys that rows below `rowEnd` can see, at most kKeys.
template <typename Config> GPUC_DEVICE i32 visibleKeys(i32 rowEnd) {
  if constexpr (!Config::kCausal) {
    return Config::kKeys;
  } else {
    i32 lastRow =
        (rowEnd < Config::kQueries * Config::kRepeat ? rowEnd : Config::kQueries * Config::kRepeat) - 1;
    i32 keys = lastRow / Config::kRepeat + Config::kCausalOffset + 1;
    return keys < 0 ? 0 : keys < Config::kKeys ? keys : Config::kKeys;
  }
}

/// The number of keys that every row from `row` on can see.
template <typename Config> GPUC_DEVICE i32 commonKeys(i32 row) {
  if constexpr (!Config::kCausal) {
    return Config::kKeys;
  } else {
    i32 keys = row / Config::kRepeat + Config::kCausalOffset + 1;
    return keys < 0 ? 0 : keys < Config::kKeys ? keys : Config::kKeys;
  }
}

/// One row of scores: which query it is and where its bias lies. Scores times kUnit are in units of log2(e): without
/// a softcap and an added bias they are the dot products themselves, and the factor becomes part of the exponent's
/// multiply-add.
template <typename Config, typename Bias> struct ScoreRow {
  using Acc = typename Config::Acc;
  static constexpr double kLog2e = 1.44269504088896340736;
  static constexpr bool kRaw = Bias::kKind != BiasKind::Added && !(Config::kSoftcap > 0) && Config::kScale > 0;
  static constexpr Acc kUnit = Acc((kRaw ? Config::kScale : 1.0) * kLog2e);
  /// Nothing to do for keys that are all visible.
  static constexpr bool kPlain = kRaw && Bias::kKind == BiasKind::None;
  const Bias &bias;
  decltype(Bias().row(0, 0, 0)) biasRow;
  i32 lastKey; ///< greatest visible key

  GPUC_DEVICE ScoreRow(const Bias &bias, AttentionCoord at, i32 r) : bias(bias) {
    constexpr i32 kRows = Config::kQueries * Config::kRepeat;
    i32 row = r < kRows ? r : kRows - 1; // rows past the end compute, and are not stored
    i32 s = row / Config::kRepeat;
    biasRow = bias.row(at.b, at.g * Config::kRepeat + row % Config::kRepeat, s);
    lastKey = Config::kKeys - 1;
    if (Config::kCausal && s + Config::kCausalOffset < lastKey)
      lastKey = s + Config::kCausalOffset;
  }
  /// The score of a visible key whose bias is `value`.
  template <typename Value> GPUC_DEVICE static Acc biased(Acc dot, Value value) {
    Acc x = dot;
    if constexpr (Config::kSoftcap > 0)
      x = Acc(Config::kSoftcap) * unary_tanh(dot * Acc(Config::kScale / Config::kSoftcap));
    else if constexpr (!kRaw)
      x = dot * Acc(Config::kScale);
    if constexpr (Bias::kKind == BiasKind::Added) {
      // The smallest finite number, which masks use, must not become -inf by the change of base.
      constexpr Acc kFloor = kIsSame<Acc, float> ? Acc(-2.3e38) : Acc(-1.2e308);
      Acc added = cast<Acc>(value);
      if constexpr (!kIsHalf<Value>)
        x += added < kFloor ? kFloor : added;
      else
        x += added;
      return added == lowest<Acc>() ? added : x; // a hidden key stays hidden whatever its score
    } else if constexpr (Bias::kKind == BiasKind::Mask) {
      return value ? x : lowest<Acc>();
    } else {
      return x;
    }
  }
  /// The score of key t; `whole`: no row of the block hides a key of this tile.
  GPUC_DEVICE Acc score(Acc dot, i32 t, bool whole) const {
    if (!whole && t > lastKey)
      return lowest<Acc>();
    return biased(dot, bias.at(biasRow, t));
  }
  /// Dot products with keys t and t + 1 become scores; t is even.
  GPUC_DEVICE void scorePair(Acc &x, Acc &y, i32 t, bool whole) const {
    if constexpr (Bias::kPaired) {
      if (!whole && t > lastKey) {
        x = y = lowest<Acc>();
      } else {
        auto values = bias.pairAt(biasRow, t);
        x = biased(x, values[0]);
        y = !whole && t == lastKey ? lowest<Acc>() : biased(y, values[1]);
      }
    } else {
      x = score(x, t, whole);
      y = score(y, t + 1, whole);
    }
  }
};

/// Running maximum and sum of one row.
template <typename Acc> struct OnlineSoftmax {
  Acc largest = lowest<Acc>(), sum = Acc(0);
  /// Takes the maximum of new scores into account. Gives the factor of what has been accumulated, and in
  /// `shift` what to subtract from scores; both are finite when the row has had no visible key so far.
  GPUC_DEVICE Acc raise(Acc candidate, Acc &shift) {
    Acc next = LargestOp()(largest, candidate);
    shift = next == lowest<Acc>() ? Acc(0) : next;
    Acc factor = exp2Of(largest - shift);
    largest = next;
    sum *= factor;
    return factor;
  }
  /// What accumulated values are multiplied with at the end; `total` is the row's sum.
  template <bool kZeroMasked> GPUC_DEVICE static Acc finalScale(Acc total) {
    if (total == Acc(0))
      return kZeroMasked ? Acc(0) : infinity<Acc>() - infinity<Acc>();
    return Acc(1) / total;
  }
};

} // namespace gpuc

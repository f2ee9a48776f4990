// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations of rows. A team (2^n lanes of a warp, or a block) owns a row, keeps it in registers when it
// fits and otherwise evaluates its elements again in every pass.
//
// Config: Acc (float or double), Index, kRows, kCols, kTeam (threads per row: a power of two up to 32, or all
// threads of the block), kTeams (rows per block), kVectors (vectors of a thread; 0: the row is streamed),
// kLanes (divides kCols). Source: load(Acc (&x)[kLanes], Index row, Index col). Sink: store(const Acc
// (&y)[kLanes], Index row, Index col).
#pragma once
#include "common/reduce.cuh"

namespace gpuc {

template <typename Config> struct RowTeam {
  using Acc = typename Config::Acc;
  static constexpr int kTeam = Config::kTeam, kThreads = kTeam * Config::kTeams;
  static constexpr bool kIsBlock = kTeam > 32;
  static_assert(kThreads % 32 == 0 && kThreads <= 1024, "a block has whole warps, at most 32");
  static_assert(!kIsBlock || Config::kTeams == 1, "a row that needs more than a warp has a block of its own");
  struct Shared {
    Acc scratch[kIsBlock ? kTeam / 32 : 1];
  };
  Shared &shared;

  GPUC_DEVICE int lane() const { return int(threadIdx.x) % kTeam; }
  template <typename Op> GPUC_DEVICE Acc reduce(Acc v, Op op) const {
    if constexpr (kIsBlock)
      return blockReduce<kTeam>(v, op, shared.scratch);
    else
      return warpReduce<kTeam>(v, op);
  }
  /// The value of the team's first thread.
  GPUC_DEVICE Acc first(Acc v) const {
    if constexpr (kIsBlock)
      return blockBroadcast(v, 0, shared.scratch);
    else
      return arch::shflIdx(v, 0, u32(kTeam));
  }
};

/// A row in registers. each(f) calls f(Acc (&x)[kLanes], col) for the thread's vectors; f may change them.
template <typename Config, typename Source> struct RegisterRow {
  using Acc = typename Config::Acc;
  using Index = typename Config::Index;
  static constexpr bool kStreamed = false;
  static constexpr int kLanes = Config::kLanes, kVectors = Config::kVectors;
  static constexpr Index kStep = Index(Config::kTeam) * kLanes;
  static constexpr bool kWhole = Config::kCols % kStep == 0;

  Acc x[kVectors][kLanes]; // (V, L) -> col = (v * team + lane) * L + l
  Index begin;

  GPUC_DEVICE RegisterRow(const Source &source, Index row, int lane, bool live)
      : begin(live ? Index(lane) * kLanes : Index(Config::kCols)) {
#pragma unroll
    for (int v = 0; v < kVectors; ++v) {
#pragma unroll
      for (int l = 0; l < kLanes; ++l)
        x[v][l] = 0;
      if (has(v, live))
        source.load(x[v], row, begin + v * kStep);
    }
  }
  GPUC_DEVICE bool has(int v, bool live) const {
    return kWhole && (v + 1) * kStep <= Config::kCols ? live : begin < Index(Config::kCols) - v * kStep;
  }
  template <typename F> GPUC_DEVICE void each(F f) {
    bool live = begin < Config::kCols;
#pragma unroll
    for (int v = 0; v < kVectors; ++v)
      if (has(v, live))
        f(x[v], begin + v * kStep);
  }
  GPUC_DEVICE Acc first() const { return x[0][0]; }
};

/// A row that is evaluated again by every each(f).
template <typename Config, typename Source> struct StreamedRow {
  using Acc = typename Config::Acc;
  using Index = typename Config::Index;
  static constexpr bool kStreamed = true;
  static constexpr int kLanes = Config::kLanes;
  static constexpr Index kStep = Index(Config::kTeam) * kLanes;

  const Source &source;
  Index row, begin;

  GPUC_DEVICE StreamedRow(const Source &source, Index row, int lane, bool live)
      : source(source), row(row), begin(live ? Index(lane) * kLanes : Index(Config::kCols)) {}
  template <typename F> GPUC_DEVICE void each(F f) {
#pragma unroll 2
    for (Index col = begin; col < Config::kCols; col += kStep) {
      Acc x[kLanes];
      source.load(x, row, col);
      f(x, col);
    }
  }
  GPUC_DEVICE Acc first() const {
    Acc x[kLanes] = {};
    if (begin < Config::kCols)
      source.load(x, row, begin);
    return x[0];
  }
};

/// exp(x - max) / sum, or its logarithm. A row of -inf gives NaN, or zeros with kZeroMasked.
template <bool kLog, bool kZeroMasked> struct SoftmaxOp {
  template <typename Acc> GPUC_DEVICE static Acc shiftOf(Acc largest) {
    return kZeroMasked && largest == lowest<Acc>() ? Acc(0) : largest;
  }
  /// What exp(x - shift), or x - shift for the logarithm, is multiplied with or lessened by.
  template <typename Acc> GPUC_DEVICE static Acc scaleOf(Acc sum) {
    if constexpr (kLog)
      return unary_log(sum);
    else
      return kZeroMasked && sum == Acc(0) ? Acc(0) : Acc(1) / sum;
  }
  template <typename Acc> GPUC_DEVICE static Acc result(Acc x, Acc shift, Acc scale) {
    if constexpr (kLog)
      return kZeroMasked && scale == lowest<Acc>() ? Acc(0) : x - shift - scale;
    else
      return unary_exp(x - shift) * scale;
  }
  /// Adds x to the running sum of exp(x - largest).
  template <typename Acc> GPUC_DEVICE static void accumulate(Acc &largest, Acc &sum, Acc x) {
    if (x > largest || x != x) {
      sum = largest == lowest<Acc>() ? Acc(1) : sum * unary_exp(largest - x) + Acc(1);
      sum = x != x || x == highest<Acc>() ? x - x : sum; // as exp(x - x) would give
      largest = x;
    } else if (x != lowest<Acc>()) {
      sum += unary_exp(x - largest);
    }
  }
  /// The part of `sum` in a sum relative to `all`.
  template <typename Acc> GPUC_DEVICE static Acc rescaled(Acc largest, Acc sum, Acc all) {
    return largest == lowest<Acc>() ? Acc(0) : sum * unary_exp(largest - all);
  }

  template <typename Team, typename Row, typename Sink, typename Index>
  GPUC_DEVICE void operator()(const Team &team, Row &row, const Sink &sink, Index r) const {
    using Acc = typename Team::Acc;
    Acc largest = lowest<Acc>(), sum = 0;
    if constexpr (Row::kStreamed) {
      row.each([&](const Acc(&x)[Row::kLanes], Index) {
#pragma unroll
        for (int l = 0; l < Row::kLanes; ++l)
          accumulate(largest, sum, x[l]);
      });
      Acc all = team.reduce(largest, MaxOp());
      sum = team.reduce(rescaled(largest, sum, all), SumOp());
      Acc shift = shiftOf(all), scale = scaleOf(sum);
      row.each([&](Acc(&x)[Row::kLanes], Index col) {
#pragma unroll
        for (int l = 0; l < Row::kLanes; ++l)
          x[l] = result(x[l], shift, scale);
        sink.store(x, r, col);
      });
    } else {
      row.each([&](const Acc(&x)[Row::kLanes], Index) {
#pragma unroll
        for (int l = 0; l < Row::kLanes; ++l)
          largest = binary_max(largest, x[l]);
      });
      Acc shift = shiftOf(team.reduce(largest, MaxOp()));
      row.each([&](Acc(&x)[Row::kLanes], Index) {
#pragma unroll
        for (int l = 0; l < Row::kLanes; ++l) {
          Acc e = unary_exp(x[l] - shift);
          sum += e;
          if constexpr (!kLog)
            x[l] = e;
        }
      });
      Acc scale = scaleOf(team.reduce(sum, SumOp()));
      row.each([&](Acc(&x)[Row::kLanes], Index col) {
#pragma unroll
        for (int l = 0; l < Row::kLanes; ++l)
          x[l] = kLog ? result(x[l], shift, scale) : x[l] * scale;
        sink.store(x, r, col);
      });
    }
  }
};

/// (x - mean) / sqrt(variance + epsilon), then the affine part; kCentre false leaves the mean out (RMS). Sums
/// are taken relative to the row's first element, so a constant row has variance 0. Affine: apply(Acc
/// (&y)[kLanes], Index row, Index col).
template <bool kCentre, typename Affine, typename AccT> struct MomentsOp {
  const Affine &affine;
  AccT epsilon;

  template <typename Team, typename Row, typename Sink, typename Index>
  GPUC_DEVICE void operator()(const Team &team, Row &row, const Sink &sink, Index r) const {
    using Acc = typename Team::Acc;
    constexpr Acc kCount = Acc(Team::kCols);
    Acc mean = 0, sum = 0;
    if constexpr (kCentre) {
      Acc pivot = team.first(row.first());
      row.each([&](const Acc(&x)[Row::kLanes], Index) {
#pragma unroll
        for (int l = 0; l < Row::kLanes; ++l)
          sum += x[l] - pivot;
      });
      mean = pivot + team.reduce(sum, SumOp()) / kCount;
    }
    Acc squares = 0;
    row.each([&](const Acc(&x)[Row::kLanes], Index) {
#pragma unroll
      for (int l = 0; l < Row::kLanes; ++l)
        squares += (x[l] - mean) * (x[l] - mean);
    });
    Acc scale = Acc(1) / unary_sqrt(team.reduce(squares, SumOp()) / kCount + epsilon);
    row.each([&](Acc(&x)[Row::kLanes], Index col) {
#pragma unroll
      for (int l = 0; l < Row::kLanes; ++l)
        x[l] = (x[l] - mean) * scale;
      affine.apply(x, r, col);
      sink.store(x, r, col);
    });
  }
};

/// A team that knows the extent of its row.
template <typename Config> struct SizedRowTeam : RowTeam<Config> {
  static constexpr typename Config::Index kCols = Config::kCols;
};

/// Normalises rows [block * kTeams, (block + 1) * kTeams).
template <typename Config, typename Source, typename Op, typename Sink>
GPUC_DEVICE void normalizeRows(typename RowTeam<Config>::Shared &shared, const Source &source, const Op &op,
                               const Sink &sink, typename Config::Index block) {
  using Index = typename Config::Index;
  using Row =
      typename Select<(Config::kVectors > 0), RegisterRow<Config, Source>, StreamedRow<Config, Source>>::type;
  SizedRowTeam<Config> team{{shared}};
  Index r = block * Config::kTeams + Index(threadIdx.x) / Config::kTeam;
  bool live = Config::kRows % Config::kTeams == 0 || r < Config::kRows;
  Row row(source, r, team.lane(), live);
  op(team, row, sink, r);
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The reference executor: one function per core op, plain loops on host tensors. The oracle of constant
// folding, tests and `gpuc run --device=reference`; it shares no code with the kernels.
//
// Rules that hold for every function here:
//  - Operands are dense row-major. Compute types are bool, i8…i64, u8…u64, f16, bf16, f32, f64.
//  - Floats are evaluated in double and rounded once, to nearest even, when an element is stored: an f16,
//    bf16 or f32 sum is a sum of doubles. Integers are exact modulo 2^n and never pass through double.
//  - Axes are in [0, rank). Shapes that an op can not have, and indices found in data that are out of range,
//    give InvalidArgument; an element type without meaning for the op gives Unsupported; nothing crashes.
//  - Semantics are those of OpKinds.h, and of the newest opset of the ONNX op named with each function.
#pragma once
#include "gpuc/Support/HostTensor.h"
#include "gpuc/Support/OpKinds.h"
#include "gpuc/Support/Status.h"
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace gpuc::reference {

//===--- Pointwise.cpp ---===//

/// f(x) for every element; `alpha` and `beta` as OpKinds.h says. Floats take every kind but Not and BitNot;
/// integers Abs, Neg, Sign, Relu, BitNot, and the identities Ceil, Floor, Round; bool takes Not. Predicates
/// return bool of x's shape, all others x's type. ONNX: Abs … ThresholdedRelu, Not, BitwiseNot, IsNaN, IsInf.
Result<HostTensor> unary(UnaryKind kind, const HostTensor &x, double alpha = 0, double beta = 0);

/// f(a, b) with numpy broadcasting. Both operands have one type, except Pow, whose exponent may have any
/// numeric type; the result has a's type, comparisons give bool. A shift by the bit width or more gives 0 (-1
/// for a negative value shifted right). An integer raised to a negative integer is truncated: 0, or ±1 for a
/// base of ±1. ONNX: Add … GreaterOrEqual, BitShift.
Result<HostTensor> binary(BinaryKind kind, const HostTensor &a, const HostTensor &b);

/// cond ? a : b with numpy broadcasting of all three. cond: bool; a, b: one type, not sub-byte. ONNX: Where.
Result<HostTensor> select(const HostTensor &cond, const HostTensor &a, const HostTensor &b);

/// The shape that numpy broadcasting gives; InvalidArgument when there is none.
Result<Shape> broadcastShapes(const Shape &a, const Shape &b);

//===--- Cast.cpp ---===//

/// Converts between any two element types, storage types of quantised data included. ONNX: Cast 25.
///  - to a float: nearest even. `saturate` concerns the fp8 kinds: out of range and ±inf become the largest
///    finite value; without it they become ±inf (E5M2) or NaN (the kinds without inf). F4E2M1 always
///    saturates, NaN gives a zero of the opposite sign (as the ONNX reference does).
///  - to F8E8M0: |x|, rounded to a power of 2 as `round` says. NaN is NaN; what is below 2^-127, zero
///    included, or above 2^127 becomes the nearer of the two with `saturate`, else NaN.
///  - float to integer: toward zero, NaN is 0. A value that does not fit (undefined in ONNX) is clamped; for
///    types below 8 bits its low bits are kept.
///  - integer to integer: the low bits. Anything to bool: only ±0 is false.
Result<HostTensor> cast(const HostTensor &x, DType to, bool saturate = true, RoundMode round = RoundMode::Up);

//===--- Movement.cpp (all types of at least one byte; transpose and reshape all types) ---===//

/// result[i0, …] has extent x.shape[perm[d]] at axis d. perm: a permutation of the axes. ONNX: Transpose.
Result<HostTensor> transpose(const HostTensor &x, const std::vector<int64_t> &perm);
/// The same elements under a shape without 0 (copy) or -1 (infer) conventions. All types. ONNX: Reshape.
Result<HostTensor> reshape(const HostTensor &x, const Shape &shape);
/// Broadcasts x to exactly `shape`, whose rank is at least x's. ONNX: Expand.
Result<HostTensor> expand(const HostTensor &x, const Shape &shape);
/// result[i] = x[starts[d] + i * steps[d]] on every axis d, result shape `sizes`. Steps are not zero; every
/// element read must exist. ONNX: Slice.
Result<HostTensor> slice(const HostTensor &x, const std::vector<int64_t> &starts,
                         const std::vector<int64_t> &steps, const std::vector<int64_t> &sizes);
/// Joins at least one tensor of one type; shapes differ only along `axis`. ONNX: Concat.
Result<HostTensor> concat(const std::vector<HostTensor> &tensors, int64_t axis);
/// Adds `low`/`high` elements before and after every axis; a negative number crops. `value`: one element of
/// x's type, for PadMode::Constant; nullptr is zero. Reflect repeats as often as needed (numpy), an axis of
/// extent 1 repeats its element. Edge, reflect and wrap need a non-empty axis where they add. ONNX: Pad.
Result<HostTensor> pad(const HostTensor &x, const std::vector<int64_t> &low, const std::vector<int64_t> &high,
                       PadMode mode, const HostTensor *value = nullptr);
/// repeats: one non-negative count per axis. ONNX: Tile.
Result<HostTensor> tile(const HostTensor &x, const std::vector<int64_t> &repeats);
/// Keeps, of the last two axes (rank >= 2), the elements with col - row >= k (upper) or <= k (lower); others
/// are 0. ONNX: Trilu.
Result<HostTensor> trilu(const HostTensor &x, int64_t k, bool upper);

//===--- Resize.cpp ---===//

/// Attributes of one resize. ONNX: Resize 10 … 19, Upsample.
struct ResizeParams {
  ResizeMode mode = ResizeMode::Nearest;
  CoordinateMode coordinates = CoordinateMode::HalfPixel;
  NearestMode nearest = NearestMode::RoundPreferFloor;
  Shape outputShape;          ///< every axis
  std::vector<double> scales; ///< every axis, > 0; outputShape/inputShape (in double) when sizes were given
  std::vector<double> roi;    ///< TfCropAndResize: all starts, then all ends, normalised; empty: 0 … 1
  double cubicCoeffA = -0.75;
  bool excludeOutside = false;
  double extrapolationValue = 0;
  bool antialias = false;
};
/// Separable interpolation of any rank in double; coordinates are exact rationals whenever scale == out/in,
/// so ties of the nearest modes are decided as written. AlignCorners and TfCropAndResize use scale * in as
/// the resized length, as the ONNX reference does. Integers: clamped to the type and truncated.
Result<HostTensor> resize(const HostTensor &x, const ResizeParams &params);

//===--- Indexing.cpp (indices i32 or i64, negative ones count from the end) ---===//

/// result shape = data.shape[:axis] + indices.shape + data.shape[axis+1:]. ONNX: Gather.
Result<HostTensor> gather(const HostTensor &data, const HostTensor &indices, int64_t axis);
/// result[.., i, ..] = data[.., indices[.., i, ..], ..]; the shape is indices' shape, whose other extents are
/// at most data's. ONNX: GatherElements.
Result<HostTensor> gatherElements(const HostTensor &data, const HostTensor &indices, int64_t axis);
/// The last axis of `indices` holds k = indices.shape[-1] coordinates into data's axes batchDims …
/// batchDims+k-1. result shape = indices.shape[:-1] + data.shape[batchDims+k:]. ONNX: GatherND.
Result<HostTensor> gatherNd(const HostTensor &data, const HostTensor &indices, int64_t batchDims = 0);
/// data with slices replaced by, or combined in their own type with, `updates` of shape indices.shape[:-1] +
/// data.shape[k:], in row-major order of the indices. ONNX: ScatterND.
Result<HostTensor> scatterNd(const HostTensor &data, const HostTensor &indices, const HostTensor &updates,
                             ScatterReduction reduction);
/// data[.., indices[.., i, ..], ..] op= updates[.., i, ..]; indices and updates have one shape. ONNX:
/// ScatterElements.
Result<HostTensor> scatterElements(const HostTensor &data, const HostTensor &indices,
                                   const HostTensor &updates, int64_t axis, ScatterReduction reduction);

//===--- Reduction.cpp ---===//

/// Reduces over `axes` (none: the element-wise part alone, e.g. the square of SumSquare). NaN passes through
/// Max and Min. Over nothing: Sum, L1, L2, SumSquare 0, Prod 1, Max -inf or the lowest value, Min the
/// opposite, LogSum and LogSumExp -inf, Mean NaN (integers 0), Any false, All true. Integers: Mean truncates
/// toward zero, L2 and the log kinds come from double, truncated. Bool: Max, Min, Any, All. ONNX: Reduce*.
Result<HostTensor> reduce(ReduceKind kind, const HostTensor &x, const std::vector<int64_t> &axes,
                          bool keepdims);
/// Index (i64) of the largest or smallest element along a non-empty axis, the first or the last of equals;
/// NaN wins over numbers. ONNX: ArgMax, ArgMin.
Result<HostTensor> argReduce(bool isMax, const HostTensor &x, int64_t axis, bool keepdims,
                             bool selectLast = false);
/// Running sum along `axis`; numeric types. ONNX: CumSum.
Result<HostTensor> cumSum(const HostTensor &x, int64_t axis, bool exclusive = false, bool reverse = false);

//===--- Normalization.cpp (float types; statistics in two passes) ---===//

/// Softmax along one axis, or its logarithm. ONNX: Softmax 13, LogSoftmax 13.
Result<HostTensor> softmax(const HostTensor &x, int64_t axis, bool log = false);
/// Normalises over axes axis … rank-1, then scale and bias (each may be nullptr) of a shape that broadcasts
/// to x.shape. ONNX: LayerNormalization 17.
Result<HostTensor> layerNorm(const HostTensor &x, const HostTensor *scale, const HostTensor *bias,
                             int64_t axis, double epsilon);
/// x / sqrt(mean(x²) + epsilon) over axes axis … rank-1, times scale. ONNX: RMSNormalization 23.
Result<HostTensor> rmsNorm(const HostTensor &x, const HostTensor *scale, int64_t axis, double epsilon);
/// x: (…, N) seen as R rows: (R, N/columns, 2) in f32, of each run of `columns` elements the sum and the sum
/// of squares. `columns` divides N.
Result<HostTensor> rowMoments(const HostTensor &x, int64_t columns);
/// Mean and 1 / sqrt(variance + epsilon), each (R, 1), of rows of `extent` elements from moments (R, P, 2).
/// Not centered: mean 0, and the mean square in place of the variance.
struct RowStatistics {
  HostTensor mean, scale;
};
Result<RowStatistics> rowStatistics(const HostTensor &moments, int64_t extent, double epsilon, bool centered);
/// x: (N, C, …); each of the `groups` runs of C/groups channels is normalised alone. scale, bias: (C) or
/// nullptr. ONNX: GroupNormalization 21; InstanceNormalization is groups = C.
Result<HostTensor> groupNorm(const HostTensor &x, const HostTensor *scale, const HostTensor *bias,
                             int64_t groups, double epsilon);
/// x: (N, C, …); x / (bias + alpha/size * sum of squares of `size` channels around)^beta. ONNX: LRN.
Result<HostTensor> lrn(const HostTensor &x, int64_t size, double alpha, double beta, double bias);

/// x: (N, C, …) times a gate per image and channel: gate(w2 act(w1 mean + b1) + b2), mean over the spatial
/// axes in x's type; w1: (S, C), b1: (S), w2: (C, S), b2: (C). Intermediate values are kept in f32 (f64 for
/// f64).
using TensorFunction = std::function<Result<HostTensor>(const HostTensor &)>;
Result<HostTensor> squeezeExcite(const HostTensor &x, const HostTensor &w1, const HostTensor &b1,
                                 const HostTensor &w2, const HostTensor &b2, const TensorFunction &act,
                                 const TensorFunction &gate);

//===--- Contraction.cpp ---===//

/// a: (…, M, K), b: (…, K, N), one numeric type, batch axes broadcast; result (…, M, N). K = 0 gives zeros.
/// ONNX: MatMul.
Result<HostTensor> matmul(const HostTensor &a, const HostTensor &b);

//===--- Convolution.cpp ---===//

/// One entry per spatial axis.
struct ConvParams {
  std::vector<int64_t> strides;         ///< >= 1
  std::vector<int64_t> padLow, padHigh; ///< may be negative: crops
  std::vector<int64_t> dilations;       ///< >= 1
  int64_t group = 1;
};
/// x: (N, C, D1…Dr), w: (O, C/group, K1…Kr), bias: (O) or nullptr, r >= 1, one numeric type.
/// Result: (N, O, (D + padLow + padHigh - dilation*(K-1) - 1) / stride + 1 …). ONNX: Conv.
Result<HostTensor> conv(const HostTensor &x, const HostTensor &w, const HostTensor *bias,
                        const ConvParams &params);
/// x: (N, C, D1…Dr), w: (C, O/group, K1…Kr), bias: (O) or nullptr. outputShape: the r spatial extents; input
/// cell i and tap k add to cell i*stride + k*dilation - padLow, cells outside are dropped; padHigh is not
/// used. Output padding is part of outputShape. ONNX: ConvTranspose.
Result<HostTensor> convTranspose(const HostTensor &x, const HostTensor &w, const HostTensor *bias,
                                 const ConvParams &params, const Shape &outputShape);

//===--- Pooling.cpp ---===//

/// One entry per spatial axis. padHigh is the declared pad, without what ceil_mode adds.
struct PoolParams {
  std::vector<int64_t> kernel, strides, padLow, padHigh, dilations;
};
/// x: (N, C, D1…Dr), numeric; result (N, C, outputSpatial…). Padding never wins; NaN does. A window without a
/// cell gives -inf or the lowest value. ONNX: MaxPool.
Result<HostTensor> maxPool(const HostTensor &x, const PoolParams &params, const Shape &outputSpatial);
/// i64 positions of the first maximum in the whole of x, flattened row-major (storageOrder 0) or with each
/// spatial plane column-major (1). A window without a cell gives -1. ONNX: MaxPool, output Indices.
Result<HostTensor> maxPoolIndices(const HostTensor &x, const PoolParams &params, const Shape &outputSpatial,
                                  int64_t storageOrder = 0);
/// x: (N, C, D1…Dr), float. Divisor: the real cells of the window, or with countIncludePad the cells inside
/// [-padLow, D + padHigh). A window without a cell gives 0. ONNX: AveragePool 22.
Result<HostTensor> avgPool(const HostTensor &x, const PoolParams &params, const Shape &outputSpatial,
                           bool countIncludePad);

//===--- Attention.cpp ---===//

struct AttentionParams {
  double scale = 1; ///< multiplies q·k
  /// Key t is visible to query s when t <= s + causalOffset; absent: all keys.
  std::optional<int64_t> causalOffset;
  double softcap = 0;         ///< > 0: scores become softcap * tanh(score / softcap), before bias and masks
  bool zeroMaskedRows = true; ///< a query without a visible key gives zeros, otherwise NaN
};
/// softmax(scale q kᵀ + bias) v. q: (B, Hq, S, D), k: (B, Hk, T, D), v: (B, Hk, T, Dv), one float type, Hq a
/// multiple of Hk; bias: nullptr, or float (added) or bool (true = visible), broadcastable to (B, Hq, S, T).
/// Result (B, Hq, S, Dv). ONNX: Attention 24.
Result<HostTensor> attention(const HostTensor &q, const HostTensor &k, const HostTensor &v,
                             const HostTensor *bias, const AttentionParams &params);

//===--- Sort.cpp ---===//

struct TopK {
  HostTensor values;  ///< x's type
  HostTensor indices; ///< i64
};
/// The k <= extent largest or smallest elements along `axis`. Equal elements: the lower index first; NaN
/// counts as the largest; -0 equals 0. `sorted` false gives index order, still the same set. ONNX: TopK.
Result<TopK> topk(const HostTensor &x, int64_t k, int64_t axis, bool largest = true, bool sorted = true);

} // namespace gpuc::reference

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalisations. Statistics are taken in f32 at least; batch normalisation becomes a multiply-add whose
// constants are folded at once, so that a convolution can take them up.
#include "Emit.h"
#include "Families.h"
#include "gpuc/Support/CheckedMath.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace gpuc::frontend {

/// The type that statistics of `x` are computed in.
static Type statisticsType(Emit &e, Value x) {
  Type t = elementTypeOf(x);
  return t.isF64() ? t : Type(e.ctx.builder().getF32Type());
}
/// The element type named by attribute 'stash_type' (float by default); null after an error.
static Type stashType(Emit &e) { return e.floatTypeAttr("stash_type", 1); }

//===--- BatchNormalization -----------------------------------------------------------------------------===//

/// From 14 on, training_mode=1: the batch's own mean and (population) variance normalise x, and outputs 1 and
/// 2 are the running statistics, moved towards them. Parameters have type `compute`; mean and variance keep
/// `runningTypes`.
static LogicalResult batchNormTraining(Emit &e, Value x, Value scale, Value bias, Value mean, Value variance,
                                       Type compute, std::pair<Type, Type> runningTypes, double epsilon) {
  NodeContext &ctx = e.ctx;
  FailureOr<double> momentum = ctx.floatAttr("momentum", double(0.9f));
  if (failed(momentum))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(x);
  Ints axes, alongChannels(shape.size(), 1);
  for (int64_t axis : llvm::seq<int64_t>(0, int64_t(shape.size())))
    if (axis != 1)
      axes.push_back(axis);
  if (shape.size() > 1)
    alongChannels[1] = shape[1];
  Value wide = e.cast(x, compute), batchMean = e.reduce(ReduceKind::Mean, wide, axes, /*keepdims=*/true);
  Value d = e.sub(wide, batchMean);
  Value batchVariance = e.reduce(ReduceKind::Mean, e.mul(d, d), axes, /*keepdims=*/true);
  Value inv = e.unary(UnaryKind::Rsqrt, e.add(batchVariance, ctx.scalar(epsilon, compute)));
  Value y = e.add(e.mul(e.mul(d, inv), e.reshape(scale, alongChannels)), e.reshape(bias, alongChannels));
  if (failed(e.out(0, e.cast(y, elementTypeOf(x)))))
    return failure();
  auto running = [&](unsigned output, Value old, Value batch, Type type) -> LogicalResult {
    if (!ctx.outputUsed(output))
      return success();
    Value kept = e.mul(old, ctx.scalar(*momentum, compute));
    Value moved = e.mul(e.reshape(batch, shapeOf(old)), ctx.scalar(1 - *momentum, compute));
    return e.out(output, e.cast(e.add(kept, moved), type));
  };
  if (failed(running(1, mean, batchMean, runningTypes.first)))
    return failure();
  return running(2, variance, batchVariance, runningTypes.second);
}

// y = x * inv + (bias - mean * inv) with inv = scale / sqrt(variance + epsilon). Before 9, spatial=0 has
// statistics per position instead of per channel. What asks for training: is_test=0 before 7, further outputs
// before 14, training_mode from then on.
static LogicalResult batchNorm(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0), scale = e.in(1), bias = e.in(2), mean = e.in(3), variance = e.in(4);
  FailureOr<double> epsilon = ctx.floatAttr("epsilon", double(1e-5f));
  FailureOr<int64_t> spatial = ctx.intAttr("spatial", 1), training = ctx.intAttr("training_mode", 0),
                     isTest = ctx.intAttr("is_test", ctx.since() < 7 ? 0 : 1);
  if (!x || !scale || !bias || !mean || !variance || !e.floatOnly(x) || failed(epsilon) || failed(spatial) ||
      failed(training) || failed(isTest))
    return failure();
  bool trains = ctx.since() >= 14 && *training != 0, asksTraining = *training != 0 || *isTest == 0;
  for (unsigned i = 1; i < ctx.numOutputs(); ++i)
    asksTraining |= ctx.outputUsed(i);
  if (asksTraining && !trains)
    return ctx.error("training mode is only supported as training_mode=1 of version 14 and later");
  ArrayRef<int64_t> shape = shapeOf(x);
  if (shape.empty())
    return ctx.error("input 0 must have rank 1 or more");
  bool perChannel = *spatial != 0 || ctx.since() >= 9;
  Ints expected = perChannel ? Ints{shape.size() > 1 ? shape[1] : 1} : Ints(shape.drop_front());
  Type compute = statisticsType(e, x);
  std::pair<Type, Type> runningTypes{elementTypeOf(mean), elementTypeOf(variance)};
  Value *parameters[] = {&scale, &bias, &mean, &variance};
  for (auto [i, p] : llvm::enumerate(parameters)) {
    if (shapeOf(*p) != ArrayRef<int64_t>(expected))
      return ctx.error("input " + Twine(i + 1) + " has shape " + shapeText(shapeOf(*p)) + ", expected " +
                       shapeText(expected));
    if (!e.floatOnly(*p, "input " + Twine(i + 1)) || !(*p = e.cast(*p, compute)))
      return failure();
  }
  if (trains)
    return batchNormTraining(e, x, scale, bias, mean, variance, compute, runningTypes, *epsilon);
  Value inv = e.mul(scale, e.unary(UnaryKind::Rsqrt, e.add(variance, ctx.scalar(*epsilon, compute))));
  Value shift = e.sub(bias, e.mul(mean, inv));
  Ints broadcastShape(expected);
  if (perChannel)
    broadcastShape.append(shape.size() > 2 ? shape.size() - 2 : 0, 1);
  Type type = elementTypeOf(x);
  inv = e.cast(e.reshape(inv, broadcastShape), type);
  shift = e.cast(e.reshape(shift, broadcastShape), type);
  return e.out(e.add(e.mul(x, inv), shift));
}

//===--- LayerNormalization, RMSNormalization -----------------------------------------------------------===//

/// True when `v` broadcasts to the axes of `shape` from `axis` on, that is, does not vary along the others.
static bool fitsNormalized(Emit &e, Value v, ArrayRef<int64_t> shape, int64_t axis) {
  return e.broadcastsTo(shapeOf(v), shape.drop_front(axis));
}
/// Drops leading extents of 1 that reach beyond the normalised axes.
static Value trimLeading(Emit &e, Value v, ArrayRef<int64_t> shape, int64_t axis) {
  ArrayRef<int64_t> own = v ? shapeOf(v) : ArrayRef<int64_t>();
  size_t most = shape.size() - size_t(axis);
  while (own.size() > most && own.front() == 1)
    own = own.drop_front();
  return v ? e.reshape(v, own) : v;
}
static bool checkParameter(Emit &e, Value x, Value v, StringRef what) {
  if (e.broadcastsTo(shapeOf(v), shapeOf(x)))
    return true;
  e.fail(what + " of shape " + shapeText(shapeOf(v)) + " does not broadcast to input 0 of shape " +
         shapeText(shapeOf(x)));
  return false;
}

// The optional outputs Mean and InvStdDev have the stash type and keep the reduced axes as 1.
static LogicalResult layerNorm(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0), scale = e.in(1), bias = e.optional(2);
  FailureOr<int64_t> axisAttr = ctx.intAttr("axis", -1);
  FailureOr<double> epsilon = ctx.floatAttr("epsilon", double(1e-5f));
  Type stash = stashType(e);
  if (!x || !scale || e.failed || failed(axisAttr) || failed(epsilon) || !stash || !e.floatOnly(x))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(x);
  FailureOr<int64_t> axis = ctx.normalizeAxis(*axisAttr, int64_t(shape.size()), "attribute 'axis'");
  if (failed(axis) || !e.sameType(x, scale, "input 1 (Scale)") ||
      !checkParameter(e, x, scale, "input 1 (Scale)"))
    return failure();
  if (bias && (!e.sameType(x, bias, "input 2 (B)") || !checkParameter(e, x, bias, "input 2 (B)")))
    return failure();
  scale = trimLeading(e, scale, shape, *axis);
  bias = trimLeading(e, bias, shape, *axis);
  Value y;
  if (fitsNormalized(e, scale, shape, *axis) && (!bias || fitsNormalized(e, bias, shape, *axis))) {
    y = ctx.create<LayerNormOp>(x, scale, bias, ctx.builder().getI64IntegerAttr(*axis), e.f64(*epsilon));
  } else {
    y = ctx.create<LayerNormOp>(x, Value(), Value(), ctx.builder().getI64IntegerAttr(*axis), e.f64(*epsilon));
    y = e.mul(y, scale);
    y = bias ? e.add(y, bias) : y;
  }
  if (failed(e.out(0, y)))
    return failure();
  if (!ctx.outputUsed(1) && !ctx.outputUsed(2))
    return success();
  Ints axes = llvm::to_vector(llvm::seq<int64_t>(*axis, int64_t(shape.size())));
  Type compute = stash.isF64() ? stash : statisticsType(e, x);
  Value wide = e.cast(x, compute), mean = e.reduce(ReduceKind::Mean, wide, axes, true), d = e.sub(wide, mean);
  if (ctx.outputUsed(1) && failed(e.out(1, e.cast(mean, stash))))
    return failure();
  if (!ctx.outputUsed(2))
    return success();
  Value variance = e.reduce(ReduceKind::Mean, e.mul(d, d), axes, true);
  Value inverse = e.unary(UnaryKind::Rsqrt, e.add(variance, ctx.scalar(*epsilon, compute)));
  return e.out(2, e.cast(inverse, stash));
}

// The scale may have another type, which the result takes.
static LogicalResult rmsNorm(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0), scale = e.in(1);
  FailureOr<int64_t> axisAttr = ctx.intAttr("axis", -1);
  FailureOr<double> epsilon = ctx.floatAttr("epsilon", double(1e-5f));
  if (!x || !scale || failed(axisAttr) || failed(epsilon) || !stashType(e) || !e.floatOnly(x) ||
      !e.floatOnly(scale, "input 1") || !checkParameter(e, x, scale, "input 1 (scale)"))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(x);
  FailureOr<int64_t> axis = ctx.normalizeAxis(*axisAttr, int64_t(shape.size()), "attribute 'axis'");
  if (failed(axis))
    return failure();
  scale = trimLeading(e, scale, shape, *axis);
  bool whole = elementTypeOf(x) == elementTypeOf(scale) && fitsNormalized(e, scale, shape, *axis);
  Value y = ctx.create<RmsNormOp>(x, whole ? scale : Value(), ctx.builder().getI64IntegerAttr(*axis),
                                  e.f64(*epsilon));
  return e.out(whole ? y : e.mul(e.cast(y, elementTypeOf(scale)), scale));
}

//===--- GroupNormalization, InstanceNormalization, LRN -------------------------------------------------===//

static LogicalResult groupNormOf(NodeContext &ctx, std::optional<int64_t> groupsGiven,
                                 bool parametersPerGroup) {
  Emit e(ctx);
  Value x = e.in(0), scale = e.in(1), bias = e.in(2);
  FailureOr<double> epsilon = ctx.floatAttr("epsilon", double(1e-5f));
  if (!x || !scale || !bias || failed(epsilon) || !stashType(e) || !e.floatOnly(x))
    return failure();
  ArrayRef<int64_t> shape = shapeOf(x);
  if (shape.size() < 2)
    return ctx.error("input 0 must have rank 2 or more, got shape " + shapeText(shape));
  int64_t channels = shape[1], groups = groupsGiven.value_or(channels);
  if (!groupsGiven && channels == 0)
    return ctx.setOutput(0, x);
  if (groups < 1 || channels % groups)
    return ctx.error(Twine(groups) + " groups do not divide " + Twine(channels) + " channels");
  int64_t expected = parametersPerGroup ? groups : channels;
  for (Value *p : {&scale, &bias}) {
    if (!e.sameType(x, *p, "the scale or bias"))
      return failure();
    if (shapeOf(*p) != ArrayRef<int64_t>({expected}))
      return ctx.error("scale and bias must have shape " + Twine(expected) + ", got " +
                       shapeText(shapeOf(*p)));
    if (parametersPerGroup && groups != channels)
      *p = e.reshape(e.expand(e.reshape(*p, {groups, 1}), {groups, channels / groups}), {channels});
    if (!*p)
      return failure();
  }
  return e.out(
      ctx.create<GroupNormOp>(x, scale, bias, ctx.builder().getI64IntegerAttr(groups), e.f64(*epsilon)));
}
// Version 18 has scale and bias per group, version 21 per channel.
static LogicalResult groupNorm(NodeContext &ctx) {
  FailureOr<int64_t> groups = ctx.intAttr("num_groups");
  return failed(groups) ? failure() : groupNormOf(ctx, *groups, ctx.since() < 21);
}
static LogicalResult instanceNorm(NodeContext &ctx) { return groupNormOf(ctx, std::nullopt, false); }

static LogicalResult lrn(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<int64_t> size = ctx.intAttr("size");
  FailureOr<double> alpha = ctx.floatAttr("alpha", double(1e-4f)), beta = ctx.floatAttr("beta", 0.75),
                    bias = ctx.floatAttr("bias", 1);
  if (!x || failed(size) || failed(alpha) || failed(beta) || failed(bias) || !e.floatOnly(x))
    return failure();
  if (tensorType(x).getRank() < 2 || *size < 1 || *size > kMaxWindow)
    return ctx.error("needs rank 2 or more and a positive size, got shape " + shapeText(shapeOf(x)) +
                     " and size " + Twine(*size));
  return e.out(ctx.create<LrnOp>(x, ctx.builder().getI64IntegerAttr(*size), e.f64(*alpha), e.f64(*beta),
                                 e.f64(*bias)));
}

//===--- MeanVarianceNormalization, LpNormalization -----------------------------------------------------===//

// (x - mean) / (standard deviation + 1e-9), as the function body of the schema says.
static LogicalResult meanVariance(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<Ints> list = ctx.intsAttr("axes", ArrayRef<int64_t>({0, 2, 3}));
  if (!x || failed(list) || !e.floatOnly(x))
    return failure();
  std::optional<Ints> axes = e.axes(*list, tensorType(x).getRank(), "attribute 'axes'");
  if (!axes)
    return failure();
  Type compute = statisticsType(e, x);
  Value wide = e.cast(x, compute), d = e.sub(wide, e.reduce(ReduceKind::Mean, wide, *axes, true));
  Value deviation = e.unary(UnaryKind::Sqrt, e.reduce(ReduceKind::Mean, e.mul(d, d), *axes, true));
  Value y = e.div(d, e.add(deviation, ctx.scalar(1e-9, compute)));
  return e.out(e.cast(y, elementTypeOf(x)));
}

// A zero norm gives zeros.
static LogicalResult lpNorm(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<int64_t> axisAttr = ctx.intAttr("axis", -1), p = ctx.intAttr("p", 2);
  if (!x || failed(axisAttr) || failed(p) || !e.floatOnly(x))
    return failure();
  FailureOr<int64_t> axis = ctx.normalizeAxis(*axisAttr, tensorType(x).getRank(), "attribute 'axis'");
  if (failed(axis))
    return failure();
  if (*p != 1 && *p != 2)
    return ctx.error("attribute 'p' is " + Twine(*p) + ", expected 1 or 2");
  Value norm = e.reduce(*p == 1 ? ReduceKind::L1 : ReduceKind::L2, x, {*axis}, true);
  Value isZero = e.binary(BinaryKind::Eq, norm, e.scalar(0, x));
  return e.out(e.div(x, e.select(isZero, e.scalar(1, x), norm)));
}

//===--- Softmax, LogSoftmax, Hardmax -------------------------------------------------------------------===//

// From 13 on along one axis. Before, the tensor is flattened to 2-D at `axis` and normalised over the whole
// second part.
template <typename Row> static LogicalResult alongAxis(NodeContext &ctx, Row row) {
  Emit e(ctx);
  Value x = e.in(0);
  bool flattens = ctx.since() < 13;
  FailureOr<int64_t> axisAttr = ctx.intAttr("axis", flattens ? 1 : -1);
  if (!x || failed(axisAttr) || !e.floatOnly(x))
    return failure();
  Ints shape(shapeOf(x));
  int64_t rank = int64_t(shape.size());
  if (rank == 0)
    return e.out(e.reshape(row(e, e.reshape(x, {1}), 0), {}));
  // A rank-1 tensor may keep the old default 1: everything is the first part then.
  bool pastEnd = flattens && *axisAttr == rank;
  FailureOr<int64_t> axis =
      pastEnd ? FailureOr<int64_t>(rank) : ctx.normalizeAxis(*axisAttr, rank, "attribute 'axis'");
  if (failed(axis))
    return failure();
  if (!flattens || *axis == rank - 1)
    return e.out(row(e, x, *axis));
  int64_t rows = checkedProduct(ArrayRef<int64_t>(shape).take_front(*axis)).value_or(-1);
  int64_t columns = checkedProduct(ArrayRef<int64_t>(shape).drop_front(*axis)).value_or(-1);
  return e.out(e.reshape(row(e, e.reshape(x, {rows, columns}), 1), shape));
}
static LogicalResult softmax(NodeContext &ctx) {
  return alongAxis(ctx, [](Emit &e, Value x, int64_t axis) { return e.softmax(x, axis); });
}
static LogicalResult logSoftmax(NodeContext &ctx) {
  return alongAxis(ctx, [](Emit &e, Value x, int64_t axis) { return e.softmax(x, axis, /*log=*/true); });
}
// One at the first of the largest elements, zero elsewhere.
static LogicalResult hardmax(NodeContext &ctx) {
  return alongAxis(ctx, [](Emit &e, Value x, int64_t axis) {
    if (!x || shapeOf(x)[axis] == 0)
      return x;
    Ints along(shapeOf(x).size(), 1);
    along[axis] = shapeOf(x)[axis];
    Value best = e.ctx.create<ArgReduceOp>(x, true, uint64_t(axis), true, false);
    return e.cast(e.binary(BinaryKind::Eq, best, e.reshape(e.iota(along[axis]), along)), elementTypeOf(x));
  });
}

void registerNormalizationOps(OpRegistry &r) {
  r.add("", "BatchNormalization", {6, 7, 9, 14, 15}, batchNorm, {}, "training mode from version 14 on");
  r.add("", "LayerNormalization", {17}, layerNorm);
  r.add("", "RMSNormalization", {23}, rmsNorm);
  r.add("", "GroupNormalization", {18, 21}, groupNorm);
  r.add("", "InstanceNormalization", {6, 22}, instanceNorm);
  r.add("", "LRN", {1, 13}, lrn);
  r.add("", "MeanVarianceNormalization", {9, 13}, meanVariance);
  r.add("", "LpNormalization", {1, 22}, lpNorm);
  r.add("", "Softmax", {1, 11, 13}, softmax);
  r.add("", "LogSoftmax", {1, 11, 13}, logSoftmax);
  r.add("", "Hardmax", {1, 11, 13}, hardmax);
}

} // namespace gpuc::frontend

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operators of the domain com.microsoft that are one or two core ops; their only since-version is 1. And
// SimplifiedLayerNormalization, which ONNX Runtime's tools put into the default domain.
#include "Emit.h"
#include "Families.h"

using namespace mlir;

namespace gpuc::frontend {

template <UnaryKind kind> static LogicalResult geluWithBias(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0), bias = e.optional(1);
  if (!x || e.failed || !e.floatOnly(x))
    return failure();
  if (bias && !e.broadcastsTo(shapeOf(bias), shapeOf(x)))
    return ctx.error("input 1 (bias) does not broadcast to input 0");
  return e.out(e.unary(kind, bias ? e.add(x, bias) : x));
}

// x sigmoid(alpha x), alpha 1.702 by default
static LogicalResult quickGelu(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<double> alpha = ctx.floatAttr("alpha", double(1.702f));
  if (!x || failed(alpha) || !e.floatOnly(x))
    return failure();
  return e.out(e.mul(x, e.unary(UnaryKind::Sigmoid, e.mul(x, e.scalar(*alpha, x)))));
}

static LogicalResult fusedMatMul(NodeContext &ctx) {
  Emit e(ctx);
  Value operands[2] = {e.in(0), e.in(1)};
  FailureOr<double> alpha = ctx.floatAttr("alpha", 1);
  if (!operands[0] || !operands[1] || failed(alpha))
    return failure();
  for (auto [i, name] : {std::pair(0, "transA"), std::pair(1, "transB")}) {
    FailureOr<int64_t> trans = ctx.intAttr(name, 0),
                       batch = ctx.intAttr(i ? "transBatchB" : "transBatchA", 0);
    int64_t rank = tensorType(operands[i]).getRank();
    if (failed(trans) || failed(batch))
      return failure();
    if (*batch || rank < 2)
      return ctx.error("transBatchA, transBatchB and inputs of rank 1 are not supported");
    Ints perm;
    for (int64_t a = 0; a < rank; ++a)
      perm.push_back(a);
    if (*trans)
      std::swap(perm[rank - 1], perm[rank - 2]);
    operands[i] = e.transpose(operands[i], perm);
  }
  Value y = e.matmul(operands[0], operands[1]);
  return e.out(*alpha == 1 ? y : e.mul(y, e.scalar(*alpha, operands[0])));
}

/// Normalises the last axis; scale and bias have its extent.
template <bool rms> static LogicalResult skipNorm(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0), skip = e.in(1), scale = e.in(2);
  Value shift = rms ? Value() : e.optional(3), bias = e.optional(rms ? 3 : 4);
  FailureOr<double> epsilon = ctx.floatAttr("epsilon", double(1e-12f));
  if (!x || !skip || !scale || e.failed || failed(epsilon) || !e.floatOnly(x))
    return failure();
  if (ctx.outputUsed(1) || ctx.outputUsed(2))
    return ctx.error("the outputs mean and inv_std_var are not supported");
  Value sum = e.add(x, skip);
  sum = bias ? e.add(sum, bias) : sum;
  if (!sum)
    return failure();
  int64_t last = tensorType(x).getRank() - 1;
  Ints row{last < 0 ? 1 : shapeOf(x)[last]};
  if (last < 0 || shapeOf(sum) != shapeOf(x) || shapeOf(scale) != ArrayRef<int64_t>(row) ||
      (shift && shapeOf(shift) != ArrayRef<int64_t>(row)))
    return ctx.error("skip, gamma, beta and bias do not fit an input of shape " + shapeText(shapeOf(x)));
  if (!e.sameType(x, scale, "input 2 (gamma)") || (shift && !e.sameType(x, shift, "input 3 (beta)")))
    return failure();
  auto axis = ctx.builder().getI64IntegerAttr(last);
  Value y = rms ? ctx.create<RmsNormOp>(sum, scale, axis, e.f64(*epsilon))
                : ctx.create<LayerNormOp>(sum, scale, shift, axis, e.f64(*epsilon));
  if (ctx.outputUsed(3) && failed(e.out(3, sum)))
    return failure();
  return e.out(y);
}

static LogicalResult simplifiedLayerNorm(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0), scale = e.in(1);
  FailureOr<double> epsilon = ctx.floatAttr("epsilon", double(1e-5f));
  FailureOr<int64_t> attr = ctx.intAttr("axis", -1);
  if (!x || !scale || failed(epsilon) || failed(attr) || !e.floatOnly(x) ||
      !e.sameType(x, scale, "input 1 (scale)"))
    return failure();
  FailureOr<int64_t> axis = ctx.normalizeAxis(*attr, tensorType(x).getRank(), "attribute 'axis'");
  if (failed(axis))
    return failure();
  if (ctx.outputUsed(1))
    return ctx.error("the output inv_std_var is not supported");
  if (!e.broadcastsTo(shapeOf(scale), shapeOf(x).drop_front(*axis)))
    return ctx.error("input 1 (scale) of shape " + shapeText(shapeOf(scale)) +
                     " does not fit the normalised axes");
  return e.out(ctx.create<RmsNormOp>(x, scale, ctx.builder().getI64IntegerAttr(*axis), e.f64(*epsilon)));
}

void registerMicrosoftOps(OpRegistry &r) {
  StringRef ms = "com.microsoft";
  r.add(ms, "Gelu", {1}, geluWithBias<UnaryKind::Gelu>);
  r.add(ms, "BiasGelu", {1}, geluWithBias<UnaryKind::Gelu>);
  r.add(ms, "FastGelu", {1}, geluWithBias<UnaryKind::GeluTanh>);
  r.add(ms, "QuickGelu", {1}, quickGelu);
  r.add(ms, "FusedMatMul", {1}, fusedMatMul, {}, "no transBatchA, transBatchB, rank 1");
  r.add(ms, "SkipLayerNormalization", {1}, skipNorm<false>, {}, "without mean and inv_std_var");
  r.add(ms, "SkipSimplifiedLayerNormalization", {1}, skipNorm<true>, {}, "without mean and inv_std_var");
  r.add("", "SimplifiedLayerNormalization", {1}, simplifiedLayerNorm, {}, "without inv_std_var");
}

} // namespace gpuc::frontend

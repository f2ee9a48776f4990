// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Activations: scalar functions with at most two parameters.
#include "Emit.h"
#include "Families.h"

using namespace mlir;

namespace gpuc::frontend {

template <UnaryKind kind> static LogicalResult plain(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  if (!x || (kind != UnaryKind::Relu && !e.floatOnly(x)))
    return failure();
  return e.out(e.unary(kind, x));
}

/// alpha and beta of OpKinds.h from two attributes with these defaults.
static LogicalResult parametric(NodeContext &ctx, UnaryKind kind, double alphaDefault,
                                StringRef betaName = "", double betaDefault = 0) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<double> alpha = ctx.floatAttr("alpha", alphaDefault);
  FailureOr<double> beta = betaName.empty() ? FailureOr<double>(0.0) : ctx.floatAttr(betaName, betaDefault);
  if (!x || !e.floatOnly(x) || failed(alpha) || failed(beta))
    return failure();
  return e.out(e.unary(kind, x, *alpha, *beta));
}

static LogicalResult leakyRelu(NodeContext &ctx) {
  return parametric(ctx, UnaryKind::LeakyRelu, double(0.01f));
}
static LogicalResult elu(NodeContext &ctx) { return parametric(ctx, UnaryKind::Elu, 1); }
static LogicalResult celu(NodeContext &ctx) { return parametric(ctx, UnaryKind::Celu, 1); }
static LogicalResult thresholdedRelu(NodeContext &ctx) {
  return parametric(ctx, UnaryKind::ThresholdedRelu, 1);
}
static LogicalResult hardSigmoid(NodeContext &ctx) {
  return parametric(ctx, UnaryKind::HardSigmoid, double(0.2f), "beta", 0.5);
}
static LogicalResult selu(NodeContext &ctx) {
  return parametric(ctx, UnaryKind::Selu, 1.67326319217681884765625, "gamma", 1.05070102214813232421875);
}

static LogicalResult gelu(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<std::string> approximate = ctx.choiceAttr("approximate", {"none", "tanh"}, "none");
  if (!x || !e.floatOnly(x) || failed(approximate))
    return failure();
  return e.out(e.unary(*approximate == "tanh" ? UnaryKind::GeluTanh : UnaryKind::Gelu, x));
}

// x sigmoid(alpha x)
static LogicalResult swish(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<double> alpha = ctx.floatAttr("alpha", 1);
  if (!x || !e.floatOnly(x) || failed(alpha))
    return failure();
  if (*alpha == 1)
    return e.out(e.unary(UnaryKind::Silu, x));
  return e.out(e.mul(x, e.unary(UnaryKind::Sigmoid, e.mul(x, e.scalar(*alpha, x)))));
}

// x < -lambd: x + bias; x > lambd: x - bias; 0 between, NaN included.
static LogicalResult shrink(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0);
  FailureOr<double> bias = ctx.floatAttr("bias", 0), lambd = ctx.floatAttr("lambd", 0.5);
  if (!x || !e.floatOnly(x) || failed(bias) || failed(lambd))
    return failure();
  Value below = e.binary(BinaryKind::Lt, x, e.scalar(-*lambd, x));
  Value above = e.binary(BinaryKind::Gt, x, e.scalar(*lambd, x));
  Value b = e.scalar(*bias, x);
  return e.out(e.select(below, e.add(x, b), e.select(above, e.sub(x, b), e.scalar(0, x))));
}

// The slope broadcasts to x, never the other way round. Before 7 a vector holds one slope per channel.
static LogicalResult prelu(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0), slope = e.in(1);
  if (!x || !slope)
    return failure();
  int64_t rank = tensorType(x).getRank(), count = tensorType(slope).getNumElements();
  if (ctx.since() < 7 && tensorType(slope).getRank() == 1 && rank > 2 && count != 1) {
    Ints perChannel(rank - 1, 1);
    perChannel[0] = count;
    slope = e.reshape(slope, perChannel);
  }
  if (!e.broadcastsTo(shapeOf(slope), shapeOf(x)))
    return ctx.error("input 1 of shape " + shapeText(shapeOf(slope)) +
                     " does not broadcast to input 0 of shape " + shapeText(shapeOf(x)));
  return e.out(e.binary(BinaryKind::PRelu, x, slope));
}

void registerActivationOps(OpRegistry &r) {
  r.add("", "Relu", {6, 13, 14}, plain<UnaryKind::Relu>);
  r.add("", "Sigmoid", {6, 13}, plain<UnaryKind::Sigmoid>);
  r.add("", "Tanh", {6, 13}, plain<UnaryKind::Tanh>);
  r.add("", "Softplus", {1, 22}, plain<UnaryKind::Softplus>);
  r.add("", "Softsign", {1, 22}, plain<UnaryKind::Softsign>);
  r.add("", "Mish", {18, 22}, plain<UnaryKind::Mish>);
  r.add("", "HardSwish", {14, 22}, plain<UnaryKind::HardSwish>);
  r.add("", "HardSigmoid", {6, 22}, hardSigmoid);
  r.add("", "LeakyRelu", {6, 16}, leakyRelu);
  r.add("", "Elu", {6, 22}, elu);
  r.add("", "Celu", {12}, celu);
  r.add("", "Selu", {6, 22}, selu);
  r.add("", "ThresholdedRelu", {10, 22}, thresholdedRelu);
  r.add("", "Gelu", {20}, gelu);
  r.add("", "Swish", {24}, swish);
  r.add("", "Shrink", {9}, shrink, {}, "floating-point types only");
  r.add("", "PRelu", {6, 7, 9, 16}, prelu);
}

} // namespace gpuc::frontend

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Attention: one core op when only Y and the present state are asked for, products and a softmax when the
// scores are an output too; a fully masked row gives zeros. And RotaryEmbedding.
#include "Emit.h"
#include "Families.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace gpuc::frontend {

namespace {

struct AttentionSpec {
  Value q, k, v; ///< [B, H, S, D], [B, G, T, D], [B, G, T, E] with the past in front, of one type
  Value bias;    ///< null, bool or q's type; broadcasts to [B, H, S, T]
  bool causal = false;
  int64_t past = 0;
  double scale = 1, softcap = 0;
  int64_t outputMode = 0;
  Type softmaxType; ///< null: as the scores
};

/// [B, S, heads*D] → [B, heads, S, D]; rank 4 is left alone.
Value splitHeads(Emit &e, Value x, int64_t heads, StringRef what) {
  if (!x || tensorType(x).getRank() == 4)
    return x;
  Ints shape(shapeOf(x));
  if (shape[2] % heads)
    return e.fail("the last extent " + Twine(shape[2]) + " of " + what + " does not divide into " +
                  Twine(heads) + " heads");
  return e.transpose(e.reshape(x, {shape[0], shape[1], heads, shape[2] / heads}), {0, 2, 1, 3});
}

/// Number of heads of a rank-3 input; the attribute of the same purpose is needed then.
FailureOr<int64_t> headCount(NodeContext &ctx, Value x, StringRef attr) {
  if (tensorType(x).getRank() == 4)
    return shapeOf(x)[1];
  FailureOr<int64_t> heads = ctx.intAttr(attr);
  if (succeeded(heads) && (*heads < 1 || *heads > kMaxWindow))
    return ctx.error("attribute '" + attr + "' is " + Twine(*heads));
  return heads;
}

/// Pads a mask shorter than the keys: what is missing is masked.
Value padMask(Emit &e, Value mask, int64_t total) {
  Ints shape(shapeOf(mask));
  if (shape.empty() || shape.back() == total || shape.back() == 1 || shape.back() > total)
    return mask;
  Ints low(shape.size(), 0), high(shape.size(), 0);
  high.back() = total - shape.back();
  bool isBool = elementTypeOf(mask).isInteger(1);
  return e.pad(mask, low, high, e.scalar(isBool ? 0 : -std::numeric_limits<double>::infinity(), mask));
}

/// attn_mask and nonpad_kv_seqlen as one bias; null without either. `ok` is cleared on an error.
Value readBias(Emit &e, Value q, int64_t total, bool &ok) {
  NodeContext &ctx = e.ctx;
  Value mask = e.optional(3), lengths = ctx.since() >= 24 ? e.optional(6) : Value();
  ok = !e.failed;
  if (!ok)
    return Value();
  double inf = std::numeric_limits<double>::infinity();
  int64_t batch = shapeOf(q)[0];
  Ints scores{batch, shapeOf(q)[1], shapeOf(q)[2], total};
  if (mask) {
    if (!elementTypeOf(mask).isInteger(1))
      mask = e.cast(mask, elementTypeOf(q));
    mask = mask ? padMask(e, mask, total) : mask;
    if (mask && !e.broadcastsTo(shapeOf(mask), scores))
      mask = e.fail("input 3 (attn_mask) of shape " + shapeText(shapeOf(mask)) + " does not broadcast to " +
                    shapeText(scores));
    ok = mask != nullptr;
  }
  if (!ok || !lengths)
    return mask;
  if (shapeOf(lengths) != ArrayRef<int64_t>({batch})) {
    ok = false;
    return e.fail("input 6 (nonpad_kv_seqlen) must have shape " + Twine(batch) + ", got " +
                  shapeText(shapeOf(lengths)));
  }
  Value real = e.binary(BinaryKind::Lt, e.iota(total),
                        e.reshape(e.cast(lengths, ctx.builder().getI64Type()), {batch, 1, 1, 1}));
  if (mask)
    real = elementTypeOf(mask).isInteger(1) ? e.binary(BinaryKind::And, mask, real)
                                            : e.select(real, mask, e.scalar(-inf, mask));
  ok = real != nullptr;
  return real;
}

/// Adds the bias and the causal mask to the scores.
Value maskScores(Emit &e, const AttentionSpec &s, Value scores) {
  Value minusInf = e.scalar(-std::numeric_limits<double>::infinity(), scores);
  if (s.bias)
    scores = elementTypeOf(s.bias).isInteger(1) ? e.select(s.bias, scores, minusInf) : e.add(scores, s.bias);
  if (!s.causal)
    return scores;
  int64_t rows = shapeOf(s.q)[2], columns = shapeOf(s.k)[2];
  Value last =
      e.add(e.reshape(e.iota(rows), {rows, 1}), e.ctx.scalar(double(s.past), e.ctx.builder().getI64Type()));
  return e.select(e.binary(BinaryKind::Le, e.iota(columns), last), scores, minusInf);
}

/// Y and the scores after the step that `outputMode` names, from products and a softmax.
std::pair<Value, Value> decompose(Emit &e, const AttentionSpec &s) {
  Ints q(shapeOf(s.q)), k(shapeOf(s.k)), v(shapeOf(s.v));
  int64_t b = q[0], h = q[1], rows = q[2], g = k[1], per = g ? h / g : 0, columns = k[2];
  // Groups of heads share a key: a batch axis of extent 1 broadcasts over them. Both sides take half of the
  // scale.
  Value half = e.scalar(std::sqrt(std::fabs(s.scale)), s.q);
  Value left = e.mul(e.reshape(s.q, {b, g, per, rows, q[3]}), half);
  Value right = e.mul(e.transpose(e.reshape(s.k, {b, g, 1, columns, k[3]}), {0, 1, 2, 4, 3}), half);
  Value scores = e.reshape(e.matmul(left, right), {b, h, rows, columns});
  if (s.scale < 0)
    scores = e.unary(UnaryKind::Neg, scores);
  Value shown = scores;
  if (s.softcap > 0)
    scores = e.mul(e.unary(UnaryKind::Tanh, e.div(scores, e.scalar(s.softcap, scores))),
                   e.scalar(s.softcap, scores));
  shown = s.outputMode == 1 ? scores : shown;
  scores = scores ? maskScores(e, s, scores) : scores;
  shown = s.outputMode == 2 ? scores : shown;
  if (!scores)
    return {};
  Type type = elementTypeOf(scores);
  Value weights = s.softmaxType ? e.cast(scores, s.softmaxType) : scores;
  weights = e.cast(e.softmax(weights, 3, /*log=*/false, /*zeroMasked=*/true), type);
  shown = s.outputMode == 3 ? weights : shown;
  Value y =
      e.matmul(e.reshape(weights, {b, g, per, rows, columns}), e.reshape(s.v, {b, g, 1, columns, v[3]}));
  return {e.reshape(y, {b, h, rows, v[3]}), shown};
}

/// q, k, v as [B, heads, length, size], with checked extents; the past is not in yet.
bool readOperands(Emit &e, AttentionSpec &s) {
  NodeContext &ctx = e.ctx;
  s.q = e.in(0);
  s.k = e.in(1);
  s.v = e.in(2);
  if (!s.q || !s.k || !s.v || !e.floatOnly(s.q) || !e.sameType(s.q, s.k, "input 1 (K)") ||
      !e.floatOnly(s.v, "input 2 (V)"))
    return false;
  int64_t rank = tensorType(s.q).getRank();
  if ((rank != 3 && rank != 4) || tensorType(s.k).getRank() != rank || tensorType(s.v).getRank() != rank) {
    e.fail("Q, K and V must all have rank 3 or rank 4");
    return false;
  }
  FailureOr<int64_t> qHeads = headCount(ctx, s.q, "q_num_heads"),
                     kvHeads = headCount(ctx, s.k, "kv_num_heads");
  if (failed(qHeads) || failed(kvHeads))
    return false;
  s.q = splitHeads(e, s.q, *qHeads, "Q");
  s.k = splitHeads(e, s.k, *kvHeads, "K");
  s.v = splitHeads(e, s.v, *kvHeads, "V");
  return s.q && s.k && s.v;
}

/// Checks the extents of all operands once the past is in front of k and v.
bool checkShapes(Emit &e, const AttentionSpec &s) {
  ArrayRef<int64_t> q = shapeOf(s.q), k = shapeOf(s.k), v = shapeOf(s.v);
  bool ok = q[0] == k[0] && q[0] == v[0] && k[1] == v[1] && k[2] == v[2] && q[3] == k[3] &&
            (k[1] ? q[1] % k[1] == 0 : q[1] == 0);
  if (!ok)
    e.fail("Q, K and V of shapes " + shapeText(q) + ", " + shapeText(k) + " and " + shapeText(v) +
           " do not agree");
  return ok && e.sizeOk({q[0], q[1], q[2], k[2]}) && e.sizeOk({q[0], q[1], q[2], v[3]});
}

/// Puts past_key and past_value in front; both or neither are given.
bool prependPast(Emit &e, AttentionSpec &s) {
  Value pastK = e.optional(4), pastV = e.optional(5);
  if (e.failed)
    return false;
  if (!pastK != !pastV) {
    e.fail("past_key and past_value must be given together");
    return false;
  }
  if (!pastK)
    return true;
  if (tensorType(pastK).getRank() != 4 || tensorType(pastV).getRank() != 4) {
    e.fail("past_key and past_value must have rank 4");
    return false;
  }
  s.past = shapeOf(pastK)[2];
  s.k = e.concat({pastK, s.k}, 2);
  s.v = e.concat({pastV, s.v}, 2);
  return s.k && s.v;
}

} // namespace

static LogicalResult attention(NodeContext &ctx) {
  Emit e(ctx);
  AttentionSpec s;
  FailureOr<int64_t> causal = ctx.intAttr("is_causal", 0), mode = ctx.intAttr("qk_matmul_output_mode", 0);
  FailureOr<double> softcap = ctx.floatAttr("softcap", 0), scale = ctx.floatAttr("scale", 0);
  if (failed(causal) || failed(mode) || failed(softcap) || failed(scale) || !readOperands(e, s) ||
      !prependPast(e, s) || !checkShapes(e, s))
    return failure();
  if (*mode < 0 || *mode > 3)
    return ctx.error("attribute 'qk_matmul_output_mode' is " + Twine(*mode) + ", expected 0 to 3");
  if (*softcap < 0)
    return ctx.error("attribute 'softcap' is negative");
  if (ctx.hasAttr("softmax_precision") && !(s.softmaxType = e.floatTypeAttr("softmax_precision")))
    return failure();
  s.causal = *causal != 0;
  s.softcap = *softcap;
  s.outputMode = *mode;
  int64_t size = shapeOf(s.q)[3];
  s.scale = ctx.hasAttr("scale") ? *scale : size ? 1 / std::sqrt(double(size)) : 1;
  for (auto [i, present] : {std::pair(1u, s.k), std::pair(2u, s.v)})
    if (ctx.outputUsed(i) && failed(e.out(i, present)))
      return failure();

  // V may have another type: everything is computed in the wider one.
  Type type = elementTypeOf(s.q), wide = type;
  if (elementTypeOf(s.v) != type) {
    bool half = type.getIntOrFloatBitWidth() == 16 && elementTypeOf(s.v).getIntOrFloatBitWidth() == 16;
    wide = half ? Type(ctx.builder().getF32Type())
           : type.getIntOrFloatBitWidth() > elementTypeOf(s.v).getIntOrFloatBitWidth() ? type
                                                                                       : elementTypeOf(s.v);
  }
  s.q = e.cast(s.q, wide);
  s.k = e.cast(s.k, wide);
  s.v = e.cast(s.v, wide);
  bool ok = s.q && s.k && s.v;
  if (ok)
    s.bias = readBias(e, s.q, shapeOf(s.k)[2], ok);
  if (!ok)
    return failure();
  Value y;
  if (ctx.outputUsed(3)) {
    auto [result, shown] = decompose(e, s);
    y = result;
    if (failed(e.out(3, e.cast(shown, type))))
      return failure();
  } else {
    Builder &b = ctx.builder();
    y = ctx.create<AttentionOp>(s.q, s.k, s.v, s.bias, e.f64(s.scale), b.getBoolAttr(s.causal),
                                b.getI64IntegerAttr(s.past), e.f64(s.softcap), b.getBoolAttr(true));
  }
  y = e.cast(y, type);
  if (y && tensorType(*ctx.input(0)).getRank() == 3) {
    Ints shape(shapeOf(y)); // [B, H, S, E] → [B, S, H*E]
    y = e.reshape(e.transpose(y, {0, 2, 1, 3}), {shape[0], shape[2], shape[1] * shape[3]});
  }
  return e.out(y);
}

//===--- RotaryEmbedding --------------------------------------------------------------------------------===//

/// The cache as [B or 1, S, half], taken at position_ids when they are given.
static Value readCache(Emit &e, Value cache, Value positions, int64_t batch, int64_t length, int64_t half) {
  if (positions) {
    if (tensorType(cache).getRank() != 2)
      return e.fail("with position_ids the caches must have rank 2, got shape " + shapeText(shapeOf(cache)));
    if (!elementTypeOf(positions).isSignlessInteger(64) && !elementTypeOf(positions).isSignlessInteger(32))
      return e.fail("input 3 (position_ids) must be int64");
    if (shapeOf(positions) != ArrayRef<int64_t>({batch, length}))
      return e.fail("input 3 (position_ids) must have shape " + shapeText({batch, length}) + ", got " +
                    shapeText(shapeOf(positions)));
    if (shapeOf(cache)[0] == 0 && batch * length != 0)
      return e.fail("the caches are empty");
    if (!(cache = e.ctx.create<GatherOp>(cache, positions, uint64_t(0))))
      return Value();
  }
  Ints expected{batch, length, half};
  if (shapeOf(cache).size() != 3 || shapeOf(cache)[2] != half || !e.broadcastsTo(shapeOf(cache), expected))
    return e.fail("a cache gives shape " + shapeText(shapeOf(cache)) + ", expected " + shapeText(expected));
  return cache;
}

// Pairs (x1, x2) become (cos x1 - sin x2, sin x1 + cos x2). Pairs are neighbours when interleaved, else the
// two halves of the rotated part; what lies behind the rotated part passes.
static LogicalResult rotaryEmbedding(NodeContext &ctx) {
  Emit e(ctx);
  Value x = e.in(0), cosines = e.in(1), sines = e.in(2), positions = e.optional(3);
  FailureOr<int64_t> interleaved = ctx.intAttr("interleaved", 0),
                     dim = ctx.intAttr("rotary_embedding_dim", 0), heads = ctx.intAttr("num_heads", 0);
  if (!x || !cosines || !sines || e.failed || failed(interleaved) || failed(dim) || failed(heads) ||
      !e.floatOnly(x) || !e.sameType(x, cosines, "input 1 (cos_cache)") ||
      !e.sameType(x, sines, "input 2 (sin_cache)"))
    return failure();
  Ints original(shapeOf(x));
  if (original.size() != 3 && original.size() != 4)
    return ctx.error("input 0 must have rank 3 or 4, got shape " + shapeText(original));
  // [B, H, S, D] stays; [B, S, H*D] becomes [B, S, H, D].
  bool flat = original.size() == 3;
  if (flat) {
    if (*heads < 1 || original[2] % *heads)
      return ctx.error("attribute 'num_heads' is " + Twine(*heads) + ", it must divide extent " +
                       Twine(original[2]));
    if (!(x = e.reshape(x, {original[0], original[1], *heads, original[2] / *heads})))
      return failure();
  }
  int64_t batch = original[0], length = flat ? original[1] : original[2], size = shapeOf(x)[3];
  int64_t rotated = *dim ? *dim : size, half = rotated / 2;
  if (rotated < 0 || rotated > size || rotated % 2)
    return ctx.error("the rotated size " + Twine(rotated) + " must be even and at most the head size " +
                     Twine(size));
  cosines = readCache(e, cosines, positions, batch, length, half);
  sines = cosines ? readCache(e, sines, positions, batch, length, half) : Value();
  cosines = e.unsqueeze(cosines, flat ? 2 : 1);
  sines = e.unsqueeze(sines, flat ? 2 : 1);
  Value part = e.slice(x, 3, 0, rotated), x1, x2;
  if (*interleaved) {
    x1 = e.slice(part, 3, 0, half, 2);
    x2 = half ? e.slice(part, 3, 1, half, 2) : x1;
  } else {
    x1 = e.slice(part, 3, 0, half);
    x2 = half ? e.slice(part, 3, half, half) : x1;
  }
  Value real = e.sub(e.mul(cosines, x1), e.mul(sines, x2)),
        imaginary = e.add(e.mul(sines, x1), e.mul(cosines, x2));
  Value y = *interleaved ? e.concat({e.unsqueeze(real, 4), e.unsqueeze(imaginary, 4)}, 4)
                         : e.concat({real, imaginary}, 3);
  if (!y || !part)
    return failure();
  y = e.reshape(y, shapeOf(part));
  if (rotated < size)
    y = e.concat({y, e.slice(x, 3, rotated, size - rotated)}, 3);
  return e.out(e.reshape(y, original));
}

void registerAttentionOps(OpRegistry &r) {
  r.add("", "Attention", {23, 24}, attention);
  r.add("", "RotaryEmbedding", {23}, rotaryEmbedding);
}

} // namespace gpuc::frontend

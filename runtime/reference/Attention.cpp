// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scaled dot-product attention, row by row: scores, softcap, bias and masks, softmax, weighted sum of values.
#include "Dispatch.h"
#include "gpuc/Reference/Ops.h"

namespace gpuc::reference {
namespace {

Status checkAttention(const HostTensor &q, const HostTensor &k, const HostTensor &v, const HostTensor *bias) {
  GPUC_RETURN_IF_ERROR(checkSameType("attention", q, k));
  GPUC_RETURN_IF_ERROR(checkSameType("attention", q, v));
  if (!isFloat(q.dtype()) || !isComputeType(q.dtype()))
    return unsupportedType("attention", q.dtype());
  const Shape &sq = q.shape(), &sk = k.shape(), &sv = v.shape();
  if (sq.size() != 4 || sk.size() != 4 || sv.size() != 4 || sk[0] != sq[0] || sv[0] != sq[0] ||
      sk[1] != sv[1] || sk[2] != sv[2] || sk[3] != sq[3] || (sk[1] == 0 ? sq[1] != 0 : sq[1] % sk[1] != 0))
    return invalidArgument("attention: q of shape " + toString(sq) + ", k of " + toString(sk) + " and v of " +
                           toString(sv) + " do not fit");
  if (!bias)
    return {};
  Shape scores{sq[0], sq[1], sq[2], sk[2]};
  if (bias->dtype() != DType::Bool && (!isFloat(bias->dtype()) || !isComputeType(bias->dtype())))
    return unsupportedType("attention: a bias", bias->dtype());
  if (!broadcastsTo(bias->shape(), scores))
    return invalidArgument("attention: bias of shape " + toString(bias->shape()) + " does not broadcast to " +
                           toString(scores));
  return {};
}

/// The bias as numbers to add: -inf hides a key.
std::vector<double> biasValues(const HostTensor &bias) {
  if (bias.dtype() != DType::Bool)
    return toDoubles(bias);
  std::vector<double> values(bias.size());
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = bias.bytes()[i] ? 0 : -INFINITY;
  return values;
}

} // namespace

Result<HostTensor> attention(const HostTensor &q, const HostTensor &k, const HostTensor &v,
                             const HostTensor *bias, const AttentionParams &params) {
  GPUC_RETURN_IF_ERROR(checkAttention(q, k, v, bias));
  int64_t B = q.shape()[0], H = q.shape()[1], S = q.shape()[2], D = q.shape()[3];
  int64_t headsKv = k.shape()[1], T = k.shape()[2], Dv = v.shape()[3];
  auto result = allocate(q.dtype(), {B, H, S, Dv});
  if (!result || result->size() == 0)
    return result;
  std::vector<double> queries = toDoubles(q), keys = toDoubles(k), values = toDoubles(v), added;
  std::vector<int64_t> strides(4, 0);
  if (bias) {
    added = biasValues(*bias);
    strides = broadcastStrides(bias->shape(), {B, H, S, T});
  }
  std::vector<double> out(result->size(), 0), score(T);
  for (int64_t row = 0; row < B * H * S; ++row) {
    int64_t s = row % S, h = row / S % H, b = row / S / H;
    int64_t head = b * headsKv + h / (H / headsKv);
    double largest = -INFINITY, sum = 0;
    for (int64_t t = 0; t < T; ++t) {
      double dot = 0;
      for (int64_t d = 0; d < D; ++d)
        dot += queries[row * D + d] * keys[(head * T + t) * D + d];
      dot *= params.scale;
      if (params.softcap > 0)
        dot = params.softcap * std::tanh(dot / params.softcap);
      if (bias) {
        double add = added[b * strides[0] + h * strides[1] + s * strides[2] + t * strides[3]];
        dot = add == -INFINITY ? add : dot + add; // a hidden key stays hidden whatever its score
      }
      if (params.causalOffset && t - s > *params.causalOffset)
        dot = -INFINITY;
      score[t] = dot;
      largest = maxOf(largest, dot);
    }
    double *to = &out[row * Dv];
    if (largest == -INFINITY) { // also T == 0
      std::fill(to, to + Dv, params.zeroMaskedRows ? 0.0 : NAN);
      continue;
    }
    for (int64_t t = 0; t < T; ++t) {
      double weight = score[t] == -INFINITY ? 0 : std::exp(score[t] - largest);
      if (weight == 0)
        continue;
      sum += weight;
      for (int64_t d = 0; d < Dv; ++d)
        to[d] += weight * values[(head * T + t) * Dv + d];
    }
    for (int64_t d = 0; d < Dv; ++d)
      to[d] /= sum;
  }
  fromDoubles(out, *result);
  return result;
}

} // namespace gpuc::reference

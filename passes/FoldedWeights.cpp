// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Scaling, centering and rounding of weights.
#include "FoldedWeights.h"
#include "gpuc/Reference/Ops.h"
#include <algorithm>
#include <cmath>

namespace gpuc {
namespace {

/// A weight that could be rounded to its other neighbour.
struct Candidate {
  int64_t k;
  int up;          ///< added to its code
  double step;     ///< added to its value
  double distance; ///< of the exact value from the nearest neighbour, in steps: 0.5 for a tie
};

float decode(uint16_t code, DType type) {
  return type == DType::F16 ? halfToFloat(code) : bfloatToFloat(code);
}

/// Moves roundings of a column to their other neighbour, nearest ties first, until the sum of the rounded
/// values is as close to zero as the steps allow. Both have an element per `stride`.
void balanceColumn(const float *exact, uint16_t *codes, int64_t depth, int64_t stride, DType type) {
  double sum = 0;
  for (int64_t k = 0; k < depth; ++k)
    sum += decode(codes[k * stride], type);
  constexpr double kNearTie = 0.33; // in steps; a sixth of the weights are nearer, more than enough
  std::vector<Candidate> candidates;
  for (int64_t k = 0; k < depth; ++k) {
    uint16_t code = codes[k * stride];
    float rounded = decode(code, type);
    double error = double(rounded) - exact[k * stride];
    if (rounded == 0 || error == 0 || (error > 0) != (sum > 0))
      continue;
    int up = (error < 0) == (rounded > 0) ? 1 : -1; // the other neighbour is larger in magnitude
    double step = double(decode(uint16_t(code + up), type)) - rounded;
    double distance = std::fabs(error / step);
    if (std::isfinite(step) && distance > kNearTie)
      candidates.push_back({k, up, step, distance});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate &a, const Candidate &b) {
    return a.distance != b.distance ? a.distance > b.distance : a.k < b.k;
  });
  for (const Candidate &c : candidates) {
    if (std::fabs(sum + c.step) >= std::fabs(sum))
      continue;
    sum += c.step;
    codes[c.k * stride] = uint16_t(codes[c.k * stride] + c.up);
  }
}

} // namespace

FoldedWeights foldWeights(const HostTensor &weights, DType type, const HostTensor *scale,
                          const HostTensor *bias, bool centered) {
  int64_t depth = weights.shape()[0], columns = weights.shape()[1];
  HostTensor exact(DType::F32, weights.shape());
  std::vector<double> means(columns), biases(columns);
  const float *from = weights.data<float>();
  float *to = exact.mutableData<float>();
  for (int64_t k = 0; k < depth; ++k)
    for (int64_t n = 0; n < columns; ++n) {
      float w = from[k * columns + n];
      to[k * columns + n] = scale ? w * scale->data<float>()[k] : w;
      means[n] += double(to[k * columns + n]) / double(depth);
      if (bias)
        biases[n] += double(bias->data<float>()[k]) * w;
    }
  if (centered)
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t n = 0; n < columns; ++n)
        to[k * columns + n] = float(to[k * columns + n] - means[n]);
  FoldedWeights folded{*reference::cast(exact, type), HostTensor(DType::F32, {columns})};
  std::copy(biases.begin(), biases.end(), folded.bias.mutableData<float>());
  if (centered) {
    uint16_t *codes = folded.weights.mutableData<uint16_t>();
    for (int64_t n = 0; n < columns; ++n)
      balanceColumn(to + n, codes + n, depth, columns, type);
  }
  return folded;
}

} // namespace gpuc

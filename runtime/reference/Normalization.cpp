// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Softmax and normalisations. Everything is evaluated in double from a whole copy of x; variances take two
// passes (mean first), so a constant row gives exactly the bias.
#include "Dispatch.h"
#include "gpuc/Reference/Ops.h"
#include <algorithm>
#include <cmath>

namespace gpuc::reference {
namespace {

Status checkFloat(const char *op, const HostTensor &x) {
  return isFloat(x.dtype()) && isComputeType(x.dtype()) ? Status() : unsupportedType(op, x.dtype());
}
Status checkAffine(const char *op, const HostTensor *t, const Shape &shape) {
  if (!t)
    return {};
  GPUC_RETURN_IF_ERROR(checkFloat(op, *t));
  if (broadcastsTo(t->shape(), shape))
    return {};
  return invalidArgument(std::string(op) + ": scale or bias of shape " + toString(t->shape()) +
                         " does not broadcast to " + toString(shape));
}

/// values[i] = values[i] * scale + bias, both broadcast to `shape`; nullptr leaves it out.
void applyAffine(std::vector<double> &values, const Shape &shape, const HostTensor *scale,
                 const HostTensor *bias) {
  for (const HostTensor *t : {scale, bias}) {
    if (!t)
      continue;
    std::vector<double> operand = toDoubles(*t);
    Odometer<1> at(shape, {broadcastStrides(t->shape(), shape)});
    for (double &v : values) {
      v = t == scale ? v * operand[at.offset()] : v + operand[at.offset()];
      at.next();
    }
  }
}

/// Normalises each run of `run` values to mean 0 (unless `keepMean`) and mean square 1.
void normalizeRuns(std::vector<double> &values, int64_t run, double epsilon, bool keepMean) {
  for (size_t start = 0; run > 0 && start < values.size(); start += run) {
    double *v = &values[start];
    double mean = 0, square = 0;
    for (int pass = 0; pass < 2 && !keepMean; ++pass) { // the second removes the rounding error of the first
      double rest = 0;
      for (int64_t i = 0; i < run; ++i)
        rest += v[i] - mean;
      mean += rest / double(run);
    }
    for (int64_t i = 0; i < run; ++i)
      square += (v[i] - mean) * (v[i] - mean);
    double deviation = std::sqrt(square / double(run) + epsilon);
    for (int64_t i = 0; i < run; ++i)
      v[i] = (v[i] - mean) / deviation;
  }
}

Result<HostTensor> rounded(const std::vector<double> &values, const HostTensor &like) {
  auto result = allocate(like.dtype(), like.shape());
  if (result)
    fromDoubles(values, *result);
  return result;
}

Result<HostTensor> normalizeTrailing(const char *op, const HostTensor &x, const HostTensor *scale,
                                     const HostTensor *bias, int64_t axis, double epsilon, bool keepMean) {
  GPUC_RETURN_IF_ERROR(checkFloat(op, x));
  GPUC_RETURN_IF_ERROR(checkAxis(op, axis, x.rank()));
  GPUC_RETURN_IF_ERROR(checkAffine(op, scale, x.shape()));
  GPUC_RETURN_IF_ERROR(checkAffine(op, bias, x.shape()));
  std::vector<double> values = toDoubles(x);
  AxisSplit s(x.shape(), axis);
  normalizeRuns(values, s.extent * s.inner, epsilon, keepMean);
  applyAffine(values, x.shape(), scale, bias);
  return rounded(values, x);
}

/// A per-channel vector as (C, 1, …, 1), which broadcasts to (N, C, …).
HostTensor perChannel(const HostTensor &t, int64_t rank) {
  Shape shape(rank - 1, 1);
  shape[0] = t.size();
  return t.reshaped(shape);
}

} // namespace

Result<HostTensor> softmax(const HostTensor &x, int64_t axis, bool log) {
  GPUC_RETURN_IF_ERROR(checkFloat("softmax", x));
  GPUC_RETURN_IF_ERROR(checkAxis("softmax", axis, x.rank()));
  std::vector<double> values = toDoubles(x);
  AxisSplit s(x.shape(), axis);
  for (int64_t lane = 0; lane < s.outer * s.inner; ++lane) {
    int64_t base = lane / s.inner * s.extent * s.inner + lane % s.inner;
    auto at = [&](int64_t i) -> double & { return values[base + i * s.inner]; };
    double largest = -INFINITY, sum = 0;
    for (int64_t i = 0; i < s.extent; ++i)
      largest = maxOf(largest, at(i));
    for (int64_t i = 0; i < s.extent; ++i)
      sum += std::exp(at(i) - largest);
    for (int64_t i = 0; i < s.extent; ++i)
      at(i) = log ? at(i) - largest - std::log(sum) : std::exp(at(i) - largest) / sum;
  }
  return rounded(values, x);
}

Result<HostTensor> layerNorm(const HostTensor &x, const HostTensor *scale, const HostTensor *bias,
                             int64_t axis, double epsilon) {
  return normalizeTrailing("layer_norm", x, scale, bias, axis, epsilon, /*keepMean=*/false);
}

Result<HostTensor> rmsNorm(const HostTensor &x, const HostTensor *scale, int64_t axis, double epsilon) {
  return normalizeTrailing("rms_norm", x, scale, nullptr, axis, epsilon, /*keepMean=*/true);
}

Result<HostTensor> rowMoments(const HostTensor &x, int64_t columns) {
  GPUC_RETURN_IF_ERROR(checkFloat("row_moments", x));
  int64_t n = x.rank() ? x.shape().back() : 0, rows = n ? x.size() / n : 0;
  if (columns < 1 || n % columns != 0)
    return invalidArgument("row_moments: columns must divide the last extent");
  HostTensor y(DType::F32, {rows, n / columns, 2});
  std::vector<double> values = toDoubles(x);
  float *out = y.mutableData<float>();
  for (int64_t run = 0; run < rows * (n / columns); ++run) {
    double sum = 0, squares = 0;
    for (int64_t i = run * columns; i < (run + 1) * columns; ++i) {
      sum += values[i];
      squares += values[i] * values[i];
    }
    out[run * 2] = float(sum);
    out[run * 2 + 1] = float(squares);
  }
  return y;
}

Result<RowStatistics> rowStatistics(const HostTensor &moments, int64_t extent, double epsilon,
                                    bool centered) {
  if (moments.dtype() != DType::F32 || moments.rank() != 3 || moments.shape()[2] != 2 || extent < 1)
    return invalidArgument("row_statistics: expected moments (R, P, 2) of f32 and a positive extent");
  int64_t rows = moments.shape()[0], parts = moments.shape()[1];
  RowStatistics result{HostTensor(DType::F32, {rows, 1}), HostTensor(DType::F32, {rows, 1})};
  for (int64_t row = 0; row < rows; ++row) {
    double sum = 0, squares = 0;
    for (int64_t part = 0; part < parts; ++part) {
      sum += moments.data<float>()[(row * parts + part) * 2];
      squares += moments.data<float>()[(row * parts + part) * 2 + 1];
    }
    double mean = centered ? sum / double(extent) : 0;
    double variance = std::max(squares / double(extent) - mean * mean, 0.0);
    result.mean.mutableData<float>()[row] = float(mean);
    result.scale.mutableData<float>()[row] = float(1 / std::sqrt(variance + epsilon));
  }
  return result;
}

Result<HostTensor> groupNorm(const HostTensor &x, const HostTensor *scale, const HostTensor *bias,
                             int64_t groups, double epsilon) {
  const char *op = "group_norm";
  GPUC_RETURN_IF_ERROR(checkFloat(op, x));
  if (x.rank() < 2 || groups < 1 || x.shape()[1] % groups != 0)
    return invalidArgument("group_norm: " + std::to_string(groups) +
                           " groups do not divide the channels of shape " + toString(x.shape()));
  for (const HostTensor *t : {scale, bias}) {
    if (t && t->shape() != Shape{x.shape()[1]})
      return invalidArgument("group_norm: scale or bias of shape " + toString(t->shape()) + ", expected " +
                             std::to_string(x.shape()[1]) + " channels");
    if (t)
      GPUC_RETURN_IF_ERROR(checkFloat(op, *t));
  }
  std::vector<double> values = toDoubles(x);
  AxisSplit s(x.shape(), 1);
  normalizeRuns(values, s.extent / groups * s.inner, epsilon, /*keepMean=*/false);
  HostTensor scales = scale ? perChannel(*scale, x.rank()) : HostTensor();
  HostTensor biases = bias ? perChannel(*bias, x.rank()) : HostTensor();
  applyAffine(values, x.shape(), scale ? &scales : nullptr, bias ? &biases : nullptr);
  return rounded(values, x);
}

Result<HostTensor> lrn(const HostTensor &x, int64_t size, double alpha, double beta, double bias) {
  GPUC_RETURN_IF_ERROR(checkFloat("lrn", x));
  if (x.rank() < 2 || size < 1)
    return invalidArgument("lrn: expected size >= 1 and rank >= 2, got size " + std::to_string(size) +
                           " and shape " + toString(x.shape()));
  std::vector<double> values = toDoubles(x), result(values.size());
  AxisSplit s(x.shape(), 1);
  int64_t before = std::min((size - 1) / 2, s.extent), after = std::min(size - 1 - (size - 1) / 2, s.extent);
  for (int64_t n = 0; n < s.outer; ++n)
    for (int64_t c = 0; c < s.extent; ++c)
      for (int64_t i = 0; i < s.inner; ++i) {
        double sum = 0;
        for (int64_t k = std::max<int64_t>(0, c - before); k <= std::min(s.extent - 1, c + after); ++k) {
          double v = values[(n * s.extent + k) * s.inner + i];
          sum += v * v;
        }
        int64_t at = (n * s.extent + c) * s.inner + i;
        result[at] = values[at] / std::pow(bias + alpha / double(size) * sum, beta);
      }
  return rounded(result, x);
}

static HostTensor filled(const std::vector<double> &values, HostTensor tensor) {
  fromDoubles(values, tensor);
  return tensor;
}

Result<HostTensor> squeezeExcite(const HostTensor &x, const HostTensor &w1, const HostTensor &b1,
                                 const HostTensor &w2, const HostTensor &b2, const TensorFunction &act,
                                 const TensorFunction &gate) {
  GPUC_RETURN_IF_ERROR(checkFloat("squeeze_excite", x));
  if (x.rank() < 3 || w1.rank() != 2 || w2.rank() != 2)
    return invalidArgument("squeeze_excite: expected x (N, C, …) and two matrices");
  const int64_t images = x.shape()[0], channels = x.shape()[1], hidden = w1.shape()[0];
  const int64_t pixels = images * channels ? x.size() / (images * channels) : 0;
  if (w1.shape() != Shape{hidden, channels} || w2.shape() != Shape{channels, hidden} ||
      b1.shape() != Shape{hidden} || b2.shape() != Shape{channels})
    return invalidArgument("squeeze_excite: the shapes of weights and biases do not fit");
  const DType wide = x.dtype() == DType::F64 ? DType::F64 : DType::F32;
  std::vector<double> values = toDoubles(x), m1 = toDoubles(w1), m2 = toDoubles(w2);
  // rows = in (images, columns) times weights (rows, columns) transposed, plus bias
  auto layer = [&](const std::vector<double> &in, const std::vector<double> &weights, const HostTensor &bias,
                   int64_t rows, int64_t columns,
                   const TensorFunction &function) -> Result<std::vector<double>> {
    std::vector<double> offsets = toDoubles(bias), out(images * rows);
    for (int64_t n = 0; n < images; ++n)
      for (int64_t r = 0; r < rows; ++r) {
        double sum = offsets[r];
        for (int64_t c = 0; c < columns; ++c)
          sum += weights[r * columns + c] * in[n * columns + c];
        out[n * rows + r] = sum;
      }
    Result<HostTensor> applied = function(filled(out, HostTensor(wide, {images, rows})));
    if (!applied.ok())
      return applied.status();
    return toDoubles(*applied);
  };
  std::vector<double> means(images * channels);
  for (int64_t i = 0; i < images * channels; ++i) {
    for (int64_t p = 0; p < pixels; ++p)
      means[i] += values[i * pixels + p];
    means[i] /= double(pixels);
  }
  auto h = layer(means, m1, b1, hidden, channels, act);
  if (!h.ok())
    return h.status();
  auto g = layer(*h, m2, b2, channels, hidden, gate);
  if (!g.ok())
    return g.status();
  for (int64_t i = 0; i < images * channels; ++i)
    for (int64_t p = 0; p < pixels; ++p)
      values[i * pixels + p] *= (*g)[i];
  return filled(values, HostTensor(x.dtype(), x.shape()));
}

} // namespace gpuc::reference

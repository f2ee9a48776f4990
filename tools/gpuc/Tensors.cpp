// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading, making and describing tensors.
#include "Tensors.h"
#include "Arguments.h"
#include "gpuc/Frontend/TensorFile.h"
#include "gpuc/Support/Compare.h"
#include "gpuc/Support/Npy.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

namespace gpuc::cli {

static std::string format(const char *pattern, double v) {
  char text[64];
  std::snprintf(text, sizeof text, pattern, v);
  return text;
}

Result<std::map<std::string, HostTensor>> readTensors(const std::vector<std::string> &items,
                                                      const std::string &flag) {
  std::map<std::string, HostTensor> tensors;
  for (const std::string &item : items) {
    auto named = splitNamed(item, flag);
    if (!named)
      return named.status();
    const std::string &file = named->second;
    bool isProto = file.size() > 3 && file.compare(file.size() - 3, 3, ".pb") == 0;
    auto tensor = isProto ? frontend::readTensorFile(file) : readNpy(file);
    if (!tensor)
      return Status(tensor.status().code(), flag + " '" + named->first + "': " + tensor.status().message());
    if (!tensors.emplace(named->first, *tensor).second)
      return invalidArgument(flag + " names '" + named->first + "' twice");
  }
  return tensors;
}

HostTensor randomTensor(const PlanTensor &tensor, uint64_t seed) {
  HostTensor t(tensor.dtype, tensor.shape);
  uint64_t mixed = seed * 0x9E3779B97F4A7C15ull + 1;
  for (char c : tensor.name)
    mixed = (mixed ^ uint8_t(c)) * 1099511628211ull;
  std::mt19937_64 generator(mixed);
  std::normal_distribution<double> normal;
  auto integer = [&](int bound) { return int(generator() % uint64_t(bound)); };
  for (int64_t i = 0, n = t.size(); i < n; ++i)
    switch (tensor.dtype) {
    case DType::Bool:
      t.mutableData<uint8_t>()[i] = uint8_t(integer(2));
      break;
    case DType::I8:
      t.mutableData<int8_t>()[i] = int8_t(integer(10));
      break;
    case DType::U8:
      t.mutableData<uint8_t>()[i] = uint8_t(integer(10));
      break;
    case DType::I16:
    case DType::U16:
      t.mutableData<uint16_t>()[i] = uint16_t(integer(10));
      break;
    case DType::I32:
    case DType::U32:
      t.mutableData<uint32_t>()[i] = uint32_t(integer(10));
      break;
    case DType::I64:
    case DType::U64:
      t.mutableData<uint64_t>()[i] = uint64_t(integer(10));
      break;
    case DType::F16:
      t.mutableData<uint16_t>()[i] = doubleToHalf(normal(generator));
      break;
    case DType::BF16:
      t.mutableData<uint16_t>()[i] = doubleToBFloat(normal(generator));
      break;
    case DType::F32:
      t.mutableData<float>()[i] = float(normal(generator));
      break;
    case DType::F64:
      t.mutableData<double>()[i] = normal(generator);
      break;
    default:
      break;
    }
  return t;
}

Result<std::vector<HostTensor>> completeInputs(const std::vector<PlanTensor> &inputs,
                                               const std::map<std::string, HostTensor> &given,
                                               uint64_t seed) {
  for (const auto &[name, tensor] : given)
    if (std::none_of(inputs.begin(), inputs.end(),
                     [&name = name](const PlanTensor &t) { return t.name == name; })) {
      std::string known;
      for (const PlanTensor &t : inputs)
        known += (known.empty() ? "'" : ", '") + t.name + "'";
      return invalidArgument("--input: the model has no input '" + name + "'; it has " +
                             (known.empty() ? "none" : known));
    }
  std::vector<HostTensor> complete;
  for (const PlanTensor &t : inputs) {
    auto found = given.find(t.name);
    if (found == given.end()) {
      if (t.specialisedTo) {
        HostTensor value(t.dtype, t.shape);
        std::copy_n(t.specialisedTo->data(), t.specialisedTo->size(), value.mutableBytes());
        complete.push_back(value);
      } else {
        complete.push_back(randomTensor(t, seed));
      }
      continue;
    }
    if (found->second.dtype() != t.dtype)
      return invalidArgument("input '" + t.name + "': expected " + std::string(name(t.dtype)) + ", got " +
                             std::string(name(found->second.dtype())));
    if (found->second.shape() != t.shape)
      return invalidArgument("input '" + t.name + "': expected shape " + toString(t.shape) + ", got " +
                             toString(found->second.shape()));
    complete.push_back(found->second);
  }
  return complete;
}

std::string describe(const HostTensor &tensor) {
  std::string text = std::string(name(tensor.dtype())) + "[" + toString(tensor.shape()) + "]";
  int64_t n = tensor.size(), finite = 0, nans = 0, infs = 0;
  double low = 0, high = 0, sum = 0, squares = 0;
  for (int64_t i = 0; i < n; ++i) {
    double v = elementAt(tensor, i);
    if (std::isnan(v)) {
      ++nans;
      continue;
    }
    if (std::isinf(v)) {
      ++infs;
      continue;
    }
    low = finite ? std::min(low, v) : v;
    high = finite ? std::max(high, v) : v;
    sum += v;
    squares += v * v;
    ++finite;
  }
  if (finite) {
    double mean = sum / double(finite), variance = std::max(0.0, squares / double(finite) - mean * mean);
    text += format(" min %.6g", low) + format(" max %.6g", high) + format(" mean %.6g", mean) +
            format(" std %.6g", std::sqrt(variance));
  }
  if (nans)
    text += " nan " + std::to_string(nans);
  if (infs)
    text += " inf " + std::to_string(infs);
  return text;
}

std::vector<std::string> topFive(const HostTensor &tensor) {
  std::vector<std::string> lines;
  if (!isFloat(tensor.dtype()) || tensor.rank() == 0 || tensor.shape().back() != tensor.size() ||
      tensor.size() < 5 || tensor.size() > 100000)
    return lines;
  std::vector<int64_t> order(size_t(tensor.size()));
  std::iota(order.begin(), order.end(), 0);
  std::partial_sort(order.begin(), order.begin() + 5, order.end(), [&](int64_t a, int64_t b) {
    double x = elementAt(tensor, a), y = elementAt(tensor, b);
    return x != y ? x > y : a < b;
  });
  for (int i = 0; i < 5; ++i)
    lines.push_back(format("  %10.4f", elementAt(tensor, order[size_t(i)])) + "  #" +
                    std::to_string(order[size_t(i)]));
  return lines;
}

} // namespace gpuc::cli

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kind of file is this? A complete program on gpuc's runtime C API, around the model of Google's
// `magika` package:
//
//   gpuc compile model.onnx -o magika.gpuc --shapes=bytes:1x2048
//   file_type magika.gpuc labels.txt README.md photo.jpg
//
// It loads the plan, opens the GPU if there is one and the simulator otherwise, and prints a type and its
// probability for each file. Link libGpucRuntime; neither CUDA nor MLIR is needed to build it.
#include "gpuc-c/runtime.h"
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

// ---- the C API, wrapped so that errors throw and objects are destroyed ----

void check(gpuc_status_t status) {
  if (!status)
    return;
  std::string message = gpuc_status_message(status);
  gpuc_status_destroy(status);
  throw std::runtime_error(message);
}

template <typename Object, void (*destroy)(Object)> struct Destroyer {
  using pointer = Object;
  void operator()(Object object) const { destroy(object); }
};
using Device = std::unique_ptr<gpuc_device_t, Destroyer<gpuc_device_t, gpuc_device_destroy>>;
using Plan = std::unique_ptr<gpuc_plan_t, Destroyer<gpuc_plan_t, gpuc_plan_destroy>>;
using Executable = std::unique_ptr<gpuc_executable_t, Destroyer<gpuc_executable_t, gpuc_executable_destroy>>;
using Context = std::unique_ptr<gpuc_context_t, Destroyer<gpuc_context_t, gpuc_context_destroy>>;

// ---- what the model wants to see of a file (magika, models/standard_v3_3/config.min.json) ----

constexpr size_t kBegin = 1024;     // bytes of the beginning
constexpr size_t kEnd = 1024;       // bytes of the end
constexpr int32_t kPadding = 256;   // stands where a file has no byte
constexpr size_t kBlock = 4096;     // bytes that are looked at on either side
constexpr size_t kSmallestFile = 8; // below, the model is not asked

std::string readBlock(std::ifstream &file, std::streamoff offset, size_t size) {
  std::string block(size, '\0');
  file.seekg(offset);
  if (!file.read(block.data(), std::streamsize(size)))
    throw std::runtime_error("cannot be read");
  return block;
}

/// The first and the last bytes of a file without the white space around them: 2048 numbers, the beginning
/// padded at its end and the end padded at its beginning. Empty for a file that is too small.
std::vector<int32_t> features(const std::string &path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  std::streamoff size = file ? std::streamoff(file.tellg()) : -1;
  if (size < 0)
    throw std::runtime_error("cannot be opened");
  if (size_t(size) < kSmallestFile)
    return {};
  size_t length = std::min(kBlock, size_t(size));
  const char *space = " \t\n\r\v\f";

  std::string begin = readBlock(file, 0, length);
  begin.erase(0, begin.find_first_not_of(space));
  std::string end = readBlock(file, size - std::streamoff(length), length);
  end.erase(end.find_last_not_of(space) + 1);

  std::vector<int32_t> numbers(kBegin + kEnd, kPadding);
  size_t fromBegin = std::min(kBegin, begin.size()), fromEnd = std::min(kEnd, end.size());
  std::transform(begin.begin(), begin.begin() + long(fromBegin), numbers.begin(),
                 [](char c) { return uint8_t(c); });
  std::transform(end.end() - long(fromEnd), end.end(), numbers.end() - long(fromEnd),
                 [](char c) { return uint8_t(c); });
  return numbers;
}

std::vector<std::string> readLabels(const std::string &path) {
  std::ifstream file(path);
  std::vector<std::string> labels;
  for (std::string line; std::getline(file, line);)
    labels.push_back(line);
  if (labels.empty())
    throw std::runtime_error("'" + path + "' holds no labels");
  return labels;
}

// ---- the model on a device ----

class Classifier {
public:
  Classifier(const std::string &planFile, size_t numLabels) {
    gpuc_device_t newDevice = nullptr;
    check(gpuc_device_open("auto", nullptr, &newDevice));
    device.reset(newDevice);
    gpuc_plan_t newPlan = nullptr;
    check(gpuc_plan_load_file(planFile.c_str(), &newPlan));
    plan.reset(newPlan);
    if (gpuc_plan_num_inputs(newPlan) != 1 || gpuc_plan_num_outputs(newPlan) != 1 ||
        gpuc_plan_inputs(newPlan)->dtype != GPUC_I32 ||
        gpuc_plan_inputs(newPlan)->bytes != (kBegin + kEnd) * sizeof(int32_t) ||
        gpuc_plan_outputs(newPlan)->dtype != GPUC_F32 ||
        gpuc_plan_outputs(newPlan)->bytes != numLabels * sizeof(float))
      throw std::runtime_error("'" + planFile + "' is no file-type model for " + std::to_string(numLabels) +
                               " labels");
    scores.resize(numLabels);
    gpuc_executable_t newExecutable = nullptr;
    check(gpuc_executable_create(newPlan, newDevice, nullptr, &newExecutable));
    executable.reset(newExecutable);
    gpuc_context_t newContext = nullptr;
    check(gpuc_context_create(newExecutable, nullptr, &newContext));
    context.reset(newContext);
  }

  std::string where() const { return gpuc_device_description(device.get()); }

  /// Probabilities of all labels.
  const std::vector<float> &classify(std::vector<int32_t> &bytes) {
    gpuc_buffer_t input = {bytes.data(), 0, bytes.size() * sizeof(int32_t)};
    gpuc_buffer_t output = {scores.data(), 0, scores.size() * sizeof(float)};
    check(gpuc_context_run(context.get(), &input, &output, nullptr));
    return scores;
  }

private:
  Device device;
  Plan plan;
  Executable executable;
  Context context;
  std::vector<float> scores;
};

int run(const std::vector<std::string> &arguments) {
  std::vector<std::string> labels = readLabels(arguments[1]);
  Classifier classifier(arguments[0], labels.size());
  std::printf("running on %s\n", classifier.where().c_str());
  int code = 0;
  for (size_t i = 2; i < arguments.size(); ++i) {
    const char *name = arguments[i].c_str();
    try {
      std::vector<int32_t> bytes = features(arguments[i]);
      if (bytes.empty()) {
        std::printf("%-40s too short to tell\n", name);
        continue;
      }
      const std::vector<float> &scores = classifier.classify(bytes);
      size_t best = size_t(std::max_element(scores.begin(), scores.end()) - scores.begin());
      std::printf("%-40s %-12s %5.1f %%\n", name, labels[best].c_str(), double(scores[best]) * 100);
    } catch (const std::exception &error) {
      std::fprintf(stderr, "file_type: '%s': %s\n", name, error.what());
      code = 1;
    }
  }
  return code;
}

} // namespace

int main(int argc, char **argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 3) {
    std::fprintf(stderr, "usage: file_type PLAN LABELS FILE…\n");
    return 2;
  }
  try {
    return run(arguments);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "file_type: error: %s\n", error.what());
    return 1;
  }
}

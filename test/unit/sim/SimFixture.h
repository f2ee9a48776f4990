// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs one kernel of given text in the simulator, with a cache folder of its own per process.
#pragma once
#include "gpuc/Runtime/SimDevice.h"
#include "gpuc/Support/EmbeddedFile.h"
#include <cstring>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace gpuc {
extern const EmbeddedFile simTestHeaders[];
extern const unsigned simTestHeadersCount;

namespace test {

inline std::vector<SourceFile> kernelHeaders() {
  std::vector<SourceFile> headers;
  for (unsigned i = 0; i < simTestHeadersCount; ++i)
    headers.push_back({simTestHeaders[i].path, std::string(simTestHeaders[i].data, simTestHeaders[i].size)});
  return headers;
}

/// A folder below the temporary folder that goes away with the process.
const std::string &scratchDir();

inline SimOptions simOptions() {
  SimOptions options;
  options.threads = 2;
  options.cacheDir = scratchDir() + "/cache";
  return options;
}

/// Device memory with the contents of a vector.
template <typename T> class Buffer {
public:
  Buffer(Device &device, std::vector<T> values) : device(device), count(values.size()) {
    ptr = *device.allocate(count * sizeof(T));
    EXPECT_TRUE(device.copyToDevice(ptr, values.data(), count * sizeof(T), nullptr).ok());
  }
  ~Buffer() { device.deallocate(ptr); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  std::vector<T> read() {
    std::vector<T> values(count);
    EXPECT_TRUE(device.copyToHost(values.data(), ptr, count * sizeof(T), nullptr).ok());
    return values;
  }
  DevicePtr ptr;

private:
  Device &device;
  size_t count;
};

/// A device and the kernel `k` of `text`.
class Program {
public:
  explicit Program(const std::string &text, SimOptions options = simOptions()) {
    auto made = createSimDevice(options);
    if (!made) {
      status = made.status();
      return;
    }
    device = made.take();
    auto loaded = device->loadSource({{"unit.cu", text}}, kernelHeaders());
    if (!loaded) {
      status = loaded.status();
      return;
    }
    module = loaded.take();
    auto found = device->getKernel(*module, "k");
    if (found)
      kernel = *found;
    else
      status = found.status();
  }
  /// Launches with tensor map parameters and then pointer parameters.
  Status launch(unsigned blocks, unsigned threads, unsigned sharedBytes, std::vector<DevicePtr> pointers,
                const std::vector<std::pair<TensorMapLayout, DevicePtr>> &maps = {}, unsigned cluster = 1) {
    if (!status.ok())
      return status;
    std::vector<void *> args;
    struct alignas(kTensorMapAlignment) Encoded {
      unsigned char bytes[kTensorMapBytes];
    };
    std::vector<Encoded> encoded(maps.size());
    for (size_t i = 0; i < maps.size(); ++i) {
      Status valid = validateTensorMap(maps[i].first);
      if (valid.ok())
        valid = device->encodeTensorMap(maps[i].first, maps[i].second, encoded[i].bytes);
      if (!valid.ok())
        return valid;
      args.push_back(encoded[i].bytes);
    }
    for (DevicePtr &p : pointers)
      args.push_back(&p);
    LaunchConfig config;
    config.grid.x = blocks;
    config.block.x = threads;
    config.sharedBytes = sharedBytes;
    config.cluster = cluster;
    config.label = "test kernel";
    return device->launch(kernel, config, args.data(), nullptr);
  }
  Status status;
  std::unique_ptr<Device> device;
  std::shared_ptr<Module> module;
  KernelHandle kernel;
};

} // namespace test
} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A Device in host memory whose kernels are C++ functions registered by name. It records what was submitted,
// supports graphs by keeping the submissions, and can fail on demand.
#pragma once
#include "gpuc/Runtime/Device.h"
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>

namespace gpuc {

class FakeDevice : public Device {
public:
  using KernelFunction = std::function<void(const LaunchConfig &, void **)>;
  std::map<std::string, KernelFunction> functions;
  std::vector<std::string> log;     ///< "launch add 7x1x1", "copy 60", …
  std::set<std::string> binaries;   ///< contents given to loadBinary
  std::vector<std::string> sources; ///< unit names given to loadSource
  std::map<DevicePtr, size_t> live; ///< allocations
  size_t allocations = 0;
  size_t memoryLimit = size_t(1) << 40;
  bool supportsGraphs = true;
  std::string failingKernel;
  std::string architecture = "sm_86";

  ~FakeDevice() override {
    for (auto &[ptr, size] : live)
      std::free(reinterpret_cast<void *>(ptr));
  }
  std::string description() const override { return "fake"; }
  std::string arch() const override { return architecture; }
  bool isSim() const override { return false; }
  Result<size_t> freeMemory() override { return memoryLimit; }
  Result<DevicePtr> allocate(size_t bytes) override {
    if (bytes > memoryLimit)
      return Status(StatusCode::OutOfMemory, "fake memory is full");
    ++allocations;
    size_t padded = (bytes + 255) / 256 * 256 + 256;
    auto ptr = reinterpret_cast<DevicePtr>(std::aligned_alloc(256, padded));
    live[ptr] = bytes;
    return ptr;
  }
  void deallocate(DevicePtr ptr) override {
    if (live.erase(ptr))
      std::free(reinterpret_cast<void *>(ptr));
  }
  Status copyToDevice(DevicePtr dst, const void *src, size_t bytes, StreamHandle) override {
    return submit("upload " + std::to_string(bytes), [=] { std::memcpy(at(dst), src, bytes); });
  }
  Status copyToHost(void *dst, DevicePtr src, size_t bytes, StreamHandle) override {
    return submit("download " + std::to_string(bytes), [=] { std::memcpy(dst, at(src), bytes); });
  }
  Status copyOnDevice(DevicePtr dst, DevicePtr src, size_t bytes, StreamHandle) override {
    return submit("copy " + std::to_string(bytes), [=] { std::memcpy(at(dst), at(src), bytes); });
  }
  Status fill(DevicePtr dst, uint8_t value, size_t bytes, StreamHandle) override {
    return submit("fill " + std::to_string(bytes), [=] { std::memset(at(dst), value, bytes); });
  }
  Result<std::shared_ptr<Module>> loadBinary(const void *data, size_t bytes) override {
    binaries.insert(std::string(static_cast<const char *>(data), bytes));
    return std::make_shared<Module>();
  }
  Result<std::shared_ptr<Module>> loadSource(const std::vector<UnitSource> &units,
                                             const std::vector<SourceFile> &) override {
    for (const UnitSource &u : units)
      sources.push_back(u.name);
    return std::make_shared<Module>();
  }
  Result<KernelHandle> getKernel(Module &, std::string_view entry) override {
    auto found = functions.find(std::string(entry));
    if (found == functions.end())
      return notFound("no such kernel");
    return KernelHandle{const_cast<std::pair<const std::string, KernelFunction> *>(&*found)};
  }
  Status launch(KernelHandle kernel, const LaunchConfig &config, void **args, StreamHandle) override {
    auto &entry = *static_cast<std::pair<const std::string, KernelFunction> *>(kernel.opaque);
    if (entry.first == failingKernel)
      return {StatusCode::DeviceError, "the kernel failed"};
    // A graph must not depend on the caller's argument array, like CUDA's.
    std::vector<uint64_t> values;
    for (size_t i = 0; i < argumentCount[entry.first]; ++i)
      values.push_back(*static_cast<uint64_t *>(args[i]));
    auto function = entry.second;
    std::string text = "launch " + entry.first + " " + std::to_string(config.grid.x) + "x" +
                       std::to_string(config.grid.y) + "x" + std::to_string(config.grid.z);
    return submit(text, [=]() mutable {
      std::vector<void *> pointers;
      for (uint64_t &v : values)
        pointers.push_back(&v);
      function(config, pointers.data());
    });
  }
  std::map<std::string, size_t> argumentCount;
  /// The address and the layout, where a real device has its own bits.
  struct Map {
    DevicePtr base;
    const TensorMapLayout *layout;
  };
  bool supportsMaps = true;
  Status encodeTensorMap(const TensorMapLayout &layout, DevicePtr base, void *out) override {
    if (!supportsMaps)
      return Device::encodeTensorMap(layout, base, out);
    log.push_back("encode");
    Map map{base, &layout};
    std::memcpy(out, &map, sizeof(map));
    return {};
  }

  Result<StreamHandle> createStream() override {
    ++streams;
    return StreamHandle(this);
  }
  void destroyStream(StreamHandle) override { --streams; }
  int streams = 0;
  Status synchronize(StreamHandle) override {
    log.push_back("synchronize");
    return {};
  }
  Status beginCapture(StreamHandle stream) override {
    if (!supportsGraphs)
      return unsupported("no graphs");
    if (!stream)
      return {StatusCode::DeviceError, "the default stream cannot be captured"};
    capturing = true;
    captured.clear();
    return {};
  }
  Result<std::unique_ptr<Graph>> endCapture(StreamHandle) override {
    capturing = false;
    return std::unique_ptr<Graph>(std::make_unique<FakeGraph>(*this, std::move(captured)));
  }

private:
  using Work = std::function<void()>;
  struct FakeGraph : Graph {
    FakeGraph(FakeDevice &device, std::vector<Work> work) : device(device), work(std::move(work)) {}
    Status launch(StreamHandle) override {
      device.log.push_back("graph");
      for (Work &w : work)
        w();
      return {};
    }
    FakeDevice &device;
    std::vector<Work> work;
  };
  static void *at(DevicePtr p) { return reinterpret_cast<void *>(p); }
  Status submit(const std::string &what, Work work) {
    if (capturing) {
      captured.push_back(std::move(work));
      return {};
    }
    log.push_back(what);
    work();
    return {};
  }
  bool capturing = false;
  std::vector<Work> captured;
};

} // namespace gpuc

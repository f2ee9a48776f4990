// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a kernel of given text on the simulator, on the simulator with full checks, and on a GPU of the right
// architecture where there is one: what holds on one must hold on the others.
#pragma once
#include "gpuc/Plan/TensorMap.h"
#include "gpuc/Runtime/DeviceRegistry.h"
#include "gpuc/Support/EmbeddedFile.h"
#include <cstring>
#include <deque>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace gpuc {
extern const EmbeddedFile archTestHeaders[];
extern const unsigned archTestHeadersCount;

namespace test {

std::vector<SourceFile> archHeaders();
/// Includes all of arch/ and opens namespaces; lines count from 1 after it.
std::string archPreface();

/// Device memory with the contents of a vector.
template <typename T> class Array {
public:
  Array(std::shared_ptr<Device> device, const std::vector<T> &values) : device(device), count(values.size()) {
    ptr = *device->allocate(count * sizeof(T));
    EXPECT_TRUE(device->copyToDevice(ptr, values.data(), count * sizeof(T), nullptr).ok());
    EXPECT_TRUE(device->synchronize(nullptr).ok());
  }
  ~Array() { device->deallocate(ptr); }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  std::vector<T> read() {
    std::vector<T> values(count);
    EXPECT_TRUE(device->copyToHost(values.data(), ptr, count * sizeof(T), nullptr).ok());
    EXPECT_TRUE(device->synchronize(nullptr).ok());
    return values;
  }
  DevicePtr ptr;

private:
  std::shared_ptr<Device> device;
  size_t count;
};

/// Parameters of a kernel in their order.
class Arguments {
public:
  explicit Arguments(Device &device) : device(device) {}
  template <typename T> Arguments &array(const Array<T> &a) { return value(a.ptr); }
  template <typename T> Arguments &value(T v) {
    slots.emplace_back();
    std::memcpy(slots.back().bytes, &v, sizeof v);
    return *this;
  }
  Arguments &map(const TensorMapLayout &layout, DevicePtr base) {
    slots.emplace_back();
    Status valid = validateTensorMap(layout);
    status = valid.ok() ? device.encodeTensorMap(layout, base, slots.back().bytes) : valid;
    EXPECT_TRUE(status.ok()) << status.message();
    return *this;
  }
  std::vector<void *> pointers() {
    std::vector<void *> list;
    for (Slot &s : slots)
      list.push_back(s.bytes);
    return list;
  }
  Status status;

private:
  struct Slot {
    alignas(kTensorMapAlignment) unsigned char bytes[kTensorMapBytes] = {};
  };
  Device &device;
  std::deque<Slot> slots;
};

struct Shape3 {
  unsigned blocks = 1, threads = 128, sharedBytes = 0, cluster = 1;
};

struct DeviceCase {
  const char *name, *spec;
  bool fullChecks;
};

class ArchTest : public testing::TestWithParam<DeviceCase> {
protected:
  void SetUp() override;
  /// Compiles a unit: archPreface() and `body`, whose entry is `k`.
  void load(const std::string &body);
  Arguments arguments() { return Arguments(*device); }
  Status launch(Arguments &arguments, const Shape3 &shape);
  void run(Arguments &arguments, const Shape3 &shape) {
    Status status = launch(arguments, shape);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  template <typename T> Array<T> array(const std::vector<T> &values) { return Array<T>(device, values); }

  std::shared_ptr<Device> device;

private:
  std::shared_ptr<Module> module;
  KernelHandle kernel;
};

/// `values` as the codes of a 16-bit float type.
std::vector<uint16_t> toHalf(const std::vector<float> &values);
float fromHalf(uint16_t bits);

#define GPUC_ON_ALL_DEVICES(Suite)                                                                           \
  INSTANTIATE_TEST_SUITE_P(On, Suite,                                                                        \
                           testing::Values(DeviceCase{"Sim", "sim:sm_90a", false},                           \
                                           DeviceCase{"SimFullChecks", "sim:sm_90a", true},                  \
                                           DeviceCase{"Cuda", "cuda:0", false}),                             \
                           [](const auto &info) { return std::string(info.param.name); })

} // namespace test
} // namespace gpuc

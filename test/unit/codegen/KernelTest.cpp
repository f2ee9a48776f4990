// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel test fixture: a tiny executor of kernel functions on a Device.
#include "KernelTest.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Evaluate.h"
#include "gpuc/IR/Storage.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Runtime/Nvrtc.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <cstring>
#include <map>
#include <random>

using namespace mlir;

namespace gpuc {

//===--- tensors
//-------------------------------------------------------------------------------------------------===//

template <typename F> static void withType(DType dtype, F &&f) {
  switch (dtype) {
  case DType::Bool:
  case DType::U8:
    return f(uint8_t());
  case DType::I8:
    return f(int8_t());
  case DType::I16:
    return f(int16_t());
  case DType::I32:
    return f(int32_t());
  case DType::I64:
    return f(int64_t());
  case DType::U16:
    return f(uint16_t());
  case DType::U32:
    return f(uint32_t());
  case DType::U64:
    return f(uint64_t());
  case DType::F32:
    return f(float());
  case DType::F64:
    return f(double());
  default:
    FAIL() << "type " << name(dtype) << " in a kernel test";
  }
}

void setElement(HostTensor &t, int64_t i, double v) {
  if (t.dtype() == DType::F16)
    t.mutableData<uint16_t>()[i] = doubleToHalf(v);
  else if (t.dtype() == DType::BF16)
    t.mutableData<uint16_t>()[i] = doubleToBFloat(v);
  else
    withType(t.dtype(), [&](auto zero) { t.mutableData<decltype(zero)>()[i] = decltype(zero)(v); });
}

HostTensor randomTensor(DType dtype, Shape shape, unsigned seed) {
  if (!isComputeType(dtype)) { // every code is a value
    HostTensor t(dtype, std::move(shape));
    std::mt19937 random(seed);
    for (int64_t i = 0; i < t.sizeInBytes(); ++i)
      t.mutableBytes()[i] = uint8_t(random());
    if (int64_t rest = t.size() * bitWidth(dtype) % 8)
      t.mutableBytes()[t.sizeInBytes() - 1] &= uint8_t((1 << rest) - 1);
    return t;
  }
  if (dtype == DType::Bool)
    return randomIntegers(dtype, std::move(shape), 0, 1, seed);
  if (isUnsignedInt(dtype))
    return randomIntegers(dtype, std::move(shape), 0, 100, seed);
  if (isInt(dtype))
    return randomIntegers(dtype, std::move(shape), -50, 50, seed);
  HostTensor t(dtype, std::move(shape));
  std::mt19937 random(seed);
  for (int64_t i = 0; i < t.size(); ++i)
    setElement(t, i, double(int64_t(random() % 4001) - 2000) / 1000.0);
  return t;
}

HostTensor randomIntegers(DType dtype, Shape shape, int64_t lo, int64_t hi, unsigned seed) {
  HostTensor t(dtype, std::move(shape));
  std::mt19937 random(seed);
  for (int64_t i = 0; i < t.size(); ++i)
    setElement(t, i, double(lo + int64_t(random() % uint64_t(hi - lo + 1))));
  return t;
}

HostTensor tensorOf(DType dtype, Shape shape, std::vector<double> values) {
  HostTensor t(dtype, std::move(shape));
  for (int64_t i = 0; i < t.size(); ++i)
    setElement(t, i, values[size_t(i)]);
  return t;
}

::testing::AssertionResult matches(const HostTensor &got, const HostTensor &expected,
                                   KernelTolerance tolerance) {
  std::string text = difference(got, expected, {tolerance.relative, tolerance.absolute});
  return text.empty() ? ::testing::AssertionSuccess() : ::testing::AssertionFailure() << text;
}

//===--- executor
//------------------------------------------------------------------------------------------------===//

namespace {

/// Buffers of one run.
struct Executor {
  Device &device;
  const Target &target;
  std::string texts;
  Status status;
  std::map<void *, DevicePtr> buffers;
  std::vector<DevicePtr> scratch;

  bool ok(Status s) {
    if (status.ok())
      status = s;
    return status.ok();
  }
  DevicePtr allocate(int64_t bytes) {
    auto p = device.allocate(size_t(bytes));
    ok(p.status());
    if (p)
      scratch.push_back(*p);
    return p ? *p : 0;
  }
  static int64_t bytesOf(Value v) {
    return byteSize(dtypeOf(v), storageExtent(shapeOf(v), storageStrides(v)));
  }
  DevicePtr &buffer(Value v) { return buffers[v.getAsOpaquePointer()]; }

  void upload(Value v, const HostTensor &dense) {
    buffer(v) = allocate(dense.sizeInBytes());
    ok(device.copyToDevice(buffer(v), dense.bytes(), size_t(dense.sizeInBytes()), nullptr));
  }
  /// A value in its storage, as a dense tensor.
  HostTensor download(Value v) {
    HostTensor result(dtypeOf(v), shapeOf(v).vec());
    std::vector<uint8_t> bytes(size_t(bytesOf(v)));
    ok(device.copyToHost(bytes.data(), buffer(v), bytes.size(), nullptr));
    auto strides = storageStrides(v);
    if (bitWidth(result.dtype()) < 8) { // row-major
      std::memcpy(result.mutableBytes(), bytes.data(), bytes.size());
      return result;
    }
    int64_t size = std::max<int64_t>(1, bitWidth(result.dtype()) / 8);
    Shape at(result.shape().size(), 0);
    for (int64_t i = 0; i < result.size(); ++i) {
      int64_t offset = 0;
      for (size_t d = 0; d < at.size(); ++d)
        offset += at[d] * strides[d];
      std::memcpy(result.mutableBytes() + i * size, bytes.data() + offset * size, size_t(size));
      for (size_t d = at.size(); d-- > 0;) {
        if (++at[d] < result.shape()[d])
          break;
        at[d] = 0;
      }
    }
    return result;
  }

  void launch(KernelOp kernel, const EmittedKernel &emitted, ArrayRef<DevicePtr> packed,
              DevicePtr ownPacked) {
    texts += emitted.text;
    std::string text = emitted.text, entry = "gpuc_test_kernel";
    for (size_t at; (at = text.find("GPUC_ENTRY")) != std::string::npos;)
      text.replace(at, strlen("GPUC_ENTRY"), entry);
    auto module = device.loadSource({{kernel->getName().getStringRef().str(), text}}, kernelHeaders());
    if (!ok(module.status()))
      return;
    auto handle = device.getKernel(**module, entry);
    if (!ok(handle.status()))
      return;
    struct Slot {
      alignas(kTensorMapAlignment) unsigned char bytes[kTensorMapBytes];
    };
    std::vector<Slot> slots(emitted.args.size());
    std::vector<void *> args;
    for (size_t i = 0; i < slots.size(); ++i) {
      Slot &slot = slots[i];
      const EmittedArg &arg = emitted.args[i];
      auto put = [&](auto v) { std::memcpy(slot.bytes, &v, sizeof v); };
      switch (arg.kind) {
      case EmittedArg::Kind::Operand:
        put(buffer(kernel.getInputs()[arg.index]));
        break;
      case EmittedArg::Kind::Result:
        put(buffer(kernel.getResult(arg.index)));
        break;
      case EmittedArg::Kind::Packed:
        put(ownPacked ? ownPacked : packed[arg.index]);
        break;
      case EmittedArg::Kind::Scratch:
        put(scratchOf(kernel, arg));
        break;
      case EmittedArg::Kind::I32:
        put(int32_t(arg.integer));
        break;
      case EmittedArg::Kind::I64:
        put(int64_t(arg.integer));
        break;
      case EmittedArg::Kind::F32:
        put(float(arg.real));
        break;
      case EmittedArg::Kind::F64:
        put(arg.real);
        break;
      }
      if (arg.map) {
        DevicePtr base;
        std::memcpy(&base, slot.bytes, sizeof base);
        if (!ok(validateTensorMap(*arg.map)) || !ok(device.encodeTensorMap(*arg.map, base, slot.bytes)))
          return;
      }
      args.push_back(slot.bytes);
    }
    LaunchConfig config;
    config.grid = emitted.grid;
    config.block = emitted.block;
    config.sharedBytes = emitted.sharedBytes;
    config.cluster = emitted.cluster;
    config.programmaticDependent = emitted.programmaticDependent;
    config.label = "test";
    if (config.grid.x != 0 && config.grid.y != 0 && config.grid.z != 0)
      ok(device.launch(*handle, config, args.data(), nullptr));
  }
  /// Workspace `index` of a kernel op: the same buffer for all its launches.
  DevicePtr scratchOf(KernelOp kernel, const EmittedArg &arg) {
    DevicePtr &p = workspaces[{kernel.getOperation(), arg.index}];
    if (!p)
      p = allocate(arg.bytes);
    return p;
  }
  std::map<std::pair<Operation *, unsigned>, DevicePtr> workspaces;

  bool run(KernelOp kernel) {
    const KernelFamily *family = findFamily(kernel.getFamily());
    for (Value result : kernel.getResults())
      buffer(result) = allocate(bytesOf(result));
    auto emitted = family->emit(kernel, target);
    if (failed(emitted))
      return false;
    for (const EmittedKernel &e : *emitted) {
      std::vector<DevicePtr> packed;
      for (const PackingKernel &p : e.packing) {
        packed.push_back(allocate(p.bytes));
        launch(kernel, p.kernel, {}, packed.back());
      }
      launch(kernel, e, packed, 0);
    }
    return status.ok();
  }
};

} // namespace

KernelTest::KernelTest() {
  context.getOrLoadDialect<GpucDialect>();
  context.getOrLoadDialect<func::FuncDialect>();
  setTarget("a100");
}

void KernelTest::setTarget(llvm::StringRef product) {
  auto targets = parseTargets(std::string_view(product.data(), product.size()));
  ASSERT_TRUE(targets.ok()) << targets.status().message();
  target = targets->front();
}

OwningOpRef<ModuleOp> KernelTest::parse(llvm::StringRef text) {
  return parseSourceString<ModuleOp>(text, &context);
}

LogicalResult KernelTest::selectAll(ModuleOp module) {
  auto result = module.walk([&](KernelOp kernel) {
    const KernelFamily *family = findFamily(kernel.getFamily());
    if (!family) {
      kernel.emitError("no family '" + kernel.getFamily() + "'");
      return WalkResult::interrupt();
    }
    if (kernel.getConfig())
      return WalkResult::skip(); // the test chose the variant
    return failed(family->select(kernel, *target)) ? WalkResult::interrupt() : WalkResult::skip();
  });
  return success(!result.wasInterrupted());
}

void KernelTest::check(llvm::StringRef text, KernelTolerance tolerance, std::vector<HostTensor> inputs,
                       bool fullChecks) {
  auto module = parse(text);
  ASSERT_TRUE(module) << "the test's IR does not parse";
  ASSERT_TRUE(succeeded(selectAll(*module)));
  auto main = module->lookupSymbol<func::FuncOp>("main");
  ASSERT_TRUE(main);
  if (inputs.empty())
    for (BlockArgument a : main.getArguments())
      inputs.push_back(randomTensor(dtypeOf(a), shapeOf(a).vec(), a.getArgNumber() + 1));
  auto expected = evaluateFunction(main, inputs);
  ASSERT_TRUE(expected.ok()) << expected.status().message();

  SimOptions options;
  options.fullChecks = fullChecks;
  options.arch = std::string(target->arch);
  auto device = createSimDevice(options);
  if (!device.ok())
    GTEST_SKIP() << device.status().message();
  Executor executor{**device, *target, {}, {}, {}, {}, {}};
  for (auto [argument, input] : llvm::zip(main.getArguments(), inputs))
    executor.upload(argument, input);
  for (Operation &op : main.getBody().front().without_terminator()) {
    if (auto constant = dyn_cast<ConstantOp>(op))
      executor.upload(constant.getY(), toHostTensor(cast<ElementsAttr>(constant.getValue())));
    else if (auto kernel = dyn_cast<KernelOp>(op))
      ASSERT_TRUE(executor.run(kernel)) << executor.status.message() << "\n" << executor.texts;
  }
  unitTexts = executor.texts;
  outputs.clear();
  for (auto [i, result] : llvm::enumerate(main.getBody().front().getTerminator()->getOperands())) {
    outputs.push_back(executor.download(result));
    ASSERT_TRUE(executor.status.ok()) << executor.status.message();
    EXPECT_TRUE(matches(outputs.back(), (*expected)[i], tolerance)) << "result " << i << "\n"
                                                                    << executor.texts;
  }
  for (DevicePtr p : executor.scratch)
    (*device)->deallocate(p);
}

std::vector<EmittedKernel> KernelTest::emitAll(llvm::StringRef text) {
  std::vector<EmittedKernel> all;
  auto module = parse(text);
  if (!module || failed(selectAll(*module))) {
    ADD_FAILURE() << "the test's IR does not parse, or no variant is legal";
    return all;
  }
  module->walk([&](KernelOp kernel) {
    auto emitted = findFamily(kernel.getFamily())->emit(kernel, *target);
    if (failed(emitted)) {
      ADD_FAILURE() << "emission failed";
      return WalkResult::interrupt();
    }
    for (EmittedKernel &e : *emitted)
      all.push_back(std::move(e));
    return WalkResult::skip();
  });
  return all;
}

void KernelTest::checkCompiles(llvm::StringRef text, llvm::StringRef products) {
  auto nvrtc = Nvrtc::open();
  if (!nvrtc.ok())
    GTEST_SKIP() << nvrtc.status().message();
  auto targets = parseTargets(std::string_view(products.data(), products.size()));
  ASSERT_TRUE(targets.ok()) << targets.status().message();
  for (const Target *t : *targets) {
    target = t;
    for (const EmittedKernel &kernel : emitAll(text)) {
      std::vector<const EmittedKernel *> parts{&kernel};
      for (const PackingKernel &p : kernel.packing)
        parts.push_back(&p.kernel);
      for (const EmittedKernel *part : parts) {
        std::string unit = part->text;
        for (size_t at; (at = unit.find("GPUC_ENTRY")) != std::string::npos;)
          unit.replace(at, strlen("GPUC_ENTRY"), "gpuc_test_kernel");
        auto compiled = (*nvrtc)->compileUnit({"unit.cu", unit}, kernelHeaders(), std::string(t->arch));
        ASSERT_TRUE(compiled.ok()) << compiled.status().message() << "\n" << unit;
        EXPECT_EQ(compiled->log.find("warning"), std::string::npos) << compiled->log << "\n" << unit;
        for (const KernelResources &r : compiled->kernels)
          EXPECT_EQ(r.spillStoreBytes + r.spillLoadBytes, 0) << t->arch << "\n" << unit;
      }
    }
  }
}

void KernelTest::checkRefused(llvm::StringRef text, llvm::StringRef message) {
  auto module = parse(text);
  ASSERT_TRUE(module) << "the test's IR does not parse";
  std::string seen;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &d) {
    seen += d.str() + "\n";
    return success();
  });
  bool refused = failed(selectAll(*module));
  if (!refused)
    module->walk(
        [&](KernelOp kernel) { refused |= failed(findFamily(kernel.getFamily())->emit(kernel, *target)); });
  EXPECT_TRUE(refused);
  EXPECT_NE(seen.find(message.str()), std::string::npos) << seen;
}

} // namespace gpuc

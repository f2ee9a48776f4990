// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One execution of a plan: its arena, its bindings, its graphs.
#include "BufferBounds.h"
#include "LoadedPlan.h"
#include "gpuc/Runtime/Runtime.h"
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

namespace gpuc {

namespace {
/// A set of input and output addresses that was seen, with its graph once it was seen twice.
struct GraphEntry {
  std::vector<DevicePtr> addresses;
  std::unique_ptr<Graph> graph;
  uint64_t lastUse = 0;
};

class ContextImpl : public Context {
public:
  ContextImpl(std::shared_ptr<LoadedPlanImpl> loadedPlan, const ContextOptions &options)
      : loaded(std::move(loadedPlan)), options(options),
        steps(loaded->program().runSteps, loaded->kernels(), loaded->matmuls()) {}
  ~ContextImpl() override;
  Status initialise();

  Status run(const std::vector<TensorBinding> &inputs, const std::vector<TensorBinding> &outputs,
             StreamHandle stream) override;
  Result<std::vector<StepTime>> profile(const std::vector<TensorBinding> &inputs,
                                        const std::vector<TensorBinding> &outputs,
                                        StreamHandle stream) override;
  Result<std::vector<StepTime>> profileInGraph(const std::vector<TensorBinding> &inputs,
                                               const std::vector<TensorBinding> &outputs,
                                               StreamHandle stream) override;
  Result<std::vector<HostTensor>> run(const std::vector<HostTensor> &inputs) override;
  bool usedGraph() const override { return replayed; }
  DevicePtr arena() const override { return arenaMemory.address(); }

private:
  Status check(const PlanTensor &tensor, const char *kind, const TensorBinding &binding);
  /// Checks and resolves the bindings, uploads host inputs.
  Status begin(const std::vector<TensorBinding> &inputs, const std::vector<TensorBinding> &outputs,
               StreamHandle stream);
  Status end(const std::vector<TensorBinding> &outputs, StreamHandle stream);
  Status execute(StreamHandle stream);
  /// A graph of what `submit` enqueues.
  Result<std::unique_ptr<Graph>> capture(const std::function<Status(StreamHandle)> &submit);
  /// The steps with time 0.
  std::vector<StepTime> stepNames() const;
  Status poison(StreamHandle stream);
  /// All steps, what ContextOptions::poison asks for first.
  Status submitRun(StreamHandle stream);

  std::shared_ptr<LoadedPlanImpl> loaded;
  ContextOptions options;
  StepList steps;
  DeviceMemory arenaMemory, stagingMemory;
  std::vector<DevicePtr> stagedInputs, stagedOutputs;
  StepAddresses addresses;
  std::vector<DevicePtr> bound;  ///< inputs then outputs, as written into `steps`
  std::vector<DevicePtr> wanted; ///< of this run; kept to avoid allocation
  bool anyHost = false;
  bool replayed = false;
  bool graphsWork = true;
  StreamHandle captureStream = nullptr;
  std::vector<GraphEntry> graphs;
  uint64_t useCounter = 0;
};
} // namespace

ContextImpl::~ContextImpl() {
  graphs.clear();
  if (captureStream)
    loaded->device().destroyStream(captureStream);
}

Status ContextImpl::initialise() {
  Device &device = loaded->device();
  const Plan &plan = loaded->plan();
  MemoryNeed need = loaded->memory();
  GPUC_RETURN_IF_ERROR(arenaMemory.allocate(device, loaded->allocator(), need.arena, "the arena"));
  if (options.stageHostData) {
    GPUC_RETURN_IF_ERROR(
        stagingMemory.allocate(device, loaded->allocator(), need.staging, "copies of inputs and outputs"));
    DevicePtr next = stagingMemory.address();
    auto place = [&](const std::vector<PlanTensor> &tensors, std::vector<DevicePtr> &out) -> Status {
      for (const PlanTensor &t : tensors) {
        out.push_back(next);
        GPUC_RETURN_IF_ERROR(declareBuffer(device, next, uint64_t(t.sizeInBytes())));
        next += (uint64_t(t.sizeInBytes()) + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment;
      }
      return {};
    };
    GPUC_RETURN_IF_ERROR(place(plan.inputs, stagedInputs));
    GPUC_RETURN_IF_ERROR(place(plan.outputs, stagedOutputs));
  }
  addresses = loaded->addresses();
  addresses.arena = arenaMemory.address();
  addresses.inputs.assign(plan.inputs.size(), 0);
  addresses.outputs.assign(plan.outputs.size(), 0);
  GPUC_RETURN_IF_ERROR(steps.bind(device, addresses));
  bound.assign(plan.inputs.size() + plan.outputs.size(), 0);
  wanted = bound;
  graphs.reserve(options.maxGraphs);
  graphsWork = options.useGraph && options.maxGraphs > 0;
  return {};
}

Status ContextImpl::check(const PlanTensor &tensor, const char *kind, const TensorBinding &binding) {
  uint64_t expected = uint64_t(tensor.sizeInBytes());
  std::string what = std::string(kind) + " '" + tensor.name + "'";
  if (binding.bytes != expected)
    return invalidArgument(what + " has " + std::to_string(binding.bytes) + " bytes, expected " +
                           std::to_string(expected) + " (" + std::string(name(tensor.dtype)) + " " +
                           toString(tensor.shape) + ")");
  if (binding.host && binding.device)
    return invalidArgument(what + " is given in host and in device memory; give one of them");
  if (!binding.host && !binding.device && expected)
    return invalidArgument(what + " has no memory");
  if (binding.device % 16)
    return invalidArgument(what + " is not aligned to 16 bytes in device memory");
  if (binding.host && !options.stageHostData)
    return {StatusCode::FailedPrecondition,
            what + " is in host memory, but the context was created without staging for it"};
  if (tensor.specialisedTo && binding.host && expected &&
      std::memcmp(binding.host, tensor.specialisedTo->data(), expected) != 0)
    return invalidArgument(
        what + " has another value than the one the plan was compiled for; compile the model again "
               "with this value");
  return {};
}

Status ContextImpl::begin(const std::vector<TensorBinding> &inputs, const std::vector<TensorBinding> &outputs,
                          StreamHandle stream) {
  const Plan &plan = loaded->plan();
  if (inputs.size() != plan.inputs.size() || outputs.size() != plan.outputs.size())
    return invalidArgument("got " + std::to_string(inputs.size()) + " inputs and " +
                           std::to_string(outputs.size()) + " outputs, expected " +
                           std::to_string(plan.inputs.size()) + " and " +
                           std::to_string(plan.outputs.size()));
  anyHost = false;
  size_t at = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    GPUC_RETURN_IF_ERROR(check(plan.inputs[i], "input", inputs[i]));
    anyHost |= inputs[i].host != nullptr;
    wanted[at++] = inputs[i].host ? stagedInputs[i] : inputs[i].device;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    GPUC_RETURN_IF_ERROR(check(plan.outputs[i], "output", outputs[i]));
    anyHost |= outputs[i].host != nullptr;
    wanted[at++] = outputs[i].host ? stagedOutputs[i] : outputs[i].device;
  }
  for (size_t i = 0; i < inputs.size(); ++i)
    if (inputs[i].host && inputs[i].bytes)
      GPUC_RETURN_IF_ERROR(loaded->device().copyToDevice(wanted[i], inputs[i].host, inputs[i].bytes, stream));
  if (wanted != bound) {
    std::copy_n(wanted.begin(), inputs.size(), addresses.inputs.begin());
    std::copy_n(wanted.begin() + inputs.size(), outputs.size(), addresses.outputs.begin());
    bound.clear(); // nothing is bound if this fails halfway
    GPUC_RETURN_IF_ERROR(steps.bindInputsOutputs(loaded->device(), addresses));
    bound = wanted;
  }
  return {};
}

Status ContextImpl::poison(StreamHandle stream) {
  Device &device = loaded->device();
  if (uint64_t bytes = loaded->program().arenaBytes)
    GPUC_RETURN_IF_ERROR(device.fill(arenaMemory.address(), 0xff, bytes, stream));
  for (size_t i = 0; i < addresses.outputs.size(); ++i)
    if (uint64_t bytes = uint64_t(loaded->plan().outputs[i].sizeInBytes()))
      GPUC_RETURN_IF_ERROR(device.fill(addresses.outputs[i], 0xff, bytes, stream));
  return {};
}

Status ContextImpl::submitRun(StreamHandle stream) {
  if (options.poison)
    GPUC_RETURN_IF_ERROR(poison(stream));
  return steps.submitAll(loaded->device(), stream);
}

Status ContextImpl::end(const std::vector<TensorBinding> &outputs, StreamHandle stream) {
  Device &device = loaded->device();
  for (size_t i = 0; i < outputs.size(); ++i)
    if (outputs[i].host && outputs[i].bytes)
      GPUC_RETURN_IF_ERROR(
          device.copyToHost(outputs[i].host, addresses.outputs[i], outputs[i].bytes, stream));
  return anyHost ? device.synchronize(stream) : Status();
}

Result<std::unique_ptr<Graph>> ContextImpl::capture(const std::function<Status(StreamHandle)> &submit) {
  Device &device = loaded->device();
  if (!captureStream) {
    auto stream = device.createStream();
    if (!stream)
      return stream.status();
    captureStream = *stream;
  }
  GPUC_RETURN_IF_ERROR(device.beginCapture(captureStream));
  Status submitted = submit(captureStream);
  auto graph = device.endCapture(captureStream); // also after an error, or the stream stays unusable
  GPUC_RETURN_IF_ERROR(submitted);
  return graph;
}

Status ContextImpl::execute(StreamHandle stream) {
  replayed = false;
  if (!graphsWork)
    return submitRun(stream);
  ++useCounter;
  auto entry =
      std::find_if(graphs.begin(), graphs.end(), [&](const GraphEntry &g) { return g.addresses == bound; });
  if (entry == graphs.end()) {
    if (graphs.size() < options.maxGraphs) {
      graphs.emplace_back();
      entry = graphs.end() - 1;
    } else {
      entry = std::min_element(graphs.begin(), graphs.end(), [](const GraphEntry &a, const GraphEntry &b) {
        return a.lastUse < b.lastUse;
      });
      entry->graph.reset();
    }
    entry->addresses = bound;
    entry->lastUse = useCounter;
    return submitRun(stream);
  }
  entry->lastUse = useCounter;
  if (!entry->graph) {
    auto graph = capture([&](StreamHandle s) { return submitRun(s); });
    if (!graph && graph.status().code() == StatusCode::Unsupported) {
      graphsWork = false;
      return submitRun(stream);
    }
    if (!graph)
      return graph.status();
    entry->graph = graph.take();
  }
  replayed = true;
  return entry->graph->launch(stream);
}

Status ContextImpl::run(const std::vector<TensorBinding> &inputs, const std::vector<TensorBinding> &outputs,
                        StreamHandle stream) {
  GPUC_RETURN_IF_ERROR(begin(inputs, outputs, stream));
  GPUC_RETURN_IF_ERROR(execute(stream));
  return end(outputs, stream);
}

Result<std::vector<StepTime>> ContextImpl::profile(const std::vector<TensorBinding> &inputs,
                                                   const std::vector<TensorBinding> &outputs,
                                                   StreamHandle stream) {
  Device &device = loaded->device();
  GPUC_RETURN_IF_ERROR(begin(inputs, outputs, stream));
  if (options.poison)
    GPUC_RETURN_IF_ERROR(poison(stream));
  struct Events {
    Device &device;
    std::vector<EventHandle> list;
    ~Events() {
      for (EventHandle e : list)
        device.destroyEvent(e);
    }
  } events{device, {}};
  for (size_t i = 0; i <= steps.size(); ++i) {
    auto event = device.createEvent();
    if (!event)
      break;
    events.list.push_back(*event);
  }
  bool useEvents = events.list.size() == steps.size() + 1;
  std::vector<StepTime> times = stepNames();
  if (useEvents) {
    GPUC_RETURN_IF_ERROR(device.recordEvent(events.list[0], stream));
    for (size_t i = 0; i < steps.size(); ++i) {
      GPUC_RETURN_IF_ERROR(steps.submit(i, device, stream));
      GPUC_RETURN_IF_ERROR(device.recordEvent(events.list[i + 1], stream));
    }
    GPUC_RETURN_IF_ERROR(device.synchronize(stream));
    for (size_t i = 0; i < steps.size(); ++i) {
      auto ms = device.elapsedMs(events.list[i], events.list[i + 1]);
      if (!ms)
        return ms.status();
      times[i].microseconds = *ms * 1000;
    }
  } else {
    GPUC_RETURN_IF_ERROR(device.synchronize(stream));
    for (size_t i = 0; i < steps.size(); ++i) {
      auto start = std::chrono::steady_clock::now();
      GPUC_RETURN_IF_ERROR(steps.submit(i, device, stream));
      GPUC_RETURN_IF_ERROR(device.synchronize(stream));
      std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - start;
      times[i].microseconds = passed.count();
    }
  }
  replayed = false;
  GPUC_RETURN_IF_ERROR(end(outputs, stream));
  return times;
}

std::vector<StepTime> ContextImpl::stepNames() const {
  std::vector<StepTime> names;
  for (const PlanStep &step : loaded->program().runSteps)
    names.push_back(
        {stepName(loaded->program(), step), std::visit([](auto &s) { return s.label; }, step), 0});
  return names;
}

namespace {
/// Times bursts of replays on a stream.
class GraphTimer {
public:
  GraphTimer(Device &device, StreamHandle stream) : device(device), stream(stream) {}
  ~GraphTimer() {
    for (EventHandle e : events)
      device.destroyEvent(e);
  }
  Status initialise() {
    while (events.size() < 2) {
      auto event = device.createEvent();
      if (!event)
        return event.status();
      events.push_back(*event);
    }
    return {};
  }
  /// Microseconds of a replay, the mean of a burst.
  Result<double> burst(Graph &graph, int replays) {
    GPUC_RETURN_IF_ERROR(device.recordEvent(events[0], stream));
    for (int i = 0; i < replays; ++i)
      GPUC_RETURN_IF_ERROR(graph.launch(stream));
    GPUC_RETURN_IF_ERROR(device.recordEvent(events[1], stream));
    GPUC_RETURN_IF_ERROR(device.synchronize(stream));
    auto ms = device.elapsedMs(events[0], events[1]);
    if (!ms)
      return ms.status();
    return *ms * 1000 / replays;
  }

private:
  Device &device;
  StreamHandle stream;
  std::vector<EventHandle> events;
};
} // namespace

Result<std::vector<StepTime>> ContextImpl::profileInGraph(const std::vector<TensorBinding> &inputs,
                                                          const std::vector<TensorBinding> &outputs,
                                                          StreamHandle stream) {
  constexpr int kBursts = 5;            // of each graph; the median counts
  constexpr double kBurstMicros = 2000; // long against what an event costs
  Device &device = loaded->device();
  GPUC_RETURN_IF_ERROR(begin(inputs, outputs, stream));
  GraphTimer timer(device, stream);
  GPUC_RETURN_IF_ERROR(timer.initialise());
  auto whole = capture([&](StreamHandle s) { return steps.submitAll(device, s); });
  if (!whole)
    return whole.status();
  auto once = timer.burst(**whole, 10);
  if (!once)
    return once.status();
  int replays = std::max(1, int(kBurstMicros / std::max(*once, 1.0)));
  std::vector<StepTime> times = stepNames();
  for (size_t left = 0; left < steps.size(); ++left) {
    auto without = capture([&](StreamHandle s) -> Status {
      for (size_t i = 0; i < steps.size(); ++i)
        if (i != left)
          GPUC_RETURN_IF_ERROR(steps.submit(i, device, s));
      return {};
    });
    if (!without)
      return without.status();
    std::vector<double> differences;
    for (int i = 0; i < kBursts; ++i) {
      auto with = timer.burst(**whole, replays), less = timer.burst(**without, replays);
      if (!with || !less)
        return with ? less.status() : with.status();
      differences.push_back(*with - *less);
    }
    std::nth_element(differences.begin(), differences.begin() + kBursts / 2, differences.end());
    times[left].microseconds = differences[kBursts / 2];
  }
  return times;
}

Result<std::vector<HostTensor>> ContextImpl::run(const std::vector<HostTensor> &inputs) {
  const Plan &plan = loaded->plan();
  if (inputs.size() != plan.inputs.size())
    return invalidArgument("got " + std::to_string(inputs.size()) + " inputs, expected " +
                           std::to_string(plan.inputs.size()));
  std::vector<TensorBinding> in, out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const PlanTensor &t = plan.inputs[i];
    if (inputs[i].dtype() != t.dtype || inputs[i].shape() != t.shape)
      return invalidArgument("input '" + t.name + "' is " + std::string(name(inputs[i].dtype())) + " " +
                             toString(inputs[i].shape()) + ", expected " + std::string(name(t.dtype)) + " " +
                             toString(t.shape));
    in.push_back(TensorBinding::onHost(inputs[i].bytes(), uint64_t(inputs[i].sizeInBytes())));
  }
  std::vector<HostTensor> results;
  for (const PlanTensor &t : plan.outputs) {
    results.emplace_back(t.dtype, t.shape);
    out.push_back(TensorBinding::onHost(results.back().mutableBytes(), uint64_t(t.sizeInBytes())));
  }
  GPUC_RETURN_IF_ERROR(run(in, out, nullptr));
  return results;
}

Result<std::unique_ptr<Context>> Context::create(std::shared_ptr<LoadedPlan> loaded,
                                                 const ContextOptions &options) {
  auto impl = std::dynamic_pointer_cast<LoadedPlanImpl>(std::move(loaded));
  if (!impl)
    return invalidArgument("a context needs a loaded plan");
  auto context = std::make_unique<ContextImpl>(std::move(impl), options);
  GPUC_RETURN_IF_ERROR(context->initialise());
  return std::unique_ptr<Context>(std::move(context));
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernel programs → plan programs: where every value lies, which launches run, what is packed at load.
#include "gpuc/Codegen/PlanBuilder.h"
#include "KernelCost.h"
#include "LibraryProducts.h"
#include "emit/RowState.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Storage.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Passes/Memory.h"
#include "gpuc/Passes/RowState.h"
#include "gpuc/Support/Hash.h"
#include "kernels/matmul/Matmul.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace mlir;

namespace gpuc {

namespace {

uint64_t align(uint64_t bytes) { return (bytes + kPlanAlignment - 1) / kPlanAlignment * kPlanAlignment; }

void collectNames(Location location, llvm::SetVector<StringRef> &names) {
  if (auto name = dyn_cast<NameLoc>(location))
    names.insert(name.getName().getValue());
  else if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location inner : fused.getLocations())
      collectNames(inner, names);
  else if (auto call = dyn_cast<CallSiteLoc>(location))
    collectNames(call.getCallee(), names);
}

} // namespace

std::string onnxNodes(Location location) {
  llvm::SetVector<StringRef> names;
  collectNames(location, names);
  return llvm::join(names, ", ");
}

bool libraryCompetes(KernelOp kernel, const Target &target) {
  if (kernel.getFamily() != "matmul")
    return false;
  auto library = libraryMatmul(kernel);
  return library && libraryCompetes(library->problem, target);
}

bool prefersLibrary(KernelOp kernel, const Target &target) {
  if (kernel.getFamily() != "matmul")
    return false;
  auto library = libraryMatmul(kernel);
  return library && prefersLibrary(library->problem, target) && !hasWarpgroupBody(kernel, target);
}

bool hasChoice(KernelOp kernel, const Target &target, bool allowLibrary) {
  const KernelFamily *family = findFamily(kernel.getFamily());
  return (family && family->candidates(kernel, target, 2).size() > 1) ||
         (allowLibrary && libraryCompetes(kernel, target));
}

/// More configurations than any family has.
constexpr unsigned kAllCandidates = 1024;

/// Takes the tuned choice; false when there is none that this build of the family still knows.
static bool applyTuned(KernelOp kernel, const KernelFamily &family, const Target &target, bool allowLibrary,
                       const TuningSources &tuning) {
  const TuningEntry *entry = tuning.find(tuningKey(kernel, target));
  if (!entry)
    return false;
  Builder builder(kernel.getContext());
  if (entry->library) {
    if (!allowLibrary || !libraryCompetes(kernel, target))
      return false;
    kernel->setAttr(kLibraryAttr, builder.getBoolAttr(true));
    return true;
  }
  for (DictionaryAttr candidate : family.candidates(kernel, target, kAllCandidates))
    if (toText(candidate) == entry->config) {
      kernel.setConfigAttr(candidate);
      kernel->setAttr(kLibraryAttr, builder.getBoolAttr(false));
      return true;
    }
  return false;
}

LogicalResult selectVariants(func::FuncOp function, const Target &target, bool allowLibrary,
                             const TuningSources &tuning) {
  if (allowLibrary)
    splitProductsForLibrary(function, target);
  std::set<std::string> missing;
  for (auto kernel : function.getOps<KernelOp>()) {
    const KernelFamily *family = findFamily(kernel.getFamily());
    if (!family)
      return kernel.emitError() << "no kernel family is named '" << kernel.getFamily() << "'";
    if (!tuning.databases.empty() && applyTuned(kernel, *family, target, allowLibrary, tuning))
      continue;
    if (tuning.strict && hasChoice(kernel, target, allowLibrary)) {
      std::string problem = tuningKey(kernel, target).problem;
      if (missing.insert(problem).second)
        kernel.emitError() << "no tuning database knows " << describeProblem(kernel) << " (problem "
                           << problem << " of " << kernel.getFamily() << " on " << target.arch
                           << "); run gpuc tune on the model, or leave --strict-tuning out";
      continue;
    }
    if (failed(family->select(kernel, target)))
      return failure();
  }
  return success(missing.empty());
}

bool markRowState(func::FuncOp function, const Target &target) {
  bool any = false;
  for (auto kernel : function.getOps<KernelOp>()) {
    const KernelFamily *family = findFamily(kernel.getFamily());
    if (!family || kernel.getFamily() != "matmul" || failed(family->select(kernel, target)))
      continue;
    if (int64_t columns = family->momentColumns(kernel, target)) {
      kernel->setAttr(kRowStateAttr, Builder(kernel.getContext()).getI64IntegerAttr(columns));
      any = true;
    }
    kernel.removeConfigAttr();
  }
  return any;
}

bool selectsRowState(func::FuncOp function, const Target &target) {
  ScopedDiagnosticHandler quiet(function.getContext(), [](Diagnostic &) { return success(); });
  return llvm::all_of(function.getOps<KernelOp>(), [&](KernelOp kernel) {
    if (!hasRowState(kernel))
      return true;
    const KernelFamily *family = findFamily(kernel.getFamily());
    bool selected = family && succeeded(family->select(kernel, target));
    kernel.removeConfigAttr();
    return selected;
  });
}

PlanBuilder::PlanBuilder(Plan &plan, std::shared_ptr<const void> owner, PlanBuilderOptions options)
    : plan(plan), owner(std::move(owner)), options(options) {
  for (SourceFile &file : kernelHeaders())
    plan.headers.push_back({std::move(file.path), std::move(file.text)});
}

LogicalResult PlanBuilder::setSignature(func::FuncOp function) {
  auto tensor = [&](Type type, DictionaryAttr attributes, llvm::StringRef fallback) {
    PlanTensor t;
    auto ranked = cast<RankedTensorType>(type);
    auto name = attributes ? attributes.getAs<StringAttr>("gpuc.name") : StringAttr();
    t.name = name ? name.str() : fallback.str();
    t.dtype = *toDType(ranked.getElementType());
    t.shape.assign(ranked.getShape().begin(), ranked.getShape().end());
    if (auto value = attributes ? attributes.getAs<ElementsAttr>("gpuc.value") : ElementsAttr()) {
      ConstantBytes bytes = constantBytes(value);
      t.specialisedTo = SharedBytes::copyOf(bytes.bytes.data(), bytes.bytes.size());
    }
    return t;
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    plan.inputs.push_back(
        tensor(function.getArgumentTypes()[i], function.getArgAttrDict(i), "input" + std::to_string(i)));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    plan.outputs.push_back(
        tensor(function.getResultTypes()[i], function.getResultAttrDict(i), "output" + std::to_string(i)));
  return success();
}

uint32_t PlanBuilder::constantIndex(ElementsAttr value, Location location) {
  auto known = constants.find(value);
  if (known != constants.end())
    return known->second;
  ConstantBytes bytes = constantBytes(value);
  std::shared_ptr<const void> keeper = bytes.keepAlive ? std::shared_ptr<const void>(bytes.keepAlive) : owner;
  // Equal bytes are stored once: targets have their own copies of folded constants. Gigabytes are not hashed
  // for that, only compared with what has the same size and the same first bytes.
  std::string_view start(bytes.bytes.data(), std::min<size_t>(bytes.bytes.size(), 4096));
  auto &alike = constantsByStart[{bytes.bytes.size(), toHex(sha256(start.data(), start.size()))}];
  SharedBytes data(bytes.bytes.data(), bytes.bytes.size(), keeper);
  for (uint32_t index : alike)
    if (plan.constants[index].data.equals(data))
      return constants[value] = index;
  alike.push_back(uint32_t(plan.constants.size()));
  plan.constants.push_back({onnxNodes(location), std::move(data)});
  return constants[value] = alike.back();
}

/// The text without its banner comment, which names ONNX nodes: equal code under different nodes is one unit.
static std::string withoutBanner(const std::string &text) {
  size_t at = 0;
  while (text.compare(at, 2, "//") == 0) {
    size_t end = text.find('\n', at);
    if (end == std::string::npos)
      return "";
    at = end + 1;
  }
  return text.substr(at);
}

uint32_t PlanBuilder::unitIndex(llvm::StringRef family, const std::string &text, std::string &entry) {
  std::string code = withoutBanner(text);
  entry = (family + "_" + toHex(sha256(code.data(), code.size())).substr(0, 16)).str();
  auto [at, isNew] = unitsByEntry.try_emplace(entry, uint32_t(plan.units.size()));
  if (isNew) {
    static constexpr llvm::StringLiteral kPlaceholder = "GPUC_ENTRY";
    std::string named;
    size_t from = 0;
    for (size_t p; (p = text.find(kPlaceholder.data(), from)) != std::string::npos;
         from = p + kPlaceholder.size())
      named += text.substr(from, p - from) + entry;
    named += text.substr(from);
    plan.units.push_back({entry + ".cu", std::move(named)});
  }
  return at->second;
}

/// Workspace given to the library, as NVIDIA recommends for Hopper and for older architectures.
constexpr uint64_t kWorkspaceHopper = 32u << 20, kWorkspaceOlder = 4u << 20;

/// One target's program while it is built.
struct PlanBuilder::Program {
  PlanBuilder &builder;
  func::FuncOp function;
  PlanProgram program;
  llvm::DenseMap<Value, unsigned> outputOf; ///< returned kernel results and the output that holds them
  std::map<std::string, uint32_t> kernelByEntry;
  std::map<std::pair<uint32_t, std::string>, uint64_t> packed; ///< (constant, key) → offset in packed memory
  uint64_t scratchBytes = 0;
  std::vector<std::pair<size_t, size_t>> scratchArgs; ///< (step, arg) to be placed behind the arena
  std::vector<size_t> workspaceSteps;                 ///< library products, likewise

  Program(PlanBuilder &builder, func::FuncOp function) : builder(builder), function(function) {}

  static Value stripAliases(Value v) {
    while (auto reshape = v.getDefiningOp<ReshapeOp>())
      v = reshape.getX();
    return v;
  }

  FailureOr<BufferRef> locate(Value value) {
    value = stripAliases(value);
    if (auto argument = dyn_cast<BlockArgument>(value))
      return BufferRef{MemorySpace::Input, argument.getArgNumber(), 0};
    if (ElementsAttr constant = getConstant(value))
      return BufferRef{MemorySpace::Constant, builder.constantIndex(constant, value.getLoc()), 0};
    if (auto concat = value.getDefiningOp<ConcatOp>())
      return locate(concat.getInputs()[0]); // part 0 starts the shared storage
    auto kernel = value.getDefiningOp<KernelOp>();
    if (!kernel)
      return emitError(value.getLoc(), "a value of the program is neither stored nor constant");
    int64_t offset = (*kernel.getOffsets())[cast<OpResult>(value).getResultNumber()];
    if (offset != kReturnedOffset)
      return BufferRef{MemorySpace::Arena, 0, uint64_t(offset)};
    auto output = outputOf.find(value);
    if (output == outputOf.end())
      return emitError(value.getLoc(), "a kernel's result has no place in the arena and is not returned");
    return BufferRef{MemorySpace::Output, output->second, 0};
  }

  uint32_t kernelIndex(llvm::StringRef family, const std::string &text) {
    std::string entry;
    uint32_t unit = builder.unitIndex(family, text, entry);
    auto [at, isNew] = kernelByEntry.try_emplace(entry, uint32_t(program.kernels.size()));
    if (isNew)
      program.kernels.push_back({unit, entry});
    return at->second;
  }

  static LaunchStep launchOf(const EmittedKernel &emitted, uint32_t kernel, std::string label) {
    LaunchStep step;
    step.kernel = kernel;
    step.grid = {emitted.grid.x, emitted.grid.y, emitted.grid.z};
    step.block = {emitted.block.x, emitted.block.y, emitted.block.z};
    step.sharedBytes = emitted.sharedBytes;
    step.cluster = emitted.cluster;
    step.programmaticDependent = emitted.programmaticDependent;
    step.label = std::move(label);
    return step;
  }

  /// Memory of a packed weight; adds its load step the first time.
  FailureOr<uint64_t> packedOffset(KernelOp kernel, const PackingKernel &packing, const std::string &label) {
    uint32_t constant = 0;
    for (const EmittedArg &arg : packing.kernel.args)
      if (arg.kind == EmittedArg::Kind::Operand) {
        auto where = locate(kernel.getInputs()[arg.index]);
        if (failed(where))
          return failure();
        if (where->space != MemorySpace::Constant)
          return kernel.emitError("only constants can be packed at load");
        constant = where->index;
      }
    auto [at, isNew] = packed.try_emplace({constant, packing.key}, program.packedBytes);
    if (!isNew)
      return at->second;
    uint64_t offset = program.packedBytes;
    program.packedBytes += align(packing.bytes);
    LaunchStep step = launchOf(packing.kernel, kernelIndex(kernel.getFamily(), packing.kernel.text), label);
    step.programmaticDependent = false;
    for (const EmittedArg &arg : packing.kernel.args) {
      if (arg.map)
        return kernel.emitError("a packing kernel takes no tensor maps");
      switch (arg.kind) {
      case EmittedArg::Kind::Operand:
        step.args.push_back(BufferRef{MemorySpace::Constant, constant, 0});
        break;
      case EmittedArg::Kind::Packed:
        step.args.push_back(BufferRef{MemorySpace::Packed, 0, offset});
        break;
      default:
        if (auto scalar = scalarArg(arg))
          step.args.push_back(*scalar);
        else
          return kernel.emitError("a packing kernel takes a constant, its result and numbers only");
      }
    }
    program.loadSteps.push_back(std::move(step));
    return offset;
  }

  static std::optional<KernelArg> scalarArg(const EmittedArg &arg) {
    switch (arg.kind) {
    case EmittedArg::Kind::I32:
      return KernelArg(int32_t(arg.integer));
    case EmittedArg::Kind::I64:
      return KernelArg(int64_t(arg.integer));
    case EmittedArg::Kind::F32:
      return KernelArg(float(arg.real));
    case EmittedArg::Kind::F64:
      return KernelArg(double(arg.real));
    default:
      return std::nullopt;
    }
  }

  /// The kernel as a library product, when it is one and the cost model prefers it.
  FailureOr<bool> tryLibrary(KernelOp kernel, const Target &target) {
    if (!builder.options.allowLibrary || kernel.getFamily() != "matmul")
      return false;
    auto library = libraryMatmul(kernel);
    auto tuned = kernel->getAttrOfType<BoolAttr>(kLibraryAttr);
    if (!library || !(tuned ? tuned.getValue() : gpuc::prefersLibrary(kernel, target)))
      return false;
    MatmulStep step;
    step.problem = library->problem;
    step.label = onnxNodes(kernel.getLoc());
    step.cost = costOf(kernel);
    auto operand = [&](unsigned index, int64_t elements) -> FailureOr<BufferRef> {
      auto where = locate(kernel.getInputs()[index]);
      if (succeeded(where))
        where->offset += uint64_t(elements * bitWidth(dtypeOf(kernel.getInputs()[index])) / 8);
      return where;
    };
    auto a = operand(library->a, library->offsetA), b = operand(library->b, library->offsetB),
         d = locate(kernel.getResult(0));
    if (failed(a) || failed(b) || failed(d))
      return failure();
    step.a = *a;
    step.b = *b;
    step.d = *d;
    for (auto [index, ref] : {std::pair(library->c, &step.c), std::pair(library->bias, &step.bias)})
      if (index) {
        auto where = locate(kernel.getInputs()[*index]);
        if (failed(where))
          return failure();
        *ref = *where;
      }
    step.workspaceBytes = target.hasWgmma ? kWorkspaceHopper : kWorkspaceOlder;
    step.workspace = {MemorySpace::Arena, 0, 0};
    workspaceSteps.push_back(program.runSteps.size());
    scratchBytes = std::max(scratchBytes, step.workspaceBytes);
    program.runSteps.push_back(std::move(step));
    return true;
  }

  /// The buffer of an argument that is no immediate; a scratch buffer's offset counts from the end of the
  /// arena.
  FailureOr<BufferRef> bufferOf(KernelOp kernel, const EmittedArg &arg,
                                const std::vector<uint64_t> &packedOffsets,
                                const std::map<unsigned, uint64_t> &scratchOffsets) {
    switch (arg.kind) {
    case EmittedArg::Kind::Packed:
      return BufferRef{MemorySpace::Packed, 0, packedOffsets.at(arg.index)};
    case EmittedArg::Kind::Scratch:
      return BufferRef{MemorySpace::Arena, 0, scratchOffsets.at(arg.index)};
    case EmittedArg::Kind::Operand:
      return locate(kernel.getInputs()[arg.index]);
    default:
      return locate(kernel.getResult(arg.index));
    }
  }

  LogicalResult addKernel(KernelOp kernel, const Target &target) {
    auto taken = tryLibrary(kernel, target);
    if (failed(taken) || *taken)
      return success(succeeded(taken));
    auto emitted = findFamily(kernel.getFamily())->emit(kernel, target);
    if (failed(emitted))
      return failure();
    std::string label = onnxNodes(kernel.getLoc());
    // Workspaces of the launches of one kernel op with the same index are one workspace.
    std::map<unsigned, uint64_t> scratchSizes, scratchOffsets;
    for (const EmittedKernel &launch : *emitted)
      for (const EmittedArg &arg : launch.args)
        if (arg.kind == EmittedArg::Kind::Scratch)
          scratchSizes[arg.index] = std::max(scratchSizes[arg.index], align(uint64_t(arg.bytes)));
    uint64_t scratchEnd = 0;
    for (auto [index, bytes] : scratchSizes) {
      scratchOffsets[index] = scratchEnd;
      scratchEnd += bytes;
    }
    StepCost cost = costOf(kernel);
    for (const EmittedKernel &launch : *emitted) {
      std::vector<uint64_t> packedOffsets;
      for (const PackingKernel &packing : launch.packing) {
        auto offset = packedOffset(kernel, packing, label);
        if (failed(offset))
          return failure();
        packedOffsets.push_back(*offset);
      }
      LaunchStep step = launchOf(launch, kernelIndex(kernel.getFamily(), launch.text), label);
      step.cost = std::exchange(cost, StepCost());
      for (const EmittedArg &arg : launch.args) {
        if (auto scalar = scalarArg(arg)) {
          step.args.push_back(*scalar);
          continue;
        }
        auto buffer = bufferOf(kernel, arg, packedOffsets, scratchOffsets);
        if (failed(buffer))
          return failure();
        if (arg.kind == EmittedArg::Kind::Scratch)
          scratchArgs.push_back({program.runSteps.size(), step.args.size()});
        if (arg.map)
          step.args.push_back(TensorMapArg{*buffer, *arg.map});
        else
          step.args.push_back(*buffer);
      }
      program.runSteps.push_back(std::move(step));
    }
    scratchBytes = std::max(scratchBytes, scratchEnd);
    return success();
  }

  LogicalResult build(const Target &target) {
    auto results = function.getBody().front().getTerminator()->getOperands();
    for (auto [i, value] : llvm::enumerate(results))
      outputOf.try_emplace(stripAliases(value), unsigned(i));
    for (auto kernel : function.getOps<KernelOp>())
      if (failed(addKernel(kernel, target)))
        return failure();
    // Outputs that are inputs, constants or the same value as another output.
    for (auto [i, value] : llvm::enumerate(results)) {
      auto where = locate(value);
      if (failed(where))
        return failure();
      if (where->space == MemorySpace::Output && where->index == i)
        continue;
      CopyStep copy;
      copy.dst = {MemorySpace::Output, uint32_t(i), 0};
      copy.src = *where;
      copy.bytes = uint64_t(builder.plan.outputs[i].sizeInBytes());
      copy.label = builder.plan.outputs[i].name;
      if (copy.bytes > 0)
        program.runSteps.push_back(std::move(copy));
    }
    uint64_t arena = align(uint64_t(function->getAttrOfType<IntegerAttr>(kArenaBytesAttr).getInt()));
    for (auto [step, index] : scratchArgs) {
      KernelArg &arg = std::get<LaunchStep>(program.runSteps[step]).args[index];
      auto *map = std::get_if<TensorMapArg>(&arg);
      (map ? map->base : std::get<BufferRef>(arg)).offset += arena;
    }
    for (size_t step : workspaceSteps)
      std::get<MatmulStep>(program.runSteps[step]).workspace.offset += arena;
    program.arenaBytes = arena + scratchBytes;
    if (auto bound = function->getAttrOfType<IntegerAttr>(kArenaLowerBoundAttr))
      program.statistics.arenaLowerBound = uint64_t(bound.getInt());
    for (const PlanStep &step : program.runSteps) {
      StepCost cost = costOf(step);
      program.statistics.flops += cost.flops;
      program.statistics.bytesMoved += cost.bytes;
    }
    return success();
  }
};

LogicalResult PlanBuilder::addProgram(func::FuncOp function, const Target &target,
                                      std::vector<std::string> archs) {
  Program program(*this, function);
  if (failed(program.build(target)))
    return failure();
  program.program.archs = std::move(archs);
  plan.programs.push_back(std::move(program.program));
  return success();
}

} // namespace gpuc

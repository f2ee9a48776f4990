// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Takes layer norms and RMS norms apart and fuses the halves into the products around them (docs/adr/0006).
#include "FoldedWeights.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/OpClasses.h"
#include "gpuc/IR/Storage.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Passes/Passes.h"
#include "gpuc/Passes/RowState.h"
#include "gpuc/Reference/Ops.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_FOLDNORMALIZATION
#include "gpuc/Passes/Passes.h.inc"

namespace {

/// A normalisation over the last axis with constant parameters, alone in its kernel.
struct Norm {
  KernelOp kernel;
  Value x; ///< what is normalised: an operand of the kernel
  Value scale, bias;
  double epsilon = 0;
  bool centered = true;
  int64_t extent = 0;
};

bool isNarrowFloat(Type element) { return element.isF16() || element.isBF16(); }

/// Columns of a pair of the moments that the kernel can yield; 0 when it takes no part.
int64_t momentColumns(KernelOp kernel) {
  auto columns = kernel ? kernel->getAttrOfType<IntegerAttr>(kRowStateAttr) : IntegerAttr();
  return columns && isa_and_nonnull<MatmulOp>(kernel.getRoot()) ? columns.getInt() : 0;
}

/// The kernel's operand behind a block argument of its region; null for other values.
Value operandOf(KernelOp kernel, Value inside) {
  auto argument = dyn_cast_or_null<BlockArgument>(inside);
  return argument ? kernel.getInputs()[argument.getArgNumber()] : Value();
}

std::optional<Norm> matchNorm(KernelOp kernel) {
  if (kernel.getFamily() != "normalization" || kernel.getNumResults() != 1)
    return std::nullopt;
  Operation *root = kernel.getRoot();
  Block &body = kernel.getBody().front();
  if (!isa_and_nonnull<LayerNormOp, RmsNormOp>(root) || body.getOperations().size() != 2 ||
      kernel.getYield()->getOperand(0) != root->getResult(0))
    return std::nullopt;
  Norm norm;
  norm.kernel = kernel;
  int64_t axis = 0;
  if (auto layer = dyn_cast<LayerNormOp>(root)) {
    norm.x = operandOf(kernel, layer.getX());
    norm.scale = layer.getScale() ? operandOf(kernel, layer.getScale()) : Value();
    norm.bias = layer.getBias() ? operandOf(kernel, layer.getBias()) : Value();
    norm.epsilon = layer.getEpsilon().convertToDouble();
    axis = layer.getAxis();
  } else {
    auto rms = cast<RmsNormOp>(root);
    norm.x = operandOf(kernel, rms.getX());
    norm.scale = rms.getScale() ? operandOf(kernel, rms.getScale()) : Value();
    norm.epsilon = rms.getEpsilon().convertToDouble();
    norm.centered = false;
    axis = rms.getAxis();
  }
  auto shape = shapeOf(kernel.getResult(0));
  norm.extent = shape.back();
  auto constantRow = [&](Value v) {
    return !v || (getConstant(v) && tensorType(v).getNumElements() == norm.extent);
  };
  if (!norm.x || axis + 1 != int64_t(shape.size()) || !isNarrowFloat(elementTypeOf(norm.x)) ||
      !constantRow(norm.scale) || !constantRow(norm.bias))
    return std::nullopt;
  return norm;
}

/// `value` has the rows and columns of `root`, element for element, and comes from it by pointwise ops and
/// reshapes.
bool followsRows(Value value, Value root) {
  if (value == root)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !(isPointwiseOp(op) || isa<ReshapeOp>(op)) || shapeOf(value).back() != shapeOf(root).back() ||
      tensorType(value).getNumElements() != tensorType(root).getNumElements())
    return false;
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    return tensorType(operand).getNumElements() == tensorType(root).getNumElements() &&
           !isa<BlockArgument>(operand) && followsRows(operand, root);
  });
}

/// How a product reads the norm: as its first factor, in its epilogue, or both.
struct Reading {
  KernelOp kernel;
  MatmulOp root;
  BlockArgument argument;
  bool factor = false;
  SmallVector<OpOperand *> epilogue; ///< uses of the argument (or of reshapes of it) by pointwise ops
  Value weights;                     ///< constant [K, N]; with `factor`
};

std::optional<Reading> matchReading(OpOperand &use, const Norm &norm) {
  auto kernel = dyn_cast<KernelOp>(use.getOwner());
  if (!momentColumns(kernel))
    return std::nullopt;
  Reading reading;
  reading.kernel = kernel;
  reading.root = cast<MatmulOp>(kernel.getRoot());
  reading.argument = kernel.getBody().front().getArgument(use.getOperandNumber());
  auto shape = shapeOf(reading.root.getZ());
  int64_t rows = tensorType(norm.x).getNumElements() / norm.extent;
  SmallVector<Value> work{reading.argument};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    for (OpOperand &inner : value.getUses()) {
      Operation *user = inner.getOwner();
      if (isa<ReshapeOp>(user) && shapeOf(user->getResult(0)).back() == norm.extent) {
        work.push_back(user->getResult(0));
      } else if (user == reading.root && inner.getOperandNumber() == 0) {
        reading.weights = operandOf(kernel, reading.root.getY());
        if (!reading.weights || !getConstant(reading.weights) || shapeOf(reading.weights).size() != 2 ||
            tensorType(reading.root.getZ()).getNumElements() != rows * shape.back())
          return std::nullopt;
        reading.factor = true;
      } else if (isPointwiseOp(user) && shapeOf(user->getResult(0)) == shapeOf(value) &&
                 followsRows(user->getResult(0), reading.root.getZ()) && shape.back() == norm.extent) {
        reading.epilogue.push_back(&inner);
      } else {
        return std::nullopt;
      }
    }
  }
  // Weights that something else in the region reads stay as they are.
  if (reading.factor && !reading.root.getY().hasOneUse())
    return std::nullopt;
  return reading;
}

HostTensor toFloat(Value constant) {
  return *reference::cast(toHostTensor(getConstant(constant)), DType::F32);
}

/// Builds inside a region, in f32.
struct RegionBuilder {
  OpBuilder builder;
  Location loc;
  Value binary(BinaryKind kind, Value x, Value y) {
    return BinaryOp::create(builder, loc, kind, x, y).getZ();
  }
  Value cast(Value v, Type element) {
    if (elementTypeOf(v) == element)
      return v;
    return CastOp::create(builder, loc, RankedTensorType::get(shapeOf(v), element), v).getY();
  }
  Value f32(Value v) { return cast(v, builder.getF32Type()); }
  Value reshape(Value v, ArrayRef<int64_t> shape) {
    if (shapeOf(v) == shape)
      return v;
    return ReshapeOp::create(builder, loc, RankedTensorType::get(shape, elementTypeOf(v)), v).getY();
  }
};

/// One operand more for a kernel; its block argument.
BlockArgument addOperand(KernelOp kernel, Value operand) {
  kernel.getInputsMutable().append(operand);
  return kernel.getBody().front().addArgument(operand.getType(), kernel.getLoc());
}

/// Ops of a region that depend on the root's result, in order.
SmallVector<Operation *> epilogueOf(KernelOp kernel, Operation *root) {
  llvm::SmallPtrSet<Operation *, 16> dependent{root};
  SmallVector<Operation *> ops;
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (llvm::any_of(op.getOperands(), [&](Value v) { return dependent.contains(v.getDefiningOp()); })) {
      dependent.insert(&op);
      ops.push_back(&op);
    }
  return ops;
}

/// Recomputes the epilogue in f32 from the values in `mapping` on, with `applied` for the uses that it knows;
/// what the region yields is cast back. Functions keep their type: in 16 bits they cost half as much, and
/// they are where the unfolded epilogue has rounded already.
void widenEpilogue(KernelOp kernel, ArrayRef<Operation *> epilogue, IRMapping &mapping,
                   llvm::function_ref<Value(OpOperand &)> applied, RegionBuilder &b) {
  for (Operation *op : epilogue) {
    b.builder.setInsertionPoint(op);
    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = applied(operand);
      if (!value)
        value = mapping.lookupOrDefault(operand.get());
      if (isa<UnaryOp>(op) && isNarrowFloat(elementTypeOf(operand.get())))
        value = b.cast(value, elementTypeOf(operand.get()));
      else if (isNarrowFloat(elementTypeOf(value)))
        value = b.f32(value);
      operands.push_back(value);
    }
    if (isa<CastOp>(op) && isNarrowFloat(elementTypeOf(op->getResult(0)))) {
      mapping.map(op->getResult(0), b.f32(operands[0]));
      continue;
    }
    Operation *clone = op->clone();
    clone->setOperands(operands);
    for (Value result : clone->getResults())
      if (isNarrowFloat(elementTypeOf(result)) && !isa<UnaryOp>(op))
        result.setType(RankedTensorType::get(shapeOf(result), b.builder.getF32Type()));
    b.builder.insert(clone);
    mapping.map(op->getResults(), clone->getResults());
  }
  b.builder.setInsertionPoint(kernel.getYield());
  for (OpOperand &yielded : kernel.getYield()->getOpOperands())
    if (Value mapped = mapping.lookupOrNull(yielded.get()))
      yielded.set(b.cast(mapped, elementTypeOf(yielded.get())));
  for (Operation *op : llvm::reverse(epilogue))
    op->erase();
}

/// The root's only use adds a constant row to it: that becomes part of `bias`, and the sum is the root's
/// result.
void absorbBias(KernelOp kernel, MatmulOp root, HostTensor &bias) {
  Value z = root.getZ();
  auto add = z.hasOneUse() ? dyn_cast<BinaryOp>(*z.getUsers().begin()) : BinaryOp();
  if (!add || add.getKind() != BinaryKind::Add || elementTypeOf(add.getZ()) != elementTypeOf(z) ||
      shapeOf(add.getZ()) != shapeOf(z))
    return;
  Value other = operandOf(kernel, add.getX() == z ? add.getY() : add.getX());
  auto shape = other ? shapeOf(other) : ArrayRef<int64_t>();
  if (shape.empty() || !getConstant(other) || shape.back() != bias.shape()[0] ||
      tensorType(other).getNumElements() != shape.back())
    return;
  bias = *reference::binary(BinaryKind::Add, bias, toFloat(other).reshaped({shape.back()}));
  add.getZ().replaceAllUsesWith(z);
  add.erase();
}

void rewrite(Reading &reading, Norm norm, Value moments) {
  KernelOp kernel = reading.kernel;
  MatmulOp root = reading.root;
  std::optional<FoldedWeights> folded;
  if (reading.factor) {
    HostTensor scale, bias;
    if (norm.scale)
      scale = toFloat(norm.scale);
    if (norm.bias)
      bias = toFloat(norm.bias);
    folded = foldWeights(toFloat(reading.weights), dtypeOf(reading.weights), norm.scale ? &scale : nullptr,
                         norm.bias ? &bias : nullptr, norm.centered);
    absorbBias(kernel, root, folded->bias);
  }
  SmallVector<Operation *> epilogue = epilogueOf(kernel, root);
  // The operand becomes the un-normalised tensor, of the same type.
  kernel.getInputsMutable()[reading.argument.getArgNumber()].set(norm.x);
  OpBuilder outside(kernel);
  auto constant = [&](const HostTensor &tensor) -> Value {
    return ConstantOp::create(outside, norm.kernel.getLoc(), toElementsAttr(tensor, kernel.getContext()))
        .getY();
  };
  RegionBuilder b{OpBuilder(kernel.getContext()), norm.kernel.getLoc()};
  b.builder.setInsertionPointAfter(root);
  auto statistics = RowStatisticsOp::create(b.builder, b.loc, addOperand(kernel, moments), norm.extent,
                                            APFloat(norm.epsilon), norm.centered);
  auto perRow = [&](Value v, ArrayRef<int64_t> shape) {
    SmallVector<int64_t> wanted(shape);
    wanted.back() = 1;
    return b.reshape(v, wanted);
  };
  Value z = root.getZ(), wide = b.f32(z);
  if (folded) {
    kernel.getInputsMutable()[cast<BlockArgument>(root.getY()).getArgNumber()].set(constant(folded->weights));
    wide = b.binary(BinaryKind::Mul, wide, perRow(statistics.getScale(), shapeOf(z)));
    if (llvm::any_of(llvm::ArrayRef(folded->bias.data<float>(), size_t(folded->bias.size())),
                     [](float v) { return v != 0; }))
      wide = b.binary(BinaryKind::Add, wide, addOperand(kernel, constant(folded->bias)));
  }
  auto parameter = [&](Value v) {
    return v && !reading.epilogue.empty() ? Value(addOperand(kernel, constant(toFloat(v)))) : Value();
  };
  Value scale = parameter(norm.scale), bias = parameter(norm.bias);
  auto applied = [&](OpOperand &use) -> Value {
    if (!llvm::is_contained(reading.epilogue, &use))
      return {};
    auto shape = shapeOf(use.get());
    Value y = b.f32(use.get());
    if (norm.centered)
      y = b.binary(BinaryKind::Sub, y, perRow(statistics.getMean(), shape));
    y = b.binary(BinaryKind::Mul, y, perRow(statistics.getScale(), shape));
    if (scale)
      y = b.binary(BinaryKind::Mul, y, scale);
    return bias ? b.binary(BinaryKind::Add, y, bias) : y;
  };
  IRMapping mapping;
  mapping.map(z, wide);
  widenEpilogue(kernel, epilogue, mapping, applied, b);
}

/// The moments of a result as a result of the same kernel; `value` and `kernel` are renewed.
Value yieldMoments(KernelOp &kernel, Value &value) {
  unsigned number = cast<OpResult>(value).getResultNumber();
  Value inside = kernel.getYield()->getOperand(number);
  if (auto rounding = inside.getDefiningOp<CastOp>(); rounding && elementTypeOf(rounding.getX()).isF32())
    inside = rounding.getX();
  OpBuilder builder(kernel.getYield());
  auto moments = RowMomentsOp::create(builder, kernel.getLoc(), inside, momentColumns(kernel));
  kernel.getYield()->insertOperands(kernel.getNumResults(), moments.getY());
  // Results are fixed when an op is made: a new kernel takes over the region.
  builder.setInsertionPoint(kernel);
  OperationState state(kernel.getLoc(), KernelOp::getOperationName());
  state.addOperands(kernel.getInputs());
  SmallVector<Type> types(kernel.getResultTypes());
  types.push_back(moments.getType());
  state.addTypes(types);
  SmallVector<SmallVector<int64_t>> strides;
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    strides.push_back(kernel.getStorageStrides(i));
  kernel.removeStorageAttr();
  state.addAttributes(kernel->getAttrs());
  state.addRegion()->takeBody(kernel.getBody());
  auto wider = cast<KernelOp>(builder.create(state));
  for (auto [i, list] : llvm::enumerate(strides))
    wider.setStorageStrides(i, list);
  kernel->replaceAllUsesWith(wider->getResults().drop_back());
  kernel.erase();
  kernel = wider;
  value = wider.getResult(number);
  return wider->getResults().back();
}

void fold(Norm norm) {
  auto producer = norm.x.getDefiningOp<KernelOp>();
  int64_t columns = momentColumns(producer);
  if (!columns || norm.extent % columns != 0 || !isRowMajor(norm.x) || !isRowMajor(norm.kernel.getResult(0)))
    return;
  Value inside = producer.getYield()->getOperand(cast<OpResult>(norm.x).getResultNumber());
  bool hasMoments = llvm::any_of(producer.getYield()->getOperands(),
                                 [](Value v) { return bool(v.getDefiningOp<RowMomentsOp>()); });
  if (hasMoments || !followsRows(inside, cast<MatmulOp>(producer.getRoot()).getZ()))
    return;
  std::vector<Reading> readings;
  for (OpOperand &use : norm.kernel.getResult(0).getUses()) {
    auto reading = matchReading(use, norm);
    if (!reading)
      return;
    readings.push_back(std::move(*reading));
  }
  if (readings.empty())
    return;
  Value moments = yieldMoments(producer, norm.x);
  for (Reading &reading : readings)
    rewrite(reading, norm, moments);
  remark::passed(norm.kernel.getLoc(), remark::RemarkOpts::name("NormFolded").category("fusion"))
      << "the normalisation became part of the products around it";
  norm.kernel.erase();
}

struct FoldNormalization : impl::FoldNormalizationBase<FoldNormalization> {
  void runOnOperation() override {
    SmallVector<KernelOp> kernels;
    for (auto kernel : getOperation().getOps<KernelOp>())
      if (kernel.getFamily() == "normalization")
        kernels.push_back(kernel);
    for (KernelOp kernel : kernels)
      if (auto norm = matchNorm(kernel))
        fold(*norm);
    for (auto kernel : getOperation().getOps<KernelOp>())
      kernel->removeAttr(kRowStateAttr);
  }
};

} // namespace
} // namespace gpuc

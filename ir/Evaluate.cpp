// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Core ops on host tensors: from attributes to the reference executor's parameters, regions and functions by
// walking them in order.
#include "gpuc/IR/Evaluate.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Ops.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Reference/Ops.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;

namespace gpuc {

using Tensors = std::vector<HostTensor>;

namespace {

/// Runs one op; each overload reads its operands by position.
struct Evaluator {
  ArrayRef<HostTensor> in;

  /// The tensor of an optional operand that is present, else null.
  const HostTensor *optional(Value operand, unsigned position) const {
    return operand ? &in[position] : nullptr;
  }

  // Pointwise
  Result<HostTensor> run(UnaryOp op) {
    return reference::unary(op.getKind(), in[0], op.getAlpha().convertToDouble(),
                            op.getBeta().convertToDouble());
  }
  Result<HostTensor> run(BinaryOp op) { return reference::binary(op.getKind(), in[0], in[1]); }
  Result<HostTensor> run(SelectOp op) { return reference::select(in[0], in[1], in[2]); }
  Result<HostTensor> run(CastOp op) {
    return reference::cast(in[0], dtypeOf(op.getY()), op.getSaturate(), op.getRound());
  }

  // Movement
  Result<HostTensor> run(TransposeOp op) { return reference::transpose(in[0], op.getPerm().vec()); }
  Result<HostTensor> run(ReshapeOp op) { return reference::reshape(in[0], shapeOf(op.getY()).vec()); }
  Result<HostTensor> run(ExpandOp op) { return reference::expand(in[0], shapeOf(op.getY()).vec()); }
  Result<HostTensor> run(SliceOp op) {
    return reference::slice(in[0], op.getStarts().vec(), op.getSteps().vec(), shapeOf(op.getY()).vec());
  }
  Result<HostTensor> run(ConcatOp op) { return reference::concat(in.vec(), op.getAxis()); }
  Result<HostTensor> run(PadOp op) {
    return reference::pad(in[0], op.getLow().vec(), op.getHigh().vec(), op.getMode(),
                          optional(op.getValue(), 1));
  }
  Result<HostTensor> run(TileOp op) { return reference::tile(in[0], op.getRepeats().vec()); }
  Result<HostTensor> run(TriluOp op) { return reference::trilu(in[0], op.getK(), op.getUpper()); }
  Result<HostTensor> run(ResizeOp op) {
    reference::ResizeParams params;
    params.mode = op.getMode();
    params.coordinates = op.getCoordinate();
    params.nearest = op.getNearest();
    params.outputShape = shapeOf(op.getY()).vec();
    params.scales = op.getScales().vec();
    params.roi = op.getRoi().vec();
    params.cubicCoeffA = op.getCubicCoeff().convertToDouble();
    params.excludeOutside = op.getExcludeOutside();
    params.extrapolationValue = op.getExtrapolation().convertToDouble();
    params.antialias = op.getAntialias();
    return reference::resize(in[0], params);
  }

  // Indexing
  Result<HostTensor> run(GatherOp op) { return reference::gather(in[0], in[1], op.getAxis()); }
  Result<HostTensor> run(GatherElementsOp op) {
    return reference::gatherElements(in[0], in[1], op.getAxis());
  }
  Result<HostTensor> run(GatherNdOp op) { return reference::gatherNd(in[0], in[1], op.getBatchDims()); }
  Result<HostTensor> run(ScatterNdOp op) {
    return reference::scatterNd(in[0], in[1], in[2], op.getReduction());
  }
  Result<HostTensor> run(ScatterElementsOp op) {
    return reference::scatterElements(in[0], in[1], in[2], op.getAxis(), op.getReduction());
  }

  // Reductions
  Result<HostTensor> run(ReduceOp op) {
    return reference::reduce(op.getKind(), in[0], op.getAxes().vec(), op.getKeepdims());
  }
  Result<HostTensor> run(ArgReduceOp op) {
    return reference::argReduce(op.getIsMax(), in[0], op.getAxis(), op.getKeepdims(), op.getSelectLast());
  }
  Result<HostTensor> run(CumSumOp op) {
    return reference::cumSum(in[0], op.getAxis(), op.getExclusive(), op.getReverse());
  }

  // Normalisation
  Result<HostTensor> run(SoftmaxOp op) {
    Result<HostTensor> y = reference::softmax(in[0], op.getAxis(), op.getLog());
    if (!y.ok() || !op.getZeroMasked() || in[0].size() == 0)
      return y;
    // Rows of -inf only become zeros.
    HostTensor infinity = *reference::cast(scalar(-std::numeric_limits<double>::infinity()), in[0].dtype());
    HostTensor zero = *reference::cast(scalar(0), in[0].dtype());
    Result<HostTensor> largest = reference::reduce(ReduceKind::Max, in[0], {int64_t(op.getAxis())}, true);
    if (!largest.ok())
      return largest.status();
    Result<HostTensor> masked = reference::binary(BinaryKind::Eq, *largest, infinity);
    if (!masked.ok())
      return masked.status();
    return reference::select(*masked, zero, *y);
  }
  Result<HostTensor> run(LayerNormOp op) {
    return reference::layerNorm(in[0], optional(op.getScale(), 1),
                                optional(op.getBias(), op.getScale() ? 2 : 1), op.getAxis(),
                                op.getEpsilon().convertToDouble());
  }
  Result<HostTensor> run(RmsNormOp op) {
    return reference::rmsNorm(in[0], optional(op.getScale(), 1), op.getAxis(),
                              op.getEpsilon().convertToDouble());
  }
  Result<HostTensor> run(GroupNormOp op) {
    return reference::groupNorm(in[0], optional(op.getScale(), 1),
                                optional(op.getBias(), op.getScale() ? 2 : 1), op.getGroups(),
                                op.getEpsilon().convertToDouble());
  }
  Result<HostTensor> run(RowMomentsOp op) { return reference::rowMoments(in[0], op.getColumns()); }
  Result<HostTensor> run(LrnOp op) {
    return reference::lrn(in[0], op.getSize(), op.getAlpha().convertToDouble(),
                          op.getBeta().convertToDouble(), op.getBias().convertToDouble());
  }

  // Contractions and pools
  Result<HostTensor> run(MatmulOp op) { return reference::matmul(in[0], in[1]); }
  Result<HostTensor> run(AttentionOp op) {
    reference::AttentionParams params;
    params.scale = op.getScale().convertToDouble();
    if (op.getCausal())
      params.causalOffset = op.getCausalOffset();
    params.softcap = op.getSoftcap().convertToDouble();
    params.zeroMaskedRows = op.getZeroMasked();
    return reference::attention(in[0], in[1], in[2], optional(op.getBias(), 3), params);
  }
  Result<HostTensor> run(SqueezeExciteOp op) {
    return reference::squeezeExcite(
        in[0], in[1], in[2], in[3], in[4],
        [act = UnaryKind(op.getAct())](const HostTensor &v) { return reference::unary(act, v); },
        [&](const HostTensor &v) {
          return reference::unary(op.getGate(), v, op.getAlpha().convertToDouble(),
                                  op.getBeta().convertToDouble());
        });
  }
  Result<HostTensor> run(ConvOp op) {
    reference::ConvParams params;
    params.strides = op.getStrides().vec();
    params.padLow = op.getLow().vec();
    params.padHigh = op.getHigh().vec();
    params.dilations = op.getDilations().vec();
    params.group = op.getGroup();
    return reference::conv(in[0], in[1], optional(op.getBias(), 2), params);
  }
  Result<HostTensor> run(ConvTransposeOp op) {
    reference::ConvParams params;
    params.strides = op.getStrides().vec();
    params.padLow = op.getLow().vec();
    params.padHigh.assign(op.getLow().size(), 0);
    params.dilations = op.getDilations().vec();
    params.group = op.getGroup();
    return reference::convTranspose(in[0], in[1], optional(op.getBias(), 2), params,
                                    shapeOf(op.getY()).drop_front(2).vec());
  }
  template <typename PoolOp> static reference::PoolParams poolParams(PoolOp op) {
    return {op.getKernel().vec(), op.getStrides().vec(), op.getLow().vec(), op.getHigh().vec(),
            op.getDilations().vec()};
  }
  Result<HostTensor> run(AvgPoolOp op) {
    return reference::avgPool(in[0], poolParams(op), shapeOf(op.getY()).drop_front(2).vec(),
                              op.getCountIncludePad());
  }

  // Several results
  Result<Tensors> runMany(MaxPoolOp op) {
    Shape spatial = shapeOf(op.getY()).drop_front(2).vec();
    Result<HostTensor> y = reference::maxPool(in[0], poolParams(op), spatial);
    if (!y.ok())
      return y.status();
    Tensors results = {*y};
    if (op.getIndices()) {
      Result<HostTensor> indices =
          reference::maxPoolIndices(in[0], poolParams(op), spatial, op.getColumnMajor());
      if (!indices.ok())
        return indices.status();
      results.push_back(*indices);
    }
    return results;
  }
  Result<Tensors> runMany(TopKOp op) {
    Result<reference::TopK> found = reference::topk(in[0], op.getK(), op.getAxis(), op.getLargest());
    if (!found.ok())
      return found.status();
    return Tensors{found->values, found->indices};
  }
  Result<Tensors> runMany(RowStatisticsOp op) {
    Result<reference::RowStatistics> found =
        reference::rowStatistics(in[0], op.getExtent(), op.getEpsilon().convertToDouble(), op.getCentered());
    if (!found.ok())
      return found.status();
    return Tensors{found->mean, found->scale};
  }

  static HostTensor scalar(double value) {
    HostTensor tensor(DType::F64, {});
    *tensor.mutableData<double>() = value;
    return tensor;
  }
};

/// Values of one block and how often each is still needed.
class Environment {
public:
  explicit Environment(llvm::function_ref<void(Value, const HostTensor &)> onValue = nullptr)
      : onValue(onValue) {}
  void define(Value v, HostTensor tensor) {
    int64_t uses = std::distance(v.use_begin(), v.use_end());
    if (uses > 0)
      values[v] = {std::move(tensor), uses};
  }
  /// The tensor of one use; the last use takes it out.
  HostTensor use(Value v) {
    auto found = values.find(v);
    assert(found != values.end() && "used before it is defined");
    if (--found->second.uses > 0)
      return found->second.tensor;
    HostTensor tensor = std::move(found->second.tensor);
    values.erase(found);
    return tensor;
  }
  /// All ops before the terminator; the terminator's operands are the results.
  Result<Tensors> run(Block &block) {
    for (Operation &op : block.without_terminator()) {
      Tensors operands = useAll(op);
      Result<Tensors> results = evaluate(&op, operands);
      if (!results.ok())
        return results.status();
      operands.clear();
      for (auto [value, tensor] : llvm::zip(op.getResults(), *results)) {
        if (onValue)
          onValue(value, tensor);
        define(value, std::move(tensor));
      }
    }
    return useAll(*block.getTerminator());
  }

private:
  Tensors useAll(Operation &op) {
    Tensors tensors;
    for (Value operand : op.getOperands())
      tensors.push_back(use(operand));
    return tensors;
  }
  struct Entry {
    HostTensor tensor;
    int64_t uses = 0;
  };
  llvm::DenseMap<Value, Entry> values;
  llvm::function_ref<void(Value, const HostTensor &)> onValue;
};

} // namespace

static std::string describe(DType dtype, const Shape &shape) {
  return std::string(name(dtype)) + " " + toString(shape);
}

/// Tensors have the types of the values they stand for.
static Status checkTypes(StringRef what, ValueRange values, ArrayRef<HostTensor> tensors, StatusCode code) {
  if (tensors.size() != values.size())
    return {code, "expected " + std::to_string(values.size()) + " " + what.str() + "s, got " +
                      std::to_string(tensors.size())};
  for (auto [i, value, tensor] : llvm::enumerate(values, tensors)) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    auto dtype = type && type.hasStaticShape() ? toDType(type.getElementType()) : std::nullopt;
    if (!dtype)
      return {code, what.str() + " " + std::to_string(i) + " has no type that gpuc evaluates"};
    if (tensor.dtype() != *dtype || ArrayRef<int64_t>(tensor.shape()) != type.getShape())
      return {code, what.str() + " " + std::to_string(i) + " has the wrong type: expected " +
                        describe(*dtype, type.getShape().vec()) + ", got " +
                        describe(tensor.dtype(), tensor.shape())};
  }
  return {};
}

static Result<Tensors> dispatch(Operation *op, ArrayRef<HostTensor> operands) {
  Evaluator evaluator{operands};
  return llvm::TypeSwitch<Operation *, Result<Tensors>>(op)
      .Case<UnaryOp, BinaryOp, SelectOp, CastOp, TransposeOp, ReshapeOp, ExpandOp, SliceOp, ConcatOp, PadOp,
            TileOp, TriluOp, ResizeOp, GatherOp, GatherElementsOp, GatherNdOp, ScatterNdOp, ScatterElementsOp,
            ReduceOp, ArgReduceOp, CumSumOp, SoftmaxOp, LayerNormOp, RmsNormOp, RowMomentsOp, GroupNormOp,
            LrnOp, MatmulOp, AttentionOp, SqueezeExciteOp, ConvOp, ConvTransposeOp, AvgPoolOp>(
          [&](auto concrete) -> Result<Tensors> {
            Result<HostTensor> y = evaluator.run(concrete);
            if (!y.ok())
              return y.status();
            return Tensors{y.take()};
          })
      .Case<MaxPoolOp, TopKOp, RowStatisticsOp>([&](auto concrete) { return evaluator.runMany(concrete); })
      .Case(
          [&](ConstantOp constant) -> Result<Tensors> { return Tensors{toHostTensor(constant.getValue())}; })
      .Case([&](KernelOp kernel) -> Result<Tensors> {
        Environment environment;
        Block &block = kernel.getBody().front();
        for (auto [argument, tensor] : llvm::zip(block.getArguments(), operands))
          environment.define(argument, tensor);
        return environment.run(block);
      })
      .Default([](Operation *other) -> Result<Tensors> {
        return unsupported("'" + other->getName().getStringRef().str() + "' can not be evaluated");
      });
}

Result<std::vector<HostTensor>> evaluate(Operation *op, ArrayRef<HostTensor> operands) {
  std::string prefix = op->getName().getStringRef().str() + ": ";
  if (Status status = checkTypes("operand", op->getOperands(), operands, StatusCode::InvalidArgument);
      !status.ok())
    return Status(status.code(), prefix + status.message());
  Result<Tensors> results = dispatch(op, operands);
  if (!results.ok())
    return Status(results.status().code(), prefix + results.status().message());
  if (Status status = checkTypes("result", op->getResults(), *results, StatusCode::Internal); !status.ok())
    return Status(status.code(), prefix + status.message());
  return results;
}

Result<std::vector<HostTensor>>
evaluateFunction(func::FuncOp function, ArrayRef<HostTensor> arguments,
                 llvm::function_ref<void(Value, const HostTensor &)> onValue) {
  if (function.isExternal() || !function.getBody().hasOneBlock())
    return unsupported("function '" + function.getName().str() + "' must have one block");
  Block &block = function.getBody().front();
  GPUC_RETURN_IF_ERROR(checkTypes("argument", block.getArguments(), arguments, StatusCode::InvalidArgument));
  Environment environment(onValue);
  for (auto [argument, tensor] : llvm::zip(block.getArguments(), arguments))
    environment.define(argument, tensor);
  return environment.run(block);
}

LogicalResult foldToConstants(Operation *op, int64_t maxBytes, SmallVectorImpl<Attribute> &results) {
  if (op->getNumOperands() == 0)
    return failure();
  int64_t bytes = 0;
  for (Type result : op->getResultTypes()) {
    auto type = dyn_cast<RankedTensorType>(result);
    auto dtype = type && type.hasStaticShape() ? toDType(type.getElementType()) : std::nullopt;
    if (!dtype)
      return failure();
    int64_t size = byteSize(*dtype, type.getNumElements());
    if (size > maxBytes - bytes)
      return failure();
    bytes += size;
  }
  for (Value operand : op->getOperands())
    if (!getConstant(operand))
      return failure();
  Tensors operands;
  for (Value operand : op->getOperands())
    operands.push_back(toHostTensor(getConstant(operand)));
  Result<Tensors> values = evaluate(op, operands);
  if (!values.ok())
    return failure();
  for (const HostTensor &value : *values)
    results.push_back(toElementsAttr(value, op->getContext()));
  return success();
}

} // namespace gpuc

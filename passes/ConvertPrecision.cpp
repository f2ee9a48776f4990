// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Whole-graph f16 or bf16, with f32 islands where 16 bits would overflow or lose the result.
#include "analysis/Match.h"
#include "gpuc/IR/OpClasses.h"
#include "gpuc/Passes/Passes.h"
#include "gpuc/Support/NarrowFloats.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_CONVERTPRECISION
#include "gpuc/Passes/Passes.h.inc"

namespace {

constexpr double kLargestHalf = 65504.0;

bool isF32(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  return type && type.getElementType().isF32();
}

struct ConvertPrecision : impl::ConvertPrecisionBase<ConvertPrecision> {
  using Base::Base;
  Type narrow;
  /// f32 values and what stands for them now: a narrow value or, in an island, an f32 one.
  llvm::DenseMap<Value, Value> converted;

  void runOnOperation() override {
    if (type != "f16" && type != "bf16") {
      getOperation().emitError() << "unknown precision '" << type << "', expected f16 or bf16";
      return signalPassFailure();
    }
    if (getOperation().isExternal())
      return;
    MLIRContext *context = &getContext();
    narrow = type == "f16" ? Type(Float16Type::get(context)) : Type(BFloat16Type::get(context));
    Block &block = getOperation().getBody().front();
    llvm::SmallVector<Operation *> old;
    for (Operation &op : block)
      old.push_back(&op);
    for (Operation *op : old) {
      if (auto ret = dyn_cast<func::ReturnOp>(op)) {
        OpBuilder builder(op);
        for (OpOperand &operand : ret->getOpOperands())
          if (isF32(operand.get()))
            operand.set(as(operand.get(), Float32Type::get(context), builder));
      } else if (!isa<ConstantOp>(op)) {
        convert(op);
      }
    }
    for (Operation *op : llvm::reverse(old))
      if (op->use_empty() && !isa<func::ReturnOp>(op))
        op->erase();
  }

  /// What stands for an f32 value, cast to `element` where it is needed.
  Value as(Value v, Type element, OpBuilder &builder) {
    auto found = converted.find(v);
    Value current = found == converted.end() ? v : found->second;
    if (elementTypeOf(current) == element)
      return current;
    auto key = std::make_pair(v, element);
    if (Value cached = casts.lookup(key))
      return cached;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfterValue(current);
    Value result;
    if (ElementsAttr constant = getConstant(current); constant && element == narrow)
      result = narrowConstant(constant, current.getLoc(), builder);
    else if (element == narrow && narrow.isF16() && mayBeHuge(current))
      result = saturatingCast(current, builder);
    else
      result = CastOp::create(builder, current.getLoc(), current, element);
    return casts[key] = result;
  }

  /// A finite constant that the narrow type would turn into an infinity.
  bool isHugeConstant(Value v) const {
    auto splat = narrow.isF16() ? matchScalar(v) : std::nullopt;
    return splat && std::isfinite(*splat) && std::abs(*splat) > kLargestHalf;
  }
  /// The value comes from arithmetic with such a constant: an additive mask of -1e9, say.
  bool mayBeHuge(Value v, int depth = 0) const {
    Operation *op = v.getDefiningOp();
    if (isHugeConstant(v))
      return true;
    if (!op || depth > 6 || !(isPointwiseOp(op) || isMovementOp(op)))
      return false;
    return llvm::any_of(op->getOperands(), [&](Value operand) { return mayBeHuge(operand, depth + 1); });
  }
  /// Finite numbers beyond the range become the largest: a row of such masks must not turn into a row of
  /// -inf, whose softmax is NaN.
  Value saturatingCast(Value v, OpBuilder &builder) {
    Location loc = v.getLoc();
    auto bound = [&](double value) -> Value {
      auto type = RankedTensorType::get({}, builder.getF32Type());
      return ConstantOp::create(builder, loc,
                                DenseElementsAttr::get(type, builder.getF32FloatAttr(float(value))));
    };
    Value low = BinaryOp::create(builder, loc, BinaryKind::Max, v, bound(-kLargestHalf));
    Value inside = BinaryOp::create(builder, loc, BinaryKind::Min, low, bound(kLargestHalf));
    Value infinite = UnaryOp::create(builder, loc, UnaryKind::IsInf, v, 1.0, 1.0);
    return CastOp::create(builder, loc, SelectOp::create(builder, loc, infinite, v, inside), narrow);
  }

  /// Finite numbers beyond the type's range become its largest; infinities stay.
  Value narrowConstant(ElementsAttr constant, Location loc, OpBuilder &builder) {
    auto type = cast<RankedTensorType>(constant.getShapedType());
    ConstantBytes wide = constantBytes(constant);
    HostTensor result(narrow.isF16() ? DType::F16 : DType::BF16, type.getShape().vec());
    narrowFloats(result.dtype(), reinterpret_cast<const float *>(wide.bytes.data()),
                 result.mutableData<uint16_t>(), size_t(result.size()), /*saturate=*/true);
    return ConstantOp::create(builder, loc, toElementsAttr(result, builder.getContext()));
  }

  bool isIslandValue(Value v) const {
    auto found = converted.find(v);
    return found != converted.end() && elementTypeOf(found->second).isF32();
  }

  /// Why an op's results stay f32; empty when they may be narrow.
  llvm::StringRef islandReason(Operation *op) {
    if (auto cast = dyn_cast<CastOp>(op)) {
      if (isa<Float8E8M0FNUType>(elementTypeOf(cast.getX())) ||
          isa<Float8E8M0FNUType>(elementTypeOf(cast.getY())))
        return "powers of two reach further than the narrow type";
      Type from = elementTypeOf(cast.getX());
      if (isa<FloatType>(from) || from.getIntOrFloatBitWidth() <= 8) // 8 bits fit both types' digits
        return "";
      return "an integer may have more digits than the narrow type";
    }
    if (isPointwiseOp(op) && !isa<CastOp>(op) &&
        llvm::any_of(op->getOperands(), [&](Value v) { return isHugeConstant(v); }))
      return "a constant is beyond the narrow type's range";
    if (auto unary = dyn_cast<UnaryOp>(op)) {
      switch (unary.getKind()) {
      case UnaryKind::Exp:
      case UnaryKind::Log:
      case UnaryKind::Sqrt:
      case UnaryKind::Rsqrt:
      case UnaryKind::Reciprocal:
      case UnaryKind::Sinh:
      case UnaryKind::Cosh:
      case UnaryKind::Tan:
      case UnaryKind::Sin:
      case UnaryKind::Cos:
        return "the function has a wide range or needs an exact argument";
      default:
        break;
      }
    }
    if (auto binary = dyn_cast<BinaryOp>(op)) {
      if (binary.getKind() == BinaryKind::Pow || binary.getKind() == BinaryKind::Mod ||
          binary.getKind() == BinaryKind::FMod)
        return "powers overflow";
      if (binary.getKind() == BinaryKind::Mul && binary.getX() == binary.getY())
        return "squares overflow";
    }
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      switch (reduce.getKind()) {
      case ReduceKind::Max:
      case ReduceKind::Min:
      case ReduceKind::Mean:
        break;
      default:
        return "sums overflow";
      }
    }
    if (isa<CumSumOp>(op))
      return "sums overflow";
    return "";
  }

  void convert(Operation *op) {
    MLIRContext *context = op->getContext();
    bool anyF32 = llvm::any_of(op->getOperands(), isF32) || llvm::any_of(op->getResults(), isF32);
    if (!anyF32)
      return;
    llvm::StringRef reason = islandReason(op);
    bool island = !reason.empty();
    // Products round their operands anyway; everything else follows what it reads.
    bool contraction = isa<MatmulOp, ConvOp, ConvTransposeOp, AttentionOp>(op);
    if (!island && !contraction) {
      // The widest operand decides, so that small statistics stay exact and large tensors stay narrow.
      int64_t narrowElements = -1, islandElements = -1;
      for (Value operand : op->getOperands()) {
        if (!isF32(operand) || getConstant(operand))
          continue;
        int64_t &count = isIslandValue(operand) ? islandElements : narrowElements;
        count = std::max(count, tensorType(operand).getNumElements());
      }
      island = islandElements > narrowElements;
    }
    Type element = island ? Type(Float32Type::get(context)) : narrow;
    OpBuilder builder(op);
    Operation *copy = builder.clone(*op);
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      if (isF32(operand)) {
        // A bias of attention may have any float type: one that was kept in f32 for its range stays.
        bool keep = isa<AttentionOp>(op) && i == 3 && isIslandValue(operand);
        copy->setOperand(i, as(operand, keep ? Type(Float32Type::get(context)) : element, builder));
      }
    // Comparisons and predicates keep their type.
    for (auto [was, now] : llvm::zip(op->getResults(), copy->getResults()))
      if (isF32(was))
        now.setType(cast<RankedTensorType>(was.getType()).clone(element));
    // What a norm gives is of moderate size again: islands end there.
    bool ends = island && isa<SoftmaxOp, LayerNormOp, RmsNormOp, GroupNormOp>(op);
    for (auto [was, now] : llvm::zip(op->getResults(), copy->getResults()))
      if (!isF32(was))
        was.replaceAllUsesWith(now);
      else if (ends)
        converted[was] = CastOp::create(builder, op->getLoc(), now, narrow).getY();
      else
        converted[was] = now;
    if (!reason.empty() && !isa<CastOp>(op))
      remark::analysis(op->getLoc(), remark::RemarkOpts::name("KeptInF32").category("precision"))
          << reason.str();
  }

  llvm::DenseMap<std::pair<Value, Type>, Value> casts;
};

} // namespace
} // namespace gpuc

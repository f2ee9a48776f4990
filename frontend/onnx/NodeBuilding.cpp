// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Creation of core ops for a node: inference and verification with diagnostics instead of aborts, then
// folding of ops on constants, so that shape arithmetic is gone when its users are imported.
#include "GraphImporter.h"
#include "gpuc/Frontend/NodeContext.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Evaluate.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Support/CheckedMath.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include <cmath>

using namespace mlir;

namespace gpuc::frontend {
namespace {

/// Largest result folded at import, and the size up to which integers always are.
constexpr int64_t kFoldBytes = int64_t(1) << 24, kSmallIntegerBytes = int64_t(1) << 16;
/// Ops whose work exceeds their result's size are folded only with little of both.
constexpr int64_t kHeavyResultBytes = int64_t(1) << 14, kHeavyOperandBytes = int64_t(1) << 18;

bool isHeavy(Operation *op) {
  return isa<MatmulOp, ConvOp, ConvTransposeOp, AttentionOp, MaxPoolOp, AvgPoolOp>(op);
}

int64_t bytesOf(Value v) { return byteSize(dtypeOf(v), tensorType(v).getNumElements()); }

/// Whether an op on constants should be folded, as far as one op tells.
bool shouldFold(Operation *op, int64_t &bytes, int64_t &work, bool &smallInteger) {
  int64_t operandBytes = 0;
  bytes = 0;
  bool integers = true;
  for (Value operand : op->getOperands()) {
    if (!getConstant(operand))
      return false;
    operandBytes += bytesOf(operand);
  }
  for (Value result : op->getResults()) {
    if (bytesOf(result) > kFoldBytes)
      return false;
    bytes += bytesOf(result);
    integers &= !isFloat(dtypeOf(result));
  }
  smallInteger = integers && bytes <= kSmallIntegerBytes;
  work = bytes + operandBytes;
  if (isHeavy(op)) {
    work = (bytes + 1) * (operandBytes + 1);
    return bytes <= kHeavyResultBytes && operandBytes <= kHeavyOperandBytes;
  }
  // A repeated scalar is better repeated at run time than stored.
  return smallInteger || bytes <= kSmallIntegerBytes || bytes / 4 <= operandBytes;
}

/// Nothing when all types are static tensors of a sane size.
std::string badType(TypeRange types) {
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    auto dtype = tensor ? toDType(tensor.getElementType()) : std::nullopt;
    if (!tensor || !tensor.hasStaticShape() || !dtype)
      return "the result is not a static tensor";
    auto count = checkedProduct(tensor.getShape());
    if (!count || !checkedMul(*count, 64))
      return "a result of shape " + toString(Shape(tensor.getShape().begin(), tensor.getShape().end())) +
             " is not possible";
  }
  return "";
}

template <typename T> void setInteger(HostTensor &tensor, double value) {
  T v = 0;
  if (value >= double(std::numeric_limits<T>::max()))
    v = std::numeric_limits<T>::max();
  else if (value <= double(std::numeric_limits<T>::min()))
    v = std::numeric_limits<T>::min();
  else if (!std::isnan(value))
    v = T(value);
  *tensor.mutableData<T>() = v;
}

} // namespace

llvm::SmallVector<Value> NodeContext::finish(OperationState &state) {
  if (llvm::any_of(state.operands, [](Value v) { return !v; }))
    return {}; // reported when the operand was made
  MLIRContext *context = builder().getContext();
  std::string text;
  Operation *op = nullptr;
  {
    ScopedDiagnosticHandler capture(context, [&](Diagnostic &diagnostic) {
      text += (text.empty() ? "" : "; ") + diagnostic.str();
      return success();
    });
    if (state.types.empty())
      if (auto *infer = state.name.getInterface<InferTypeOpInterface>()) {
        llvm::SmallVector<Type> types;
        if (failed(infer->inferReturnTypes(context, location, state.operands,
                                           state.attributes.getDictionary(context), state.getRawProperties(),
                                           state.regions, types))) {
          if (text.empty())
            text = "operands do not fit " + state.name.getStringRef().str();
        } else {
          state.addTypes(types);
        }
      }
    if (text.empty())
      text = badType(state.types);
    if (text.empty()) {
      op = builder().create(state);
      if (failed(verify(op, /*verifyRecursively=*/false))) {
        op->erase();
        op = nullptr;
        if (text.empty())
          text = "operands do not fit " + state.name.getStringRef().str();
      }
    }
  }
  if (!op) {
    (void)error(text);
    return {};
  }
  int64_t bytes = 0, work = 0;
  bool smallInteger = false;
  llvm::SmallVector<Attribute> folded;
  if (isa<ConstantOp>(op) || !shouldFold(op, bytes, work, smallInteger) ||
      !graph.takeFoldingBudget(bytes, work, smallInteger) ||
      failed(foldToConstants(op, kFoldBytes, folded)) || folded.size() != op->getNumResults())
    return llvm::SmallVector<Value>(op->getResults());
  llvm::SmallVector<Value> values;
  for (Attribute attribute : folded)
    values.push_back(graph.makeConstant(::mlir::cast<ElementsAttr>(attribute), location));
  op->erase();
  return values;
}

Value NodeContext::constant(ElementsAttr value) {
  return value ? graph.makeConstant(value, location) : Value();
}

Value NodeContext::scalar(double value, Type elementType) {
  auto dtype = toDType(elementType);
  if (!dtype || !isComputeType(*dtype)) {
    (void)error("a scalar of this element type is not possible");
    return {};
  }
  HostTensor t(*dtype, {});
  switch (*dtype) {
  case DType::Bool:
    *t.mutableBytes() = value != 0;
    break;
  case DType::I8:
    setInteger<int8_t>(t, value);
    break;
  case DType::I16:
    setInteger<int16_t>(t, value);
    break;
  case DType::I32:
    setInteger<int32_t>(t, value);
    break;
  case DType::I64:
    setInteger<int64_t>(t, value);
    break;
  case DType::U8:
    setInteger<uint8_t>(t, value);
    break;
  case DType::U16:
    setInteger<uint16_t>(t, value);
    break;
  case DType::U32:
    setInteger<uint32_t>(t, value);
    break;
  case DType::U64:
    setInteger<uint64_t>(t, value);
    break;
  case DType::F16:
    *t.mutableData<uint16_t>() = doubleToHalf(value);
    break;
  case DType::BF16:
    *t.mutableData<uint16_t>() = doubleToBFloat(value);
    break;
  case DType::F32:
    *t.mutableData<float>() = float(value);
    break;
  default:
    *t.mutableData<double>() = value;
    break;
  }
  return constant(toElementsAttr(t, builder().getContext()));
}

Value NodeContext::intsConstant(llvm::ArrayRef<int64_t> values, llvm::ArrayRef<int64_t> shape) {
  auto count = checkedProduct(shape);
  if (!count || uint64_t(*count) != values.size()) {
    (void)error("a constant of " + llvm::Twine(values.size()) + " values can't have shape " +
                toString(Shape(shape.begin(), shape.end())));
    return {};
  }
  HostTensor t(DType::I64, Shape(shape.begin(), shape.end()));
  if (!values.empty())
    __builtin_memcpy(t.mutableBytes(), values.data(), values.size() * sizeof(int64_t));
  return constant(toElementsAttr(t, builder().getContext()));
}

Value NodeContext::cast(Value x, Type elementType) {
  if (!x || elementTypeOf(x) == elementType)
    return x;
  return create<CastOp>(x, elementType);
}

Value NodeContext::reshape(Value x, llvm::ArrayRef<int64_t> shape) {
  if (!x || shapeOf(x) == shape)
    return x;
  return create<ReshapeOp>(x, shape);
}

} // namespace gpuc::frontend

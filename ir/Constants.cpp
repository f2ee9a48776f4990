// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant tensors. MLIR packs `dense` i1 into bits and gives other sub-byte elements a byte each; here bool
// is a byte and sub-byte types are packed, so these two are converted. All other bytes are used as they are.
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Ops.h"
#include "gpuc/IR/Types.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace gpuc {

// Up to this size a constant is a `dense` attribute: uniqued, and printed with its values.
constexpr size_t kDenseBytes = 4096;

static std::optional<DType> constantDType(ElementsAttr attr) { return toDType(attr.getElementType()); }

static ConstantBytes own(std::vector<char> bytes) {
  ConstantBytes result;
  result.keepAlive = std::make_shared<std::vector<char>>(std::move(bytes));
  result.bytes = *result.keepAlive;
  return result;
}

/// Element i of `dense` data in MLIR's form, as a byte.
static uint8_t subByteElement(ArrayRef<char> raw, DType dtype, bool splat, int64_t i) {
  if (splat)
    return dtype == DType::Bool ? raw[0] != 0 : uint8_t(raw[0]);
  if (dtype == DType::Bool)
    return (uint8_t(raw[i / 8]) >> (i % 8)) & 1;
  return uint8_t(raw[i]);
}

static ConstantBytes denseBytes(DenseElementsAttr attr, DType dtype) {
  ArrayRef<char> raw = attr.getRawData();
  int64_t count = attr.getNumElements();
  unsigned bits = bitWidth(dtype);
  bool splat = attr.isSplat();
  if (count == 0)
    return {};
  if (dtype != DType::Bool && bits >= 8) {
    if (!splat || count == 1)
      return {raw.take_front(byteSize(dtype, count)), nullptr};
    std::vector<char> bytes(byteSize(dtype, count));
    size_t size = bits / 8;
    for (int64_t i = 0; i < count; ++i)
      std::copy_n(raw.data(), size, bytes.data() + i * size);
    return own(std::move(bytes));
  }
  std::vector<char> bytes(byteSize(dtype, count), 0);
  unsigned perByte = 8 / bits; // bool: one
  for (int64_t i = 0; i < count; ++i) {
    unsigned element = subByteElement(raw, dtype, splat, i) & ((1u << bits) - 1);
    bytes[i / perByte] |= char(element << (i % perByte * bits));
  }
  return own(std::move(bytes));
}

ConstantBytes constantBytes(ElementsAttr attr) {
  auto dtype = attr ? constantDType(attr) : std::nullopt;
  if (!dtype)
    return {};
  if (auto dense = dyn_cast<DenseElementsAttr>(attr))
    return denseBytes(dense, *dtype);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      return {blob->getData(), nullptr};
  return {};
}

LogicalResult ConstantOp::verify() {
  ElementsAttr value = getValue();
  if (isa<DenseIntOrFPElementsAttr>(value))
    return success();
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource)
    return emitError() << "constant_c1: value must be a dense or dense_resource attribute";
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  auto dtype = constantDType(value);
  int64_t expected = dtype ? byteSize(*dtype, value.getNumElements()) : 0;
  if (!blob || int64_t(blob->getData().size()) != expected)
    return emitError() << "constant_c1: resource '" << resource.getRawHandle().getKey() << "' must hold "
                       << expected << " bytes, got " << (blob ? blob->getData().size() : 0);
  return success();
}

//===--- to and from host tensors
//---------------------------------------------------------------------------------===//

HostTensor toHostTensor(ElementsAttr attr) {
  auto dtype = constantDType(attr);
  assert(dtype && "not an element type of gpuc");
  HostTensor tensor(*dtype, attr.getShapedType().getShape().vec());
  ConstantBytes constant = constantBytes(attr);
  assert(int64_t(constant.bytes.size()) == tensor.sizeInBytes() && "the constant has not been verified");
  std::copy_n(constant.bytes.begin(), std::min<size_t>(constant.bytes.size(), tensor.sizeInBytes()),
              tensor.mutableBytes());
  return tensor;
}

static DenseElementsAttr toDense(RankedTensorType type, DType dtype, ArrayRef<char> bytes) {
  int64_t count = type.getNumElements();
  unsigned bits = bitWidth(dtype);
  if (dtype == DType::Bool) {
    SmallVector<bool> values;
    for (char byte : bytes)
      values.push_back(byte != 0);
    return DenseElementsAttr::get(type, values);
  }
  if (bits >= 8)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  SmallVector<char> values;
  unsigned perByte = 8 / bits;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(char((uint8_t(bytes[i / perByte]) >> (i % perByte * bits)) & ((1u << bits) - 1)));
  return DenseElementsAttr::getFromRawBuffer(type, values);
}

/// All elements have the bytes of the first one; never for sub-byte types.
static bool isUniform(ArrayRef<char> bytes, DType dtype) {
  size_t size = bitWidth(dtype) / 8;
  if (size == 0 || bytes.size() < size)
    return false;
  return std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
}

static size_t alignmentOf(const void *data) {
  size_t alignment = 1;
  while (alignment < 64 && reinterpret_cast<uintptr_t>(data) % (alignment * 2) == 0)
    alignment *= 2;
  return alignment;
}

ElementsAttr toElementsAttr(RankedTensorType type, ArrayRef<char> bytes, std::shared_ptr<const void> owner,
                            StringRef name) {
  auto dtype = toDType(type.getElementType());
  assert(dtype && int64_t(bytes.size()) == byteSize(*dtype, type.getNumElements()) &&
         "bytes do not fill the type");
  if (bytes.size() <= kDenseBytes)
    return toDense(type, *dtype, bytes);
  AsmResourceBlob blob = UnmanagedAsmResourceBlob::allocateWithAlign(
      bytes, alignmentOf(bytes.data()), [owner = std::move(owner)](void *, size_t, size_t) {});
  return DenseResourceElementsAttr::get(type, name, std::move(blob));
}

ElementsAttr toElementsAttr(const HostTensor &tensor, MLIRContext *context) {
  auto type = RankedTensorType::get(tensor.shape(), toMlirType(tensor.dtype(), context));
  ArrayRef<char> bytes(reinterpret_cast<const char *>(tensor.bytes()), tensor.sizeInBytes());
  if (isUniform(bytes, tensor.dtype())) // one element stands for all
    return toDense(type, tensor.dtype(),
                   tensor.dtype() == DType::Bool ? bytes : bytes.take_front(bitWidth(tensor.dtype()) / 8));
  if (bytes.size() <= kDenseBytes)
    return toDense(type, tensor.dtype(), bytes);
  return toElementsAttr(type, bytes, std::make_shared<HostTensor>(tensor), "constant"); // shares the bytes
}

//===--- constants behind values
//----------------------------------------------------------------------------------===//

ElementsAttr getConstant(Value v) {
  auto constant = v ? v.getDefiningOp<ConstantOp>() : ConstantOp();
  return constant ? constant.getValue() : ElementsAttr();
}

template <typename T> static T load(const char *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

static std::optional<int64_t> loadInt(DType dtype, const char *at) {
  switch (dtype) {
  case DType::Bool:
    return *at != 0;
  case DType::I8:
    return load<int8_t>(at);
  case DType::I16:
    return load<int16_t>(at);
  case DType::I32:
    return load<int32_t>(at);
  case DType::I64:
    return load<int64_t>(at);
  case DType::U8:
    return load<uint8_t>(at);
  case DType::U16:
    return load<uint16_t>(at);
  case DType::U32:
    return load<uint32_t>(at);
  case DType::U64:
    return int64_t(load<uint64_t>(at));
  default:
    return std::nullopt;
  }
}

static std::optional<double> loadDouble(DType dtype, const char *at) {
  switch (dtype) {
  case DType::F16:
    return halfToFloat(load<uint16_t>(at));
  case DType::BF16:
    return bfloatToFloat(load<uint16_t>(at));
  case DType::F32:
    return load<float>(at);
  case DType::F64:
    return load<double>(at);
  case DType::U64:
    return double(load<uint64_t>(at));
  default:
    if (auto integer = loadInt(dtype, at))
      return double(*integer);
    return std::nullopt;
  }
}

std::optional<double> getSplat(Value v) {
  ElementsAttr attr = getConstant(v);
  auto dtype = attr ? constantDType(attr) : std::nullopt;
  if (!dtype || !isComputeType(*dtype) || attr.getNumElements() == 0)
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(attr); dense && dense.isSplat()) {
    if (*dtype == DType::Bool)
      return dense.getSplatValue<bool>();
    return loadDouble(*dtype, dense.getRawData().data());
  }
  ConstantBytes constant = constantBytes(attr);
  if (!isUniform(constant.bytes, *dtype))
    return std::nullopt;
  return loadDouble(*dtype, constant.bytes.data());
}

std::optional<SmallVector<int64_t>> getInts(Value v) {
  ElementsAttr attr = getConstant(v);
  auto dtype = attr ? constantDType(attr) : std::nullopt;
  if (!dtype || !isComputeType(*dtype) || isFloat(*dtype))
    return std::nullopt;
  ConstantBytes constant = constantBytes(attr);
  size_t size = bitWidth(*dtype) / 8;
  SmallVector<int64_t> values;
  for (size_t at = 0; at + size <= constant.bytes.size(); at += size)
    values.push_back(*loadInt(*dtype, constant.bytes.data() + at));
  return values;
}

} // namespace gpuc

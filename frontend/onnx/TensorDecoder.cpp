// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decoding of ONNX tensors: raw bytes, typed fields, external data, sparse form.
#include "TensorDecoder.h"
#include "Text.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Support/CheckedMath.h"
#include "gpuc/Support/SharedBytes.h"
#include "llvm/ADT/StringExtras.h"

namespace gpuc::frontend {
namespace {

using onnx::TensorProto;

/// Tensors up to this size are stored in the IR itself.
constexpr int64_t kInlineBytes = 1024;
/// A sparse tensor is not made dense above this size: its payload says nothing about the memory it takes.
constexpr int64_t kLargestDenseBytes = int64_t(1) << 30;

struct Extent {
  Shape shape;
  int64_t count = 0; ///< elements
  int64_t bytes = 0; ///< dense size
};

template <typename Dims> Result<Extent> measure(const Dims &dims, DType dtype) {
  Extent extent;
  extent.shape.assign(dims.begin(), dims.end());
  for (int64_t d : extent.shape)
    if (d < 0)
      return dataLoss("has a negative extent in shape " + toString(extent.shape));
  auto count = checkedProduct(extent.shape);
  auto bits = count ? checkedMul(*count, bitWidth(dtype)) : std::nullopt;
  if (!bits || !checkedAdd(*bits, 7))
    return dataLoss("is too large: shape " + toString(extent.shape) + " overflows 64 bits");
  extent.count = *count;
  extent.bytes = byteSize(dtype, *count);
  return extent;
}

Status sizeMismatch(const Extent &extent, DType dtype, const std::string &what, int64_t expected,
                    int64_t got) {
  return dataLoss("of shape " + toString(extent.shape) + " and type " + std::string(name(dtype)) + " needs " +
                  std::to_string(expected) + " " + what + ", got " + std::to_string(got));
}

/// Copies a typed field into dense bytes, one value per element of type To.
template <typename To, typename Field>
Status copyField(const Field &field, const Extent &extent, DType dtype, int64_t expected, uint8_t *out) {
  if (field.size() != expected)
    return sizeMismatch(extent, dtype, "values", expected, field.size());
  for (int64_t i = 0; i < expected; ++i) {
    To v = static_cast<To>(field.Get(int(i)));
    __builtin_memcpy(out + i * int64_t(sizeof(To)), &v, sizeof(To));
  }
  return {};
}

Status copyTypedField(const TensorProto &t, const Extent &extent, DType dtype, uint8_t *out) {
  switch (dtype) {
  case DType::F32:
    return copyField<float>(t.float_data(), extent, dtype, extent.count, out);
  case DType::F64:
    return copyField<double>(t.double_data(), extent, dtype, extent.count, out);
  case DType::I64:
    return copyField<int64_t>(t.int64_data(), extent, dtype, extent.count, out);
  case DType::U64:
    return copyField<uint64_t>(t.uint64_data(), extent, dtype, extent.count, out);
  case DType::U32:
    return copyField<uint32_t>(t.uint64_data(), extent, dtype, extent.count, out);
  case DType::I32:
    return copyField<int32_t>(t.int32_data(), extent, dtype, extent.count, out);
  case DType::I16:
  case DType::U16:
  case DType::F16:
  case DType::BF16:
    return copyField<uint16_t>(t.int32_data(), extent, dtype, extent.count, out);
  default:
    // One byte per value; a value of a packed type holds the two or four elements of one byte.
    return copyField<uint8_t>(t.int32_data(), extent, dtype, extent.bytes, out);
  }
}

int64_t typedFieldSize(const TensorProto &t) {
  return int64_t(t.float_data_size()) + t.int32_data_size() + t.string_data_size() + t.int64_data_size() +
         t.double_data_size() + t.uint64_data_size();
}

Result<int64_t> parseSize(const std::string &key, const std::string &text) {
  int64_t value;
  if (llvm::StringRef(text).getAsInteger(10, value) || value < 0)
    return dataLoss("external data: '" + key + "' expected a non-negative integer, got " + quoted(text));
  return value;
}

struct ExternalRange {
  std::string location;
  int64_t offset = 0;
  std::optional<int64_t> length;
};

Result<ExternalRange> parseExternal(const TensorProto &tensor) {
  ExternalRange range;
  bool hasLocation = false;
  for (const auto &entry : tensor.external_data()) {
    if (entry.key() == "location") {
      range.location = entry.value();
      hasLocation = true;
    } else if (entry.key() == "offset" || entry.key() == "length") {
      auto value = parseSize(entry.key(), entry.value());
      if (!value)
        return value.status();
      if (entry.key() == "offset")
        range.offset = *value;
      else
        range.length = *value;
    }
  }
  if (!hasLocation)
    return dataLoss("is external data without a location");
  return range;
}

/// Where the tensor's bytes lie in its external file.
Result<SharedBytes> externalBytes(const TensorProto &tensor, const Extent &extent, DType dtype,
                                  ExternalFiles &files) {
  auto range = parseExternal(tensor);
  if (!range)
    return range.status();
  if (range->length && *range->length != extent.bytes)
    return sizeMismatch(extent, dtype, "bytes", extent.bytes, *range->length);
  if (extent.bytes == 0)
    return SharedBytes();
  auto file = files.get(range->location);
  if (!file)
    return file.status();
  auto end = checkedAdd(range->offset, extent.bytes);
  if (!end || uint64_t(*end) > (*file)->size())
    return dataLoss("needs " + std::to_string(extent.bytes) + " bytes at offset " +
                    std::to_string(range->offset) + " of " + quoted(range->location) + ", which has " +
                    std::to_string((*file)->size()) + " bytes");
  return SharedBytes((*file)->data() + range->offset, size_t(extent.bytes), *file);
}

/// The dense bytes of a tensor, shared where they can be. Bool may hold other bytes than 0 and 1.
Result<SharedBytes> denseBytes(const TensorProto &tensor, const Extent &extent, DType dtype,
                               ExternalFiles &files, const std::shared_ptr<Model> &model) {
  if (tensor.has_segment())
    return unsupported("is stored in segments, which is not supported");
  if (tensor.data_location() == TensorProto::EXTERNAL)
    return externalBytes(tensor, extent, dtype, files);
  if (tensor.has_raw_data() && (!tensor.raw_data().empty() || typedFieldSize(tensor) == 0)) {
    if (uint64_t(tensor.raw_data().size()) != uint64_t(extent.bytes))
      return sizeMismatch(extent, dtype, "bytes", extent.bytes, int64_t(tensor.raw_data().size()));
    return SharedBytes(tensor.raw_data().data(), size_t(extent.bytes), model);
  }
  // A typed field has at least one byte of payload per value, so this is bounded by the model's size.
  if (extent.bytes > 8 * typedFieldSize(tensor))
    return sizeMismatch(extent, dtype, "values", extent.count, typedFieldSize(tensor));
  std::vector<uint8_t> bytes(size_t(extent.bytes), 0);
  GPUC_RETURN_IF_ERROR(copyTypedField(tensor, extent, dtype, bytes.data()));
  return SharedBytes(std::move(bytes));
}

/// Bool becomes 0 and 1.
HostTensor copyToHost(DType dtype, const Shape &shape, const void *data) {
  HostTensor copy(dtype, shape);
  int64_t bytes = copy.sizeInBytes();
  if (bytes)
    __builtin_memcpy(copy.mutableBytes(), data, size_t(bytes));
  for (int64_t i = 0; dtype == DType::Bool && i < bytes; ++i)
    copy.mutableBytes()[i] = copy.mutableBytes()[i] != 0;
  return copy;
}

bool isAligned(const void *p, DType dtype) {
  size_t unit = std::max<size_t>(1, bitWidth(dtype) / 8);
  return reinterpret_cast<uintptr_t>(p) % unit == 0;
}

} // namespace

std::string onnxTypeName(int64_t onnxType) {
  if (onnxType >= INT32_MIN && onnxType <= INT32_MAX && TensorProto::DataType_IsValid(int(onnxType)))
    return TensorProto::DataType_Name(TensorProto::DataType(onnxType));
  return "number " + std::to_string(onnxType);
}

Result<DType> dtypeFromOnnx(int64_t onnxType) {
  switch (onnxType) {
  case TensorProto::FLOAT:
    return DType::F32;
  case TensorProto::UINT8:
    return DType::U8;
  case TensorProto::INT8:
    return DType::I8;
  case TensorProto::UINT16:
    return DType::U16;
  case TensorProto::INT16:
    return DType::I16;
  case TensorProto::INT32:
    return DType::I32;
  case TensorProto::INT64:
    return DType::I64;
  case TensorProto::BOOL:
    return DType::Bool;
  case TensorProto::FLOAT16:
    return DType::F16;
  case TensorProto::DOUBLE:
    return DType::F64;
  case TensorProto::UINT32:
    return DType::U32;
  case TensorProto::UINT64:
    return DType::U64;
  case TensorProto::BFLOAT16:
    return DType::BF16;
  case TensorProto::FLOAT8E4M3FN:
    return DType::F8E4M3FN;
  case TensorProto::FLOAT8E4M3FNUZ:
    return DType::F8E4M3FNUZ;
  case TensorProto::FLOAT8E5M2:
    return DType::F8E5M2;
  case TensorProto::FLOAT8E5M2FNUZ:
    return DType::F8E5M2FNUZ;
  case TensorProto::UINT4:
    return DType::U4;
  case TensorProto::INT4:
    return DType::I4;
  case TensorProto::FLOAT4E2M1:
    return DType::F4E2M1;
  case TensorProto::FLOAT8E8M0:
    return DType::F8E8M0;
  case TensorProto::UINT2:
    return DType::U2;
  case TensorProto::INT2:
    return DType::I2;
  case TensorProto::STRING:
    return unsupported("element type STRING is not supported: gpuc has numeric tensors only");
  case TensorProto::COMPLEX64:
  case TensorProto::COMPLEX128:
    return unsupported("element type " + onnxTypeName(onnxType) +
                       " is not supported: gpuc has real tensors only");
  case TensorProto::UNDEFINED:
    return dataLoss("element type is not set");
  default:
    return dataLoss("element type " + std::to_string(onnxType) + " is not one that ONNX defines");
  }
}

Result<mlir::ElementsAttr> TensorDecoder::fromBytes(DType dtype, const Shape &shape, const void *data,
                                                    llvm::StringRef name, std::shared_ptr<const void> owner) {
  int64_t bytes = byteSize(dtype, numElements(shape));
  bool mustNormalize = false;
  if (dtype == DType::Bool) {
    auto p = static_cast<const uint8_t *>(data);
    mustNormalize = llvm::any_of(llvm::ArrayRef<uint8_t>(p, size_t(bytes)), [](uint8_t b) { return b > 1; });
  }
  if (bytes > kInlineBytes && !mustNormalize && isAligned(data, dtype)) {
    auto type = mlir::RankedTensorType::get(shape, toMlirType(dtype, context));
    return toElementsAttr(type, llvm::ArrayRef<char>(static_cast<const char *>(data), size_t(bytes)),
                          std::move(owner), name);
  }
  return toElementsAttr(copyToHost(dtype, shape, data), context);
}

Result<mlir::ElementsAttr> TensorDecoder::decode(const TensorProto &tensor, llvm::StringRef name) {
  auto dtype = dtypeFromOnnx(tensor.data_type());
  if (!dtype)
    return dtype.status();
  auto extent = measure(tensor.dims(), *dtype);
  if (!extent)
    return extent.status();
  auto bytes = denseBytes(tensor, *extent, *dtype, files, model);
  if (!bytes)
    return bytes.status();
  return fromBytes(*dtype, extent->shape, bytes->data(), name, bytes->owner());
}

Result<HostTensor> TensorDecoder::toHost(const TensorProto &tensor) {
  auto dtype = dtypeFromOnnx(tensor.data_type());
  if (!dtype)
    return dtype.status();
  auto extent = measure(tensor.dims(), *dtype);
  if (!extent)
    return extent.status();
  auto bytes = denseBytes(tensor, *extent, *dtype, files, model);
  if (!bytes)
    return bytes.status();
  return copyToHost(*dtype, extent->shape, bytes->data());
}

Result<mlir::ElementsAttr> TensorDecoder::decode(const onnx::SparseTensorProto &tensor,
                                                 llvm::StringRef name) {
  auto values = toHost(tensor.values());
  if (!values)
    return values.status();
  auto indices = toHost(tensor.indices());
  if (!indices)
    return indices.status();
  if (indices->dtype() != DType::I64)
    return dataLoss("has sparse indices of type " + std::string(gpuc::name(indices->dtype())) +
                    ", expected i64");
  auto extent = measure(tensor.dims(), values->dtype());
  if (!extent)
    return extent.status();
  if (bitWidth(values->dtype()) < 8)
    return unsupported("is sparse with packed elements, which is not supported");
  if (extent->bytes > kLargestDenseBytes)
    return unsupported("is sparse and takes " + std::to_string(extent->bytes) +
                       " bytes when dense, more than the " + std::to_string(kLargestDenseBytes) +
                       " that gpuc accepts");
  int64_t count = values->size(), rank = int64_t(extent->shape.size());
  bool linear = indices->rank() == 1 && indices->shape()[0] == count;
  bool coordinates = indices->rank() == 2 && indices->shape()[0] == count && indices->shape()[1] == rank;
  if (values->rank() != 1 || (!linear && !coordinates))
    return dataLoss("has sparse values of shape " + toString(values->shape()) + " and indices of shape " +
                    toString(indices->shape()) + ", expected n values and n or nx" + std::to_string(rank) +
                    " indices");
  HostTensor dense(values->dtype(), extent->shape);
  const int64_t *index = indices->data<int64_t>();
  size_t unit = bitWidth(values->dtype()) / 8;
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = linear ? index[i] : 0;
    bool inside = !linear || (position >= 0 && position < extent->count);
    for (int64_t d = 0; !linear && d < rank; ++d) {
      int64_t c = index[i * rank + d];
      inside &= c >= 0 && c < extent->shape[size_t(d)];
      position = inside ? position * extent->shape[size_t(d)] + c : 0;
    }
    if (!inside || position >= extent->count)
      return dataLoss("has a sparse index outside of shape " + toString(extent->shape));
    __builtin_memcpy(dense.mutableBytes() + size_t(position) * unit, values->bytes() + size_t(i) * unit,
                     unit);
  }
  return fromBytes(dense.dtype(), dense.shape(), dense.bytes(), name, std::make_shared<HostTensor>(dense));
}

} // namespace gpuc::frontend

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types between MLIR and gpuc::DType.
#include "gpuc/IR/Types.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/SmallVector.h"

using namespace mlir;

namespace gpuc {

std::optional<DType> toDType(Type type) {
  if (!type)
    return std::nullopt;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    if (integer.isSigned())
      return std::nullopt; // signed integers are signless in the IR
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return isUnsigned ? std::nullopt : std::optional(DType::Bool);
    case 2:
      return isUnsigned ? DType::U2 : DType::I2;
    case 4:
      return isUnsigned ? DType::U4 : DType::I4;
    case 8:
      return isUnsigned ? DType::U8 : DType::I8;
    case 16:
      return isUnsigned ? DType::U16 : DType::I16;
    case 32:
      return isUnsigned ? DType::U32 : DType::I32;
    case 64:
      return isUnsigned ? DType::U64 : DType::I64;
    default:
      return std::nullopt;
    }
  }
  if (isa<Float16Type>(type))
    return DType::F16;
  if (isa<BFloat16Type>(type))
    return DType::BF16;
  if (isa<Float32Type>(type))
    return DType::F32;
  if (isa<Float64Type>(type))
    return DType::F64;
  if (isa<Float8E4M3FNType>(type))
    return DType::F8E4M3FN;
  if (isa<Float8E4M3FNUZType>(type))
    return DType::F8E4M3FNUZ;
  if (isa<Float8E5M2Type>(type))
    return DType::F8E5M2;
  if (isa<Float8E5M2FNUZType>(type))
    return DType::F8E5M2FNUZ;
  if (isa<Float4E2M1FNType>(type))
    return DType::F4E2M1;
  if (isa<Float8E8M0FNUType>(type))
    return DType::F8E8M0;
  return std::nullopt;
}

Type toMlirType(DType dtype, MLIRContext *context) {
  auto signless = [&](unsigned width) -> Type { return IntegerType::get(context, width); };
  auto unsignedInt = [&](unsigned width) -> Type {
    return IntegerType::get(context, width, IntegerType::Unsigned);
  };
  switch (dtype) {
  case DType::Bool:
    return signless(1);
  case DType::I2:
  case DType::I4:
  case DType::I8:
  case DType::I16:
  case DType::I32:
  case DType::I64:
    return signless(bitWidth(dtype));
  case DType::U2:
  case DType::U4:
  case DType::U8:
  case DType::U16:
  case DType::U32:
  case DType::U64:
    return unsignedInt(bitWidth(dtype));
  case DType::F16:
    return Float16Type::get(context);
  case DType::BF16:
    return BFloat16Type::get(context);
  case DType::F32:
    return Float32Type::get(context);
  case DType::F64:
    return Float64Type::get(context);
  case DType::F8E4M3FN:
    return Float8E4M3FNType::get(context);
  case DType::F8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case DType::F8E5M2:
    return Float8E5M2Type::get(context);
  case DType::F8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case DType::F4E2M1:
    return Float4E2M1FNType::get(context);
  case DType::F8E8M0:
    return Float8E8M0FNUType::get(context);
  }
  llvm_unreachable("every DType has an MLIR type");
}

llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

} // namespace gpuc

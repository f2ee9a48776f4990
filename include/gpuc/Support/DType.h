// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Element types of tensors: the only list of them. Every name, size and property of a type is decided here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gpuc {

/// Element type of a tensor. Sub-byte types are packed, low nibble first, as in ONNX. Bool is one byte, 0
/// or 1. The numeric values are stored in plans: append, never renumber.
enum class DType : uint8_t {
  Bool = 0,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64,
  F16,
  BF16,
  F32,
  F64,
  F8E4M3FN,
  F8E4M3FNUZ,
  F8E5M2,
  F8E5M2FNUZ,
  I4,
  U4,
  F4E2M1,
  F8E8M0,
  I2,
  U2,
};
constexpr unsigned kNumDTypes = 23;

/// Size of one element in bits.
constexpr unsigned bitWidth(DType t) {
  switch (t) {
  case DType::I2:
  case DType::U2:
    return 2;
  case DType::I4:
  case DType::U4:
  case DType::F4E2M1:
    return 4;
  case DType::Bool:
  case DType::I8:
  case DType::U8:
  case DType::F8E4M3FN:
  case DType::F8E4M3FNUZ:
  case DType::F8E5M2:
  case DType::F8E5M2FNUZ:
  case DType::F8E8M0:
    return 8;
  case DType::I16:
  case DType::U16:
  case DType::F16:
  case DType::BF16:
    return 16;
  case DType::I32:
  case DType::U32:
  case DType::F32:
    return 32;
  case DType::I64:
  case DType::U64:
  case DType::F64:
    return 64;
  }
  return 0;
}
/// Bytes that `count` elements take when stored densely.
constexpr int64_t byteSize(DType t, int64_t count) { return (count * bitWidth(t) + 7) / 8; }

constexpr bool isFloat(DType t) {
  return (t >= DType::F16 && t <= DType::F8E5M2FNUZ) || t == DType::F4E2M1 || t == DType::F8E8M0;
}
constexpr bool isSignedInt(DType t) {
  return (t >= DType::I8 && t <= DType::I64) || t == DType::I4 || t == DType::I2;
}
constexpr bool isUnsignedInt(DType t) {
  return (t >= DType::U8 && t <= DType::U64) || t == DType::U4 || t == DType::U2;
}
constexpr bool isInt(DType t) { return isSignedInt(t) || isUnsignedInt(t); }
/// Types that gpuc computes with; the others are storage types of quantised data, which is moved and cast.
constexpr bool isComputeType(DType t) { return t <= DType::F64; }

/// "f32", "i64", "bool", "bf16", … as used in messages, plans and the command line.
std::string_view name(DType t);
std::optional<DType> parseDType(std::string_view name);

/// IEEE and bfloat conversions, round to nearest even. Bits in and out.
uint16_t floatToHalf(float v);
float halfToFloat(uint16_t bits);
uint16_t floatToBFloat(float v);
inline float bfloatToFloat(uint16_t bits) {
  uint32_t u = uint32_t(bits) << 16;
  float f;
  __builtin_memcpy(&f, &u, 4);
  return f;
}
/// Double to half / bfloat with a single rounding.
uint16_t doubleToHalf(double v);
uint16_t doubleToBFloat(double v);

} // namespace gpuc

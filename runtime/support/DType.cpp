// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of element types, and conversions between float formats by integer arithmetic: every result is the
// nearest representable value, ties to even, with one rounding; NaN stays NaN (quiet), overflow becomes
// infinity.
#include "gpuc/Support/DType.h"

namespace gpuc {

static constexpr std::string_view kNames[kNumDTypes] = {
    "bool",       "i8",  "i16",  "i32",    "i64",    "u8",       "u16",        "u32",
    "u64",        "f16", "bf16", "f32",    "f64",    "f8e4m3fn", "f8e4m3fnuz", "f8e5m2",
    "f8e5m2fnuz", "i4",  "u4",   "f4e2m1", "f8e8m0", "i2",       "u2"};

std::string_view name(DType t) { return unsigned(t) < kNumDTypes ? kNames[unsigned(t)] : "invalid"; }

std::optional<DType> parseDType(std::string_view text) {
  for (unsigned i = 0; i < kNumDTypes; ++i)
    if (kNames[i] == text)
      return DType(i);
  struct Alias {
    std::string_view name;
    DType type;
  };
  static constexpr Alias kAliases[] = {
      {"float16", DType::F16}, {"fp16", DType::F16},   {"half", DType::F16},  {"bfloat16", DType::BF16},
      {"float32", DType::F32}, {"fp32", DType::F32},   {"float", DType::F32}, {"float64", DType::F64},
      {"fp64", DType::F64},    {"double", DType::F64}, {"int8", DType::I8},   {"int16", DType::I16},
      {"int32", DType::I32},   {"int64", DType::I64},  {"uint8", DType::U8},  {"uint16", DType::U16},
      {"uint32", DType::U32},  {"uint64", DType::U64}, {"i1", DType::Bool},   {"ui8", DType::U8},
      {"ui16", DType::U16},    {"ui32", DType::U32},   {"ui64", DType::U64},
  };
  for (const Alias &a : kAliases)
    if (a.name == text)
      return a.type;
  return std::nullopt;
}

/// Rounds a double to a format with `kExponentBits` and `kMantissaBits`, IEEE encoding, result in the low
/// bits.
template <int kExponentBits, int kMantissaBits> static uint32_t roundDouble(double v) {
  constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr uint32_t kInfinity = ((1u << kExponentBits) - 1) << kMantissaBits;
  uint64_t bits;
  __builtin_memcpy(&bits, &v, 8);
  uint32_t sign = uint32_t(bits >> 63) << (kExponentBits + kMantissaBits);
  int exponent = int((bits >> 52) & 0x7ff);
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  if (exponent == 0x7ff) {
    if (mantissa == 0)
      return sign | kInfinity;
    uint32_t payload = uint32_t(mantissa >> (52 - kMantissaBits));
    return sign | kInfinity | (1u << (kMantissaBits - 1)) | payload;
  }
  if (exponent == 0) // double subnormals are below half of the smallest subnormal of every narrower format
    return sign;
  mantissa |= uint64_t(1) << 52;
  int target = exponent - 1023 + kBias; // biased exponent in the narrow format
  // Bits of the mantissa that are dropped; more of them for a subnormal result.
  int drop = 52 - kMantissaBits + (target < 1 ? 1 - target : 0);
  if (drop > 54)
    return sign;
  uint64_t kept = mantissa >> drop;
  uint64_t rest = mantissa & ((uint64_t(1) << drop) - 1);
  uint64_t half = uint64_t(1) << (drop - 1);
  if (rest > half || (rest == half && (kept & 1)))
    ++kept;
  // `kept` has the implicit bit for normal results, so the exponent field is added one less; a carry out of
  // the mantissa moves into the exponent by itself, up to infinity.
  uint64_t result = target < 1 ? kept : kept + (uint64_t(target - 1) << kMantissaBits);
  return sign | (result >= kInfinity ? kInfinity : uint32_t(result));
}

uint16_t doubleToHalf(double v) { return uint16_t(roundDouble<5, 10>(v)); }
uint16_t doubleToBFloat(double v) { return uint16_t(roundDouble<8, 7>(v)); }
// float to double is exact, so these round once as well.
uint16_t floatToHalf(float v) { return doubleToHalf(double(v)); }
uint16_t floatToBFloat(float v) {
  uint32_t bits;
  __builtin_memcpy(&bits, &v, 4);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return uint16_t((bits >> 16) | 0x40);
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

float halfToFloat(uint16_t h) {
  uint32_t sign = uint32_t(h & 0x8000) << 16;
  uint32_t exponent = (h >> 10) & 0x1f, mantissa = h & 0x3ff;
  float f;
  if (exponent == 0) { // zero or subnormal: mantissa * 2^-24, exact in float
    f = float(mantissa) * 0x1p-24f;
    uint32_t bits;
    __builtin_memcpy(&bits, &f, 4);
    bits |= sign;
    __builtin_memcpy(&f, &bits, 4);
    return f;
  }
  uint32_t bits = sign | ((exponent == 31 ? 255 : exponent + 112) << 23) | (mantissa << 13);
  if (exponent == 31 && mantissa)
    bits |= 0x400000;
  __builtin_memcpy(&f, &bits, 4);
  return f;
}

} // namespace gpuc

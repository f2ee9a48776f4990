// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Names of types and exact literals in generated code.
#include "ExprEmitterImpl.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include <cmath>
#include <cstring>

using namespace mlir;

namespace gpuc {

std::string storageTypeName(Type t) {
  if (t.isF16())
    return "f16";
  if (t.isBF16())
    return "bf16";
  if (t.isF32())
    return "float";
  if (t.isF64())
    return "double";
  if (t.isInteger(1))
    return "bool8";
  if (auto i = dyn_cast<IntegerType>(t))
    return (i.isUnsigned() ? "u" : "i") + std::to_string(i.getWidth());
  return std::string(name(*toDType(t))); // small floats
}

std::string computeTypeName(Type t) {
  if (isa<FloatType>(t) && !t.isF64())
    return "float";
  if (isPacked(t))
    return cast<IntegerType>(t).isUnsigned() ? "u8" : "i8";
  return t.isInteger(1) ? "bool" : storageTypeName(t);
}

std::string memoryTypeName(Type t) { return isPacked(t) ? "u8" : storageTypeName(t); }

std::string decodeText(Type t, const std::string &stored) {
  if (isStorageType(t))
    return "decode(" + stored + ")";
  return "cast<" + computeTypeName(t) + ">(" + stored + ")";
}

std::string encodeText(Type t, const std::string &value) {
  if (isStorageType(t)) // every code survives: infinities stay what they are
    return "encode<" + storageTypeName(t) + ", false>(" + value + ")";
  return "cast<" + storageTypeName(t) + ">(" + value + ")";
}

std::string intLiteral(int64_t v) {
  if (v == INT64_MIN)
    return "(-9223372036854775807LL - 1)";
  std::string s = std::to_string(v);
  if (v > INT32_MAX || v < -int64_t(INT32_MAX))
    s += "LL";
  return v < 0 ? "(" + s + ")" : s;
}

static std::string floatingLiteral(double v, bool isDouble) {
  const char *type = isDouble ? "double" : "float";
  if (std::isnan(v))
    return isDouble ? "arch::bitCast<double>(0x7ff8000000000000ull)" : "arch::bitCast<float>(0x7fc00000u)";
  if (std::isinf(v))
    return std::string(v < 0 ? "(-" : "(") + "infinity<" + type + ">())";
  char text[64];
  if (v == std::rint(v) && std::fabs(v) < 1e6 && !(v == 0 && std::signbit(v)))
    snprintf(text, sizeof text, "%.1f%s", v, isDouble ? "" : "f");
  else
    snprintf(text, sizeof text, "%a%s", v, isDouble ? "" : "f");
  return v < 0 || std::signbit(v) ? "(" + std::string(text) + ")" : text;
}

std::string realLiteral(Type elementType, double value) {
  if (elementType.isF64())
    return floatingLiteral(value, true);
  if (isa<FloatType>(elementType))
    return floatingLiteral(double(float(value)), false);
  if (elementType.isInteger(1))
    return value != 0 ? "true" : "false";
  return computeTypeName(elementType) + "(" + intLiteral(int64_t(value)) + ")";
}

std::string literalFromBytes(Type t, const char *p) {
  if (t.isF64() || t.isF32()) {
    double d;
    float f;
    if (t.isF64())
      memcpy(&d, p, 8);
    else
      memcpy(&f, p, 4), d = f;
    return floatingLiteral(d, t.isF64());
  }
  if (t.isF16() || t.isBF16()) {
    uint16_t bits;
    memcpy(&bits, p, 2);
    return floatingLiteral(t.isF16() ? halfToFloat(bits) : bfloatToFloat(bits), false);
  }
  if (t.isInteger(1))
    return *p ? "true" : "false";
  unsigned width = t.getIntOrFloatBitWidth();
  bool isUnsigned = cast<IntegerType>(t).isUnsigned();
  uint64_t bits = 0;
  memcpy(&bits, p, width / 8); // little-endian, as constants are stored
  if (isUnsigned)
    return storageTypeName(t) + "(" + std::to_string(bits) + (width == 64 ? "ull)" : "u)");
  int64_t v = width == 64 ? int64_t(bits) : int64_t(bits << (64 - width)) >> (64 - width);
  return storageTypeName(t) + "(" + (v == INT32_MIN && width == 32 ? "-2147483647 - 1" : intLiteral(v)) + ")";
}

} // namespace gpuc

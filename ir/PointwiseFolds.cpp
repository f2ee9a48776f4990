// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folders of elementwise ops. Only what holds for every value: infinities, NaN and -0 included (x + 0 turns
// -0 into 0, x * 0 is not 0 for infinities; x * 1 and x - 0 are exact).
#include "Folds.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Ops.h"
#include "gpuc/IR/Types.h"
#include <cmath>

using namespace mlir;

namespace gpuc {

//===--- unary
//----------------------------------------------------------------------------------------------------===//

static bool givesIntegers(UnaryKind kind) {
  return kind == UnaryKind::Ceil || kind == UnaryKind::Floor || kind == UnaryKind::Round;
}

/// outer(inner(x)) is inner(x).
static bool absorbs(UnaryKind outer, UnaryKind inner) {
  if (givesIntegers(outer))
    return givesIntegers(inner);
  if (outer == UnaryKind::Abs || outer == UnaryKind::Sign)
    return inner == outer;
  return outer == UnaryKind::Relu && (inner == UnaryKind::Relu || inner == UnaryKind::Sigmoid);
}

OpFoldResult UnaryOp::fold(FoldAdaptor adaptor) {
  if (auto inner = getX().getDefiningOp<UnaryOp>()) {
    UnaryKind outerKind = getKind(), innerKind = inner.getKind();
    bool isInvolution =
        outerKind == UnaryKind::Neg || outerKind == UnaryKind::Not || outerKind == UnaryKind::BitNot;
    if (isInvolution && innerKind == outerKind)
      return inner.getX();
    if (absorbs(outerKind, innerKind))
      return inner.getResult();
    if (outerKind == UnaryKind::Abs && innerKind == UnaryKind::Neg) {
      getXMutable().assign(inner.getX());
      return getResult();
    }
  }
  return foldSmallConstant(*this, adaptor.getOperands());
}

//===--- binary
//---------------------------------------------------------------------------------------------------===//

/// binary(x, c) is x for a constant whose elements are all `c`. For floats, -0 and 0 are different `c`.
static bool isRightIdentity(BinaryKind kind, double c, bool isFloat) {
  bool isZero = c == 0, isNegativeZero = isZero && std::signbit(c);
  switch (kind) {
  case BinaryKind::Mul:
  case BinaryKind::Div:
  case BinaryKind::Pow:
    return c == 1;
  case BinaryKind::Add:
    return isFloat ? isNegativeZero : isZero;
  case BinaryKind::Sub:
    return isFloat ? isZero && !isNegativeZero : isZero;
  case BinaryKind::Or:
  case BinaryKind::Xor:
  case BinaryKind::BitOr:
  case BinaryKind::BitXor:
  case BinaryKind::Shl:
  case BinaryKind::Shr:
    return isZero;
  case BinaryKind::And:
    return c == 1;
  default:
    return false;
  }
}

static bool commutes(BinaryKind kind) {
  switch (kind) {
  case BinaryKind::Mul:
  case BinaryKind::Add:
  case BinaryKind::Or:
  case BinaryKind::Xor:
  case BinaryKind::And:
  case BinaryKind::BitOr:
  case BinaryKind::BitXor:
    return true;
  default:
    return false;
  }
}

/// binary(x, x) is x.
static bool isIdempotent(BinaryKind kind) {
  switch (kind) {
  case BinaryKind::Min:
  case BinaryKind::Max:
  case BinaryKind::And:
  case BinaryKind::Or:
  case BinaryKind::BitAnd:
  case BinaryKind::BitOr:
    return true;
  default:
    return false;
  }
}

OpFoldResult BinaryOp::fold(FoldAdaptor adaptor) {
  BinaryKind kind = getKind();
  bool isFloat = isa<FloatType>(elementTypeOf(getX()));
  if (getX() == getY() && isIdempotent(kind))
    return getX();
  if (getX().getType() == getType())
    if (auto c = getSplat(getY()); c && isRightIdentity(kind, *c, isFloat))
      return getX();
  if (getY().getType() == getType() && commutes(kind))
    if (auto c = getSplat(getX()); c && isRightIdentity(kind, *c, isFloat))
      return getY();
  return foldSmallConstant(*this, adaptor.getOperands());
}

//===--- select
//---------------------------------------------------------------------------------------------------===//

OpFoldResult SelectOp::fold(FoldAdaptor adaptor) {
  if (getX() == getY() && getX().getType() == getType())
    return getX();
  if (auto condition = getSplat(getCondition())) {
    Value chosen = *condition != 0 ? getX() : getY();
    if (chosen.getType() == getType())
      return chosen;
  }
  return foldSmallConstant(*this, adaptor.getOperands());
}

//===--- cast
//-----------------------------------------------------------------------------------------------------===//

/// Significant bits of a float type.
static unsigned precision(DType type) {
  switch (type) {
  case DType::F16:
    return 11;
  case DType::BF16:
    return 8;
  case DType::F32:
    return 24;
  case DType::F64:
    return 53;
  default:
    return 0;
  }
}

/// `to` has every value of `from`.
static bool holdsAllOf(DType to, DType from) {
  if (to == from)
    return true;
  unsigned toBits = bitWidth(to), fromBits = bitWidth(from);
  if (to == DType::Bool)
    return false;
  if (from == DType::Bool)
    return isInt(to) ? toBits >= 8 : precision(to) != 0;
  if (isInt(to)) {
    if (!isInt(from))
      return false;
    if (isSignedInt(to) == isSignedInt(from))
      return toBits >= fromBits;
    return isSignedInt(to) && toBits > fromBits;
  }
  if (isInt(from)) // the lowest signed value is a power of two
    return fromBits - (isSignedInt(from) ? 1 : 0) <= precision(to);
  switch (from) {
  case DType::F16:
  case DType::BF16:
    return to == DType::F32 || to == DType::F64;
  case DType::F32:
    return to == DType::F64;
  case DType::F8E8M0:
    return to == DType::BF16 || to == DType::F32 || to == DType::F64;
  case DType::F64:
    return false;
  default: // the other 8-bit and 4-bit floats
    return precision(to) != 0;
  }
}

OpFoldResult CastOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType())
    return getX();
  if (auto inner = getX().getDefiningOp<CastOp>()) {
    DType from = dtypeOf(inner.getX()), middle = dtypeOf(getX()), to = dtypeOf(getY());
    // To integers, floats clamp and integers wrap: the middle must not change which of both happens.
    bool sameRule = !isInt(to) || from == DType::Bool || isInt(from) == isInt(middle);
    if (sameRule && holdsAllOf(middle, from)) {
      getXMutable().assign(inner.getX());
      return getResult();
    }
  }
  return foldSmallConstant(*this, adaptor.getOperands());
}

} // namespace gpuc

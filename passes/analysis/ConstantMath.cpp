// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Evaluates detached expressions with the reference executor.
#include "ConstantMath.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/Evaluate.h"
#include <limits>

using namespace mlir;

namespace gpuc {

ElementsAttr evaluateConstants(MLIRContext *context, llvm::function_ref<Value(OpBuilder &)> build) {
  Block block;
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&block);
  Value wanted = build(builder);
  if (ElementsAttr known = getConstant(wanted))
    return known;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isa<ConstantOp>(op))
      continue;
    llvm::SmallVector<Attribute> values;
    if (failed(foldToConstants(&op, std::numeric_limits<int64_t>::max(), values)))
      return {};
    if (wanted.getDefiningOp() == &op)
      return cast<ElementsAttr>(values[cast<OpResult>(wanted).getResultNumber()]);
    builder.setInsertionPoint(&op);
    for (auto [result, value] : llvm::zip(op.getResults(), values))
      result.replaceAllUsesWith(ConstantOp::create(builder, op.getLoc(), cast<ElementsAttr>(value)).getY());
    op.erase();
  }
  return {};
}

template <typename Word> static bool allFiniteBits(llvm::ArrayRef<char> bytes, Word exponent) {
  for (size_t i = 0; i + sizeof(Word) <= bytes.size(); i += sizeof(Word)) {
    Word word;
    memcpy(&word, bytes.data() + i, sizeof(Word));
    if ((word & exponent) == exponent)
      return false;
  }
  return true;
}

bool allFinite(ElementsAttr constant) {
  Type type = constant.getElementType();
  ConstantBytes data = constantBytes(constant);
  if (type.isF16())
    return allFiniteBits<uint16_t>(data.bytes, 0x7c00);
  if (type.isBF16())
    return allFiniteBits<uint16_t>(data.bytes, 0x7f80);
  if (type.isF32())
    return allFiniteBits<uint32_t>(data.bytes, 0x7f800000);
  if (type.isF64())
    return allFiniteBits<uint64_t>(data.bytes, 0x7ff0000000000000);
  return false;
}

} // namespace gpuc

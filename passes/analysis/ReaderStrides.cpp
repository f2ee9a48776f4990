// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strided reads of root operands, and offsets of concatenated parts.
#include "ReaderStrides.h"
#include "gpuc/IR/Storage.h"
#include "gpuc/IR/StridedView.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Kernels/FamilyTraits.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace gpuc {

bool canFollow(KernelOp reader, unsigned operand, llvm::ArrayRef<int64_t> strides) {
  Operation *root = reader.getRoot();
  const FamilyTraits *traits = root ? findFamilyTraits(root->getName().getStringRef()) : nullptr;
  if (!traits)
    return true;
  BlockArgument argument = reader.getBody().getArgument(operand);
  for (auto [i, v] : llvm::enumerate(root->getOperands())) {
    if ((traits->prologue && i == 0) || stripViews(v) != argument)
      continue;
    if (!traceStridedView(v, [&](Value) { return llvm::to_vector(strides); }))
      return false;
  }
  return true;
}

bool partsAreAligned(ConcatOp concat, llvm::ArrayRef<int64_t> strides) {
  int64_t axis = concat.getAxis(), offset = 0, bits = bitWidth(dtypeOf(concat.getY()));
  for (Value input : concat.getInputs()) {
    if (offset * strides[axis] * bits / 8 % kPartAlignment != 0)
      return false;
    offset += shapeOf(input)[axis];
  }
  return true;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel knows of the buffers behind its operands and results, and the text at the top of its unit.
#include "gpuc/Codegen/Functor.h"
#include "gpuc/IR/Storage.h"
#include "gpuc/IR/StridedView.h"
#include "gpuc/IR/Types.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace gpuc {
namespace {

constexpr int64_t kBufferAlignment = 16; ///< of whole buffers, in bytes; more never helps

/// Bytes that the buffer behind a value outside kernels is aligned to. Only values placed in the arena can
/// have less than the full alignment (parts of a concatenation).
int64_t bufferAlignment(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return kBufferAlignment;
  if (isa<ReshapeOp>(op) || (isa<ConcatOp>(op) && op->getNumOperands() > 0))
    return bufferAlignment(op->getOperand(0));
  auto kernel = dyn_cast<KernelOp>(op);
  if (!kernel || !kernel.getOffsets())
    return kBufferAlignment;
  int64_t offset = (*kernel.getOffsets())[cast<OpResult>(value).getResultNumber()];
  int64_t alignment = kBufferAlignment;
  while (offset > 0 && offset % alignment != 0)
    alignment /= 2;
  return alignment;
}

bool isConstantValue(Value value) { return isa_and_nonnull<ConstantOp>(value.getDefiningOp()); }

/// Text for a comment: one line of printable ASCII without an end of comment.
std::string commentText(StringRef text) {
  std::string s;
  for (char c : text) {
    if (s.size() >= 200) {
      s += "...";
      break;
    }
    bool ok = c >= 0x20 && c < 0x7f && c != '\\' && c != '?'; // no line splices, no trigraphs
    s += ok && !(c == '/' && !s.empty() && s.back() == '*') && !(c == '*' && !s.empty() && s.back() == '/')
             ? c
             : '_';
  }
  return s;
}

void collectNames(Location loc, SmallVectorImpl<std::string> &names) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    std::string text = commentText(name.getName().strref());
    if (!llvm::is_contained(names, text))
      names.push_back(text);
  } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
    for (Location l : fused.getLocations())
      collectNames(l, names);
  } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
    collectNames(call.getCallee(), names);
  }
}

} // namespace

SmallVector<int64_t> argumentStrides(KernelOp kernel, BlockArgument argument) {
  return storageStrides(kernel.getInputs()[argument.getArgNumber()]);
}

BufferAccess argumentAccess(KernelOp kernel, BlockArgument argument, StringRef pointer) {
  Value operand = kernel.getInputs()[argument.getArgNumber()];
  BufferAccess access;
  access.pointer = pointer.str();
  access.elementType = storageTypeName(elementTypeOf(argument));
  access.elementBits = bitWidth(dtypeOf(argument));
  access.strides = storageStrides(operand);
  access.alignment = bufferAlignment(operand);
  access.readOnlyConstant = isConstantValue(operand);
  return access;
}

BufferAccess resultAccess(KernelOp kernel, unsigned result, StringRef pointer) {
  BufferAccess access;
  access.pointer = pointer.str();
  access.elementType = storageTypeName(elementTypeOf(kernel.getResult(result)));
  access.elementBits = bitWidth(dtypeOf(kernel.getResult(result)));
  access.strides = kernel.getStorageStrides(result);
  access.alignment = bufferAlignment(kernel.getResult(result));
  return access;
}

std::optional<ArgumentView> analyzeStridedView(Value value, ArrayRef<int64_t> argumentStrides) {
  auto view = traceStridedView(value, [&](Value) { return SmallVector<int64_t>(argumentStrides); });
  if (!view || !isa<BlockArgument>(view->base) || shapeOf(view->base).size() != argumentStrides.size())
    return std::nullopt;
  return ArgumentView{cast<BlockArgument>(view->base), view->offset, view->strides};
}

std::string indexTypeFor(KernelOp kernel) {
  // Tiles may reach past the end before they are cut: leave room for one.
  constexpr int64_t kLimit = (int64_t(1) << 31) - (int64_t(1) << 20);
  auto small = [&](ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= std::max<int64_t>(extent, 1);
    return count < kLimit && storageExtent(shape, strides) < kLimit;
  };
  bool fits = true;
  for (Value operand : kernel.getInputs())
    fits &= small(shapeOf(operand), storageStrides(operand));
  for (auto [i, result] : llvm::enumerate(kernel.getResults()))
    fits &= small(shapeOf(result), kernel.getStorageStrides(i));
  // Values inside the region (a broadcast, a tile) may be larger than any buffer.
  kernel.getBody().walk([&](Operation *op) {
    for (Value v : op->getResults())
      fits &= small(shapeOf(v), rowMajorStrides(shapeOf(v)));
  });
  return fits ? "i32" : "i64";
}

std::string unitBanner(KernelOp kernel, StringRef family, StringRef variant) {
  SmallVector<std::string> names;
  collectNames(kernel.getLoc(), names);
  kernel.getBody().walk([&](Operation *op) { collectNames(op->getLoc(), names); });
  std::string s = ("// gpuc " + family + " kernel, variant " + variant + "\n").str();
  constexpr size_t kMaxNames = 16;
  for (const std::string &name : ArrayRef(names).take_front(kMaxNames))
    s += "// " + name + "\n";
  if (names.size() > kMaxNames)
    s += "// and " + std::to_string(names.size() - kMaxNames) + " more\n";
  return s;
}

} // namespace gpuc

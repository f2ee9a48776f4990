// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses storage layouts of kernel results: channels-last around convolutions, row-major elsewhere.
#include "analysis/ReaderStrides.h"
#include "gpuc/IR/OpClasses.h"
#include "gpuc/IR/Storage.h"
#include "gpuc/IR/StridedView.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Kernels/FamilyTraits.h"
#include "gpuc/Passes/Passes.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "gpuc/Passes/Passes.h.inc"

namespace {

/// Bytes that a channel vector should have: 16-byte loads along the channels.
constexpr int64_t kVectorBytes = 16;

/// A convolution gains from channels-last data when whole vectors of one group's channels exist, or when
/// every channel is a group.
bool wantsChannelsLast(Value tensor, int64_t group) {
  auto shape = shapeOf(tensor);
  int64_t channels = shape[1], perGroup = channels / std::max<int64_t>(group, 1);
  int64_t vector = kVectorBytes * 8 / bitWidth(dtypeOf(tensor));
  bool depthwise = perGroup == 1 && channels > 1;
  return (depthwise ? channels : perGroup) % vector == 0;
}

/// Equal but for axes of one element, whose strides say nothing.
bool sameLayout(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] > 1 && a[i] != b[i])
      return false;
  return true;
}

/// Ops on images that compute channels-last data at least as fast as row-major data.
bool isWindowOp(Operation *op) {
  return isa<ConvOp, ConvTransposeOp, MaxPoolOp, AvgPoolOp, SqueezeExciteOp>(op);
}

/// The value outside the kernel behind a region value, through views; null when it is computed inside.
Value outsideBase(KernelOp kernel, Value inside) {
  auto argument = dyn_cast<BlockArgument>(stripViews(inside));
  return argument ? kernel.getInputs()[argument.getArgNumber()] : Value();
}

struct AssignLayouts : impl::AssignLayoutsBase<AssignLayouts> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    for (auto kernel : function.getOps<KernelOp>())
      chooseStorage(kernel);
    for (auto concat : function.getOps<ConcatOp>())
      chooseStorage(concat);
    for (auto kernel : llvm::to_vector(function.getOps<KernelOp>()))
      repairOperands(kernel);
    repairAliases(function);
  }

  /// True when some reader of the value is a window op that wants channels-last data.
  bool readersWantChannelsLast(Value value) {
    return llvm::any_of(value.getUses(), [&](OpOperand &use) {
      if (auto concat = dyn_cast<ConcatOp>(use.getOwner()))
        return readersWantChannelsLast(concat.getY());
      auto kernel = dyn_cast<KernelOp>(use.getOwner());
      if (!kernel || !kernel.getRoot() || !isa<ConvOp, ConvTransposeOp>(kernel.getRoot()))
        return false;
      Value x = kernel.getRoot()->getOperand(0);
      return x == kernel.getBody().getArgument(use.getOperandNumber()) &&
             wantsChannelsLast(value, groupOf(kernel.getRoot()));
    });
  }

  static int64_t groupOf(Operation *root) {
    if (auto conv = dyn_cast<ConvOp>(root))
      return conv.getGroup();
    if (auto conv = dyn_cast<ConvTransposeOp>(root))
      return conv.getGroup();
    return 1;
  }

  /// Returned values belong to the caller and are row-major.
  static bool isReturned(Value value) {
    return llvm::any_of(value.getUsers(),
                        [](Operation *user) { return isa<func::ReturnOp, ReshapeOp>(user); });
  }

  static bool isChannelsLast(Value value) {
    auto shape = shapeOf(value);
    return shape.size() >= 3 && !isRowMajor(value) &&
           sameLayout(shape, storageStrides(value), channelsLastStrides(shape));
  }

  void chooseStorage(KernelOp kernel) {
    Operation *root = kernel.getRoot();
    for (auto [i, result] : llvm::enumerate(kernel.getResults())) {
      auto shape = shapeOf(result);
      if (shape.size() < 3 || shape[1] == 1 || isReturned(result) || bitWidth(dtypeOf(result)) < 8)
        continue;
      bool channelsLast = false;
      if (root && isa<ConvOp, ConvTransposeOp>(root))
        channelsLast =
            result.getType() == root->getResult(0).getType() || shape == shapeOf(root->getResult(0));
      // Spatial sizes of one element make both layouts equal; leave those alone unless asked for.
      channelsLast &= wantsChannelsLast(result, 1) && readersFollow(result, channelsLastStrides(shape));
      channelsLast |= readersWantChannelsLast(result);
      if (!channelsLast)
        channelsLast = followsOperand(kernel, result);
      if (channelsLast)
        kernel.setStorageStrides(unsigned(i), channelsLastStrides(shape));
    }
  }

  /// No reader of the value would need a copy of it: roots read their operands through strides.
  static bool readersFollow(Value value, llvm::ArrayRef<int64_t> strides) {
    return llvm::all_of(value.getUses(), [&](OpOperand &use) {
      auto kernel = dyn_cast<KernelOp>(use.getOwner());
      return !kernel || canFollow(kernel, use.getOperandNumber(), strides);
    });
  }

  /// Pooling and pointwise kernels keep the layout of their largest operand.
  bool followsOperand(KernelOp kernel, Value result) {
    Operation *root = kernel.getRoot();
    if (root && !isWindowOp(root))
      return false;
    auto shape = shapeOf(result);
    int64_t channelsLastBytes = 0, otherBytes = 0;
    for (Value input : kernel.getInputs()) {
      auto in = shapeOf(input);
      if (in.size() != shape.size() || in[1] != shape[1] ||
          tensorType(input).getNumElements() * 4 < tensorType(result).getNumElements())
        continue;
      int64_t bytes = byteSize(dtypeOf(input), tensorType(input).getNumElements());
      (isChannelsLast(input) ? channelsLastBytes : otherBytes) += bytes;
    }
    return channelsLastBytes > otherBytes;
  }

  void chooseStorage(ConcatOp concat) {
    Value result = concat.getY();
    if (shapeOf(result).size() < 3)
      return;
    auto strides = channelsLastStrides(shapeOf(result));
    int64_t channelsLast = 0, other = 0;
    for (Value input : concat.getInputs())
      (isChannelsLast(input) ? channelsLast : other) += tensorType(input).getNumElements();
    if (channelsLast <= other || isReturned(result))
      return;
    // Parts at odd channels would have to be copied; row by row their producers can write them in place.
    bool inPlace =
        partsAreAligned(concat, strides) || !partsAreAligned(concat, rowMajorStrides(shapeOf(result)));
    if (inPlace || readersWantChannelsLast(result))
      concat->setAttr(kStorageAttr, DenseI64ArrayAttr::get(&getContext(), strides));
  }

  /// Readers that need strides (everything without a prologue) must be able to follow their views over the
  /// chosen storage.
  void repairOperands(KernelOp kernel) {
    Operation *root = kernel.getRoot();
    const FamilyTraits *traits = root ? findFamilyTraits(root->getName().getStringRef()) : nullptr;
    if (!traits)
      return;
    for (auto [i, operand] : llvm::enumerate(root->getOperands())) {
      if (traits->prologue && i == 0)
        continue;
      Value base = outsideBase(kernel, operand);
      if (!base)
        continue;
      auto strides = [&](Value v) -> llvm::SmallVector<int64_t> {
        auto argument = dyn_cast<BlockArgument>(v);
        return argument ? storageStrides(kernel.getInputs()[argument.getArgNumber()])
                        : rowMajorStrides(shapeOf(v));
      };
      bool copy = !traceStridedView(operand, strides);
      llvm::SmallVector<int64_t> wanted = rowMajorStrides(shapeOf(base));
      // A convolution reads any strides, but slowly when whole channel vectors could be loaded.
      bool plain = isa<BlockArgument>(operand);
      if (i == 0 && isa<ConvOp, ConvTransposeOp>(root) && plain && wantsChannelsLast(base, groupOf(root)) &&
          isRowMajor(base) &&
          !sameLayout(shapeOf(base), storageStrides(base), channelsLastStrides(shapeOf(base)))) {
        copy = true;
        wanted = channelsLastStrides(shapeOf(base));
      }
      if (copy)
        insertCopy(kernel, base, wanted);
    }
  }

  void insertCopy(KernelOp reader, Value value, llvm::ArrayRef<int64_t> strides) {
    OpBuilder builder(reader);
    KernelOp copy = makeCopy(builder, reader.getLoc(), value, strides);
    for (OpOperand &operand : reader->getOpOperands())
      if (operand.get() == value)
        operand.set(copy.getResult(0));
    remark::missed(reader.getLoc(), remark::RemarkOpts::name("LayoutCopy").category("layout"))
        << "an operand is copied into another layout before this kernel";
  }

  static KernelOp makeCopy(OpBuilder &builder, Location loc, Value value, llvm::ArrayRef<int64_t> strides) {
    OperationState state(loc, KernelOp::getOperationName());
    Block *body = new Block;
    state.addRegion()->push_back(body);
    Value argument = body->addArgument(value.getType(), loc);
    OpBuilder inner(builder.getContext());
    inner.setInsertionPointToEnd(body);
    YieldOp::create(inner, loc, ValueRange{argument});
    state.addOperands(value);
    state.addTypes(value.getType());
    state.addAttribute("family", builder.getStringAttr("pointwise"));
    auto copy = cast<KernelOp>(builder.create(state));
    if (strides != llvm::ArrayRef<int64_t>(rowMajorStrides(shapeOf(value))))
      copy.setStorageStrides(0, strides);
    return copy;
  }

  /// A reshape outside kernels is an alias only of row-major data (its source is never returned itself when
  /// it isn't).
  void repairAliases(func::FuncOp function) {
    for (auto reshape : llvm::to_vector(function.getOps<ReshapeOp>()))
      if (!isRowMajor(reshape.getX())) {
        OpBuilder builder(reshape);
        reshape.getXMutable().assign(
            makeCopy(builder, reshape.getLoc(), reshape.getX(), rowMajorStrides(shapeOf(reshape.getX())))
                .getResult(0));
      }
  }
};

} // namespace
} // namespace gpuc

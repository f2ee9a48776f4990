// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products whose epilogue the library can't express, where the library is so much faster that a second kernel
// for the rest pays: the product with its bias becomes one kernel, the rest a pointwise kernel that works in
// place on its result.
#include "LibraryProducts.h"
#include "gpuc/IR/OpClasses.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Passes/Memory.h"
#include "kernels/matmul/Matmul.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace gpuc {

namespace {

/// Share of the tensor cores' peak that gpuc's mma.sync kernels and the library reach on large problems, and
/// what a library call costs besides: it neither waits nor triggers early, so neighbours don't overlap with
/// it. Measured on an H200 (docs/benchmarks.md). gpuc's wgmma kernels are as fast as the library and compute
/// any epilogue: where there is one, the library is not asked (kernels/wgmma/README.md).
constexpr double kOwnShareOfPeak = 0.40, kLibraryShareOfPeak = 0.70, kLibraryCallSeconds = 2.5e-6;
/// Own tiles have up to 128 rows. A little more than one tile of rows fills the machine badly: there the
/// library is ahead from this size on.
constexpr int64_t kOwnTileRows = 128, kFewRows = 1024;
constexpr double kFewRowsFlops = 3e8;

double flopsOf(const MatmulProblem &p) {
  return 2.0 * double(p.m) * double(p.n) * double(p.k) * double(p.batch);
}

/// Seconds that the library is expected to gain; negative when it is slower.
double libraryGain(const MatmulProblem &p, const Target &target) {
  if (!libraryCompetes(p, target))
    return -1;
  double peak = target.fp16Tflops * 1e12, flops = flopsOf(p);
  if (p.batch == 1 && p.m > kOwnTileRows && p.m <= kFewRows && flops >= kFewRowsFlops)
    return kLibraryCallSeconds;
  return flops / (kOwnShareOfPeak * peak) - flops / (kLibraryShareOfPeak * peak) - kLibraryCallSeconds;
}

/// Last value of the product's part of the kernel: the product, or its sum with a bias along the columns.
Value endOfProduct(KernelOp kernel, MatmulOp root) {
  Value z = root.getZ();
  if (!z.hasOneUse())
    return z;
  auto add = dyn_cast<BinaryOp>(*z.getUsers().begin());
  if (!add || add.getKind() != BinaryKind::Add || add.getType() != z.getType())
    return z;
  Value other = add.getX() == z ? add.getY() : add.getX();
  bool vector = isa<BlockArgument>(other) && tensorType(other).getNumElements() == shapeOf(z).back();
  return vector ? add.getZ() : z;
}

/// A kernel with all inputs of `like` (and `extra`), holding the given ops and yielding `result`.
KernelOp makeKernel(OpBuilder &builder, KernelOp like, llvm::StringRef family,
                    llvm::ArrayRef<Operation *> ops, Value result, Value computed = {}, Value stored = {}) {
  OperationState state(like.getLoc(), KernelOp::getOperationName());
  Block *body = new Block;
  state.addRegion()->push_back(body);
  OpBuilder inner(builder.getContext());
  inner.setInsertionPointToEnd(body);
  IRMapping mapping;
  llvm::SmallVector<Value> inputs;
  if (computed) {
    inputs.push_back(stored);
    mapping.map(computed, body->addArgument(computed.getType(), like.getLoc()));
  }
  for (Operation *op : ops)
    for (Value operand : op->getOperands())
      if (auto argument = dyn_cast<BlockArgument>(operand); argument && !mapping.contains(operand)) {
        inputs.push_back(like.getInputs()[argument.getArgNumber()]);
        mapping.map(operand, body->addArgument(operand.getType(), like.getLoc()));
      }
  for (Operation *op : ops)
    inner.clone(*op, mapping);
  YieldOp::create(inner, like.getLoc(), ValueRange{mapping.lookup(result)});
  state.addOperands(inputs);
  state.addTypes(result.getType());
  state.addAttribute("family", builder.getStringAttr(family));
  auto kernel = cast<KernelOp>(builder.create(state));
  if (like.getStorage())
    kernel.setStorageAttr(like.getStorageAttr());
  kernel.setOffsetsAttr(like.getOffsetsAttr());
  return kernel;
}

void trySplit(KernelOp kernel, const Target &target) {
  auto root = dyn_cast_or_null<MatmulOp>(kernel.getRoot());
  if (!root || kernel.getNumResults() != 1 || !kernel.getOffsets() ||
      (*kernel.getOffsets())[0] == kReturnedOffset || libraryMatmul(kernel) ||
      hasWarpgroupBody(kernel, target))
    return;
  Value end = endOfProduct(kernel, root);
  if (end.getType() != kernel.getResult(0).getType())
    return;
  // The product's part is what `end` needs; the rest must be pointwise on one shape.
  llvm::SmallPtrSet<Operation *, 8> needed;
  llvm::SmallVector<Operation *> work{end.getDefiningOp()};
  while (!work.empty()) {
    Operation *op = work.pop_back_val();
    if (!needed.insert(op).second)
      continue;
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp())
        work.push_back(def);
  }
  llvm::SmallVector<Operation *> product, rest;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (needed.contains(&op)) {
      product.push_back(&op);
      if (isa<ConstantOp>(op))
        rest.push_back(&op);
      continue;
    }
    bool pointwise = isPointwiseOp(&op) && shapeOf(op.getResult(0)) == shapeOf(end);
    if (!pointwise && !isa<ConstantOp>(op))
      return;
    for (Value operand : op.getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && operand != end && needed.contains(def) && !isa<ConstantOp>(def))
        return;
    rest.push_back(&op);
  }
  Value result = kernel.getYield()->getOperand(0);
  if (rest.empty() || result == end)
    return;
  OpBuilder builder(kernel);
  KernelOp first = makeKernel(builder, kernel, "matmul", product, end);
  auto library = libraryMatmul(first);
  double rest2 =
      2.0 * double(byteSize(dtypeOf(end), tensorType(end).getNumElements())) / (target.memoryGBps * 1e9);
  if (!library || libraryGain(library->problem, target) <= rest2) {
    first.erase();
    return;
  }
  KernelOp second = makeKernel(builder, kernel, "pointwise", rest, result, end, first.getResult(0));
  kernel.getResult(0).replaceAllUsesWith(second.getResult(0));
  kernel.erase();
}

} // namespace

bool libraryCompetes(const MatmulProblem &problem, const Target &target) {
  return target.hasWgmma && (problem.dtypeA == DType::F16 || problem.dtypeA == DType::BF16);
}

bool prefersLibrary(const MatmulProblem &problem, const Target &target) {
  return libraryGain(problem, target) > 0;
}

void splitProductsForLibrary(func::FuncOp function, const Target &target) {
  if (!target.hasWgmma)
    return;
  for (auto kernel : llvm::to_vector(function.getOps<KernelOp>()))
    trySplit(kernel, target);
}

} // namespace gpuc

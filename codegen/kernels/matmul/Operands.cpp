// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Strided operands and the common parts of units of contractions.
#include "Operands.h"
#include "gpuc/IR/Types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace gpuc {

std::optional<OperandView> viewOperand(KernelOp kernel, Value value) {
  Value base = value;
  while (Operation *op = base.getDefiningOp()) {
    if (op->getNumOperands() != 1)
      return std::nullopt;
    base = op->getOperand(0);
  }
  auto argument = cast<BlockArgument>(base);
  auto view = analyzeStridedView(value, argumentStrides(kernel, argument));
  if (!view)
    return std::nullopt;
  OperandView result;
  result.index = argument.getArgNumber();
  result.offset = view->offset;
  result.strides = view->strides;
  result.constant = kernel.getInputs()[result.index].getDefiningOp<ConstantOp>() != nullptr;
  return result;
}

std::string shiftedPointer(llvm::StringRef pointer, const OperandView &view) {
  return view.offset == 0 ? pointer.str() : (pointer + " + " + std::to_string(view.offset)).str();
}

PackingKernel packingKernel(std::string text, unsigned index, int64_t elements, int64_t elementBytes,
                            std::string key) {
  PackingKernel pack;
  pack.kernel.text = std::move(text);
  pack.kernel.grid.x = uint32_t(llvm::divideCeil(elements, kPackingThreads));
  pack.kernel.block.x = kPackingThreads;
  pack.kernel.programmaticDependent = false;
  pack.kernel.args = {operandArg(index), packedArg(0)};
  pack.bytes = elements * elementBytes;
  pack.key = std::move(key);
  return pack;
}

int64_t commonPowerOfTwo(llvm::ArrayRef<int64_t> numbers, int64_t limit) {
  while (limit > 1 && llvm::any_of(numbers, [&](int64_t n) { return n % limit != 0; }))
    limit /= 2;
  return limit;
}

void DenseOperand::chooseAccess(int64_t limit) {
  // An axis of extent 1 has no stride of its own: it may pass for contiguous.
  if (depth <= 1 && rowStride != 1)
    depthStride = 1;
  else if (rows <= 1 && depthStride != 1)
    rowStride = 1;
  access = 1;
  if (depthStride != 1 && rowStride != 1)
    return;
  llvm::SmallVector<int64_t> numbers(batchStrides.begin(), batchStrides.end());
  numbers.push_back(view.offset);
  bool alongDepth = depthStride == 1;
  int64_t other = alongDepth ? rowStride : depthStride;
  if ((alongDepth ? rows : depth) > 1)
    numbers.push_back(other);
  access = commonPowerOfTwo(numbers, limit);
  // Longer than the axis: the rest would be zeros only.
  while (access > 1 && access / 2 >= (alongDepth ? depth : rows))
    access /= 2;
}

std::string DenseOperand::text(llvm::StringRef name, llvm::StringRef elementType,
                               llvm::ArrayRef<int64_t> batchExtents, int64_t blockRows,
                               int64_t blockDepth) const {
  std::string offsets = std::to_string(view.offset);
  int64_t inner = 1;
  bool usesZ = false;
  for (size_t i = batchExtents.size(); i-- > 0;) {
    if (batchExtents[i] > 1 && batchStrides[i] != 0) {
      std::string digit = inner == 1 ? "z" : llvm::formatv("z / {0}", inner).str();
      bool outermost = llvm::all_of(batchExtents.take_front(i), [](int64_t e) { return e == 1; });
      if (!outermost)
        digit += llvm::formatv(" % {0}", batchExtents[i]).str();
      offsets += llvm::formatv(" + i64({0}) * {1}", digit, batchStrides[i]).str();
      usesZ = true;
    }
    inner *= batchExtents[i];
  }
  auto flag = [](bool b) { return b ? "true" : "false"; };
  std::string s =
      llvm::formatv("struct {0} {{ // ({1}, {2})\n  using T = {3};\n", name, rows, depth, elementType);
  s += llvm::formatv(
      "  static constexpr i64 kRows = {0}, kDepth = {1}, kRowStride = {2}, kDepthStride = {3};\n", rows,
      depth, rowStride, depthStride);
  s += llvm::formatv("  static constexpr int kAccess = {0};\n", access);
  s += llvm::formatv("  static constexpr bool kConstant = {0}, kWholeRows = {1}, kWholeDepth = {2};\n",
                     flag(view.constant), flag(rows % blockRows == 0), flag(depth % blockDepth == 0));
  s += llvm::formatv("  GPUC_DEVICE static i64 batchOffset({0}) {{ return {1}; }\n};\n",
                     usesZ ? "i32 z" : "i32", offsets);
  return s;
}

std::string unitHead(KernelOp kernel, llvm::StringRef family, llvm::StringRef variant,
                     llvm::ArrayRef<llvm::StringRef> includes) {
  std::string text = unitBanner(kernel, family, variant);
  for (llvm::StringRef include : includes)
    text += llvm::formatv("#include \"{0}\"\n", include);
  return text + "#include \"pointwise/access.cuh\"\n\nnamespace gpuc {\n";
}

std::string unitEntry(llvm::StringRef threads, llvm::ArrayRef<std::string> parameters) {
  std::string list;
  for (const std::string &p : parameters)
    if (!p.empty())
      list += (list.empty() ? "" : ", ") + p;
  return llvm::formatv("\nextern \"C\" __global__ void __launch_bounds__({0}) GPUC_ENTRY({1}) {{\n", threads,
                       list);
}

std::string unitEnd() { return "}\nGPUC_EXPORT(GPUC_ENTRY)\n} // namespace gpuc\n"; }

double kernelBytes(KernelOp kernel) {
  double bytes = 0;
  auto add = [&](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    bytes += double(tensor.getNumElements()) * std::max(1u, tensor.getElementTypeBitWidth() / 8);
  };
  for (Value v : kernel.getInputs())
    add(v.getType());
  for (Value v : kernel.getResults())
    add(v.getType());
  return bytes;
}

EmittedKernel emitSplitReduction(KernelOp kernel, llvm::StringRef family,
                                 llvm::ArrayRef<llvm::StringRef> includes, const std::string &declarations,
                                 llvm::ArrayRef<std::string> parameters, llvm::ArrayRef<EmittedArg> args,
                                 const std::string &makeOutput, const TileProblem &problem, int splits,
                                 unsigned lanes) {
  constexpr int kThreads = 256;
  llvm::StringRef sum = problem.math != TileMath::Simt ? "float" : "";
  std::string sumType = sum.empty() ? "Sum<Element>" : sum.str();
  EmittedKernel second;
  std::string text = unitHead(kernel, family, "sum of slices", includes) + declarations;
  llvm::SmallVector<std::string> all{"const " + sumType + " *partial"};
  all.append(parameters.begin(), parameters.end());
  text += unitEntry(std::to_string(kThreads), all) + makeOutput;
  text += "  runReduceSplits<Config>(partial, output);\n" + unitEnd();
  second.text = std::move(text);
  int64_t sums = problem.rows * problem.cols * problem.batch;
  int64_t items = problem.cols % lanes == 0 ? sums / lanes : sums;
  second.grid.x = uint32_t(llvm::divideCeil(items, kThreads));
  second.block.x = kThreads;
  second.args.push_back(scratchArg(sums * splits * sumBytes(problem.dtype)));
  second.args.insert(second.args.end(), args.begin(), args.end());
  return second;
}

} // namespace gpuc

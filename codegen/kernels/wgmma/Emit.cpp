// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operands as tensor maps, and units of products on the warpgroup tensor cores.
#include "Wgmma.h"
#include "emit/UnitText.h"
#include "gpuc/IR/Types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace gpuc {

constexpr int64_t kTileBytes = 128, kMapAlignment = 16; ///< of a k-tile's row; of what maps address
constexpr int64_t kGreatestDim = int64_t(1) << 31, kGreatestStride = (int64_t(1) << 40) - kMapAlignment;
constexpr unsigned kMostBatchAxes = 2;

static int64_t bytesOf(DType dtype) { return bitWidth(dtype) / 8; }

/// Batch axes that a map needs, innermost first.
static llvm::SmallVector<size_t> mappedAxes(llvm::ArrayRef<int64_t> extents,
                                            llvm::ArrayRef<int64_t> strides) {
  llvm::SmallVector<size_t> axes;
  for (size_t i = extents.size(); i-- > 0;)
    if (extents[i] > 1 && strides[i] != 0)
      axes.push_back(i);
  return axes;
}

static bool isMappable(int64_t stride, int64_t elementBytes) {
  return stride > 0 && stride * elementBytes % kMapAlignment == 0 && stride * elementBytes <= kGreatestStride;
}

/// A map of `inner` x `outer` elements whose batch axes follow; nothing when the hardware can't address it.
static std::optional<TensorMapLayout> matrixMap(int64_t inner, int64_t outer, int64_t outerStride,
                                                int64_t offset, llvm::ArrayRef<int64_t> extents,
                                                llvm::ArrayRef<int64_t> strides, DType dtype) {
  int64_t bytes = bytesOf(dtype);
  auto axes = mappedAxes(extents, strides);
  if (outer == 1) // has no stride of its own
    outerStride = int64_t(llvm::alignTo(inner, kMapAlignment / bytes));
  if (axes.size() > kMostBatchAxes || inner <= 0 || outer <= 0 || std::max(inner, outer) >= kGreatestDim ||
      offset * bytes % kMapAlignment != 0 || !isMappable(outerStride, bytes))
    return std::nullopt;
  TensorMapLayout map;
  map.dtype = dtype;
  map.rank = 2 + int(axes.size());
  map.dims[0] = uint64_t(inner);
  map.dims[1] = uint64_t(outer);
  map.strides[0] = uint64_t(outerStride * bytes);
  map.box[0] = map.box[1] = 64;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    if (!isMappable(strides[axis], bytes))
      return std::nullopt;
    map.dims[2 + i] = uint64_t(extents[axis]);
    map.strides[1 + i] = uint64_t(strides[axis] * bytes);
    map.box[2 + i] = 1;
  }
  map.swizzle = TensorMapLayout::Swizzle::B128;
  map.byteOffset = uint64_t(offset * bytes);
  return map;
}

std::string batchCoordinate(llvm::ArrayRef<int64_t> extents, size_t axis) {
  int64_t inner = 1;
  for (int64_t extent : extents.drop_front(axis + 1))
    inner *= extent;
  bool outermost = llvm::all_of(extents.take_front(axis), [](int64_t e) { return e == 1; });
  std::string digit = inner == 1 ? "z" : llvm::formatv("z / {0}", inner).str();
  return outermost ? digit : llvm::formatv("{0} % {1}", digit, extents[axis]).str();
}

std::string batchAxesText(llvm::ArrayRef<int64_t> extents, llvm::ArrayRef<int64_t> strides) {
  auto axes = mappedAxes(extents, strides);
  std::string text = llvm::formatv("  static constexpr int kBatchAxes = {0};\n", axes.size());
  if (axes.empty())
    return text;
  llvm::SmallVector<std::string> digits;
  for (size_t axis : axes)
    digits.push_back(batchCoordinate(extents, axis));
  return text + llvm::formatv("  GPUC_DEVICE static i32 batch(int{0}, i32 z) {{ return {1}; }\n",
                              digits.size() > 1 ? " axis" : "",
                              digits.size() > 1 ? "axis == 0 ? " + digits[0] + " : " + digits[1] : digits[0])
                    .str();
}

void WgmmaOperand::setRows(int rows) {
  TensorMapLayout &map = *arg.map;
  if (map.im2col)
    map.pixelsPerColumn = uint32_t(rows);
  else if (depthContiguous)
    map.box[size_t(rowDimension)] = uint32_t(rows);
}

std::optional<WgmmaMatrix> wgmmaMatrix(const DenseOperand &operand, llvm::ArrayRef<int64_t> batchExtents,
                                       DType dtype) {
  int64_t bytes = bytesOf(dtype);
  auto map = [&](bool transposed) {
    return matrixMap(transposed ? operand.rows : operand.depth, transposed ? operand.depth : operand.rows,
                     transposed ? operand.depthStride : operand.rowStride, operand.view.offset, batchExtents,
                     operand.batchStrides, dtype);
  };
  if ((operand.depthStride == 1 || operand.depth == 1) && map(false))
    return WgmmaMatrix{operand};
  if (operand.view.constant && mappedAxes(batchExtents, operand.batchStrides).empty() &&
      operand.rows * int64_t(llvm::alignTo(operand.depth, 64)) < kGreatestDim)
    return WgmmaMatrix{operand, /*packed=*/true};
  if (bytes == 2 && operand.rowStride == 1 && map(true))
    return WgmmaMatrix{operand, false, /*transposed=*/true};
  return std::nullopt;
}

WgmmaOperand wgmmaOperand(KernelOp kernel, llvm::StringRef family, llvm::StringRef name,
                          const WgmmaMatrix &matrix, llvm::ArrayRef<int64_t> batchExtents, DType dtype,
                          llvm::StringRef element, const WgmmaVariant &variant, bool sideA,
                          unsigned packedIndex) {
  const DenseOperand &o = matrix.operand;
  int64_t elements = kTileBytes / bytesOf(dtype);
  int blockRows = sideA ? variant.blockA : variant.blockB;
  WgmmaOperand out;
  out.depthContiguous = !matrix.transposed;
  out.arg = operandArg(o.view.index);
  if (matrix.packed) {
    int64_t padded = int64_t(llvm::alignTo(o.depth, kMapAlignment / bytesOf(dtype)));
    DenseOperand plain = o;
    plain.batchStrides.clear();
    std::string declaration = plain.text("Operand", element, {}, o.rows, o.depth);
    std::string text =
        unitHead(kernel, family, "pack", {"wgmma/pack.cuh"}) + declaration +
        unitEntry(std::to_string(kPackingThreads),
                  {("const " + element + " *w").str(), (element + " *packed").str()}) +
        llvm::formatv("  packRows<Operand, {0}>(w, packed, i64(blockIdx.x) * blockDim.x + threadIdx.x);\n",
                      padded)
            .str() +
        unitEnd();
    out.packing = packingKernel(std::move(text), o.view.index, o.rows * padded, bytesOf(dtype),
                                "wgmma rows\n" + declaration);
    out.arg = packedArg(packedIndex);
    out.arg.map = matrixMap(o.depth, o.rows, padded, 0, {}, {}, dtype);
  } else {
    out.arg.map = matrixMap(matrix.transposed ? o.rows : o.depth, matrix.transposed ? o.depth : o.rows,
                            matrix.transposed ? o.depthStride : o.rowStride, o.view.offset, batchExtents,
                            o.batchStrides, dtype);
  }
  out.arg.map->box[0] = uint32_t(elements);
  out.setRows(blockRows);
  out.text = llvm::formatv(
      "struct {0} {{ // ({1}, {2})\n  static constexpr int kElements = {3}, kBlockRows = {4};\n"
      "  static constexpr bool kConstant = {5}, kDepthContiguous = {6};\n",
      name, o.rows, o.depth, elements, blockRows, boolText(o.view.constant), boolText(!matrix.transposed));
  llvm::SmallVector<int64_t> noBatch(batchExtents.size(), 0);
  out.text += batchAxesText(batchExtents, matrix.packed ? llvm::ArrayRef<int64_t>(noBatch) : o.batchStrides);
  out.text += "};\n";
  out.source = ("MatrixSource<" + name + ">").str();
  return out;
}

std::optional<WgmmaStaged> stageResult(KernelOp kernel, Value root, FunctorShape shape, unsigned rowGroup,
                                       unsigned colGroup, bool swapped, const WgmmaProblem &p,
                                       llvm::ArrayRef<int64_t> batchExtents) {
  DType dtype = dtypeOf(kernel.getResult(0));
  if ((dtype != DType::F16 && dtype != DType::BF16 && dtype != DType::F32) || p.cols % 2 != 0 ||
      (swapped && p.rows % 2 != 0))
    return std::nullopt;
  shape.laneGroup = swapped ? rowGroup : colGroup;
  shape.lanes = 2;
  auto values = emitEpilogueValues(kernel, root, shape);
  if (!values)
    return std::nullopt;
  WgmmaStaged out{std::move(*values), {}, std::nullopt, ""};
  auto map = [&](const GroupLayout &layout, llvm::StringRef name) -> std::optional<TensorMapLayout> {
    if (layout.strides[colGroup] != 1)
      return std::nullopt;
    llvm::ArrayRef<int64_t> strides = llvm::ArrayRef<int64_t>(layout.strides).take_front(batchExtents.size());
    out.layouts += llvm::formatv("struct {0} {{\n{1}};\n", name, batchAxesText(batchExtents, strides));
    auto made =
        matrixMap(p.cols, p.rows, layout.strides[rowGroup], layout.offset, batchExtents, strides, dtype);
    if (made)
      made->box[0] = uint32_t(kTileBytes / bytesOf(dtype));
    return made;
  };
  auto result = map(out.values.result, "ResultLayout");
  if (!result)
    return std::nullopt;
  // Every batch element has a place of its own.
  for (size_t i = 0; i < batchExtents.size(); ++i)
    if (batchExtents[i] > 1 && out.values.result.strides[i] == 0)
      return std::nullopt;
  out.result = *result;
  if (out.values.held) {
    out.held = map(out.values.heldLayout, "HeldLayout");
    if (!out.held)
      return std::nullopt;
  } else {
    out.layouts += "using HeldLayout = ResultLayout;\n";
  }
  return out;
}

std::string pairOutputText(const WgmmaProblem &p, const WgmmaVariant &v, const WgmmaStaged &staged,
                           llvm::StringRef members, llvm::StringRef before, llvm::StringRef coordinates) {
  int64_t tileRows = v.swapped ? v.blockB : v.blockA, tileCols = v.swapped ? v.blockA : v.blockB;
  std::string element = staged.result.dtype == DType::BF16  ? "bf16"
                        : staged.result.dtype == DType::F16 ? "f16"
                                                            : "float";
  std::string s =
      llvm::formatv("struct Output {{\n  using Element = {0};\n  static constexpr bool kHeld = {1}, "
                    "kWhole = {2};\n{3}",
                    element, boolText(staged.held.has_value()),
                    boolText(p.rows % tileRows == 0 && p.cols % tileCols == 0), members);
  s += "  const Epilogue &epilogue;\n  BlockMaps<ResultLayout, HeldLayout> maps;\n";
  const EmittedFunctor &f = staged.values.functor;
  s += rowStateMembers(f);
  s += llvm::formatv("  GPUC_DEVICE void compute(const float (&pair)[2], const Element (&held)[2], const Row "
                     "&{0}, i32 z, i32 "
                     "row,\n                           i32 col, float (&values)[2]) const {{\n"
                     "    float sums[2] = {{pair[0], pair[1]};\n",
                     f.hasRows ? "state" : "");
  s += before;
  s += llvm::formatv("    epilogue.compute(sums, held, {0}{1}, values);\n  }\n};\n",
                     f.hasRows ? "state, " : "", coordinates);
  return s;
}

std::string rowStateMembers(const EmittedFunctor &f) {
  std::string s = llvm::formatv("  static constexpr bool kRows = {0}, kMoments = {1};\n", boolText(f.hasRows),
                                boolText(f.hasMoments));
  s += f.hasRows
           ? "  template <int kSlices> using RowLoads = Epilogue::RowLoads<kSlices>;\n"
             "  using Row = Epilogue::Row;\n"
             "  template <int kSlices> GPUC_DEVICE auto loadRow(i32 row, int slice) const {\n"
             "    return epilogue.template loadRow<kSlices>(row, slice);\n  }\n"
             "  template <int kSlices, typename Loads> GPUC_DEVICE static Row row(const Loads &loads) {\n"
             "    return Epilogue::template row<kSlices>(loads);\n  }\n"
           : "  struct Row {};\n";
  if (f.hasMoments)
    s += "  static constexpr int kMomentColumns = Epilogue::kMomentColumns;\n"
         "  GPUC_DEVICE void storeMoments(i32 row, i32 part, float sum, float squares) const {\n"
         "    epilogue.storeMoments(row, part, sum, squares);\n  }\n";
  return s;
}

int epilogueInstructions(KernelOp kernel) {
  int count = 2; // a rounding, a store
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (auto unary = dyn_cast<UnaryOp>(op)) {
      switch (unary.getKind()) {
      case UnaryKind::Neg:
      case UnaryKind::Abs:
      case UnaryKind::Relu:
        count += 1;
        break;
      case UnaryKind::HardSigmoid:
      case UnaryKind::HardSwish:
      case UnaryKind::LeakyRelu:
        count += 4;
        break;
      case UnaryKind::Gelu:
      case UnaryKind::GeluTanh:
      case UnaryKind::Silu:
      case UnaryKind::Sigmoid:
        count += elementTypeOf(unary.getX()).isF32() ? 25 : 9; // common/half_math.cuh
        break;
      default:
        count += 20;
      }
    } else if (isa<BinaryOp, SelectOp, CastOp>(op)) {
      count += 1;
    }
  }
  return count;
}

std::string addBlockMaps(WgmmaUnit &unit, const WgmmaStaged &staged) {
  EmittedArg result;
  result.kind = EmittedArg::Kind::Result;
  result.map = staged.result;
  unit.parameters.push_back("const __grid_constant__ arch::TensorMap mapResult");
  unit.args.push_back(result);
  if (!staged.held)
    return "{&mapResult, nullptr}";
  EmittedArg held = operandArg(*staged.values.held);
  held.map = staged.held;
  unit.parameters.push_back("const __grid_constant__ arch::TensorMap mapHeld");
  unit.args.push_back(held);
  return "{&mapResult, &mapHeld}";
}

void addArguments(EmittedKernel &launch, const WgmmaUnit &unit, bool swapped) {
  launch.args = {unit.rows->arg, unit.cols->arg};
  if (swapped)
    std::swap(launch.args[0], launch.args[1]);
  launch.args.insert(launch.args.end(), unit.args.begin(), unit.args.end());
  for (const WgmmaOperand *operand : {unit.rows, unit.cols})
    if (operand->packing)
      launch.packing.push_back(*operand->packing);
}

EmittedKernel emitWgmma(KernelOp kernel, const WgmmaUnit &unit, const WgmmaVariant &v, const WgmmaProblem &p,
                        DType dtype, llvm::StringRef element, const Target &target) {
  const WgmmaOperand &a = v.swapped ? *unit.cols : *unit.rows, &b = v.swapped ? *unit.rows : *unit.cols;
  EmittedKernel out;
  llvm::SmallVector<llvm::StringRef> includes{"wgmma/product.cuh"};
  if (dtype == DType::F32)
    includes.push_back("arch/wgmma_tf32.cuh");
  includes.append(unit.includes.begin(), unit.includes.end());
  std::string text = unitHead(kernel, unit.family, v.name, includes);
  text += unit.declarations + a.text + b.text;
  text += llvm::formatv("struct Config {{\n  using T = {0};\n"
                        "  static constexpr i32 kM = {1}, kN = {2}, kBatch = {3};\n"
                        "  static constexpr i32 kSteps = {4}, kRun = {5}, kTail = {6};\n",
                        element, p.rows, p.cols, p.batch, p.steps, p.run, p.tail);
  text +=
      llvm::formatv("  static constexpr int kBlockA = {0}, kBlockB = {1}, kStages = {2}, kConsumers = {3}, "
                    "kStaging = {4};\n  static constexpr bool kPingPong = {5}, kSwapped = {6};\n};\n",
                    v.blockA, v.blockB, v.stages, v.consumers, v.buffers(p.resultBytes), boolText(v.pingPong),
                    boolText(v.swapped));
  text += unit.output;
  text += llvm::formatv("using SourceA = {0};\nusing SourceB = {1};\n", a.source, b.source);
  text += llvm::formatv("using Body = WgmmaProduct<Config, SourceA, SourceB, {0}<Config, Output>>;\n",
                        p.staged ? "StagedStore" : "SlabStore");
  int64_t shared = v.sharedBytes(p.staged ? p.resultBytes : 0);
  text += llvm::formatv("static_assert(sizeof(Body::Shared) <= {0}, \"as launched\");\n", shared);
  llvm::SmallVector<std::string> parameters{"const __grid_constant__ arch::TensorMap mapA",
                                            "const __grid_constant__ arch::TensorMap mapB"};
  parameters.append(unit.parameters.begin(), unit.parameters.end());
  text += unitEntry("Body::kThreads, " + std::to_string(v.blocksPerSM), parameters);
  text += "  GPUC_SMEM(Body::Shared, shared);\n" + unit.makeOutput;
  text += "  Body::run(shared, SourceA{&mapA}, SourceB{&mapB}, output);\n";
  out.text = text + unitEnd();
  int64_t rowsA = v.swapped ? p.cols : p.rows, rowsB = v.swapped ? p.rows : p.cols;
  int64_t tiles =
      int64_t(llvm::divideCeil(rowsA, v.blockA)) * int64_t(llvm::divideCeil(rowsB, v.blockB)) * p.batch;
  out.grid.x = uint32_t(std::min<int64_t>(tiles, v.slots(target)));
  out.block.x = uint32_t(v.threads());
  out.sharedBytes = uint32_t(shared);
  addArguments(out, unit, v.swapped);
  return out;
}

} // namespace gpuc

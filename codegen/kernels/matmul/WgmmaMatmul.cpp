// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Matmul kernels as problems and units of ../wgmma.
#include "WgmmaMatmul.h"
#include "../../emit/RowState.h"
#include "../slab/Slab.h"
#include "Matmul.h"
#include "gpuc/IR/Types.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace gpuc {

/// The epilogue's groups with every batch axis on its own: batch axes, then rows and columns as in
/// m.epilogue.
static FunctorShape stagedShape(const MatmulAnalysis &m) {
  FunctorShape shape = m.epilogue;
  size_t batchAxes = m.batchExtents.size();
  if (batchAxes == 0)
    return shape;
  shape.groups.erase(shape.groups.begin());
  for (size_t i = batchAxes; i-- > 0;)
    shape.groups.insert(shape.groups.begin(), {unsigned(i)});
  return shape;
}

static std::optional<WgmmaStaged> stage(KernelOp kernel, const MatmulAnalysis &m, const WgmmaProblem &p,
                                        bool swapped) {
  unsigned batchAxes = unsigned(m.batchExtents.size());
  // The result's columns are its last axis, or its rows' axis for column-major results.
  unsigned colGroup = batchAxes + (m.swapped ? 0 : 1), rowGroup = batchAxes + (m.swapped ? 1 : 0);
  return stageResult(kernel, MatmulOp(m.root).getZ(), stagedShape(m), rowGroup, colGroup, swapped, p,
                     m.batchExtents);
}

bool keepsRowState(const MatmulAnalysis &m) { return !m.swapped && m.batchExtents.empty() && m.lanes >= 2; }

std::optional<WgmmaMatmul> analyzeWgmmaMatmul(KernelOp kernel, const MatmulAnalysis &m,
                                              const Target &target) {
  if (!target.hasWgmma || !target.hasTma || m.isEmpty() || m.problem.depth == 0 ||
      m.problem.math == TileMath::Simt)
    return std::nullopt;
  WgmmaMatmul out;
  DType dtype = m.problem.dtype;
  auto rows = wgmmaMatrix(m.a, m.batchExtents, dtype), cols = wgmmaMatrix(m.b, m.batchExtents, dtype);
  if (!rows || !cols)
    return std::nullopt;
  out.rows = *rows;
  out.cols = *cols;
  WgmmaProblem &p = out.problem;
  p.rows = m.problem.rows;
  p.cols = m.problem.cols;
  p.batch = m.problem.batch;
  int64_t elements = 1024 / bitWidth(dtype), quarter = elements / 4;
  p.steps = int64_t(llvm::divideCeil(m.problem.depth, elements));
  p.run = p.steps;
  p.tail = int64_t(llvm::divideCeil(m.problem.depth - (p.steps - 1) * elements, quarter));
  if (RowMomentsOp moments = yieldedMoments(kernel))
    p.momentColumns = int64_t(moments.getColumns());
  p.rowState = hasRowState(kernel);
  if (p.rowState && !keepsRowState(m))
    return std::nullopt;
  p.constantCols = m.b.view.constant && !m.a.view.constant;
  p.transposedRows = rows->transposed;
  p.transposedCols = cols->transposed;
  p.bytes = m.problem.bytes;
  p.epilogueInstructions = epilogueInstructions(kernel);
  if (auto staged = stage(kernel, m, p, false)) {
    p.staged = true;
    p.held = staged->held.has_value();
    p.resultBytes = int(bitWidth(staged->result.dtype) / 8);
    p.swappable = !p.rowState && stage(kernel, m, p, true).has_value();
  }
  if (p.rows * p.cols >= (int64_t(1) << 31) * 8)
    return std::nullopt;
  return out;
}

bool hasWarpgroupBody(KernelOp kernel, const Target &target) {
  ScopedDiagnosticHandler quiet(kernel.getContext(), [](Diagnostic &) { return success(); });
  auto m = analyzeMatmul(kernel);
  return succeeded(m) && analyzeWgmmaMatmul(kernel, *m, target);
}

/// "struct Output" of ../slab.
static std::string slabOutputText(const MatmulAnalysis &m, const EmittedFunctor &f, unsigned lanes) {
  std::string coordinates = m.batchExtents.empty() ? "" : "z, ";
  coordinates += m.swapped ? "col, row" : "row, col";
  std::string s =
      f.text + llvm::formatv("struct Output {{\n  static constexpr int kLanes = {0};\n", lanes).str();
  s += "  const Epilogue &epilogue;\n" + rowStateMembers(f);
  s += f.hasLoads ? "  using Loads = Epilogue::Loads;\n"
                    "  GPUC_DEVICE Loads load(i32 z, i32 row, i32 col) const { return epilogue.load(" +
                        coordinates + "); }\n"
                  : "  struct Loads {};\n  GPUC_DEVICE Loads load(i32, i32, i32) const { return {}; }\n";
  s += llvm::formatv(
      "  GPUC_DEVICE void store(float (&values)[kLanes], const Row &{0}, const Loads &{1}, i32 z, i32 "
      "row, i32 col) const {{\n    epilogue.store(values, {2}{3}{4});\n  }\n};\n",
      f.hasRows ? "state" : "", f.hasLoads ? "loads" : "", f.hasRows ? "state, " : "",
      f.hasLoads ? "loads, " : "", coordinates);
  return s;
}

FailureOr<std::vector<EmittedKernel>> emitWgmmaMatmul(KernelOp kernel, const MatmulAnalysis &m,
                                                      const WgmmaVariant &variant, int splits,
                                                      const Target &target) {
  auto w = analyzeWgmmaMatmul(kernel, m, target);
  if (!w || !allowsWgmma(variant, w->problem, splits, target))
    return kernel.emitError("matmul variant '") << variant.name << "' does not take this product";
  const WgmmaProblem &p = w->problem;
  DType dtype = m.problem.dtype;
  std::string element = storageTypeName(elementTypeOf(MatmulOp(m.root).getX()));
  WgmmaOperand rows = wgmmaOperand(kernel, "matmul", "Rows", w->rows, m.batchExtents, dtype, element, variant,
                                   !variant.swapped, 0);
  WgmmaOperand cols = wgmmaOperand(kernel, "matmul", "Columns", w->cols, m.batchExtents, dtype, element,
                                   variant, variant.swapped, w->rows.packed ? 1 : 0);
  WgmmaUnit unit;
  unit.family = "matmul";
  unit.rows = &rows;
  unit.cols = &cols;
  if (p.staged && !variant.slab) {
    auto staged = stage(kernel, m, p, variant.swapped);
    if (!staged)
      return failure();
    std::string maps = addBlockMaps(unit, *staged);
    const EmittedFunctor &f = staged->values.functor;
    unit.parameters.push_back(f.parameters);
    unit.args.insert(unit.args.end(), f.args.begin(), f.args.end());
    std::string coordinates;
    for (size_t axis = 0; axis < m.batchExtents.size(); ++axis)
      coordinates += batchCoordinate(m.batchExtents, axis) + ", ";
    coordinates += m.swapped ? "col, row" : "row, col";
    unit.output = f.text + staged->layouts + pairOutputText(p, variant, *staged, "", "", coordinates);
    unit.makeOutput =
        llvm::formatv("  Epilogue epilogue = {0};\n  Output output{{epilogue, {1}};\n", f.construct, maps);
  } else {
    FunctorShape shape = m.epilogue;
    shape.lanes = m.lanes;
    shape.preload = variant.slab;
    auto epilogue = emitEpilogue(kernel, {MatmulOp(m.root).getZ()}, shape);
    if (failed(epilogue))
      return failure();
    unit.parameters.push_back(epilogue->parameters);
    unit.args = epilogue->args;
    unit.output =
        variant.slab ? slabOutputText(m, *epilogue, m.lanes) : matmulOutputText(m, *epilogue, m.lanes);
    unit.makeOutput =
        llvm::formatv("  Epilogue epilogue = {0};\n  Output output{{epilogue};\n", epilogue->construct);
  }
  if (variant.slab)
    return std::vector<EmittedKernel>{emitSlab(kernel, unit, variant, p, dtype, element, splits, target)};
  return std::vector<EmittedKernel>{emitWgmma(kernel, unit, variant, p, dtype, element, target)};
}

} // namespace gpuc

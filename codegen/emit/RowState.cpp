// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Row statistics and row moments in epilogues.
#include "RowState.h"
#include "UnitText.h"

using namespace mlir;

namespace gpuc {
using emit::Index;
using Coords = ExprEmitter::Impl::Coords;

SmallVector<RowStatisticsOp> rowStatisticsOf(KernelOp kernel) {
  auto ops = kernel.getBody().front().getOps<RowStatisticsOp>();
  return SmallVector<RowStatisticsOp>(ops.begin(), ops.end());
}

RowMomentsOp yieldedMoments(KernelOp kernel) {
  for (Value value : kernel.getYield()->getOperands())
    if (auto moments = value.getDefiningOp<RowMomentsOp>())
      return moments;
  return {};
}

bool hasRowState(KernelOp kernel) { return !rowStatisticsOf(kernel).empty() || yieldedMoments(kernel); }

/// The coordinates (row, 0) of row statistics at the coordinates of the root's result: its axes outside the
/// lane group, collapsed.
static Coords rowCoords(ExprEmitter::Impl &e, Value root, const FunctorShape &shape, ArrayRef<Index> coords) {
  auto extents = shapeOf(root);
  SmallVector<Index> outer;
  SmallVector<int64_t> outerShape;
  for (auto [axis, extent] : llvm::enumerate(extents))
    if (!llvm::is_contained(shape.groups[shape.laneGroup], unsigned(axis))) {
      outer.push_back(coords[axis]);
      outerShape.push_back(extent);
    }
  return {e.context.linearize(outer, outerShape), Index(0)};
}

void bindRowState(ExprEmitter::Impl &e, KernelOp kernel, Value root, const FunctorShape &shape,
                  ArrayRef<Index> coords) {
  std::string key;
  for (const Index &c : rowCoords(e, root, shape, coords))
    key += e.context.key(c) + "|";
  for (auto [i, op] : llvm::enumerate(rowStatisticsOf(kernel))) {
    e.bound[op.getMean()] = {"row.mean" + std::to_string(i), key};
    e.bound[op.getScale()] = {"row.scale" + std::to_string(i), key};
  }
}

/// "i32 g0, i32 g2": the coordinates of the groups outside the lane group.
static std::string rowParameters(const FunctorShape &shape) {
  std::string s;
  for (size_t g = 0; g < shape.groups.size(); ++g)
    if (g != shape.laneGroup)
      s += (s.empty() ? "" : ", ") + shape.indexType + " g" + std::to_string(g);
  return s;
}

std::string rowMomentsText(ExprEmitter::Impl &e, RowStatisticsOp op, const Index &row, bool isSliced,
                           bool &perLane) {
  auto access = e.accesses.find(op.getMoments());
  if (access == e.accesses.end()) {
    e.fail(op, "the moments of row statistics must be an operand of the kernel");
    return "0";
  }
  Index at = e.offset(access->second, {row, Index(0), Index(0)});
  perLane = at.lane != 0 || e.context.isPerLane(at);
  return "loadRowMoments<" + std::to_string(shapeOf(op.getMoments())[1]) +
         (isSliced ? ", kSlices>(" : ", 1>(") + access->second.pointer + " + (" + e.print(at) +
         (isSliced ? "), slice)" : "), 0)");
}

std::string rowStatisticsText(RowStatisticsOp op, StringRef moments) {
  auto f32 = Float32Type::get(op.getContext());
  return std::string("rowStatistics<") + (op.getCentered() ? "true" : "false") + ">(" + moments.str() + ", " +
         realLiteral(f32, 1.0 / double(op.getExtent())) + ", " +
         realLiteral(f32, op.getEpsilon().convertToDouble()) + ")";
}

ExprEmitter::Impl::Scalar ExprEmitter::Impl::emitRowStatistics(RowStatisticsOp op, Value value,
                                                               ArrayRef<Index> coords) {
  std::string member = value == op.getMean() ? ".mean" : ".scale";
  std::string key =
      std::to_string(reinterpret_cast<uintptr_t>(op.getOperation())) + "|" + context.key(coords[0]);
  if (auto known = rowStatistics.find(key); known != rowStatistics.end())
    return {known->second.text + member, known->second.perLane};
  bool perLane = false;
  std::string moments = rowMomentsText(*this, op, coords[0], false, perLane);
  Scalar statistics = define("RowStatistics", rowStatisticsText(op, moments), perLane, "rs");
  rowStatistics[key] = statistics;
  return {statistics.text + member, statistics.perLane};
}

FailureOr<std::string>
rowStateText(KernelOp kernel, Value root, const FunctorShape &shape, ArrayRef<BlockArgument> arguments,
             ArrayRef<std::string> names,
             llvm::function_ref<Coords(ExprEmitter::Impl &, Value, const FunctorShape &)> groupCoords) {
  ExprEmitter emitter(kernel, 1, shape.indexType);
  auto &e = emitter.internals();
  for (auto [argument, name] : llvm::zip_equal(arguments, names))
    emitter.setAccess(argument, argumentAccess(kernel, argument, name));
  Coords at = rowCoords(e, root, shape, groupCoords(e, root, shape));
  std::string members, loadMembers, loads, statistics, values;
  for (auto [i, op] : llvm::enumerate(rowStatisticsOf(kernel))) {
    std::string n = std::to_string(i), comma = i ? ", " : "";
    bool perLane = false;
    members += comma + "mean" + n + ", scale" + n;
    loadMembers +=
        "    RowMoments<" + std::to_string(shapeOf(op.getMoments())[1]) + ", kSlices> moments" + n + ";\n";
    loads += comma + rowMomentsText(e, op, at[0], true, perLane);
    statistics +=
        "    const RowStatistics rs" + n + " = " + rowStatisticsText(op, "loads.moments" + n) + ";\n";
    values += comma + "rs" + n + ".mean, rs" + n + ".scale";
  }
  if (e.failed)
    return failure();
  const std::string slices = "  template <int kSlices>", device = slices + "\n  GPUC_DEVICE ";
  return slices + " struct RowLoads {\n" + loadMembers + "  };\n  struct Row {\n    float " + members +
         ";\n  };\n" + device + "RowLoads<kSlices> loadRow(" + rowParameters(shape) +
         ", int slice) const {\n" + indentLines(e.hoisted + "return {" + loads + "};\n", 4) + "  }\n" +
         device + "static Row row(const RowLoads<kSlices> &loads) {\n" + statistics + "    return {" +
         values + "};\n  }\n";
}

std::string momentsText(RowMomentsOp moments, const FunctorShape &shape, StringRef out) {
  auto extents = shapeOf(moments.getY());
  auto rows = shapeOf(moments.getX()).drop_back();
  std::string row; // the groups outside the lanes, collapsed
  for (size_t g = 0; g < shape.groups.size(); ++g) {
    if (g == shape.laneGroup)
      continue;
    int64_t count = 1;
    for (unsigned axis : shape.groups[g])
      count *= rows[axis];
    row = row.empty() ? "g" + std::to_string(g)
                      : "(" + row + " * " + std::to_string(count) + " + g" + std::to_string(g) + ")";
  }
  if (row.empty())
    row = "0";
  std::string parameters = rowParameters(shape);
  return "  static constexpr int kMomentColumns = " + std::to_string(int64_t(moments.getColumns())) +
         ";\n  /// Of the columns [part * kMomentColumns, …) of a row.\n  GPUC_DEVICE void storeMoments(" +
         parameters + (parameters.empty() ? "" : ", ") + shape.indexType +
         " part, float sum, float squares) const {\n" +
         "    float pair[2] = {sum, squares};\n    stLanes<2>(" + out.str() + " + (" + row + " * " +
         std::to_string(extents[1]) + " + part) * 2, pair);\n  }\n";
}

} // namespace gpuc

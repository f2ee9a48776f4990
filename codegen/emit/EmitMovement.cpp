// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Movement and indexing ops of ExprEmitter: each maps a coordinate of its result to a coordinate of an
// operand. An operand that is only meant for part of the coordinates is read under a guard and never outside
// its buffer.
#include "ExprEmitterImpl.h"
#include "llvm/ADT/STLExtras.h"
#include <utility>

using namespace mlir;

namespace gpuc {
using emit::Index;
using emit::Range;
using Scalar = ExprEmitter::Impl::Scalar;
using Condition = ExprEmitter::Impl::Condition;

bool mapThroughView(Operation *op, emit::IndexContext &context, ArrayRef<Index> coords,
                    SmallVectorImpl<Index> &result) {
  result.clear();
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    result.resize(coords.size());
    for (auto [i, axis] : llvm::enumerate(transpose.getPerm()))
      result[axis] = coords[i];
    return true;
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op)) {
    auto from = shapeOf(reshape.getX()), to = shapeOf(reshape.getY());
    result = context.delinearize(context.linearize(coords, to), from);
    return true;
  }
  if (auto expand = dyn_cast<ExpandOp>(op)) {
    auto from = shapeOf(expand.getX());
    for (size_t d = 0; d < from.size(); ++d)
      result.push_back(from[d] == 1 ? Index(0) : coords[coords.size() - from.size() + d]);
    return true;
  }
  if (auto slice = dyn_cast<SliceOp>(op)) {
    for (auto [c, start, step] : llvm::zip_equal(coords, slice.getStarts(), slice.getSteps()))
      result.push_back(context.add(context.scale(c, step), Index(start)));
    return true;
  }
  if (auto tile = dyn_cast<TileOp>(op)) {
    auto from = shapeOf(tile.getX());
    for (auto [c, extent, repeat] : llvm::zip_equal(coords, from, tile.getRepeats()))
      result.push_back(repeat == 1 ? c : extent <= 1 ? Index(0) : context.divMod(c, extent).second);
    return true;
  }
  return false;
}

//===--- conditions
//----------------------------------------------------------------------------------------------===//

Condition ExprEmitter::Impl::inRange(const Index &index, int64_t lo, int64_t hi) {
  Range r = context.range(index);
  if (r.lo >= lo && r.hi <= hi)
    return {Condition::Always, {"true"}};
  if (r.hi < lo || r.lo > hi || lo > hi)
    return {Condition::Never, {"false"}};
  // When the lanes move inside blocks that the bounds do not cut, the block decides for all of them.
  Index tested = index, small;
  int64_t top = hi;
  if (index.lane != 0)
    for (int64_t g = 1; g <= int64_t(context.lanes()) * std::abs(index.lane); g *= 2) {
      Index big;
      bool cutsLow = r.lo < lo && lo % g != 0, cutsHigh = r.hi > hi && (hi + 1) % g != 0;
      if (!cutsLow && !cutsHigh && context.split(index, g, big, small) && big.lane == 0) {
        tested = big;
        break;
      }
    }
  std::string text, at = print(tested);
  if (r.lo < lo)
    text = at + " >= " + intLiteral(lo);
  if (r.hi > hi)
    text += (text.empty() ? "" : " && ") + at + " <= " + intLiteral(top);
  auto known = conditions.find(text);
  if (known == conditions.end())
    known = conditions.try_emplace(text, define("bool", text, context.isPerLane(tested), "c")).first;
  return {Condition::Depends, known->second};
}

Condition ExprEmitter::Impl::both(const Condition &a, const Condition &b) {
  if (a.known == Condition::Never || b.known == Condition::Always)
    return a;
  if (b.known == Condition::Never || a.known == Condition::Always)
    return b;
  return {Condition::Depends, {a.value.text + " && " + b.value.text, a.value.perLane || b.value.perLane}};
}

Scalar ExprEmitter::Impl::emitGuarded(Value value, ArrayRef<Index> coords, const Condition &guard) {
  if (guard.known == Condition::Always)
    return emit(value, coords);
  if (guard.known == Condition::Never)
    return {valueTypeName(elementTypeOf(value)) + "{}"};
  std::string outer = guardKey;
  guards.push_back(guard.value);
  guardKey += "?" + guard.value.text;
  Scalar result = emit(value, coords);
  guards.pop_back();
  guardKey = outer;
  return result;
}

Scalar ExprEmitter::Impl::choose(Type elementType, const Condition &condition, const Scalar &yes,
                                 const Scalar &no) {
  if (condition.known == Condition::Always)
    return yes;
  if (condition.known == Condition::Never)
    return no;
  return define(valueTypeName(elementType), "(" + condition.value.text + ") ? " + yes.text + " : " + no.text,
                condition.value.perLane || yes.perLane || no.perLane);
}

//===--- concat, pad, trilu
//--------------------------------------------------------------------------------------===//

Scalar ExprEmitter::Impl::emitConcat(ConcatOp op, ArrayRef<Index> coords) {
  unsigned axis = op.getAxis();
  Index at = coords[axis];
  Type type = elementTypeOf(op.getY());
  struct Piece {
    Condition before; ///< the coordinate lies before this piece's end
    Scalar value;
  };
  llvm::SmallVector<Piece> pieces;
  int64_t start = 0;
  for (Value input : op.getInputs()) {
    int64_t extent = shapeOf(input)[axis];
    if (extent == 0)
      continue;
    Condition inside = inRange(at, start, start + extent - 1);
    if (inside.known != Condition::Never) {
      Coords inner(coords);
      inner[axis] = context.refine(context.add(at, Index(-start)), {0, extent - 1});
      pieces.push_back({inRange(at, INT64_MIN, start + extent - 1), emitGuarded(input, inner, inside)});
    }
    start += extent;
  }
  if (pieces.empty())
    return {valueTypeName(type) + "{}"};
  Scalar result = pieces.pop_back_val().value;
  while (!pieces.empty()) {
    Piece piece = pieces.pop_back_val();
    result = choose(type, piece.before, piece.value, result);
  }
  return result;
}

Scalar ExprEmitter::Impl::emitPad(PadOp op, ArrayRef<Index> coords) {
  auto shape = shapeOf(op.getX());
  Coords inner(coords.size());
  Condition inside{Condition::Always, {"true"}};
  for (size_t d = 0; d < coords.size(); ++d) {
    int64_t n = shape[d], low = op.getLow()[d], high = op.getHigh()[d];
    Index i = context.add(coords[d], Index(-low));
    Range r = context.range(i);
    if ((r.lo >= 0 && r.hi < n) || (n == 0 && op.getMode() != PadMode::Constant)) {
      inner[d] = i;
      continue;
    }
    switch (op.getMode()) {
    case PadMode::Constant:
      inside = both(inside, inRange(i, 0, n - 1));
      inner[d] = n > 0 ? context.refine(i, {0, n - 1}) : Index(0);
      break;
    case PadMode::Wrap:
      inner[d] = context.divMod(i, n).second;
      break;
    case PadMode::Edge:
    case PadMode::Reflect: {
      if (n == 1)
        break;
      std::string text = print(i);
      if (op.getMode() == PadMode::Edge) {
        text = "binary_min(binary_max(" + indexType + "(" + text + "), " + indexType + "(0)), " + indexType +
               "(" + intLiteral(n - 1) + "))";
      } else if (low < n && high < n) { // n-1 - |n-1 - |i||
        text = indexType + "(" + intLiteral(n - 1) + ") - unary_abs(" + indexType + "(" + intLiteral(n - 1) +
               ") - unary_abs(" + indexType + "(" + text + ")))";
      } else {
        Index r = context.divMod(i, 2 * (n - 1)).second;
        text = indexType + "(" + intLiteral(n - 1) + ") - unary_abs(" + indexType + "(" + intLiteral(n - 1) +
               ") - (" + print(r) + "))";
      }
      bool perLane = context.isPerLane(i);
      Scalar source = define(indexType, text, perLane, "at");
      inner[d] = context.variable(source.text, {0, n - 1}, 1, source.perLane);
      break;
    }
    }
  }
  if (inside.known == Condition::Always)
    return emit(op.getX(), inner);
  Scalar fill{valueTypeName(elementTypeOf(op.getY())) + "{}"};
  if (op.getValue())
    fill = emit(op.getValue(), Coords(shapeOf(op.getValue()).size()));
  if (inside.known == Condition::Never)
    return fill;
  if (inside.value.text.find("&&") != std::string::npos)
    inside.value = define("bool", inside.value.text, inside.value.perLane, "c");
  return choose(elementTypeOf(op.getY()), inside, emitGuarded(op.getX(), inner, inside), fill);
}

Scalar ExprEmitter::Impl::emitTrilu(TriluOp op, ArrayRef<Index> coords) {
  size_t rank = coords.size();
  Index distance = context.sub(coords[rank - 1], coords[rank - 2]);
  Condition keep =
      op.getUpper() ? inRange(distance, op.getK(), INT64_MAX - 1) : inRange(distance, INT64_MIN, op.getK());
  Scalar zero{valueTypeName(elementTypeOf(op.getY())) + "{}"};
  if (keep.known == Condition::Never)
    return zero;
  return choose(elementTypeOf(op.getY()), keep, emitGuarded(op.getX(), coords, keep), zero);
}

//===--- gather
//--------------------------------------------------------------------------------------------------===//

Index ExprEmitter::Impl::indexValue(Value indices, ArrayRef<Index> coords, int64_t extent) {
  if (auto known = getInts(indices); known && known->size() == 1) {
    int64_t v = (*known)[0] < 0 ? (*known)[0] + extent : (*known)[0];
    return Index(std::max<int64_t>(0, std::min(v, extent - 1)));
  }
  bool outer = std::exchange(raw, false);
  Scalar value = emit(indices, coords);
  raw = outer;
  if (extent <= 1)
    return Index(0);
  Scalar at = define(indexType, indexType + "(clampIndex(" + value.text + ", " + intLiteral(extent) + "))",
                     value.perLane, "at");
  return context.variable(at.text, {0, extent - 1}, 1, at.perLane);
}

Scalar ExprEmitter::Impl::emitGather(GatherOp op, ArrayRef<Index> coords) {
  size_t axis = op.getAxis(), rank = shapeOf(op.getIndices()).size();
  Coords inner(coords.take_front(axis));
  inner.push_back(indexValue(op.getIndices(), coords.slice(axis, rank), shapeOf(op.getData())[axis]));
  llvm::append_range(inner, coords.drop_front(axis + rank));
  return emit(op.getData(), inner);
}

Scalar ExprEmitter::Impl::emitGatherElements(GatherElementsOp op, ArrayRef<Index> coords) {
  Coords inner(coords);
  inner[op.getAxis()] = indexValue(op.getIndices(), coords, shapeOf(op.getData())[op.getAxis()]);
  return emit(op.getData(), inner);
}

Scalar ExprEmitter::Impl::emitGatherNd(GatherNdOp op, ArrayRef<Index> coords) {
  auto indexShape = shapeOf(op.getIndices());
  size_t batch = op.getBatchDims(), outer = indexShape.size() - 1, length = indexShape.back();
  Coords inner(coords.take_front(batch));
  for (size_t j = 0; j < length; ++j) {
    Coords at(coords.take_front(outer));
    at.push_back(Index(int64_t(j)));
    inner.push_back(indexValue(op.getIndices(), at, shapeOf(op.getData())[batch + j]));
  }
  llvm::append_range(inner, coords.drop_front(outer));
  return emit(op.getData(), inner);
}

bool ExprEmitter::Impl::emitMovement(Operation *op, ArrayRef<Index> coords, Scalar &result) {
  if (auto concat = dyn_cast<ConcatOp>(op))
    result = emitConcat(concat, coords);
  else if (auto pad = dyn_cast<PadOp>(op))
    result = emitPad(pad, coords);
  else if (auto trilu = dyn_cast<TriluOp>(op))
    result = emitTrilu(trilu, coords);
  else if (auto resize = dyn_cast<ResizeOp>(op))
    result = emitResize(resize, coords);
  else if (auto gather = dyn_cast<GatherOp>(op))
    result = emitGather(gather, coords);
  else if (auto elements = dyn_cast<GatherElementsOp>(op))
    result = emitGatherElements(elements, coords);
  else if (auto nd = dyn_cast<GatherNdOp>(op))
    result = emitGatherNd(nd, coords);
  else
    return false;
  return true;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Brings a reduction into the form [outer, count, inner] in the order of the operand's storage, and chooses
// threads per result, vector length and the number of splits.
#include "Reduction.h"
#include "emit/ExprEmitterImpl.h"
#include "gpuc/IR/Storage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace gpuc::reduction {
namespace {

/// Axes of `value` from slowest to fastest in the largest buffer that it reads with constant strides.
SmallVector<unsigned> axisOrder(KernelOp kernel, Value value) {
  auto shape = shapeOf(value);
  SmallVector<int64_t> best = rowMajorStrides(shape);
  int64_t bestElements = 0;
  if (tensorType(value).getNumElements() > 0) {
    ExprEmitter emitter(kernel, 1, "i64");
    auto &e = emitter.internals();
    e.quiet = true;
    ExprEmitter::Impl::Coords coords;
    SmallVector<int> atoms;
    for (auto [d, extent] : llvm::enumerate(shape)) {
      coords.push_back(e.context.variable("x" + std::to_string(d), {0, extent - 1}));
      atoms.push_back(coords.back().terms.empty() ? -1 : int(coords.back().terms[0].first));
    }
    for (BlockArgument argument : kernel.getBody().getArguments())
      emitter.setAccess(argument, argumentAccess(kernel, argument, "p"));
    e.emit(value, coords);
    for (const auto &load : e.loads) {
      SmallVector<int64_t> strides(shape.size(), 0);
      bool affine = true;
      for (auto [atom, coefficient] : load.offset.terms) {
        auto axis = llvm::find(atoms, int(atom));
        affine &= axis != atoms.end();
        if (affine)
          strides[axis - atoms.begin()] = std::abs(coefficient);
      }
      int64_t elements = 1;
      for (auto [stride, extent] : llvm::zip_equal(strides, shape))
        elements *= stride == 0 ? 1 : extent;
      if (affine && elements > bestElements) {
        bestElements = elements;
        best = strides;
      }
    }
  }
  SmallVector<unsigned> order;
  for (int64_t axis : storageOrder(shape, best))
    order.push_back(unsigned(axis));
  return order;
}

int64_t powerOfTwoFrom(int64_t n) { return int64_t(llvm::PowerOf2Ceil(uint64_t(std::max<int64_t>(n, 1)))); }

} // namespace

FailureOr<Problem> analyze(KernelOp kernel) {
  Problem p;
  p.indexType = indexTypeFor(kernel);
  p.root = kernel.getRoot();
  SmallVector<int64_t> axes;
  bool keepdims = false;
  if (auto reduce = dyn_cast_or_null<ReduceOp>(p.root)) {
    p.x = reduce.getX();
    axes = llvm::to_vector(reduce.getAxes());
    keepdims = reduce.getKeepdims();
  } else if (auto arg = dyn_cast_or_null<ArgReduceOp>(p.root)) {
    p.x = arg.getX();
    axes = {int64_t(arg.getAxis())};
    keepdims = arg.getKeepdims();
  } else {
    kernel.emitError("a reduction kernel needs a gpuc.reduce or gpuc.arg_reduce");
    return failure();
  }
  auto shape = shapeOf(p.x);
  auto isReduced = [&](unsigned axis) { return llvm::is_contained(axes, int64_t(axis)); };
  // The reduced axes keep their logical order in arg_reduce (there is one) and may be reordered otherwise.
  SmallVector<unsigned> order = axisOrder(kernel, p.x);
  int lastReduced = -1;
  for (auto [i, axis] : llvm::enumerate(order))
    if (isReduced(axis) && shape[axis] != 1)
      lastReduced = int(i);
  for (auto [i, axis] : llvm::enumerate(order)) {
    int64_t extent = shape[axis];
    if (isReduced(axis)) {
      p.reduced.push_back(axis);
      p.count *= extent;
    } else if (int(i) > lastReduced) {
      p.inner.push_back(axis);
      p.innerExtent *= extent;
    } else {
      p.outer.push_back(axis);
      p.outerExtent *= extent;
    }
  }
  if (p.innerExtent == 1 || lastReduced < 0) { // nothing after the reduced axes, or nothing reduced: rows
    p.outer.append(p.inner);
    p.outerExtent *= p.innerExtent;
    p.inner.clear();
    p.innerExtent = 1;
  }
  auto resultAxis = [&](unsigned axis) {
    unsigned before = 0;
    for (unsigned d = 0; d < axis; ++d)
      before += isReduced(d);
    return keepdims ? axis : axis - before;
  };
  for (unsigned axis : p.outer)
    p.resultOuter.push_back(resultAxis(axis));
  for (unsigned axis : p.inner)
    p.resultInner.push_back(resultAxis(axis));
  if (keepdims)
    for (unsigned axis : p.reduced)
      p.resultOuter.push_back(axis);
  return p;
}

FunctorShape prologueShape(const Problem &p, unsigned laneGroup, unsigned lanes) {
  FunctorShape shape;
  shape.name = "Prologue";
  shape.groups = {p.outer, p.reduced, p.inner};
  shape.laneGroup = laneGroup;
  shape.lanes = lanes;
  shape.indexType = p.indexType;
  return shape;
}

FunctorShape epilogueShape(const Problem &p) {
  FunctorShape shape;
  shape.groups = {p.resultOuter, p.resultInner};
  shape.indexType = p.indexType;
  return shape;
}

LogicalResult select(KernelOp kernel, const Target &target) {
  auto problem = analyze(kernel);
  if (failed(problem) || failed(reducerOf(*problem)))
    return failure();
  Problem &p = *problem;
  bool column = p.innerExtent > 1;
  const Variant &variant = column ? kColumn : kRow;
  int64_t threads = variant.threads, group, unroll = variant.unroll, splits = 1;
  int64_t lanes = maxLanes(kernel, p.x, prologueShape(p, column ? 2 : 1, 8));
  if (column) {
    while (p.innerExtent % lanes != 0)
      lanes /= 2;
    group = std::min<int64_t>(32, powerOfTwoFrom(p.innerExtent / lanes));
    threads = std::min<int64_t>(threads, std::max<int64_t>(32, group * powerOfTwoFrom(p.count)));
    group = std::min(group, threads);
    int64_t rows = threads / group, tiles = p.outerExtent * llvm::divideCeil(p.innerExtent, group * lanes);
    while (unroll > 1 && p.count < rows * unroll)
      unroll /= 2;
    if (tiles > 0 && tiles < target.numSMs)
      splits =
          std::max<int64_t>(1, std::min<int64_t>(2 * target.numSMs / tiles, p.count / (rows * unroll * 2)));
  } else {
    int64_t vectors = std::max<int64_t>(1, p.count / lanes);
    if (vectors <= 32) {
      group = powerOfTwoFrom(vectors);
    } else if (vectors <= 1024 && p.outerExtent >= 8 * target.numSMs) {
      group = 32; // a warp per row
    } else {
      threads = group = std::clamp<int64_t>(powerOfTwoFrom(vectors / 4), 128, 512);
      if (p.outerExtent > 0 && p.outerExtent < target.numSMs)
        splits = std::max<int64_t>(
            1, std::min<int64_t>(2 * target.numSMs / p.outerExtent, vectors / (group * unroll)));
    }
    while (unroll > 1 && vectors < group * unroll)
      unroll /= 2;
  }
  Builder b(kernel.getContext());
  auto number = [&](StringRef name, int64_t v) { return b.getNamedAttr(name, b.getI64IntegerAttr(v)); };
  kernel.setConfigAttr(b.getDictionaryAttr(
      {b.getNamedAttr("variant", b.getStringAttr(variant.name)), number("threads", threads),
       number("group", group), number("lanes", lanes), number("unroll", unroll), number("splits", splits)}));
  return success();
}

} // namespace gpuc::reduction

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many neighbouring elements a functor can load and store as vectors.
#include "FunctorParts.h"
#include "UnitText.h"

using namespace mlir;

namespace gpuc {
using emit::Index;
using Coords = ExprEmitter::Impl::Coords;

static int64_t byteSizeOf(Type t) { return std::max(1u, t.getIntOrFloatBitWidth() / 8); }

unsigned maxLanes(KernelOp kernel, Value value, unsigned laneAxis) {
  auto shape = shapeOf(value);
  unsigned lanes = 8;
  while (lanes > 1 && shape[laneAxis] % lanes != 0)
    lanes /= 2;
  // The narrowest buffer that varies along the lanes decides how many fill 16 bytes.
  int64_t narrowest = 8;
  auto consider = [&](Value buffer) { narrowest = std::min(narrowest, byteSizeOf(elementTypeOf(buffer))); };
  bool isRootResult = value.getDefiningOp() && value.getDefiningOp() == kernel.getRoot();
  if (isRootResult)
    for (Value result : kernel.getResults())
      consider(result);
  else
    for (BlockArgument argument : reachedArguments({value}, {}))
      if (tensorType(argument).getNumElements() * 2 > tensorType(value).getNumElements())
        consider(argument);
  while (lanes > 1 && lanes * narrowest > 16)
    lanes /= 2;

  // Try what the emitter can prove, from wide to narrow.
  for (; lanes > 1; lanes /= 2) {
    ExprEmitter emitter(kernel, lanes, "i64");
    auto &e = emitter.internals();
    for (BlockArgument argument : kernel.getBody().getArguments())
      emitter.setAccess(argument, argumentAccess(kernel, argument, "p"));
    Coords coords(shape.size());
    for (auto [d, extent] : llvm::enumerate(shape))
      coords[d] = d == laneAxis ? e.context.add(e.context.variable("x" + std::to_string(d),
                                                                   {0, extent - int64_t(lanes)}, lanes),
                                                e.context.laneNumber())
                                : e.context.variable("x" + std::to_string(d), {0, extent - 1});
    auto vectorised = [&](const BufferAccess &access, const Index &offset, unsigned wanted) {
      Index base = offset;
      base.lane = 0;
      return offset.lane == 1 && !e.context.isPerLane(base) && e.vectorWidth(access, base) >= wanted;
    };
    bool good = true;
    if (isRootResult) {
      for (Value root : value.getDefiningOp()->getResults())
        e.forward[root] = coords;
      mapForward(e, kernel);
      for (auto [i, yielded] : llvm::enumerate(kernel.getYield()->getOperands())) {
        if (yielded.getDefiningOp<RowMomentsOp>()) // stored by storeMoments
          continue;
        auto at = e.forward.find(yielded);
        if (at == e.forward.end())
          return 1;
        BufferAccess access = resultAccess(kernel, i, "p");
        unsigned wanted = std::min<int64_t>(lanes, 16 / byteSizeOf(elementTypeOf(yielded)));
        good &= vectorised(access, e.offset(access, at->second), wanted);
      }
    } else {
      e.quiet = true;
      e.emit(value, coords);
      if (e.failed)
        return 1;
      for (const auto &load : e.loads) {
        Index base = load.offset;
        if (!e.context.isPerLane(base))
          continue; // the same for all lanes
        BufferAccess access = argumentAccess(kernel, load.argument, "p");
        unsigned wanted = std::min<int64_t>(lanes, 16 / byteSizeOf(elementTypeOf(load.argument)));
        good &= vectorised(access, load.offset, wanted);
      }
    }
    if (good)
      return lanes;
  }
  return 1;
}

unsigned maxLanes(KernelOp kernel, Value value, const FunctorShape &shape) {
  for (unsigned lanes = shape.lanes; lanes > 1; lanes /= 2) {
    FunctorShape tried = shape;
    tried.lanes = lanes;
    int64_t count = 1;
    for (unsigned axis : shape.groups[shape.laneGroup])
      count *= shapeOf(value)[axis];
    if (count < lanes)
      continue;
    ExprEmitter emitter(kernel, lanes, "i64");
    auto &e = emitter.internals();
    e.quiet = true;
    for (BlockArgument argument : kernel.getBody().getArguments())
      emitter.setAccess(argument, argumentAccess(kernel, argument, "p"));
    e.emit(value, groupCoords(e, value, tried));
    if (e.failed)
      return 1;
    bool good = !e.loads.empty(), full = false; // full: some vector has 16 bytes or all lanes
    for (const auto &load : e.loads) {
      if (!e.context.isPerLane(load.offset))
        continue;
      Index base = load.offset;
      base.lane = 0;
      int64_t bytes = byteSizeOf(elementTypeOf(load.argument));
      bool whole = load.offset.lane == 1 && !e.context.isPerLane(base) &&
                   e.vectorWidth(argumentAccess(kernel, load.argument, "p"), base) >=
                       std::min<int64_t>(lanes, 16 / bytes);
      good &= whole;
      full |= whole && lanes * bytes <= 16;
    }
    if (good && full)
      return lanes;
  }
  return 1;
}

} // namespace gpuc

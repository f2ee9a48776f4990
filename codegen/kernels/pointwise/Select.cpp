// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses how a pointwise kernel walks its result: in storage order with vectors, or in tiles that are turned
// through shared memory when a large operand is consecutive along another axis than the result.
#include "Pointwise.h"
#include "emit/UnitText.h"
#include "gpuc/IR/Storage.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace gpuc::pointwise {
using emit::Index;
using Coords = ExprEmitter::Impl::Coords;

int64_t groupExtent(const Walk &walk, unsigned group) {
  int64_t n = 1;
  for (unsigned axis : walk.groups[group])
    n *= walk.shape[axis];
  return n;
}

static void scatter(ExprEmitter::Impl &e, const Walk &walk, ArrayRef<unsigned> axes, const Index &position,
                    Coords &coords) {
  SmallVector<int64_t> extents;
  for (unsigned axis : axes)
    extents.push_back(walk.shape[axis]);
  for (auto [axis, c] : llvm::zip_equal(axes, e.context.delinearize(position, extents)))
    coords[axis] = c;
}

Coords coordsOfPosition(ExprEmitter::Impl &e, const Walk &walk, const Index &position) {
  Coords coords(walk.shape.size());
  scatter(e, walk, walk.order, position, coords);
  return coords;
}

Coords coordsOfGroups(ExprEmitter::Impl &e, const Walk &walk, ArrayRef<Index> positions) {
  Coords coords(walk.shape.size());
  for (auto [group, position] : llvm::zip_equal(walk.groups, positions))
    scatter(e, walk, group, position, coords);
  return coords;
}

/// Some result has several elements in a byte: it is row-major, and the walk must be, so that a thread's
/// lanes are whole bytes.
static bool writesPacked(KernelOp kernel) {
  return llvm::any_of(kernel.getResultTypes(),
                      [](Type type) { return isPacked(cast<RankedTensorType>(type).getElementType()); });
}

/// Strides of an offset over the axis variables; nothing when it is not affine in them.
static std::optional<SmallVector<int64_t>> axisStrides(const Index &offset, ArrayRef<int> atomOfAxis) {
  SmallVector<int64_t> strides(atomOfAxis.size(), 0);
  for (auto [atom, coefficient] : offset.terms) {
    auto axis = llvm::find(atomOfAxis, int(atom));
    if (axis == atomOfAxis.end())
      return std::nullopt;
    strides[axis - atomOfAxis.begin()] = coefficient;
  }
  return strides;
}

FailureOr<Walk> analyzeWalk(KernelOp kernel) {
  Walk walk;
  walk.indexType = indexTypeFor(kernel);
  if (kernel->getNumResults() == 0) {
    kernel.emitError("a pointwise kernel needs a result");
    return failure();
  }
  walk.shape = llvm::to_vector(shapeOf(kernel.getResult(0)));
  for (Value result : kernel.getResults())
    if (shapeOf(result) != ArrayRef<int64_t>(walk.shape)) {
      kernel.emitError("all results of a pointwise kernel must have one shape");
      return failure();
    }
  for (int64_t extent : walk.shape)
    walk.total *= extent;
  SmallVector<SmallVector<int64_t>> strides; // of all accesses
  for (unsigned i = 0; i < kernel->getNumResults(); ++i)
    strides.push_back(kernel.getStorageStrides(i));
  bool packed = writesPacked(kernel);
  for (int64_t axis : storageOrder(walk.shape, packed ? rowMajorStrides(walk.shape) : strides[0]))
    walk.order.push_back(unsigned(axis));
  kernel.getBody().walk([&](Operation *op) { walk.numOps += isa<UnaryOp, BinaryOp, SelectOp, CastOp>(op); });
  for (unsigned axis : walk.order)
    if (walk.shape[axis] != 1)
      walk.groups.push_back({axis});
  if (walk.total == 0)
    return walk;

  // Walk the region once with one variable per axis, to see the loads.
  ExprEmitter emitter(kernel, 1, walk.indexType);
  auto &e = emitter.internals();
  for (BlockArgument argument : kernel.getBody().getArguments())
    emitter.setAccess(argument, argumentAccess(kernel, argument, "p"));
  Coords coords;
  SmallVector<int> atomOfAxis;
  for (auto [d, extent] : llvm::enumerate(walk.shape)) {
    coords.push_back(e.context.variable("x" + std::to_string(d), {0, extent - 1}));
    atomOfAxis.push_back(coords.back().terms.empty() ? -1 : int(coords.back().terms[0].first));
  }
  for (Value yielded : kernel.getYield()->getOperands())
    e.emitStored(yielded, coords);
  if (e.failed)
    return failure();
  walk.numLoads = unsigned(e.loads.size());
  if (walk.groups.size() < 2 || packed)
    return walk;

  bool allAffine = true;
  unsigned fastest = walk.groups.back()[0];
  struct Candidate {
    Walk::Turned load;
    unsigned axis;
  };
  SmallVector<Candidate> candidates;
  for (const auto &load : e.loads) {
    auto own = axisStrides(load.offset, atomOfAxis);
    if (!own) {
      allAffine = false;
      continue;
    }
    strides.push_back(*own);
    int64_t seen = 1; // distinct elements read
    for (auto [d, stride] : llvm::enumerate(*own))
      seen *= stride == 0 ? 1 : walk.shape[d];
    if (load.guarded || seen * 2 < walk.total || (*own)[fastest] == 1 || (*own)[fastest] == 0)
      continue;
    for (auto [d, stride] : llvm::enumerate(*own))
      if (stride == 1 && walk.shape[d] > 1)
        candidates.push_back({{load.argument, load.offset.constant, *own}, unsigned(d)});
  }
  if (allAffine) { // merge neighbours that every access sees as one axis
    for (size_t g = walk.groups.size() - 1; g > 0; --g) {
      unsigned outer = walk.groups[g - 1].back(), inner = walk.groups[g].front();
      if (llvm::all_of(strides, [&](auto &s) { return s[outer] == s[inner] * walk.shape[inner]; })) {
        walk.groups[g - 1].append(walk.groups[g]);
        walk.groups.erase(walk.groups.begin() + g);
      }
    }
  }
  if (candidates.empty())
    return walk;
  unsigned axis = candidates[0].axis;
  for (auto [g, group] : llvm::enumerate(walk.groups))
    if (group.back() == axis && g + 1 < walk.groups.size())
      walk.turnedGroup = int(g);
  if (walk.turnedGroup < 0)
    return walk;
  constexpr size_t kMaxTurned = 2; // tiles of shared memory
  for (const Candidate &c : candidates)
    if (c.axis == axis && walk.turned.size() < kMaxTurned)
      walk.turned.push_back(c.load);
  return walk;
}

/// Lanes such that every result is stored with whole vectors. A packed result needs lanes that fill bytes.
static unsigned chooseLanes(KernelOp kernel, const Walk &walk) {
  if (writesPacked(kernel))
    return 8;
  int64_t narrowest = 8;
  auto consider = [&](Value v) {
    narrowest = std::min<int64_t>(narrowest, std::max(1u, elementTypeOf(v).getIntOrFloatBitWidth() / 8));
  };
  for (Value result : kernel.getResults())
    consider(result);
  for (Value operand : kernel.getInputs())
    if (tensorType(operand).getNumElements() * 2 >= walk.total)
      consider(operand);
  for (int64_t lanes = std::min<int64_t>(8, 16 / narrowest); lanes > 1; lanes /= 2) {
    if (walk.total < lanes)
      continue;
    ExprEmitter emitter(kernel, unsigned(lanes), walk.indexType);
    auto &e = emitter.internals();
    Index p = e.context.add(e.context.variable("p", {0, walk.total - lanes}, lanes), e.context.laneNumber());
    Coords coords = coordsOfPosition(e, walk, p);
    bool good = true;
    for (unsigned i = 0; i < kernel->getNumResults(); ++i) {
      BufferAccess access = resultAccess(kernel, i, "p");
      Index base = e.offset(access, coords);
      bool consecutive = base.lane == 1;
      base.lane = 0;
      int64_t bytes = std::max(1u, elementTypeOf(kernel.getResult(i)).getIntOrFloatBitWidth() / 8);
      good &= consecutive && !e.context.isPerLane(base) &&
              e.vectorWidth(access, base) >= std::min(lanes, 16 / bytes);
    }
    if (good)
      return unsigned(lanes);
  }
  return 1;
}

LogicalResult select(KernelOp kernel, const Target &target) {
  auto walk = analyzeWalk(kernel);
  if (failed(walk))
    return failure();
  Builder b(kernel.getContext());
  auto set = [&](StringRef variant, int64_t threads, int64_t lanes, int64_t unroll) {
    kernel.setConfigAttr(b.getDictionaryAttr({b.getNamedAttr("variant", b.getStringAttr(variant)),
                                              b.getNamedAttr("threads", b.getI64IntegerAttr(threads)),
                                              b.getNamedAttr("lanes", b.getI64IntegerAttr(lanes)),
                                              b.getNamedAttr("unroll", b.getI64IntegerAttr(unroll))}));
    return success();
  };
  if (walk->turnedGroup >= 0) {
    int64_t a = groupExtent(*walk, walk->turnedGroup), c = groupExtent(*walk, walk->groups.size() - 1);
    if (a >= kTurning.minTileExtent && c >= kTurning.minTileExtent) {
      int64_t bytes = 8;
      for (const Walk::Turned &load : walk->turned)
        bytes =
            std::min<int64_t>(bytes, std::max(1u, elementTypeOf(load.argument).getIntOrFloatBitWidth() / 8));
      int64_t lanes = std::max<int64_t>(1, 4 / bytes); // 128 bytes per warp and row
      while (a % lanes != 0 || c % lanes != 0)
        lanes /= 2;
      return set(kTurning.name, kTurning.threads, lanes, 1);
    }
  }
  int64_t lanes = chooseLanes(kernel, *walk), threads = kLinear.threads;
  // Enough loads in flight per thread, but first enough blocks for every multiprocessor.
  int64_t unroll = kLinear.maxUnroll;
  while (unroll > 1 &&
         (unroll * std::max(walk->numLoads, 1u) > 8 || unroll * lanes * std::max(walk->numOps, 1u) > 256))
    unroll /= 2;
  auto blocks = [&] { return (walk->total + threads * lanes * unroll - 1) / (threads * lanes * unroll); };
  while (unroll > 1 && blocks() < 2 * target.numSMs)
    unroll /= 2;
  while (threads > 64 && blocks() < target.numSMs)
    threads /= 2;
  return set(kLinear.name, threads, lanes, unroll);
}

} // namespace gpuc::pointwise

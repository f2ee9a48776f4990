// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Analysis of attention kernels and the choice of the tile.
#include "Attention.h"
#include "gpuc/IR/StridedView.h"

using namespace mlir;

namespace gpuc::attention {
namespace {

FailureOr<Operand> viewOf(KernelOp kernel, Value value, StringRef name) {
  auto view = traceStridedView(value, [&](Value base) -> SmallVector<int64_t> {
    auto argument = dyn_cast<BlockArgument>(base);
    return argument ? argumentStrides(kernel, argument) : rowMajorStrides(shapeOf(base));
  });
  auto argument = view ? dyn_cast<BlockArgument>(view->base) : BlockArgument();
  if (!argument)
    return kernel.emitError("operand ") << name << " of the attention is no strided view of a buffer";
  Operand operand;
  operand.index = argument.getArgNumber();
  operand.offset = view->offset;
  operand.alignment = argumentAccess(kernel, argument, "").alignment;
  auto shape = shapeOf(value);
  for (size_t i = 0; i < shape.size(); ++i)
    operand.strides[4 - shape.size() + i] = shape[i] == 1 ? 0 : view->strides[i];
  return operand;
}

/// The widest copies along the depth that alignment allows: elements.
void chooseAccess(Operand &operand, int64_t depth, int64_t bytes) {
  int64_t alignment = operand.alignment;
  if (depth > 1 && operand.strides[3] != 1)
    return;
  for (int64_t access = 16 / bytes; access > 1 && access * bytes >= 4; access /= 2) {
    bool fits = access * bytes <= alignment && operand.offset % access == 0 && depth % access == 0;
    for (int i = 0; i < 3; ++i)
      fits &= operand.strides[i] % access == 0;
    if (fits) {
      operand.access = access;
      return;
    }
  }
}

} // namespace

FailureOr<Problem> analyze(KernelOp kernel) {
  Problem p;
  p.op = dyn_cast_or_null<AttentionOp>(kernel.getRoot());
  if (!p.op)
    return kernel.emitError("an attention kernel needs an attention as its root");
  auto q = shapeOf(p.op.getQ()), k = shapeOf(p.op.getK()), v = shapeOf(p.op.getV());
  p.dtype = dtypeOf(p.op.getQ());
  p.batch = q[0], p.heads = q[1], p.queries = q[2], p.depth = q[3];
  p.keyHeads = k[1], p.keys = k[2], p.columns = v[3];
  auto viewQ = viewOf(kernel, p.op.getQ(), "q"), viewK = viewOf(kernel, p.op.getK(), "k"),
       viewV = viewOf(kernel, p.op.getV(), "v");
  if (failed(viewQ) || failed(viewK) || failed(viewV))
    return failure();
  p.q = *viewQ, p.k = *viewK, p.v = *viewV;
  if (p.op.getBias()) {
    auto bias = viewOf(kernel, p.op.getBias(), "bias");
    if (failed(bias))
      return failure();
    p.bias = *bias;
  }
  if (p.isEmpty())
    return p;
  constexpr int64_t kLimit = int64_t(1) << 30;
  if (p.rows() >= kLimit || p.keys >= kLimit || p.depth >= kLimit || p.columns >= kLimit ||
      p.batch * p.keyHeads >= kLimit)
    return kernel.emitError("attention extents must stay below 2^30, got ")
           << p.batch << " x " << p.heads << " x " << p.queries << " x " << p.keys;
  int64_t bytes = bitWidth(p.dtype) / 8;
  chooseAccess(p.q, p.depth, bytes);
  chooseAccess(p.k, p.depth, bytes);
  chooseAccess(p.v, p.columns, bytes);
  p.lanes = maxLanes(kernel, p.op.getY(), 3);
  return p;
}

namespace {

DictionaryAttr configOf(KernelOp kernel, StringRef variant, ArrayRef<std::pair<StringRef, int64_t>> numbers) {
  Builder b(kernel.getContext());
  NamedAttrList list;
  list.append("variant", b.getStringAttr(variant));
  for (auto [name, value] : numbers)
    list.append(name, b.getI64IntegerAttr(value));
  return list.getDictionary(kernel.getContext());
}

DictionaryAttr configOf(KernelOp kernel, const WarpgroupTile &tile) {
  return configOf(kernel, kWarpgroupVariant,
                  {{"groups", tile.groups},
                   {"keys", tile.blockN},
                   {"stages", tile.stages},
                   {"producer", tile.producer},
                   {"persistent", tile.persistent}});
}

/// Tiles of the other instructions; null when none takes the problem.
DictionaryAttr chooseTile(KernelOp kernel, const Problem &p, const Target &target) {
  constexpr int64_t kMaxWidth = 256; // accumulators of wider rows do not fit the registers
  bool half = p.dtype == DType::F16 || p.dtype == DType::BF16;
  bool mma = (half || (p.dtype == DType::F32 && AttentionOp(p.op).getTf32())) &&
             paddedTo16(p.depth) <= kMaxWidth && paddedTo16(p.columns) <= kMaxWidth;
  bool isDouble = p.dtype == DType::F64;
  int64_t rows = p.rows(), heads = p.batch * p.keyHeads;
  for (const Variant &v : variants()) {
    if (v.mma != mma)
      continue;
    int64_t blocks = ceilDiv(rows, v.blockM) * heads;
    if (mma) {
      if (mmaSharedBytes(p, v) > target.maxSharedPerBlock)
        continue;
      // Rows past the end are wasted work: no larger block than needed, and the largest only when it still
      // fills the GPU.
      if (v.blockM > 16 && rows <= v.blockM / 2)
        continue;
      // Wide accumulators leave registers for few scores.
      if (v.blockN / v.warpsN > 32 && paddedTo16(p.columns) > (half ? 128 : 64))
        continue;
      if (v.blockM == 128 && (paddedTo16(p.columns) > 128 || blocks < 2 * target.numSMs))
        continue;
      if (v.blockN > 16 && p.keys <= v.blockN / 2 && v.blockM == 16)
        continue;
      // Several warps per tile of keys make one block faster, not the GPU.
      if (v.warpsN > 1 && (!half || blocks > 2 * target.numSMs || p.keys <= v.blockN / 2))
        continue;
      if (v.warpsN > 1 && v.blockN > 64 && (p.keys > v.blockN || blocks > target.numSMs))
        continue;
    } else {
      if (isDouble != (v.blockN == 32))
        continue;
      if (v.blockM > 16 && rows <= 16)
        continue;
    }
    // Few blocks and many keys: slices of at least 256 keys, until every multiprocessor has a block of
    // several warps or two of one.
    int64_t splits = 1;
    if (blocks > 0 && blocks < target.numSMs) {
      splits =
          v.warpsN > 1 ? std::max<int64_t>(2, target.numSMs / blocks) : ceilDiv(2 * target.numSMs, blocks);
      splits = std::max<int64_t>(1, std::min(p.keys / 256, splits));
    }
    return configOf(kernel, v.name, {{"splits", splits}});
  }
  return nullptr;
}

/// Few queries are better served by tiles of 16 rows whose heads are packed together and whose keys are
/// split.
bool hasFewQueries(const Problem &p, const Target &target) {
  int64_t rows16 = ceilDiv(p.rows(), 16) * p.batch * p.keyHeads,
          rows64 = ceilDiv(p.queries, 64) * p.batch * p.heads;
  return p.rows() <= 16 || (p.keys <= 128 && rows16 < target.numSMs * 3 / 4) ||
         (p.keys >= 512 && rows64 < target.numSMs / 4);
}

} // namespace

LogicalResult select(KernelOp kernel, const Target &target) {
  auto all = candidates(kernel, target, 1);
  if (failed(all))
    return failure();
  if (all->empty()) {
    Problem p = *analyze(kernel);
    return kernel.emitError("no attention variant takes ")
           << p.rows() << " rows, " << p.keys << " keys, depths " << p.depth << " and " << p.columns;
  }
  kernel.setConfigAttr(all->front());
  return success();
}

FailureOr<std::vector<DictionaryAttr>> candidates(KernelOp kernel, const Target &target, size_t limit) {
  auto p = analyze(kernel);
  if (failed(p))
    return failure();
  std::vector<DictionaryAttr> configs;
  if (!p->isEmpty() && takesWarpgroups(*p, target))
    for (const RankedTile &ranked : rankWarpgroupTiles(*p, target, limit))
      configs.push_back(configOf(kernel, ranked.tile));
  if (DictionaryAttr other = chooseTile(kernel, *p, target))
    configs.insert(configs.empty() || hasFewQueries(*p, target) ? configs.begin() : configs.end(), other);
  if (configs.size() > limit)
    configs.resize(limit);
  return configs;
}

} // namespace gpuc::attention

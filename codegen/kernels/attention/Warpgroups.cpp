// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which attention runs on warpgroup tensor cores, with which tile.
#include "Attention.h"
#include "emit/UnitText.h"
#include <cmath>
#include <limits>

namespace gpuc::attention {
namespace {

int64_t slabs(int64_t columns) { return ceilDiv(columns, 64); }

/// TMA wants contiguous columns and multiples of 16 bytes elsewhere.
bool hasTensorMap(const Operand &operand, llvm::ArrayRef<int64_t> extents) {
  if ((extents[3] > 1 && operand.strides[3] != 1) || operand.alignment < 16 || operand.offset % 8 != 0)
    return false;
  for (int axis = 0; axis < 3; ++axis) {
    int64_t stride = operand.strides[axis];
    if (stride < 0 || stride % 8 != 0 || stride * 2 >= int64_t(1) << 40)
      return false;
    if (axis == 2 && stride == 0 && extents[2] > 1)
      return false;
  }
  return true;
}

} // namespace

WarpgroupTile warpgroupTile(KernelOp kernel) {
  WarpgroupTile tile;
  tile.groups = configInt(kernel, "groups", 1);
  tile.blockN = configInt(kernel, "keys", 64);
  tile.stages = configInt(kernel, "stages", 1);
  tile.producer = configInt(kernel, "producer") != 0;
  tile.persistent = configInt(kernel, "persistent") != 0;
  return tile;
}

bool takesWarpgroups(const Problem &p, const Target &target) {
  constexpr int64_t kMaxWidth = 256;
  bool half = p.dtype == DType::F16 || p.dtype == DType::BF16;
  return target.hasWgmma && target.hasTma && half && p.keys > 0 && p.depth <= kMaxWidth &&
         p.columns <= kMaxWidth && hasTensorMap(p.q, {p.batch, p.heads, p.queries, p.depth}) &&
         hasTensorMap(p.k, {p.batch, p.keyHeads, p.keys, p.depth}) &&
         hasTensorMap(p.v, {p.batch, p.keyHeads, p.keys, p.columns});
}

int64_t sharedBytes(const Problem &p, const WarpgroupTile &tile) {
  int64_t d = slabs(p.depth) * 128, e = slabs(p.columns) * 128; // bytes of a row
  int64_t slab = tile.persistent ? tile.groups * 4 * 16 * 32 * 4 : 8;
  return tile.groups * 64 * d + tile.stages * tile.blockN * (d + e) + slab +
         8 * (2 * tile.groups + 4 * tile.stages);
}

namespace {

bool hasMask(const Problem &p) { return p.bias || AttentionOp(p.op).getSoftcap().convertToDouble() > 0; }

/// Registers that a consumer's thread needs without spills: as compiled by NVRTC 13 over the range of widths.
int64_t registersOf(const Problem &p, const WarpgroupTile &tile) {
  int64_t n = ceilDiv(p.columns, 8) * 4 + tile.blockN / 2; // sums, scores
  if (tile.producer) {
    n += tile.blockN / 4 + 36; // weights, while the next scores arrive
    if (hasMask(p))
      n += 40;
    if (tile.persistent && (hasMask(p) || p.depth > 128))
      n += 16;
  } else {
    n += p.keys <= tile.blockN ? 20 : tile.blockN > 64 ? 36 : 31;
    if (hasMask(p))
      n += p.keys <= tile.blockN ? 40 : 24;
  }
  return ceilDiv(n, 8) * 8;
}

} // namespace

int64_t blocksPerSM(const Problem &p, const WarpgroupTile &tile, const Target &target) {
  constexpr int64_t kReserved = 1024, kRegisters = 65536, kMaxMaskedBlock = 208, kMaxOverlappedBlock = 176;
  int64_t bytes = sharedBytes(p, tile), registers = registersOf(p, tile);
  int64_t limit = tile.producer ? registersOfConsumer(tile) : 248;
  if (bytes > target.maxSharedPerBlock || registers > limit ||
      (hasMask(p) && tile.blockN > kMaxMaskedBlock) || (tile.producer && tile.blockN > kMaxOverlappedBlock))
    return 0;
  if (tile.producer)
    return 1;
  return std::min(target.sharedPerSM / (bytes + kReserved), kRegisters / (tile.threads() * registers));
}

namespace {

/// Microseconds of one launch on an H200; the constants are a fit to 200 measurements of nine problems at D =
/// E = 64 and 128, of which it takes a tile within 2 % of the best.
double estimate(const Problem &p, const WarpgroupTile &tile, const Target &target) {
  int64_t slots = blocksPerSM(p, tile, target);
  if (slots == 0)
    return std::numeric_limits<double>::infinity();
  constexpr double kLaunch = 2.5;
  AttentionOp op = p.op;
  bool causal = op.getCausal();
  int64_t blocks = ceilDiv(p.queries, tile.blockM()) * p.batch * p.heads;
  double keyBlocks = double(ceilDiv(p.keys, tile.blockN)), keys = keyBlocks * double(tile.blockN) / 128;
  double columns = double(ceilDiv(p.depth, 16) * 16 + ceilDiv(p.columns, 8) * 8) / 128;
  double mask = hasMask(p) ? 0.25 : 0, visible = causal ? 0.5 + 0.5 / keyBlocks : 1;
  double perSM = double(blocks) / target.numSMs, rounded = std::ceil(perSM);
  if (causal)
    rounded = std::max(perSM, 1.0); // long and short tiles mix
  // What a warpgroup's 64 queries take per 128 keys and per block of keys (sums are scaled) on a busy
  // multiprocessor, and a block for everything else.
  double perBlock = 0.08 * double(p.columns) / 64, groups = double(tile.groups);
  if (tile.producer) {
    double work = (keys * (0.30 + 0.20 * columns + mask) + keyBlocks * perBlock) * groups;
    double other = tile.persistent ? 1.2 : 1.8;
    return kLaunch + std::max(rounded * (other + visible * work), other + work);
  }
  double work = (keys * (0.44 + 0.115 * columns + mask) + keyBlocks * perBlock) * groups;
  if (tile.stages == 2 && keyBlocks > 2)
    work *= 1.09; // keys arrive late
  // Few warpgroups cannot hide each other's waiting.
  int64_t atATime = slots * tile.groups;
  double busy = atATime == 1 ? 1.55 : atATime == 2 ? 1.31 : 1;
  double alone = 1.4 + keyBlocks * 0.4 + keys * (0.15 + mask);
  return kLaunch + std::max(rounded * (0.6 + 0.73 * (groups - 1) + visible * work * busy), alone);
}

} // namespace

llvm::SmallVector<RankedTile> rankWarpgroupTiles(const Problem &p, const Target &target, size_t limit) {
  llvm::SmallVector<RankedTile> ranked;
  auto consider = [&](WarpgroupTile tile) {
    double time = estimate(p, tile, target);
    if (time < std::numeric_limits<double>::infinity())
      ranked.push_back({tile, time});
  };
  // Blocks of keys that share them out evenly, and the widths that usually do well.
  llvm::SmallVector<int64_t> widths;
  for (int64_t blocks = 1; blocks <= 16; ++blocks) {
    int64_t width = ceilDiv(ceilDiv(p.keys, blocks), 16) * 16;
    if (width <= 256 && !llvm::is_contained(widths, width))
      widths.push_back(width);
  }
  for (int64_t width : {48, 64, 80, 96, 112, 128, 144, 176})
    if (width < p.keys && !llvm::is_contained(widths, width))
      widths.push_back(width);
  // Every query of a persistent block sees a key.
  bool persistent =
      !AttentionOp(p.op).getCausal() && ceilDiv(p.queries, 128) * p.batch * p.heads >= 2 * target.numSMs;
  for (int64_t width : widths) {
    int64_t blocks = ceilDiv(p.keys, width);
    for (int64_t stages : {1, 2, 3})
      if (stages <= blocks && (stages > 1 || blocks == 1))
        for (int64_t groups : {1, 2})
          consider({groups, width, stages, false, false});
    if (blocks > 1 && p.queries > 64) {
      consider({2, width, 2, true, false});
      if (persistent)
        consider({2, width, 2, true, true});
    }
  }
  llvm::stable_sort(ranked,
                    [](const RankedTile &a, const RankedTile &b) { return a.microseconds < b.microseconds; });
  if (ranked.size() > limit)
    ranked.resize(limit);
  return ranked;
}

TensorMapLayout tensorMap(const Problem &p, const Operand &operand, llvm::ArrayRef<int64_t> extents,
                          int64_t rows) {
  TensorMapLayout map;
  map.dtype = p.dtype;
  map.rank = 4;
  map.swizzle = TensorMapLayout::Swizzle::B128;
  map.byteOffset = uint64_t(operand.offset) * 2;
  map.dims[0] = uint64_t(extents[3]);
  for (int i = 1; i < 4; ++i) { // S or T, head, batch
    int64_t stride = operand.strides[3 - i];
    map.dims[i] = stride == 0 ? 1 : uint64_t(extents[3 - i]);
    map.strides[i - 1] = stride == 0 ? 16 : uint64_t(stride) * 2;
  }
  map.box = {64, uint32_t(rows), 1, 1};
  return map;
}

} // namespace gpuc::attention

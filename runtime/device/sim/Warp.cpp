// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collectives of a warp: each lane leaves its operands, the last one performs the operation for all.
#include "Cluster.h"
#include "MatrixMath.h"
#include <cstring>

namespace gpuc::sim {

using gpucsim::ThreadView;
using gpucsim::Word;

#define GPUC_SIM_HANDLER extern "C" __attribute__((visibility("hidden"))) ThreadView *

GPUC_SIM_HANDLER gpucSimHandleSyncWarp(unsigned line) {
  Thread *me = currentThread();
  if (!arriveInWarp(*me->warp, "syncWarp", line))
    return waitIn("syncWarp", line);
  releaseWarp(*me->warp);
  return me;
}

GPUC_SIM_HANDLER gpucSimHandleShuffle(Word value, unsigned arg, unsigned width, ShuffleMode mode,
                                      unsigned line) {
  Thread *me = currentThread();
  Warp &warp = *me->warp;
  const unsigned lane = me->lane, first = lane & ~(width - 1);
  unsigned source = lane;
  switch (mode) {
  case ShuffleMode::Xor:
    source = lane ^ arg;
    break;
  case ShuffleMode::Down:
    source = lane + arg;
    break;
  case ShuffleMode::Up:
    source = lane - arg;
    break;
  case ShuffleMode::Idx:
    source = first + (arg & (width - 1));
    break;
  }
  warp.values[lane] = value;
  // xor may reach a lower group, as the instruction does; a lane outside gives the own value
  bool inside = mode == ShuffleMode::Xor ? source < first + width : source - first < width;
  warp.sources[lane] = inside && source < warp.lanes ? source : lane;
  if (!arriveInWarp(warp, "shuffle", line))
    return waitIn("shuffle", line);
  for (unsigned i = 0; i < warp.lanes; ++i)
    warp.threads[i]->result = warp.values[warp.sources[i]];
  releaseWarp(warp);
  return me;
}

GPUC_SIM_HANDLER gpucSimHandleBallot(bool predicate, unsigned line) {
  Thread *me = currentThread();
  Warp &warp = *me->warp;
  warp.values[me->lane] = predicate;
  if (!arriveInWarp(warp, "ballot", line))
    return waitIn("ballot", line);
  Word bits = 0;
  for (unsigned i = 0; i < warp.lanes; ++i)
    bits |= warp.values[i] << i;
  for (unsigned i = 0; i < warp.lanes; ++i)
    warp.threads[i]->result = bits;
  releaseWarp(warp);
  return me;
}

static void requireFullWarp(const Warp &warp, const char *operation) {
  if (warp.lanes != 32)
    fail(waitingPc(currentThread()), "%s in a warp of %u threads: it needs 32", operation, warp.lanes);
}

GPUC_SIM_HANDLER gpucSimHandleLdmatrix(uint32_t *r, const void *row, unsigned count, bool transposed,
                                       unsigned line) {
  Thread *me = currentThread();
  Warp &warp = *me->warp;
  const char *name = transposed ? "ldmatrix.trans" : "ldmatrix";
  requireFullWarp(warp, name);
  if (me->lane < count * 8) {
    const void *pc = waitingPc(me);
    if (reinterpret_cast<uintptr_t>(row) % 16 != 0)
      fail(pc, "misaligned access: the row address of %s is not a multiple of 16", name);
    unsigned offset = sharedOffset(row, 16, name, pc);
    if (currentBlock()->launch->full)
      checkShared(offset, 16, Access::Read, *me, pc);
  }
  warp.inputs[me->lane] = row;
  warp.outputs[me->lane] = r;
  if (!arriveInWarp(warp, name, line))
    return waitIn(name, line);
  for (unsigned m = 0; m < count; ++m) {
    const void *const *rows = warp.inputs + m * 8;
    if (!transposed) {
      for (unsigned i = 0; i < 32; ++i)
        memcpy(static_cast<uint32_t *>(warp.outputs[i]) + m,
               static_cast<const char *>(rows[i / 4]) + i % 4 * 4, 4);
    } else {
      for (unsigned i = 0; i < 32; ++i) {
        uint16_t pair[2];
        memcpy(&pair[0], static_cast<const char *>(rows[i % 4 * 2]) + i / 4 * 2, 2);
        memcpy(&pair[1], static_cast<const char *>(rows[i % 4 * 2 + 1]) + i / 4 * 2, 2);
        memcpy(static_cast<uint32_t *>(warp.outputs[i]) + m, pair, 4);
      }
    }
  }
  releaseWarp(warp);
  return me;
}

GPUC_SIM_HANDLER gpucSimHandleStmatrix(unsigned row, const uint32_t *r, unsigned count, bool transposed,
                                       unsigned line) {
  Thread *me = currentThread();
  Warp &warp = *me->warp;
  const char *name = transposed ? "stmatrix.trans" : "stmatrix";
  requireFullWarp(warp, name);
  if (me->lane < count * 8) {
    SharedPlace at = sharedPlace(row, 16, 16, name, waitingPc(me));
    if (currentBlock()->launch->full)
      checkShared(at.offset, 16, Access::Write, *me, waitingPc(me));
    warp.outputs[me->lane] = at.pointer();
  }
  warp.inputs[me->lane] = r;
  if (!arriveInWarp(warp, name, line))
    return waitIn(name, line);
  for (unsigned m = 0; m < count; ++m) {
    void *const *rows = warp.outputs + m * 8;
    for (unsigned i = 0; i < 32; ++i) {
      uint32_t word = static_cast<const uint32_t *>(warp.inputs[i])[m];
      if (!transposed) {
        memcpy(static_cast<char *>(rows[i / 4]) + i % 4 * 4, &word, 4);
      } else {
        memcpy(static_cast<char *>(rows[i % 4 * 2]) + i / 4 * 2, &word, 2);
        uint16_t high = uint16_t(word >> 16);
        memcpy(static_cast<char *>(rows[i % 4 * 2 + 1]) + i / 4 * 2, &high, 2);
      }
    }
  }
  releaseWarp(warp);
  return me;
}

// ---- mma. The tile's fragments are gathered into plain matrices, multiplied, and the result is scattered.

/// Register r of lane l of tile t, of operands with `perTile` registers.
static inline uint32_t fragment(const void *const *lanes, int l, int t, int perTile, int r) {
  return static_cast<const uint32_t *>(lanes[l])[t * perTile + r];
}

/// The accumulators of 4 registers: c is (16 mi, 8 ni).
template <typename T, bool ToFragments> static void moveAccumulators(const Warp &warp, T *c, int mi, int ni) {
  const int n = ni * 8;
  for (int l = 0; l < 32; ++l) {
    T *lane = static_cast<T *>(warp.outputs[l]);
    for (int i = 0; i < mi; ++i)
      for (int j = 0; j < ni; ++j) {
        T *d = lane + (i * ni + j) * 4;
        T *at = c + (i * 16 + l / 4) * n + j * 8 + l % 4 * 2;
        if (ToFragments) {
          memcpy(d, at, 8);
          memcpy(d + 2, at + 8 * n, 8);
        } else {
          memcpy(at, d, 8);
          memcpy(at + 8 * n, d + 2, 8);
        }
      }
  }
}

/// f16 accumulators of 2 registers.
template <bool ToFragments> static void moveHalfAccumulators(const Warp &warp, float *c, int mi, int ni) {
  const int n = ni * 8;
  for (int l = 0; l < 32; ++l)
    for (int t = 0; t < mi * ni; ++t)
      for (int r = 0; r < 2; ++r) {
        char *d = static_cast<char *>(warp.outputs[l]) + (t * 2 + r) * 4;
        float *at = c + (t / ni * 16 + r * 8 + l / 4) * n + t % ni * 8 + l % 4 * 2;
        uint16_t pair[2];
        if (ToFragments) {
          pair[0] = narrowF16(at[0]);
          pair[1] = narrowF16(at[1]);
          memcpy(d, pair, 4);
        } else {
          memcpy(pair, d, 4);
          at[0] = widenF16(pair[0]);
          at[1] = widenF16(pair[1]);
        }
      }
}

/// 16-bit operands: a is (16 mi, 16), b (16, 8 ni).
static void gatherHalf(const Warp &warp, float *a, float *b, int mi, int ni, bool bf16) {
  auto widen = bf16 ? static_cast<void (*)(float *, const uint16_t *, int)>(widenBf16)
                    : static_cast<void (*)(float *, const uint16_t *, int)>(widenF16);
  alignas(16) uint32_t words[32];
  alignas(32) float wide[64];
  for (int i = 0; i < mi; ++i)
    for (int r = 0; r < 4; ++r) {
      for (int l = 0; l < 32; ++l)
        words[l] = fragment(warp.inputs, l, i, 4, r);
      widen(wide, reinterpret_cast<const uint16_t *>(words), 64);
      for (int g = 0; g < 8; ++g)
        memcpy(a + (i * 16 + r % 2 * 8 + g) * 16 + r / 2 * 8, wide + g * 8, 32);
    }
  const int n = ni * 8;
  for (int j = 0; j < ni; ++j)
    for (int r = 0; r < 2; ++r) {
      for (int l = 0; l < 32; ++l)
        words[l] = fragment(warp.inputsB, l, j, 2, r);
      widen(wide, reinterpret_cast<const uint16_t *>(words), 64);
      for (int k = 0; k < 8; ++k)
        for (int g = 0; g < 8; ++g)
          b[(r * 8 + k) * n + j * 8 + g] = wide[g * 8 + k];
    }
}

static void gatherTf32(const Warp &warp, float *a, float *b, int mi, int ni) {
  auto value = [](uint32_t bits) {
    bits &= ~0x1fffu; // the instruction ignores the low bits
    float f;
    memcpy(&f, &bits, 4);
    return f;
  };
  for (int l = 0; l < 32; ++l) {
    for (int i = 0; i < mi; ++i)
      for (int r = 0; r < 4; ++r)
        a[(i * 16 + r % 2 * 8 + l / 4) * 8 + r / 2 * 4 + l % 4] = value(fragment(warp.inputs, l, i, 4, r));
    for (int j = 0; j < ni; ++j)
      for (int r = 0; r < 2; ++r)
        b[(r * 4 + l % 4) * ni * 8 + j * 8 + l / 4] = value(fragment(warp.inputsB, l, j, 2, r));
  }
}

static void gatherBytes(const Warp &warp, int32_t *a, int32_t *b, int mi, int ni, bool signedA,
                        bool signedB) {
  auto byte = [](uint32_t word, int index, bool isSigned) {
    uint8_t v = uint8_t(word >> (index * 8));
    return isSigned ? int32_t(int8_t(v)) : int32_t(v);
  };
  for (int l = 0; l < 32; ++l)
    for (int e = 0; e < 4; ++e) {
      for (int i = 0; i < mi; ++i)
        for (int r = 0; r < 4; ++r)
          a[(i * 16 + r % 2 * 8 + l / 4) * 32 + r / 2 * 16 + l % 4 * 4 + e] =
              byte(fragment(warp.inputs, l, i, 4, r), e, signedA);
      for (int j = 0; j < ni; ++j)
        for (int r = 0; r < 2; ++r)
          b[(r * 16 + l % 4 * 4 + e) * ni * 8 + j * 8 + l / 4] =
              byte(fragment(warp.inputsB, l, j, 2, r), e, signedB);
    }
}

static void performMma(Warp &warp, int mi, int ni, MmaKind kind) {
  TileBuffers &t = currentBlock()->tile;
  const int m = mi * 16, n = ni * 8;
  switch (kind) {
  case MmaKind::F16F32:
  case MmaKind::Bf16F32:
    gatherHalf(warp, t.a, t.b, mi, ni, kind == MmaKind::Bf16F32);
    moveAccumulators<float, false>(warp, t.c, mi, ni);
    multiplyAdd(t.c, t.a, t.b, m, n, 16);
    moveAccumulators<float, true>(warp, t.c, mi, ni);
    break;
  case MmaKind::Tf32F32:
    gatherTf32(warp, t.a, t.b, mi, ni);
    moveAccumulators<float, false>(warp, t.c, mi, ni);
    multiplyAdd(t.c, t.a, t.b, m, n, 8);
    moveAccumulators<float, true>(warp, t.c, mi, ni);
    break;
  case MmaKind::F16F16:
    gatherHalf(warp, t.a, t.b, mi, ni, false);
    moveHalfAccumulators<false>(warp, t.c, mi, ni);
    multiplyAdd(t.c, t.a, t.b, m, n, 16);
    moveHalfAccumulators<true>(warp, t.c, mi, ni);
    break;
  case MmaKind::S8S8:
  case MmaKind::S8U8:
  case MmaKind::U8S8:
  case MmaKind::U8U8: {
    auto *a = reinterpret_cast<int32_t *>(t.a), *b = reinterpret_cast<int32_t *>(t.b),
         *c = reinterpret_cast<int32_t *>(t.c);
    gatherBytes(warp, a, b, mi, ni, kind == MmaKind::S8S8 || kind == MmaKind::S8U8,
                kind == MmaKind::S8S8 || kind == MmaKind::U8S8);
    moveAccumulators<int32_t, false>(warp, c, mi, ni);
    multiplyAdd(c, a, b, m, n, 32);
    moveAccumulators<int32_t, true>(warp, c, mi, ni);
    break;
  }
  }
}

GPUC_SIM_HANDLER gpucSimHandleMma(void *d, const uint32_t *a, const uint32_t *b, unsigned shape, MmaKind kind,
                                  unsigned line) {
  Thread *me = currentThread();
  Warp &warp = *me->warp;
  requireFullWarp(warp, "mma");
  const int mi = int(shape >> 8), ni = int(shape & 255);
  if (mi * 16 > kMaxTileM || ni * 8 > kMaxTileN)
    fail(waitingPc(me), "mmaTile of %d x %d instructions: the simulator has room for %d x %d", mi, ni,
         kMaxTileM / 16, kMaxTileN / 8);
  warp.inputs[me->lane] = a;
  warp.inputsB[me->lane] = b;
  warp.outputs[me->lane] = d;
  if (!arriveInWarp(warp, "mma", line))
    return waitIn("mma", line);
  performMma(warp, mi, ni, kind);
  releaseWarp(warp);
  return me;
}

} // namespace gpuc::sim

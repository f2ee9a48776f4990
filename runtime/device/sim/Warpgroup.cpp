// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma: each thread notes its instructions; when the four warps of a warpgroup wait, the last thread
// computes those that are complete by then. Operands in shared memory are read at that moment, the latest
// that the hardware may choose.
#include "Cluster.h"
#include "MatrixMath.h"
#include <cmath>
#include <cstring>

namespace gpuc::sim {

using gpucsim::ThreadView;
using gpucsim::WgmmaKind;
using gpucsim::Word;

namespace {

unsigned elementBytes(WgmmaKind kind) {
  return kind == WgmmaKind::Tf32 ? 4 : kind == WgmmaKind::F16 || kind == WgmmaKind::Bf16 ? 2 : 1;
}

/// Small floats with a sign, E bits of exponent and M of mantissa; e4m3 has one NaN code and no infinity.
float widenF8(uint8_t code, int exponentBits, bool finite) {
  int mantissaBits = 7 - exponentBits, bias = (1 << (exponentBits - 1)) - 1;
  int exponent = code >> mantissaBits & ((1 << exponentBits) - 1),
      mantissa = code & ((1 << mantissaBits) - 1);
  float sign = code & 0x80 ? -1.0f : 1.0f;
  if (finite ? (code & 0x7f) == 0x7f : exponent == (1 << exponentBits) - 1)
    return finite || mantissa ? NAN : sign * INFINITY;
  float value = exponent ? ldexpf(float(mantissa + (1 << mantissaBits)), exponent - bias - mantissaBits)
                         : ldexpf(float(mantissa), 1 - bias - mantissaBits);
  return sign * value;
}

void widen(float *to, const unsigned char *from, unsigned bytes, WgmmaKind kind) {
  const unsigned count = bytes / elementBytes(kind);
  if (kind == WgmmaKind::F16 || kind == WgmmaKind::Bf16) {
    alignas(16) uint16_t halves[8];
    memcpy(halves, from, 16);
    kind == WgmmaKind::F16 ? widenF16(to, halves, 8) : widenBf16(to, halves, 8);
  } else if (kind == WgmmaKind::Tf32) {
    for (unsigned i = 0; i < count; ++i) {
      uint32_t bits;
      memcpy(&bits, from + i * 4, 4);
      bits &= ~0x1fffu; // the instruction ignores the low bits
      memcpy(to + i, &bits, 4);
    }
  } else {
    for (unsigned i = 0; i < count; ++i)
      to[i] = widenF8(from[i], kind == WgmmaKind::E4m3 ? 4 : 5, kind == WgmmaKind::E4m3);
  }
}

/// An operand that a descriptor names.
struct Operand {
  unsigned start, lead, stride;
  const void *pc;
  Block &block;
  const Thread &thread;
  Operand(Word descriptor, const void *pc, const Thread &thread)
      : pc(pc), block(*blockOf(&thread)), thread(thread) {
    start = unsigned(descriptor & 0x3fff) << 4;
    lead = (unsigned(descriptor >> 16) & 0x3fff) << 4;
    stride = (unsigned(descriptor >> 32) & 0x3fff) << 4;
    if (descriptor >> 62 != 1)
      fail(pc, "wgmma: the simulator knows operands with 128-byte swizzle only, the descriptor says %u",
           unsigned(descriptor >> 62));
    if (descriptor >> 49 & 7)
      fail(pc, "wgmma: a base offset of %u is not simulated", unsigned(descriptor >> 49 & 7));
  }
  /// 16 bytes at the unswizzled place `at` after the start.
  const unsigned char *chunk(unsigned at) const {
    unsigned offset = swizzled(start + at, 3) - kSharedWindow;
    if (offset > block.sharedBytes || 16 > block.sharedBytes - offset)
      fail(pc, "out of bounds: wgmma reads byte %d of the %u bytes of shared memory", int(offset),
           block.sharedBytes);
    if (block.launch->full)
      checkCopied(offset, thread, pc);
    return block.shared + offset;
  }
};

/// rows x K of a K-major operand: rows of 128 bytes, groups of 8 rows `stride` apart.
void gatherRows(const Operand &operand, float *to, unsigned rows, WgmmaKind kind) {
  const unsigned perChunk = 16 / elementBytes(kind), depth = 2 * perChunk;
  for (unsigned r = 0; r < rows; ++r)
    for (unsigned c = 0; c < 2; ++c)
      widen(to + r * depth + c * perChunk, operand.chunk(r / 8 * operand.stride + r % 8 * 128 + c * 16), 16,
            kind);
}

/// K x N of 16-bit elements whose rows run along N: blocks of 64 columns `lead` apart, groups of 8 rows
/// `stride` apart.
void gatherColumns(const Operand &operand, float *to, unsigned n, WgmmaKind kind) {
  for (unsigned k = 0; k < 16; ++k)
    for (unsigned j = 0; j < n; j += 8)
      widen(to + k * n + j,
            operand.chunk(j / 64 * operand.lead + k / 8 * operand.stride + k % 8 * 128 + j % 64 * 2), 16,
            kind);
}

/// A (64 x K) in registers: as A of mma.sync, warp w holding rows 16 w on.
void gatherRegisters(Thread *const *threads, size_t index, float *to, WgmmaKind kind) {
  const unsigned perWord = 4 / elementBytes(kind), depth = 8 * perWord;
  for (unsigned t = 0; t < 128; ++t) {
    const WgmmaProduct &product = threads[t]->products[index];
    unsigned lane = t % 32, row = t / 32 * 16 + lane / 4;
    for (unsigned r = 0; r < 4; ++r) {
      unsigned char bytes[16] = {};
      memcpy(bytes, &product.a[r], 4);
      float values[8];
      widen(values, bytes, kind == WgmmaKind::F16 || kind == WgmmaKind::Bf16 ? 16 : 4, kind);
      float *at = to + (row + r % 2 * 8) * depth + (r / 2 * 4 + lane % 4) * perWord;
      for (unsigned e = 0; e < perWord; ++e)
        at[e] = values[e];
    }
  }
}

template <bool ToThreads> void moveAccumulators(Thread *const *threads, size_t index, float *c, unsigned n) {
  for (unsigned t = 0; t < 128; ++t) {
    float *d = threads[t]->products[index].d;
    unsigned lane = t % 32;
    float *at = c + (t / 32 * 16 + lane / 4) * n + lane % 4 * 2;
    for (unsigned j = 0; j < n / 8; ++j)
      for (unsigned half = 0; half < 2; ++half) {
        float *pair = d + j * 4 + half * 2, *place = at + half * 8 * n + j * 8;
        ToThreads ? memcpy(pair, place, 8) : memcpy(place, pair, 8);
      }
  }
}

/// Computes product `index` of 128 threads. `fresh`: c does not hold its accumulators yet.
void compute(Thread *const *threads, size_t index, bool fresh) {
  TileBuffers &tile = blockOf(threads[0])->tile;
  const WgmmaProduct &p = threads[0]->products[index];
  const unsigned n = p.shape & gpucsim::kWgmmaWidth, depth = 32 / elementBytes(p.kind);
  if (!(p.shape & gpucsim::kWgmmaAccumulate))
    memset(tile.c, 0, sizeof(float) * 64 * n);
  else if (fresh)
    moveAccumulators<false>(threads, index, tile.c, n);
  if (p.registersA)
    gatherRegisters(threads, index, tile.a, p.kind);
  else
    gatherRows(Operand(p.descriptorA, p.pc, *threads[0]), tile.a, 64, p.kind);
  if (p.shape & gpucsim::kWgmmaTransposedB) {
    gatherColumns(Operand(p.descriptorB, p.pc, *threads[0]), tile.b, n, p.kind);
  } else {
    alignas(64) float rows[256 * 32];
    gatherRows(Operand(p.descriptorB, p.pc, *threads[0]), rows, n, p.kind);
    for (unsigned j = 0; j < n; ++j)
      for (unsigned k = 0; k < depth; ++k)
        tile.b[k * n + j] = rows[j * depth + k];
  }
  multiplyAdd(tile.c, tile.a, tile.b, 64, int(n), int(depth));
}

/// Products of closed groups but the newest `groups`.
size_t completed(const Thread &t, unsigned groups) {
  size_t count = 0;
  while (count < t.products.size() && t.products[count].group + groups < t.productGroup)
    ++count;
  return count;
}

void perform(Thread *const *threads, unsigned groups) {
  const size_t count = completed(*threads[0], groups);
  for (unsigned t = 1; t < 128; ++t) {
    bool same = completed(*threads[t], groups) == count;
    for (size_t i = 0; same && i < count; ++i) {
      const WgmmaProduct &a = threads[0]->products[i], &b = threads[t]->products[i];
      same = a.shape == b.shape && a.kind == b.kind && a.descriptorA == b.descriptorA &&
             a.descriptorB == b.descriptorB;
    }
    if (!same)
      fail(waitingPc(threads[t]),
           "divergence: the threads of a warpgroup have issued different wgmma instructions");
  }
  for (size_t i = 0; i < count; ++i) {
    const WgmmaProduct &p = threads[0]->products[i];
    bool fresh = i == 0 || threads[0]->products[i - 1].d != p.d;
    compute(threads, i, fresh);
    if (i + 1 == count || threads[0]->products[i + 1].d != p.d)
      moveAccumulators<true>(threads, i, blockOf(threads[0])->tile.c, p.shape & gpucsim::kWgmmaWidth);
  }
  for (unsigned t = 0; t < 128; ++t)
    threads[t]->products.erase(threads[t]->products.begin(), threads[t]->products.begin() + long(count));
}

} // namespace

void wgmma(float *d, const unsigned *registersA, Word a, Word b, unsigned shape, WgmmaKind kind) {
  Thread &me = *currentThread();
  WgmmaProduct product = {};
  product.d = d;
  product.registersA = registersA != nullptr;
  if (registersA)
    memcpy(product.a, registersA, 16);
  product.descriptorA = a;
  product.descriptorB = b;
  product.shape = shape;
  product.kind = kind;
  product.group = me.productGroup;
  product.pc = __builtin_return_address(0);
  if ((shape & gpucsim::kWgmmaTransposedB) && elementBytes(kind) != 2)
    fail(product.pc, "wgmma: only operands of 16-bit elements may run along N");
  me.products.push_back(product);
}

void wgmmaCommit() { ++currentThread()->productGroup; }

extern "C" __attribute__((visibility("hidden"))) ThreadView *gpucSimHandleWgmmaWait(unsigned groups,
                                                                                    unsigned line) {
  Thread *me = currentThread();
  Block &block = *currentBlock();
  const unsigned first = me->linear / 128 * 128;
  if (first + 128 > block.threadCount)
    fail(waitingPc(me), "wgmma in a warpgroup of %u threads: it needs 128", block.threadCount - first);
  Warpgroup &group = block.warpgroups[first / 128];
  if (group.arrived && (group.line != line || group.groups != groups))
    fail(waitingPc(me),
         "divergence: this thread waits for wgmma in line %u, others of its warpgroup in line %u", line,
         group.line);
  group.line = line;
  group.groups = groups;
  if (++group.arrived == 128) {
    group.arrived = 0;
    BulkCopy work = {};
    work.kind = BulkCopy::Kind::Products;
    work.first = &block.threads[first];
    block.cluster->copies.push_front(work); // before copies: what they bring must have been waited for
  }
  return waitIn("wgmmaWait", line);
}

void performProducts(Thread *first) {
  Thread *threads[128];
  for (unsigned t = 0; t < 128; ++t)
    threads[t] = first + t;
  perform(threads, blockOf(first)->warpgroups[first->linear / 128].groups);
  for (Thread *t : threads)
    wake(t);
}

} // namespace gpuc::sim

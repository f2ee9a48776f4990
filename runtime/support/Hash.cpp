// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SHA-256 after FIPS 180-4 section 6.2; the block function in plain C++ and with x86 SHA instructions.
#include "gpuc/Support/Hash.h"
#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace gpuc {

alignas(16) static constexpr uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, int n) { return (x >> n) | (x << (32 - n)); }

static void blocksPortable(uint32_t *state, const uint8_t *data, size_t count) {
  for (; count; --count, data += 64) {
    uint32_t w[64];
    for (int i = 0; i < 16; ++i)
      w[i] = uint32_t(data[4 * i]) << 24 | uint32_t(data[4 * i + 1]) << 16 | uint32_t(data[4 * i + 2]) << 8 |
             data[4 * i + 3];
    for (int i = 16; i < 64; ++i) {
      uint32_t s0 = rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ (w[i - 15] >> 3);
      uint32_t s1 = rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ (w[i - 2] >> 10);
      w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];
    for (int i = 0; i < 64; ++i) {
      uint32_t t1 =
          h + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
      uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
      h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
  }
}

#if defined(__x86_64__)
// Two rounds per sha256rnds2; the state is kept as (ABEF, CDGH), the schedule in a ring of four vectors.
__attribute__((target("sha,sse4.1"))) static void blocksSha(uint32_t *state, const uint8_t *data,
                                                            size_t count) {
  const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
  __m128i t = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
  __m128i s1 = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
  __m128i s0 = _mm_alignr_epi8(t, s1, 8);
  s1 = _mm_blend_epi16(s1, t, 0xf0);
  for (; count; --count, data += 64) {
    __m128i save0 = s0, save1 = s1;
    __m128i w[4];
    for (int i = 0; i < 16; ++i) {
      __m128i &now = w[i & 3];
      if (i < 4) {
        now = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(data + 16 * i)), swap);
      } else { // w[4i..4i+3] from the vectors 4, 3, 2 and 1 steps back
        __m128i x = _mm_sha256msg1_epu32(now, w[(i + 1) & 3]);
        x = _mm_add_epi32(x, _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
        now = _mm_sha256msg2_epu32(x, w[(i + 3) & 3]);
      }
      __m128i k = _mm_add_epi32(now, _mm_load_si128((const __m128i *)(kRound + 4 * i)));
      s1 = _mm_sha256rnds2_epu32(s1, s0, k);
      s0 = _mm_sha256rnds2_epu32(s0, s1, _mm_shuffle_epi32(k, 0x0e));
    }
    s0 = _mm_add_epi32(s0, save0);
    s1 = _mm_add_epi32(s1, save1);
  }
  t = _mm_shuffle_epi32(s0, 0x1b);
  s1 = _mm_shuffle_epi32(s1, 0xb1);
  _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(t, s1, 0xf0));
  _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(s1, t, 8));
}

static bool hasShaInstructions() {
  unsigned a, b, c, d;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & (1u << 29)))
    return false;
  return __get_cpuid(1, &a, &b, &c, &d) && (c & (1u << 19)); // sse4.1
}
#endif

Sha256::Sha256()
    : state{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19} {}

void Sha256::blocks(const uint8_t *data, size_t count) {
#if defined(__x86_64__)
  static const bool kFast = hasShaInstructions();
  if (kFast)
    return blocksSha(state.data(), data, count);
#endif
  blocksPortable(state.data(), data, count);
}

void Sha256::update(const void *data, size_t size) {
  auto p = static_cast<const uint8_t *>(data);
  total += size;
  if (pendingSize) {
    size_t take = size < 64 - pendingSize ? size : 64 - pendingSize;
    std::memcpy(pending.data() + pendingSize, p, take);
    pendingSize += take, p += take, size -= take;
    if (pendingSize < 64)
      return;
    blocks(pending.data(), 1);
    pendingSize = 0;
  }
  blocks(p, size / 64);
  pendingSize = size % 64;
  if (pendingSize)
    std::memcpy(pending.data(), p + size - pendingSize, pendingSize);
}

void Sha256::updateSized(std::string_view text) {
  uint8_t length[8];
  for (int i = 0; i < 8; ++i)
    length[i] = uint8_t(uint64_t(text.size()) >> (8 * i));
  update(length, 8);
  update(text);
}

Sha256Digest Sha256::finish() {
  uint64_t bits = total * 8;
  uint8_t tail[72] = {0x80};
  size_t padding = (pendingSize < 56 ? 56 : 120) - pendingSize;
  for (int i = 0; i < 8; ++i)
    tail[padding + i] = uint8_t(bits >> (56 - 8 * i));
  update(tail, padding + 8);
  Sha256Digest digest;
  for (int i = 0; i < 32; ++i)
    digest[i] = uint8_t(state[i / 4] >> (24 - 8 * (i % 4)));
  return digest;
}

Sha256Digest sha256(const void *data, size_t size) {
  Sha256 h;
  h.update(data, size);
  return h.finish();
}

std::string toHex(const Sha256Digest &digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t b : digest) {
    text += kDigits[b >> 4];
    text += kDigits[b & 15];
  }
  return text;
}

} // namespace gpuc

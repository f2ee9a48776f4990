// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of stride 2 over at most 4 channels (the first layer of image networks) as convolutions of
// stride 1 over 2x2 pixels: 16 channels, of which (dy, dx, c) is number (dy*2 + dx)*4 + c. Neighbouring
// blocks of a row lie next to each other, so the blocks under a row of the filter are one run of 16 * kTapsX
// elements: tensor maps see them as the channels of a pixel (maps may overlap themselves).
//
// Blocks has, as constants: T, kChannels, kBlocksX, kBlocksY (of an image), kImages, kTapsX, kTapsY (blocks
// under the filter), kFirstX, kFirstY (position in x of block 0, zero or negative), x's kWidth, kHeight and
// strides kImageStride, kChannelStride, kStepX, kStepY; the filter's kFilterX, kFilterY, kOutputs and strides
// kFilterStride, kDepthStride, kTapStepX, kTapStepY, and kSkipX, kSkipY: pixels of the first block that
// precede the filter.
#pragma once
#include "arch/griddep.cuh"
#include "common/types.cuh"

namespace gpuc {

constexpr i32 kBlockChannels = 16;

/// Writes one block. `item` counts (image, y, x).
template <typename Blocks>
GPUC_DEVICE void writeBlock(const typename Blocks::T *x, typename Blocks::T *blocks, i64 item) {
  using T = typename Blocks::T;
  if (item >= i64(Blocks::kImages) * Blocks::kBlocksY * Blocks::kBlocksX)
    return;
  i32 column = i32(item % Blocks::kBlocksX);
  i64 line = item / Blocks::kBlocksX;
  i32 row = i32(line % Blocks::kBlocksY), image = i32(line / Blocks::kBlocksY);
  Vec<T, kBlockChannels> block;
#pragma unroll
  for (int i = 0; i < kBlockChannels; ++i) {
    int c = i % 4, dx = i / 4 % 2, dy = i / 8;
    i32 px = Blocks::kFirstX + column * 2 + dx, py = Blocks::kFirstY + row * 2 + dy;
    bool inside = c < Blocks::kChannels && u32(px) < u32(Blocks::kWidth) && u32(py) < u32(Blocks::kHeight);
    block[i] = inside ? x[image * i64(Blocks::kImageStride) + c * i64(Blocks::kChannelStride) +
                          py * i64(Blocks::kStepY) + px * i64(Blocks::kStepX)]
                      : T{};
  }
  stVec(blocks + item * kBlockChannels, block);
}

/// Writes one element of the filters, (output, tapY, tapX, channel of the block).
template <typename Blocks, bool kTf32>
GPUC_DEVICE void packBlockFilter(const typename Blocks::T *w, typename Blocks::T *packed, i64 item) {
  using T = typename Blocks::T;
  i32 channel = i32(item % kBlockChannels);
  i64 rest = item / kBlockChannels;
  i32 tapX = i32(rest % Blocks::kTapsX), tapY = i32(rest / Blocks::kTapsX % Blocks::kTapsY),
      output = i32(rest / (Blocks::kTapsX * Blocks::kTapsY));
  if (output >= Blocks::kOutputs)
    return;
  i32 c = channel % 4, s = tapX * 2 + channel / 4 % 2 - Blocks::kSkipX,
      r = tapY * 2 + channel / 8 - Blocks::kSkipY;
  bool inside = c < Blocks::kChannels && u32(s) < u32(Blocks::kFilterX) && u32(r) < u32(Blocks::kFilterY);
  T value = inside ? w[output * i64(Blocks::kFilterStride) + c * i64(Blocks::kDepthStride) +
                       r * i64(Blocks::kTapStepY) + s * i64(Blocks::kTapStepX)]
                   : T{};
  if constexpr (kTf32)
    value = arch::bitCast<float>(arch::cvtRnaTf32(value));
  packed[item] = value;
}

} // namespace gpuc

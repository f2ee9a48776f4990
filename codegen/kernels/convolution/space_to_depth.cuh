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
GPUC_DEVICE void writeBlock(const typename Blocks::T *x, typename Blocks::T *blocks, u32 item) {
  using T = typename Blocks::T;
  constexpr u32 kItems = u32(Blocks::kImages) * Blocks::kBlocksY * Blocks::kBlocksX;
  if (item >= kItems)
    return;
  u32 column = item % Blocks::kBlocksX, line = item / Blocks::kBlocksX;
  u32 row = line % Blocks::kBlocksY, image = line / Blocks::kBlocksY;
  const T *from = x + image * i64(Blocks::kImageStride);
  // Positions outside are read from the edge, so that all loads are in flight together.
  i64 atX[2], atY[2];
  bool insideX[2], insideY[2];
#pragma unroll
  for (int d = 0; d < 2; ++d) {
    i32 px = Blocks::kFirstX + i32(column) * 2 + d, py = Blocks::kFirstY + i32(row) * 2 + d;
    insideX[d] = u32(px) < u32(Blocks::kWidth);
    insideY[d] = u32(py) < u32(Blocks::kHeight);
    atX[d] = (insideX[d] ? px : 0) * i64(Blocks::kStepX);
    atY[d] = (insideY[d] ? py : 0) * i64(Blocks::kStepY);
  }
  Vec<T, kBlockChannels> block;
#pragma unroll
  for (int i = 0; i < kBlockChannels; ++i) {
    int c = i % 4;
    block[i] =
        c < Blocks::kChannels ? from[c * i64(Blocks::kChannelStride) + atY[i / 8] + atX[i / 4 % 2]] : T{};
  }
#pragma unroll
  for (int i = 0; i < kBlockChannels; ++i)
    if (!insideX[i / 4 % 2] || !insideY[i / 8])
      block[i] = T{};
  stVec(blocks + i64(item) * kBlockChannels, block);
}

/// Writes one element of the filters, (output, tapY, tapX, channel of the block).
template <typename Blocks>
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
  packed[item] = tensorCoreValue(value);
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which storage the kernels of the family convolution read and write fastest. Any storage works; this is what
// the layout pass aims for.
#pragma once
#include "gpuc/Support/DType.h"
#include <cstdint>

namespace gpuc {

/// Shape of a convolution or transposed convolution as far as layouts depend on it. C and O are all channels.
struct ConvLayoutQuery {
  DType dtype = DType::F16;
  int64_t inputChannels = 0, outputChannels = 0, groups = 1;
  bool tensorCores = true; ///< f16, bf16, or f32 that may be rounded to tf32
};

/// Channels-last x is read with 16-byte (at least 4-byte) vectors of channels: when C/group is a multiple of
/// 8 for 16-bit floats, of 4 for f32 and of 2 for f64; depthwise when C itself is. Otherwise row-major x is
/// as good.
constexpr bool prefersChannelsLastInput(const ConvLayoutQuery &q) {
  int64_t perGroup = q.groups > 0 ? q.inputChannels / q.groups : 0;
  int64_t vector = 128 / int64_t(bitWidth(q.dtype));
  bool depthwise = q.groups > 1 && perGroup == 1 && q.outputChannels == q.inputChannels;
  return perGroup > 0 && (depthwise ? q.inputChannels % vector == 0 : perGroup % vector == 0);
}
/// Channels-last y costs nothing to write whenever O/group holds whole vectors (depthwise: O), and lets the
/// next convolution read it.
constexpr bool prefersChannelsLastOutput(const ConvLayoutQuery &q) {
  int64_t perGroup = q.groups > 0 ? q.outputChannels / q.groups : 0;
  int64_t vector = 128 / int64_t(bitWidth(q.dtype));
  bool depthwise = q.groups > 1 && q.inputChannels == q.groups && q.outputChannels == q.inputChannels;
  return perGroup > 0 && (depthwise ? q.outputChannels % vector == 0 : perGroup % vector == 0);
}

} // namespace gpuc

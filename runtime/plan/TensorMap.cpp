// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules of tensor maps, after the CUDA driver's documentation of cuTensorMapEncodeTiled and
// cuTensorMapEncodeIm2col without interleaving.
#include "gpuc/Plan/TensorMap.h"
#include <tuple>

namespace gpuc {

static auto fields(const TensorMapLayout &l) {
  return std::tie(l.dtype, l.rank, l.dims, l.strides, l.box, l.elementStrides, l.swizzle, l.im2col, l.lower,
                  l.upper, l.channelsPerPixel, l.pixelsPerColumn, l.byteOffset);
}

bool operator==(const TensorMapLayout &a, const TensorMapLayout &b) { return fields(a) == fields(b); }

static Status fail(const std::string &what) { return invalidArgument("tensor map: " + what); }

/// "dimension 1 is 0, expected 1 to 256".
static Status outside(const std::string &what, int64_t value, int64_t least, int64_t most) {
  return fail(what + " is " + std::to_string(value) + ", expected " + std::to_string(least) + " to " +
              std::to_string(most));
}

static bool isBetween(uint64_t value, uint64_t least, uint64_t most) {
  return value >= least && value <= most;
}

/// A copy must fit into a block's shared memory.
static Status checkBox(const TensorMapLayout &l) {
  constexpr uint64_t kMost = 227 * 1024;
  uint64_t bytes = bitWidth(l.dtype) / 8; // at most 8 * 256^5, 2^43
  for (int i = 0; i < l.rank; ++i)
    bytes *= (l.box[i] + l.elementStrides[i] - 1) / l.elementStrides[i];
  if (bytes > kMost)
    return fail("the box has " + std::to_string(bytes) + " bytes, expected at most " + std::to_string(kMost));
  return {};
}

/// Bytes of `elements` innermost elements against the rules of a copy's rows.
static Status checkRow(const TensorMapLayout &l, const std::string &what, uint64_t elements) {
  uint64_t bytes = elements * (bitWidth(l.dtype) / 8);
  if (bytes % 16)
    return fail(what + " has " + std::to_string(bytes) + " bytes, expected a multiple of 16");
  uint64_t span = l.swizzle == TensorMapLayout::Swizzle::None ? ~uint64_t(0) : uint64_t(16) << int(l.swizzle);
  if (bytes > span)
    return fail(what + " has " + std::to_string(bytes) + " bytes, expected at most the swizzle's " +
                std::to_string(span));
  return {};
}

static Status checkIm2col(const TensorMapLayout &l) {
  if (l.rank < 3)
    return outside("the rank with im2col", l.rank, 3, kMaxTensorMapRank);
  if (!isBetween(l.channelsPerPixel, 1, 256))
    return outside("channels per pixel", l.channelsPerPixel, 1, 256);
  if (!isBetween(l.pixelsPerColumn, 1, 1024))
    return outside("pixels per column", l.pixelsPerColumn, 1, 1024);
  // The corners share 32 bits: 16 each for one spatial dimension, 8 for two, 5 for three.
  int64_t half = l.rank == 3 ? 1 << 15 : l.rank == 4 ? 1 << 7 : 1 << 4;
  for (int i = 0; i < l.rank - 2; ++i) {
    std::string which = " corner of spatial dimension " + std::to_string(i);
    for (bool low : {true, false}) {
      int64_t corner = low ? l.lower[i] : l.upper[i];
      if (corner < -half || corner >= half)
        return outside((low ? "lower" : "upper") + which, corner, -half, half - 1);
    }
    if (int64_t(l.dims[i + 1]) + l.upper[i] - l.lower[i] < 1)
      return fail("the box of spatial dimension " + std::to_string(i) + " is empty");
  }
  return checkRow(l, "a pixel's part", l.channelsPerPixel);
}

Status validateTensorMap(const TensorMapLayout &l) {
  if (unsigned(l.dtype) >= kNumDTypes || bitWidth(l.dtype) < 8)
    return fail("element type " + std::to_string(unsigned(l.dtype)) + " is unknown or has less than 8 bits");
  if (l.rank < 1 || l.rank > kMaxTensorMapRank)
    return outside("the rank", l.rank, 1, kMaxTensorMapRank);
  if (l.swizzle > TensorMapLayout::Swizzle::B128)
    return fail("unknown swizzle " + std::to_string(unsigned(l.swizzle)));
  constexpr uint64_t kMaxDim = uint64_t(1) << 32, kMaxStride = (uint64_t(1) << 40) - 16;
  for (int i = 0; i < l.rank; ++i) {
    std::string dimension = "dimension " + std::to_string(i);
    if (!isBetween(l.dims[i], 1, kMaxDim))
      return fail(dimension + " has " + std::to_string(l.dims[i]) + " elements, expected 1 to 2^32");
    if (i > 0 && (l.strides[i - 1] % 16 || l.strides[i - 1] > kMaxStride))
      return fail("the stride of " + dimension + " is " + std::to_string(l.strides[i - 1]) +
                  " bytes, expected a multiple of 16 below 2^40");
    if (!isBetween(l.elementStrides[i], 1, 8))
      return outside("the element stride of " + dimension, l.elementStrides[i], 1, 8);
    if (!l.im2col && !isBetween(l.box[i], 1, 256))
      return outside("the box of " + dimension, l.box[i], 1, 256);
  }
  if (l.elementStrides[0] != 1)
    return fail("the element stride of dimension 0 is " + std::to_string(l.elementStrides[0]) +
                ", expected 1");
  if (l.byteOffset % 16)
    return fail("the first element is at byte " + std::to_string(l.byteOffset) +
                ", expected a multiple of 16");
  if (l.im2col)
    return checkIm2col(l);
  GPUC_RETURN_IF_ERROR(checkBox(l));
  return checkRow(l, "a row of the box", l.box[0]);
}

std::optional<uint64_t> tensorMapExtent(const TensorMapLayout &l) {
  uint64_t end = l.dims[0] * (bitWidth(l.dtype) / 8); // at most 2^35
  if (__builtin_add_overflow(end, l.byteOffset, &end))
    return std::nullopt;
  for (int i = 1; i < l.rank; ++i) {
    uint64_t last;
    if (__builtin_mul_overflow(l.dims[i] - 1, l.strides[i - 1], &last) ||
        __builtin_add_overflow(end, last, &end))
      return std::nullopt;
  }
  return end;
}

template <typename List> static std::string join(const List &list, int count, const char *separator) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += (i ? separator : "") + std::to_string(list[i]);
  return text;
}

std::string toString(const TensorMapLayout &l) {
  std::string text = std::string(name(l.dtype)) + "[" + join(l.dims, l.rank, "x") + "]";
  if (l.rank > 1)
    text += " strides " + join(l.strides, l.rank - 1, ",");
  if (l.im2col)
    text += " im2col " + std::to_string(l.channelsPerPixel) + " channels x " +
            std::to_string(l.pixelsPerColumn) + " pixels, corners " + join(l.lower, l.rank - 2, ",") +
            " to " + join(l.upper, l.rank - 2, ",");
  else
    text += " box " + join(l.box, l.rank, "x");
  for (int i = 0; i < l.rank; ++i)
    if (l.elementStrides[i] != 1) {
      text += " every " + join(l.elementStrides, l.rank, "x");
      break;
    }
  if (l.swizzle != TensorMapLayout::Swizzle::None)
    text += " swizzle " + std::to_string(16 << int(l.swizzle));
  if (l.byteOffset)
    text += " at +" + std::to_string(l.byteOffset);
  return text;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A tensor as Hopper's copy engine (TMA) sees it: what a kernel's 128-byte tensor map parameter is made from.
// Plans store this description; the device encodes it when addresses are known. The rules are those of
// cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col.
#pragma once
#include "gpuc/Support/DType.h"
#include "gpuc/Support/Status.h"
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace gpuc {

constexpr int kMaxTensorMapRank = 5;
constexpr uint64_t kTensorMapBytes = 128;    ///< size of an encoded map
constexpr uint64_t kTensorMapAlignment = 64; ///< of an encoded map

/// Dimension 0 is the innermost, its elements follow each other. Reads outside the tensor give zeros, writes
/// outside it do nothing. Entries from `rank` on mean nothing; makers leave them as they are here.
struct TensorMapLayout {
  /// How the 16-byte pieces of a box are placed in shared memory, against bank conflicts.
  enum class Swizzle : uint8_t { None = 0, B32, B64, B128 };

  DType dtype = DType::F16; ///< of at least 8 bits
  int rank = 2;
  std::array<uint64_t, 5> dims = {};                        ///< in elements
  std::array<uint64_t, 4> strides = {};                     ///< in bytes, of dimensions 1 to rank - 1
  std::array<uint32_t, 5> box = {};                         ///< elements of one copy; not with im2col
  std::array<uint32_t, 5> elementStrides = {1, 1, 1, 1, 1}; ///< distance of the elements taken, within a box
  Swizzle swizzle = Swizzle::None;
  /// A copy takes `channelsPerPixel` channels of `pixelsPerColumn` successive pixels of a convolution's
  /// window: dimensions are C, W, (H, (D,)) N, and pixels have coordinates from `lower` to dims - 1 + `upper`
  /// in W, H, D order.
  bool im2col = false;
  std::array<int32_t, 3> lower = {}, upper = {};
  uint32_t channelsPerPixel = 0, pixelsPerColumn = 0;
  uint64_t byteOffset = 0; ///< of the first element, from the address that the map is encoded for
};

bool operator==(const TensorMapLayout &a, const TensorMapLayout &b);
inline bool operator!=(const TensorMapLayout &a, const TensorMapLayout &b) { return !(a == b); }

/// Everything that the encoder requires, addresses apart. Errors: InvalidArgument, saying what was expected.
Status validateTensorMap(const TensorMapLayout &layout);
/// Bytes from the address that the map is encoded for to the end of the last element; nothing when that does
/// not fit into 64 bits. The layout is valid.
std::optional<uint64_t> tensorMapExtent(const TensorMapLayout &layout);
/// "f16[64x128x3] strides 128,16384 box 64x64x1 swizzle 128 at +4096", dimension 0 first.
std::string toString(const TensorMapLayout &layout);

} // namespace gpuc

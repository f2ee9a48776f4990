// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarriers and bulk copies: runs of bytes, boxes of tensors of every rank and swizzle, im2col walks, stores.
#include "ArchFixture.h"

namespace gpuc::test {
namespace {

using Swizzle = TensorMapLayout::Swizzle;

class Bulk : public ArchTest {};

TEST_P(Bulk, LoadsBytesAndCountsPhases) {
  load(R"(
struct Shared { alignas(128) u8 data[2][1024]; u64 full[2], empty[2]; };
extern "C" __global__ void __launch_bounds__(64) k(const u8 *x, u8 *y, i32 rounds) {
  GPUC_SMEM(Shared, s);
  u32 full = arch::sharedAddress(s.full), empty = arch::sharedAddress(s.empty), data = arch::sharedAddress(s.data);
  if (threadIdx.x == 0) {
    for (u32 i = 0; i < 2; ++i) {
      arch::mbarrierInit(full + i * 8, 1);
      arch::mbarrierInit(empty + i * 8, 32);
    }
    arch::mbarrierInitFence();
  }
  arch::syncThreads();
  if (threadIdx.x == 0) {
    for (i32 i = 0; i < rounds; ++i) {
      u32 stage = u32(i % 2);
      arch::mbarrierWait(empty + stage * 8, u32(i / 2 + 1) & 1);
      arch::mbarrierArriveExpectTx(full + stage * 8, 1024);
      arch::bulkLoad(data + stage * 1024, x + i * 1024, 512, full + stage * 8);
      arch::bulkLoad(data + stage * 1024 + 512, x + i * 1024 + 512, 512, full + stage * 8);
    }
  } else if (threadIdx.x >= 32) {
    for (i32 i = 0; i < rounds; ++i) {
      u32 stage = u32(i % 2);
      arch::mbarrierWait(full + stage * 8, u32(i / 2) & 1);
      for (u32 j = threadIdx.x - 32; j < 1024; j += 32)
        y[i * 1024 + j] = s.data[stage][j] ^ 0x55;
      arch::mbarrierArrive(empty + stage * 8);
    }
  }
})");
  const int rounds = 7;
  std::vector<uint8_t> x(rounds * 1024);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = uint8_t(i * 7 + i / 1024);
  auto dx = array(x), dy = array(std::vector<uint8_t>(x.size()));
  auto args = arguments();
  run(args.array(dx).array(dy).value(rounds), {1, 64, 2048 + 128});
  auto y = dy.read();
  for (size_t i = 0; i < x.size(); ++i)
    ASSERT_EQ(y[i], x[i] ^ 0x55) << i;
}

/// Loads one box to shared memory filled with 0xee and copies `count` bytes of that to `out`.
std::string loadText(const std::string &call) {
  return R"(
struct Shared { u8 data[32768]; u64 full; };
extern "C" __global__ void __launch_bounds__(128) k(const __grid_constant__ TensorMap map, u8 *out, u32 bytes, u32 count,
                                                    i32 c0, i32 c1, i32 c2, i32 c3, i32 c4) {
  GPUC_SMEM(Shared, s);
  u32 full = arch::sharedAddress(&s.full), data = arch::sharedAddress(s.data);
  for (u32 i = threadIdx.x; i < count; i += 128)
    s.data[i] = 0xee;
  if (threadIdx.x == 0) {
    arch::mbarrierInit(full, 1);
    arch::mbarrierInitFence();
    arch::tensorMapPrefetch(&map);
  }
  arch::fenceProxyAsyncShared();
  arch::syncThreads();
  if (threadIdx.x == 0) {
    arch::mbarrierArriveExpectTx(full, bytes);
    )" + call +
         R"(;
  }
  arch::mbarrierWait(full, 0);
  for (u32 i = threadIdx.x; i < count; i += 128)
    out[i] = s.data[i];
})";
}

const char *const kLoads[] = {"",
                              "",
                              "arch::tmaLoad2d(data, &map, full, c0, c1)",
                              "arch::tmaLoad3d(data, &map, full, c0, c1, c2)",
                              "arch::tmaLoad4d(data, &map, full, c0, c1, c2, c3)",
                              "arch::tmaLoad5d(data, &map, full, c0, c1, c2, c3, c4)"};

/// Dense but for padding of rows to 16 bytes.
TensorMapLayout denseLayout(DType dtype, const std::vector<uint64_t> &dims, const std::vector<uint32_t> &box,
                            Swizzle swizzle) {
  TensorMapLayout layout;
  layout.dtype = dtype;
  layout.rank = int(dims.size());
  layout.swizzle = swizzle;
  uint64_t stride = dims[0] * uint64_t(bitWidth(dtype)) / 8;
  for (size_t d = 0; d < dims.size(); ++d) {
    layout.dims[d] = dims[d];
    if (d < box.size())
      layout.box[d] = box[d];
    stride = (stride + 15) / 16 * 16;
    if (d + 1 < dims.size())
      layout.strides[d] = stride;
    stride *= d + 1 < dims.size() ? dims[d + 1] : 1;
  }
  return layout;
}
uint64_t tensorBytes(const TensorMapLayout &layout) { return (*tensorMapExtent(layout) + 15) / 16 * 16; }
std::vector<uint8_t> pattern(uint64_t bytes) {
  std::vector<uint8_t> x(bytes);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = uint8_t(1 + (i * 131 + i / 256 * 17) % 251);
  return x;
}
uint64_t swizzledPlace(uint64_t offset, Swizzle swizzle) {
  uint64_t mask = (uint64_t(1) << int(swizzle)) - 1;
  return offset ^ ((offset >> 7 & mask) << 4);
}

/// The element of `tensor` at `at`, or zeros: to `place` of `box`.
void expectElement(std::vector<uint8_t> &box, uint64_t place, const TensorMapLayout &layout,
                   const std::vector<uint8_t> &tensor, const int64_t *at) {
  const uint64_t size = uint64_t(bitWidth(layout.dtype)) / 8;
  uint64_t address = layout.byteOffset;
  bool inside = true;
  for (int d = 0; d < layout.rank; ++d) {
    inside = inside && at[d] >= 0 && at[d] < int64_t(layout.dims[d]);
    address += uint64_t(at[d]) * (d ? layout.strides[d - 1] : size);
  }
  for (uint64_t b = 0; b < size; ++b)
    box[swizzledPlace(place + b, layout.swizzle)] = inside ? tensor[address + b] : 0;
}

/// What a tiled load at `at` leaves in shared memory.
std::vector<uint8_t> expectedBox(const TensorMapLayout &layout, const std::vector<uint8_t> &tensor,
                                 const std::vector<int> &at, uint64_t count) {
  const uint64_t size = uint64_t(bitWidth(layout.dtype)) / 8;
  std::vector<uint8_t> box(count, 0xee);
  int64_t index[5] = {}, coordinate[5] = {};
  for (uint64_t place = 0;; place += size) {
    for (int d = 0; d < layout.rank; ++d)
      coordinate[d] = at[size_t(d)] + index[d] * layout.elementStrides[size_t(d)];
    expectElement(box, place, layout, tensor, coordinate);
    int d = 0;
    for (; d < layout.rank; ++d) {
      if (++index[d] * layout.elementStrides[size_t(d)] < layout.box[size_t(d)])
        break;
      index[d] = 0;
    }
    if (d == layout.rank)
      return box;
  }
}
uint64_t boxBytes(const TensorMapLayout &layout) {
  uint64_t bytes = uint64_t(bitWidth(layout.dtype)) / 8;
  for (size_t d = 0; d < size_t(layout.rank); ++d)
    bytes *= (layout.box[d] + layout.elementStrides[d] - 1) / layout.elementStrides[d];
  return bytes;
}

struct BoxCase {
  DType dtype;
  std::vector<uint64_t> dims;
  std::vector<uint32_t> box;
  Swizzle swizzle;
  std::vector<int> at;
  std::vector<uint32_t> elementStrides = {};
};
const BoxCase kBoxes[] = {
    {DType::F16, {64, 20}, {64, 8}, Swizzle::B128, {0, 4}},
    {DType::F16, {100, 37}, {64, 16}, Swizzle::B128, {64, 30}},
    {DType::F16, {100, 37}, {64, 16}, Swizzle::B128, {-8, -3}},
    {DType::F16, {99, 37}, {64, 16}, Swizzle::B128, {51, 3}}, // an odd edge inside 16 bytes
    {DType::F16, {99, 37}, {64, 16}, Swizzle::B128, {-3, 3}},
    {DType::F16, {99, 37}, {64, 16}, Swizzle::B128, {128, 3}}, // all outside
    {DType::F32, {40, 19}, {16, 8}, Swizzle::B64, {3, 2}},
    {DType::U8, {70, 19}, {32, 24}, Swizzle::B32, {5, 1}},
    {DType::BF16, {40, 19}, {40, 5}, Swizzle::None, {1, 2}},
    {DType::F32, {256, 9}, {256, 4}, Swizzle::None, {-1, 6}},
    {DType::F16, {70, 6, 5}, {64, 3, 2}, Swizzle::B128, {0, 4, -1}},
    {DType::F16, {24, 6, 5, 3}, {16, 2, 3, 2}, Swizzle::B32, {8, 5, 3, 2}},
    {DType::F32, {9, 4, 5, 3, 4}, {8, 2, 3, 2, 2}, Swizzle::None, {1, 3, -2, 2, 1}},
    {DType::F16, {64, 33}, {64, 16}, Swizzle::B128, {0, 5}, {1, 2}},
    {DType::F16, {64, 33, 9}, {64, 9, 5}, Swizzle::B128, {0, 5, 1}, {1, 4, 3}},
};

TEST_P(Bulk, LoadsBoxes) {
  for (int rank = 2; rank <= 5; ++rank) {
    load(loadText(kLoads[rank]));
    for (const BoxCase &c : kBoxes) {
      if (int(c.dims.size()) != rank)
        continue;
      TensorMapLayout layout = denseLayout(c.dtype, c.dims, c.box, c.swizzle);
      std::copy(c.elementStrides.begin(), c.elementStrides.end(), layout.elementStrides.begin());
      layout.byteOffset = 32;
      SCOPED_TRACE(toString(layout) + " from " + std::to_string(c.at[0]) + ", " + std::to_string(c.at[1]));
      const std::vector<uint8_t> x = pattern(tensorBytes(layout));
      const uint64_t bytes = boxBytes(layout), count = bytes + 1024;
      auto dx = array(x), out = array(std::vector<uint8_t>(count));
      auto args = arguments();
      args.map(layout, dx.ptr).array(out).value(uint32_t(bytes)).value(uint32_t(count));
      for (size_t d = 0; d < 5; ++d)
        args.value(d < c.at.size() ? c.at[d] : 0);
      run(args, {1, 128, 32768 + 16});
      EXPECT_EQ(out.read(), expectedBox(layout, x, c.at, count));
    }
  }
}

struct WalkCase {
  uint64_t c, w, h, n;
  int padding, filter, stride, dilation;
  uint32_t pixels;
};
const WalkCase kWalks[] = {
    {64, 7, 5, 3, 1, 3, 1, 1, 32}, // rows and images are crossed
    {72, 9, 6, 2, 1, 3, 2, 1, 24}, // steps of two
    {64, 8, 8, 2, 2, 3, 1, 2, 64}, // dilation
    {64, 5, 5, 2, 0, 1, 2, 1, 16}, // no filter
};

TEST_P(Bulk, LoadsIm2col) {
  load(loadText("arch::tmaLoadIm2col4d(data, &map, full, c0, c1, c2, c3, u16(c4 & 15), u16(c4 >> 4))"));
  for (const WalkCase &c : kWalks) {
    TensorMapLayout layout = denseLayout(DType::F16, {c.c, c.w, c.h, c.n}, {}, Swizzle::B128);
    layout.im2col = true;
    layout.channelsPerPixel = 64;
    layout.pixelsPerColumn = c.pixels;
    layout.elementStrides = {1, uint32_t(c.stride), uint32_t(c.stride), 1, 1};
    const int last = c.padding - (c.filter - 1) * c.dilation;
    layout.lower = {-c.padding, -c.padding, 0};
    layout.upper = {last, last, 0};
    const std::vector<uint8_t> x = pattern(tensorBytes(layout));
    const int outW = (int(c.w) + 2 * c.padding - (c.filter - 1) * c.dilation - 1) / c.stride + 1,
              outH = (int(c.h) + 2 * c.padding - (c.filter - 1) * c.dilation - 1) / c.stride + 1;
    const uint64_t bytes = c.pixels * 128, count = bytes + 1024;
    for (int first : {0, 5, int(c.n) * outW * outH - 3})
      for (int tap = 0; tap < c.filter * c.filter; tap += 2) {
        const int tapX = tap % c.filter * c.dilation, tapY = tap / c.filter * c.dilation;
        SCOPED_TRACE(toString(layout) + ", pixel " + std::to_string(first) + ", tap " + std::to_string(tap));
        std::vector<uint8_t> expected(count, 0xee);
        for (int p = 0; p < int(c.pixels); ++p) {
          const int pixel = first + p;
          for (int channel = 0; channel < 64; ++channel) {
            const int64_t at[4] = {channel, pixel % outW * c.stride - c.padding + tapX,
                                   pixel / outW % outH * c.stride - c.padding + tapY, pixel / outW / outH};
            expectElement(expected, uint64_t(p) * 128 + uint64_t(channel) * 2, layout, x, at);
          }
        }
        auto dx = array(x), out = array(std::vector<uint8_t>(count));
        auto args = arguments();
        args.map(layout, dx.ptr).array(out).value(uint32_t(bytes)).value(uint32_t(count)).value(0);
        args.value(first % outW * c.stride - c.padding).value(first / outW % outH * c.stride - c.padding);
        args.value(first / outW / outH).value(tapX | tapY << 4);
        run(args, {1, 128, 32768 + 16});
        EXPECT_EQ(out.read(), expected);
      }
  }
}

std::string storeText(const std::string &call) {
  return R"(
struct Shared { u8 data[2][16384]; };
extern "C" __global__ void __launch_bounds__(128) k(const __grid_constant__ TensorMap map, const u8 *in, u32 bytes,
                                                    i32 c0, i32 c1, i32 c2, i32 c3) {
  GPUC_SMEM(Shared, s);
  for (u32 i = threadIdx.x; i < bytes; i += 128)
    s.data[1][i] = in[i];
  arch::fenceProxyAsyncShared();
  arch::syncThreads();
  if (threadIdx.x == 0) {
    u32 data = arch::sharedAddress(s.data[1]);
    )" + call +
         R"(;
    arch::bulkCommit();
    arch::bulkWaitRead<0>();
    arch::bulkWait<0>();
  }
})";
}

TEST_P(Bulk, StoresBoxesWithinTheTensor) {
  const char *const calls[] = {"", "", "arch::tmaStore2d(&map, data, c0, c1)",
                               "arch::tmaStore3d(&map, data, c0, c1, c2)",
                               "arch::tmaStore4d(&map, data, c0, c1, c2, c3)"};
  const BoxCase boxes[] = {
      {DType::F16, {100, 37}, {64, 16}, Swizzle::B128, {64, 30}},
      {DType::F16, {99, 37}, {64, 16}, Swizzle::B128, {-5, -3}},
      {DType::F32, {33, 7}, {32, 8}, Swizzle::B128, {8, 2}},
      {DType::F32, {33, 7}, {16, 8}, Swizzle::B64, {20, 2}},
      {DType::U8, {33, 7}, {32, 8}, Swizzle::None, {20, 2}},
      {DType::F16, {70, 6, 5}, {64, 4, 2}, Swizzle::B128, {16, 4, 4}},
      {DType::F16, {24, 6, 5, 3}, {16, 2, 3, 2}, Swizzle::B32, {12, 5, 3, -1}},
  };
  for (int rank = 2; rank <= 4; ++rank) {
    load(storeText(calls[rank]));
    for (const BoxCase &c : boxes) {
      if (int(c.dims.size()) != rank)
        continue;
      TensorMapLayout layout = denseLayout(c.dtype, c.dims, c.box, c.swizzle);
      SCOPED_TRACE(toString(layout));
      const uint64_t size = uint64_t(bitWidth(c.dtype)) / 8, bytes = boxBytes(layout);
      std::vector<uint8_t> expected(tensorBytes(layout), 0xcc), box = pattern(bytes);
      auto dx = array(expected), in = array(box);
      int64_t index[5] = {};
      for (uint64_t place = 0; place < bytes; place += size) {
        uint64_t address = 0;
        bool inside = true;
        for (int d = 0; d < rank; ++d) {
          int64_t at = c.at[size_t(d)] + index[d];
          inside = inside && at >= 0 && at < int64_t(c.dims[size_t(d)]);
          address += uint64_t(at) * (d ? layout.strides[size_t(d) - 1] : size);
        }
        for (uint64_t b = 0; inside && b < size; ++b)
          expected[address + b] = box[swizzledPlace(place + b, c.swizzle)];
        for (int d = 0; d < rank && ++index[d] == int64_t(c.box[size_t(d)]); ++d)
          index[d] = 0;
      }
      auto args = arguments();
      args.map(layout, dx.ptr).array(in).value(uint32_t(bytes));
      for (size_t d = 0; d < 4; ++d)
        args.value(d < c.at.size() ? c.at[d] : 0);
      run(args, {1, 128, 32768});
      EXPECT_EQ(dx.read(), expected);
    }
  }
}

GPUC_ON_ALL_DEVICES(Bulk);

} // namespace
} // namespace gpuc::test

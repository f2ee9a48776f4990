// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// .npy: round trips of every element type, versions, byte and index orders, and headers meant to harm.
#include "gpuc/Support/Npy.h"
#include "gpuc/Support/File.h"
#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace gpuc;

static std::string npy(int major, const std::string &dict, const std::string &body) {
  std::string out = "\x93NUMPY";
  out += char(major);
  out += '\0';
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    out += char(dict.size() >> (8 * i));
  return out + dict + body;
}
static Result<HostTensor> parse(const std::string &bytes, std::optional<DType> expected = std::nullopt) {
  // A heap block of exactly this size lets AddressSanitizer see any read beyond it.
  std::vector<char> exact(bytes.begin(), bytes.end());
  return parseNpy(exact.data(), exact.size(), expected);
}

TEST(Npy, EveryTypeRoundTrips) {
  for (unsigned i = 0; i < kNumDTypes; ++i) {
    DType type = DType(i);
    if (bitWidth(type) < 8) {
      EXPECT_EQ(npyHeader(type, {3}).status().code(), StatusCode::Unsupported);
      continue;
    }
    for (Shape shape : {Shape{}, Shape{5}, Shape{3, 5, 7}, Shape{3, 0, 7}}) {
      HostTensor t(type, shape);
      for (int64_t b = 0; b < t.sizeInBytes(); ++b)
        t.mutableBytes()[b] = type == DType::Bool ? b & 1 : uint8_t(b * 37 + 11);
      std::string file = *npyHeader(type, shape);
      EXPECT_EQ(file.size() % 64, 0u);
      file.append(reinterpret_cast<const char *>(t.bytes()), size_t(t.sizeInBytes()));
      auto back = parse(file, type);
      ASSERT_TRUE(back.ok()) << name(type) << ": " << back.status().message();
      EXPECT_EQ(back->dtype(), type);
      EXPECT_EQ(back->shape(), shape);
      for (int64_t b = 0; b < t.sizeInBytes(); ++b)
        ASSERT_EQ(back->bytes()[b], t.bytes()[b]);
    }
  }
}

TEST(Npy, FileRoundTrip) {
  std::string path = testing::TempDir() + "/gpuc-npy-test-" + std::to_string(::getpid()) + ".npy";
  HostTensor t(DType::F32, {2, 3});
  for (int i = 0; i < 6; ++i)
    t.mutableData<float>()[i] = float(i) / 3;
  ASSERT_TRUE(writeNpy(path, t).ok());
  auto back = readNpy(path);
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->data<float>()[5], 5.0f / 3);
  ::unlink(path.c_str());
  auto missing = readNpy(path);
  EXPECT_EQ(missing.status().code(), StatusCode::NotFound);
  EXPECT_NE(missing.status().message().find(path), std::string::npos);
}

TEST(Npy, ReadsVersionsAndSpellings) {
  std::string body(8, '\1');
  for (int version : {1, 2, 3})
    EXPECT_TRUE(
        parse(npy(version, "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n", body)).ok());
  EXPECT_TRUE(parse(npy(1, "{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"<i4\"}", body)).ok());
  EXPECT_EQ(parse(npy(4, "{}", body)).status().code(), StatusCode::Unsupported);
}

TEST(Npy, ConvertsFortranOrderAndByteOrder) {
  auto fortran = parse(npy(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3)}", "\1\4\2\5\3\6"));
  ASSERT_TRUE(fortran.ok());
  for (int i = 0; i < 6; ++i)
    EXPECT_EQ(fortran->bytes()[i], i + 1);
  auto big =
      parse(npy(1, "{'descr': '>u2', 'fortran_order': False, 'shape': (2,)}", std::string("\0\1\1\0", 4)));
  ASSERT_TRUE(big.ok());
  EXPECT_EQ(big->data<uint16_t>()[0], 1);
  EXPECT_EQ(big->data<uint16_t>()[1], 256);
}

TEST(Npy, BoolIsNormalisedAndVoidIsBFloat) {
  auto b = parse(npy(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", std::string("\0\1\7", 3)));
  ASSERT_TRUE(b.ok());
  EXPECT_EQ(b->bytes()[2], 1);
  auto v = parse(npy(1, "{'descr': '<V2', 'fortran_order': False, 'shape': (1,)}", "\x80\x3f"));
  ASSERT_TRUE(v.ok());
  EXPECT_EQ(v->dtype(), DType::BF16);
  EXPECT_FALSE(parse(npy(1, "{'descr': '|V1', 'fortran_order': False, 'shape': (1,)}", "x")).ok());
}

TEST(Npy, HostileHeadersAreErrors) {
  const char *dicts[] = {
      "",
      "{",
      "{'descr'",
      "{'descr':",
      "{'descr': '<f4",
      "{'descr': '<f4'}",
      "{'descr': 3}",
      "[]",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999999,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (",
      "{'descr': '<f4', 'fortran_order': Maybe, 'shape': ()}",
      "{'descr': '<f4', 'fortran_order': False, 'shape': (), 'evil': 1}",
      "{'descr': '<f4', 'fortran_order': False 'shape': ()}",
      "{'descr': '', 'fortran_order': False, 'shape': ()}",
      "{'descr': '<', 'fortran_order': False, 'shape': ()}",
      "{'descr': '|O', 'fortran_order': False, 'shape': ()}",
      "{'descr': '<U9', 'fortran_order': False, 'shape': ()}",
      "{'descr': '<c8', 'fortran_order': False, 'shape': ()}",
      "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': ()}",
  };
  for (const char *dict : dicts)
    for (int version : {1, 2, 3})
      EXPECT_FALSE(parse(npy(version, dict, "12")).ok()) << dict;
}

TEST(Npy, TruncationAndMutationNeverCrash) {
  std::string good =
      npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }          \n", std::string(16, 'x'));
  ASSERT_TRUE(parse(good).ok());
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_FALSE(parse(good.substr(0, size)).ok()) << size;
  uint32_t state = 7;
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int j = 0; j < 3; ++j) {
      state = state * 1664525u + 1013904223u;
      bad[(state >> 8) % bad.size()] = char(state >> 24);
    }
    (void)parse(bad).ok();
  }
}

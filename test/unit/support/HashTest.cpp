// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SHA-256 against the examples of FIPS 180-4 and NIST's CAVP, and pieces against the whole.
#include "gpuc/Support/Hash.h"
#include <gtest/gtest.h>

using namespace gpuc;

TEST(Sha256, KnownVectors) {
  EXPECT_EQ(toHex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(toHex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(toHex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(toHex(sha256(std::string(1000000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesEqualTheWholeAtEveryLength) {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += char(i * 7);
  for (size_t size = 0; size <= text.size(); ++size) {
    Sha256 pieces;
    for (size_t at = 0; at < size;) {
      size_t step = std::min<size_t>(at % 13 + 1, size - at);
      pieces.update(text.data() + at, step);
      at += step;
    }
    EXPECT_EQ(pieces.finish(), sha256(text.data(), size)) << size;
  }
}

TEST(Sha256, SizedTextsDoNotRunTogether) {
  Sha256 a, b;
  a.updateSized("ab");
  a.updateSized("c");
  b.updateSized("a");
  b.updateSized("bc");
  EXPECT_NE(a.finish(), b.finish());
}

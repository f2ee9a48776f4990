// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "gpuc/Codegen/TuningDatabase.h"
#include <gtest/gtest.h>

using namespace gpuc;

TEST(TuningDatabase, KeepsWhatItWrites) {
  TuningDatabase database;
  TuningKey key = {"sm_90a", "matmul", 2, "0123456789abcdef"};
  TuningEntry entry;
  entry.config = "{splits = 1 : i64, variant = \"mma_64x64x64\"}";
  entry.about = "matmul \"x\" -> y";
  entry.microseconds = 3.25;
  entry.firstMicroseconds = 4.5;
  entry.candidates = 8;
  entry.measured = "cuda:0 NVIDIA H200 (sm_90a), 2026-12-01";
  database.set(key, entry);
  TuningKey other = key;
  other.problem = "fedcba9876543210";
  TuningEntry library;
  library.library = true;
  database.set(other, library);

  auto read = TuningDatabase::parse("# a comment\n\n" + database.text(), "test");
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_NE(database.text().find(R"("us":3.250,"first_us":4.500,)"), std::string::npos) << database.text();
  EXPECT_EQ(read->size(), 2u);
  EXPECT_EQ(read->text(), database.text());
  const TuningEntry *found = read->find(key);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->config, entry.config);
  EXPECT_EQ(found->about, entry.about);
  EXPECT_EQ(found->microseconds, 3.25);
  EXPECT_EQ(found->measured, entry.measured);
  EXPECT_TRUE(read->find(other)->library);
  key.version = 3;
  EXPECT_EQ(read->find(key), nullptr);
}

TEST(TuningDatabase, NamesTheWrongLine) {
  for (const char *line :
       {"{", "[]", "{\"arch\":\"sm_90a\"}",
        R"({"arch":"sm_90a","family":"matmul","version":1,"problem":"ab"})",
        R"({"arch":"sm_90a","family":"matmul","version":"1","problem":"ab","config":"{}"})"}) {
    auto read = TuningDatabase::parse(std::string("#\n") + line, "file.jsonl");
    ASSERT_FALSE(read) << line;
    EXPECT_EQ(read.status().code(), StatusCode::InvalidArgument);
    EXPECT_NE(read.status().message().find("'file.jsonl', line 2: "), std::string::npos)
        << read.status().message();
  }
}

TEST(TuningDatabase, TheShippedOneIsSound) {
  // A damaged file would assert here.
  auto read = TuningDatabase::parse(TuningDatabase::shipped().text(), "shipped");
  ASSERT_TRUE(read) << read.status().message();
  EXPECT_EQ(read->size(), TuningDatabase::shipped().size());
}

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder for a test, removed with it.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace gpuc::test {

class TempFolder {
public:
  explicit TempFolder(const std::string &name) : path(testing::TempDir() + "/" + name + "-XXXXXX") {
    EXPECT_NE(::mkdtemp(&path[0]), nullptr) << path;
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  TempFolder(const TempFolder &) = delete;
  TempFolder &operator=(const TempFolder &) = delete;
  std::string path;
};

} // namespace gpuc::test

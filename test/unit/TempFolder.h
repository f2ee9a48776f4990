// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A folder of a test's own.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>
#include <string>

namespace gpuc::test {

/// A new, empty folder below the temporary folder. It goes away with the object, with all that is in it.
class TempFolder {
public:
  /// `name` is the start of the folder's name.
  explicit TempFolder(const std::string &name) : folder(testing::TempDir() + "/" + name + "-XXXXXX") {
    EXPECT_NE(::mkdtemp(folder.data()), nullptr) << folder;
  }
  TempFolder(const TempFolder &) = delete;
  TempFolder &operator=(const TempFolder &) = delete;
  ~TempFolder() {
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    EXPECT_FALSE(error) << folder << ": " << error.message();
  }
  const std::string &path() const { return folder; }

private:
  std::string folder;
};

} // namespace gpuc::test

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reading and atomic writing, with the failures that users meet.
#include "gpuc/Support/File.h"
#include "TempFolder.h"
#include <csignal>
#include <dirent.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

using namespace gpuc;

namespace {
class FileTest : public testing::Test {
protected:
  std::vector<std::string> entries() {
    std::vector<std::string> names;
    DIR *d = ::opendir(dir.c_str());
    while (dirent *e = d ? ::readdir(d) : nullptr)
      if (std::string(e->d_name) != "." && std::string(e->d_name) != "..")
        names.push_back(e->d_name);
    if (d)
      ::closedir(d);
    return names;
  }
  test::TempFolder folder{"gpuc-file"};
  std::string dir = folder.path();
};
} // namespace

TEST_F(FileTest, WritesPiecesAndReadsThemBack) {
  std::string path = joinPath(dir, "a.bin");
  ASSERT_TRUE(writeFileAtomically(path, std::vector<std::string_view>{"one", "", "two"}).ok());
  EXPECT_EQ(*readFile(path), "onetwo");
  auto mapped = mapFile(path);
  ASSERT_TRUE(mapped.ok());
  EXPECT_EQ(std::string(mapped->data(), mapped->data() + mapped->size()), "onetwo");
  EXPECT_EQ(entries().size(), 1u);
}

TEST_F(FileTest, ReplacesAnOlderFileAndKeepsItsMapping) {
  std::string path = joinPath(dir, "a.bin");
  ASSERT_TRUE(writeFileAtomically(path, "old").ok());
  auto mapped = mapFile(path);
  ASSERT_TRUE(writeFileAtomically(path, "new!").ok());
  EXPECT_EQ(std::string(mapped->data(), mapped->data() + mapped->size()), "old");
  EXPECT_EQ(*readFile(path), "new!");
}

TEST_F(FileTest, FailureInTheMiddleLeavesNothingBehind) {
  // A file size limit stands for a full disk: the write fails after some bytes were written.
  std::string path = joinPath(dir, "a.bin");
  ASSERT_TRUE(writeFileAtomically(path, "old").ok());
  rlimit former;
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &former), 0);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = {4096, former.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  Status status = writeFileAtomically(path, std::string(100000, 'x'));
  ::setrlimit(RLIMIT_FSIZE, &former);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(status.code(), StatusCode::IoError);
  EXPECT_NE(status.message().find(path), std::string::npos) << status.message();
  EXPECT_EQ(*readFile(path), "old");
  EXPECT_EQ(entries().size(), 1u);
}

TEST_F(FileTest, FullDeviceIsAnError) {
  Status status = writeFileAtomically("/dev/full", "text");
  EXPECT_EQ(status.code(), StatusCode::IoError);
  EXPECT_NE(status.message().find("No space left"), std::string::npos) << status.message();
}

TEST_F(FileTest, RefusesFoldersAndMissingFolders) {
  EXPECT_EQ(writeFileAtomically(dir, "x").code(), StatusCode::IoError);
  EXPECT_EQ(writeFileAtomically(joinPath(dir, "missing/a"), "x").code(), StatusCode::IoError);
  EXPECT_EQ(writeFileAtomically("", "x").code(), StatusCode::InvalidArgument);
  EXPECT_TRUE(entries().empty());
}

TEST_F(FileTest, RefusesToReadWhatIsNoRegularFile) {
  EXPECT_EQ(mapFile(dir).status().code(), StatusCode::IoError);
  EXPECT_EQ(mapFile("/dev/zero").status().code(), StatusCode::IoError);
  EXPECT_EQ(mapFile(joinPath(dir, "missing")).status().code(), StatusCode::NotFound);
  EXPECT_EQ(mapFile(std::string("a\0b", 3)).status().code(), StatusCode::InvalidArgument);
  std::string pipe = joinPath(dir, "pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(mapFile(pipe).status().code(), StatusCode::IoError); // and does not hang
  EXPECT_EQ(readFile(pipe).status().code(), StatusCode::IoError);
}

TEST_F(FileTest, EmptyFileAndLimit) {
  std::string path = joinPath(dir, "empty");
  ASSERT_TRUE(writeFileAtomically(path, "").ok());
  EXPECT_EQ(mapFile(path)->size(), 0u);
  ASSERT_TRUE(writeFileAtomically(path, "12345").ok());
  EXPECT_EQ(readFile(path, 4).status().code(), StatusCode::InvalidArgument);
  EXPECT_TRUE(readFile(path, 5).ok());
}

TEST_F(FileTest, CreatesFolders) {
  std::string deep = joinPath(dir, "x/y");
  EXPECT_TRUE(createDirectories(deep).ok());
  EXPECT_TRUE(createDirectories(deep).ok());
  ASSERT_TRUE(writeFileAtomically(joinPath(deep, "f"), "1").ok());
  EXPECT_EQ(createDirectories(joinPath(deep, "f")).code(), StatusCode::IoError);
  EXPECT_EQ(createDirectories(joinPath(deep, "f/g")).code(), StatusCode::IoError);
}

TEST(FileName, IsMadeSafe) {
  EXPECT_EQ(safeFileName("logits"), "logits");
  EXPECT_EQ(safeFileName("a/b:c\\d"), "a_b_c_d");
  EXPECT_EQ(safeFileName("../x"), "_._x");
  EXPECT_EQ(safeFileName(""), "_");
  EXPECT_EQ(safeFileName(std::string(5000, 'n')).size(), 200u);
  EXPECT_EQ(joinPath("a/", "b"), "a/b");
}

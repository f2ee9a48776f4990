// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// External data: what is read, and every way out of the model's folder that is refused.
#include "ImportFixture.h"
#include "TempFolder.h"
#include <filesystem>
#include <fstream>
#include <sys/stat.h>

namespace fs = std::filesystem;

namespace gpuc::frontend {
namespace {

class ExternalDataTest : public ImportTest {
protected:
  void SetUp() override {
    fs::create_directory(folder);
    write(folder / "w.data", {1, 2, 3, 4});
    write(root / "secret.data", {9, 9, 9, 9});
  }
  static void write(const fs::path &path, const std::vector<float> &values) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(values.data()), std::streamsize(values.size() * 4));
  }
  TestModel model(const std::string &location, const std::string &offset = "", const std::string &length = "",
                  int64_t count = 2) {
    TestModel m;
    m.input("x", Proto::FLOAT, {"1"});
    m.output("w");
    auto *w = m.initialiser("w", Proto::FLOAT, {count});
    w->set_data_location(Proto::EXTERNAL);
    auto add = [&](const std::string &key, const std::string &value) {
      if (value.empty())
        return;
      auto *entry = w->add_external_data();
      entry->set_key(key);
      entry->set_value(value);
    };
    add("location", location);
    add("offset", offset);
    add("length", length);
    return m;
  }
  void refuse(const TestModel &m, const std::string &message) {
    EXPECT_FALSE(import(m, folder.string()));
    EXPECT_HAS(errors, message);
  }
  test::TempFolder temporary{"gpuc-external"};
  fs::path root = temporary.path(), folder = root / "model";
};

TEST_F(ExternalDataTest, ReadsOffsetAndLength) {
  ASSERT_TRUE(import(model("w.data", "4", "8"), folder.string())) << errors;
  EXPECT_EQ(constantTensor().data<float>()[0], 2.f);
  ASSERT_TRUE(import(model("w.data"), folder.string())) << errors;
  EXPECT_EQ(constantTensor().data<float>()[1], 2.f);
  fs::create_directory(folder / "sub");
  write(folder / "sub" / "v.data", {5, 6});
  ASSERT_TRUE(import(model("sub/v.data"), folder.string())) << errors;
  EXPECT_EQ(constantTensor().data<float>()[0], 5.f);
}

TEST_F(ExternalDataTest, LargeUnalignedTensor) {
  std::vector<char> bytes(1 + 1000 * 4, 0);
  for (int i = 0; i < 1000; ++i) {
    float v = float(i);
    __builtin_memcpy(bytes.data() + 1 + i * 4, &v, 4);
  }
  std::ofstream(folder / "u.data", std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
  ASSERT_TRUE(import(model("u.data", "1", "4000", 1000), folder.string())) << errors;
  EXPECT_EQ(constantTensor().data<float>()[999], 999.f);
}

TEST_F(ExternalDataTest, SparseFileBeyondFourGigabytes) {
  const int64_t offset = int64_t(5) << 30;
  write(folder / "big.data", {});
  ASSERT_EQ(::truncate((folder / "big.data").c_str(), offset + 8), 0);
  ASSERT_TRUE(import(model("big.data", std::to_string(offset), "8"), folder.string())) << errors;
  EXPECT_EQ(constantTensor().data<float>()[1], 0.f);
}

TEST_F(ExternalDataTest, EmptyTensorNeedsNoFile) {
  ASSERT_TRUE(import(model("missing", "", "0", 0), folder.string())) << errors;
}

TEST_F(ExternalDataTest, RefusesPathsOutOfTheFolder) {
  refuse(model("../secret.data"), "contains '..'");
  refuse(model("sub/../../secret.data"), "contains '..'");
  refuse(model((root / "secret.data").string()), "is absolute");
  refuse(model(std::string("w.data\0x", 8)), "NUL");
  fs::create_symlink(root / "secret.data", folder / "link.data");
  refuse(model("link.data"), "leads out of the model's folder");
  fs::create_symlink(root, folder / "up");
  refuse(model("up/secret.data"), "leads out of the model's folder");
}

TEST_F(ExternalDataTest, RefusesWhatIsNoFile) {
  ASSERT_EQ(::mkfifo((folder / "fifo").c_str(), 0600), 0);
  refuse(model("fifo"), "is not a regular file");
  fs::create_directory(folder / "dir");
  refuse(model("dir"), "is a folder");
  refuse(model("missing.data"), "was not found");
}

TEST_F(ExternalDataTest, RefusesWrongRanges) {
  refuse(model("w.data", "12"), "needs 8 bytes at offset 12");
  refuse(model("w.data", "9223372036854775807"), "needs 8 bytes at offset");
  refuse(model("w.data", "-4"), "'offset' expected a non-negative integer, got '-4'");
  refuse(model("w.data", "4x"), "'offset' expected a non-negative integer");
  refuse(model("w.data", "99999999999999999999"), "'offset' expected");
  refuse(model("w.data", "0", "4"), "needs 8 bytes, got 4");
  refuse(model("", "0"), "without a location");
}

TEST_F(ExternalDataTest, NoFolderNoData) {
  EXPECT_FALSE(import(model("w.data")));
  EXPECT_HAS(errors, "was not loaded from a folder");
}

TEST_F(ExternalDataTest, LinksIntoOneStoreWork) {
  fs::create_directory(root / "blobs");
  write(root / "blobs" / "d1", {7, 8});
  std::ofstream(root / "blobs" / "m1", std::ios::binary) << model("w2.data").proto.SerializeAsString();
  fs::create_symlink("../blobs/d1", folder / "w2.data");
  fs::create_symlink("../blobs/m1", folder / "model.onnx");
  module = importModel((folder / "model.onnx").string(), options, context);
  ASSERT_TRUE(module) << errors;
  main = module->lookupSymbol<mlir::func::FuncOp>("main");
  EXPECT_EQ(constantTensor().data<float>()[0], 7.f);
}

TEST_F(ExternalDataTest, ModelFileMustBeAFile) {
  EXPECT_FALSE(importModel((folder / "none.onnx").string(), options, context));
  EXPECT_HAS(errors, "can't open");
  errors.clear();
  EXPECT_FALSE(importModel(folder.string(), options, context));
  EXPECT_HAS(errors, "is a folder");
}

} // namespace
} // namespace gpuc::frontend

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choosing and remembering algorithms of the matmul library; the library here has only names and times.
#include "device/cuda/LibraryTuning.h"
#include "FakeDevice.h"
#include "TempFolder.h"
#include "gpuc/Support/File.h"
#include <gtest/gtest.h>
#include <limits>

using namespace gpuc;
using namespace gpuc::cuda;

namespace {
struct FakePrepared : PreparedMatmul {
  size_t chosen = 0;
};

class FakeLibrary : public CublasLt {
public:
  std::vector<std::string> names = {"first", "second", "third"};
  std::vector<double> times = {30, 20, 25};
  int runs = 0;
  double clock = 0;
  Result<std::shared_ptr<PreparedMatmul>> prepare(const MatmulProblem &, size_t) override {
    return std::shared_ptr<PreparedMatmul>(std::make_shared<FakePrepared>());
  }
  std::vector<std::string> algorithms(const PreparedMatmul &) const override { return names; }
  void choose(PreparedMatmul &p, size_t algorithm) override {
    static_cast<FakePrepared &>(p).chosen = algorithm;
  }
  size_t version() const override { return 1; }
  Status run(PreparedMatmul &p, const MatmulOperands &o, StreamHandle) override {
    EXPECT_NE(o.a, 0u);
    EXPECT_NE(o.bias, 0u);
    EXPECT_EQ(o.c, 0u);
    ++runs;
    clock += times[static_cast<FakePrepared &>(p).chosen];
    return {};
  }
};

/// Its events read the library's clock.
class ClockDevice : public FakeDevice {
public:
  explicit ClockDevice(FakeLibrary &library) : library(library) {}
  Result<EventHandle> createEvent() override { return EventHandle(new double(0)); }
  void destroyEvent(EventHandle e) override { delete static_cast<double *>(e); }
  Status recordEvent(EventHandle e, StreamHandle) override {
    *static_cast<double *>(e) = library.clock;
    return {};
  }
  Result<double> elapsedMs(EventHandle begin, EventHandle end) override {
    return (*static_cast<double *>(end) - *static_cast<double *>(begin)) / 1000;
  }
  FakeLibrary &library;
};

class LibraryTuningTest : public testing::Test {
protected:
  void SetUp() override {
    problem.m = 1024, problem.n = 512, problem.k = 1024;
    problem.lda = problem.k, problem.ldb = problem.ldd = problem.n;
    problem.epilogue = MatmulEpilogue::Bias;
  }
  size_t tuned(LibraryTuner &tuner) {
    FakePrepared prepared;
    tuner.tune(device, library, prepared, problem, 1 << 20);
    EXPECT_TRUE(device.live.empty());
    EXPECT_EQ(device.streams, 0);
    return prepared.chosen;
  }
  FakeLibrary library;
  ClockDevice device{library};
  MatmulProblem problem;
  test::TempFolder folder{"gpuc-tuning"};
  std::string dir = joinPath(folder.path(), "new"); ///< not there yet
};
} // namespace

TEST(Fastest, EqualsGoToTheFirst) {
  double never = std::numeric_limits<double>::infinity();
  EXPECT_EQ(fastest({10, 9.9, 10}), 0u);
  EXPECT_EQ(fastest({10, 9, 8.9}), 1u);
  EXPECT_EQ(fastest({never, 9, 5}), 2u);
  EXPECT_EQ(fastest({never, never}), 0u);
}

TEST_F(LibraryTuningTest, MeasuresOnceAndRemembers) {
  LibraryTuner tuner(dir, "machine");
  EXPECT_EQ(tuned(tuner), 1u);
  int runs = library.runs;
  EXPECT_GT(runs, 0);
  EXPECT_EQ(tuned(tuner), 1u);
  LibraryTuner other(dir, "machine"); // another process
  library.times = {1, 20, 25};
  EXPECT_EQ(tuned(other), 1u);
  EXPECT_EQ(library.runs, runs);
  // Another machine, and a library that no longer proposes the algorithm: measured again.
  LibraryTuner newDriver(dir, "machine 2");
  EXPECT_EQ(tuned(newDriver), 0u);
  library.names = {"new", "newer", "newest"};
  LibraryTuner newLibrary(dir, "machine");
  EXPECT_EQ(tuned(newLibrary), 0u);
}

TEST_F(LibraryTuningTest, SmallProductsAndFullMemoryKeepTheFirstProposal) {
  LibraryTuner tuner("", "machine");
  device.memoryLimit = 1000;
  EXPECT_EQ(tuned(tuner), 0u);
  device.memoryLimit = size_t(1) << 40;
  problem.m = 1;
  EXPECT_EQ(tuned(tuner), 0u);
  EXPECT_EQ(library.runs, 0);
  problem.m = 1024;
  EXPECT_EQ(tuned(tuner), 1u);
}

TEST_F(LibraryTuningTest, DamagedFilesAreMeasuredAgain) {
  std::string key = choiceKey(problem, 1 << 20, "machine 3");
  ASSERT_TRUE(createDirectories(dir).ok());
  ASSERT_TRUE(writeFileAtomically(joinPath(dir, key + ".txt"), std::string("third")).ok());
  EXPECT_EQ(findChoice(dir, key), "");
  LibraryTuner tuner(dir, "machine 3");
  EXPECT_EQ(tuned(tuner), 1u);
  EXPECT_EQ(findChoice(dir, key), "second");
  MatmulProblem q = problem;
  q.ldd += 8;
  EXPECT_NE(choiceKey(q, 1 << 20, "machine 3"), key);
}

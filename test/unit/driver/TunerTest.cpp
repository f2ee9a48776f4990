// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tuner's search with a bench that knows its times: no GPU, no clock.
#include "gpuc/Driver/Tuner.h"
#include "ImportFixture.h"
#include "TempFolder.h"
#include "gpuc/Codegen/TuningDatabase.h"
#include "gpuc/Support/File.h"
#include <gtest/gtest.h>
#include <limits>
#include <set>

using namespace gpuc;

namespace {

/// x[64,256] through two products of different sizes, the first one twice.
frontend::TestModel products() {
  frontend::TestModel model;
  auto weight = [&](const std::string &name, int64_t rows, int64_t cols) {
    auto *tensor = model.initialiser(name, frontend::Proto::FLOAT, {rows, cols});
    for (int64_t i = 0; i < rows * cols; ++i)
      tensor->add_float_data(float(i % 7) - 3);
  };
  weight("a", 256, 256);
  weight("b", 256, 256);
  weight("c", 256, 96);
  model.input("x", frontend::Proto::FLOAT, {"64", "256"});
  model.node("MatMul", {"x", "a"}, {"p"}, "first");
  model.node("Relu", {"p"}, {"q"}, "relu1");
  model.node("MatMul", {"q", "b"}, {"r"}, "second");
  model.node("Relu", {"r"}, {"s"}, "relu2");
  model.node("MatMul", {"s", "c"}, {"y"}, "last");
  model.output("y");
  return model;
}

/// How often a variant is used by the launches of a plan.
unsigned uses(const Plan &plan, const std::string &variant) {
  unsigned count = 0;
  const PlanProgram &program = plan.programs[0];
  for (const PlanStep &step : program.runSteps)
    if (auto launch = std::get_if<LaunchStep>(&step)) {
      const std::string &text = plan.units[program.kernels[launch->kernel].unit].text;
      count += text.find("variant " + variant + "\n") != std::string::npos;
    }
  return count;
}

/// Every launch takes 10 us, those of `fast` take 10 - gain; plans with `broken` are wrong.
struct KnownTimes : TuningBench {
  std::string fast, broken;
  double gain = 4;
  std::set<size_t> sizes; ///< of races

  Result<std::vector<double>> profile(std::shared_ptr<const Plan> plan) override {
    return std::vector<double>(plan->programs[0].runSteps.size(), 10.0);
  }
  Result<std::vector<double>> race(const std::vector<std::shared_ptr<const Plan>> &plans) override {
    sizes.insert(plans.size());
    std::vector<double> times;
    for (const auto &plan : plans)
      times.push_back(!broken.empty() && uses(*plan, broken)
                          ? std::numeric_limits<double>::infinity()
                          : 10.0 * double(plan->programs[0].runSteps.size()) - gain * uses(*plan, fast));
    return times;
  }
};

class TunerTest : public ::testing::Test {
protected:
  TunerTest() {
    file = folder.path() + "/m.onnx";
    EXPECT_TRUE(writeFileAtomically(file, products().proto.SerializeAsString()).ok());
    options.compile.targets = {findArch("sm_90a")};
    options.compile.precision = Precision::F16;
    options.compile.compileCubins = false;
    options.compile.allowLibrary = false;
    options.compile.shippedTuning = false;
    options.measured = "test";
  }
  Plan compileWith(const std::string &database) {
    CompileOptions compile = options.compile;
    std::string path = folder.path() + "/db.jsonl";
    EXPECT_TRUE(writeFileAtomically(path, database).ok());
    compile.tuningDatabases = {path};
    compile.strictTuning = true;
    auto compiled = compileModel(file, compile);
    EXPECT_TRUE(compiled) << compiled.status().message();
    return compiled ? std::move(compiled->plan) : Plan();
  }
  test::TempFolder folder{"gpuc-tuner"};
  std::string file;
  TuneOptions options;
  KnownTimes bench;
};

} // namespace

TEST_F(TunerTest, FindsTheFastestCandidate) {
  auto plain = compileModel(file, options.compile);
  ASSERT_TRUE(plain) << plain.status().message();
  bench.fast = "mma_32x32x64";
  ASSERT_EQ(uses(plain->plan, bench.fast), 0u) << "the cost model's own choice: name another variant";
  options.candidates = 100;
  auto tuned = tuneModel(file, options, bench, "");
  ASSERT_TRUE(tuned) << tuned.status().message();
  ASSERT_EQ(tuned->problems.size(), 2u);
  EXPECT_EQ(tuned->problems[0].kernels, 2u); // the hotter problem comes first
  EXPECT_EQ(tuned->problems[1].kernels, 1u);
  for (const TunedProblem &problem : tuned->problems) {
    EXPECT_NE(problem.configs[problem.best].find(bench.fast), std::string::npos);
    EXPECT_NEAR(problem.microseconds[0], 10, 1e-9);
    EXPECT_NEAR(problem.microseconds[problem.best], 6, 1e-9);
  }
  EXPECT_NEAR(tuned->firstMicroseconds - tuned->tunedMicroseconds, 12, 1e-9);
  EXPECT_EQ(uses(compileWith(tuned->database), bench.fast), 3u);
}

TEST_F(TunerTest, KeepsTheFirstChoiceWithinTheNoise) {
  bench.fast = "mma_32x32x64";
  bench.gain = 0.001;
  options.candidates = 100;
  auto tuned = tuneModel(file, options, bench, "");
  ASSERT_TRUE(tuned) << tuned.status().message();
  for (const TunedProblem &problem : tuned->problems)
    EXPECT_EQ(problem.best, 0u);
  auto plain = compileModel(file, options.compile);
  Plan same = compileWith(tuned->database);
  EXPECT_EQ(same.units.size(), plain->plan.units.size());
}

TEST_F(TunerTest, NeverKeepsAWrongCandidate) {
  bench.fast = bench.broken = "mma_32x32x64";
  options.candidates = 100;
  auto tuned = tuneModel(file, options, bench, "");
  ASSERT_TRUE(tuned) << tuned.status().message();
  EXPECT_EQ(uses(compileWith(tuned->database), bench.broken), 0u);
}

TEST_F(TunerTest, MeasuresAsManyAsAskedAndKeepsOtherEntries) {
  options.candidates = 3;
  options.problems = 1;
  std::string other =
      R"({"arch":"sm_80","family":"matmul","version":1,"problem":"0000000000000000","config":"{}"})";
  auto tuned = tuneModel(file, options, bench, other);
  ASSERT_TRUE(tuned) << tuned.status().message();
  EXPECT_EQ(tuned->problems.size(), 1u);
  EXPECT_EQ(tuned->problems[0].configs.size(), 3u);
  EXPECT_EQ(bench.sizes, (std::set<size_t>{2, 3})); // 2: before against after
  auto database = TuningDatabase::parse(tuned->database, "tuned");
  ASSERT_TRUE(database);
  EXPECT_EQ(database->size(), 2u);
  EXPECT_NE(database->find({"sm_80", "matmul", 1, "0000000000000000"}), nullptr);
}

TEST_F(TunerTest, TheLibraryCompetes) {
  options.compile.allowLibrary = true;
  options.candidates = 4;
  auto tuned = tuneModel(file, options, bench, "");
  ASSERT_TRUE(tuned) << tuned.status().message();
  const std::vector<std::string> &configs = tuned->problems[0].configs; // the last product ends in a cast
  EXPECT_EQ(std::count(configs.begin(), configs.end(), "library"), 1);
}

TEST_F(TunerTest, RefusesWhatItCannotTune) {
  options.compile.targets = {findArch("sm_90a"), findArch("sm_80")};
  auto tuned = tuneModel(file, options, bench, "");
  ASSERT_FALSE(tuned);
  EXPECT_EQ(tuned.status().code(), StatusCode::InvalidArgument);
  options.compile.targets.pop_back();
  tuned = tuneModel(file, options, bench, "nonsense");
  ASSERT_FALSE(tuned);
  EXPECT_NE(tuned.status().message().find("line 1"), std::string::npos);
}

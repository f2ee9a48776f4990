// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chooses kernel variants by measuring them inside the model: for each distinct problem, hottest first, the
// configurations that the family's cost model likes best (and cuBLASLt, where it can do the problem) take
// turns in the whole chain; the fastest stays. docs/tuning.md.
#pragma once
#include "gpuc/Driver/Compiler.h"
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gpuc {

/// What the tuner needs of a device.
class TuningBench {
public:
  virtual ~TuningBench() = default;
  /// Microseconds of every run step of a plan, each alone.
  virtual Result<std::vector<double>> profile(std::shared_ptr<const Plan> plan) = 0;
  /// Microseconds of one run of each plan, taking turns. The first is right; a plan whose outputs are not
  /// those of the first, or which does not run, gets infinity.
  virtual Result<std::vector<double>> race(const std::vector<std::shared_ptr<const Plan>> &plans) = 0;
};

/// One problem, tuned.
struct TunedProblem {
  std::string about;                ///< the problem, for people
  unsigned kernels = 0;             ///< of the model that are this problem
  std::vector<std::string> configs; ///< measured, the cost model's choice first; "library" for cuBLASLt
  std::vector<double> microseconds; ///< of one kernel, likewise; infinity where it failed
  unsigned best = 0;
};

struct TuneOptions {
  CompileOptions compile;  ///< exactly one target
  unsigned candidates = 8; ///< measured for each problem, with the cost model's choice
  unsigned problems = 0;   ///< the hottest so many; 0 = all
  std::string measured;    ///< recorded in entries: device, date
  /// After each problem, with the database so far.
  std::function<void(const TunedProblem &, size_t done, size_t total, const std::string &database)> report;
};

struct Tuned {
  std::vector<TunedProblem> problems; ///< in the order of tuning
  double firstMicroseconds = 0;       ///< one run with the cost model's choices
  double tunedMicroseconds = 0;       ///< one run with the best choices
  /// The text of `database` with the new choices.
  std::string database;
};

/// Tunes a model. `database` is the text of a tuning database; its other entries are kept.
Result<Tuned> tuneModel(const std::string &path, const TuneOptions &options, TuningBench &bench,
                        const std::string &database);

} // namespace gpuc

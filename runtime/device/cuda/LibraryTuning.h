// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which of cuBLASLt's algorithms is the fastest for a product: measured once on the device, then remembered
// in a folder.
#pragma once
#include "CublasLt.h"
#include <map>

namespace gpuc::cuda {

/// Products below this many operations take the library's first proposal.
constexpr double kTunedFlops = 1e9;

/// Index of the least time; a later algorithm must be 2% faster than the best before it, so that noise does
/// not decide between equals. Infinite: did not run.
size_t fastest(const std::vector<double> &microseconds);
/// Names the problem on a machine: everything that the choice may depend on.
std::string choiceKey(const MatmulProblem &problem, size_t workspaceBytes, const std::string &machine);
/// The algorithm that was stored under the key in `dir`, or "".
std::string findChoice(const std::string &dir, const std::string &key);
/// Stores it, atomically. A folder that cannot be written is no error: the next load measures again.
void storeChoice(const std::string &dir, const std::string &key, const std::string &algorithm);

class LibraryTuner {
public:
  /// `machine` names GPU, driver and library with their versions. An empty `dir` keeps choices in memory
  /// only.
  LibraryTuner(std::string dir, std::string machine) : dir(std::move(dir)), machine(std::move(machine)) {}
  /// Makes `prepared` use the fastest of its algorithms. Without enough memory for a measurement it keeps the
  /// library's first proposal.
  void tune(Device &device, CublasLt &library, PreparedMatmul &prepared, const MatmulProblem &problem,
            size_t workspaceBytes);

private:
  std::string dir, machine;
  std::map<std::string, std::string> known; ///< algorithm by key
};

} // namespace gpuc::cuda

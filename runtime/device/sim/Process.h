// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs programs and plain loops in parallel.
#pragma once
#include <functional>
#include <string>
#include <vector>

namespace gpuc::sim {

struct ProcessResult {
  int exitCode = -1;  ///< -1: it could not be started or was killed
  std::string output; ///< stdout and stderr together
};
/// Runs a program found on PATH, without a shell, and waits for it.
ProcessResult runProcess(const std::vector<std::string> &command);

/// Calls body(0) … body(count - 1) on up to `jobs` threads.
void runParallel(unsigned jobs, size_t count, const std::function<void(size_t)> &body);

} // namespace gpuc::sim

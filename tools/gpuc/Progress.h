// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One line of progress on stderr, when it is a terminal and the work has taken over a second.
#pragma once
#include <chrono>
#include <string>

namespace gpuc::cli {

class Progress {
public:
  explicit Progress(bool enabled);
  ~Progress(); ///< wipes the line
  void show(const std::string &what, size_t done, size_t total);

private:
  bool enabled, shown = false;
  std::chrono::steady_clock::time_point start;
};

} // namespace gpuc::cli

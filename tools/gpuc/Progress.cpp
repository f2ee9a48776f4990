// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Progress line.
#include "Progress.h"
#include <cstdio>
#include <unistd.h>

namespace gpuc::cli {

Progress::Progress(bool wanted)
    : enabled(wanted && isatty(STDERR_FILENO)), start(std::chrono::steady_clock::now()) {}

Progress::~Progress() {
  if (shown)
    std::fprintf(stderr, "\r\033[K");
}

void Progress::show(const std::string &what, size_t done, size_t total) {
  if (!enabled || std::chrono::steady_clock::now() - start < std::chrono::seconds(1))
    return;
  shown = true;
  if (total > 1)
    std::fprintf(stderr, "\r\033[K%s [%zu/%zu]", what.c_str(), done, total);
  else
    std::fprintf(stderr, "\r\033[K%s", what.c_str());
  std::fflush(stderr);
}

} // namespace gpuc::cli

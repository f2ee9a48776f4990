// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that stay: a launch must not pay for creating them.
#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gpuc::sim {

class ThreadPool {
public:
  /// `size` counts the calling thread.
  explicit ThreadPool(unsigned size) : count(size) {}
  ~ThreadPool();
  unsigned size() const { return count; }
  /// Calls body(0) in this thread and, in those pool threads that wake before it returns, body(1) …
  /// body(workers - 1), each at most once: the bodies must share out the work among themselves. Returns when
  /// all have ended. Not reentrant.
  void run(unsigned workers, const std::function<void(unsigned)> &body);

private:
  void loop(unsigned index);

  unsigned count;
  std::vector<std::thread> threads; ///< created by the first run that needs them
  std::mutex mutex;
  std::condition_variable wake, done;
  const std::function<void(unsigned)> *current = nullptr;
  unsigned wanted = 0, active = 0;
  uint64_t generation = 0;
  bool stopping = false;
};

} // namespace gpuc::sim

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ThreadPool.h"

namespace gpuc::sim {

ThreadPool::~ThreadPool() {
  {
    std::lock_guard<std::mutex> lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  for (std::thread &thread : threads)
    thread.join();
}

void ThreadPool::run(unsigned workers, const std::function<void(unsigned)> &body) {
  if (workers <= 1)
    return body(0);
  {
    std::lock_guard<std::mutex> lock(mutex);
    while (threads.size() + 1 < count)
      threads.emplace_back([this, index = unsigned(threads.size()) + 1] { loop(index); });
    current = &body;
    wanted = workers;
    ++generation;
  }
  wake.notify_all();
  body(0);
  std::unique_lock<std::mutex> lock(mutex);
  current = nullptr;
  done.wait(lock, [&] { return active == 0; });
}

void ThreadPool::loop(unsigned index) {
  uint64_t seen = 0;
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    wake.wait(lock, [&] { return stopping || (current && generation != seen && index < wanted); });
    if (stopping)
      return;
    seen = generation;
    const auto *body = current;
    ++active;
    lock.unlock();
    (*body)(index);
    lock.lock();
    if (--active == 0)
      done.notify_one();
  }
}

} // namespace gpuc::sim

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Asynchronous copies of a block's threads. All run on a fiber.
#pragma once
#include "Block.h"

namespace gpuc::sim {

/// cp.async of `bytes` bytes, `srcBytes` of them read and the rest zero.
void cpAsync(void *shared, const void *global, unsigned bytes, unsigned srcBytes);
void cpAsyncCommit();
/// Performs all groups of this thread but the newest `groups`.
void cpAsyncWait(unsigned groups);
/// The 32-bit address of shared memory.
unsigned sharedAddress(const void *p);
/// bar.arrive (Scheduler.cpp).
void barrierArrive(unsigned id, unsigned threads, unsigned line);

} // namespace gpuc::sim

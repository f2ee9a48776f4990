// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async: a copy is performed when its thread waits for it, the latest moment that the hardware may choose,
// so that a missing wait shows.
#include "Async.h"
#include <cstring>

namespace gpuc::sim {

static void perform(Block &block, const Thread &thread, const AsyncCopy &copy) {
  block.blamed = copy.pc; // the copy may fault
  if (copy.srcBytes == 16) {
    memcpy(copy.shared, copy.global, 16);
  } else {
    memcpy(copy.shared, copy.global, copy.srcBytes);
    memset(copy.shared + copy.srcBytes, 0, copy.bytes - copy.srcBytes);
  }
  block.blamed = nullptr;
  if (block.launch->full)
    checkCopyEnd(unsigned(copy.shared - block.shared), copy.bytes, thread);
}

void cpAsync(void *shared, const void *global, unsigned bytes, unsigned srcBytes) {
  const void *pc = __builtin_return_address(0);
  Thread &me = *currentThread();
  Block &block = *currentBlock();
  if (reinterpret_cast<uintptr_t>(shared) % bytes != 0)
    fail(pc, "misaligned access: the shared address of a cp.async of %u bytes is not a multiple of them",
         bytes);
  if (reinterpret_cast<uintptr_t>(global) % bytes != 0)
    fail(pc, "misaligned access: the global address of a cp.async of %u bytes is not a multiple of them",
         bytes);
  if (srcBytes > bytes)
    fail(pc, "cp.async of %u bytes reads %u bytes", bytes, srcBytes);
  unsigned offset = sharedOffset(shared, bytes, "cp.async", pc);
  if (block.launch->full) {
    if (srcBytes)
      checkAccess(global, srcBytes, Access::Read, pc);
    checkCopyBegin(offset, bytes, me, pc);
  }
  me.copies.push_back({static_cast<unsigned char *>(shared), static_cast<const unsigned char *>(global),
                       bytes, srcBytes, me.copyGroup, pc});
}

void cpAsyncCommit() { ++currentThread()->copyGroup; }

void cpAsyncWait(unsigned groups) {
  Thread &me = *currentThread();
  Block &block = *currentBlock();
  if (me.copies.empty())
    return;
  size_t done = 0;
  // complete: closed groups except the newest `groups`
  while (done < me.copies.size() && me.copies[done].group + groups < me.copyGroup)
    perform(block, me, me.copies[done++]);
  me.copies.erase(me.copies.begin(), me.copies.begin() + long(done));
}

unsigned sharedAddress(const void *p) {
  return kSharedWindow + sharedOffset(p, 0, "a shared address", __builtin_return_address(0));
}

} // namespace gpuc::sim

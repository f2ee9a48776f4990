// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lifetimes and sharing of buffers.
#include "Liveness.h"
#include "gpuc/IR/OpClasses.h"
#include "gpuc/IR/Storage.h"
#include "gpuc/IR/Types.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace mlir;

namespace gpuc {

static int64_t roundUp(int64_t bytes) {
  return (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
}

static int64_t storageBytes(Value value) {
  return byteSize(dtypeOf(value), storageExtent(shapeOf(value), storageStrides(value)));
}

/// The value whose buffer a returned value is: aliases stripped.
static Value stripAliases(Value value) {
  while (auto reshape = value.getDefiningOp<ReshapeOp>())
    value = reshape.getX();
  return value;
}

BufferLiveness::BufferLiveness(func::FuncOp function) {
  Block &body = function.getBody().front();
  llvm::DenseMap<Operation *, int> position;
  int at = 0;
  for (Operation &op : body)
    position[&op] = at++;

  // Readers of a concatenation or alias read its parts.
  for (Operation &op : body)
    for (Value operand : op.getOperands()) {
      int &last = lastRead[operand];
      last = std::max(last, position[&op]);
    }
  for (Operation &op : llvm::reverse(body))
    if (isa<ConcatOp, ReshapeOp>(op))
      for (Value operand : op.getOperands()) {
        int ofResult = lastRead.lookup(op.getResult(0));
        int &last = lastRead[operand];
        last = std::max(last, ofResult);
      }

  // A value that is returned, and by one result only, is written into the caller's buffer.
  llvm::DenseMap<Value, unsigned> returns;
  for (Value operand : body.getTerminator()->getOperands())
    returns[stripAliases(operand)]++;

  for (Operation &op : body) {
    auto kernel = dyn_cast<KernelOp>(op);
    if (!kernel)
      continue;
    for (OpResult result : kernel->getResults()) {
      int here = position[&op];
      ConcatOp owner;
      for (Operation *user : result.getUsers())
        if (auto concat = dyn_cast<ConcatOp>(user); concat && concat.getElided())
          owner = concat;
      if (owner) {
        // All parts share the block that the first one opens.
        auto strides = storageStrides(owner.getY());
        int64_t part = 0;
        for (Value input : owner.getInputs()) {
          if (input == result)
            break;
          part += shapeOf(input)[owner.getAxis()];
        }
        int64_t offset = part * strides[owner.getAxis()] * bitWidth(dtypeOf(result)) / 8;
        auto known = places.find(owner.getY());
        if (known == places.end()) {
          blockList.push_back({roundUp(storageBytes(owner.getY())), here, here, 0, false});
          places[owner.getY()] = {unsigned(blockList.size()) - 1, 0};
        }
        unsigned block = places[owner.getY()].block;
        places[result] = {block, offset};
        blockList[block].first = std::min(blockList[block].first, here);
        blockList[block].last = std::max({blockList[block].last, here, lastRead.lookup(result)});
        continue;
      }
      bool returned = returns.lookup(result) > 0;
      if (!returned && tryInPlace(kernel, result.getResultNumber(), here))
        continue;
      blockList.push_back(
          {roundUp(storageBytes(result)), here, std::max(here, lastRead.lookup(result)), 0, returned});
      places[result] = {unsigned(blockList.size()) - 1, 0};
    }
  }
}

/// A pointwise kernel may write over an operand that nobody reads later, when every thread reads exactly the
/// elements it writes.
bool BufferLiveness::tryInPlace(KernelOp kernel, unsigned result, int at) {
  if (kernel.getRoot() || kernel.getNumResults() != 1)
    return false;
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (!isPointwiseOp(&op) && !isa<ConstantOp>(op))
      return false;
  Value output = kernel.getResult(result);
  if (bitWidth(dtypeOf(output)) < 8) // a thread may write a byte before it reads all of its elements
    return false;
  for (auto [i, input] : llvm::enumerate(kernel.getInputs())) {
    auto place = places.find(input);
    if (place == places.end() || lastRead.lookup(input) > at || input.getType() != output.getType() ||
        llvm::count(kernel.getInputs(), input) != 1)
      continue;
    BufferBlock &block = blockList[place->second.block];
    if (block.returned || block.last > at || storageStrides(input) != storageStrides(output))
      continue;
    Place shared = place->second; // inserting moves the entries
    places[output] = shared;
    block.last = std::max(at, lastRead.lookup(output));
    return true;
  }
  return false;
}

int64_t BufferLiveness::arenaOffset(Value value) const {
  auto place = places.find(value);
  if (place == places.end() || blockList[place->second.block].returned)
    return kReturnedOffset;
  return blockList[place->second.block].offset + place->second.offset;
}

int64_t BufferLiveness::lowerBound() const {
  std::map<int, int64_t> change;
  for (const BufferBlock &block : blockList)
    if (!block.returned) {
      change[block.first] += block.bytes;
      change[block.last + 1] -= block.bytes;
    }
  int64_t live = 0, most = 0;
  for (auto [position, bytes] : change) {
    live += bytes;
    most = std::max(most, live);
  }
  return most;
}

} // namespace gpuc

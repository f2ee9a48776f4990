// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Greedy clustering of core ops into kernels.
#include "FusionGraph.h"
#include "ReaderStrides.h"
#include "gpuc/IR/OpClasses.h"
#include "gpuc/IR/Storage.h"
#include "gpuc/IR/StridedView.h"
#include "gpuc/IR/Types.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;

namespace gpuc {

static int64_t elementsOf(Value v) { return tensorType(v).getNumElements(); }
/// Several elements share a byte, which one thread must write: an epilogue can't promise that.
static bool isPacked(Value v) { return bitWidth(dtypeOf(v)) < 8; }

FusionGraph::FusionGraph(func::FuncOp function) {
  Block &block = function.getBody().front();
  int at = 0;
  for (Operation &op : block)
    position[&op] = at++;
  for (Operation &op : llvm::make_early_inc_range(block))
    visit(&op);
  absorbProducers();
}

int FusionGraph::newCluster(Operation *op) {
  clusters.emplace_back();
  int c = int(clusters.size()) - 1;
  clusters[c].elements = elementsOf(op->getResult(0));
  add(c, op);
  return c;
}

void FusionGraph::add(int cluster, Operation *op) {
  auto &ops = clusters[cluster].ops;
  auto at = llvm::find_if(ops, [&](Operation *other) { return position[other] > position[op]; });
  ops.insert(at, op);
  index[op] = cluster;
}

void FusionGraph::merge(int from, int into) {
  for (Operation *op : llvm::to_vector(clusters[from].ops))
    add(into, op);
  clusters[from].ops.clear();
  clusters[from].merged = true;
}

//===----------------------------------------------------------------------===//
// Growing
//===----------------------------------------------------------------------===//

void FusionGraph::visit(Operation *op) {
  if (isa<func::ReturnOp>(op))
    return visitReturn(op);
  if (isa<ConstantOp>(op) || isViewOp(op))
    return;
  if (isRootOp(op))
    return visitRoot(op);
  if (isPointwiseOp(op) || isa<TriluOp>(op))
    return visitPointwise(op);
  if (isa<ConcatOp>(op))
    return visitConcat(op);
  visitMovement(op);
}

void FusionGraph::visitRoot(Operation *op) {
  const FamilyTraits *traits = findFamilyTraits(op->getName().getStringRef());
  for (OpOperand &operand : op->getOpOperands()) {
    if (traits->prologue && operand.getOperandNumber() == 0)
      continue;
    if (!traceStridedView(operand.get(), [](Value v) { return rowMajorStrides(shapeOf(v)); }))
      storeView(operand);
  }
  int c = newCluster(op);
  clusters[c].root = op;
  clusters[c].traits = traits;
  if (traits->prologue)
    tryPrologue(c, op, op->getOperand(0));
}

/// Moves a pointwise cluster that only `op` reads into the cluster of `op`.
void FusionGraph::tryPrologue(int cluster, Operation *op, Value operand) {
  int source = producer(operand);
  if (source < 0 || source == cluster || clusters[source].root || clusters[source].concat)
    return;
  // The other operands of a root are buffers.
  if (clusters[cluster].root &&
      llvm::any_of(op->getOperands().drop_front(), [&](Value v) { return producer(v) == source; }))
    return;
  if (!clusterReadOnlyBy(source, op) || !fitsOperands(cluster, source, nullptr))
    return;
  merge(source, cluster);
}

bool FusionGraph::tryEpilogue(Operation *op) {
  struct Candidate {
    int cluster, rank;
  };
  llvm::SmallVector<Candidate> candidates;
  int64_t elements = elementsOf(op->getResult(0));
  if (elements == 0 || !isPointwiseOp(op))
    return false;
  for (Value operand : op->getOperands()) {
    // Only reshape and transpose may lie between: they keep every element exactly once.
    Value base = operand;
    while (Operation *def = base.getDefiningOp()) {
      if (find(def) >= 0 || !isa<ReshapeOp, TransposeOp>(def))
        break;
      base = def->getOperand(0);
    }
    Operation *def = base.getDefiningOp();
    int c = def ? find(def) : -1;
    if (c < 0 || clusters[c].concat || clusters[c].elements != elements || elementsOf(base) != elements ||
        llvm::any_of(candidates, [&](const Candidate &known) { return known.cluster == c; }))
      continue;
    if (clusters[c].root) {
      if (!clusters[c].traits->epilogue || !routesAgree(op, c) || isPacked(op->getResult(0)))
        continue;
    } else {
      // Results of a pointwise kernel share one shape, so others must not be results any more.
      bool oneShape = shapeOf(base) == shapeOf(op->getResult(0));
      if (!(oneShape && readsOneForOne(op, c)) && !clusterReadOnlyBy(c, op))
        continue;
    }
    candidates.push_back({c, !clusters[c].root ? 1 : clusters[c].traits->prologue ? 2 : 3});
  }
  std::stable_sort(candidates.begin(), candidates.end(), [&](const Candidate &a, const Candidate &b) {
    if (a.rank != b.rank)
      return a.rank > b.rank;
    return position[clusters[a.cluster].ops.back()] > position[clusters[b.cluster].ops.back()];
  });
  for (const Candidate &candidate : candidates) {
    int c = candidate.cluster;
    bool cycle = llvm::any_of(op->getOperands(), [&](Value operand) {
      int p = producer(operand);
      return p >= 0 && p != c && dependsOn(p, c);
    });
    if (cycle || !fitsOperands(c, -1, op) || outputs(clusters[c]).size() >= kMaxKernelResults)
      continue;
    add(c, op);
    return true;
  }
  return false;
}

/// What `op` reads of a pointwise cluster lies at its own element: nothing is computed twice.
bool FusionGraph::readsOneForOne(Operation *op, int cluster) const {
  return llvm::all_of(op->getOperands(), [&](Value operand) {
    if (producer(operand) != cluster)
      return true;
    Operation *def = operand.getDefiningOp();
    return find(def) == cluster && elementsOf(operand) == elementsOf(op->getResult(0));
  });
}

void FusionGraph::visitPointwise(Operation *op) {
  if (!tryEpilogue(op))
    newCluster(op);
}

/// Pads, gathers, tiles, resizes: a kernel of its own. What it reads is taken in at the end, where that pays.
void FusionGraph::visitMovement(Operation *op) { newCluster(op); }

/// The function returns the value, or a reshape of it, which is an alias.
static bool isReturned(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isa<func::ReturnOp>(user) || (isa<ReshapeOp>(user) && isReturned(user->getResult(0)));
  });
}

void FusionGraph::visitConcat(Operation *op) {
  // Producers with a root can write into the result's storage; then nothing is left to do at run time.
  bool anyRoot = false, allOwned = elementsOf(op->getResult(0)) > 0 && !isReturned(op->getResult(0));
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    int c = def ? find(def) : -1;
    if (c < 0 || clusters[c].concat || (clusters[c].root && !clusters[c].traits->epilogue) ||
        isReturned(operand) || isPacked(operand) || elementsOf(operand) == 0 ||
        llvm::count(op->getOperands(), operand) > 1) {
      allOwned = false;
      break;
    }
    anyRoot |= clusters[c].root != nullptr;
    allOwned &= llvm::none_of(operand.getUsers(), [&](Operation *user) {
      int u = find(user);
      return u >= 0 && clusters[u].concat;
    });
  }
  auto concat = cast<ConcatOp>(op);
  auto shape = shapeOf(concat.getY());
  allOwned &= partsAreAligned(concat, rowMajorStrides(shape)) ||
              (shape.size() >= 3 && partsAreAligned(concat, channelsLastStrides(shape)));
  int c = newCluster(op);
  if (allOwned && anyRoot)
    clusters[c].concat = op;
}

/// A view that `reader` needs in memory: written by the kernel that computes it if that can, else copied by a
/// kernel of its own.
void FusionGraph::storeView(OpOperand &reader) {
  Operation *op = reader.get().getDefiningOp();
  if (!op || find(op) >= 0)
    return;
  if (Operation *copy = storedCopies.lookup(op)) {
    reader.set(copy->getResult(0));
    return;
  }
  int source = producer(op->getOperand(0));
  if (source >= 0 && isWritable(op, source))
    return add(source, op);
  int c = newCluster(op);
  remark::missed(op->getLoc(), remark::RemarkOpts::name("ViewCopy").category("fusion"))
      << "this view is copied: its reader needs it in memory, and the kernel before it can't write it";
  // A kernel before the copy may read this very view as part of its own index arithmetic: that one keeps the
  // view.
  if (source >= 0 && dependsOn(source, c)) {
    clusters[c].ops.clear();
    index.erase(op);
    OpBuilder builder(op);
    Operation *copy = builder.clone(*op);
    int at = position.lookup(op); // inserting moves the entries
    position[copy] = at;
    add(c, copy);
    storedCopies[op] = copy;
    reader.set(copy->getResult(0));
  }
}

void FusionGraph::visitReturn(Operation *op) {
  for (OpOperand &operand : op->getOpOperands()) {
    // Reshapes of a stored value are aliases; other chains must be written out.
    Value base = operand.get();
    while (base.getDefiningOp() && find(base.getDefiningOp()) < 0 && isa<ReshapeOp>(base.getDefiningOp()))
      base = base.getDefiningOp()->getOperand(0);
    Operation *def = base.getDefiningOp();
    if (def && isViewOp(def) && find(def) < 0)
      storeView(operand);
  }
}

/// Moves clusters without a root into the only cluster that reads them, where the reader's family can compute
/// them and no element is computed often.
void FusionGraph::absorbProducers() {
  for (int c = int(clusters.size()) - 1; c >= 0; --c) {
    if (clusters[c].merged || clusters[c].root || clusters[c].concat)
      continue;
    int reader = onlyReader(c);
    if (reader < 0 || clusters[reader].concat || !fitsOperands(reader, c, nullptr) ||
        !isCheapToRepeat(c, reader))
      continue;
    if (Operation *root = clusters[reader].root) {
      bool epilogue = clusters[reader].traits->epilogue, prologue = clusters[reader].traits->prologue;
      // Operands of the root that are no prologue are buffers; an epilogue stays free of gathers and other
      // movement.
      bool legal = llvm::all_of(
          clusters[c].ops, [](Operation *op) { return isPointwiseOp(op) || isa<PadOp>(op) || isViewOp(op); });
      for (auto [i, operand] : llvm::enumerate(root->getOperands()))
        legal &= producer(operand) != c || (i == 0 && prologue);
      if (!legal || !(epilogue || prologue))
        continue;
    }
    merge(c, reader);
  }
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Greedy clustering of core ops into kernels.
#include "FusionGraph.h"
#include "gpuc/IR/OpClasses.h"
#include "gpuc/IR/StridedView.h"
#include "gpuc/IR/Types.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;

namespace gpuc {

static int64_t elementsOf(Value v) { return tensorType(v).getNumElements(); }

FusionGraph::FusionGraph(func::FuncOp function) {
  Block &block = function.getBody().front();
  int at = 0;
  for (Operation &op : block)
    position[&op] = at++;
  for (Operation &op : block)
    visit(&op);
}

int FusionGraph::find(Operation *op) const {
  auto it = index.find(op);
  return it == index.end() ? -1 : it->second;
}

const Cluster *FusionGraph::clusterOf(Operation *op) const {
  int c = find(op);
  return c < 0 ? nullptr : &clusters[c];
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

int FusionGraph::producer(Value value) const {
  while (Operation *op = value.getDefiningOp()) {
    int c = find(op);
    if (c >= 0)
      return c;
    if (!isViewOp(op))
      return -1;
    value = op->getOperand(0);
  }
  return -1;
}

llvm::SmallVector<int> FusionGraph::dependencies(int cluster) const {
  llvm::SmallVector<int> found;
  for (Operation *op : clusters[cluster].ops)
    for (Value operand : op->getOperands()) {
      int p = producer(operand);
      if (p >= 0 && p != cluster && !llvm::is_contained(found, p))
        found.push_back(p);
    }
  return found;
}

bool FusionGraph::dependsOn(int from, int on) const {
  std::vector<bool> seen(clusters.size());
  llvm::SmallVector<int> work{from};
  while (!work.empty()) {
    int c = work.pop_back_val();
    if (c == on)
      return true;
    if (seen[c])
      continue;
    seen[c] = true;
    for (int d : dependencies(c))
      work.push_back(d);
  }
  return false;
}

/// Every reader of `value`, looking through views that no cluster owns, is in `cluster` or is `reader`.
bool FusionGraph::usedOnlyBy(Value value, int cluster, Operation *reader) const {
  for (Operation *user : value.getUsers()) {
    if (user == reader)
      continue;
    int c = find(user);
    if (c >= 0) {
      if (c != cluster)
        return false;
      continue;
    }
    if (!isViewOp(user) || !usedOnlyBy(user->getResult(0), cluster, reader))
      return false;
  }
  return true;
}

bool FusionGraph::clusterReadOnlyBy(int cluster, Operation *reader) const {
  return llvm::all_of(clusters[cluster].ops, [&](Operation *op) {
    return llvm::all_of(op->getResults(), [&](Value r) { return usedOnlyBy(r, cluster, reader); });
  });
}

unsigned FusionGraph::operandCount(int cluster, Operation *extra) const {
  llvm::SetVector<Value> bases;
  auto count = [&](Operation *op) {
    for (Value operand : op->getOperands()) {
      Value base = stripViews(operand);
      Operation *def = base.getDefiningOp();
      if (!def || find(def) != cluster)
        bases.insert(base);
    }
  };
  for (Operation *op : clusters[cluster].ops)
    count(op);
  if (extra)
    count(extra);
  return bases.size();
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
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (traits->prologue && i == 0)
      continue;
    if (!traceStridedView(operand, [](Value v) { return rowMajorStrides(shapeOf(v)); }))
      materializeView(operand);
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
  if (!clusterReadOnlyBy(source, op))
    return;
  if (operandCount(cluster, nullptr) + operandCount(source, nullptr) > kMaxKernelOperands)
    return;
  for (Operation *moved : llvm::to_vector(clusters[source].ops))
    add(cluster, moved);
  clusters[source].ops.clear();
  clusters[source].merged = true;
}

bool FusionGraph::tryEpilogue(Operation *op) {
  struct Candidate {
    int cluster, rank;
  };
  llvm::SmallVector<Candidate> candidates;
  int64_t elements = elementsOf(op->getResult(0));
  for (Value operand : op->getOperands()) {
    // Only reshape and transpose may lie between: they keep every element exactly once.
    Value base = operand;
    bool direct = true;
    while (Operation *def = base.getDefiningOp()) {
      if (find(def) >= 0 || !isa<ReshapeOp, TransposeOp>(def))
        break;
      base = def->getOperand(0);
      direct = false;
    }
    Operation *def = base.getDefiningOp();
    int c = def ? find(def) : -1;
    if (c < 0 || clusters[c].concat || clusters[c].elements != elements || elementsOf(base) != elements)
      continue;
    const Cluster &cluster = clusters[c];
    if (cluster.root && !cluster.traits->epilogue)
      continue;
    if (cluster.root) {
      // A value of the prologue is not at the root's coordinates.
      if (def != cluster.root && position.lookup(def) < position.lookup(cluster.root))
        continue;
      if (def == cluster.root && base != cluster.root->getResult(0))
        continue;
    } else if (!direct || shapeOf(base) != shapeOf(op->getResult(0))) {
      // Results of a pointwise kernel share one shape, so the old ones must not be results any more.
      if (!clusterReadOnlyBy(c, op))
        continue;
    }
    int rank = !cluster.root ? 1 : cluster.traits->prologue ? 2 : 3;
    candidates.push_back({c, rank});
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
    if (cycle || operandCount(c, op) > kMaxKernelOperands || outputs(clusters[c]).size() >= kMaxKernelResults)
      continue;
    // An operand that reads the cluster through a view that is not bijective would need another thread's element.
    bool crossing = llvm::any_of(op->getOperands(), [&](Value operand) {
      if (producer(operand) != c)
        return false;
      Value v = operand;
      while (find(v.getDefiningOp()) < 0) {
        if (!isa<ReshapeOp, TransposeOp>(v.getDefiningOp()))
          return true;
        v = v.getDefiningOp()->getOperand(0);
      }
      return elementsOf(v) != elements ||
             (clusters[c].root && position.lookup(v.getDefiningOp()) < position.lookup(clusters[c].root));
    });
    if (crossing)
      continue;
    add(c, op);
    return true;
  }
  return false;
}

void FusionGraph::visitPointwise(Operation *op) {
  if (tryEpilogue(op))
    return;
  newCluster(op);
}

/// Pads, gathers, tiles, resizes: a kernel of its own that takes in the pointwise ops before it when nothing else reads them and no
/// element would be computed many times.
void FusionGraph::visitMovement(Operation *op) {
  int c = newCluster(op);
  if (elementsOf(op->getResult(0)) <= 2 * elementsOf(op->getOperand(0)) && !isa<ResizeOp>(op))
    tryPrologue(c, op, op->getOperand(0));
}

void FusionGraph::visitConcat(Operation *op) {
  // Producers with a root can write into the result's storage; then nothing is left to do at run time.
  bool anyRoot = false, allOwned = true;
  llvm::SmallPtrSet<Operation *, 8> producers;
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    int c = def ? find(def) : -1;
    if (c < 0 || clusters[c].concat) {
      allOwned = false;
      break;
    }
    anyRoot |= clusters[c].root != nullptr;
    bool elsewhere = llvm::any_of(operand.getUsers(), [&](Operation *user) {
      if (user == op)
        return llvm::count(op->getOperands(), operand) > 1;
      int u = find(user);
      return isa<func::ReturnOp>(user) || (u >= 0 && clusters[u].concat);
    });
    allOwned &= !elsewhere;
  }
  bool returned = llvm::any_of(op->getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user) || isViewOp(user); });
  if (allOwned && anyRoot && !returned) {
    int c = newCluster(op);
    clusters[c].concat = op;
    return;
  }
  int c = newCluster(op);
  for (Value operand : op->getOperands())
    tryPrologue(c, op, operand);
}

/// A view that must exist in memory becomes a kernel that copies.
void FusionGraph::materializeView(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || find(op) >= 0)
    return;
  int c = newCluster(op);
  tryPrologue(c, op, op->getOperand(0));
}

void FusionGraph::visitReturn(Operation *op) {
  for (Value operand : op->getOperands()) {
    Operation *def = operand.getDefiningOp();
    if (!def || find(def) >= 0 || !isViewOp(def))
      continue;
    // Reshapes of a stored value are aliases; other chains are written out by the producer if it can, else by a copy.
    Value base = operand;
    bool bijective = true, reshapesOnly = true;
    while (Operation *view = base.getDefiningOp()) {
      if (find(view) >= 0 || !isViewOp(view))
        break;
      bijective &= isa<ReshapeOp, TransposeOp>(view);
      reshapesOnly &= isa<ReshapeOp>(view);
      base = view->getOperand(0);
    }
    Operation *source = base.getDefiningOp();
    int c = source ? find(source) : -1;
    if (reshapesOnly)
      continue;
    bool writable = c >= 0 && bijective && !clusters[c].concat && elementsOf(base) == clusters[c].elements &&
                    (!clusters[c].root || (clusters[c].traits->epilogue && base != Value() &&
                                           position.lookup(source) >= position.lookup(clusters[c].root) &&
                                           (source != clusters[c].root || base == source->getResult(0))));
    if (writable && (clusters[c].root || clusterReadOnlyBy(c, def)) && usedOnlyBy(base, c, def))
      add(c, def);
    else
      newCluster(def);
  }
}

//===----------------------------------------------------------------------===//
// Answers
//===----------------------------------------------------------------------===//

llvm::SmallVector<Value> FusionGraph::outputs(const Cluster &cluster) const {
  llvm::SmallVector<Value> values;
  if (cluster.ops.empty())
    return values;
  int c = find(cluster.ops.front());
  for (Operation *op : cluster.ops)
    for (Value result : op->getResults())
      if (!usedOnlyBy(result, c, nullptr))
        values.push_back(result);
  return values;
}

std::vector<const Cluster *> FusionGraph::schedule() const {
  std::vector<const Cluster *> order;
  std::vector<int> state(clusters.size());
  // Depth first from each cluster in program order; dependencies first. Clusters never form a cycle.
  std::vector<int> roots;
  for (int c = 0; c < int(clusters.size()); ++c)
    if (!clusters[c].merged)
      roots.push_back(c);
  std::stable_sort(roots.begin(), roots.end(), [&](int a, int b) {
    return position.lookup(clusters[a].ops.back()) < position.lookup(clusters[b].ops.back());
  });
  struct Frame {
    int cluster;
    llvm::SmallVector<int> waiting;
  };
  for (int start : roots) {
    if (state[start])
      continue;
    llvm::SmallVector<Frame> stack;
    state[start] = 1;
    stack.push_back({start, dependencies(start)});
    while (!stack.empty()) {
      Frame &top = stack.back();
      if (top.waiting.empty()) {
        order.push_back(&clusters[top.cluster]);
        stack.pop_back();
        continue;
      }
      int next = top.waiting.pop_back_val();
      if (state[next])
        continue;
      state[next] = 1;
      stack.push_back({next, dependencies(next)});
    }
  }
  return order;
}

} // namespace gpuc

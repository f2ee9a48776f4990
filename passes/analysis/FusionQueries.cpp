// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What fusion asks about clusters: who reads them, what they depend on, where their elements lie.
#include "FusionGraph.h"
#include "gpuc/IR/OpClasses.h"
#include "gpuc/IR/StridedView.h"
#include "gpuc/IR/Types.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace gpuc {

static int64_t elementsOf(Value v) { return tensorType(v).getNumElements(); }

int FusionGraph::find(Operation *op) const {
  auto it = index.find(op);
  return it == index.end() ? -1 : it->second;
}

const Cluster *FusionGraph::clusterOf(Operation *op) const {
  int c = find(op);
  return c < 0 ? nullptr : &clusters[c];
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

/// The cluster that alone reads another one; -1 when there is none or several, or the function returns a
/// value.
int FusionGraph::onlyReader(int cluster) const {
  int reader = -1;
  llvm::SmallVector<Value> work;
  for (Operation *op : clusters[cluster].ops)
    llvm::append_range(work, op->getResults());
  while (!work.empty()) {
    for (Operation *user : work.pop_back_val().getUsers()) {
      int c = find(user);
      if (c == cluster)
        continue;
      if (c < 0) {
        if (!isViewOp(user))
          return -1;
        work.push_back(user->getResult(0));
        continue;
      }
      if (reader >= 0 && c != reader)
        return -1;
      reader = c;
    }
  }
  return reader;
}

/// The union of two clusters and an op reads no more buffers than a kernel may have. -1 and null stand for
/// nothing.
bool FusionGraph::fitsOperands(int a, int b, Operation *extra) const {
  llvm::SmallPtrSet<Value, 32> bases;
  auto count = [&](Operation *op) {
    for (Value operand : op->getOperands()) {
      Value base = stripViews(operand);
      Operation *def = base.getDefiningOp();
      int c = def ? find(def) : -1;
      if (c < 0 || (c != a && c != b))
        bases.insert(base);
    }
  };
  for (int c : {a, b})
    if (c >= 0)
      llvm::for_each(clusters[c].ops, count);
  if (extra)
    count(extra);
  return bases.size() <= kMaxKernelOperands;
}

/// Nothing when the value does not come from the root's first result through pointwise ops, reshapes and
/// transposes.
std::optional<FusionGraph::Route> FusionGraph::routeOf(Value value, int cluster) const {
  Operation *root = clusters[cluster].root, *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (op == root)
    return value == root->getResult(0) ? std::optional(Route{value, rowMajorStrides(shapeOf(value))})
                                       : std::nullopt;
  if (isViewOp(op)) {
    Value source = stripViews(value);
    auto from = stripBijectiveViews(value) == source ? routeOf(source, cluster) : std::nullopt;
    if (!from)
      return std::nullopt;
    if (auto view = traceStridedView(value, [&](Value) { return from->strides; }))
      return Route{from->base, view->strides};
    return Route{value, rowMajorStrides(shapeOf(value))};
  }
  if (find(op) != cluster || !isPointwiseOp(op))
    return std::nullopt;
  for (Value operand : op->getOperands()) {
    if (producer(operand) != cluster || elementsOf(operand) != elementsOf(value))
      continue;
    auto from = routeOf(operand, cluster);
    if (!from)
      continue;
    from->strides.insert(from->strides.begin(), shapeOf(value).size() - shapeOf(operand).size(), 0);
    return from;
  }
  return std::nullopt;
}

/// All operands of `op` that the kernel computes are wanted at one place: an element of the result needs one
/// element of the root.
bool FusionGraph::routesAgree(Operation *op, int cluster) const {
  std::optional<Route> first;
  auto shape = shapeOf(op->getResult(0));
  for (Value operand : op->getOperands()) {
    if (producer(operand) != cluster)
      continue;
    if (elementsOf(operand) != elementsOf(op->getResult(0)))
      return false;
    auto route = routeOf(operand, cluster);
    if (!route)
      return false;
    route->strides.insert(route->strides.begin(), shape.size() - shapeOf(operand).size(), 0);
    for (auto [stride, extent] : llvm::zip(route->strides, shape))
      if (extent == 1)
        stride = 0;
    if (first && (first->base != route->base || first->strides != route->strides))
      return false;
    first = route;
  }
  return true;
}

/// The kernel can store this view of one of its values itself.
bool FusionGraph::isWritable(Operation *view, int c) const {
  const Cluster &cluster = clusters[c];
  if (cluster.concat || !isa<ReshapeOp, TransposeOp>(view) ||
      cluster.elements != elementsOf(view->getResult(0)) || cluster.elements == 0 ||
      outputs(cluster).size() >= kMaxKernelResults)
    return false;
  if (cluster.root)
    return cluster.traits->epilogue && bitWidth(dtypeOf(view->getResult(0))) >= 8 &&
           routeOf(view->getResult(0), c).has_value();
  // Results of a pointwise kernel share one shape.
  for (Value v = view->getOperand(0); find(v.getDefiningOp()) < 0; v = v.getDefiningOp()->getOperand(0))
    if (!isa<ReshapeOp, TransposeOp>(v.getDefiningOp()))
      return false;
  return clusterReadOnlyBy(c, view);
}

/// Operations per element, roughly: what a thread does when it computes the value itself.
static int64_t weightOf(Operation *op) {
  if (auto unary = dyn_cast<UnaryOp>(op)) {
    switch (unary.getKind()) {
    case UnaryKind::Abs:
    case UnaryKind::Neg:
    case UnaryKind::Relu:
    case UnaryKind::Not:
    case UnaryKind::BitNot:
    case UnaryKind::IsNaN:
    case UnaryKind::Ceil:
    case UnaryKind::Floor:
    case UnaryKind::LeakyRelu:
      return 1;
    default:
      return 8;
    }
  }
  if (auto binary = dyn_cast<BinaryOp>(op)) {
    switch (binary.getKind()) {
    case BinaryKind::Pow:
    case BinaryKind::Mod:
    case BinaryKind::FMod:
      return 16;
    case BinaryKind::Div:
      return 4;
    default:
      return 1;
    }
  }
  if (isa<ConstantOp>(op) || isViewOp(op))
    return 0;
  return isa<ResizeOp>(op) ? 32 : isPointwiseOp(op) ? 1 : 4;
}

/// Computing a cluster inside its reader costs less than a launch and a round trip through memory.
bool FusionGraph::isCheapToRepeat(int cluster, int reader) const {
  constexpr int64_t kFreeWork = 1 << 20; // much less than a launch on any GPU
  constexpr int64_t kCheapOps = 6;       // less than the load it saves
  int64_t weight = 0;
  for (Operation *op : clusters[cluster].ops)
    weight += weightOf(op);
  int64_t times = 0; // elements of the cluster that the reader's threads compute
  for (Operation *op : clusters[reader].ops) {
    int64_t taps = isa<ResizeOp>(op) ? 4 : 1;
    for (Value operand : op->getOperands())
      if (producer(operand) == cluster)
        times = std::max(times, taps * std::max(elementsOf(op->getResult(0)), clusters[reader].elements));
  }
  return times <= clusters[cluster].elements || weight <= kCheapOps || weight * times <= kFreeWork;
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

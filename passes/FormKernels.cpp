// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds gpuc.kernel regions from the clusters of FusionGraph. What is fused is decided there.
#include "analysis/FusionGraph.h"
#include "gpuc/IR/Constants.h"
#include "gpuc/IR/OpClasses.h"
#include "gpuc/IR/StridedView.h"
#include "gpuc/IR/Types.h"
#include "gpuc/Passes/Passes.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_FORMKERNELS
#include "gpuc/Passes/Passes.h.inc"

namespace {

/// Builds the kernel of one cluster.
class KernelBuilder {
public:
  KernelBuilder(const FusionGraph &graph, const Cluster &cluster, IRMapping &outer, OpBuilder &builder)
      : graph(graph), cluster(cluster), outer(outer), builder(builder) {}

  void build() {
    llvm::SmallVector<Value> results = graph.outputs(cluster);
    llvm::SmallVector<Type> types;
    llvm::SmallVector<Location> locations;
    for (Value v : results)
      types.push_back(v.getType());
    for (Operation *op : cluster.ops)
      locations.push_back(op->getLoc());
    OperationState state(FusedLoc::get(builder.getContext(), locations), KernelOp::getOperationName());
    Region *region = state.addRegion();
    body = new Block;
    region->push_back(body);
    OpBuilder inner(builder.getContext());
    inner.setInsertionPointToEnd(body);
    // What a root reads through strides must be a buffer, also when it is a constant with equal elements.
    if (cluster.root)
      for (auto [i, operand] : llvm::enumerate(cluster.root->getOperands()))
        if (i > 0 || !cluster.traits->prologue)
          buffers.insert(stripViews(operand));
    for (Operation *op : cluster.ops)
      cloneOp(op, inner);
    llvm::SmallVector<Value> yielded;
    for (Value v : results)
      yielded.push_back(local.lookup(v));
    YieldOp::create(inner, state.location, yielded);
    state.addOperands(inputs);
    state.addTypes(types);
    llvm::StringRef family =
        cluster.traits ? llvm::StringRef(cluster.traits->family) : llvm::StringRef("pointwise");
    state.addAttribute("family", builder.getStringAttr(family));
    Operation *kernel = builder.create(state);
    for (auto [old, now] : llvm::zip(results, kernel->getResults()))
      outer.map(old, now);
  }

private:
  bool isOwn(Operation *op) const { return graph.clusterOf(op) == &cluster; }

  /// The value inside the region: computed there, a view or small constant copied into it, or a new argument.
  Value resolve(Value value, OpBuilder &inner) {
    if (Value known = local.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    bool foreign = op && graph.clusterOf(op) && !isOwn(op);
    if (op && !foreign && isViewOp(op)) {
      cloneOp(op, inner);
      return local.lookup(value);
    }
    if (op && isa<ConstantOp>(op) && !buffers.contains(value) && getSplat(value) &&
        isComputeType(dtypeOf(value))) {
      Value copy = inner.clone(*op)->getResult(0);
      local.map(value, copy);
      return copy;
    }
    Value argument = body->addArgument(value.getType(), value.getLoc());
    inputs.push_back(outer.lookupOrDefault(value));
    local.map(value, argument);
    return argument;
  }

  void cloneOp(Operation *op, OpBuilder &inner) {
    for (Value operand : op->getOperands())
      resolve(operand, inner);
    Operation *copy = inner.clone(*op, local);
    for (auto [old, now] : llvm::zip(op->getResults(), copy->getResults()))
      local.map(old, now);
  }

  const FusionGraph &graph;
  const Cluster &cluster;
  IRMapping &outer;
  OpBuilder &builder;
  Block *body = nullptr;
  IRMapping local;
  llvm::SmallPtrSet<Value, 4> buffers;
  llvm::SmallVector<Value> inputs;
};

struct FormKernels : impl::FormKernelsBase<FormKernels> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    func::FuncOp function = getOperation();
    Block &block = function.getBody().front();
    FusionGraph graph(function);
    Operation *terminator = block.getTerminator();
    OpBuilder builder(terminator);
    IRMapping outer;
    llvm::SmallVector<Operation *> old;
    for (Operation &op : block.without_terminator())
      if (!isa<ConstantOp>(op))
        old.push_back(&op);

    for (const Cluster *cluster : graph.schedule()) {
      if (cluster->concat) {
        Operation *copy = builder.clone(*cluster->concat, outer);
        outer.map(cluster->concat->getResult(0), copy->getResult(0));
        continue;
      }
      if (!graph.outputs(*cluster).empty()) // else nobody needs it
        KernelBuilder(graph, *cluster, outer, builder).build();
    }
    // What is left to return: stored values, and reshapes of them, which are aliases.
    for (OpOperand &operand : terminator->getOpOperands())
      operand.set(returned(operand.get(), outer, builder));
    for (Operation *op : llvm::reverse(old)) {
      op->dropAllUses();
      op->erase();
    }
  }

  Value returned(Value value, IRMapping &outer, OpBuilder &builder) {
    if (Value known = outer.lookupOrNull(value))
      return known;
    auto reshape = value.getDefiningOp<ReshapeOp>();
    if (!reshape)
      return value;
    Value source = returned(reshape.getX(), outer, builder);
    Value alias = ReshapeOp::create(builder, reshape.getLoc(), reshape.getType(), source);
    outer.map(value, alias);
    return alias;
  }
};

} // namespace
} // namespace gpuc

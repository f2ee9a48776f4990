// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which core ops of a function become one kernel: clusters of ops, grown greedily in program order. Decides
// only; FormKernels builds the kernels. Views (transpose, reshape, slice, expand) belong to no cluster unless
// they must exist in memory: every reader copies them.
#pragma once
#include "gpuc/IR/Ops.h"
#include "gpuc/Kernels/FamilyTraits.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include <optional>
#include <vector>

namespace gpuc {

/// Limits of one kernel (a limit of the launch: 4 KB of parameters).
inline constexpr unsigned kMaxKernelOperands = 24;
inline constexpr unsigned kMaxKernelResults = 8;

struct Cluster {
  llvm::SmallVector<mlir::Operation *> ops; ///< in program order
  mlir::Operation *root = nullptr;
  const FamilyTraits *traits = nullptr; ///< of the root; null for pointwise and movement clusters
  mlir::Operation *concat = nullptr;    ///< a concat that stays outside kernels, as a cluster of its own
  int64_t elements = 0;                 ///< size of the iteration space that results must have
  bool merged = false;                  ///< moved into another cluster
};

class FusionGraph {
public:
  /// Clones a view where one reader needs it in memory and another one inside its kernel; changes nothing
  /// else.
  explicit FusionGraph(mlir::func::FuncOp function);

  /// Clusters in an order in which they can run.
  std::vector<const Cluster *> schedule() const;
  /// The cluster that an op belongs to; null for views and constants.
  const Cluster *clusterOf(mlir::Operation *op) const;
  /// The values of a cluster that something outside it reads, directly or through views.
  llvm::SmallVector<mlir::Value> outputs(const Cluster &cluster) const;

private:
  /// How a value of a kernel is reached from its root's result: the strides of its axes over the elements of
  /// `base`. The base is the root's result, or a view of it that no strides can describe.
  struct Route {
    mlir::Value base;
    llvm::SmallVector<int64_t> strides;
  };

  int newCluster(mlir::Operation *op);
  void add(int cluster, mlir::Operation *op);
  void merge(int from, int into);

  // Questions (FusionQueries.cpp).
  int find(mlir::Operation *op) const;
  int producer(mlir::Value value) const; ///< cluster that computes the base of a value; -1 for none
  llvm::SmallVector<int> dependencies(int cluster) const;
  bool dependsOn(int from, int on) const;
  bool usedOnlyBy(mlir::Value value, int cluster, mlir::Operation *reader) const;
  bool clusterReadOnlyBy(int cluster, mlir::Operation *reader) const;
  bool fitsOperands(int a, int b, mlir::Operation *extra) const;
  std::optional<Route> routeOf(mlir::Value value, int cluster) const;
  bool routesAgree(mlir::Operation *op, int cluster) const;
  bool readsOneForOne(mlir::Operation *op, int cluster) const;
  bool isWritable(mlir::Operation *view, int cluster) const;
  int onlyReader(int cluster) const;
  bool isCheapToRepeat(int cluster, int reader) const;

  // Growing (FusionGraph.cpp).
  void visit(mlir::Operation *op);
  void visitRoot(mlir::Operation *op);
  void visitPointwise(mlir::Operation *op);
  void visitMovement(mlir::Operation *op);
  void visitConcat(mlir::Operation *op);
  void visitReturn(mlir::Operation *op);
  bool tryEpilogue(mlir::Operation *op);
  void tryPrologue(int cluster, mlir::Operation *op, mlir::Value operand);
  void storeView(mlir::OpOperand &reader);
  void absorbProducers();

  std::vector<Cluster> clusters;
  llvm::DenseMap<mlir::Operation *, int> index;
  llvm::DenseMap<mlir::Operation *, int> position;                   ///< program order
  llvm::DenseMap<mlir::Operation *, mlir::Operation *> storedCopies; ///< views that exist twice
};

} // namespace gpuc

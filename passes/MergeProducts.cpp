// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Horizontal fusion: products of one operand with several constant matrices become one.
#include "analysis/Match.h"
#include "gpuc/IR/OpClasses.h"
#include "gpuc/Passes/Passes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace gpuc {
#define GEN_PASS_DEF_MERGEPRODUCTS
#include "gpuc/Passes/Passes.h.inc"

namespace {

/// x * W [+ bias], all of it constant but x.
struct Branch {
  MatmulOp product;
  BinaryOp add; ///< null without a bias
  Value bias;   ///< [N]
  Value result() { return add ? add.getZ() : product.getZ(); }
};

std::optional<Branch> matchBranch(MatmulOp product) {
  if (!getConstant(product.getY()) || tensorType(product.getY()).getRank() != 2 ||
      !isa<FloatType>(elementTypeOf(product.getZ())))
    return std::nullopt;
  Branch branch{product, {}, {}};
  if (!product.getZ().hasOneUse())
    return branch;
  auto add = dyn_cast<BinaryOp>(*product.getZ().getUsers().begin());
  if (!add || add.getKind() != BinaryKind::Add || add.getType() != product.getType())
    return branch;
  Value other = add.getX() == product.getZ() ? add.getY() : add.getX();
  int64_t columns = shapeOf(product.getZ()).back();
  if (!getConstant(other) || tensorType(other).getNumElements() != columns ||
      shapeOf(other).back() != columns)
    return branch;
  branch.add = add;
  branch.bias = other;
  return branch;
}

/// Columns of several constant matrices (or vectors) side by side.
ElementsAttr concatColumns(llvm::ArrayRef<HostTensor> parts, MLIRContext *context) {
  int64_t rows = parts[0].rank() == 2 ? parts[0].shape()[0] : 1, columns = 0;
  for (const HostTensor &p : parts)
    columns += p.shape().back();
  Shape shape = parts[0].rank() == 2 ? Shape{rows, columns} : Shape{columns};
  HostTensor all(parts[0].dtype(), shape);
  int64_t width = bitWidth(parts[0].dtype()) / 8, at = 0;
  for (const HostTensor &p : parts) {
    int64_t n = p.shape().back();
    for (int64_t r = 0; r < rows; ++r)
      std::copy_n(p.bytes() + r * n * width, n * width, all.mutableBytes() + (r * columns + at) * width);
    at += n;
  }
  return toElementsAttr(all, context);
}

/// What added to any number gives that number, -0 included.
HostTensor minusZeros(DType dtype, int64_t count) {
  HostTensor zeros(dtype, {count});
  int64_t width = bitWidth(dtype) / 8;
  for (int64_t i = 0; i < count; ++i)
    zeros.mutableBytes()[(i + 1) * width - 1] = 0x80; // the sign, little-endian
  return zeros;
}

struct MergeProducts : impl::MergeProductsBase<MergeProducts> {
  void runOnOperation() override {
    llvm::MapVector<Value, llvm::SmallVector<Branch>> byOperand;
    for (auto product : getOperation().getOps<MatmulOp>())
      if (auto branch = matchBranch(product))
        byOperand[product.getX()].push_back(*branch);
    for (auto &[x, branches] : byOperand)
      if (branches.size() > 1 && savesLaunches(branches))
        merge(x, branches);
  }

  /// A slice of a product can't have an epilogue: what each product would have taken in becomes a kernel,
  /// once for branches that meet.
  static bool savesLaunches(llvm::ArrayRef<Branch> branches) {
    llvm::DenseMap<Operation *, unsigned> groupOf;
    llvm::SmallDenseSet<unsigned> groups;
    for (auto [i, branch] : llvm::enumerate(branches)) {
      Value value = Branch(branch).result();
      unsigned group = i;
      bool computes = false;
      llvm::SmallVector<Operation *> path;
      while (true) {
        if (llvm::any_of(value.getUsers(), [](Operation *user) { return isa<func::ReturnOp>(user); }))
          computes = true;
        auto next = llvm::find_if(value.getUsers(), [&](Operation *user) {
          return isPointwiseOp(user) || (isa<ReshapeOp, TransposeOp>(user) && value.hasOneUse());
        });
        if (next == value.getUsers().end() || path.size() > 16)
          break;
        Operation *user = *next;
        computes |= isPointwiseOp(user);
        path.push_back(user);
        if (auto met = groupOf.find(user); met != groupOf.end()) {
          group = met->second;
          break;
        }
        value = user->getResult(0);
      }
      for (Operation *op : path)
        groupOf[op] = group;
      if (computes)
        groups.insert(group);
    }
    return 1 + groups.size() <= branches.size();
  }

  void merge(Value x, llvm::ArrayRef<Branch> branches) {
    MLIRContext *context = &getContext();
    MatmulOp first = branches.front().product;
    OpBuilder builder(first);
    llvm::SmallVector<Location> locations;
    llvm::SmallVector<HostTensor> weights, biases;
    bool anyBias = false;
    for (Branch b : branches) {
      locations.push_back(b.product.getLoc());
      anyBias |= bool(b.bias);
    }
    for (Branch b : branches) {
      weights.push_back(toHostTensor(getConstant(b.product.getY())));
      int64_t columns = weights.back().shape()[1];
      biases.push_back(b.bias ? toHostTensor(getConstant(b.bias)).reshaped({columns})
                              : minusZeros(weights.back().dtype(), columns));
    }
    Location loc = builder.getFusedLoc(locations);
    Value w = ConstantOp::create(builder, loc, concatColumns(weights, context));
    auto product = MatmulOp::create(builder, loc, x, w);
    product->setAttrs(first->getAttrs());
    Value all = product.getZ();
    if (anyBias)
      all = BinaryOp::create(builder, loc, BinaryKind::Add, all,
                             ConstantOp::create(builder, loc, concatColumns(biases, context)));
    int64_t rank = tensorType(all).getRank(), at = 0;
    for (Branch b : branches) {
      Value old = b.result();
      llvm::SmallVector<int64_t> starts(rank, 0), steps(rank, 1), sizes(shapeOf(old));
      starts.back() = at;
      at += sizes.back();
      Value part = SliceOp::create(builder, b.product.getLoc(), all, starts, steps, sizes);
      old.replaceAllUsesWith(part);
    }
    for (Branch b : branches) {
      if (b.add)
        b.add.erase();
      b.product.erase();
    }
  }
};

} // namespace
} // namespace gpuc

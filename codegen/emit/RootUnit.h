// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Assembles the unit of a kernel with a root op: functors, configuration and entry, in the order that all
// such families share.
#pragma once
#include "UnitText.h"
#include "gpuc/Codegen/Functor.h"
#include "gpuc/IR/StridedView.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <utility>

namespace gpuc {

/// Stores a variant and its numbers in the kernel's `config`; configString and configInt read them.
inline void setConfig(KernelOp kernel, llvm::StringRef variant,
                      llvm::ArrayRef<std::pair<llvm::StringRef, int64_t>> numbers) {
  mlir::Builder b(kernel.getContext());
  mlir::NamedAttrList list;
  list.append("variant", b.getStringAttr(variant));
  for (auto [name, value] : numbers)
    list.append(name, b.getI64IntegerAttr(value));
  kernel.setConfigAttr(list.getDictionary(kernel.getContext()));
}

/// Element strides in which `value` (in a kernel region) probably lies in memory: those of the buffer it is a
/// view of, else those of the kernel's first result when it has value's shape, else row-major. A hint for the
/// order of iteration, never for addresses.
inline llvm::SmallVector<int64_t> likelyStrides(KernelOp kernel, mlir::Value value) {
  if (auto view = traceStridedView(value, [&](mlir::Value base) -> llvm::SmallVector<int64_t> {
        if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(base))
          return argumentStrides(kernel, argument);
        return rowMajorStrides(shapeOf(base));
      }))
    if (llvm::isa<mlir::BlockArgument>(view->base))
      return view->strides;
  if (kernel->getNumResults() > 0 && shapeOf(kernel.getResult(0)) == shapeOf(value))
    return kernel.getStorageStrides(0);
  return rowMajorStrides(shapeOf(value));
}

/// Product of the extents of `axes`.
inline int64_t extentOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> axes) {
  int64_t n = 1;
  for (unsigned axis : axes)
    n *= shape[axis];
  return n;
}

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }
/// The smallest power of two that is not less than `n`.
inline int64_t powerOfTwoAbove(int64_t n) {
  int64_t p = 1;
  while (p < n)
    p *= 2;
  return p;
}

class RootUnit {
public:
  /// `include` is the family's template, "scan/scan.cuh".
  RootUnit(KernelOp kernel, llvm::StringRef family, llvm::StringRef variant, llvm::StringRef include)
      : head(unitBanner(kernel, family, variant)) {
    this->include(include);
    this->include("pointwise/access.cuh");
  }
  /// Adds an include.
  void include(llvm::StringRef path) { head += "#include \"" + path.str() + "\"\n"; }

  /// Adds a functor's definition, parameters and arguments.
  void add(const EmittedFunctor &functor) {
    text += functor.text;
    if (!functor.parameters.empty())
      parameters.push_back(functor.parameters);
    args.insert(args.end(), functor.args.begin(), functor.args.end());
  }
  /// Adds a parameter of its own.
  void add(const std::string &parameter, EmittedArg::Kind kind, unsigned index, int64_t bytes = 0) {
    parameters.push_back(parameter);
    EmittedArg arg;
    arg.kind = kind;
    arg.index = index;
    arg.bytes = bytes;
    args.push_back(arg);
  }
  /// Adds a tensor map over an operand, `name` in the body.
  void addMap(const std::string &name, unsigned operand, const TensorMapLayout &map) {
    add("const __grid_constant__ arch::TensorMap " + name, EmittedArg::Kind::Operand, operand);
    args.back().map = map;
  }
  /// Adds definitions at namespace scope.
  void define(const std::string &definitions) { text += definitions; }

  /// Adds the entry, whose statements are `body`, and gives the launch. `entry` holds what else the entry
  /// has.
  EmittedKernel finish(const std::string &body, int64_t blocks, int64_t threads, int64_t sharedBytes,
                       EntryText entry = {}) {
    entry.threads = unsigned(threads);
    entry.parameters = joinNonEmpty(parameters);
    entry.body = body;
    EmittedKernel kernel;
    kernel.text = head + "\nnamespace gpuc {\n" + text + "\n" + entryText(entry) + "} // namespace gpuc\n";
    kernel.grid.x = uint32_t(blocks);
    kernel.block.x = uint32_t(threads);
    kernel.sharedBytes = uint32_t(sharedBytes);
    kernel.args = std::move(args);
    return kernel;
  }

private:
  std::string head, text; ///< banner and includes; definitions
  llvm::SmallVector<std::string> parameters;
  std::vector<EmittedArg> args;
};

} // namespace gpuc

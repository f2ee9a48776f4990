// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Chains of views (transpose, reshape, slice, expand) as one offset and one stride per axis. Fusion asks it
// whether a strided reader can follow a chain, emission asks it for the numbers.
#pragma once
#include "gpuc/IR/Ops.h"
#include <optional>

namespace gpuc {

/// Where the elements of a value lie in the buffer of `base`: element (i0, i1, …) is at offset + sum of i *
/// strides.
struct StridedView {
  mlir::Value base; ///< the first value up the chain that no view op defines
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;
};

/// Follows views from `value` up to `base`, whose element strides `baseStrides` gives. Nothing when a reshape
/// can't be expressed with strides.
std::optional<StridedView>
traceStridedView(mlir::Value value, llvm::function_ref<llvm::SmallVector<int64_t>(mlir::Value)> baseStrides);

/// The value below all views: the base of the chain.
mlir::Value stripViews(mlir::Value value);
/// As stripViews, but only through reshape and transpose, which keep every element once.
mlir::Value stripBijectiveViews(mlir::Value value);

} // namespace gpuc

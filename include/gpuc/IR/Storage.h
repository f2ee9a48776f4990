// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a value of a kernel program lies in memory: the only place that answers it. Kernel results say it in
// `storage`, elided concatenations in `gpuc.storage`; a reshape outside kernels is an alias of a row-major
// value; everything else is row-major.
#pragma once
#include "gpuc/IR/Ops.h"

namespace gpuc {

/// Element strides of the buffer behind a value outside kernel regions.
llvm::SmallVector<int64_t> storageStrides(mlir::Value value);
bool isRowMajor(mlir::Value value);
/// Strides of `shape` stored with its axes in `order`, outermost first: {0, 2, 3, 1} is channels-last for
/// rank 4.
llvm::SmallVector<int64_t> stridesInOrder(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> order);
/// N, spatial axes, C.
llvm::SmallVector<int64_t> channelsLastStrides(llvm::ArrayRef<int64_t> shape);
/// Elements from the first to one past the last element of a tensor stored with these strides; 0 for empty
/// tensors.
int64_t storageExtent(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides);
/// Axes from slowest to fastest by stride; axes of extent 1 keep their place.
llvm::SmallVector<int64_t> storageOrder(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides);

/// Name of the discardable attribute that holds an elided concatenation's strides.
inline constexpr llvm::StringLiteral kStorageAttr = "gpuc.storage";

} // namespace gpuc

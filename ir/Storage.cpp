// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Storage layouts of values in a kernel program.
#include "gpuc/IR/Storage.h"
#include "gpuc/IR/Types.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir;

namespace gpuc {

llvm::SmallVector<int64_t> storageStrides(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  if (auto result = dyn_cast<OpResult>(value)) {
    if (auto kernel = dyn_cast<KernelOp>(result.getOwner()))
      return kernel.getStorageStrides(result.getResultNumber());
    if (auto concat = dyn_cast<ConcatOp>(result.getOwner()))
      if (auto strides = concat->getAttrOfType<DenseI64ArrayAttr>(kStorageAttr))
        return llvm::to_vector(strides.asArrayRef());
  }
  return rowMajorStrides(type.getShape());
}

bool isRowMajor(Value value) {
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  auto strides = storageStrides(value);
  auto dense = rowMajorStrides(shape);
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] > 1 && strides[i] != dense[i])
      return false;
  return true;
}

llvm::SmallVector<int64_t> stridesInOrder(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> order) {
  llvm::SmallVector<int64_t> strides(shape.size());
  int64_t stride = 1;
  for (int64_t axis : llvm::reverse(order)) {
    strides[axis] = stride;
    stride *= std::max<int64_t>(shape[axis], 1);
  }
  return strides;
}

llvm::SmallVector<int64_t> channelsLastStrides(llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> order{0};
  for (size_t i = 2; i < shape.size(); ++i)
    order.push_back(int64_t(i));
  order.push_back(1);
  return stridesInOrder(shape, order);
}

int64_t storageExtent(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides) {
  int64_t last = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0)
      return 0;
    last += (shape[i] - 1) * strides[i];
  }
  return last + 1;
}

llvm::SmallVector<int64_t> storageOrder(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides) {
  llvm::SmallVector<int64_t> order;
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1)
      order.push_back(int64_t(i));
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return strides[a] > strides[b]; });
  llvm::SmallVector<int64_t> complete;
  size_t next = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    complete.push_back(shape[i] == 1 ? int64_t(i) : order[next++]);
  return complete;
}

} // namespace gpuc

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constant tensors: between elements attributes, raw bytes and HostTensor. Raw bytes are row-major and dense,
// bool is one byte, sub-byte types are packed low nibble first.
#pragma once
#include "gpuc/Support/HostTensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Value.h"
#include <memory>

namespace gpuc {

/// A constant's bytes; `keepAlive` owns them when they had to be made.
struct ConstantBytes {
  llvm::ArrayRef<char> bytes;
  std::shared_ptr<std::vector<char>> keepAlive;
};

/// The bytes of a `dense` or `dense_resource` attribute (a splat is expanded).
ConstantBytes constantBytes(mlir::ElementsAttr attr);
HostTensor toHostTensor(mlir::ElementsAttr attr);
/// A small or uniform tensor becomes `dense`, a larger one a `dense_resource` blob that shares the tensor's
/// bytes, which are no longer changed.
mlir::ElementsAttr toElementsAttr(const HostTensor &tensor, mlir::MLIRContext *context);
/// A blob over bytes that `owner` keeps alive (mmapped weights), without a copy; a small tensor is copied
/// into `dense`.
mlir::ElementsAttr toElementsAttr(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes,
                                  std::shared_ptr<const void> owner, llvm::StringRef name);
/// The value of a gpuc.constant that defines `v`; null when v is no constant.
mlir::ElementsAttr getConstant(mlir::Value v);
/// When `v` is a constant whose elements are all equal (or has one element): that element as a double.
std::optional<double> getSplat(mlir::Value v);
/// A constant's integers (i32, i64, bool, …); nothing when v is no integer constant.
std::optional<llvm::SmallVector<int64_t>> getInts(mlir::Value v);

} // namespace gpuc

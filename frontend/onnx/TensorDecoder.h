// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX TensorProto and SparseTensorProto → elements attributes. Every count and size is checked against the
// payload before anything is allocated; large payloads are shared with the model or the mapped file, not
// copied.
#pragma once
#include "MappedFile.h"
#include "ModelReader.h"
#include "gpuc/Support/DType.h"
#include "gpuc/Support/HostTensor.h"
#include "gpuc/Support/Status.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringRef.h"

namespace gpuc::frontend {

/// The element type that an ONNX number (TensorProto::DataType) stands for; an error that names the type when
/// gpuc has no such tensors (strings, complex numbers, numbers that ONNX doesn't define).
Result<DType> dtypeFromOnnx(int64_t onnxType);
/// "FLOAT", "STRING", … or the number.
std::string onnxTypeName(int64_t onnxType);

class TensorDecoder {
public:
  TensorDecoder(std::shared_ptr<Model> model, mlir::MLIRContext *context)
      : model(std::move(model)), files(this->model->folders), context(context) {}

  /// `tensor` must be part of the model or of its resolvedNodes. `name` names the blob.
  Result<mlir::ElementsAttr> decode(const onnx::TensorProto &tensor, llvm::StringRef name);
  /// Made dense.
  Result<mlir::ElementsAttr> decode(const onnx::SparseTensorProto &tensor, llvm::StringRef name);
  /// Data inside the message only, as a host tensor.
  Result<HostTensor> toHost(const onnx::TensorProto &tensor);
  /// Scalars and lists of attributes (Constant's value_int, value_floats, …).
  mlir::MLIRContext *getContext() const { return context; }

private:
  Result<mlir::ElementsAttr> fromBytes(DType dtype, const Shape &shape, const void *data,
                                       llvm::StringRef name, std::shared_ptr<const void> owner);

  std::shared_ptr<Model> model;
  ExternalFiles files;
  mlir::MLIRContext *context;
};

} // namespace gpuc::frontend

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Core ops that read or write at positions given by an index tensor. Indices may be negative (counted from the end); an index out
// of range is undefined in value but never reads or writes outside the tensors.
#ifndef GPUC_IR_INDEXINGOPS
#define GPUC_IR_INDEXINGOPS
include "gpuc/IR/GpucBase.td"

def Gpuc_GatherOp : Gpuc_InferredOp<"gather"> {
  let summary = "takes slices of data along an axis (ONNX Gather)";
  let description = [{
    The result's shape is data's with `axis` replaced by the shape of indices. gather_c1: 0 <= axis < rank(data), not empty.
    ```mlir
    %y = gpuc.gather %table, %ids {axis = 0 : i64} : tensor<7x5xf32>, tensor<2x3xi64> -> tensor<2x3x5xf32>
    ```
  }];
  let arguments = (ins Gpuc_Tensor:$data, Gpuc_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$data `,` $indices attr-dict `:` type($data) `,` type($indices) `->` type($y)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def Gpuc_GatherElementsOp : Gpuc_InferredOp<"gather_elements"> {
  let summary = "takes elements along an axis (ONNX GatherElements)";
  let description = [{
    y[i, j, k] = data[i, indices[i, j, k], k] for axis 1. gather_elements_c1: equal ranks; indices' extents do not exceed data's
    except along axis, which is not empty.
    ```mlir
    %y = gpuc.gather_elements %x, %i {axis = 1 : i64} : tensor<3x5xf32>, tensor<3x2xi64> -> tensor<3x2xf32>
    ```
  }];
  let arguments = (ins Gpuc_Tensor:$data, Gpuc_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$data `,` $indices attr-dict `:` type($data) `,` type($indices) `->` type($y)";
  let hasFolder = 1;
}
def Gpuc_GatherNdOp : Gpuc_InferredOp<"gather_nd"> {
  let summary = "takes slices of data at index vectors (ONNX GatherND)";
  let description = [{
    The last axis of indices holds vectors into data's axes batchDims…; the other axes of data are copied whole.
    gather_nd_c1: the leading batchDims extents agree. gather_nd_c2: the index vector is not longer than the axes left.
    ```mlir
    %y = gpuc.gather_nd %x, %i {batchDims = 0 : i64} : tensor<3x5xf32>, tensor<2x1xi64> -> tensor<2x5xf32>
    ```
  }];
  let arguments = (ins Gpuc_Tensor:$data, Gpuc_IndexTensor:$indices, I64Attr:$batchDims);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$data `,` $indices attr-dict `:` type($data) `,` type($indices) `->` type($y)";
  let hasFolder = 1;
}
def Gpuc_ScatterNdOp : Gpuc_InferredOp<"scatter_nd"> {
  let summary = "a copy of data with slices replaced at index vectors (ONNX ScatterND)";
  let description = [{
    Without a reduction the indices must differ, as ONNX demands; with one, equal indices accumulate onto the original value.
    scatter_nd_c1: updates' shape is indices' without the last axis, then data's remaining axes.
    ```mlir
    %y = gpuc.scatter_nd add %x, %i, %u : tensor<3x5xf32>, tensor<2x1xi64>, tensor<2x5xf32> -> tensor<3x5xf32>
    ```
  }];
  let arguments = (ins Gpuc_ScatterReductionAttr:$reduction, Gpuc_Tensor:$data, Gpuc_IndexTensor:$indices, Gpuc_Tensor:$updates);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = [{ $reduction $data `,` $indices `,` $updates attr-dict `:` type($data) `,` type($indices) `,`
                          type($updates) `->` type($y) }];
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::gpuc::ScatterReduction":$reduction, "::mlir::Value":$data, "::mlir::Value":$indices,
                                 "::mlir::Value":$updates)>];
}
def Gpuc_ScatterElementsOp : Gpuc_InferredOp<"scatter_elements"> {
  let summary = "a copy of data with elements replaced along an axis (ONNX ScatterElements)";
  let description = [{
    y[i][indices[i, j]] = updates[i, j] for axis 1. scatter_elements_c1: indices and updates have one shape and data's rank.
    ```mlir
    %y = gpuc.scatter_elements none %x, %i, %u {axis = 1 : i64} : tensor<3x5xf32>, tensor<3x2xi64>, tensor<3x2xf32> -> tensor<3x5xf32>
    ```
  }];
  let arguments = (ins Gpuc_ScatterReductionAttr:$reduction, Gpuc_Tensor:$data, Gpuc_IndexTensor:$indices, Gpuc_Tensor:$updates,
                       I64Attr:$axis);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = [{ $reduction $data `,` $indices `,` $updates attr-dict `:` type($data) `,` type($indices) `,`
                          type($updates) `->` type($y) }];
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::gpuc::ScatterReduction":$reduction, "::mlir::Value":$data, "::mlir::Value":$indices,
                                 "::mlir::Value":$updates, "int64_t":$axis)>];
}
#endif

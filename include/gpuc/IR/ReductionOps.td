// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Core ops that combine elements along axes: reductions, scans and sorting.
#ifndef GPUC_IR_REDUCTIONOPS
#define GPUC_IR_REDUCTIONOPS
include "gpuc/IR/GpucBase.td"

def Gpuc_ReduceOp : Gpuc_InferredOp<"reduce"> {
  let summary = "combines all elements along the given axes";
  let description = [{
    16-bit floats accumulate in f32, integers modulo 2^n. Over nothing the result is the identity: sum 0, prod 1, max -inf or the
    smallest integer, min +inf or the largest. reduce_c1: axes are sorted, distinct and in range. reduce_c2: any
    and all take i1, max and min every type, the others numbers.
    ```mlir
    %y = gpuc.reduce sum %x {axes = array<i64: 1>, keepdims = false} : tensor<3x5xf32> -> tensor<3xf32>
    ```
  }];
  let arguments = (ins Gpuc_ReduceKindAttr:$kind, Gpuc_Tensor:$x, DenseI64ArrayAttr:$axes, BoolAttr:$keepdims);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$kind $x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::gpuc::ReduceKind":$kind, "::mlir::Value":$x, "::llvm::ArrayRef<int64_t>":$axes,
                                 "bool":$keepdims)>];
}
def Gpuc_ArgReduceOp : Gpuc_InferredOp<"arg_reduce"> {
  let summary = "index of the largest or smallest element along an axis (ONNX ArgMax, ArgMin)";
  let description = [{
    The result is i64. The first of equal elements wins, or the last with `selectLast`. arg_reduce_c1: axis is in range and its
    extent is not 0.
    ```mlir
    %y = gpuc.arg_reduce %x {isMax = true, axis = 1 : i64, keepdims = false, selectLast = false} : tensor<3x5xf32> -> tensor<3xi64>
    ```
  }];
  let arguments = (ins Gpuc_Tensor:$x, BoolAttr:$isMax, I64Attr:$axis, BoolAttr:$keepdims, BoolAttr:$selectLast);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}
def Gpuc_CumSumOp : Gpuc_InferredOp<"cumsum"> {
  let summary = "running sum along an axis (ONNX CumSum)";
  let description = [{
    `exclusive` leaves out the element itself, `reverse` starts at the end. cumsum_c1: axis is in range. cumsum_c2: x is not i1.
    ```mlir
    %y = gpuc.cumsum %x {axis = 0 : i64, exclusive = false, reverse = false} : tensor<5xf32> -> tensor<5xf32>
    ```
  }];
  let arguments = (ins Gpuc_Tensor:$x, I64Attr:$axis, BoolAttr:$exclusive, BoolAttr:$reverse);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}
def Gpuc_TopKOp : Gpuc_InferredOp<"topk"> {
  let summary = "the k largest or smallest elements along an axis, best first, and their indices (ONNX TopK)";
  let description = [{
    Among equal elements the lower index comes first; NaN counts as larger than every number. Results are always sorted.
    topk_c1: axis is in range. topk_c2: 0 <= k <= the axis' extent.
    ```mlir
    %v, %i = gpuc.topk %x {k = 2 : i64, axis = 1 : i64, largest = true} : tensor<3x5xf32> -> tensor<3x2xf32>, tensor<3x2xi64>
    ```
  }];
  let arguments = (ins Gpuc_Tensor:$x, I64Attr:$k, I64Attr:$axis, BoolAttr:$largest);
  let results = (outs Gpuc_Tensor:$values, Gpuc_Tensor:$indices);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($values) `,` type($indices)";
}
#endif

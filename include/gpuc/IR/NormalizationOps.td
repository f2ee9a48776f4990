// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Normalising core ops. Statistics are taken in f32 (f64 for f64), variances with two passes over the data.
#ifndef GPUC_IR_NORMALIZATIONOPS
#define GPUC_IR_NORMALIZATIONOPS
include "gpuc/IR/GpucBase.td"

def Gpuc_SoftmaxOp : Gpuc_InferredOp<"softmax"> {
  let summary = "exp(x - max) / sum along an axis, or its logarithm";
  let description = [{
    A row of -inf only gives NaN, unless `zeroMasked`, which makes it zeros. softmax_c1: axis is in range.
    ```mlir
    %y = gpuc.softmax %x {axis = 1 : i64} : tensor<3x5xf32> -> tensor<3x5xf32>
    ```
  }];
  let arguments = (ins Gpuc_FloatTensor:$x, I64Attr:$axis, DefaultValuedAttr<BoolAttr, "false">:$log,
                       DefaultValuedAttr<BoolAttr, "false">:$zeroMasked);
  let results = (outs Gpuc_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}
def Gpuc_LayerNormOp : Gpuc_InferredOp<"layer_norm", [AttrSizedOperandSegments]> {
  let summary = "(x - mean) / sqrt(variance + epsilon) * scale + bias over the axes from `axis` on";
  let description = [{
    scale and bias broadcast to the normalised axes. layer_norm_c1: axis is in range. layer_norm_c2: scale and bias have x's
    element type and broadcast to x's shape from `axis` on.
    ```mlir
    %y = gpuc.layer_norm %x scale %g bias %b {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x5xf32>, tensor<5xf32>, tensor<5xf32> -> tensor<3x5xf32>
    ```
  }];
  let arguments = (ins Gpuc_FloatTensor:$x, Optional<Gpuc_FloatTensor>:$scale, Optional<Gpuc_FloatTensor>:$bias, I64Attr:$axis,
                       F64Attr:$epsilon);
  let results = (outs Gpuc_FloatTensor:$y);
  let assemblyFormat = "$x (`scale` $scale^)? (`bias` $bias^)? attr-dict `:` type(operands) `->` type($y)";
  let hasFolder = 1;
}
def Gpuc_RmsNormOp : Gpuc_InferredOp<"rms_norm"> {
  let summary = "x / sqrt(mean(x^2) + epsilon) * scale over the axes from `axis` on";
  let description = [{
    rms_norm_c1: axis is in range. rms_norm_c2: scale has x's element type and broadcasts to x's shape from `axis` on.
    ```mlir
    %y = gpuc.rms_norm %x scale %g {axis = 1 : i64, epsilon = 1.0e-5} : tensor<3x5xf32>, tensor<5xf32> -> tensor<3x5xf32>
    ```
  }];
  let arguments = (ins Gpuc_FloatTensor:$x, Optional<Gpuc_FloatTensor>:$scale, I64Attr:$axis, F64Attr:$epsilon);
  let results = (outs Gpuc_FloatTensor:$y);
  let assemblyFormat = "$x (`scale` $scale^)? attr-dict `:` type($x) (`,` type($scale)^)? `->` type($y)";
  let hasFolder = 1;
}
// A normalisation taken apart, so that its halves can be fused into the products around it: the producer of x also
// writes row_moments of x, a reader applies (x - mean) * scale with what row_statistics makes of them. Neither op is
// the root of a kernel.
def Gpuc_RowMomentsOp : Gpuc_InferredOp<"row_moments"> {
  let summary = "sum and sum of squares of runs of columns";
  let description = [{
    x is [D…, N] and its rows (the leading axes together) are R; y is [R, N/columns, 2] in f32: of each run of `columns`
    consecutive elements of a row the sum and the sum of squares. row_moments_c1: rank at least 1. row_moments_c2: columns
    is positive and divides N.
    ```mlir
    %m = gpuc.row_moments %x {columns = 4 : i64} : tensor<3x8xf16> -> tensor<3x2x2xf32>
    ```
  }];
  let arguments = (ins Gpuc_FloatTensor:$x, I64Attr:$columns);
  let results = (outs Gpuc_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
}
def Gpuc_RowStatisticsOp : Gpuc_InferredOp<"row_statistics"> {
  let summary = "mean and 1 / sqrt(variance + epsilon) of rows from their moments";
  let description = [{
    moments is [R, P, 2], `extent` the number of elements of a row; mean and scale are [R, 1]. Without `centered` the mean is 0 and
    scale is 1 / sqrt(mean of squares + epsilon). The variance is the mean of squares minus the squared mean, at least 0: its error
    is about 2^-24 (mean/deviation)^2. row_statistics_c1: moments is [R, P, 2] of f32. row_statistics_c2: extent is positive.
    ```mlir
    %mean, %scale = gpuc.row_statistics %m {extent = 8 : i64, epsilon = 1.0e-5, centered = true} : tensor<3x2x2xf32> -> tensor<3x1xf32>, tensor<3x1xf32>
    ```
  }];
  let arguments = (ins Gpuc_FloatTensor:$moments, I64Attr:$extent, F64Attr:$epsilon, BoolAttr:$centered);
  let results = (outs Gpuc_FloatTensor:$mean, Gpuc_FloatTensor:$scale);
  let assemblyFormat = "$moments attr-dict `:` type($moments) `->` type($mean) `,` type($scale)";
}
def Gpuc_GroupNormOp : Gpuc_InferredOp<"group_norm", [AttrSizedOperandSegments]> {
  let summary = "normalises groups of channels over their spatial axes (ONNX GroupNormalization, InstanceNormalization)";
  let description = [{
    x is [N, C, …]; statistics per batch element and group of C/groups channels; scale and bias are [C].
    group_norm_c1: rank at least 2 and groups divides C. group_norm_c2: scale and bias are [C] of x's element type.
    ```mlir
    %y = gpuc.group_norm %x scale %g bias %b {groups = 2 : i64, epsilon = 1.0e-5} : tensor<3x4x5xf32>, tensor<4xf32>, tensor<4xf32> -> tensor<3x4x5xf32>
    ```
  }];
  let arguments = (ins Gpuc_FloatTensor:$x, Optional<Gpuc_FloatTensor>:$scale, Optional<Gpuc_FloatTensor>:$bias, I64Attr:$groups,
                       F64Attr:$epsilon);
  let results = (outs Gpuc_FloatTensor:$y);
  let assemblyFormat = "$x (`scale` $scale^)? (`bias` $bias^)? attr-dict `:` type(operands) `->` type($y)";
  let hasFolder = 1;
}
def Gpuc_LrnOp : Gpuc_InferredOp<"lrn"> {
  let summary = "local response normalisation across channels (ONNX LRN)";
  let description = [{
    y = x / (bias + alpha/size * sum of x^2 over the size channels around)^beta. lrn_c1: rank at least 2, size positive.
    ```mlir
    %y = gpuc.lrn %x {size = 3 : i64, alpha = 1.0e-4, beta = 0.75, bias = 1.0} : tensor<3x5x7xf32> -> tensor<3x5x7xf32>
    ```
  }];
  let arguments = (ins Gpuc_FloatTensor:$x, I64Attr:$size, F64Attr:$alpha, F64Attr:$beta, F64Attr:$bias);
  let results = (outs Gpuc_FloatTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}
#endif

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

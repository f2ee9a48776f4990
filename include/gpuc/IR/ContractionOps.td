// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Core ops that multiply and add: matrix products, attention, convolutions; and pooling, which shares their windows.
#ifndef GPUC_IR_CONTRACTIONOPS
#define GPUC_IR_CONTRACTIONOPS
include "gpuc/IR/GpucBase.td"

def Gpuc_MatmulOp : Gpuc_InferredOp<"matmul"> {
  let summary = "batched matrix product; batch axes broadcast";
  let description = [{
    z[…, m, n] = sum over k of x[…, m, k] * y[…, k, n]. 16-bit floats accumulate in f32, integers modulo 2^n; K = 0 gives zeros.
    `tf32` allows f32 operands to be rounded to tf32 first, `f16_accumulate` allows f16 products of a stretch of K to be summed in f16.
    matmul_c1: rank at least 2 on both sides, one element type. matmul_c2: inner extents agree. matmul_c3: batch axes broadcast.
    ```mlir
    %z = gpuc.matmul %x, %y : tensor<2x3x5xf32>, tensor<5x7xf32> -> tensor<2x3x7xf32>
    ```
  }];
  let arguments = (ins Gpuc_Tensor:$x, Gpuc_Tensor:$y, UnitAttr:$tf32, UnitAttr:$f16_accumulate);
  let results = (outs Gpuc_Tensor:$z);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x) `,` type($y) `->` type($z)";
  let hasFolder = 1;
}

def Gpuc_AttentionOp : Gpuc_InferredOp<"attention"> {
  let summary = "softmax(scale * q k^T + bias) v, per head";
  let description = [{
    q is [B, H, S, D], k is [B, G, T, D], v is [B, G, T, E], the result [B, H, S, E]; head h reads group h / (H/G). bias (float: added;
    i1: false masks) broadcasts to [B, H, S, T]. With `softcap` c > 0 the scaled scores become c tanh(score/c) before the bias.
    `causal`: query s sees keys t <= s + causalOffset. A row without any key left is zeros if `zeroMasked`, else NaN.
    attention_c1: ranks are 4. attention_c2: B, D, T agree. attention_c3: H is a multiple of G. attention_c4: bias broadcasts.
    ```mlir
    %y = gpuc.attention %q, %k, %v {scale = 0.125} : tensor<2x4x7x64xf16>, tensor<2x4x5x64xf16>, tensor<2x4x5x64xf16> -> tensor<2x4x7x64xf16>
    ```
  }];
  let arguments = (ins Gpuc_FloatTensor:$q, Gpuc_FloatTensor:$k, Gpuc_FloatTensor:$v, Optional<Gpuc_Tensor>:$bias, F64Attr:$scale,
                       DefaultValuedAttr<BoolAttr, "false">:$causal, DefaultValuedAttr<I64Attr, "0">:$causalOffset,
                       DefaultValuedAttr<F64Attr, "0.0">:$softcap, DefaultValuedAttr<BoolAttr, "false">:$zeroMasked,
                       UnitAttr:$tf32);
  let results = (outs Gpuc_FloatTensor:$y);
  let assemblyFormat = [{ $q `,` $k `,` $v (`bias` $bias^)? attr-dict `:` type($q) `,` type($k) `,` type($v)
                          (`,` type($bias)^)? `->` type($y) }];
  let hasFolder = 1;
}

def Gpuc_SqueezeExciteOp : Gpuc_InferredOp<"squeeze_excite"> {
  let summary = "scales every channel of an image by a gate that depends on the means of all channels";
  let description = [{
    y = x * g, g[n, c] = gate(sum over s of w2[c, s] h[n, s] + b2[c]), h[n, s] = act(sum over c of w1[s, c] m[n, c] + b1[s]), where
    m is the mean of x over its spatial axes. x is [N, C, D…], w1 [S, C], b1 [S], w2 [C, S], b2 [C]. `alpha` and `beta` are those of the
    gate (hard_sigmoid). Sums are taken in f32. (Hu et al., "Squeeze-and-Excitation Networks", 2018.)
    squeeze_excite_c1: x has rank at least 3. squeeze_excite_c2: one element type; weights and biases have the shapes above.
    squeeze_excite_c3: act is relu, silu, hard_swish, gelu or tanh, gate is sigmoid, hard_sigmoid or tanh.
    ```mlir
    %y = gpuc.squeeze_excite relu %x, %w1, %b1, %w2, %b2 gate sigmoid : tensor<2x8x3x5xf16>, tensor<4x8xf16>, tensor<4xf16>, tensor<8x4xf16>, tensor<8xf16> -> tensor<2x8x3x5xf16>
    ```
  }];
  let arguments = (ins Gpuc_UnaryKindAttr:$act, Gpuc_FloatTensor:$x, Gpuc_FloatTensor:$w1, Gpuc_FloatTensor:$b1, Gpuc_FloatTensor:$w2,
                       Gpuc_FloatTensor:$b2, Gpuc_UnaryKindAttr:$gate, DefaultValuedAttr<F64Attr, "0.0">:$alpha,
                       DefaultValuedAttr<F64Attr, "0.0">:$beta);
  let results = (outs Gpuc_FloatTensor:$y);
  let assemblyFormat = "$act $x `,` $w1 `,` $b1 `,` $w2 `,` $b2 `gate` $gate attr-dict `:` type(operands) `->` type($y)";
  let extraClassDeclaration = [{
    /// The functions that squeeze_excite_c3 allows.
    static bool isAct(::gpuc::UnaryKind kind);
    static bool isGate(::gpuc::UnaryKind kind);
  }];
  let hasVerifier = 1;
}

def Gpuc_ConvOp : Gpuc_InferredOp<"conv"> {
  let summary = "convolution (ONNX Conv) of any number of spatial axes";
  let description = [{
    x is [N, C, D…], w is [O, C/group, K…], bias is [O]. Cells in the padding are zero. Pads are non-negative.
    conv_c1: rank at least 3 and equal for x and w. conv_c2: group divides C and O, and w's second extent is C/group.
    conv_c3: one stride >= 1, dilation >= 1 and pad >= 0 per spatial axis; the window fits.
    ```mlir
    %y = gpuc.conv %x, %w {strides = array<i64: 1, 1>, low = array<i64: 1, 1>, high = array<i64: 1, 1>, dilations = array<i64: 1, 1>,
      group = 1 : i64} : tensor<2x3x5x7xf32>, tensor<4x3x3x3xf32> -> tensor<2x4x5x7xf32>
    ```
  }];
  let arguments = (ins Gpuc_FloatTensor:$x, Gpuc_FloatTensor:$w, Optional<Gpuc_FloatTensor>:$bias, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$dilations, I64Attr:$group, UnitAttr:$tf32,
                       UnitAttr:$f16_accumulate);
  let results = (outs Gpuc_FloatTensor:$y);
  let assemblyFormat = "$x `,` $w (`bias` $bias^)? attr-dict `:` type($x) `,` type($w) (`,` type($bias)^)? `->` type($y)";
  let hasFolder = 1;
}
def Gpuc_ConvTransposeOp : Gpuc_TypedOp<"conv_transpose"> {
  let summary = "transposed convolution (ONNX ConvTranspose)";
  let description = [{
    x is [N, C, D…], w is [C, O/group, K…], bias is [O]. y[n, o, p] = sum of x[n, c, i] w[c, o, k] over all i, k with
    p = i*stride - low + k*dilation. The spatial extents of the result are given: cells that no term reaches hold the bias.
    conv_transpose_c1: rank at least 3 and equal. conv_transpose_c2: group divides C, w's first extent is C, the result has
    group * w's second extent channels. conv_transpose_c3: one stride >= 1, dilation >= 1 and pad per spatial axis.
    ```mlir
    %y = gpuc.conv_transpose %x, %w {strides = array<i64: 2>, low = array<i64: 0>, dilations = array<i64: 1>, group = 1 : i64}
      : tensor<2x3x5xf32>, tensor<3x4x2xf32> -> tensor<2x4x10xf32>
    ```
  }];
  let arguments = (ins Gpuc_FloatTensor:$x, Gpuc_FloatTensor:$w, Optional<Gpuc_FloatTensor>:$bias, DenseI64ArrayAttr:$strides,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$dilations, I64Attr:$group, UnitAttr:$tf32);
  let results = (outs Gpuc_FloatTensor:$y);
  let assemblyFormat = "$x `,` $w (`bias` $bias^)? attr-dict `:` type($x) `,` type($w) (`,` type($bias)^)? `->` type($y)";
  let hasFolder = 1;
}

class Gpuc_PoolOp<string mnemonic> : Gpuc_TypedOp<mnemonic> {
  dag windowArguments = (ins Gpuc_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$low,
                             DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$dilations);
}
def Gpuc_MaxPoolOp : Gpuc_PoolOp<"max_pool"> {
  let summary = "largest element of each window (ONNX MaxPool); cells in the padding do not take part";
  let description = [{
    x is [N, C, D…]. The result's spatial extents are given (ceil_mode and auto_pad are resolved). With a second result: the i64 index of
    the winner in the flattened x, the first of equal ones; `columnMajor` flattens the spatial axes first axis fastest.
    max_pool_c1: one kernel, stride, low, high, dilation per spatial axis; every window holds at least one cell of x.
    max_pool_c2: indices are i64 of the result's shape.
    ```mlir
    %y = gpuc.max_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>,
      dilations = array<i64: 1>} : tensor<2x3x6xf32> -> tensor<2x3x3xf32>
    ```
  }];
  let arguments = !con(windowArguments, (ins DefaultValuedAttr<BoolAttr, "false">:$columnMajor));
  let results = (outs Gpuc_Tensor:$y, Optional<Gpuc_Tensor>:$indices);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y) (`,` type($indices)^)?";
}
def Gpuc_AvgPoolOp : Gpuc_PoolOp<"avg_pool"> {
  let summary = "mean of each window (ONNX AveragePool)";
  let description = [{
    As max_pool; the divisor counts the cells of x in the window, or with `countIncludePad` those of x and of the declared pads (never
    cells past the high pad that ceil_mode adds). avg_pool_c1: as max_pool_c1.
    ```mlir
    %y = gpuc.avg_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>, low = array<i64: 0>, high = array<i64: 0>,
      dilations = array<i64: 1>} : tensor<2x3x6xf32> -> tensor<2x3x3xf32>
    ```
  }];
  let arguments = !con(windowArguments, (ins DefaultValuedAttr<BoolAttr, "false">:$countIncludePad));
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}
#endif

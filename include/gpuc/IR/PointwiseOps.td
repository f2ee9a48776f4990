// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Elementwise core ops. Their scalar functions are listed in gpuc/Support/OpKinds.h.
#ifndef GPUC_IR_POINTWISEOPS
#define GPUC_IR_POINTWISEOPS
include "gpuc/IR/GpucBase.td"

def Gpuc_UnaryOp : Gpuc_InferredOp<"unary"> {
  let summary = "applies a scalar function to every element";
  let description = [{
    y[i] = kind(x[i]; alpha, beta). The result has x's type, or i1 for the predicates not, is_nan, is_inf.
    unary_c1: not takes i1; bit_not takes integers; abs, neg, sign, relu take any number; the others take floats.

    ```mlir
    %y = gpuc.unary leaky_relu %x {alpha = 0.1} : tensor<3x5xf32> -> tensor<3x5xf32>
    ```
  }];
  let arguments = (ins Gpuc_UnaryKindAttr:$kind, Gpuc_Tensor:$x, DefaultValuedAttr<F64Attr, "0.0">:$alpha,
                       DefaultValuedAttr<F64Attr, "0.0">:$beta);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$kind $x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::gpuc::UnaryKind":$kind, "::mlir::Value":$x, CArg<"double", "0.0">:$alpha,
                                 CArg<"double", "0.0">:$beta)>];
}

def Gpuc_BinaryOp : Gpuc_InferredOp<"binary"> {
  let summary = "applies a scalar function to pairs of elements, broadcasting as numpy does";
  let description = [{
    z[i] = kind(x[i], y[i]). Both operands have one element type, except pow, whose exponent may differ. Comparisons give i1.
    binary_c1: equal element types. binary_c2: shapes broadcast. binary_c3: and, or, xor take i1; bit ops and shifts take integers.

    ```mlir
    %z = gpuc.binary add %x, %y : tensor<3x5xf32>, tensor<5xf32> -> tensor<3x5xf32>
    ```
  }];
  let arguments = (ins Gpuc_BinaryKindAttr:$kind, Gpuc_Tensor:$x, Gpuc_Tensor:$y);
  let results = (outs Gpuc_Tensor:$z);
  let assemblyFormat = "$kind $x `,` $y attr-dict `:` type($x) `,` type($y) `->` type($z)";
  let hasFolder = 1;
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::gpuc::BinaryKind":$kind, "::mlir::Value":$x, "::mlir::Value":$y)>];
}

def Gpuc_SelectOp : Gpuc_InferredOp<"select"> {
  let summary = "takes x where the condition holds and y elsewhere, broadcasting as numpy does";
  let description = [{
    z[i] = condition[i] ? x[i] : y[i]; a NaN of the side not chosen has no effect.
    select_c1: x and y have one element type. select_c2: shapes broadcast.

    ```mlir
    %z = gpuc.select %c, %x, %y : tensor<3x1xi1>, tensor<3x5xf32>, tensor<f32> -> tensor<3x5xf32>
    ```
  }];
  let arguments = (ins Gpuc_BoolTensor:$condition, Gpuc_Tensor:$x, Gpuc_Tensor:$y);
  let results = (outs Gpuc_Tensor:$z);
  let assemblyFormat = "$condition `,` $x `,` $y attr-dict `:` type($condition) `,` type($x) `,` type($y) `->` type($z)";
  let hasFolder = 1;
}

def Gpuc_CastOp : Gpuc_TypedOp<"cast"> {
  let summary = "converts every element to another type";
  let description = [{
    ONNX Cast: float to integer truncates; integer to integer keeps the low bits; anything but zero is true; narrowing
    float rounds to nearest even; `saturate` concerns conversions to float8, `round` those to f8E8M0FNU.
    cast_c1: shapes are equal.

    ```mlir
    %y = gpuc.cast %x : tensor<3xf32> -> tensor<3xi64>
    ```
  }];
  let arguments = (ins Gpuc_StorageTensor:$x, DefaultValuedAttr<BoolAttr, "true">:$saturate,
                       DefaultValuedAttr<Gpuc_RoundModeAttr, "::gpuc::RoundMode::Up">:$round);
  let results = (outs Gpuc_StorageTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::mlir::Type":$elementType)>];
}
#endif

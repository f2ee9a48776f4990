// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Core ops that only move elements.
#ifndef GPUC_IR_MOVEMENTOPS
#define GPUC_IR_MOVEMENTOPS
include "gpuc/IR/GpucBase.td"

def Gpuc_TransposeOp : Gpuc_InferredOp<"transpose"> {
  let summary = "permutes the axes";
  let description = [{
    Axis i of the result is axis perm[i] of x. transpose_c1: perm is a permutation of 0…rank-1.
    ```mlir
    %y = gpuc.transpose %x {perm = array<i64: 1, 0>} : tensor<3x5xf32> -> tensor<5x3xf32>
    ```
  }];
  let arguments = (ins Gpuc_StorageTensor:$x, DenseI64ArrayAttr:$perm);
  let results = (outs Gpuc_StorageTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}
def Gpuc_ReshapeOp : Gpuc_TypedOp<"reshape"> {
  let summary = "gives the same elements, in row-major order, another shape";
  let description = [{
    reshape_c1: element types and element counts are equal.
    ```mlir
    %y = gpuc.reshape %x : tensor<3x5xf32> -> tensor<15xf32>
    ```
  }];
  let arguments = (ins Gpuc_StorageTensor:$x);
  let results = (outs Gpuc_StorageTensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::llvm::ArrayRef<int64_t>":$shape)>];
}
def Gpuc_ExpandOp : Gpuc_TypedOp<"expand"> {
  let summary = "repeats elements along axes of extent 1, and along new leading axes";
  let description = [{
    expand_c1: x's shape, aligned at the last axis, broadcasts to exactly the result's shape.
    ```mlir
    %y = gpuc.expand %x : tensor<3x1xf32> -> tensor<2x3x5xf32>
    ```
  }];
  let arguments = (ins Gpuc_Tensor:$x);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::llvm::ArrayRef<int64_t>":$shape)>];
}
def Gpuc_SliceOp : Gpuc_TypedOp<"slice"> {
  let summary = "takes every steps[i]-th element from starts[i] on, as many as the result has";
  let description = [{
    y[i0, …] = x[starts[0] + i0*steps[0], …]; a step may be negative, never zero.
    slice_c1: one start and one step per axis. slice_c2: every element taken lies in x.
    ```mlir
    %y = gpuc.slice %x {starts = array<i64: 4>, steps = array<i64: -2>} : tensor<5xf32> -> tensor<3xf32>
    ```
  }];
  let arguments = (ins Gpuc_Tensor:$x, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$steps);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::llvm::ArrayRef<int64_t>":$starts,
                                 "::llvm::ArrayRef<int64_t>":$steps, "::llvm::ArrayRef<int64_t>":$sizes)>];
}
def Gpuc_ConcatOp : Gpuc_InferredOp<"concat"> {
  let summary = "joins tensors along an axis";
  let description = [{
    concat_c1: at least one operand; shapes are equal except along `axis`. An op marked `elided` costs nothing: its operands were
    written into the result's storage (pass ElideConcats).
    ```mlir
    %z = gpuc.concat %x, %y {axis = 0 : i64} : (tensor<3x5xf32>, tensor<2x5xf32>) -> tensor<5x5xf32>
    ```
  }];
  let arguments = (ins Variadic<Gpuc_Tensor>:$inputs, I64Attr:$axis, UnitAttr:$elided);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$inputs attr-dict `:` functional-type($inputs, results)";
  let hasFolder = 1;
}
def Gpuc_PadOp : Gpuc_InferredOp<"pad"> {
  let summary = "adds cells before and after each axis; negative amounts crop";
  let description = [{
    Extent i becomes low[i] + x_i + high[i]. New cells hold `value` (a scalar of x's type; needed in constant mode only) or copy
    cells of x: reflect without repeating the border, edge repeats the border, wrap starts again at the other end.
    pad_c1: extents stay non-negative, neither side crops more than there is. pad_c2: reflect pads are smaller than the extent; only constant mode may crop.
    pad_c3: constant mode has a value, a scalar of x's element type; the other modes have none.
    ```mlir
    %y = gpuc.pad constant %x, %v {low = array<i64: 1>, high = array<i64: 2>} : tensor<3xf32>, tensor<f32> -> tensor<6xf32>
    ```
  }];
  let arguments = (ins Gpuc_PadModeAttr:$mode, Gpuc_Tensor:$x, Optional<Gpuc_Tensor>:$value, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$mode $x (`,` $value^)? attr-dict `:` type($x) (`,` type($value)^)? `->` type($y)";
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::gpuc::PadMode":$mode, "::mlir::Value":$x, "::mlir::Value":$value,
                                 "::llvm::ArrayRef<int64_t>":$low, "::llvm::ArrayRef<int64_t>":$high)>];
}
def Gpuc_TileOp : Gpuc_InferredOp<"tile"> {
  let summary = "repeats the whole tensor along each axis";
  let description = [{
    tile_c1: one non-negative repeat per axis.
    ```mlir
    %y = gpuc.tile %x {repeats = array<i64: 2, 1>} : tensor<3x5xf32> -> tensor<6x5xf32>
    ```
  }];
  let arguments = (ins Gpuc_Tensor:$x, DenseI64ArrayAttr:$repeats);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}
def Gpuc_TriluOp : Gpuc_InferredOp<"trilu"> {
  let summary = "keeps the upper or lower triangle of the last two axes, zeros elsewhere";
  let description = [{
    upper: keeps column - row >= k; lower: keeps column - row <= k. trilu_c1: rank at least 2.
    ```mlir
    %y = gpuc.trilu %x {k = 1 : i64, upper = true} : tensor<3x5xf32> -> tensor<3x5xf32>
    ```
  }];
  let arguments = (ins Gpuc_Tensor:$x, I64Attr:$k, BoolAttr:$upper);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}
def Gpuc_ResizeOp : Gpuc_TypedOp<"resize"> {
  let summary = "ONNX Resize with everything resolved";
  let description = [{
    Axis i of the result samples x at the coordinate that `coordinate` derives from scales[i] (and roi for tf_crop_and_resize).
    Axes whose extent and scale are 1:1 are left alone. resize_c1: one scale per axis, all positive. resize_c2: roi is empty or
    has two numbers per axis, starts first.
    ```mlir
    %y = gpuc.resize nearest %x {coordinate = #gpuc<coordinate_mode asymmetric>, nearest = #gpuc<nearest_mode floor>,
      scales = array<f64: 1.0, 2.0>} : tensor<3x5xf32> -> tensor<3x10xf32>
    ```
  }];
  let arguments = (ins Gpuc_ResizeModeAttr:$mode, Gpuc_Tensor:$x, Gpuc_CoordinateModeAttr:$coordinate,
                       Gpuc_NearestModeAttr:$nearest, DenseF64ArrayAttr:$scales, DefaultValuedAttr<DenseF64ArrayAttr, "{}">:$roi,
                       DefaultValuedAttr<F64Attr, "-0.75">:$cubicCoeff, DefaultValuedAttr<BoolAttr, "false">:$excludeOutside,
                       DefaultValuedAttr<F64Attr, "0.0">:$extrapolation, DefaultValuedAttr<BoolAttr, "false">:$antialias);
  let results = (outs Gpuc_Tensor:$y);
  let assemblyFormat = "$mode $x attr-dict `:` type($x) `->` type($y)";
  let hasFolder = 1;
}
#endif

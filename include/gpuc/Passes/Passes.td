// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every pass of gpuc: what it does, what it refuses. Pipelines.cpp alone knows the order.
#ifndef GPUC_PASSES
#define GPUC_PASSES
include "mlir/Pass/PassBase.td"

//===--- graph: fewer, simpler core ops -------------------------------------------------------------------------===//

def FoldConstants : Pass<"gpuc-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "evaluates ops whose operands are all constants";
  let description = [{
    Uses the reference executor. Refuses results larger than `max-bytes` unless they replace operands of at least that size (so that
    weights fold, but ConstantOfShape and Tile don't blow up).
  }];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", "16777216", "largest result in bytes that is always folded">];
}
def SimplifyGraph : Pass<"gpuc-simplify-graph", "::mlir::func::FuncOp"> {
  let summary = "algebra that is exact, or as exact as the model: scale and shift into convolutions and products, pads into windows";
  let description = [{
    Folds a per-channel multiplication and addition with constants (what BatchNormalization became) into the convolution or product before
    it; zero pads into convolutions, average pools that count them and max pools over what is not negative; biases go below the reshape of a
    product; adjacent slices that are joined again become one; one-hot rows times a matrix become a gather. Refuses whatever another user of
    the inner value, another axis or a non-constant operand would make wrong, and constants that would not stay finite.
    ```mlir
    %y = gpuc.conv %x, %w …            ==>   %y = gpuc.conv %x, %w' bias %b …
    %z = gpuc.binary mul %y, %s
    ```
  }];
}
def RecognizeActivations : Pass<"gpuc-recognize-activations", "::mlir::func::FuncOp"> {
  let summary = "GELU, SiLU, hard-swish, mish, softplus and reciprocal square roots from the forms exporters write";
  let description = [{ Matches the whole formula including its constants; an inner value with another user is kept. }];
}
def RecognizeNormalization : Pass<"gpuc-recognize-normalization", "::mlir::func::FuncOp"> {
  let summary = "softmax, layer norm and RMS norm from the forms exporters write";
  let description = [{
    Also jax's E[x^2] - E[x]^2 and scaled sums, reductions whose axes a later reshape puts back, and a norm over one axis that is not the last,
    which gets transposes around it. Refuses several axes that are not the trailing ones, an epsilon that is no constant, other broadcasts.
  }];
}
def RecognizeAttention : Pass<"gpuc-recognize-attention", "::mlir::func::FuncOp"> {
  let summary = "attention from matmul, scale, mask, softmax and matmul";
  let description = [{
    Scales before or after the first product, additive or boolean masks, safe softmax (a fully masked row gives zeros), softcap. Refuses
    when the scores or probabilities have another user. Leaves transposes and reshapes around it: they become strided reads.
  }];
}
def MergeProducts : Pass<"gpuc-merge-products", "::mlir::func::FuncOp"> {
  let summary = "products of one operand with several constant matrices become one product";
  let description = [{
    Q, K and V projections; gate and up. The weights are concatenated along columns at compile time and the results become slices. Refuses
    integers, matrices with batch axes, and merges that would add launches: a slice can't take in the activation that a product of its own can.
  }];
}
def RecognizeSqueezeExcite : Pass<"gpuc-recognize-squeeze-excite", "::mlir::func::FuncOp"> {
  let summary = "finds squeeze-and-excitation blocks";
  let description = [{
    A product of x with gate(conv(act(conv(mean of x over its spatial axes)))), both convolutions 1x1 with constant weights,
    becomes `squeeze_excite`. Refuses: another tensor in the mean than in the product, groups, strides or padding, a mean or an
    inner value that something else reads, functions that the op does not have, more than 4096 hidden values. Not part of the
    pipeline: the kernel is slower than the parts (codegen/kernels/squeeze_excite/README.md).
  }];
}
def SinkTransposes : Pass<"gpuc-sink-transposes", "::mlir::func::FuncOp"> {
  let summary = "transposes of leading axes move from before a product with one matrix to after it";
  let description = [{
    The product sees its rows as they lie in memory; the transpose after it becomes a strided write or read. Refuses permutations that move the
    summed axis, and right sides with batch axes.
    ```mlir
    %t = gpuc.transpose %x {perm = 1, 0, 2}      ==>   %p = gpuc.matmul %x, %w
    %y = gpuc.matmul %t, %w                            %y = gpuc.transpose %p {perm = 1, 0, 2}
    ```
  }];
}
def ConvertPrecision : Pass<"gpuc-convert-precision", "::mlir::func::FuncOp"> {
  let summary = "runs f32 computation in f16 or bf16";
  let description = [{
    Weights and intermediate tensors become 16-bit; inputs and outputs keep their types. Products accumulate in f32; softmax, norms, exponentials
    and reductions compute in f32 inside their kernels. Constants beyond the type's range are clamped to its largest finite number, infinities
    stay. Shape and index arithmetic, f64 and integers are left alone. An op whose values would overflow (sums of squares, pow) is kept in f32,
    with a remark, and so is what follows it up to the next product or norm; where such a value becomes f16 after arithmetic with constants
    beyond f16 (masks of -1e9), it saturates.
  }];
  let options = [Option<"type", "type", "std::string", "\"f16\"", "f16 or bf16">];
}
def AllowF16Accumulation : Pass<"gpuc-allow-f16-accumulation", "::mlir::func::FuncOp"> {
  let summary = "marks f16 products and convolutions as free to sum up a stretch of their depth in f16";
}
def AllowTf32 : Pass<"gpuc-allow-tf32", "::mlir::func::FuncOp"> {
  let summary = "marks f32 products, convolutions and attention as free to round operands to tf32";
}

//===--- kernels: one op per launch ------------------------------------------------------------------------------===//

def FormKernels : Pass<"gpuc-form-kernels", "::mlir::func::FuncOp"> {
  let summary = "groups core ops into gpuc.kernel regions, one launch each";
  let description = [{
    Pointwise ops join the kernel that produces one of their operands (epilogue), else the one that consumes them where its family
    has a prologue, else each other; small producers are computed where they are read. Views cost nothing: they are copied into every reader.
    A view that a reader needs in memory is written by the kernel before it, else copied (with a missed remark). Refuses fusions that would make
    a cycle, change an iteration space by broadcasting, read two elements of a root at once, or need more operands than a kernel may have.
  }];
}
def AssignLayouts : Pass<"gpuc-assign-layouts", "::mlir::func::FuncOp"> {
  let summary = "channels-last storage around convolutions and pooling, with as few copies as possible";
  let description = [{
    Only `storage` changes, never a shape. Arguments and results of the function stay row-major. A copy is inserted where a reader can't follow
    the strides, with a remark.
  }];
}
def ElideConcats : Pass<"gpuc-elide-concats", "::mlir::func::FuncOp"> {
  let summary = "lets producers write straight into the storage of a concatenation";
  let description = [{
    Marks a concat outside kernels as `elided` when every operand is a kernel's result that no other concat owns and lies at a
    16-byte boundary; the others become kernels that copy.
  }];
}
def FoldNormalization : Pass<"gpuc-fold-normalization", "::mlir::func::FuncOp"> {
  let summary = "folds layer norms and RMS norms into the products around them";
  let description = [{
    For a norm kernel between products: the producer also yields `row_moments`, products that read the norm multiply the
    un-normalised rows by weights with the scale folded in and finish with `row_statistics` in their epilogue, epilogues that add the
    norm apply it there (docs/adr/0006). Only kernels marked `gpuc.row_state` take part: code generation marks those whose chosen
    variant can write moments and keep statistics per row. Refuses, keeping the norm as it is: a norm with other ops in its kernel, over
    more than the last axis, or with scale or bias that are no constants; a producer that is no product or has another layout; any
    reader that is no product or reads the norm otherwise. The marks are removed.
  }];
}

//===--- memory: one arena ----------------------------------------------------------------------------------------===//

def PlanMemory : Pass<"gpuc-plan-memory", "::mlir::func::FuncOp"> {
  let summary = "gives every kernel result an offset in one arena";
  let description = [{
    Greedy by size, first fit at the lowest free offset, on lifetimes in program order (as in Pisarchyk & Lee, "Efficient memory
    management for deep neural net inference", 2020). A pointwise kernel may overwrite an operand that dies there. Results returned by the function live
    in the caller's buffers. Sets `gpuc.arena_bytes` and `gpuc.arena_lower_bound` (the largest sum of live bytes) on the function.
  }];
}
def VerifyPhase : Pass<"gpuc-verify-phase", "::mlir::func::FuncOp"> {
  let summary = "checks the invariant of a phase";
  let description = [{
    import, graph: only core ops and constants, static shapes. kernels: only kernels, constants, elided concats and reshapes of row-major
    values. memory: besides, every kernel result has an offset or is returned, and no two live values overlap.
  }];
  let options = [Option<"phase", "phase", "std::string", "\"graph\"", "import, graph, kernels or memory">];
}
#endif

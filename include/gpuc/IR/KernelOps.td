// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants, and the regions that become one launch each.
#ifndef GPUC_IR_KERNELOPS
#define GPUC_IR_KERNELOPS
include "gpuc/IR/GpucBase.td"

def Gpuc_ConstantOp : Gpuc_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "y"]>]> {
  let summary = "a constant tensor";
  let description = [{
    Small values are `dense` attributes, large ones `dense_resource` blobs (raw row-major bytes; bool one byte per element).
    gpuc/IR/Constants.h reads both. constant_c1: the value is one of these, and a resource holds exactly the type's bytes.
    ```mlir
    %c = gpuc.constant dense<[1, 2, 3]> : tensor<3xi64>
    ```
  }];
  let arguments = (ins ElementsAttrInterface:$value);
  let results = (outs Gpuc_StorageTensor:$y);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Gpuc_KernelOp : Gpuc_Op<"kernel", [IsolatedFromAbove, Pure, SingleBlock, RecursiveMemoryEffects]> {
  let summary = "one launch: core ops fused into a kernel of a family";
  let description = [{
    The region takes one argument per operand, of the operand's type, and yields one value per result. `family` names the folder of
    codegen/kernels that emits it; `config` holds the chosen variant's parameters (absent until SelectVariants). `storage` has one list of element
    strides per result (empty list = row-major); `offsets` has the arena offset in bytes of each result (after PlanMemory).
    kernel_c1: argument types equal operand types. kernel_c2: yielded types equal result types. kernel_c3: at most one root op.
    kernel_c4: the region holds core ops only. kernel_c5: `storage` and `offsets` have one entry per result, a list one stride per axis.
    kernel_c6: a result whose elements are narrower than a byte is row-major.
    ```mlir
    %y = gpuc.kernel "pointwise" (%a = %x : tensor<3xf32>) -> tensor<3xf32> {
      %0 = gpuc.unary exp %a : tensor<3xf32> -> tensor<3xf32>
      gpuc.yield %0 : tensor<3xf32>
    }
    ```
  }];
  let arguments = (ins Variadic<Gpuc_StorageTensor>:$inputs, StrAttr:$family, OptionalAttr<DictionaryAttr>:$config,
                       OptionalAttr<ArrayAttr>:$storage, OptionalAttr<DenseI64ArrayAttr>:$offsets);
  let results = (outs Variadic<Gpuc_StorageTensor>:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Element strides of result i: the `storage` entry, or row-major.
    ::llvm::SmallVector<int64_t> getStorageStrides(unsigned i);
    void setStorageStrides(unsigned i, ::llvm::ArrayRef<int64_t> strides);
    /// The op the kernel is about: the only matmul, conv, reduce, … of the region; null for pointwise and movement kernels.
    ::mlir::Operation *getRoot();
    ::mlir::Operation *getYield() { return getBody().front().getTerminator(); }
  }];
}
def Gpuc_YieldOp : Gpuc_Op<"yield", [Pure, Terminator, ParentOneOf<["KernelOp"]>]> {
  let summary = "the results of a kernel region";
  let description = [{ See gpuc.kernel. }];
  let arguments = (ins Variadic<Gpuc_StorageTensor>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}
#endif

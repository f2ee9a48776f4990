// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gpuc dialect: its attributes and the base classes of its ops.
#ifndef GPUC_IR_GPUCBASE
#define GPUC_IR_GPUCBASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Gpuc_Dialect : Dialect {
  let name = "gpuc";
  let cppNamespace = "::gpuc";
  let summary = "core tensor ops of the gpuc compiler, and the kernels they are fused into";
  let description = [{
    Value-semantics ops on statically shaped tensors. Where an ONNX op of the same name exists, the semantics are those
    of its newest version. Axes are non-negative, permutations and pads are complete: there is one way to say a thing.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

// Kinds are enums of gpuc/Support/OpKinds.h; printed as a bare keyword.
class Gpuc_KindAttr<string cxx, string irName> : AttrDef<Gpuc_Dialect, cxx> {
  let mnemonic = irName;
  let summary = "a " # cxx;
  let parameters = (ins "::gpuc::" # cxx:$value);
  let assemblyFormat = "$value";
  // An attribute stands for its enum: op.getKind() == UnaryKind::Exp.
  let extraClassDeclaration = "operator ::gpuc::" # cxx # "() const { return getValue(); }";
}
def Gpuc_UnaryKindAttr : Gpuc_KindAttr<"UnaryKind", "unary_kind">;
def Gpuc_BinaryKindAttr : Gpuc_KindAttr<"BinaryKind", "binary_kind">;
def Gpuc_ReduceKindAttr : Gpuc_KindAttr<"ReduceKind", "reduce_kind">;
def Gpuc_PadModeAttr : Gpuc_KindAttr<"PadMode", "pad_mode">;
def Gpuc_ScatterReductionAttr : Gpuc_KindAttr<"ScatterReduction", "scatter_reduction">;
def Gpuc_ResizeModeAttr : Gpuc_KindAttr<"ResizeMode", "resize_mode">;
def Gpuc_CoordinateModeAttr : Gpuc_KindAttr<"CoordinateMode", "coordinate_mode">;
def Gpuc_NearestModeAttr : Gpuc_KindAttr<"NearestMode", "nearest_mode">;
def Gpuc_RoundModeAttr : Gpuc_KindAttr<"RoundMode", "round_mode"> {
  let constBuilderCall = "::gpuc::RoundModeAttr::get($_builder.getContext(), $0)";
}

// Element types that ops compute with; bool is i1.
def Gpuc_Element : AnyTypeOf<[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64]>;
// Storage types of quantised data besides: they are constants, arguments, results, and are moved and cast.
def Gpuc_StorageElement : AnyTypeOf<[Gpuc_Element, I<2>, I<4>, UI<2>, UI<4>, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ,
                                     F4E2M1FN, F8E8M0FNU]>;
def Gpuc_Tensor : StaticShapeTensorOf<[Gpuc_Element]>;
def Gpuc_StorageTensor : StaticShapeTensorOf<[Gpuc_StorageElement]>;
def Gpuc_BoolTensor : StaticShapeTensorOf<[I1]>;
def Gpuc_IndexTensor : StaticShapeTensorOf<[I32, I64]>;
def Gpuc_FloatTensor : StaticShapeTensorOf<[F16, BF16, F32, F64]>;

class Gpuc_Op<string mnemonic, list<Trait> traits = []> : Op<Gpuc_Dialect, mnemonic, traits>;
// Result types follow from operands and attributes (ir/ShapeRules).
class Gpuc_InferredOp<string mnemonic, list<Trait> traits = []>
    : Gpuc_Op<mnemonic, !listconcat([Pure, InferTypeOpAdaptor], traits)>;
// The result type is given; verify() checks it against operands and attributes.
class Gpuc_TypedOp<string mnemonic, list<Trait> traits = []> : Gpuc_Op<mnemonic, !listconcat([Pure], traits)> {
  let hasVerifier = 1;
}

#endif

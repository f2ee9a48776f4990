// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The gpuc dialect in C++: attributes and all op families. Include a family's header alone where that is
// enough.
#pragma once
#include "gpuc/IR/Attributes.h"
#include "gpuc/IR/Dialect.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#define GET_OP_CLASSES
#include "gpuc/IR/PointwiseOps.h.inc"
#define GET_OP_CLASSES
#include "gpuc/IR/MovementOps.h.inc"
#define GET_OP_CLASSES
#include "gpuc/IR/IndexingOps.h.inc"
#define GET_OP_CLASSES
#include "gpuc/IR/ReductionOps.h.inc"
#define GET_OP_CLASSES
#include "gpuc/IR/NormalizationOps.h.inc"
#define GET_OP_CLASSES
#include "gpuc/IR/ContractionOps.h.inc"
#define GET_OP_CLASSES
#include "gpuc/IR/KernelOps.h.inc"

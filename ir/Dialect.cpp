// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registration of the gpuc dialect: its ops, attributes, and how folded values become ops.
#include "gpuc/IR/Dialect.h"
#include "gpuc/IR/Ops.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "gpuc/IR/GpucDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "gpuc/IR/GpucAttributes.cpp.inc"

namespace gpuc {

void GpucDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "gpuc/IR/GpucAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "gpuc/IR/PointwiseOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "gpuc/IR/MovementOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "gpuc/IR/IndexingOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "gpuc/IR/ReductionOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "gpuc/IR/NormalizationOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "gpuc/IR/ContractionOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "gpuc/IR/KernelOps.cpp.inc"
      >();
}

Operation *GpucDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type)
    return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

} // namespace gpuc

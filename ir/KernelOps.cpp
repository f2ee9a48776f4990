// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// gpuc.constant, gpuc.kernel and gpuc.yield: syntax, verification and the storage attribute.
//   gpuc.kernel "family" (%a = %x : type, …) -> type, … attributes {…} { … }
#include "Infer.h"
#include "gpuc/IR/OpClasses.h"
#include "gpuc/IR/Ops.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "gpuc/IR/KernelOps.cpp.inc"

namespace gpuc {

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===--- kernel: syntax
//-------------------------------------------------------------------------------------------===//

static ParseResult parseResultTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  if (parser.parseArrow())
    return failure();
  if (succeeded(parser.parseOptionalLParen()))
    return parser.parseRParen();
  return parser.parseTypeList(types);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  StringAttr family;
  if (parser.parseAttribute(family, parser.getBuilder().getNoneType(), "family", result.attributes))
    return failure();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> operandTypes;
  SMLoc operandsAt = parser.getCurrentLocation();
  auto parseOperand = [&]() -> ParseResult {
    OpAsmParser::Argument &argument = arguments.emplace_back();
    return failure(parser.parseArgument(argument) || parser.parseEqual() ||
                   parser.parseOperand(operands.emplace_back()) || parser.parseColonType(argument.type));
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Paren, parseOperand) ||
      parseResultTypes(parser, result.types))
    return failure();
  for (const OpAsmParser::Argument &argument : arguments)
    operandTypes.push_back(argument.type);
  SMLoc attributesAt = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) ||
      failed(verifyInherentAttrs(result.name, result.attributes,
                                 [&] { return parser.emitError(attributesAt); })) ||
      parser.resolveOperands(operands, operandTypes, operandsAt, result.operands))
    return failure();
  return parser.parseRegion(*result.addRegion(), arguments);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printAttributeWithoutType(getFamilyAttr());
  printer << " (";
  Block &block = getBody().front();
  unsigned shown = std::min<unsigned>(block.getNumArguments(), getNumOperands());
  for (unsigned i = 0; i < shown; ++i)
    printer << (i ? ", " : "") << block.getArgument(i) << " = " << getOperand(i) << " : "
            << getOperand(i).getType();
  printer << ") -> ";
  if (getNumResults() == 0)
    printer << "()";
  llvm::interleaveComma(getResultTypes(), printer);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"family"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/true);
}

//===--- kernel: verification
//-------------------------------------------------------------------------------------===//

static LogicalResult verifyStorage(KernelOp kernel) {
  if (auto offsets = kernel.getOffsets(); offsets && offsets->size() != kernel.getNumResults())
    return kernel.emitError() << "kernel_c5: offsets must have one entry per result ("
                              << kernel.getNumResults() << "), got " << offsets->size();
  ArrayAttr storage = kernel.getStorageAttr();
  if (!storage)
    return success();
  if (storage.size() != kernel.getNumResults())
    return kernel.emitError() << "kernel_c5: storage must have one list per result ("
                              << kernel.getNumResults() << "), got " << storage.size();
  for (auto [i, entry] : llvm::enumerate(storage)) {
    auto list = dyn_cast<ArrayAttr>(entry);
    size_t rank = shapeOf(kernel.getResult(i)).size();
    bool valid = list && (list.empty() || list.size() == rank);
    for (size_t d = 0; valid && d < list.size(); ++d) {
      auto stride = dyn_cast<IntegerAttr>(list[d]);
      valid = stride && stride.getType().isSignlessInteger(64) && stride.getInt() >= 0;
    }
    if (!valid)
      return kernel.emitError() << "kernel_c5: storage of result " << i << " must be empty or have " << rank
                                << " non-negative i64 strides, got " << entry;
    Value result = kernel.getResult(i);
    if (bitWidth(dtypeOf(result)) < 8 &&
        kernel.getStorageStrides(i) != ArrayRef<int64_t>(rowMajorStrides(shapeOf(result))))
      return kernel.emitError() << "kernel_c6: result " << i << " of type " << elementTypeOf(result)
                                << " must be row-major, got strides " << entry;
  }
  return success();
}

LogicalResult KernelOp::verify() {
  Block &block = getBody().front();
  if (block.getNumArguments() != getNumOperands())
    return emitError() << "kernel_c1: the region must have one argument per operand (" << getNumOperands()
                       << "), got " << block.getNumArguments();
  for (auto [i, argument, operand] : llvm::enumerate(block.getArguments(), getOperands()))
    if (argument.getType() != operand.getType())
      return emitError() << "kernel_c1: argument " << i << " has type " << argument.getType()
                         << ", operand has " << operand.getType();
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield)
    return emitError() << "kernel_c2: the region must end with gpuc.yield";
  if (yield.getNumOperands() != getNumResults())
    return emitError() << "kernel_c2: the region must yield one value per result (" << getNumResults()
                       << "), got " << yield.getNumOperands();
  for (auto [i, value, result] : llvm::enumerate(yield.getOperands(), getResults()))
    if (value.getType() != result.getType())
      return emitError() << "kernel_c2: yielded value " << i << " has type " << value.getType()
                         << ", result has " << result.getType();
  Operation *root = nullptr;
  for (Operation &op : block) {
    if (!isa_and_nonnull<GpucDialect>(op.getDialect()) || isa<KernelOp>(op))
      return emitError() << "kernel_c4: the region must hold core ops only, got '" << op.getName() << "'";
    if (!isRootOp(&op))
      continue;
    if (root)
      return emitError() << "kernel_c3: expected at most one root op, got '" << root->getName() << "' and '"
                         << op.getName() << "'";
    root = &op;
  }
  return verifyStorage(*this);
}

//===--- kernel: accessors
//----------------------------------------------------------------------------------------===//

SmallVector<int64_t> KernelOp::getStorageStrides(unsigned i) {
  if (ArrayAttr storage = getStorageAttr())
    if (auto list = cast<ArrayAttr>(storage[i]); !list.empty())
      return llvm::map_to_vector(list.getAsRange<IntegerAttr>(),
                                 [](IntegerAttr stride) { return stride.getInt(); });
  return rowMajorStrides(shapeOf(getResult(i)));
}

void KernelOp::setStorageStrides(unsigned i, ArrayRef<int64_t> strides) {
  Builder builder(getContext());
  SmallVector<Attribute> lists(getNumResults(), builder.getArrayAttr({}));
  if (ArrayAttr storage = getStorageAttr())
    lists.assign(storage.begin(), storage.end());
  bool rowMajor = strides.empty() || strides == ArrayRef<int64_t>(rowMajorStrides(shapeOf(getResult(i))));
  lists[i] = rowMajor ? builder.getArrayAttr({}) : builder.getI64ArrayAttr(strides);
  if (llvm::all_of(lists, [](Attribute list) { return cast<ArrayAttr>(list).empty(); }))
    removeStorageAttr();
  else
    setStorageAttr(builder.getArrayAttr(lists));
}

Operation *KernelOp::getRoot() {
  for (Operation &op : getBody().front())
    if (isRootOp(&op))
      return &op;
  return nullptr;
}

} // namespace gpuc

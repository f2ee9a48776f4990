// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads, pointwise ops and constants of ExprEmitter; movement ops are in EmitMovement.cpp.
#include "ExprEmitterImpl.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>
#include <utility>

using namespace mlir;

namespace gpuc {
using emit::Index;
using emit::Range;

namespace {

unsigned elementBytes(Type t) { return std::max(1u, t.getIntOrFloatBitWidth() / 8); }

/// Unary functions that take alpha, and beta.
unsigned numParameters(UnaryKind k) {
  switch (k) {
  case UnaryKind::LeakyRelu:
  case UnaryKind::Elu:
  case UnaryKind::Celu:
  case UnaryKind::ThresholdedRelu:
    return 1;
  case UnaryKind::HardSigmoid:
  case UnaryKind::Selu:
  case UnaryKind::IsInf:
    return 2;
  default:
    return 0;
  }
}

/// The function that encodes a cast's result: "encode<f8e8m0, true, RoundMode::Down>".
std::string encodingCall(CastOp op) {
  std::string s = "encode<" + storageTypeName(elementTypeOf(op.getY()));
  if (isa<FloatType>(elementTypeOf(op.getY())))
    s += op.getSaturate() ? ", true" : ", false";
  if (isa<Float8E8M0FNUType>(elementTypeOf(op.getY()))) {
    RoundMode round = op.getRound();
    s += round == RoundMode::Up     ? ", RoundMode::Up"
         : round == RoundMode::Down ? ", RoundMode::Down"
                                    : ", RoundMode::Nearest";
  }
  return s + ">";
}

std::string join(ArrayRef<std::string> parts) {
  std::string s;
  for (const std::string &p : parts)
    s += (s.empty() ? "" : ", ") + p;
  return s;
}

} // namespace

bool Coord::isConstant() const {
  int64_t v;
  return lane == 0 && !perLane && !StringRef(base).getAsInteger(10, v);
}

//===--- coordinates
//---------------------------------------------------------------------------------------------===//

Index ExprEmitter::Impl::coordinate(const Coord &c, int64_t extent) {
  int64_t v;
  Index base;
  if (!StringRef(c.base).getAsInteger(10, v)) {
    base = Index(v);
  } else {
    int64_t lanes = c.lane > 0 ? c.lane * (int64_t(context.lanes()) - 1) : 0;
    base = context.variable(c.base, {0, std::max<int64_t>(extent - 1 - lanes, 0)}, c.multipleOf, c.perLane);
  }
  return context.add(base, context.laneNumber(c.lane));
}

std::string ExprEmitter::Impl::atomText(unsigned id) {
  if (auto it = atomTexts.find(id); it != atomTexts.end())
    return it->second;
  emit::Atom atom = context.atom(id);
  std::string text;
  if (atom.kind == emit::Atom::Variable) {
    bool plain =
        llvm::all_of(atom.text, [](char c) { return isalnum(static_cast<unsigned char>(c)) || c == '_'; });
    return atomTexts[id] = plain ? atom.text : "(" + atom.text + ")";
  }
  const char *type = indexType == "i64" ? "i64" : "i32", *unsignedType = indexType == "i64" ? "u64" : "u32";
  const char *suffix = indexType == "i64" ? "ull" : "u";
  if (atom.kind == emit::Atom::Refined) {
    text = print(atom.operand);
  } else {
    Index operand = atom.operand;
    int64_t divisor = atom.divisor;
    // (X / a) / b is X / ab: one division that waits for nothing.
    while (atom.kind == emit::Atom::Div && operand.terms.size() == 1 && operand.constant == 0 &&
           operand.lane == 0 && operand.terms[0].second == 1 &&
           context.atom(operand.terms[0].first).kind == emit::Atom::Div) {
      emit::Atom inner = context.atom(operand.terms[0].first);
      divisor *= inner.divisor;
      operand = inner.operand;
    }
    text = std::string(type) + "(" + unsignedType + "(" + print(operand) + ")" +
           (atom.kind == emit::Atom::Div ? " / " : " % ") + std::to_string(divisor) + suffix + ")";
  }
  return atomTexts[id] = define(type, text, atom.perLane, "at").text;
}

std::string ExprEmitter::Impl::print(const Index &index) {
  std::string s;
  auto append = [&](const std::string &what, int64_t coefficient) {
    if (s.empty())
      s = coefficient < 0 ? "-" : "";
    else
      s += coefficient < 0 ? " - " : " + ";
    s += what;
    if (std::abs(coefficient) != 1)
      s += " * " + intLiteral(std::abs(coefficient));
  };
  for (auto [atom, coefficient] : index.terms)
    append(atomText(atom), coefficient);
  if (index.lane != 0)
    append("lane", index.lane);
  if (index.constant != 0 || s.empty())
    s += s.empty() ? intLiteral(index.constant)
                   : (index.constant < 0 ? " - " : " + ") + intLiteral(std::abs(index.constant));
  return s;
}

ExprEmitter::Impl::Scalar ExprEmitter::Impl::define(StringRef type, const std::string &expression,
                                                    bool perLane, StringRef prefix) {
  perLane = perLane && context.lanes() > 1;
  std::string name = prefix.str() + std::to_string(counter++);
  (perLane ? laneBody : hoisted) += ("const " + type + " " + name + " = " + expression + ";\n").str();
  return {name, perLane};
}

void ExprEmitter::Impl::fail(Operation *op, const Twine &why) {
  if (!failed && !quiet)
    op->emitError(why);
  failed = true;
}

ExprEmitter::Impl::Coords ExprEmitter::Impl::broadcast(ArrayRef<Index> coords, ArrayRef<int64_t> shape) {
  Coords result(shape.size());
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1)
      result[d] = coords[coords.size() - shape.size() + d];
  return result;
}

int64_t ExprEmitter::Impl::vectorWidth(const BufferAccess &access, const Index &base) {
  int64_t width = std::gcd<int64_t>(context.granularity(base), context.lanes()), bits = access.elementBits;
  while (width > 1 && (width * bits > 128 || width * bits > access.alignment * 8))
    width /= 2;
  return width * bits % 8 == 0 ? width : 1;
}

//===--- loads
//---------------------------------------------------------------------------------------------------===//

std::string ExprEmitter::Impl::load(BlockArgument argument, const BufferAccess &access, const Index &offset,
                                    bool &perLane) {
  if (argument) {
    if (auto it = boundLoads.find(loadKey(argument, offset)); it != boundLoads.end()) {
      perLane = context.lanes() > 1;
      return it->second;
    }
    loads.push_back({argument, offset, !guards.empty()});
  }
  std::string guard;
  bool guardPerLane = false;
  for (const Scalar &g : guards) {
    guard += (guard.empty() ? "" : " && ") + g.text;
    guardPerLane |= g.perLane;
  }
  unsigned lanes = context.lanes();
  bool atomsPerLane =
      llvm::any_of(offset.terms, [&](auto &t) { return context.atom(t.first).perLane; }) || guardPerLane;
  const std::string &type = access.elementType;
  if (lanes > 1 && offset.lane == 1 && !atomsPerLane) {
    // Consecutive elements: the widest aligned vectors.
    Index base = offset;
    base.lane = 0;
    int64_t multiple = vectorWidth(access, base);
    bool packed = access.elementBits < 8;
    if (!packed || multiple * access.elementBits >= 8) {
      std::string name = "ld" + std::to_string(counter++);
      std::string function = packed
                                 ? "ldPackedLanes<" + std::to_string(multiple * access.elementBits / 8) + ">"
                                 : std::string("ldLanes") + (access.readOnlyConstant ? "Nc" : "") + "<" +
                                       std::to_string(multiple) + ">";
      std::string address = access.pointer + (packed ? ", " : " + (") + print(base) + (packed ? "" : ")");
      std::string statement = type + " " + name + "[" + std::to_string(lanes) + "];\n";
      if (splitLoads && guard.empty()) {
        loadMembers += statement;
        loadStatements += function + "(loads." + name + ", " + address + ");\n";
        perLane = true;
        return "loads." + name + "[lane]";
      }
      statement += function + "(" + name + ", " + address + (guard.empty() ? "" : ", " + guard) + ");\n";
      hoisted += statement;
      perLane = true;
      return name + "[lane]";
    }
  }
  perLane = lanes > 1 && (offset.lane != 0 || atomsPerLane);
  std::string element;
  if (access.elementBits < 8)
    element = std::string(access.readOnlyConstant ? "ldPackedNc<" : "ldPacked<") + type + ">(" +
              access.pointer + ", " + print(offset) + ")";
  else
    element = access.readOnlyConstant ? "ldElementNc(" + access.pointer + " + (" + print(offset) + "))"
                                      : access.pointer + "[" + print(offset) + "]";
  if (!guard.empty())
    element = guard + " ? " + element + " : " + type + "{}";
  return define(type, element, perLane, "ld").text;
}

std::string ExprEmitter::Impl::storeStatement(const BufferAccess &access, const Index &offset,
                                              const std::string &array, std::string &laneStores) {
  if (context.lanes() == 1) {
    if (access.elementBits < 8)
      return "stPackedNext(" + access.pointer + ", " + print(offset) + ", " + array + ");\n";
    return access.pointer + "[" + print(offset) + "] = " + array + ";\n";
  }
  Index base = offset;
  base.lane = 0;
  if (access.elementBits < 8) {
    int64_t bytes = vectorWidth(access, base) * access.elementBits / 8;
    if (offset.lane != 1 || context.isPerLane(base) || bytes == 0) {
      fail(kernel, "a thread must write whole bytes of a result of type " + access.elementType);
      return "";
    }
    return "stPackedLanes<" + std::to_string(bytes) + ">(" + access.pointer + ", " + print(base) + ", " +
           array + ");\n";
  }
  if (offset.lane == 1 && !context.isPerLane(base))
    return "stLanes<" + std::to_string(vectorWidth(access, base)) + ">(" + access.pointer + " + (" +
           print(base) + "), " + array + ");\n";
  laneStores += access.pointer + "[" + print(offset) + "] = " + array + "[lane];\n";
  return "";
}

//===--- values
//--------------------------------------------------------------------------------------------------===//

ExprEmitter::Impl::Scalar ExprEmitter::Impl::emit(Value value, ArrayRef<Index> coords) {
  if (failed)
    return {"0"};
  std::string coordKey;
  for (const Index &c : coords)
    coordKey += context.key(c) + "|";
  if (auto it = bound.find(value); it != bound.end()) {
    if (!it->second.key.empty() && it->second.key != coordKey) {
      Operation *op = value.getDefiningOp();
      fail(op ? op : kernel.getOperation(),
           "the kernel reads its root's result at other coordinates than it writes");
    }
    return {it->second.name, context.lanes() > 1};
  }
  std::string key = std::to_string(reinterpret_cast<uintptr_t>(value.getAsOpaquePointer())) + "|" + coordKey +
                    guardKey + (raw ? "raw" : "");
  if (auto it = memo.find(key); it != memo.end())
    return it->second;
  Scalar result;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto it = accesses.find(value);
    if (it == accesses.end()) {
      fail(kernel, "no access to argument " + Twine(argument.getArgNumber()));
      return {"0"};
    }
    bool perLane = false;
    std::string element = load(argument, it->second, offset(it->second, coords), perLane);
    std::string type = valueTypeName(elementTypeOf(value));
    result = type == it->second.elementType
                 ? Scalar{element, perLane}
                 : define(type, decodeText(elementTypeOf(value), element), perLane);
  } else {
    result = emitOp(value.getDefiningOp(), value, coords);
  }
  memo[key] = result;
  return result;
}

ExprEmitter::Impl::Scalar ExprEmitter::Impl::operand(Value value, Value operandValue,
                                                     ArrayRef<Index> coords) {
  auto from = forwardSource.find(value);
  if (from != forwardSource.end() && from->second == operandValue) {
    auto here = forward.find(value), there = forward.find(operandValue);
    if (here != forward.end() && there != forward.end() && ArrayRef<Index>(here->second) == coords) {
      Coords known = there->second;
      return emit(operandValue, known);
    }
  }
  return emit(operandValue, broadcast(coords, shapeOf(operandValue)));
}

/// Functions of 16-bit tensors have cheaper forms (common/half_math.cuh).
static std::string functionPrefix(UnaryKind kind, Type element) {
  bool cheap = kind == UnaryKind::Gelu || kind == UnaryKind::GeluTanh || kind == UnaryKind::Silu ||
               kind == UnaryKind::Sigmoid;
  return cheap && (element.isF16() || element.isBF16()) ? "unary16_" : "unary_";
}

ExprEmitter::Impl::Scalar ExprEmitter::Impl::emitOp(Operation *op, Value value, ArrayRef<Index> coords) {
  std::string type = computeTypeName(elementTypeOf(value));
  if (auto unary = dyn_cast<UnaryOp>(op)) {
    Scalar x = operand(value, unary.getX(), coords);
    UnaryKind kind = unary.getKind();
    Type element = elementTypeOf(unary.getX());
    std::string call = functionPrefix(kind, element) + std::string(name(kind)) + "(" + x.text;
    double parameters[] = {unary.getAlpha().convertToDouble(), unary.getBeta().convertToDouble()};
    for (unsigned i = 0; i < numParameters(kind); ++i)
      call += ", " + realLiteral(element, parameters[i]);
    return define(type, call + ")", x.perLane);
  }
  if (auto binary = dyn_cast<BinaryOp>(op)) {
    Scalar x = operand(value, binary.getX(), coords), y = operand(value, binary.getY(), coords);
    return define(type, "binary_" + std::string(name(binary.getKind())) + "(" + x.text + ", " + y.text + ")",
                  x.perLane || y.perLane);
  }
  if (auto select = dyn_cast<SelectOp>(op)) {
    Scalar c = operand(value, select.getCondition(), coords), x = operand(value, select.getX(), coords),
           y = operand(value, select.getY(), coords);
    return define(type, c.text + " ? " + x.text + " : " + y.text, c.perLane || x.perLane || y.perLane);
  }
  if (auto cast = dyn_cast<CastOp>(op))
    return emitCast(cast, coords);
  if (auto constant = dyn_cast<ConstantOp>(op))
    return emitConstant(constant, coords);
  if (auto statistics = dyn_cast<RowStatisticsOp>(op))
    return emitRowStatistics(statistics, value, coords);
  llvm::SmallVector<Index> operandCoords;
  if (auto from = forwardSource.find(value); from != forwardSource.end() && op->getNumOperands() == 1)
    return operand(value, op->getOperand(0), coords);
  if (mapThroughView(op, context, coords, operandCoords))
    return emit(op->getOperand(0), operandCoords);
  Scalar result;
  if (emitMovement(op, coords, result))
    return result;
  fail(op, "'" + op->getName().getStringRef() + "' can't be computed element by element");
  return {"0"};
}

/// The operand's value goes through its storage type when that is narrower than its compute type, so that a
/// chain of casts rounds as often as it says.
ExprEmitter::Impl::Scalar ExprEmitter::Impl::emitCast(CastOp op, ArrayRef<Index> coords) {
  Type element = elementTypeOf(op.getY());
  Scalar stored = emitStored(op.getY(), coords);
  std::string type = computeTypeName(element);
  if (raw || storageTypeName(element) == type)
    return stored;
  return define(type, decodeText(element, stored.text), stored.perLane);
}

ExprEmitter::Impl::Scalar ExprEmitter::Impl::emitStored(Value value, ArrayRef<Index> coords) {
  std::string storage = storageTypeName(elementTypeOf(value));
  Operation *op = value.getDefiningOp();
  if (auto cast = dyn_cast_or_null<CastOp>(op); cast && !bound.contains(value)) {
    Type from = elementTypeOf(cast.getX()), to = elementTypeOf(value);
    bool same = from == to && isStorageType(to); // then every code stays as it is
    bool outer = std::exchange(raw, same);
    Scalar x = operand(value, cast.getX(), coords);
    raw = outer;
    if (same)
      return x;
    std::string text = x.text;
    if ((from.isF16() || from.isBF16()) && (!isa<FloatType>(to) || isStorageType(to)))
      text = "cast<" + storageTypeName(from) + ">(" + text + ")";
    // bool8 is a byte, so a conversion to it goes through bool.
    if (to.isInteger(1))
      text = "cast<bool>(" + text + ")";
    else if (isStorageType(to))
      text = encodingCall(cast) + "(" + text + ")";
    else
      text = "cast<" + storage + ">(" + text + ")";
    return define(elementTypeOf(value).isInteger(1) ? StringRef("bool") : StringRef(storage), text,
                  x.perLane);
  }
  if (storage != computeTypeName(elementTypeOf(value)) && isMoved(value)) {
    bool outer = std::exchange(raw, true); // copied as it is
    Scalar moved = emit(value, coords);
    raw = outer;
    return moved;
  }
  Scalar x = emit(value, coords);
  if (storage == computeTypeName(elementTypeOf(value)))
    return x;
  return {encodeText(elementTypeOf(value), x.text), x.perLane};
}

bool ExprEmitter::Impl::isMoved(Value value) {
  if (bound.contains(value))
    return false;
  Operation *op = value.getDefiningOp();
  if (!op || isa<ConstantOp>(op) || (isa<CastOp>(op) && isStorageType(elementTypeOf(value))))
    return true;
  if (isa<TransposeOp, ReshapeOp, ExpandOp, SliceOp, TileOp, TriluOp, GatherOp, GatherElementsOp, GatherNdOp>(
          op))
    return isMoved(op->getOperand(0));
  if (auto resize = dyn_cast<ResizeOp>(op))
    return resize.getMode() == ResizeMode::Nearest && isMoved(resize.getX());
  return isa<ConcatOp, PadOp>(op) && llvm::all_of(op->getOperands(), [&](Value v) { return isMoved(v); });
}

ExprEmitter::Impl::Scalar ExprEmitter::Impl::emitConstant(ConstantOp op, ArrayRef<Index> coords) {
  Type element = elementTypeOf(op.getY());
  auto attr = cast<ElementsAttr>(op.getValue());
  if (isStorageType(element)) {
    fail(op, "a constant of a storage type must be an operand of the kernel");
    return {"0"};
  }
  ConstantBytes data = constantBytes(attr);
  unsigned size = elementBytes(element);
  int64_t count = tensorType(op.getY()).getNumElements();
  if (count == 0)
    return {valueTypeName(element) + "{}"};
  bool splat = attr.isSplat() || count == 1;
  std::string type = valueTypeName(element);
  if (splat) {
    std::string literal = literalFromBytes(element, data.bytes.data());
    return {type == computeTypeName(element) ? literal : "cast<" + type + ">(" + literal + ")"};
  }
  BufferAccess &access = constantAccesses[op.getY()];
  if (access.pointer.empty()) {
    llvm::SmallVector<std::string> values;
    bool half = element.isF16() || element.isBF16(), bits = element.isF32() || element.isF64();
    for (int64_t i = 0; i < count; ++i) {
      const char *at = data.bytes.data() + i * size;
      uint64_t word = 0;
      memcpy(&word, at, size); // little-endian
      values.push_back(half   ? "{" + std::to_string(word) + "}"
                       : bits ? std::to_string(word) + (size == 8 ? "ull" : "u")
                              : literalFromBytes(element, at));
    }
    access.elementType = bits ? (size == 8 ? "u64" : "u32") : storageTypeName(element);
    access.elementBits = size * 8;
    access.pointer = table(access.elementType, values);
    access.strides = rowMajorStrides(shapeOf(op.getY()));
  }
  BufferAccess copy = access;
  bool perLane = false;
  std::string loaded = load(nullptr, copy, offset(copy, coords), perLane);
  if (type == copy.elementType)
    return {loaded, perLane};
  if (isa<FloatType>(element) && StringRef(copy.elementType).starts_with("u"))
    return define(type, "arch::bitCast<" + type + ">(" + loaded + ")", perLane);
  return define(type, "cast<" + type + ">(" + loaded + ")", perLane);
}

std::string ExprEmitter::Impl::table(StringRef elementType, ArrayRef<std::string> values) {
  std::string body = join(values);
  std::string &known = tableNames[(elementType + ":" + body).str()];
  if (!known.empty())
    return known;
  known = tablePrefix + std::to_string(tableNames.size() - 1);
  tables += ("alignas(16) __device__ const " + elementType + " " + known + "[" + Twine(values.size()) +
             "] = {" + body + "};\n")
                .str();
  return known;
}

//===--- public interface
//----------------------------------------------------------------------------------------===//

ExprEmitter::ExprEmitter(KernelOp kernel, unsigned lanes, StringRef indexType)
    : impl(std::make_shared<Impl>(kernel, lanes, indexType)) {}
void ExprEmitter::setAccess(BlockArgument argument, BufferAccess access) {
  impl->accesses[argument] = std::move(access);
}
void ExprEmitter::bind(Value value, StringRef name) {
  impl->bound[value] = {impl->context.lanes() > 1 ? (name + "[lane]").str() : name.str(), ""};
}
std::string ExprEmitter::emit(Value value, ArrayRef<Coord> coords) {
  Impl::Coords indices;
  for (auto [c, extent] : llvm::zip_equal(coords, shapeOf(value)))
    indices.push_back(impl->coordinate(c, extent));
  return impl->emit(value, indices).text;
}
std::string ExprEmitter::hoisted() const { return impl->hoisted; }
std::string ExprEmitter::laneBody() const { return impl->laneBody; }
std::string ExprEmitter::tables() const { return impl->tables; }
bool ExprEmitter::failed() const { return impl->failed; }

} // namespace gpuc

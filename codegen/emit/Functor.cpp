// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the prologue and epilogue structs of units.
#include "gpuc/Codegen/Functor.h"
#include "FunctorParts.h"
#include "RowState.h"
#include "UnitText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace gpuc {
using emit::Index;
using Coords = ExprEmitter::Impl::Coords;

Coords groupCoords(ExprEmitter::Impl &e, Value value, const FunctorShape &shape) {
  auto extents = shapeOf(value);
  Coords coords(extents.size());
  for (auto [g, axes] : llvm::enumerate(shape.groups)) {
    SmallVector<int64_t> groupShape;
    int64_t count = 1;
    for (unsigned axis : axes) {
      groupShape.push_back(extents[axis]);
      count *= extents[axis];
    }
    bool hasLanes = g == shape.laneGroup && e.context.lanes() > 1;
    int64_t lanes = e.context.lanes();
    Index at = hasLanes ? e.context.add(e.context.variable("g" + std::to_string(g),
                                                           {0, std::max<int64_t>(count - lanes, 0)}, lanes),
                                        e.context.laneNumber())
                        : e.context.variable("g" + std::to_string(g), {0, std::max<int64_t>(count - 1, 0)});
    for (auto [axis, c] : llvm::zip_equal(axes, e.context.delinearize(at, groupShape)))
      coords[axis] = c;
  }
  return coords;
}

void mapForward(ExprEmitter::Impl &e, KernelOp kernel) {
  auto known = [&](Value v) { return e.forward.count(v) != 0; };
  auto record = [&](Value result, Value from, Coords coords) {
    e.forward[result] = std::move(coords);
    e.forwardSource[result] = from;
  };
  auto elements = [](Value v) { return tensorType(v).getNumElements(); };
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (op.getNumResults() != 1 || known(op.getResult(0)))
      continue;
    Value result = op.getResult(0);
    for (Value operand : op.getOperands()) {
      if (!known(operand) || elements(operand) != elements(result))
        continue;
      Coords from = e.forward[operand];
      auto shape = shapeOf(result), fromShape = shapeOf(operand);
      if (auto transpose = dyn_cast<TransposeOp>(op)) {
        Coords coords;
        for (int64_t axis : transpose.getPerm())
          coords.push_back(from[axis]);
        record(result, operand, coords);
      } else if (isa<ReshapeOp, ExpandOp, UnaryOp, BinaryOp, SelectOp, CastOp>(op)) {
        if (shape == fromShape) {
          record(result, operand, from);
        } else {
          auto coords = e.context.delinearize(e.context.linearize(from, fromShape), shape);
          record(result, operand, Coords(coords.begin(), coords.end()));
        }
      } else {
        continue;
      }
      break;
    }
  }
}

namespace {

std::string keyOf(ExprEmitter::Impl &e, ArrayRef<Index> coords) {
  std::string key;
  for (const Index &c : coords)
    key += e.context.key(c) + "|";
  return key;
}

/// Members and parameters of a functor.
struct Members {
  std::string prefix; ///< "epilogue"
  std::string declarations, parameters, initialisers;
  std::vector<EmittedArg> args;
  explicit Members(StringRef name) : prefix(name.str()) { prefix[0] = char(tolower(prefix[0])); }
  /// Adds a pointer; the name it has as a member.
  std::string add(const std::string &type, const std::string &suffix, EmittedArg arg) {
    std::string member = suffix, parameter = prefix + char(toupper(suffix[0])) + suffix.substr(1);
    declarations += "  " + type + " *" + member + ";\n";
    parameters += (parameters.empty() ? "" : ", ") + type + " *" + parameter;
    initialisers += (initialisers.empty() ? "" : ", ") + parameter;
    args.push_back(arg);
    return member;
  }
};

void bindArguments(ExprEmitter &emitter, KernelOp kernel, ArrayRef<BlockArgument> arguments,
                   ArrayRef<std::string> names) {
  for (auto [argument, name] : llvm::zip_equal(arguments, names))
    emitter.setAccess(argument, argumentAccess(kernel, argument, name));
}

SmallVector<std::string> addArguments(Members &members, ArrayRef<BlockArgument> arguments) {
  SmallVector<std::string> names;
  for (BlockArgument argument : arguments) {
    EmittedArg arg;
    arg.kind = EmittedArg::Kind::Operand;
    arg.index = argument.getArgNumber();
    names.push_back(members.add("const " + memoryTypeName(elementTypeOf(argument)),
                                "in" + std::to_string(arg.index), arg));
  }
  return names;
}

std::string coordinateParameters(const FunctorShape &shape) {
  std::string s;
  for (size_t g = 0; g < shape.groups.size(); ++g)
    s += ", " + shape.indexType + " g" + std::to_string(g);
  return s;
}

/// What `store` of some lanes is made of.
struct StoreText {
  std::string body, tables;
  std::string loadMembers, loadBody; ///< of `Loads` and `load`; empty without them
};

/// `preload`: vector loads come in a struct.
FailureOr<StoreText> storeText(KernelOp kernel, ArrayRef<Value> roots, const FunctorShape &shape,
                               unsigned lanes, ArrayRef<BlockArgument> arguments, ArrayRef<std::string> names,
                               bool preload) {
  ExprEmitter emitter(kernel, lanes, shape.indexType);
  auto &e = emitter.internals();
  e.splitLoads = preload;
  e.tablePrefix = "k" + shape.name + "Table";
  bindArguments(emitter, kernel, arguments, names);
  Coords coords = groupCoords(e, roots[0], shape);
  for (auto [i, root] : llvm::enumerate(roots)) {
    std::string name = roots.size() == 1 ? "acc" : "acc" + std::to_string(i);
    e.bound[root] = {lanes > 1 ? name + "[lane]" : name + "[0]", keyOf(e, coords)};
    e.forward[root] = coords;
  }
  bindRowState(e, kernel, roots[0], shape, coords);
  mapForward(e, kernel);

  std::string arrays, stores, assignments;
  for (auto [i, result] : llvm::enumerate(kernel.getYield()->getOperands())) {
    auto moments = result.getDefiningOp<RowMomentsOp>();
    Value yielded = moments ? moments.getX() : result;
    auto at = e.forward.find(yielded);
    if (at == e.forward.end()) {
      e.fail(kernel,
             "result " + Twine(i) +
                 " does not come from the kernel's root through pointwise ops, transposes and reshapes");
      return failure();
    }
    Coords yieldCoords = at->second;
    if (moments) { // `acc` becomes the value whose moments are wanted
      assignments += (lanes > 1 ? "acc[lane] = " : "acc[0] = ") + e.emit(yielded, yieldCoords).text + ";\n";
      continue;
    }
    BufferAccess access = resultAccess(kernel, i, "out" + std::to_string(i));
    auto stored = e.emitStored(yielded, yieldCoords);
    std::string array = "r" + std::to_string(i);
    if (lanes == 1) {
      stores += e.storeStatement(access, e.offset(access, yieldCoords), stored.text, assignments);
      continue;
    }
    arrays += access.elementType + " " + array + "[" + std::to_string(lanes) + "];\n";
    assignments += array + "[lane] = " + stored.text + ";\n";
    stores += e.storeStatement(access, e.offset(access, yieldCoords), array, assignments);
  }
  if (e.failed)
    return failure();
  StoreText text;
  text.tables = e.tables;
  if (lanes == 1) {
    text.body = indentLines(e.hoisted + stores + assignments, 4);
    return text;
  }
  text.body = indentLines(e.hoisted + arrays, 4) + laneLoopText(lanes, e.laneBody + assignments, 4) +
              indentLines(stores, 4);
  if (!e.loadMembers.empty()) {
    if (StringRef(e.hoisted).contains("row.")) // addresses that may depend on what `load` has not got
      return storeText(kernel, roots, shape, lanes, arguments, names, false);
    text.loadMembers = e.loadMembers;
    text.loadBody = indentLines(e.hoisted + "Loads loads;\n" + e.loadStatements + "return loads;\n", 4);
  }
  return text;
}

FailureOr<std::string> loadBody(KernelOp kernel, Value operand, const FunctorShape &shape, unsigned lanes,
                                ArrayRef<BlockArgument> arguments, ArrayRef<std::string> names,
                                std::string &tables) {
  ExprEmitter emitter(kernel, lanes, shape.indexType);
  auto &e = emitter.internals();
  e.tablePrefix = "k" + shape.name + "Table";
  bindArguments(emitter, kernel, arguments, names);
  std::string value = e.emit(operand, groupCoords(e, operand, shape)).text;
  if (e.failed)
    return failure();
  tables = e.tables;
  if (lanes == 1)
    return indentLines(e.hoisted + "x[0] = " + value + ";\n", 4);
  return indentLines(e.hoisted, 4) + laneLoopText(lanes, e.laneBody + "x[lane] = " + value + ";\n", 4);
}

} // namespace

FailureOr<EmittedFunctor> emitEpilogue(KernelOp kernel, ArrayRef<Value> rootResults,
                                       const FunctorShape &shape) {
  SmallVector<Value> yields(kernel.getYield()->getOperands());
  auto arguments = reachedArguments(yields, rootResults);
  Members members(shape.name);
  auto names = addArguments(members, arguments);
  std::string momentsMember;
  for (auto [i, yielded] : llvm::enumerate(yields)) {
    if (isPacked(elementTypeOf(yielded))) {
      kernel.emitError() << "a kernel with a root op can't write a result of type " << elementTypeOf(yielded)
                         << ": elements that share a byte may belong to several threads";
      return failure();
    }
    EmittedArg arg;
    arg.kind = EmittedArg::Kind::Result;
    arg.index = unsigned(i);
    std::string member = members.add(storageTypeName(elementTypeOf(yielded)), "out" + std::to_string(i), arg);
    if (yielded.getDefiningOp<RowMomentsOp>())
      momentsMember = member;
  }
  RowMomentsOp moments = yieldedMoments(kernel);
  bool rows = !rowStatisticsOf(kernel).empty();
  EmittedFunctor functor;
  std::string methods, tables;
  if (moments)
    methods += momentsText(moments, shape, momentsMember);
  if (rows) {
    auto text = rowStateText(kernel, rootResults[0], shape, arguments, names, groupCoords);
    if (failed(text))
      return failure();
    methods += *text;
  }
  functor.hasRows = rows;
  functor.hasMoments = bool(moments);
  for (unsigned lanes : {shape.lanes, 1u}) {
    auto text = storeText(kernel, rootResults, shape, lanes, arguments, names, shape.preload && lanes > 1);
    if (failed(text))
      return failure();
    if (tables.empty())
      tables = text->tables;
    bool loads = !text->loadMembers.empty();
    if (loads) {
      functor.hasLoads = true;
      methods += "  struct Loads {\n" + indentLines(text->loadMembers, 4) +
                 "  };\n  GPUC_DEVICE Loads load(" + coordinateParameters(shape).substr(2) + ") const {\n" +
                 text->loadBody + "  }\n";
    }
    methods += "  GPUC_DEVICE void store(";
    for (auto [i, root] : llvm::enumerate(rootResults))
      methods += (i ? ", " : "") + std::string(moments ? "" : "const ") +
                 computeTypeName(elementTypeOf(root)) + " (&acc" +
                 (rootResults.size() == 1 ? "" : std::to_string(i)) + ")[" + std::to_string(lanes) + "]";
    methods += std::string(rows ? ", const Row &row" : "") + (loads ? ", const Loads &loads" : "") +
               coordinateParameters(shape) + ") const {\n" + text->body + "  }\n";
    if (shape.lanes == 1)
      break;
  }
  functor.text = tables + "struct " + shape.name + " {\n" + members.declarations + methods + "};\n";
  functor.parameters = members.parameters;
  functor.construct = shape.name + "{" + members.initialisers + "}";
  functor.args = members.args;
  return functor;
}

/// The coefficients of the groups' coordinates in an offset; nothing when it has other terms.
static std::optional<GroupLayout> groupLayout(ExprEmitter::Impl &e, const Index &offset,
                                              const FunctorShape &shape) {
  GroupLayout layout{offset.constant, SmallVector<int64_t>(shape.groups.size(), 0)};
  for (auto [atom, coefficient] : offset.terms) {
    const emit::Atom &a = e.context.atom(atom);
    unsigned group = 0;
    if (a.kind != emit::Atom::Variable || !StringRef(a.text).starts_with("g") ||
        StringRef(a.text).drop_front().getAsInteger(10, group) || group >= shape.groups.size())
      return std::nullopt;
    layout.strides[group] = coefficient;
  }
  // The lane's coefficient counts where the group has no further coordinate.
  if (shape.lanes > 1 && layout.strides[shape.laneGroup] == 0)
    layout.strides[shape.laneGroup] = offset.lane;
  if (shape.lanes > 1 && layout.strides[shape.laneGroup] != offset.lane)
    return std::nullopt;
  return layout;
}

std::optional<EmittedValues> emitEpilogueValues(KernelOp kernel, Value root, const FunctorShape &shape) {
  RowMomentsOp moments = yieldedMoments(kernel);
  bool rows = !rowStatisticsOf(kernel).empty();
  // Moments are the last result (passes/FoldNormalization.cpp).
  if (kernel.getNumResults() != (moments ? 2 : 1) ||
      kernel.getYield()->getOperand(0).getDefiningOp<RowMomentsOp>())
    return std::nullopt;
  Value yielded = kernel.getYield()->getOperand(0);
  Type element = elementTypeOf(yielded);
  auto arguments = reachedArguments({yielded}, {root});

  // Held operands are tried one after the other; at last none is.
  SmallVector<BlockArgument> candidates;
  for (BlockArgument argument : arguments)
    if (elementTypeOf(argument) == element &&
        tensorType(argument).getNumElements() == tensorType(root).getNumElements() &&
        shapeOf(argument) == shapeOf(root))
      candidates.push_back(argument);
  candidates.push_back(nullptr);
  for (BlockArgument held : candidates) {
    EmittedValues out;
    Members members(shape.name);
    SmallVector<BlockArgument> loaded;
    for (BlockArgument argument : arguments)
      if (argument != held)
        loaded.push_back(argument);
    auto names = addArguments(members, loaded);
    std::string methods;
    if (moments) {
      EmittedArg arg;
      arg.kind = EmittedArg::Kind::Result;
      arg.index = 1;
      methods += momentsText(moments, shape,
                             members.add(storageTypeName(elementTypeOf(moments.getY())), "out1", arg));
    }
    if (rows) {
      auto text = rowStateText(kernel, root, shape, loaded, names, groupCoords);
      if (failed(text))
        return std::nullopt;
      methods += *text;
    }
    ExprEmitter emitter(kernel, shape.lanes, shape.indexType);
    auto &e = emitter.internals();
    e.quiet = true;
    e.tablePrefix = "k" + shape.name + "Table";
    bindArguments(emitter, kernel, loaded, names);
    Coords coords = groupCoords(e, root, shape);
    StringRef lane = shape.lanes > 1 ? "[lane]" : "[0]";
    e.bound[root] = {("acc" + lane).str(), keyOf(e, coords)};
    e.forward[root] = coords;
    if (held) {
      BufferAccess access = argumentAccess(kernel, held, "held");
      e.accesses[held] = access;
      Index offset = e.offset(access, coords);
      auto layout = groupLayout(e, offset, shape);
      if (!layout)
        continue;
      e.boundLoads[e.loadKey(held, offset)] = ("held" + lane).str();
      out.heldLayout = *layout;
      out.held = held.getArgNumber();
    }
    bindRowState(e, kernel, root, shape, coords);
    mapForward(e, kernel);
    auto at = e.forward.find(yielded);
    if (at == e.forward.end())
      return std::nullopt;
    Coords yieldCoords = at->second;
    BufferAccess access = resultAccess(kernel, 0, "out");
    auto layout = groupLayout(e, e.offset(access, yieldCoords), shape);
    if (!layout)
      return std::nullopt;
    out.result = *layout;
    // A rounding at the end is left to the template: it would be done twice.
    Value last = yielded;
    if (auto cast = last.getDefiningOp<CastOp>();
        cast && computeTypeName(elementTypeOf(cast.getX())) == computeTypeName(element) &&
        elementTypeOf(cast.getX()).isF32() && e.forward.count(cast.getX()))
      last = cast.getX();
    if (moments && moments.getX() != last)
      return std::nullopt;
    std::string value = e.emit(last, e.forward[last]).text;
    if (e.failed)
      return std::nullopt;
    std::string body = e.hoisted + e.laneBody;
    bool readOtherwise = llvm::any_of(e.loads, [&](const auto &load) { return load.argument == held; });
    if (held && (readOtherwise || !StringRef(body + value).contains("held" + lane.str())))
      continue;
    body =
        indentLines(e.hoisted, 4) + laneLoopText(shape.lanes, e.laneBody + "r[lane] = " + value + ";\n", 4);
    std::string count = "[" + std::to_string(shape.lanes) + "]";
    out.functor.hasRows = rows;
    out.functor.hasMoments = bool(moments);
    out.functor.text = e.tables + "struct " + shape.name + " {\n" + members.declarations + methods +
                       "  GPUC_DEVICE void compute(const " + computeTypeName(elementTypeOf(root)) +
                       " (&acc)" + count + ", const " + storageTypeName(element) + " (&held)" + count +
                       (rows ? ", const Row &row" : "") + coordinateParameters(shape) + ", " +
                       computeTypeName(element) + " (&r)" + count + ") const {\n" + body + "  }\n};\n";
    out.functor.parameters = members.parameters;
    out.functor.construct = shape.name + "{" + members.initialisers + "}";
    out.functor.args = members.args;
    return out;
  }
  return std::nullopt;
}

FailureOr<EmittedFunctor> emitPrologue(KernelOp kernel, Value operand, const FunctorShape &shape) {
  auto arguments = reachedArguments({operand}, {});
  Members members(shape.name);
  auto names = addArguments(members, arguments);
  EmittedFunctor functor;
  std::string methods, tables;
  for (unsigned lanes : {shape.lanes, 1u}) {
    std::string own;
    auto body = loadBody(kernel, operand, shape, lanes, arguments, names, own);
    if (failed(body))
      return failure();
    if (tables.empty())
      tables = own;
    methods += "  GPUC_DEVICE void load(" + computeTypeName(elementTypeOf(operand)) + " (&x)[" +
               std::to_string(lanes) + "]" + coordinateParameters(shape) + ") const {\n" + *body + "  }\n";
    if (shape.lanes == 1)
      break;
  }
  functor.text = tables + "struct " + shape.name + " {\n" + members.declarations + methods + "};\n";
  functor.parameters = members.parameters;
  functor.construct = shape.name + "{" + members.initialisers + "}";
  functor.args = members.args;
  return functor;
}

} // namespace gpuc

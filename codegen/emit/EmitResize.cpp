// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resize in ExprEmitter: constant tap tables per axis, or a quotient when the table is one. Few taps are
// written out (their loads are then hoisted and vectorised); many, as in antialiased shrinking, become loops.
#include "ExprEmitterImpl.h"
#include "ResizeTables.h"
#include "llvm/ADT/STLExtras.h"
#include <functional>

using namespace mlir;

namespace gpuc {
using emit::Index;
using Scalar = ExprEmitter::Impl::Scalar;
using Condition = ExprEmitter::Impl::Condition;

namespace {

constexpr unsigned kMaxUnrolledTaps = 16;

/// Recognises source[x] = x / d and source[x] = m * x + o.
std::optional<Index> closedForm(emit::IndexContext &context, const ResizeAxis &axis, const Index &x) {
  int64_t step = axis.out > 1 ? axis.source[1] - axis.source[0] : 0;
  bool affine = true;
  for (int64_t i = 0; i < axis.out; ++i)
    affine &= axis.source[i] == axis.source[0] + step * i;
  if (affine)
    return context.add(context.scale(x, step), Index(axis.source[0]));
  int64_t d = llvm::find_if(axis.source, [](int64_t s) { return s != 0; }) - axis.source.begin();
  for (int64_t i = 0; i < axis.out; ++i)
    if (d == 0 || axis.source[i] != i / d)
      return std::nullopt;
  return context.divMod(x, d).first;
}

std::vector<std::string> integers(ArrayRef<int64_t> values) {
  std::vector<std::string> texts;
  for (int64_t v : values)
    texts.push_back(std::to_string(v));
  return texts;
}

} // namespace

Scalar ExprEmitter::Impl::emitResize(ResizeOp op, ArrayRef<Index> coords) {
  Type element = elementTypeOf(op.getY());
  bool isNearest = op.getMode() == ResizeMode::Nearest;
  std::string type = valueTypeName(element);
  std::string sumType = isNearest         ? type
                        : type == "float" ? "float"
                                          : "double"; // integers: as exact as double
  Type weightElement =
      sumType == "float" ? Float32Type::get(op.getContext()) : Type(Float64Type::get(op.getContext()));
  struct Resized {
    unsigned axis;
    ResizeAxis taps;
    std::string sources, weights; ///< names of tables
  };
  std::vector<Resized> resized;
  Coords inner(coords);
  Condition inside{Condition::Always, {"true"}};
  for (unsigned d = 0; d < coords.size(); ++d) {
    ResizeAxis axis = resizeAxis(op, d);
    if (axis.identity || axis.out == 0)
      continue;
    if (!axis.outside.empty()) {
      std::vector<std::string> flags;
      for (bool o : axis.outside)
        flags.push_back(o ? "0" : "1");
      Index x = coords[d];
      Scalar in = define("bool", table("u8", flags) + "[" + print(x) + "] != 0", context.isPerLane(x), "c");
      inside = both(inside, {Condition::Depends, in});
    }
    if (axis.taps == 1) {
      if (auto index = closedForm(context, axis, coords[d])) {
        inner[d] = *index;
        if (llvm::all_of(axis.weight, [](double w) { return w == 1; }))
          continue;
      }
    }
    Resized r{d, axis, table("i32", integers(axis.source)), ""};
    if (!isNearest) {
      std::vector<std::string> weights;
      for (double w : axis.weight)
        weights.push_back(realLiteral(weightElement, w));
      r.weights = table(sumType, weights);
    }
    resized.push_back(std::move(r));
  }

  auto tapIndex = [&](const Resized &r, const std::string &tap) {
    std::string at = r.taps.taps == 1
                         ? print(coords[r.axis])
                         : "(" + print(coords[r.axis]) + ") * " + std::to_string(r.taps.taps) + " + " + tap;
    Scalar s = define(indexType, r.sources + "[" + at + "]", context.isPerLane(coords[r.axis]), "at");
    inner[r.axis] = context.variable(s.text, {0, r.taps.in - 1}, 1, s.perLane);
    return at;
  };
  size_t product = 1;
  for (const Resized &r : resized)
    product *= r.taps.taps;
  if (inside.value.text.find("&&") != std::string::npos)
    inside.value = define("bool", inside.value.text, inside.value.perLane, "c");

  Scalar result;
  if (isNearest) {
    for (const Resized &r : resized)
      tapIndex(r, "0");
    result = emitGuarded(op.getX(), inner, inside);
  } else if (product <= kMaxUnrolledTaps) {
    // Written out: sum over all combinations of taps, first axis outermost.
    std::function<Scalar(size_t)> sum = [&](size_t level) -> Scalar {
      if (level == resized.size()) {
        Scalar x = emitGuarded(op.getX(), inner, inside);
        return sumType == type ? x : define(sumType, "cast<" + sumType + ">(" + x.text + ")", x.perLane);
      }
      const Resized &r = resized[level];
      Scalar total;
      for (unsigned t = 0; t < r.taps.taps; ++t) {
        std::string at = tapIndex(r, std::to_string(t));
        Scalar w = define(sumType, r.weights + "[" + at + "]", context.isPerLane(coords[r.axis]), "w");
        Scalar x = sum(level + 1);
        total = define(sumType, (t ? total.text + " + " : "") + w.text + " * " + x.text,
                       total.perLane || w.perLane || x.perLane);
      }
      return total;
    };
    result = sum(0);
  } else {
    result = emitResizeLoops(
        op,
        [&](std::string &head, std::string &weight) {
          for (auto [level, r] : llvm::enumerate(resized)) {
            std::string tap = "tap" + std::to_string(level), n = std::to_string(level);
            std::string at = "(" + print(coords[r.axis]) + ") * " + std::to_string(r.taps.taps) + " + " + tap;
            head += "for (int " + tap + " = 0; " + tap + " < " + std::to_string(r.taps.taps) + "; ++" + tap +
                    ") {\n";
            head += "const " + indexType + " source" + n + " = " + r.sources + "[" + at + "];\n";
            weight += (weight.empty() ? "" : " * ") + r.weights + "[" + at + "]";
            inner[r.axis] = context.variable("source" + n, {0, r.taps.in - 1}, 1, true);
          }
          return resized.size();
        },
        inner, inside, sumType);
  }
  if (sumType != type)
    result = define(type, "cast<" + type + ">(" + result.text + ")", result.perLane);
  std::string outside = realLiteral(element, op.getExtrapolation().convertToDouble());
  if (type != computeTypeName(element))
    outside = "cast<" + type + ">(" + outside + ")";
  return choose(element, inside, result, {outside});
}

/// The body of the loops is a scope of its own: nothing defined in it is reused outside.
Scalar ExprEmitter::Impl::emitResizeLoops(ResizeOp op,
                                          function_ref<size_t(std::string &, std::string &)> open,
                                          Coords &inner, const Condition &inside,
                                          const std::string &sumType) {
  bool lanes = context.lanes() > 1;
  std::string sum = "sum" + std::to_string(counter++), head, weight;
  size_t depth = open(head, weight);
  auto savedMemo = memo;
  auto savedAtoms = atomTexts;
  auto savedConditions = conditions;
  std::string savedHoisted = std::move(hoisted), savedLane = std::move(laneBody);
  hoisted.clear();
  laneBody.clear();
  Scalar x = emitGuarded(op.getX(), inner, inside);
  std::string body = hoisted + laneBody;
  hoisted = std::move(savedHoisted);
  laneBody = std::move(savedLane);
  memo = std::move(savedMemo);
  atomTexts = std::move(savedAtoms);
  conditions = std::move(savedConditions);
  (lanes ? laneBody : hoisted) += sumType + " " + sum + " = 0;\n" + head + body + sum + " += " + weight +
                                  " * cast<" + sumType + ">(" + x.text + ");\n" + std::string(depth, '}') +
                                  "\n";
  return {sum, lanes};
}

} // namespace gpuc

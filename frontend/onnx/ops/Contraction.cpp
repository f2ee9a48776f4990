// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// MatMul, Gemm and Einsum. Einsum takes diagonals for repeated labels and joins its operands from left to
// right: what two operands share and nobody needs later is contracted by a matrix product, the rest is a
// product with broadcasting.
#include "Emit.h"
#include "Families.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cctype>
#include <map>

using namespace mlir;

namespace gpuc::frontend {

// A 1-D side gets an extent of 1 for the product, which is dropped again.
static LogicalResult matMul(NodeContext &ctx) {
  Emit e(ctx);
  Value a = e.in(0), b = e.in(1);
  if (!a || !b)
    return failure();
  bool rowVector = tensorType(a).getRank() == 1, columnVector = tensorType(b).getRank() == 1;
  if (tensorType(a).getRank() == 0 || tensorType(b).getRank() == 0)
    return ctx.error("the inputs must have rank 1 or more");
  a = rowVector ? e.unsqueeze(a, 0) : a;
  b = columnVector ? e.unsqueeze(b, 1) : b;
  Value y = e.matmul(a, b);
  if (!y)
    return failure();
  Ints shape(shapeOf(y));
  if (columnVector)
    shape.pop_back();
  if (rowVector)
    shape.erase(shape.end() - (columnVector ? 1 : 2));
  return e.out(e.reshape(y, shape));
}

// alpha A' B' + beta C; C broadcasts to the product, and is optional from 11 on.
static LogicalResult gemm(NodeContext &ctx) {
  Emit e(ctx);
  Value a = e.in(0), b = e.in(1), c = e.optional(2);
  FailureOr<double> alpha = ctx.floatAttr("alpha", 1), beta = ctx.floatAttr("beta", 1);
  FailureOr<int64_t> transA = ctx.intAttr("transA", 0), transB = ctx.intAttr("transB", 0);
  if (!a || !b || e.failed || failed(alpha) || failed(beta) || failed(transA) || failed(transB))
    return failure();
  if (tensorType(a).getRank() != 2 || tensorType(b).getRank() != 2)
    return ctx.error("the inputs must be matrices, got shapes " + shapeText(shapeOf(a)) + " and " +
                     shapeText(shapeOf(b)));
  if (!c && ctx.since() < 11)
    return ctx.error("input 2 (C) is missing");
  bool isFloat = isa<FloatType>(elementTypeOf(a));
  if (!isFloat && (*alpha != double(int64_t(*alpha)) || *beta != double(int64_t(*beta))))
    return ctx.error("attributes 'alpha' and 'beta' must be whole numbers for integer inputs");
  Value y = e.matmul(*transA ? e.transpose(a, {1, 0}) : a, *transB ? e.transpose(b, {1, 0}) : b);
  if (*alpha != 1)
    y = e.mul(y, e.scalar(*alpha, a));
  if (!y || !c)
    return e.out(y);
  if (!e.broadcastsTo(shapeOf(c), shapeOf(y)))
    return ctx.error("input 2 (C) of shape " + shapeText(shapeOf(c)) + " does not broadcast to " +
                     shapeText(shapeOf(y)));
  return e.out(e.add(y, *beta != 1 ? e.mul(c, e.scalar(*beta, c)) : c));
}

//===--- Einsum -----------------------------------------------------------------------------------------===//

namespace {

/// Letters are their character, axes of an ellipsis negative: -1 is the last one, so that they align at the
/// right.
using Labels = SmallVector<int>;

struct Term {
  Value value;
  Labels labels; ///< one per axis, distinct
};

struct Equation {
  SmallVector<Labels> inputs;
  Labels output;
};

bool contains(ArrayRef<int> labels, int label) { return llvm::is_contained(labels, label); }

/// Reads one term; `ellipsis` axes stand for "…", or nothing when the term has none.
bool parseTerm(Emit &e, StringRef text, size_t ellipsis, Labels &labels) {
  bool seen = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      labels.push_back(text[i]);
    } else if (text.substr(i, 3) == "..." && !seen) {
      seen = true;
      i += 2;
      for (size_t k = ellipsis; k > 0; --k)
        labels.push_back(-int(k));
    } else {
      e.fail("attribute 'equation' has an unexpected character in the term '" + text.take_front(40) + "'");
      return false;
    }
  }
  return true;
}

std::optional<Equation> parse(Emit &e, std::string text, ArrayRef<Value> operands) {
  llvm::erase(text, ' ');
  StringRef equation(text);
  size_t arrow = equation.find("->");
  SmallVector<StringRef> terms;
  equation.take_front(arrow).split(terms, ',');
  if (terms.size() != operands.size()) {
    e.fail("attribute 'equation' has " + Twine(terms.size()) + " terms, the node has " +
           Twine(operands.size()) + " inputs");
    return std::nullopt;
  }
  Equation result;
  size_t widest = 0;
  std::map<int, int> uses;
  for (auto [i, term] : llvm::enumerate(terms)) {
    size_t rank = shapeOf(operands[i]).size();
    size_t letters = llvm::count_if(term, [](char c) { return c != '.'; });
    bool dots = term.contains("...");
    if (dots ? letters > rank : letters != rank) {
      e.fail("the term '" + term.take_front(40) + "' does not fit an input of rank " + Twine(rank));
      return std::nullopt;
    }
    size_t ellipsis = dots ? rank - letters : 0;
    widest = std::max(widest, ellipsis);
    Labels labels;
    if (!parseTerm(e, term, ellipsis, labels))
      return std::nullopt;
    for (int label : labels)
      ++uses[label];
    result.inputs.push_back(labels);
  }
  if (arrow != StringRef::npos) {
    if (!parseTerm(e, equation.drop_front(arrow + 2), widest, result.output))
      return std::nullopt;
  } else {
    // Implicit: the ellipsis, then the letters that occur once, sorted.
    for (size_t k = widest; k > 0; --k)
      result.output.push_back(-int(k));
    for (auto [label, count] : uses)
      if (label > 0 && count == 1)
        result.output.push_back(label);
  }
  Labels seen;
  for (int label : result.output) {
    if (contains(seen, label) || !uses.count(label)) {
      e.fail("the output of attribute 'equation' repeats a label or names one that no input has");
      return std::nullopt;
    }
    seen.push_back(label);
  }
  return result;
}

/// Replaces repeated labels by the diagonal of their axes, which moves to the end.
bool takeDiagonals(Emit &e, Term &t) {
  for (size_t i = 0; i < t.labels.size(); ++i) {
    auto second = std::find(t.labels.begin() + i + 1, t.labels.end(), t.labels[i]);
    if (second == t.labels.end())
      continue;
    size_t j = size_t(second - t.labels.begin());
    Ints shape(shapeOf(t.value)), perm;
    int64_t extent = shape[i];
    if (shape[j] != extent) {
      e.fail("a label repeated within a term has extents " + Twine(extent) + " and " + Twine(shape[j]));
      return false;
    }
    Labels labels;
    Ints flat;
    for (size_t k = 0; k < shape.size(); ++k) {
      if (k == i || k == j)
        continue;
      perm.push_back(int64_t(k));
      labels.push_back(t.labels[k]);
      flat.push_back(shape[k]);
    }
    perm.append({int64_t(i), int64_t(j)});
    labels.push_back(t.labels[i]);
    flat.push_back(extent * extent);
    Value v = e.reshape(e.transpose(t.value, perm), flat);
    t.value = e.slice(v, int64_t(flat.size()) - 1, 0, extent, extent + 1);
    t.labels = labels;
    if (!t.value)
      return false;
    --i; // the label may occur a third time
  }
  return true;
}

int64_t extentOf(const Term &t, int label) {
  return shapeOf(t.value)[size_t(llvm::find(t.labels, label) - t.labels.begin())];
}

/// Sums over the labels for which `drop` holds.
void sumOver(Emit &e, Term &t, llvm::function_ref<bool(int)> drop, bool keepdims = false) {
  Ints axes;
  Labels kept;
  for (auto [i, label] : llvm::enumerate(t.labels)) {
    if (drop(label))
      axes.push_back(int64_t(i));
    if (keepdims || !drop(label))
      kept.push_back(label);
  }
  if (axes.empty())
    return;
  t.value = e.reduce(ReduceKind::Sum, t.value, axes, keepdims);
  t.labels = kept;
}

/// Permutes to `order` (labels of `t`) and reshapes so that each group of labels has the given number of
/// axes.
Value arrange(Emit &e, const Term &t, ArrayRef<int> order, ArrayRef<int64_t> shape) {
  Ints perm;
  for (int label : order)
    perm.push_back(int64_t(llvm::find(t.labels, label) - t.labels.begin()));
  return e.reshape(e.transpose(t.value, perm), shape);
}

/// Joins two terms; `needed` says whether a label is used by the output or by a later operand.
bool join(Emit &e, Term &a, Term b, llvm::function_ref<bool(int)> needed) {
  sumOver(e, a, [&](int label) { return !needed(label) && !contains(b.labels, label); });
  sumOver(e, b, [&](int label) { return !needed(label) && !contains(a.labels, label); });
  if (!a.value || !b.value)
    return false;
  // Extent 1 broadcasts: the other side of a contracted label is summed on its own.
  auto unequal = [&](int label) {
    return contains(a.labels, label) && contains(b.labels, label) && extentOf(a, label) != extentOf(b, label);
  };
  for (int label : a.labels) {
    if (!unequal(label))
      continue;
    if (extentOf(a, label) != 1 && extentOf(b, label) != 1) {
      e.fail("a label of attribute 'equation' has extents " + Twine(extentOf(a, label)) + " and " +
             Twine(extentOf(b, label)));
      return false;
    }
    if (needed(label))
      continue;
    sumOver(e, extentOf(a, label) != 1 ? a : b, [&](int l) { return l == label; }, /*keepdims=*/true);
    if (!a.value || !b.value)
      return false;
  }
  Labels batch, m, n, k;
  for (int label : a.labels)
    (!contains(b.labels, label) ? m : needed(label) ? batch : k).push_back(label);
  for (int label : b.labels)
    if (!contains(a.labels, label))
      n.push_back(label);
  auto extents = [](const Term &t, ArrayRef<int> labels) {
    return llvm::map_to_vector(labels, [&](int label) { return extentOf(t, label); });
  };
  auto product = [](ArrayRef<int64_t> list) {
    int64_t p = 1;
    for (int64_t v : list)
      p *= v; // extents of one existing tensor
    return p;
  };
  auto joined = [](ArrayRef<int> x, ArrayRef<int> y, ArrayRef<int> z) {
    Labels all(x);
    all.append(y.begin(), y.end());
    all.append(z.begin(), z.end());
    return all;
  };
  Ints aShape(extents(a, batch)), bShape(extents(b, batch)), ms(extents(a, m)), ns(extents(b, n));
  std::optional<Ints> result = e.broadcast(aShape, bShape);
  if (!result)
    return false;
  result->append(ms);
  result->append(ns);
  if (!e.sizeOk(*result))
    return false;
  if (k.empty()) {
    aShape.append(ms);
    aShape.append(ns.size(), 1);
    bShape.append(ms.size(), 1);
    bShape.append(ns);
    a.value = e.mul(arrange(e, a, joined(batch, m, {}), aShape), arrange(e, b, joined(batch, n, {}), bShape));
  } else {
    int64_t depth = product(extents(a, k));
    aShape.append({product(ms), depth});
    bShape.append({depth, product(ns)});
    a.value = e.reshape(
        e.matmul(arrange(e, a, joined(batch, m, k), aShape), arrange(e, b, joined(batch, k, n), bShape)),
        *result);
  }
  a.labels = joined(batch, m, n);
  return a.value != nullptr;
}

} // namespace

static LogicalResult einsum(NodeContext &ctx) {
  Emit e(ctx);
  SmallVector<Value> operands = e.allInputs();
  FailureOr<std::string> text = ctx.stringAttr("equation");
  if (operands.empty() || failed(text))
    return failure();
  std::optional<Equation> equation = parse(e, *text, operands);
  if (!equation)
    return failure();
  SmallVector<Term> terms;
  for (auto [value, labels] : llvm::zip(operands, equation->inputs)) {
    terms.push_back({value, labels});
    if (!takeDiagonals(e, terms.back()))
      return failure();
  }
  Term all = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    auto needed = [&](int label) {
      return contains(equation->output, label) ||
             llvm::any_of(ArrayRef<Term>(terms).drop_front(i + 1),
                          [&](const Term &t) { return contains(t.labels, label); });
    };
    if (!join(e, all, terms[i], needed))
      return failure();
  }
  sumOver(e, all, [&](int label) { return !contains(equation->output, label); });
  if (!all.value)
    return failure();
  Ints perm;
  for (int label : equation->output)
    perm.push_back(int64_t(llvm::find(all.labels, label) - all.labels.begin()));
  return e.out(e.transpose(all.value, perm));
}

void registerContractionOps(OpRegistry &r) {
  r.add("", "MatMul", {1, 9, 13}, matMul);
  r.add("", "Gemm", {6, 7, 9, 11, 13}, gemm);
  r.add("", "Einsum", {12}, einsum);
}

} // namespace gpuc::frontend

// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Generates random programs op by op from a pool of values.
#include "RandomProgram.h"
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace gpuc::test {

namespace {

using Shape = std::vector<int64_t>;

struct Value {
  std::string name;
  Shape shape;
  std::string element = "f32";
};

int64_t count(const Shape &shape) {
  int64_t n = 1;
  for (int64_t d : shape)
    n *= d;
  return n;
}

std::string type(const Shape &shape, const std::string &element) {
  std::string s = "tensor<";
  for (int64_t d : shape)
    s += std::to_string(d) + "x";
  return s + element + ">";
}
std::string type(const Value &v) { return type(v.shape, v.element); }

std::string array(const Shape &values) {
  std::string s = "array<i64";
  for (size_t i = 0; i < values.size(); ++i)
    s += (i ? ", " : ": ") + std::to_string(values[i]);
  return s + ">";
}

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  std::string program(int ops) {
    int arguments = 1 + pick(3);
    std::string signature;
    for (int i = 0; i < arguments; ++i) {
      Value v{"%a" + std::to_string(i), randomShape(), "f32"};
      signature += (i ? ", " : "") + v.name + ": " + type(v);
      pool.push_back(v);
    }
    for (int i = 0; i < ops; ++i)
      step();
    std::string names, types;
    int results = 1 + pick(3);
    for (int i = 0; i < results; ++i) {
      // Late values are read by nobody else; any value may be returned, also twice.
      Value v = pick(3) ? pool[pool.size() - 1 - pick(std::min<int>(4, pool.size()))] : any();
      names += (i ? ", " : "") + v.name;
      types += (i ? ", " : "") + type(v);
    }
    return "func.func @main(" + signature + ") -> (" + types + ") {\n" + text + "  return " + names + " : " +
           types + "\n}\n";
  }

private:
  int pick(int n) { return int(random() % unsigned(n)); }
  int64_t extent() {
    static const int64_t extents[] = {1, 2, 3, 4, 5, 7, 8, 16};
    return extents[pick(8)];
  }
  Shape randomShape() {
    Shape shape(1 + pick(4));
    do
      for (int64_t &d : shape)
        d = extent();
    while (count(shape) > 1500);
    return shape;
  }
  /// Later values are more likely.
  Value any() {
    int n = int(pool.size());
    return pool[pick(2) ? std::max(0, n - 1 - pick(std::min(n, 5))) : pick(n)];
  }
  Value anyFloat() {
    for (int i = 0; i < 50; ++i)
      if (Value v = any(); v.element == "f32")
        return v;
    return pool[0];
  }
  Value anyFloat(size_t minRank) {
    for (int i = 0; i < 50; ++i)
      if (Value v = anyFloat(); v.shape.size() >= minRank)
        return v;
    return reshapeTo(pool[0], [&] {
      Shape shape(minRank, 1);
      shape.back() = count(pool[0].shape);
      return shape;
    }());
  }
  Value emit(const std::string &op, const std::string &operandTypes, Shape shape,
             std::string element = "f32") {
    Value v{"%v" + std::to_string(next++), std::move(shape), std::move(element)};
    text += "  " + v.name + " = gpuc." + op + " : " + operandTypes + " -> " + type(v) + "\n";
    pool.push_back(v);
    return v;
  }
  Value constant(Shape shape, double low = -1, double high = 1) {
    std::string values;
    std::uniform_real_distribution<double> uniform(low, high);
    // Nested brackets as MLIR wants them.
    std::vector<std::string> level;
    for (int64_t i = 0; i < count(shape); ++i)
      level.push_back(std::to_string(std::round(uniform(random) * 64) / 64));
    for (size_t d = shape.size(); d-- > 0;) {
      std::vector<std::string> outer;
      for (size_t i = 0; i < level.size(); i += size_t(shape[d])) {
        std::string s = "[";
        for (int64_t j = 0; j < shape[d]; ++j)
          s += (j ? ", " : "") + level[i + size_t(j)];
        outer.push_back(s + "]");
      }
      level = outer;
    }
    Value v{"%c" + std::to_string(next++), shape, "f32"};
    text += "  " + v.name + " = gpuc.constant dense<" + level[0] + "> : " + type(v) + "\n";
    return v;
  }
  Value scalar(double value) {
    Value v{"%c" + std::to_string(next++), {}, "f32"};
    text += "  " + v.name + " = gpuc.constant dense<" + std::to_string(value) + "> : tensor<f32>\n";
    return v;
  }
  Value reshapeTo(const Value &v, Shape shape) {
    return emit("reshape " + v.name, type(v), std::move(shape), v.element);
  }

  /// Another operand that broadcasts with `v` to v's shape.
  Value partner(const Value &v) {
    for (int i = 0; i < 20; ++i) {
      Value other = anyFloat();
      if (other.shape.size() > v.shape.size())
        continue;
      bool fits = true;
      for (size_t d = 0; d < other.shape.size(); ++d) {
        int64_t theirs = other.shape[other.shape.size() - 1 - d], ours = v.shape[v.shape.size() - 1 - d];
        fits &= theirs == ours || theirs == 1;
      }
      if (fits)
        return other;
    }
    Shape shape = v.shape;
    for (int64_t &d : shape)
      d = pick(2) ? d : 1;
    while (!shape.empty() && pick(2))
      shape.erase(shape.begin());
    return constant(shape);
  }

  void step() {
    switch (pick(24)) {
    case 0:
    case 1:
    case 2: {
      static const char *kinds[] = {"relu", "tanh", "sigmoid", "abs", "neg", "gelu", "silu", "hard_swish"};
      Value v = anyFloat();
      emit(std::string("unary ") + kinds[pick(8)] + " " + v.name, type(v), v.shape);
      return;
    }
    case 3:
    case 4:
    case 5:
    case 6: {
      static const char *kinds[] = {"add", "mul", "sub", "max", "min"};
      Value x = anyFloat(), y = partner(x);
      if (pick(2))
        std::swap(x, y);
      Shape shape = x.shape.size() >= y.shape.size() ? x.shape : y.shape;
      for (size_t d = 0; d < std::min(x.shape.size(), y.shape.size()); ++d)
        shape[shape.size() - 1 - d] =
            std::max(x.shape[x.shape.size() - 1 - d], y.shape[y.shape.size() - 1 - d]);
      emit(std::string("binary ") + kinds[pick(5)] + " " + x.name + ", " + y.name, type(x) + ", " + type(y),
           shape);
      return;
    }
    case 7:
      return compare();
    case 8:
      return reshape();
    case 9:
    case 10:
      return transpose();
    case 11:
      return slice();
    case 12:
      return expand();
    case 13:
      return concat();
    case 14:
      return pad();
    case 15:
      return reduce();
    case 16:
      return normalize();
    case 17:
    case 18:
      return matmul();
    case 19:
    case 20:
      return convolve();
    case 21:
      return pool2d();
    case 22:
      return attend();
    default:
      return gather();
    }
  }
  void compare() {
    Value x = anyFloat(), y = partner(x);
    Value c = emit("binary lt " + x.name + ", " + y.name, type(x) + ", " + type(y), x.shape, "i1");
    Value z = partner(x);
    emit("select " + c.name + ", " + x.name + ", " + z.name, type(c) + ", " + type(x) + ", " + type(z),
         x.shape);
  }
  void reshape() {
    Value v = any();
    int64_t left = count(v.shape);
    Shape shape;
    while (left > 1 && shape.size() < 3) {
      std::vector<int64_t> divisors;
      for (int64_t d = 1; d <= left; ++d)
        if (left % d == 0)
          divisors.push_back(d);
      shape.push_back(divisors[pick(int(divisors.size()))]);
      left /= shape.back();
    }
    if (left > 1 || shape.empty() || pick(3) == 0)
      shape.push_back(left);
    reshapeTo(v, shape);
  }
  void transpose() {
    Value v = any();
    Shape perm(v.shape.size()), shape;
    for (size_t i = 0; i < perm.size(); ++i)
      perm[i] = int64_t(i);
    std::shuffle(perm.begin(), perm.end(), random);
    for (int64_t axis : perm)
      shape.push_back(v.shape[axis]);
    emit("transpose " + v.name + " {perm = " + array(perm) + "}", type(v), shape, v.element);
  }
  void slice() {
    Value v = any();
    Shape starts, steps, sizes;
    for (int64_t d : v.shape) {
      int64_t step = pick(4) == 0 ? 2 : 1, start = pick(2) ? 0 : pick(int(d));
      int64_t most = (d - start + step - 1) / step, size = pick(2) ? most : 1 + pick(int(most));
      if (pick(8) == 0) { // backwards
        start += (size - 1) * step;
        step = -step;
      }
      starts.push_back(start);
      steps.push_back(step);
      sizes.push_back(size);
    }
    emit("slice " + v.name + " {starts = " + array(starts) + ", steps = " + array(steps) + "}", type(v),
         sizes, v.element);
  }
  void expand() {
    Value v = any();
    if (count(v.shape) > 200)
      return;
    Shape shape = v.shape;
    for (int64_t &d : shape)
      d = d == 1 ? extent() : d;
    if (pick(3) == 0 && shape.size() < 5)
      shape.insert(shape.begin(), 2);
    if (count(shape) <= 1500)
      emit("expand " + v.name, type(v), shape, v.element);
  }
  void concat() {
    Value x = anyFloat(1);
    int64_t axis = pick(int(x.shape.size()));
    std::vector<Value> parts{x};
    for (const Value &v : pool) {
      if (v.element != "f32" || v.shape.size() != x.shape.size() || parts.size() >= 4 ||
          (v.name == x.name && pick(2)))
        continue;
      bool fits = true;
      for (size_t d = 0; d < v.shape.size(); ++d)
        fits &= int64_t(d) == axis || v.shape[d] == x.shape[d];
      if (fits && pick(3))
        parts.push_back(v);
    }
    std::shuffle(parts.begin(), parts.end(), random);
    std::string names, types;
    Shape shape = x.shape;
    shape[axis] = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      names += (i ? ", " : "") + parts[i].name;
      types += (i ? ", " : "") + type(parts[i]);
      shape[axis] += parts[i].shape[axis];
    }
    Value v{"%v" + std::to_string(next++), shape, "f32"};
    text += "  " + v.name + " = gpuc.concat " + names + " {axis = " + std::to_string(axis) + " : i64} : (" +
            types + ") -> " + type(v) + "\n";
    pool.push_back(v);
  }
  void pad() {
    Value v = anyFloat(), zero = scalar(pick(2) ? 0 : 0.5);
    Shape low, high, shape;
    for (int64_t d : v.shape) {
      low.push_back(pick(3) == 0 ? 1 : 0);
      high.push_back(pick(3) == 0 ? 2 : 0);
      shape.push_back(d + low.back() + high.back());
    }
    emit("pad constant " + v.name + ", " + zero.name + " {low = " + array(low) + ", high = " + array(high) +
             "}",
         type(v) + ", " + type(zero), shape);
  }
  void reduce() {
    static const char *kinds[] = {"sum", "mean", "max"};
    Value v = anyFloat();
    bool keep = pick(2);
    Shape axes, shape;
    for (size_t d = 0; d < v.shape.size(); ++d) {
      bool reduced = pick(2) || (d + 1 == v.shape.size() && axes.empty());
      if (reduced)
        axes.push_back(int64_t(d));
      if (!reduced || keep)
        shape.push_back(reduced ? 1 : v.shape[d]);
    }
    emit(std::string("reduce ") + kinds[pick(3)] + " " + v.name + " {axes = " + array(axes) +
             ", keepdims = " + (keep ? "true" : "false") + "}",
         type(v), shape);
    if (!keep && pick(2)) {
      Shape kept = v.shape;
      for (int64_t axis : axes)
        kept[axis] = 1;
      reshapeTo(pool.back(), kept);
    }
  }
  void normalize() {
    Value v = anyFloat(1);
    int64_t rank = int64_t(v.shape.size());
    if (pick(2)) {
      emit("softmax " + v.name + " {axis = " + std::to_string(pick(int(rank))) + " : i64}", type(v), v.shape);
      return;
    }
    int64_t axis = rank - 1;
    Value scale = pick(2) ? constant({v.shape.back()}) : Value();
    if (scale.name.empty())
      for (const Value &p : pool)
        if (p.element == "f32" && p.shape == Shape{v.shape.back()})
          scale = p;
    bool has = !scale.name.empty();
    emit("layer_norm " + v.name + (has ? " scale " + scale.name : "") + " {axis = " + std::to_string(axis) +
             " : i64, epsilon = 1.0e-1}",
         type(v) + (has ? ", " + type(scale) : ""), v.shape);
  }
  void matmul() {
    Value x = anyFloat(2);
    int64_t k = x.shape.back(), n = extent();
    Value y = constant({k, n});
    if (pick(3) == 0)
      for (const Value &v : pool)
        if (v.element == "f32" && v.shape.size() == 2 && v.shape[0] == k)
          y = v;
    Shape shape = x.shape;
    shape.back() = y.shape[1];
    Value z = emit("matmul " + x.name + ", " + y.name, type(x) + ", " + type(y), shape);
    if (pick(2)) {
      Value b = constant({shape.back()});
      emit("binary add " + z.name + ", " + b.name, type(z) + ", " + type(b), shape);
    }
  }
  Value image() {
    for (int i = 0; i < 30; ++i)
      if (Value v = anyFloat(); v.shape.size() == 4 && v.shape[2] > 1 && v.shape[3] > 1)
        return v;
    Value v = anyFloat();
    return reshapeTo(v, {1, 1, 1, count(v.shape)});
  }
  void convolve() {
    Value x = image();
    int64_t kh = x.shape[2] >= 3 && pick(2) ? 3 : 1, kw = x.shape[3] >= 3 && kh == 3 ? 3 : 1,
            o = pick(2) ? 8 : 1 + pick(4);
    Value w = constant({o, x.shape[1], kh, kw}, -0.5, 0.5);
    int64_t pad = kh == 3 && kw == 3 ? 1 : 0;
    emit("conv " + x.name + ", " + w.name + " {strides = array<i64: 1, 1>, low = " + array({pad, pad}) +
             ", high = " + array({pad, pad}) + ", dilations = array<i64: 1, 1>, group = 1 : i64}",
         type(x) + ", " + type(w),
         {x.shape[0], o, x.shape[2] + 2 * pad - kh + 1, x.shape[3] + 2 * pad - kw + 1});
  }
  void pool2d() {
    Value x = image();
    int64_t kh = std::min<int64_t>(2, x.shape[2]), kw = std::min<int64_t>(2, x.shape[3]);
    emit(std::string(pick(2) ? "max_pool " : "avg_pool ") + x.name + " {kernel = " + array({kh, kw}) +
             ", strides = array<i64: 1, 1>, low = array<i64: 0, 0>, high = array<i64: 0, 0>, dilations = "
             "array<i64: 1, 1>}",
         type(x), {x.shape[0], x.shape[1], x.shape[2] - kh + 1, x.shape[3] - kw + 1});
  }
  void attend() {
    Value x = anyFloat(2);
    if (count(x.shape) > 600 || x.shape.size() > 4)
      return;
    while (x.shape.size() < 4) {
      Shape shape = x.shape;
      shape.insert(shape.begin(), 1);
      x = reshapeTo(x, shape);
    }
    emit("attention " + x.name + ", " + x.name + ", " + x.name + " {scale = 0.25}",
         type(x) + ", " + type(x) + ", " + type(x), x.shape);
    if (pick(2)) {
      Value y = pool.back();
      Shape perm{0, 2, 1, 3}, s = y.shape;
      Value t =
          emit("transpose " + y.name + " {perm = " + array(perm) + "}", type(y), {s[0], s[2], s[1], s[3]});
      reshapeTo(t, {s[0], s[2], s[1] * s[3]});
    }
  }
  void gather() {
    Value v = anyFloat(1);
    int64_t axis = pick(int(v.shape.size())), n = 1 + pick(4);
    std::string indices;
    for (int64_t i = 0; i < n; ++i)
      indices +=
          (i ? ", " : "") + std::to_string(pick(int(v.shape[axis])) - (pick(4) == 0 ? v.shape[axis] : 0));
    Value c{"%c" + std::to_string(next++), {n}, "i64"};
    text += "  " + c.name + " = gpuc.constant dense<[" + indices + "]> : " + type(c) + "\n";
    Shape shape = v.shape;
    shape[axis] = n;
    emit("gather " + v.name + ", " + c.name + " {axis = " + std::to_string(axis) + " : i64}",
         type(v) + ", " + type(c), shape);
  }

  std::mt19937 random;
  std::vector<Value> pool;
  std::string text;
  int next = 0;
};

} // namespace

std::string randomProgram(unsigned seed, int ops) { return Generator(seed).program(ops); }

} // namespace gpuc::test
